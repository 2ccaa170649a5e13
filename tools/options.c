#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "duration.h"
#include "exits.h"
#include "failure.h"
#include "redlock/recipes.h"
#include "say.h"
#include "votes.h"

#define DEFAULT_TTL_MS     10000
#define DEFAULT_MAX_TTL_MS 30000
#define LONGEST_MAX_TTL_MS (INT64_C(24) * 3600 * 1000)
#define GO_ON              (-1)
#define LETTERS            "hqvVE:"

enum option_id {
    OPTION_NODES = 256,
    OPTION_NODES_FILE,
    OPTION_MAX_TTL,
    OPTION_SPARE,
    OPTION_PREFIX,
    OPTION_LABEL,
    OPTION_REQUEST_TIMEOUT,
    OPTION_CONNECT_TIMEOUT,
    OPTION_TLS_CA,
    OPTION_TLS_CERT,
    OPTION_TLS_KEY,
    OPTION_TLS_NAME,
    OPTION_TLS_SNI,
    OPTION_TLS_VERIFY,
    OPTION_JSON,
    OPTION_TTL,
    OPTION_WAIT,
    OPTION_KILL_AFTER,
    OPTION_MARGIN,
    OPTION_LEAVE_CHILDREN,
    OPTION_MAX_HOLD,
    OPTION_AT_LEAST,
    OPTION_TOKEN,
    OPTION_ADOPT,
    OPTION_FENCE,
    OPTION_SHARED,
    OPTION_PERMITS,
    OPTION_VALUE,
    OPTION_AGAIN,
    OPTION_WATCH,
    OPTION_PARTIES,
    OPTION_GENERATION,
    OPTION_ARRIVALS,
    OPTION_LIFE,
    OPTION_ID,
    OPTION_ARRIVAL,
    OPTION_FOREIGN,
    OPTION_HOLDER,
    OPTION_YES,
    OPTION_UNAVAILABLE_EXIT,
    OPTION_ON_LOST,
    OPTION_METRICS_FILE
};

static const struct option long_options[] = {
    {"nodes", required_argument, NULL, OPTION_NODES},
    {"nodes-file", required_argument, NULL, OPTION_NODES_FILE},
    {"max-ttl", required_argument, NULL, OPTION_MAX_TTL},
    {"spare", required_argument, NULL, OPTION_SPARE},
    {"prefix", required_argument, NULL, OPTION_PREFIX},
    {"label", required_argument, NULL, OPTION_LABEL},
    {"request-timeout", required_argument, NULL, OPTION_REQUEST_TIMEOUT},
    {"connect-timeout", required_argument, NULL, OPTION_CONNECT_TIMEOUT},
    {"tls-ca", required_argument, NULL, OPTION_TLS_CA},
    {"tls-cert", required_argument, NULL, OPTION_TLS_CERT},
    {"tls-key", required_argument, NULL, OPTION_TLS_KEY},
    {"tls-name", required_argument, NULL, OPTION_TLS_NAME},
    {"tls-sni", required_argument, NULL, OPTION_TLS_SNI},
    {"tls-verify", required_argument, NULL, OPTION_TLS_VERIFY},
    {"json", no_argument, NULL, OPTION_JSON},
    {"quiet", no_argument, NULL, 'q'},
    {"verbose", no_argument, NULL, 'v'},
    {"version", no_argument, NULL, 'V'},
    {"help", no_argument, NULL, 'h'},
    {"ttl", required_argument, NULL, OPTION_TTL},
    {"wait", required_argument, NULL, OPTION_WAIT},
    {"kill-after", required_argument, NULL, OPTION_KILL_AFTER},
    {"margin", required_argument, NULL, OPTION_MARGIN},
    {"leave-children", no_argument, NULL, OPTION_LEAVE_CHILDREN},
    {"max-hold", required_argument, NULL, OPTION_MAX_HOLD},
    {"at-least", required_argument, NULL, OPTION_AT_LEAST},
    {"token", required_argument, NULL, OPTION_TOKEN},
    {"adopt", no_argument, NULL, OPTION_ADOPT},
    {"fence", no_argument, NULL, OPTION_FENCE},
    {"shared", optional_argument, NULL, OPTION_SHARED},
    {"permits", required_argument, NULL, OPTION_PERMITS},
    {"value", required_argument, NULL, OPTION_VALUE},
    {"again", no_argument, NULL, OPTION_AGAIN},
    {"watch", no_argument, NULL, OPTION_WATCH},
    {"parties", required_argument, NULL, OPTION_PARTIES},
    {"generation", required_argument, NULL, OPTION_GENERATION},
    {"arrivals", required_argument, NULL, OPTION_ARRIVALS},
    {"life", required_argument, NULL, OPTION_LIFE},
    {"id", required_argument, NULL, OPTION_ID},
    {"arrival", required_argument, NULL, OPTION_ARRIVAL},
    {"foreign", no_argument, NULL, OPTION_FOREIGN},
    {"holder", required_argument, NULL, OPTION_HOLDER},
    {"yes", no_argument, NULL, OPTION_YES},
    {"conflict-exit-code", required_argument, NULL, 'E'},
    {"unavailable-exit-code", required_argument, NULL, OPTION_UNAVAILABLE_EXIT},
    {"on-lost", required_argument, NULL, OPTION_ON_LOST},
    {"metrics-file", required_argument, NULL, OPTION_METRICS_FILE},
    {NULL, 0, NULL, 0},
};

