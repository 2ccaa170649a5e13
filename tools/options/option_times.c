#include "option_times.h"

#include "duration.h"
#include "exits.h"
#include "failure.h"
#include "text.h"

#define DEFAULT_TTL_MS     10000
#define DEFAULT_MAX_TTL_MS 30000
#define LONGEST_MAX_TTL_MS (INT64_C(24) * 3600 * 1000)

int64_t option_longest_ttl(const struct options *options)
{
    return options->max_ttl_ms > 0 ? options->max_ttl_ms : DEFAULT_MAX_TTL_MS;
}

/* A small max-ttl must not make every command without --ttl fail. */
void option_default_ttl(struct options *options)
{
    int64_t most = option_longest_ttl(options);
    if (options->ttl_ms == 0)
        options->ttl_ms = most < DEFAULT_TTL_MS ? most : DEFAULT_TTL_MS;
}

static int too_long(const struct options *options, const char *option, int64_t ms, int64_t most,
                    const char *advice)
{
    char span[DURATION_SIZE], limit[DURATION_SIZE];
    struct text why = {0};
    text_format(&why,
                "%s %s is above --max-ttl %s: %sraise --max-ttl or REDLOCK_MAX_TTL for all "
                "clients (a restarted master abstains for that time)",
                option, duration_show(span, ms), duration_show(limit, most), advice);
    failure_tell(options, "cannot ask for", REDLOCK_E_TTL, why.bytes, NULL);
    text_free(&why);
    return EXIT_USAGE;
}

/* Checked here, as the library's sentences would name its own options. */
int option_check_times(const struct options *options)
{
    int64_t most = option_longest_ttl(options);
    if (most > LONGEST_MAX_TTL_MS)
        return misuse(options, "--max-ttl and REDLOCK_MAX_TTL are at most 24h");
    if (options->ttl_ms > most)
        return too_long(options, "--ttl", options->ttl_ms, most,
                        "use a short ttl, which `redlock run` renews and `redlock extend` "
                        "prolongs; or ");
    if (options->at_least_ms > most)
        return too_long(options, "--at-least", options->at_least_ms, most, "");
    return GO_ON;
}
