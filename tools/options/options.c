#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "exits.h"
#include "failure.h"
#include "misuse.h"
#include "near.h"
#include "option_checks.h"
#include "option_environment.h"
#include "option_table.h"
#include "option_times.h"
#include "option_values.h"
#include "option_watchdog.h"
#include "say.h"

/* ---- help --------------------------------------------------------------- */

static int show(const char *format, const char *what)
{
    struct text text = {0};
    text_format(&text, format, what);
    bool done = put_text(&text);
    text_free(&text);
    return done ? EXIT_DONE : EXIT_OUTPUT;
}

/* The end of the commands, which has the general help, if no command has that name. */
static const struct command *find_command(const struct command *commands, const char *name)
{
    const struct command *command = commands;
    while (command->name && (!name || strcmp(command->name, name) != 0))
        command++;
    return command;
}

static int show_help(const struct command *command)
{
    return show("%s", command->help);
}

static int unknown_command(const struct options *options, const char *name)
{
    struct near near = near_to(name);
    for (const struct command *command = options->commands; command->name; command++)
        near_try(&near, command->name);
    if (near.best)
        return misuse(options, "unknown command %s (did you mean %s?)", name, near.best);
    return misuse(options, "unknown command %s", name);
}

/* `redlock help [COMMAND]`, for those who try that first. */
static int help_on(const struct options *options, const char *name)
{
    const struct command *command = find_command(options->commands, name);
    if (name && !command->name)
        return unknown_command(options, name);
    return show_help(command);
}

/* ---- one option --------------------------------------------------------- */

/* Only one that may stand there. */
static int unknown_word(const struct options *options, const char *word)
{
    unsigned bit = options->command ? options->command->bit : FOR_ALL;
    char name[80];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    struct near near = near_to(name);
    const struct option *names = option_words().names;
    for (; names->name; names++)
        if ((option_row(names->val)->commands & bit) == bit)
            near_try(&near, names->name);
    if (near.best)
        return misuse(options, "unknown option --%s (did you mean --%s?)", name, near.best);
    return misuse(options, "unknown option %s", word);
}

/* optopt is an unknown letter, or an option that was given a value and takes none (--json=1), or
 * 0: then the argument before optind is an unknown long option. */
static int unknown_option(const struct options *options, char **argv)
{
    const struct option_row *row = option_row(optopt);
    if (optopt == 0)
        return unknown_word(options, argv[optind - 1]);
    if (!row)
        return misuse(options, "unknown option -%c", optopt);
    return misuse(options, "--%s takes no value", row->name);
}

/* A permit has a holder that renews it and knows its slot: no other process could take it over. */
static int not_taken(const struct options *options, const struct option_row *row)
{
    bool is_by_hand = options->command->bit & (FOR_LOCK | FOR_EXTEND | FOR_UNLOCK);
    if (row->kind == OPTION_PERMITS && is_by_hand) {
        return misuse(options,
                      "`redlock %s` takes no --permits, as a permit cannot be left to another "
                      "process: use `redlock run --permits K NAME -- COMMAND`",
                      options->command->name);
    }
    return misuse(options, "`redlock %s` takes no --%s", options->command->name, row->name);
}

static int parse_one(struct options *options, int id, char **argv)
{
    const struct option_row *row = option_row(id);
    if (id == ':')
        return misuse(options, "%s needs a value", argv[optind - 1]);
    if (!row)
        return unknown_option(options, argv);
    if (options->command && !(row->commands & options->command->bit))
        return not_taken(options, row);
    if (!options->command && row->commands != FOR_ALL)
        return misuse(options, "--%s goes after the command", row->name);
    if (row->kind == OPTION_VERSION)
        return show("redlock %s\n", redlock_version());
    if (row->kind == OPTION_HELP)
        return show_help(options->command ? options->command
                                          : find_command(options->commands, NULL));
    return option_take(options, row, optarg);
}

/* Those of every command come before its name: it ends them. */
static int parse_options(struct options *options, int argc, char **argv)
{
    const struct option_words words = option_words();
    char how[80];
    int id;
    snprintf(how, sizeof how, "%s:%s", options->command ? "" : "+", words.letters);
    opterr = 0;
    optind = 0; /* glibc: start anew */
    while ((id = getopt_long(argc, argv, how, words.names, NULL)) != -1) {
        int status = parse_one(options, id, argv);
        if (status != GO_ON)
            return status;
    }
    return GO_ON;
}

/* ---- what is no option -------------------------------------------------- */

/* For `run` and its kind the options and names end at the first "--"; getopt must not see the
 * program's own arguments.  Returns the number of arguments before it. */
static int cut_program(struct options *options, int argc, char **argv)
{
    if (!(options->command->bit & (FOR_RUN | FOR_ELECT | FOR_ONCE)))
        return argc;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0) {
            options->program = argv + i + 1;
            return i;
        }
    }
    return argc;
}

/* The latch command stands before the name. */
static int take_action(struct options *options, int argc, char **argv)
{
    static const char *const actions[] = {"create", "arrive", "wait", "count"};
    if (options->command->bit != FOR_LATCH)
        return GO_ON;
    if (optind >= argc)
        return misuse(options, "no latch command given: create, arrive, wait or count");
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (strcmp(argv[optind], actions[i]) == 0)
            options->action = actions[i];
    if (!options->action)
        return misuse(options, "unknown: latch %s. Commands: create, arrive, wait, count",
                      argv[optind]);
    optind++;
    return GO_ON;
}