static unsigned taken_by(int id)
{
    switch (id) {
    case OPTION_TTL:
        return FOR_RUN | FOR_LOCK | FOR_EXTEND | FOR_ELECT | FOR_BARRIER;
    case OPTION_SHARED:
        return FOR_RUN | FOR_LOCK | FOR_EXTEND;
    case OPTION_WAIT:
        return FOR_RUN | FOR_LOCK | FOR_ELECT | FOR_BARRIER | FOR_LATCH;
    case OPTION_FENCE:
        return FOR_RUN | FOR_LOCK;
    case OPTION_KILL_AFTER:
    case OPTION_MARGIN:
    case OPTION_LEAVE_CHILDREN:
    case OPTION_ON_LOST:
    case OPTION_METRICS_FILE:
        return FOR_RUN | FOR_ELECT;
    case 'E':
    case OPTION_UNAVAILABLE_EXIT:
        return FOR_RUN | FOR_LOCK | FOR_ELECT;
    case OPTION_VALUE:
    case OPTION_AGAIN:
        return FOR_ELECT;
    case OPTION_WATCH:
        return FOR_LEADER | FOR_STATUS;
    case OPTION_PARTIES:
    case OPTION_GENERATION:
        return FOR_BARRIER;
    case OPTION_ARRIVALS:
    case OPTION_LIFE:
    case OPTION_ID:
    case OPTION_ARRIVAL:
        return FOR_LATCH;
    case OPTION_MAX_HOLD:
    case OPTION_AT_LEAST:
    case OPTION_PERMITS:
        return FOR_RUN;
    case OPTION_TOKEN:
        return FOR_EXTEND | FOR_UNLOCK | FOR_BARRIER;
    case OPTION_ADOPT:
        return FOR_NODES;
    case OPTION_FOREIGN:
        return FOR_LIST;
    case OPTION_HOLDER:
    case OPTION_YES:
        return FOR_BREAK;
    default:
        return FOR_ALL;
    }
}

static const char *name_of(int id)
{
    for (const struct option *option = long_options; option->name; option++)
        if (option->val == id)
            return option->name;
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
    if (options->command)
        text_format(&line, "; see `redlock %s --help`", options->command->name);
    else
        text_format(&line, "; see `redlock --help`");
    if (options->json)
        failure_tell(options, "", REDLOCK_E_ARGUMENT, line.bytes, NULL);
    else
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
    if (!duration_parse(text, ms, why, sizeof(why)))
        return misuse(options, "%s: '%s' %s", what, text, why);
    if (*ms == INT64_MAX && !may_be_forever)
        return misuse(options, "%s: cannot be forever", what);
    return GO_ON;
}

