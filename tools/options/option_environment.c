#include "option_environment.h"

#include <stdlib.h>

#include "option_values.h"

static const char *from_environment(const char *variable)
{
    const char *value = getenv(variable);
    return value && value[0] ? value : NULL;
}

static int ask_for_spare(struct options *options)
{
    const char *spare = from_environment("REDLOCK_SPARE");
    if (options->spare >= 0)
        return GO_ON;
    options->spare = 0;
    return spare ? option_take_spare(options, "REDLOCK_SPARE", spare) : GO_ON;
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

int option_environment(struct options *options)
{
    const char *max_ttl = from_environment("REDLOCK_MAX_TTL");
    int status = ask_for_nodes(options);
    if (status == GO_ON)
        status = ask_for_spare(options);
    if (status != GO_ON || options->max_ttl_ms > 0 || !max_ttl)
        return status;
    return option_take_span(options, "REDLOCK_MAX_TTL", max_ttl, false, &options->max_ttl_ms);
}
