#include "run_notify.h"

#include <inttypes.h>

#include "commands.h"
#include "elect.h"
#include "votes.h"

/* "holds 'a', 'b'" */
static void show(struct text *out, const struct run *run, const char *what)
{
    const struct options *options = run->session.options;
    text_format(out, "%s ", what);
    names_show(out, options->names, options->names_count);
}

static void tell(struct run *run, enum notify_state state, struct text *status)
{
    notify_tell(&run->notify, state, status);
    text_free(status);
}

static bool elects(const struct run *run)
{
    return run->session.options->command->bit == FOR_ELECT;
}

void run_notify_asking(struct run *run)
{
    struct text status = {0};
    show(&status, run, "asking for");
    tell(run, NOTIFY_STARTING, &status);
}

void run_notify_waiting(void *data, const redlock_look_result *result, const char *how)
{
    struct run *run = data;
    struct text status = {0};
    bool stands = elects(run) && result->code == REDLOCK_OK;
    show(&status, run, "waiting for");
    text_format(&status, ": %s", how);
    tell(run, stands ? NOTIFY_READY : NOTIFY_STARTING, &status);
}

void run_notify_holding(struct run *run, const redlock_event *event)
{
    const struct options *options = run->session.options;
    struct text status = {0};
    show(&status, run, elects(run) ? "leading" : "holding");
    if (options->fence)
        text_format(&status, ", %s %" PRId64, elects(run) ? "term" : "fence",
                    redlock_lease_fence(run->lease));
    if (options->permits)
        text_format(&status, ", slot %d", redlock_lease_slot(run->lease));
    if (event->kind == REDLOCK_AT_RISK)
        text_format(&status, "; at risk, on %u of %u masters", event->granted, event->masters);
    tell(run, NOTIFY_READY, &status);
}

void run_notify_ending(struct run *run, const char *why)
{
    struct text status = {0};
    text_format(&status, "%s", why);
    tell(run, elect_is_to_stand_again(run) ? NOTIFY_STARTING : NOTIFY_STOPPING, &status);
}