static int take_option_duration(struct options *options, int id, int64_t *ms)
{
    char what[32] = "--";
    strncat(what, name_of(id), sizeof(what) - 3);
    return take_duration(options, what, optarg, id == OPTION_WAIT, ms);
}

/* Refuses a duration of 0, which would silently mean "the default". */
static int take_positive(struct options *options, int id, int64_t *ms)
{
    int status = take_option_duration(options, id, ms);
    if (status == GO_ON && *ms == 0)
        return misuse(options, "--%s: must be more than 0", name_of(id));
    return status;
}

static int take_spare(struct options *options, const char *what, const char *text)
{
    char *end;
    long spare = strtol(text, &end, 10);
    if (end == text || *end || spare < 0 || spare >= REDLOCK_MASTERS_MAX) {
        return misuse(options, "%s: '%s' is not a number of masters from 0 to %d", what, text,
                      REDLOCK_MASTERS_MAX - 1);
    }
    options->spare = (int)spare;
    return GO_ON;
}

static int take_number(struct options *options, int id, int64_t least, int64_t most,
                       int64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoll(optarg, &end, 10);
    if (end == optarg || *end || errno || *number < least || *number > most)
        return misuse(options, "--%s: '%s' is not a number from %lld to %lld", name_of(id), optarg,
                      (long long)least, (long long)most);
    return GO_ON;
}

static int take_permits(struct options *options)
{
    char *end;
    long permits = strtol(optarg, &end, 10);
    if (end == optarg || *end || permits < 1 || permits > REDLOCK_PERMITS_MAX) {
        return misuse(options, "--permits: '%s' is not a number of permits from 1 to %d", optarg,
                      REDLOCK_PERMITS_MAX);
    }
    options->permits = (unsigned)permits;
    return GO_ON;
}

static int take_value(struct options *options)
{
    if (strlen(optarg) > REDLOCK_VALUE_MAX)
        return misuse(options, "--value: is %zu bytes long, and may be %d at the most",
                      strlen(optarg), REDLOCK_VALUE_MAX);
    options->value = optarg;
    return GO_ON;
}

static int take_metrics_file(struct options *options)
{
    if (!optarg[0])
        return misuse(options, "--metrics-file: say which file is to have the metrics");
    options->metrics_file = optarg;
    return GO_ON;
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
    case OPTION_LIFE:
        return take_positive(options, id, &options->life_ms);
    case OPTION_KILL_AFTER:
        return take_option_duration(options, id, &options->kill_after_ms);
    case OPTION_MARGIN:
        return take_option_duration(options, id, &options->margin_ms);
    case OPTION_AT_LEAST:
        return take_option_duration(options, id, &options->at_least_ms);
    default:
        return take_option_duration(options, id, &options->max_hold_ms);
    }
}

static int take_number_option(struct options *options, int id)
{
    switch (id) {
    case OPTION_PARTIES:
        return take_number(options, id, 1, REDLOCK_PARTIES_MAX, &options->parties);
    case OPTION_GENERATION:
        return take_number(options, id, 0, REDLOCK_GENERATION_MAX, &options->generation);
    case OPTION_ARRIVALS:
        return take_number(options, id, 1, REDLOCK_ARRIVALS_MAX, &options->arrivals);
    case 'E':
        return take_number(options, id, 1, EXIT_MOST, &options->conflict_exit);
    case OPTION_UNAVAILABLE_EXIT:
        return take_number(options, id, 1, EXIT_MOST, &options->unavailable_exit);
    default:
        return take_duration_option(options, id);
    }
}

/* Without a value it is about all names; with one it gives another name. */
static int take_shared(struct options *options)
{
    if (!optarg)
        options->shared = true;
    else if (!optarg[0])
        return misuse(options, "--shared=: give a name behind it, or none for all names");
    else
        options->shared_names[options->shared_names_count++] = optarg;
    return GO_ON;
}

static bool is_of_tls(int id)
{
    return id >= OPTION_TLS_CA && id <= OPTION_TLS_VERIFY;
}

