#include "run_times.h"

/* The time between SIGKILL and the end of the lease, in case the kernel or we are late. */
static int64_t slack_ms(const struct options *options)
{
    int64_t slack = options->ttl_ms / 20;
    if (slack > 250)
        slack = 250;
    if (options->margin_ms >= 0 && slack > options->margin_ms / 4)
        slack = options->margin_ms / 4;
    return slack;
}

int64_t run_margin_ms(const struct options *options)
{
    int64_t quarter = options->ttl_ms / 4;
    int64_t grace = options->kill_after_ms < quarter ? options->kill_after_ms : quarter;
    return options->margin_ms >= 0 ? options->margin_ms : grace + slack_ms(options);
}

struct guardian_orders run_orders(const struct options *options)
{
    int64_t slack = slack_ms(options);
    return (struct guardian_orders){.ask_before_ms = run_margin_ms(options) - slack,
                                    .slack_ms = slack,
                                    .kill_after_ms = options->kill_after_ms,
                                    .leave_children = options->leave_children,
                                    .on_lost = options->on_lost};
}

int64_t run_grace_ms(const struct options *options, int64_t valid_ms)
{
    int64_t most = valid_ms - slack_ms(options);
    if (most < 0)
        most = 0;
    return options->kill_after_ms < most ? options->kill_after_ms : most;
}
