/*
 * undo.c - takes back that the present list of masters is over.
 */
#include <string.h>

#include "change.h"
#include "change_checks.h"
#include "change_report.h"
#include "failure.h"
#include "session.h"

#define LOOK_S 0.05

struct undo {
    struct session session;
    ev_timer look;
    struct list_watch watch;
    bool said;
};

static void report(struct undo *undo, const struct list_seen *seen)
{
    struct text out = {0};
    unsigned told = masters_in(seen->told), quorum = undo->watch.quorum;
    text_format(&out, "the list is valid on %u of %u masters", told, undo->watch.masters);
    if (told < undo->watch.masters)
        text_format(&out, "; the others do not tell");
    text_format(&out, "\n");
    int status = told >= quorum ? EXIT_DONE : EXIT_UNAVAILABLE;
    bool done = session_put(&undo->session, &out);
    session_end(&undo->session, done ? status : EXIT_OUTPUT, 0);
}

static void refuse(struct undo *undo, const struct list_used *list)
{
    struct text why = {0};
    text_format(&why, "a list in use may not meet this one: ");
    change_put_used(&why, list);
    failure_tell(undo->session.options, "cannot take the end back", REDLOCK_E_DIFFERS, why.bytes,
                 NULL);
    text_free(&why);
    session_end(&undo->session, EXIT_NODES, 0);
}

static void look(struct undo *undo)
{
    struct list_seen seen;
    list_watch_look(&undo->watch, &seen);
    const struct list_used *unsafe = list_watch_unsafe(&undo->watch, &seen);
    if (!seen.is_settled)
        return;
    if (!seen.over) {
        report(undo, &seen);
    } else if (!undo->said && unsafe) {
        refuse(undo, unsafe);
    } else if (!undo->said) {
        redlock_list_end(undo->session.client, "");
        undo->said = true;
    }
}

static void on_look(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct undo *undo = timer->data;
    (void)events;
    if (!undo->session.ending)
        look(undo);
    if (undo->session.ending)
        ev_timer_stop(loop, timer);
}

static void on_begin(void *data)
{
    struct undo *undo = data;
    if (!fleet_is_named(undo->session.options, undo->session.client)) {
        session_end(&undo->session, EXIT_USAGE, 0);
        return;
    }
    list_watch_take(&undo->watch, undo->session.client, undo->session.options);
    ev_timer_init(&undo->look, on_look, 0, LOOK_S);
    undo->look.data = undo;
    ev_timer_start(undo->session.loop, &undo->look);
}

int perform_undo(const struct options *options)
{
    struct undo undo = {
        .session = {.begin = on_begin, .patient = true, .looks = true, .any_list = true}};
    return session_perform(&undo.session, options, &undo);
}