static int take_tls(struct options *options, int id)
{
    const char **all[] = {&options->tls_ca,   &options->tls_cert, &options->tls_key,
                          &options->tls_name, &options->tls_sni,  &options->tls_verify};
    *all[id - OPTION_TLS_CA] = optarg;
    return GO_ON;
}

static int take_option(struct options *options, int id)
{
    switch (id) {
    case OPTION_NODES:
        options->nodes = optarg;
        return GO_ON;
    case OPTION_NODES_FILE:
        options->nodes_file = optarg;
        return GO_ON;
    case OPTION_SPARE:
        return take_spare(options, "--spare", optarg);
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
    case OPTION_SHARED:
        return take_shared(options);
    case OPTION_PERMITS:
        return take_permits(options);
    case OPTION_VALUE:
        return take_value(options);
    case OPTION_AGAIN:
        options->again = true;
        return GO_ON;
    case OPTION_WATCH:
        options->watch = true;
        return GO_ON;
    case OPTION_LEAVE_CHILDREN:
        options->leave_children = true;
        return GO_ON;
    case OPTION_ON_LOST:
        options->on_lost = optarg;
        return GO_ON;
    case OPTION_ID:
        options->id = optarg;
        return GO_ON;
    case OPTION_ARRIVAL:
        options->arrival = optarg;
        return GO_ON;
    case OPTION_FOREIGN:
        options->foreign = true;
        return GO_ON;
    case OPTION_HOLDER:
        options->holder = optarg;
        return GO_ON;
    case OPTION_YES:
        options->yes = true;
        return GO_ON;
    case OPTION_METRICS_FILE:
        return take_metrics_file(options);
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
        return take_number_option(options, id);
    }
}

/* optopt is an unknown letter, or an option that was given a value and takes none (--json=1), or
 * 0: then the argument before optind is an unknown long option. */
static int unknown_option(const struct options *options, char **argv)
{
    if (optopt == 0)
        return misuse(options, "unknown option %s", argv[optind - 1]);
    if (!name_of(optopt))
        return misuse(options, "unknown option -%c", optopt);
    return misuse(options, "--%s takes no value", name_of(optopt));
}

/* A permit has a holder that renews it and knows its slot: no other process could take it over. */
static int not_taken(const struct options *options, int id)
{
    bool is_by_hand = options->command->bit & (FOR_LOCK | FOR_EXTEND | FOR_UNLOCK);
    if (id == OPTION_PERMITS && is_by_hand) {
        return misuse(options,
                      "`redlock %s` takes no --permits, as a permit cannot be left to another "
                      "process: use `redlock run --permits K NAME -- COMMAND`",
                      options->command->name);
    }
    return misuse(options, "`redlock %s` takes no --%s", options->command->name, name_of(id));
}

static int parse_one(struct options *options, int id, char **argv)
{
    if (id == '?')
        return unknown_option(options, argv);
    if (id == ':')
        return misuse(options, "%s needs a value", argv[optind - 1]);
    if (options->command && !(taken_by(id) & options->command->bit))
        return not_taken(options, id);
    if (!options->command && taken_by(id) != FOR_ALL)
        return misuse(options, "--%s goes after the command", name_of(id));
    return is_of_tls(id) ? take_tls(options, id) : take_option(options, id);
}

/* `how` is getopt's: with a + it stops at the first argument that is no option. */
static int parse_options(struct options *options, int argc, char **argv, const char *how)
{
    int id;
    opterr = 0;
    optind = 0; /* glibc: start anew */
    while ((id = getopt_long(argc, argv, how, long_options, NULL)) != -1) {
        int status = parse_one(options, id, argv);
        if (status != GO_ON)
            return status;
    }
    return GO_ON;
}

static const struct command *find_command(const char *name)
{
    for (const struct command *command = commands; command->name; command++)
        if (strcmp(command->name, name) == 0)
            return command;
    return NULL;
}

/* `redlock help [COMMAND]`, for those who try that first. */
static int help_on(const struct options *options, const char *name)
{
    const struct command *command = name ? find_command(name) : NULL;
    if (name && !command)
        return misuse(options, "unknown command %s", name);
    return show(command ? command->help : global_help);
}

