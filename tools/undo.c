/*
 * undo.c - takes back that the present list of masters is over.
 *
 * Clients may have heard of the list in its place, and sleep since.  Another change would lead
 * others to a third list, which need not meet that one.  So the list in its place ends instead if
 * nobody says it.  A client that wakes up under it comes back.
 */
#include <string.h>

#include "change.h"
#include "change_checks.h"
#include "change_report.h"
#include "duration.h"
#include "failure.h"
#include "session.h"

#define LOOK_S      0.05
#define HEARD_BY_MS 6000 /* a command that changes the list looks every five seconds */

struct undo {
    struct session session;
    struct plan plan; /* the present list alone */
    ev_timer look;
    struct list_watch watch;
    struct list_watch own, next; /* they say: it is not over, but the list in its place */
    bool said, said_again, ends_next;
    int64_t said_at;
};

/* ---- The outcome ------------------------------------------------------------------- */

static void put_next(struct text *out, const struct undo *undo)
{
    struct list_seen next;
    if (!undo->next.client)
        return;
    list_watch_look(&undo->next, &next);
    text_format(out, "the one in its place ");
    change_put_masters(out, &undo->next, (1U << undo->next.masters) - 1);
    if (undo->ends_next)
        text_format(out, " is over on %u of %u masters\n", masters_in(next.ours),
                    undo->next.masters);
    else
        text_format(out,
                    " is in use. Before you lead clients to a third list, lead these back: begin "
                    "a change to the present list with that one\n");
}

static void report(struct undo *undo, const struct list_seen *seen)
{
    struct text out = {0};
    unsigned told = masters_in(seen->told), quorum = undo->watch.quorum;
    text_format(&out, "the list is valid on %u of %u masters", told, undo->watch.masters);
    if (told < undo->watch.masters)
        text_format(&out, "; the others do not tell");
    text_format(&out, "\n");
    put_next(&out, undo);
    int status = told >= quorum ? EXIT_DONE : EXIT_UNAVAILABLE;
    bool done = session_put(&undo->session, &out);
    session_end(&undo->session, done ? status : EXIT_OUTPUT, 0);
}

/* Frees the sentence. */
static void refuse(struct undo *undo, redlock_code code, struct text *why)
{
    failure_tell(undo->session.options, "cannot take the end back", code, why->bytes, NULL);
    text_free(why);
    session_end(&undo->session, exit_for(code), 0);
}

/* ---- Whether it may be taken back ----------------------------------------------------- */

static bool is_unsafe(struct undo *undo, const struct list_seen *seen)
{
    const struct list_used *list = list_watch_unsafe(&undo->watch, seen);
    struct text why = {0};
    if (!list)
        return false;
    text_format(&why, "a list in use may not meet this one: ");
    change_put_used(&why, list);
    refuse(undo, REDLOCK_E_DIFFERS, &why);
    return true;
}

static bool are_too_few(struct undo *undo, const struct list_seen *seen)
{
    unsigned told = masters_in(seen->told);
    struct text why = {0};
    if (told >= undo->watch.quorum)
        return false;
    text_format(&why, "%u of %u masters tell which lists are in use, and %u must", told,
                undo->watch.masters, undo->watch.quorum);
    refuse(undo, REDLOCK_E_UNAVAILABLE, &why);
    return true;
}

/* Clients that may log in there without TLS have gone there. */
static bool is_next_hidden(struct undo *undo, const struct list_seen *seen)
{
    const struct client_text *told = list_watch_other(seen);
    struct text why = {0};
    if (redlock_successor(undo->session.client) || !told ||
        list_watch_tellers(seen, told) < undo->watch.quorum)
        return false;
    text_format(&why, "the list in its place, ");
    text_shown(&why, told->bytes, told->length);
    text_format(&why, ", has masters without TLS, which this command does not ask: begin a change "
                      "with the list that clients have now");
    refuse(undo, REDLOCK_E_DIFFERS, &why);
    return true;
}

