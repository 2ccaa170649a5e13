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
#define TIMES_MOST  4
#define HEARD_BY_MS 6000 /* a command that changes the list looks every five seconds */

enum phase { LOOKS, ASKS_NEXT, ENDS_NEXT, TAKES_BACK, LISTENS };

/* A list that masters tell in place of ours. */
struct next {
    struct list_watch watch;
    struct text told;
    bool is_in_use;
    bool ends; /* nobody says it, so that we end it, in favour of ours */
};

struct undo {
    struct session session;
    struct plan plan; /* the present list alone */
    ev_timer look;
    enum phase phase;
    struct list_watch own;
    struct next nexts[REDLOCK_MASTERS_MAX];
    unsigned count;
    unsigned times; /* that it took the end back */
    bool has_ended, has_listened;
    int64_t said_at, looked_at; /* boot_ms() */
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
    text_format(&out, "the list is valid on %u of %u masters", valid, undo->own.masters);
    if (seen->over) {
        text_format(&out, "; it stays over on ");
        change_put_masters(&out, &undo->own, seen->over);
    }
    if (masters_in(seen->told) < undo->own.masters)
        text_format(&out, "; %u do not tell", undo->own.masters - masters_in(seen->told));
    text_format(&out, "\n");
    for (unsigned i = 0; i < undo->count; i++)
        put_next(&out, &undo->nexts[i]);
    int status = valid >= undo->own.quorum ? EXIT_DONE : EXIT_UNAVAILABLE;
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
    const struct list_used *list = list_watch_unsafe(&undo->own, seen);
    struct text why = {0};
    if (!list)
        return false;
    text_format(&why, "a list in use may not meet this one: ");
    change_put_used(&why, list);
    refuse(undo, REDLOCK_E_DIFFERS, &why);
    return true;
}

static bool are_too_few(struct undo *undo, const struct list_watch *watch, unsigned tell,
                        unsigned enough)
{
    struct text why = {0};
    if (tell >= enough)
        return false;
    text_format(&why, "%u of %u masters%s tell which lists are in use, and %u must", tell,
                watch->masters, watch == &undo->own ? "" : " of the list in its place", enough);
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
    if (masters_in(list_seen_others(seen)) <= next->watch.spare)
        return false;
    begin_refusal(&why, &(struct client_text){next->told.bytes, next->told.length});
    text_format(&why, ", is over, too, in favour of ");
    text_shown(&why, third->bytes, third->length);
    text_format(&why, ": begin a change with the list that clients have now");
    refuse(undo, REDLOCK_E_DIFFERS, &why);
    return true;
}

/* ---- The lists in its place ------------------------------------------------------------- */

static void open_watch(struct undo *undo, struct list_watch *watch, bool says)
{
    if (!list_watch_open(watch, undo->session.loop, &undo->plan.options, says))
        session_end(&undo->session, EXIT_INTERNAL, 0);
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
}

static bool is_honest(const struct undo *undo, const struct list_seen *seen,
                      const struct client_text *told)
{
    return list_watch_tellers(seen, told) > undo->own.spare;
}

/* Clients follow what a quorum tells, but files may have any list that an honest master tells. */
static void add_all_told(struct undo *undo, const struct list_seen *seen)
{
    for (unsigned i = 0; i < undo->own.masters && !undo->session.ending; i++) {
        const struct client_text *told = &seen->used.successors[i];
        if (seen->over >> i & 1 && told->length && is_honest(undo, seen, told) &&
            undo->count < REDLOCK_MASTERS_MAX && !has_next(undo, *told))
            add_next(undo, told);
    }
}

/* False: it has not told yet, or is refused.  Once N - Q + 1 + f masters know our end, no other
 * command has a quorum of them. */
