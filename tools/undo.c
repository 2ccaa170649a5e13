/*
 * undo.c - takes back that the present list of masters is over.
 *
 * Clients may have heard of the list in its place, and sleep since.  Another change would lead
 * others to a third list, which need not meet that one.  So the list in its place ends first if
 * nobody says it.  A client that wakes up under it comes back.
 */
#include <stdlib.h>
#include <string.h>

#include "change.h"
#include "change_checks.h"
#include "change_report.h"
#include "client/lists_in_use.h"
#include "duration.h"
#include "failure.h"
#include "session.h"

#define LOOK_S      0.05
#define HEARD_BY_MS 6000 /* a command that changes the list looks every five seconds */

enum phase { LOOKS, ENDS_NEXT, TAKES_BACK, LISTENS, TAKES_BACK_AGAIN };

/* A list that masters tell in place of ours. */
struct next {
    struct list_watch watch;
    struct text told;
    bool ends; /* nobody says it, so that we do, in favour of ours */
};

struct undo {
    struct session session;
    struct plan plan; /* the present list alone */
    ev_timer look;
    enum phase phase;
    struct list_watch watch, own; /* the second one says that the list is not over */
    struct next nexts[REDLOCK_MASTERS_MAX];
    unsigned count;
    int64_t said_at; /* boot_ms() */
};

/* ---- The outcome ------------------------------------------------------------------- */

static void put_next(struct text *out, const struct next *next)
{
    struct list_seen seen;
    list_watch_look(&next->watch, &seen);
    text_format(out, "the one in its place ");
    text_shown(out, next->told.bytes, next->told.length);
    if (next->ends)
        text_format(out, " is over on %u of %u masters\n", masters_in(seen.ours),
                    next->watch.masters);
    else
        text_format(out,
                    " is in use. Before you lead clients to a third list, lead these back: begin "
                    "a change to the present list with that one\n");
}