/* The list in place of that one may be valid, and need not meet ours. */
static bool is_next_over(struct undo *undo, const struct list_seen *next)
{
    const struct client_text *third = list_watch_other(next);
    struct text why = {0};
    if (masters_in(next->over & ~next->ours) <= undo->next.spare)
        return false;
    text_format(&why, "the list in its place, ");
    change_put_masters(&why, &undo->next, (1U << undo->next.masters) - 1);
    text_format(&why, ", is over, too, in favour of ");
    text_shown(&why, third->bytes, third->length);
    text_format(&why, ": begin a change with the list that clients have now");
    refuse(undo, REDLOCK_E_DIFFERS, &why);
    return true;
}

/* ---- Taking it back ------------------------------------------------------------------- */

static bool open_watch(struct undo *undo, struct list_watch *watch, bool says)
{
    redlock_free(watch->client);
    watch->client = NULL;
    if (list_watch_open(watch, undo->session.loop, &undo->plan.options, says))
        return true;
    session_end(&undo->session, EXIT_INTERNAL, 0);
    return false;
}

static void take_back(struct undo *undo, const struct list_seen *next)
{
    undo->said = true;
    undo->said_at = boot_ms();
    undo->ends_next = undo->next.client && !next->saying;
    if (open_watch(undo, &undo->own, true) && undo->ends_next)
        open_watch(undo, &undo->next, true);
}

/* False: it has not told yet.  There may be none that a quorum tells. */
static bool ask_next(struct undo *undo, struct list_seen *next)
{
    const char *entries = redlock_successor(undo->session.client);
    *next = (struct list_seen){.saying = 0};
    if (undo->next.client)
        list_watch_look(&undo->next, next);
    else if (entries) {
        text_format(&undo->next.entries, "%s", entries);
        plan_put_told(&undo->next.successor, &undo->plan, 0);
        open_watch(undo, &undo->next, false);
    }
    return undo->next.client ? next->is_settled : !entries;
}

static void look_whether_it_may_be(struct undo *undo)
{
    struct list_seen seen, next;
    list_watch_look(&undo->watch, &seen);
    if (!seen.is_settled)
        return;
    if (!seen.over)
        report(undo, &seen);
    else if (!is_unsafe(undo, &seen) && !are_too_few(undo, &seen) && !is_next_hidden(undo, &seen) &&
             ask_next(undo, &next) && !is_next_over(undo, &next))
        take_back(undo, &next);
}

/* A command that says the end again hears meanwhile that its next list is over, and gives up. */
static void look_whether_it_is(struct undo *undo)
{
    struct list_seen own, next = {.is_settled = true};
    list_watch_look(&undo->own, &own);
    if (undo->ends_next)
        list_watch_look(&undo->next, &next);
    if (!own.is_settled || own.over || !next.is_settled)
        return;
    if (!undo->ends_next || undo->said_again) {
        report(undo, &own);
    } else if (boot_ms() >= undo->said_at + HEARD_BY_MS) {
        undo->said_again = true;
        open_watch(undo, &undo->own, true);
    }
}

static void on_look(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct undo *undo = timer->data;
    (void)events;
    if (!undo->session.ending)
        (undo->said ? look_whether_it_is : look_whether_it_may_be)(undo);
    if (undo->session.ending)
        ev_timer_stop(loop, timer);
}

/* ---- The command ---------------------------------------------------------------------- */

static void on_begin(void *data)
{
    struct undo *undo = data;
    if (!fleet_is_named(undo->session.options, undo->session.client)) {
        session_end(&undo->session, EXIT_USAGE, 0);
        return;
    }
    list_watch_take(&undo->watch, undo->session.client, undo->session.options);
    plan_put_entries(&undo->own.entries, &undo->plan, 0);
    ev_timer_init(&undo->look, on_look, 0, LOOK_S);
    undo->look.data = undo;
    ev_timer_start(undo->session.loop, &undo->look);
}

static void on_end(void *data)
{
    struct undo *undo = data;
    list_watch_free(&undo->own);
    list_watch_free(&undo->next);
}

int perform_undo(const struct options *options)
{
    struct undo undo = {
        .session = {
            .begin = on_begin, .ended = on_end, .patient = true, .looks = true, .any_list = true}};
    int status = plan_begin(&undo.plan, options);
    if (status != EXIT_DONE)
        return status;
    status = session_perform(&undo.session, &undo.plan.options, &undo);
    plan_free(&undo.plan);
    return status;
}
