#include "options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "duration.h"
#include "exits.h"
#include "say.h"

#define DEFAULT_TTL_MS     10000
#define DEFAULT_MAX_TTL_MS 30000
#define GO_ON              (-1)

enum option_id {
    OPTION_NODES = 256,
    OPTION_MAX_TTL,
    OPTION_PREFIX,
    OPTION_LABEL,
    OPTION_REQUEST_TIMEOUT,
    OPTION_CONNECT_TIMEOUT,
    OPTION_JSON,
    OPTION_TTL,
    OPTION_WAIT,
    OPTION_KILL_AFTER,
    OPTION_MARGIN,
    OPTION_MAX_HOLD,
    OPTION_TOKEN,
    OPTION_ADOPT,
    OPTION_FENCE
};

static const struct option long_options[] = {
    {"nodes", required_argument, NULL, OPTION_NODES},
    {"max-ttl", required_argument, NULL, OPTION_MAX_TTL},
    {"prefix", required_argument, NULL, OPTION_PREFIX},
    {"label", required_argument, NULL, OPTION_LABEL},
    {"request-timeout", required_argument, NULL, OPTION_REQUEST_TIMEOUT},
    {"connect-timeout", required_argument, NULL, OPTION_CONNECT_TIMEOUT},
    {"json", no_argument, NULL, OPTION_JSON},
    {"quiet", no_argument, NULL, 'q'},
    {"verbose", no_argument, NULL, 'v'},
    {"version", no_argument, NULL, 'V'},
    {"help", no_argument, NULL, 'h'},
    {"ttl", required_argument, NULL, OPTION_TTL},
    {"wait", required_argument, NULL, OPTION_WAIT},
    {"kill-after", required_argument, NULL, OPTION_KILL_AFTER},
    {"margin", required_argument, NULL, OPTION_MARGIN},
    {"max-hold", required_argument, NULL, OPTION_MAX_HOLD},
    {"token", required_argument, NULL, OPTION_TOKEN},
    {"adopt", no_argument, NULL, OPTION_ADOPT},
    {"fence", no_argument, NULL, OPTION_FENCE},
    {NULL, 0, NULL, 0},
};

static unsigned taken_by(int id)
{
    switch (id) {
    case OPTION_TTL:
        return FOR_RUN | FOR_LOCK | FOR_EXTEND;
    case OPTION_WAIT:
    case OPTION_FENCE:
        return FOR_RUN | FOR_LOCK;
    case OPTION_KILL_AFTER:
    case OPTION_MARGIN:
    case OPTION_MAX_HOLD:
        return FOR_RUN;
    case OPTION_TOKEN:
        return FOR_EXTEND | FOR_UNLOCK;
    case OPTION_ADOPT:
        return FOR_NODES;
    default:
        return FOR_ALL;
    }
}

static const char *name_of(int id)
{
    for (const struct option *option = long_options; option->name; option++) {
        if (option->val == id) {
            return option->name;
        }
    }
    return NULL;
}