/* For `run` and `elect` the options and names end at the first "--"; getopt must not see the
 * program's own arguments.  Returns the number of arguments before it. */
static int cut_program(struct options *options, int argc, char **argv)
{
    if (!(options->command->bit & (FOR_RUN | FOR_ELECT)))
        return argc;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0) {
            options->program = argv + i + 1;
            return i;
        }
    }
    return argc;
}

/* What is done about a latch stands before its name. */
static int take_action(struct options *options, int argc, char **argv)
{
    static const char *const actions[] = {"create", "arrive", "wait", "count"};
    if (options->command->bit != FOR_LATCH)
        return GO_ON;
    if (optind >= argc)
        return misuse(options, "say what to do: create, arrive, wait or count");
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (strcmp(argv[optind], actions[i]) == 0)
            options->action = actions[i];
    if (!options->action)
        return misuse(options, "cannot '%s' a latch, but create, arrive, wait and count",
                      argv[optind]);
    optind++;
    return GO_ON;
}

static bool make_room_for_names(struct options *options, int argc)
{
    options->names = calloc((size_t)argc + 1, sizeof(*options->names));
    options->shared_names = calloc((size_t)argc + 1, sizeof(*options->shared_names));
    return options->names && options->shared_names;
}

static void take_name(struct options *options, const char *name, bool shared)
{
    if (!name)
        return;
    options->names[options->names_count++] =
        (redlock_name){.bytes = name, .length = strlen(name), .shared = shared};
}

static void take_names(struct options *options, int argc, char **argv)
{
    for (int i = optind; i < argc; i++)
        take_name(options, argv[i], options->shared);
    for (size_t i = 0; i < options->shared_names_count; i++)
        take_name(options, options->shared_names[i], true);
}

static int check_permits(const struct options *options)
{
    if (options->permits && (options->shared || options->shared_names_count > 0)) {
        return misuse(options, "--permits goes without --shared: each permit has one holder; give "
                               "the name more permits");
    }
    if (options->permits && options->names_count > 1) {
        return misuse(options,
                      "--permits is of one name, not of %zu: run `redlock run` within another",
                      options->names_count);
    }
    return GO_ON;
}

static int check_latch(const struct options *options)
{
    bool creates = strcmp(options->action, "create") == 0;
    bool arrives = strcmp(options->action, "arrive") == 0;
    bool counts = strcmp(options->action, "count") == 0;
    if (options->names_count > 1)
        return misuse(options, "a latch has one name, not %zu", options->names_count);
    if (creates && !options->arrivals)
        return misuse(options, "--arrivals is missing: say how many must arrive");
    if (!creates && (options->arrivals || options->life_ms))
        return misuse(options,
                      "`redlock latch %s` takes no --%s: the latch has that from its start",
                      options->action, options->arrivals ? "arrivals" : "life");
    if (creates && options->id)
        return misuse(options, "`redlock latch create` takes no --id: it prints a new one");
    if (!arrives && options->arrival)
        return misuse(options, "`redlock latch %s` takes no --arrival", options->action);
    if (counts && options->wait_ms >= 0)
        return misuse(options, "`redlock latch count` takes no --wait: it tells what there is now");
    return GO_ON;
}

static int check_on_lost(const struct options *options)
{
    if (options->on_lost && !options->on_lost[0])
        return misuse(options, "--on-lost: give a command for the shell");
    if (options->on_lost && options->kill_after_ms == 0)
        return misuse(options, "--on-lost has no time with --kill-after 0: all that runs is killed "
                               "at once");
    return GO_ON;
}

static int check_break(const struct options *options)
{
    if (options->names_count > 1)
        return misuse(options, "one lock is broken at a time, not %zu", options->names_count);
    if (!options->holder)
        return misuse(options, "--holder is missing: give the token that `redlock status` shows");
    if (!options->holder[0])
        return misuse(options, "--holder: '' is no token: give what `redlock status` shows");
    if (!options->yes && (options->json || !isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)))
        return misuse(options,
                      "nobody can be asked whether to break it: there is no terminal%s; "
                      "say --yes, and mean it",
                      options->json ? " for it, with --json" : "");
    return GO_ON;
}