static bool is_next_ready(struct undo *undo, const struct next *next)
{
    struct list_seen seen;
    unsigned enough = list_watch_enough(&next->watch);
    list_watch_look(&next->watch, &seen);
    if (is_unsafe(undo, &seen) || is_next_over(undo, next, &seen))
        return false;
    unsigned free = list_seen_free(&seen);
    return seen.is_settled &&
           !are_too_few(undo, &next->watch, masters_in(next->ends ? seen.ours : free), enough);
}

static bool are_nexts_ready(struct undo *undo)
{
    bool are = true;
    for (unsigned i = 0; are && i < undo->count; i++)
        are = is_next_ready(undo, &undo->nexts[i]);
    return are;
}

/* ---- The phases ------------------------------------------------------------------------- */

static void look_anew(struct undo *undo)
{
    undo->phase = LOOKS;
    undo->own.revives = false;
    open_watch(undo, &undo->own, false);
}

static void end_if_nobody_says(struct undo *undo, struct next *next)
{
    struct list_seen seen;
    if (next->ends || next->is_in_use)
        return;
    list_watch_look(&next->watch, &seen);
    next->is_in_use = masters_in(seen.saying) > next->watch.spare;
    next->ends = !next->is_in_use;
    undo->has_ended |= next->ends;
    if (next->ends)
        open_watch(undo, &next->watch, true);
}

/* False: all of them have ended, or are in use. */
static bool end_nexts(struct undo *undo)
{
    unsigned ended = 0, ends = 0;
    for (unsigned i = 0; i < undo->count; i++) {
        ended += undo->nexts[i].ends;
        end_if_nobody_says(undo, &undo->nexts[i]);
        ends += undo->nexts[i].ends;
    }
    return ends > ended;
}

/* Ours stays over where a next list may be over for a third one, or was not asked: perhaps a liar
 * tells it. */
static unsigned masters_to_ask(const struct undo *undo)
{
    struct list_seen own;
    unsigned masters = 0;
    list_watch_look(&undo->own, &own);
    for (unsigned i = 0; i < undo->own.masters; i++)
        masters |= (unsigned)has_next(undo, own.used.successors[i]) << i;
    for (unsigned i = 0; i < undo->count; i++) {
        struct list_seen next;
        list_watch_look(&undo->nexts[i].watch, &next);
        masters &= list_watch_behind(&undo->own, &undo->nexts[i].watch, &next);
    }
    return masters;
}

static void take_back(struct undo *undo)
{
    undo->phase = TAKES_BACK;
    undo->said_at = boot_ms();
    undo->times++;
    if (!list_watch_revive(&undo->own, undo->session.loop, &undo->plan.options,
                           masters_to_ask(undo)))
        session_end(&undo->session, EXIT_INTERNAL, 0);
}

/* They are asked when our list has told: an end that came in between shows here, or makes the
 * number of its changes another one. */
static void ask_nexts(struct undo *undo)
{
    undo->phase = ASKS_NEXT;
    for (unsigned i = 0; i < undo->count && !undo->session.ending; i++)
        open_watch(undo, &undo->nexts[i].watch, false);
}

static void look_at_nexts(struct undo *undo)
{
    if (!are_nexts_ready(undo))
        return;
    if (end_nexts(undo))
        undo->phase = ENDS_NEXT;
    else
        take_back(undo);
}

/* A command that says the end again hears meanwhile that its next list is over, and gives up. */
static void finish(struct undo *undo, const struct list_seen *seen)
{
    if (undo->said_at && undo->has_ended && !undo->has_listened)
        undo->phase = LISTENS;
    else
        report(undo, seen);
}

/* Clients were led elsewhere after it had been taken back: that is another matter. */
static bool is_over_anew(struct undo *undo, const struct list_seen *seen)
{
    const struct client_text *told = list_watch_other(seen);
    struct text why = {0};
    if (!undo->has_listened || !told || !is_honest(undo, seen, told) || has_next(undo, *told))
        return false;
    text_format(&why, "it was taken back, and is over again, by another command, in favour of ");
    text_shown(&why, told->bytes, told->length);
    refuse(undo, REDLOCK_E_DIFFERS, &why);
    return true;
}

