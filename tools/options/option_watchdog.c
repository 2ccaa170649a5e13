#include "option_watchdog.h"

#include <inttypes.h>

#include "duration.h"
#include "watchdog_times.h"

#define MOMENTS_MS                                                                                 \
    500 /* from LOST to SIGTERM by the guardian, and from SIGKILL until all is gone */

static int check_use(const struct options *options)
{
    if (!options->watchdog)
        return misuse(options, "--watchdog-timeout goes with --watchdog");
    if (!options->watchdog[0])
        return misuse(options, "--watchdog: the path is empty");
    if (options->leave_children)
        return misuse(options, "--leave-children lets processes run on without the lock, and "
                               "--watchdog resets the machine before they can: give one of them");
    return GO_ON;
}

static int check_ttl(const struct options *options)
{
    char ttl[DURATION_SIZE];
    if (watchdog_longest_s(options->ttl_ms) >= WATCHDOG_LEAST_S)
        return GO_ON;
    return misuse(options,
                  "--ttl %s leaves no time for a watchdog: even its shortest timeout, %d s, needs "
                  "--ttl %" PRId64 "ms",
                  duration_show(ttl, options->ttl_ms), WATCHDOG_LEAST_S,
                  watchdog_ttl_ms(WATCHDOG_LEAST_S));
}

static int check_timeout(const struct options *options)
{
    char ttl[DURATION_SIZE], timeout[DURATION_SIZE];
    int64_t told = options->watchdog_timeout_ms, longest = watchdog_longest_s(options->ttl_ms);
    if (told == 0)
        return GO_ON;
    if (told % 1000 != 0 || told < INT64_C(1000) * WATCHDOG_LEAST_S)
        return misuse(options, "--watchdog-timeout: %s is not a number of whole seconds from %d on",
                      duration_show(timeout, told), WATCHDOG_LEAST_S);
    if (told > longest * 1000)
        return misuse(options,
                      "--watchdog-timeout %s is too long for --ttl %s, which has room for %" PRId64
                      " s: use a shorter timeout, or --ttl %" PRId64 "ms (and --max-ttl)",
                      duration_show(timeout, told), duration_show(ttl, options->ttl_ms), longest,
                      watchdog_ttl_ms(told / 1000));
    return GO_ON;
}

/* The command must be ended in order, before the reset; and a renewal must come before LOST. */
static int check_margin(const struct options *options)
{
    char margin[DURATION_SIZE], ttl[DURATION_SIZE];
    int64_t least = watchdog_early_ms(options->ttl_ms) + MOMENTS_MS;
    int64_t most = watchdog_room_ms(options->ttl_ms);
    if (options->margin_ms < 0 || (options->margin_ms >= least && options->margin_ms <= most))
        return GO_ON;
    return misuse(options,
                  "--margin %s does not fit a watchdog with --ttl %s: give %" PRId64
                  "ms to %" PRId64 "ms, or leave it out",
                  duration_show(margin, options->margin_ms), duration_show(ttl, options->ttl_ms),
                  least, most);
}

int option_check_watchdog(const struct options *options)
{
    int (*const checks[])(const struct options *) = {check_use, check_ttl, check_timeout,
                                                     check_margin};
    int status = GO_ON;
    if (!options->watchdog && options->watchdog_timeout_ms == 0)
        return GO_ON;
    for (size_t i = 0; status == GO_ON && i < sizeof checks / sizeof *checks; i++)
        status = checks[i](options);
    return status;
}
