#include "run_times.h"

#include "watchdog_times.h"

/* In case the kernel or we are late. */
static int64_t moment_ms(const struct options *options)
{
    int64_t moment = options->ttl_ms / 20;
    if (moment > 250)
        moment = 250;
    if (options->margin_ms >= 0 && moment > options->margin_ms / 4)
        moment = options->margin_ms / 4;
    return moment;
}

/* The time between SIGKILL and the end of the lease.  All must be gone before a watchdog would
 * reset the machine. */
static int64_t slack_ms(const struct options *options)
{
    int64_t early = options->watchdog ? watchdog_early_ms(options->ttl_ms) : 0;
    return moment_ms(options) + early;
}

int64_t run_margin_ms(const struct options *options)
{
    int64_t quarter = options->ttl_ms / 4;
    int64_t grace = options->kill_after_ms < quarter ? options->kill_after_ms : quarter;
    int64_t usual = grace + slack_ms(options), room = watchdog_room_ms(options->ttl_ms);
    if (options->watchdog && usual > room)
        usual = room;
    return options->margin_ms >= 0 ? options->margin_ms : usual;
}

struct guardian_orders run_orders(const struct options *options)
{
    return (struct guardian_orders){.ask_before_ms = run_margin_ms(options) - moment_ms(options),
                                    .slack_ms = slack_ms(options),
                                    .kill_after_ms = options->kill_after_ms,
                                    .leave_children = options->leave_children,
                                    .on_lost = options->on_lost,
                                    .watchdog = {.fd = -1}};
}

int64_t run_grace_ms(const struct options *options, int64_t valid_ms)
{
    int64_t most = valid_ms - slack_ms(options);
    if (most < 0)
        most = 0;
    return options->kill_after_ms < most ? options->kill_after_ms : most;
}