/* `change` stands before the list that is to come. */
static void take_change(struct options *options, int argc, char **argv)
{
    if (options->command->bit != FOR_MASTERS || optind >= argc ||
        strcmp(argv[optind], "change") != 0)
        return;
    options->action = argv[optind++];
    if (optind < argc)
        options->to = argv[optind++];
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
    redlock_name *taken = &options->names[options->names_count++];
    *taken = redlock_name_of(name);
    if (shared)
        taken->mode = REDLOCK_SHARED;
}

/* `run -- -x -- COMMAND`: no program is called so, and a name may be. */
static void take_names_behind_dashes(struct options *options)
{
    char **end = options->program;
    if (!end || !end[0] || end[0][0] != '-')
        return;
    while (*end && strcmp(*end, "--") != 0)
        end++;
    if (!*end)
        return;
    for (char **name = options->program; name < end; name++)
        take_name(options, *name, options->shared);
    options->program = end + 1;
}

static void take_names(struct options *options, int argc, char **argv)
{
    if (optind >= argc)
        take_names_behind_dashes(options);
    for (int i = optind; i < argc; i++)
        take_name(options, argv[i], options->shared);
    for (size_t i = 0; i < options->shared_names_count; i++)
        take_name(options, options->shared_names[i], true);
}

/* ---- all of it ---------------------------------------------------------- */

static int parse_command(struct options *options, int argc, char **argv)
{
    int count = cut_program(options, argc, argv);
    options->fence = options->command->bit == FOR_ELECT;
    if (options->command->bit & (FOR_ELECT | FOR_BARRIER))
        options->wait_ms = REDLOCK_FOREVER;
    if (options->command->bit == FOR_LATCH)
        options->wait_ms = -1;
    if (!make_room_for_names(options, argc)) {
        failure_tell(options, "cannot start", REDLOCK_E_MEMORY, redlock_code_text(REDLOCK_E_MEMORY),
                     NULL);
        return EXIT_INTERNAL;
    }
    int status = parse_options(options, count, argv);
    if (status != GO_ON)
        return status;
    status = take_action(options, count, argv);
    if (status != GO_ON)
        return status;
    take_change(options, count, argv);
    if (options->action && strcmp(options->action, "wait") == 0 && options->wait_ms < 0)
        options->wait_ms = REDLOCK_FOREVER;
    take_names(options, count, argv);
    status = option_checks(options);
    if (status == GO_ON)
        status = option_environment(options);
    option_default_ttl(options);
    if (status == GO_ON)
        status = option_check_times(options);
    return status == GO_ON ? option_check_watchdog(options) : status;
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

int options_parse(struct options *options, const struct command *commands, int argc, char **argv)
{
    *options = (struct options){.commands = commands,
                                .kill_after_ms = 5000,
                                .margin_ms = -1,
                                .patience_ms = -1,
                                .spare = -1};
    options->json = asks_for_json(argc, argv);
    if (options->json)
        say_as_json();
    int status = parse_options(options, argc, argv);
    if (status != GO_ON)
        return status;
    if (optind >= argc)
        return misuse(options, "no command given");
    const char *name = argv[optind];
    if (strcmp(name, "help") == 0)
        return help_on(options, argv[optind + 1]);
    const struct command *command = find_command(commands, name);
    if (!command->name)
        return unknown_command(options, name);
    options->command = command;
    return parse_command(options, argc - optind, argv + optind);
}

const char *options_fleet(const struct options *options)
{
    const char *fleet = options->text[SETTING_FLEET], *prefix = options->text[SETTING_PREFIX];
    if (fleet)
        return *fleet ? fleet : NULL;
    return prefix ? prefix : "";
}

void options_of_tls(const struct options *options, redlock_options *settings)
{
#define ROW(name, key, ...)                                                                        \
    if (SETTING_##name >= SETTING_TLS_CA && options->origin[SETTING_##name] == ORIGIN_OPTION)      \
        settings->key = options->text[SETTING_##name];
    TEXT_SETTINGS(ROW)
#undef ROW
}

/* The library reads the masters of the file itself: its complaint has their line, and a new login
 * is read there. */
redlock_options options_of_client(const struct options *options)
{
    redlock_options settings = {.size = sizeof(redlock_options)};
    settings.nodes = options->origin[SETTING_NODES] == ORIGIN_FILE ? NULL : options->nodes;
    settings.nodes_file = options->nodes_file;
    settings.config = options->config;
    settings.label = options->text[SETTING_LABEL];
    settings.prefix = options->text[SETTING_PREFIX];
    settings.fleet = options->text[SETTING_FLEET];
    settings.max_ttl_ms = options->max_ttl_ms;
    settings.spare = options->spare > 0 ? options->spare : REDLOCK_ZERO;
    settings.request_timeout_ms = options->request_timeout_ms;
    settings.connect_timeout_ms = options->connect_timeout_ms;
    options_of_tls(options, &settings);
    return settings;
}

void options_free(struct options *options)
{
    free(options->names);
    free(options->shared_names);
    settings_free(&options->settings);
}