static void report(struct undo *undo, const struct list_seen *seen)
{
    struct text out = {0};
    unsigned valid = masters_in(seen->told & ~seen->over);
    text_format(&out, "the list is valid on %u of %u masters", valid, undo->watch.masters);
    if (masters_in(seen->told) < undo->watch.masters)
        text_format(&out, "; the others do not tell");
    text_format(&out, "\n");
    for (unsigned i = 0; i < undo->count; i++)
        put_next(&out, &undo->nexts[i]);
    int status = valid >= undo->watch.quorum ? EXIT_DONE : EXIT_UNAVAILABLE;
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

static bool are_too_few(struct undo *undo, const struct list_watch *watch,
                        const struct list_seen *seen, const char *of)
{
    unsigned told = masters_in(seen->told);
    struct text why = {0};
    if (told >= watch->quorum)
        return false;
    text_format(&why, "%u of %u masters%s tell which lists are in use, and %u must", told,
                watch->masters, of, watch->quorum);
    refuse(undo, REDLOCK_E_UNAVAILABLE, &why);
    return true;
}

static void begin_refusal(struct text *why, const struct client_text *next)
{
    text_format(why, "the list in its place, ");
    text_shown(why, next->bytes, next->length);
}

/* Clients that may log in there without TLS may have gone there. */
static void refuse_hidden(struct undo *undo, const struct client_text *told)
{
    struct text why = {0};
    begin_refusal(&why, told);
    text_format(&why, ", has masters without TLS, which this command does not ask: begin a change "
                      "with the list that clients have now");
    refuse(undo, REDLOCK_E_DIFFERS, &why);
}

/* The list in place of that one may be valid, and need not meet ours. */
static bool is_next_over(struct undo *undo, const struct next *next, const struct list_seen *seen)
{
    const struct client_text *third = list_watch_other(seen);
    struct text why = {0};
    if (masters_in(seen->over & ~seen->ours) <= next->watch.spare)
        return false;
    begin_refusal(&why, &(struct client_text){next->told.bytes, next->told.length});
    text_format(&why, ", is over, too, in favour of ");
    text_shown(&why, third->bytes, third->length);
    text_format(&why, ": begin a change with the list that clients have now");
    refuse(undo, REDLOCK_E_DIFFERS, &why);
    return true;
}

/* ---- The lists in its place ------------------------------------------------------------- */

static bool open_watch(struct undo *undo, struct list_watch *watch, bool says)
{
    redlock_free(watch->client);
    watch->client = NULL;
    if (list_watch_open(watch, undo->session.loop, &undo->plan.options, says))
        return true;
    session_end(&undo->session, EXIT_INTERNAL, 0);
    return false;
}

static bool has_next(const struct undo *undo, struct client_text told)
{
    for (unsigned i = 0; i < undo->count; i++) {
        const struct text *its = &undo->nexts[i].told;
        if (redlock_lists_are_same(told, (struct client_text){its->bytes, its->length}))
            return true;
    }
    return false;
}

static void add_next(struct undo *undo, const struct client_text *told)
{
    char *entries = redlock_list_entries(undo->session.client, *told);
    if (!entries) {
        refuse_hidden(undo, told);
        return;
    }
    struct next *next = &undo->nexts[undo->count++];
    text_format(&next->told, "%.*s", (int)told->length, told->bytes);
    text_format(&next->watch.entries, "%s", entries);
    explicit_bzero(entries, strlen(entries));
    free(entries);
    plan_put_told(&next->watch.successor, &undo->plan, 0);
    open_watch(undo, &next->watch, false);
}

/* Clients follow what a quorum tells, but files may have any list that an honest master tells. */
static void add_all_told(struct undo *undo, const struct list_seen *seen)
{
    for (unsigned i = 0; i < undo->watch.masters && !undo->session.ending; i++) {
        const struct client_text *told = &seen->used.successors[i];
        if (seen->over >> i & 1 && list_watch_tellers(seen, told) > undo->watch.spare &&
            !has_next(undo, *told))
            add_next(undo, told);
    }
}

/* False: it has not told yet, or our end is refused. */
static bool is_next_ready(struct undo *undo, const struct next *next, struct list_seen *seen)
{
    list_watch_look(&next->watch, seen);
    return !is_unsafe(undo, seen) && !is_next_over(undo, next, seen) && seen->is_settled &&
           !are_too_few(undo, &next->watch, seen, " of the list in its place");
}

static bool are_nexts_ready(struct undo *undo)
{
    struct list_seen seen;
    bool are = true;
    for (unsigned i = 0; are && i < undo->count; i++)
        are = is_next_ready(undo, &undo->nexts[i], &seen);
    return are;
}

/* ---- The phases ------------------------------------------------------------------------- */

static void begin_ends(struct undo *undo, const struct list_seen *seen)
{
    undo->phase = ENDS_NEXT;
    list_watch_put_told(&undo->own.had, &undo->watch, seen);
    for (unsigned i = 0; i < undo->count; i++) {
        struct next *next = &undo->nexts[i];
        struct list_seen its;
        list_watch_look(&next->watch, &its);
        next->ends = !its.saying;
        if (next->ends && !open_watch(undo, &next->watch, true))
            return;
    }
}

static void look_whether_it_may_be(struct undo *undo)
{
    struct list_seen seen;
    list_watch_look(&undo->watch, &seen);
    if (!seen.is_settled)
        return;
    if (!seen.over) {
        report(undo, &seen);
        return;
    }
    if (is_unsafe(undo, &seen) || are_too_few(undo, &undo->watch, &seen, ""))
        return;
    add_all_told(undo, &seen);
    if (!undo->session.ending && are_nexts_ready(undo))
        begin_ends(undo, &seen);
}

/* True: it did not end, and the end of ours is not taken back. */
static bool is_end_missed(struct undo *undo, const struct next *next, const struct list_seen *seen)
{
    struct text why = {0};
    if (!next->ends || masters_in(seen->ours) >= next->watch.quorum)
        return false;
    begin_refusal(&why, &(struct client_text){next->told.bytes, next->told.length});
    text_format(&why, ", is over on %u of %u masters, and %u must know: run this again",
                masters_in(seen->ours), next->watch.masters, next->watch.quorum);
    refuse(undo, REDLOCK_E_UNAVAILABLE, &why);
    return true;
}

/* A command that ends one of them for a third list has no quorum from then on. */
static bool have_nexts_ended(struct undo *undo)
{
    struct list_seen seen;
    bool have = true;
    for (unsigned i = 0; have && i < undo->count; i++)
        have = is_next_ready(undo, &undo->nexts[i], &seen) &&
               !is_end_missed(undo, &undo->nexts[i], &seen);
    return have;
}

static void take_back(struct undo *undo, enum phase phase)
{
    undo->phase = phase;
    undo->said_at = boot_ms();
    open_watch(undo, &undo->own, true);
}

static bool has_ended_any(const struct undo *undo)
{
    bool any = false;
    for (unsigned i = 0; i < undo->count; i++)
        any |= undo->nexts[i].ends;
    return any;
}

/* Liars may go on to say that it is over: a list is valid while fewer say so than refuse a client.
 */
static bool is_valid_again(const struct undo *undo, const struct list_seen *own)
{
    bool is_late = boot_ms() >= undo->own.until;
    unsigned most = is_late ? undo->own.masters - undo->own.quorum : 0;
    return own->is_settled && masters_in(own->over) <= most;
}

/* A command that says the end again hears meanwhile that its next list is over, and gives up. */
static void look_whether_it_is(struct undo *undo)
{
    struct list_seen own;
    list_watch_look(&undo->own, &own);
    if (!are_nexts_ready(undo) || !is_valid_again(undo, &own))
        return;
    if (undo->phase == TAKES_BACK && has_ended_any(undo))
        undo->phase = LISTENS;
    else
        report(undo, &own);
}

static void look(struct undo *undo)
{
    switch (undo->phase) {
    case LOOKS:
        look_whether_it_may_be(undo);
        break;
    case ENDS_NEXT:
        if (have_nexts_ended(undo))
            take_back(undo, TAKES_BACK);
        break;
    case LISTENS:
        if (boot_ms() >= undo->said_at + HEARD_BY_MS)
            take_back(undo, TAKES_BACK_AGAIN);
        break;
    default:
        look_whether_it_is(undo);
        break;
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
    for (unsigned i = 0; i < undo->count; i++) {
        list_watch_free(&undo->nexts[i].watch);
        text_free(&undo->nexts[i].told);
    }
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