static int check_arguments(const struct options *options)
{
    enum command_bit bit = options->command->bit;
    if (bit & (FOR_NODES | FOR_LIST) && options->names_count > 0)
        return misuse(options, "`redlock %s` takes no names%s", options->command->name,
                      bit == FOR_LIST ? ": --prefix gives what they begin with" : "");
    if (!(bit & (FOR_NODES | FOR_LIST)) && options->names_count == 0)
        return misuse(options, "no name given");
    if (bit == FOR_BREAK)
        return check_break(options);
    if ((bit & (FOR_RUN | FOR_ELECT)) && (!options->program || !options->program[0]))
        return misuse(options, "no command given: redlock %s NAME -- COMMAND",
                      options->command->name);
    if ((bit & (FOR_ELECT | FOR_LEADER)) && options->names_count > 1)
        return misuse(options, "a leader is of one name, not of %zu", options->names_count);
    if (bit == FOR_BARRIER && options->names_count > 1)
        return misuse(options, "a barrier has one name, not %zu", options->names_count);
    if (bit == FOR_BARRIER && !options->parties)
        return misuse(options, "--parties is missing: say how many must arrive");
    if (bit == FOR_LATCH)
        return check_latch(options);
    if ((bit & (FOR_EXTEND | FOR_UNLOCK)) && !options->token)
        return misuse(options, "--token is missing: give what `redlock lock` printed");
    if ((bit & (FOR_EXTEND | FOR_UNLOCK)) && token_length(options->token) == 0) {
        return misuse(options, "--token: '%s' is no token: give what `redlock lock` printed",
                      options->token);
    }
    int status = check_permits(options);
    return status == GO_ON ? check_on_lost(options) : status;
}

static int ask_for_spare(struct options *options)
{
    const char *spare = getenv("REDLOCK_SPARE");
    if (options->spare >= 0)
        return GO_ON;
    options->spare = 0;
    return spare && spare[0] ? take_spare(options, "REDLOCK_SPARE", spare) : GO_ON;
}

static const char *from_environment(const char *variable)
{
    const char *value = getenv(variable);
    return value && value[0] ? value : NULL;
}

static int ask_for_nodes(struct options *options)
{
    if (options->nodes && options->nodes_file)
        return misuse(options, "give --nodes or --nodes-file, not both");
    if (!options->nodes && !options->nodes_file) {
        options->nodes = from_environment("REDLOCK_NODES");
        options->nodes_file = options->nodes ? NULL : from_environment("REDLOCK_NODES_FILE");
    }
    if (options->nodes_file || (options->nodes && options->nodes[0]))
        return GO_ON;
    if (from_environment("REDLOCK_TOKEN")) {
        return misuse(options,
                      "no masters given: `redlock %s` passes on neither a list with passwords nor "
                      "a pipe; write the list into a file and use REDLOCK_NODES_FILE or "
                      "--nodes-file",
                      from_environment("REDLOCK_TERM") ? "elect" : "run");
    }
    return misuse(options, "no masters given: set REDLOCK_NODES or use --nodes "
                           "redis://HOST:PORT,redis://HOST:PORT,... (a list with passwords: "
                           "REDLOCK_NODES_FILE, --nodes-file)");
}

static int ask_environment(struct options *options)
{
    const char *max_ttl = getenv("REDLOCK_MAX_TTL");
    int status = ask_for_nodes(options);
    if (status == GO_ON)
        status = ask_for_spare(options);
    if (status != GO_ON || options->max_ttl_ms > 0 || !max_ttl || !max_ttl[0])
        return status;
    return take_duration(options, "REDLOCK_MAX_TTL", max_ttl, false, &options->max_ttl_ms);
}