static void look_whether_over(struct undo *undo)
{
    struct list_seen seen;
    list_watch_look(&undo->own, &seen);
    if (!seen.is_settled)
        return;
    if (!seen.over) {
        finish(undo, &seen);
        return;
    }
    if (is_unsafe(undo, &seen) || is_over_anew(undo, &seen) ||
        are_too_few(undo, &undo->own, masters_in(seen.told), undo->own.quorum))
        return;
    list_watch_note(&undo->own, &seen);
    add_all_told(undo, &seen);
    if (!undo->session.ending)
        ask_nexts(undo);
}

static void refuse_over(struct undo *undo, const struct list_seen *seen)
{
    struct text why = {0};
    text_format(&why, "it stays over on ");
    change_put_masters(&why, &undo->own, seen->over);
    text_format(&why, ": end other commands that change the list, or run one of them to its end");
    refuse(undo, REDLOCK_E_DIFFERS, &why);
}

/* An end that changed since the look is not taken back.  Liars may go on to say that it is over: a
 * list is valid while fewer say so than refuse a client. */
static void look_whether_valid(struct undo *undo)
{
    struct list_seen seen;
    list_watch_look(&undo->own, &seen);
    bool is_late = boot_ms() >= undo->own.until;
    unsigned most = is_late ? undo->own.masters - undo->own.quorum : 0;
    if (seen.is_settled && masters_in(seen.over) <= most)
        finish(undo, &seen);
    else if (is_late && undo->times >= TIMES_MOST)
        refuse_over(undo, &seen);
    else if (is_late)
        look_anew(undo);
}

static void look(struct undo *undo)
{
    switch (undo->phase) {
    case LOOKS:
        look_whether_over(undo);
        break;
    case ASKS_NEXT:
        look_at_nexts(undo);
        break;
    case ENDS_NEXT:
        if (are_nexts_ready(undo)) /* our ends have changed the numbers */
            look_anew(undo);
        break;
    case TAKES_BACK:
        look_whether_valid(undo);
        break;
    case LISTENS:
        undo->has_listened = boot_ms() >= undo->said_at + HEARD_BY_MS;
        if (undo->has_listened)
            look_anew(undo);
        break;
    }
}

static void drop_nexts(struct undo *undo)
{
    for (unsigned i = 0; i < undo->count; i++) {
        list_watch_free(&undo->nexts[i].watch);
        text_free(&undo->nexts[i].told);
    }
    memset(undo->nexts, 0, sizeof undo->nexts);
    undo->count = 0;
}

/* Answers from before a sleep are old, and so are those that lay in a socket meanwhile. */
static bool has_slept(struct undo *undo)
{
    int64_t before = undo->looked_at;
    undo->looked_at = boot_ms();
    return before && boot_ms() > before + SLEPT_MS;
}

static void look_after_sleep(struct undo *undo)
{
    drop_nexts(undo);
    look_anew(undo);
}

static void say_ends_on(struct undo *undo)
{
    for (unsigned i = 0; i < undo->count; i++)
        if (undo->nexts[i].ends)
            list_watch_say_on(&undo->nexts[i].watch, false);
}

static void on_look(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct undo *undo = timer->data;
    (void)events;
    if (!undo->session.ending && has_slept(undo))
        look_after_sleep(undo);
    else if (!undo->session.ending)
        look(undo);
    if (!undo->session.ending)
        say_ends_on(undo);
    else
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
    plan_put_entries(&undo->own.entries, &undo->plan, 0);
    look_anew(undo);
    ev_timer_init(&undo->look, on_look, 0, LOOK_S);
    undo->look.data = undo;
    ev_timer_start(undo->session.loop, &undo->look);
}

static void on_end(void *data)
{
    struct undo *undo = data;
    list_watch_free(&undo->own);
    drop_nexts(undo);
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
