#include "option_environment.h"

#include <stdlib.h>

#include "commands.h"
#include "option_file.h"
#include "misuse.h"

static const char *from_environment(const char *variable)
{
    const char *value = getenv(variable);
    return value && value[0] ? value : NULL;
}

static int ask_for_number(const struct options *options, enum setting setting, int64_t *number)
{
    const char *variable = settings_variable(setting), *text = from_environment(variable);
    char why[160];
    if (text && !settings_number(setting, text, number, why, sizeof why))
        return misuse(options, "%s: '%s' %s", variable, text, why);
    return GO_ON;
}

static int ask_for_nodes(struct options *options)
{
    if (options->nodes && options->nodes_file)
        return misuse(options, "give --nodes or --nodes-file, not both");
    if (!options->nodes && !options->nodes_file) {
        options->nodes = from_environment("REDLOCK_NODES");
        options->nodes_file = options->nodes ? NULL : from_environment("REDLOCK_NODES_FILE");
    }
    return GO_ON;
}

/* An empty one is none, whatever the file says; not so of TLS, as in the library. */
static void ask_for_texts(struct options *options)
{
    for (int i = SETTING_PREFIX; i < SETTINGS; i++) {
        const char *value = getenv(settings_variable((enum setting)i));
        if (!options->text[i] && value && (value[0] || i < SETTING_TLS_CA))
            options->text[i] = value;
    }
}

static int ask_for_all(struct options *options)
{
    int64_t spare = options->spare;
    int status = ask_for_nodes(options);
    if (status == GO_ON && spare < 0)
        status = ask_for_number(options, SETTING_SPARE, &spare);
    if (status == GO_ON && !options->max_ttl_ms)
        status = ask_for_number(options, SETTING_MAX_TTL, &options->max_ttl_ms);
    options->spare = (int)spare;
    ask_for_texts(options);
    return status;
}

static int check_nodes(const struct options *options)
{
    if (options->nodes_file || (options->nodes && options->nodes[0]) ||
        options->command->bit == FOR_CONFIG)
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
                           "REDLOCK_NODES_FILE, --nodes-file), or write them into " SETTINGS_PATH);
}

int option_environment(struct options *options)
{
    option_note_origin(options, ORIGIN_OPTION);
    int status = ask_for_all(options);
    option_note_origin(options, ORIGIN_ENVIRONMENT);
    if (status == GO_ON)
        status = option_file(options);
    if (options->spare < 0)
        options->spare = 0;
    return status == GO_ON ? check_nodes(options) : status;
}