/* The hint names the help that knows more. */
static int misuse(const struct options *options, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int misuse(const struct options *options, const char *format, ...)
{
    struct text line = {0};
    va_list values;
    va_start(values, format);
    text_vformat(&line, format, values);
    va_end(values);
    if (options->command) {
        text_format(&line, "; see `redlock %s --help`", options->command->name);
    } else {
        text_format(&line, "; see `redlock --help`");
    }
    say("%s", line.bytes);
    text_free(&line);
    return EXIT_USAGE;
}

static int show(const char *help)
{
    struct text text = {0};
    text_format(&text, "%s", help);
    bool done = put_text(&text);
    text_free(&text);
    return done ? EXIT_DONE : EXIT_OUTPUT;
}

static int show_version(void)
{
    struct text text = {0};
    text_format(&text, "redlock %s\n", redlock_version());
    bool done = put_text(&text);
    text_free(&text);
    return done ? EXIT_DONE : EXIT_OUTPUT;
}

/* `what` is the option or the variable as the user wrote it. */
static int take_duration(const struct options *options, const char *what, const char *text,
                         bool may_be_forever, int64_t *ms)
{
    char why[200];
    if (!duration_parse(text, ms, why, sizeof(why))) {
        return misuse(options, "%s: '%s' %s", what, text, why);
    }
    if (*ms == INT64_MAX && !may_be_forever) {
        return misuse(options, "%s: cannot be forever", what);
    }
    return GO_ON;
}

static int take_option_duration(struct options *options, int id, int64_t *ms)
{
    char what[32] = "--";
    strncat(what, name_of(id), sizeof(what) - 3);
    return take_duration(options, what, optarg, id == OPTION_WAIT, ms);
}

/* A duration of 0 that would silently mean "the default". */
static int take_positive(struct options *options, int id, int64_t *ms)
{
    int status = take_option_duration(options, id, ms);
    if (status == GO_ON && *ms == 0) {
        return misuse(options, "--%s: must be more than 0", name_of(id));
    }
    return status;
}

static int take_duration_option(struct options *options, int id)
{
    switch (id) {
    case OPTION_MAX_TTL:
        return take_positive(options, id, &options->max_ttl_ms);
    case OPTION_REQUEST_TIMEOUT:
        return take_positive(options, id, &options->request_timeout_ms);
    case OPTION_CONNECT_TIMEOUT:
        return take_positive(options, id, &options->connect_timeout_ms);
    case OPTION_TTL:
        return take_positive(options, id, &options->ttl_ms);
    case OPTION_WAIT:
        return take_option_duration(options, id, &options->wait_ms);
    case OPTION_KILL_AFTER:
        return take_option_duration(options, id, &options->kill_after_ms);
    case OPTION_MARGIN:
        return take_option_duration(options, id, &options->margin_ms);
    default:
        return take_option_duration(options, id, &options->max_hold_ms);
    }
}

static int take_option(struct options *options, int id)
{
    switch (id) {
    case OPTION_NODES:
        options->nodes = optarg;
        return GO_ON;
    case OPTION_PREFIX:
        options->prefix = optarg;
        return GO_ON;
    case OPTION_LABEL:
        options->label = optarg;
        return GO_ON;
    case OPTION_TOKEN:
        options->token = optarg;
        return GO_ON;
    case OPTION_JSON:
        options->json = true;
        return GO_ON;
    case OPTION_ADOPT:
        options->adopt = true;
        return GO_ON;
    case OPTION_FENCE:
        options->fence = true;
        return GO_ON;
    case 'q':
        options->quiet = true;
        return GO_ON;
    case 'v':
        options->verbose = true;
        return GO_ON;
    case 'V':
        return show_version();
    case 'h':
        return show(options->command ? options->command->help : global_help);
    default:
        return take_duration_option(options, id);
    }
}

/* getopt tells a letter that it does not know, or an option that was given a
 * value it does not take (--json=1), or nothing: then the argument it stands
 * behind is a long option that it does not know. */
static int unknown_option(const struct options *options, char **argv)
{
    if (optopt == 0) {
        return misuse(options, "unknown option %s", argv[optind - 1]);
    }
    if (!name_of(optopt)) {
        return misuse(options, "unknown option -%c", optopt);
    }
    return misuse(options, "--%s takes no value", name_of(optopt));
}

static int parse_one(struct options *options, int id, char **argv)
{
    if (id == '?') {
        return unknown_option(options, argv);
    }
    if (id == ':') {
        return misuse(options, "%s needs a value", argv[optind - 1]);
    }
    if (options->command && !(taken_by(id) & options->command->bit)) {
        return misuse(options, "`redlock %s` takes no --%s", options->command->name, name_of(id));
    }
    if (!options->command && taken_by(id) != FOR_ALL) {
        return misuse(options, "--%s belongs behind the command", name_of(id));
    }
    return take_option(options, id);
}

/* `how` is getopt's: "+:hqvV" stops at the first argument that is no option. */
static int parse_options(struct options *options, int argc, char **argv, const char *how)
{
    int id;
    opterr = 0;
    optind = 0; /* glibc: start anew */
    while ((id = getopt_long(argc, argv, how, long_options, NULL)) != -1) {
        int status = parse_one(options, id, argv);
        if (status != GO_ON) {
            return status;
        }
    }
    return GO_ON;
}

static const struct command *find_command(const char *name)
{
    for (const struct command *command = commands; command->name; command++) {
        if (strcmp(command->name, name) == 0) {
            return command;
        }
    }
    return NULL;
}

/* `redlock help [COMMAND]`, for those who try that first. */
static int help_on(const struct options *options, const char *name)
{
    const struct command *command = name ? find_command(name) : NULL;
    if (name && !command) {
        return misuse(options, "unknown command %s", name);
    }
    return show(command ? command->help : global_help);
}

/* For `run` the options and names end at the first "--"; getopt must not see the
 * program's own arguments.  Returns the number of arguments before it. */
static int cut_program(struct options *options, int argc, char **argv)
{
    if (options->command->bit != FOR_RUN) {
        return argc;
    }
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0) {
            options->program = argv + i + 1;
            return i;
        }
    }
    return argc;
}

