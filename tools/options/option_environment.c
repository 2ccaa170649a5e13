#include "option_environment.h"

#include <stdlib.h>

#include "commands.h"
#include "option_file.h"
#include "option_values.h"

static const char *from_environment(const char *variable)
{
    const char *value = getenv(variable);
    return value && value[0] ? value : NULL;
}

static int ask_for_spare(struct options *options)
{
    const char *spare = from_environment("REDLOCK_SPARE");
    return spare && options->spare < 0 ? option_take_spare(options, "REDLOCK_SPARE", spare) : GO_ON;
}

static int ask_for_max_ttl(struct options *options)
{
    const char *max_ttl = from_environment("REDLOCK_MAX_TTL");
    if (options->max_ttl_ms > 0 || !max_ttl)
        return GO_ON;
    return option_take_span(options, "REDLOCK_MAX_TTL", max_ttl, false, &options->max_ttl_ms);
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

static int ask_for_all(struct options *options)
{
    int status = ask_for_nodes(options);
    if (status == GO_ON)
        status = ask_for_spare(options);
    if (status == GO_ON)
        status = ask_for_max_ttl(options);
    if (!options->prefix)
        options->prefix =
            getenv("REDLOCK_PREFIX"); /* an empty one is none, whatever the file says */
    if (!options->label)
        options->label = getenv("REDLOCK_LABEL");
    options->fleet = getenv("REDLOCK_FLEET");
    if (options->fleet && !options->fleet[0])
        options->fleet = NULL;
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