/* A small max-ttl must not make every command without --ttl fail. */
static void set_default_ttl(struct options *options)
{
    int64_t most = options->max_ttl_ms > 0 ? options->max_ttl_ms : DEFAULT_MAX_TTL_MS;
    if (options->ttl_ms == 0)
        options->ttl_ms = most < DEFAULT_TTL_MS ? most : DEFAULT_TTL_MS;
}

static int too_long(const struct options *options, const char *option, int64_t ms, int64_t most,
                    const char *advice)
{
    char span[DURATION_SIZE], limit[DURATION_SIZE];
    struct text why = {0};
    text_format(&why,
                "%s %s is above --max-ttl, %s: %sraise --max-ttl or REDLOCK_MAX_TTL for all "
                "clients (a restarted master abstains as long)",
                option, duration_show(span, ms), duration_show(limit, most), advice);
    failure_tell(options, "cannot ask for", REDLOCK_E_TTL, why.bytes, NULL);
    text_free(&why);
    return EXIT_USAGE;
}

/* Checked here, as the library's sentences would name its own options. */
static int check_times(const struct options *options)
{
    int64_t most = options->max_ttl_ms > 0 ? options->max_ttl_ms : DEFAULT_MAX_TTL_MS;
    if (most > LONGEST_MAX_TTL_MS)
        return misuse(options, "--max-ttl is 24h at the most, as is REDLOCK_MAX_TTL");
    if (options->ttl_ms > most)
        return too_long(options, "--ttl", options->ttl_ms, most,
                        "keep it short, for `redlock run` renews it and `redlock extend` prolongs "
                        "it, or ");
    if (options->at_least_ms > most)
        return too_long(options, "--at-least", options->at_least_ms, most, "");
    return GO_ON;
}

static int parse_command(struct options *options, int argc, char **argv)
{
    int count = cut_program(options, argc, argv);
    options->fence = options->command->bit == FOR_ELECT;
    if (options->command->bit & (FOR_ELECT | FOR_BARRIER))
        options->wait_ms = REDLOCK_FOREVER;
    if (options->command->bit == FOR_LATCH)
        options->wait_ms = -1;
    if (!make_room_for_names(options, count)) {
        failure_tell(options, "cannot start", REDLOCK_E_MEMORY, redlock_code_text(REDLOCK_E_MEMORY),
                     NULL);
        return EXIT_INTERNAL;
    }
    int status = parse_options(options, count, argv, ":" LETTERS);
    if (status != GO_ON)
        return status;
    status = take_action(options, count, argv);
    if (status != GO_ON)
        return status;
    take_names(options, count, argv);
    status = check_arguments(options);
    if (status == GO_ON)
        status = ask_environment(options);
    set_default_ttl(options);
    return status == GO_ON ? check_times(options) : status;
}

/* Read before all else, so that an error in the command line is JSON too. */
static bool asks_for_json(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        size_t length = strlen(argv[i]);
        if (length > 2 && strncmp(argv[i], "--json", length) == 0)
            return true;
    }
    return false;
}

int options_parse(struct options *options, int argc, char **argv)
{
    *options = (struct options){.kill_after_ms = 5000, .margin_ms = -1, .spare = -1};
    options->json = asks_for_json(argc, argv);
    if (options->json)
        say_as_json();
    int status = parse_options(options, argc, argv, "+:" LETTERS);
    if (status != GO_ON)
        return status;
    if (optind >= argc)
        return misuse(options, "no command given");
    const char *name = argv[optind];
    if (strcmp(name, "help") == 0)
        return help_on(options, argv[optind + 1]);
    options->command = find_command(name);
    if (!options->command)
        return misuse(options, "unknown command %s", name);
    return parse_command(options, argc - optind, argv + optind);
}

void options_of_tls(const struct options *options, redlock_options *settings)
{
    settings->tls_ca = options->tls_ca;
    settings->tls_cert = options->tls_cert;
    settings->tls_key = options->tls_key;
    settings->tls_name = options->tls_name;
    settings->tls_sni = options->tls_sni;
    settings->tls_verify = options->tls_verify;
}

void options_free(struct options *options)
{
    free(options->names);
    free(options->shared_names);
}