static void take_names(struct options *options, int argc, char **argv)
{
    options->names = calloc((size_t)argc + 1, sizeof(*options->names));
    for (int i = optind; options->names && i < argc; i++) {
        redlock_name *name = &options->names[options->names_count++];
        name->bytes = argv[i];
        name->length = strlen(argv[i]);
    }
}

static int check_arguments(const struct options *options)
{
    enum command_bit bit = options->command->bit;
    if (bit == FOR_NODES && options->names_count > 0) {
        return misuse(options, "`redlock nodes` takes no names");
    }
    if (bit != FOR_NODES && options->names_count == 0) {
        return misuse(options, "no name given");
    }
    if (bit == FOR_RUN && (!options->program || !options->program[0])) {
        return misuse(options, "no command given: redlock run NAME -- COMMAND");
    }
    if ((bit & (FOR_EXTEND | FOR_UNLOCK)) && !options->token) {
        return misuse(options, "--token is missing: give what `redlock lock` printed");
    }
    return GO_ON;
}

static int ask_environment(struct options *options)
{
    const char *max_ttl = getenv("REDLOCK_MAX_TTL");
    if (!options->nodes) {
        options->nodes = getenv("REDLOCK_NODES");
    }
    if (!options->nodes || !options->nodes[0]) {
        return misuse(options, "no masters given: set REDLOCK_NODES or use --nodes "
                               "redis://HOST:PORT,redis://HOST:PORT,...");
    }
    if (options->max_ttl_ms > 0 || !max_ttl || !max_ttl[0]) {
        return GO_ON;
    }
    return take_duration(options, "REDLOCK_MAX_TTL", max_ttl, false, &options->max_ttl_ms);
}

/* A small max-ttl must not make every command without --ttl fail. */
static void set_default_ttl(struct options *options)
{
    int64_t most = options->max_ttl_ms > 0 ? options->max_ttl_ms : DEFAULT_MAX_TTL_MS;
    if (options->ttl_ms == 0) {
        options->ttl_ms = most < DEFAULT_TTL_MS ? most : DEFAULT_TTL_MS;
    }
}

static int parse_command(struct options *options, int argc, char **argv)
{
    int count = cut_program(options, argc, argv);
    int status = parse_options(options, count, argv, ":hqvV");
    if (status != GO_ON) {
        return status;
    }
    take_names(options, count, argv);
    if (!options->names) {
        say("out of memory");
        return EXIT_INTERNAL;
    }
    status = check_arguments(options);
    if (status == GO_ON) {
        status = ask_environment(options);
    }
    set_default_ttl(options);
    return status;
}

int options_parse(struct options *options, int argc, char **argv)
{
    *options = (struct options){.kill_after_ms = 5000, .margin_ms = -1};
    int status = parse_options(options, argc, argv, "+:hqvV");
    if (status != GO_ON) {
        return status;
    }
    if (optind >= argc) {
        return misuse(options, "no command given");
    }
    const char *name = argv[optind];
    if (strcmp(name, "help") == 0) {
        return help_on(options, argv[optind + 1]);
    }
    options->command = find_command(name);
    if (!options->command) {
        return misuse(options, "unknown command %s", name);
    }
    return parse_command(options, argc - optind, argv + optind);
}

void options_free(struct options *options)
{
    free(options->names);
}
