#include "stuck.h"

#include "duration.h"
#include "say.h"

#define LOOK_S     1.
#define PATIENT_MS 5000

/* All should be gone: SIGKILL is sent when the command has ended, or is planned. */
static bool should_be_gone(const struct child *child)
{
    return child->ended || child->kill_at <= boot_ms();
}

static void on_look(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct stuck *stuck = timer->data;
    (void)events;
    int64_t now = boot_ms();
    if (!should_be_gone(stuck->child))
        return;
    if (!stuck->since)
        stuck->since = now;
    if (now - stuck->since < PATIENT_MS)
        return;
    say("processes of the command cannot be ended, such as those of another user: waiting for "
        "them. If they outlive the lease, the watchdog resets this machine");
    ev_timer_stop(loop, timer);
}

void stuck_start(struct stuck *stuck, struct ev_loop *loop, const struct child *child)
{
    *stuck = (struct stuck){.child = child};
    ev_timer_init(&stuck->timer, on_look, LOOK_S, LOOK_S);
    stuck->timer.data = stuck;
    ev_timer_start(loop, &stuck->timer);
}

void stuck_stop(struct stuck *stuck, struct ev_loop *loop)
{
    ev_timer_stop(loop, &stuck->timer);
}
