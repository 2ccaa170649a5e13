/*
 * change.c - leads all clients of a fleet to another list of masters, step by step.
 *
 * In each step the operator gives the next list to the clients.  The command waits until no client
 * says the former one, and then tells the masters that it is over.  A client that slept, or has an
 * old file, gets no lease under it any more (doc/design/agreement.md).
 */
#include "change.h"

#include <string.h>

#include "change_checks.h"
#include "change_report.h"
#include "duration.h"
#include "failure.h"
#include "lists_report.h"
#include "plan_report.h"
#include "question.h"
#include "say.h"
#include "session.h"

#define LOOK_S            0.05
#define QUIET_MS          10000 /* between two lines, if nothing changes */
#define PATIENT_MS        10000 /* for masters above a quorum */
#define SLEPT_MS          2000  /* without a look */
#define REVIVALS_MOST     4
#define LISTS_MOST_ON_WAY (2 * REDLOCK_MASTERS_MAX + 1)

enum phase { CHECKS, ASKS, OPENS, LOOKS_TWICE, REVIVES, WAITS, ENDS };

struct change {
    struct session session;
    struct plan plan;
    ev_timer look;
    struct question question;
    enum phase phase;
    unsigned step;               /* from its list to the next one, from 1 on */
    struct list_watch now, next; /* of the step: the former list, and the list to come */
    struct list_watch ends[LISTS_MOST_ON_WAY]; /* each says on that a former list is over */
    int64_t began, looked_at, enough_at;       /* boot_ms(); 0: not yet */
    bool looks_back;   /* at the list before the former one, as its end may have been taken back */
    unsigned revivals; /* of the list to come, in this step */
    unsigned ended;    /* masters that had told the end of the former one by then */
    int64_t took_ms[LISTS_MOST_ON_WAY];
    struct text mark; /* what was printed last, without times */
    int64_t printed;  /* boot_ms() */
};

/* ---- Lines ---------------------------------------------------------------------- */

/* Frees the text. */
static void put(struct change *change, struct text *text)
{
    if (change->session.options->quiet)
        text_free(text);
    else if (!session_put(&change->session, text))
        session_end(&change->session, EXIT_OUTPUT, 0);
}

/* At each change, which the mark shows, and now and then.  Frees the mark. */
static bool is_due(struct change *change, struct text *mark)
{
    bool is_news = !change->mark.length || strcmp(change->mark.bytes, mark->bytes) != 0;
    text_free(&change->mark);
    change->mark = *mark;
    if (!is_news && boot_ms() < change->printed + QUIET_MS)
        return false;
    change->printed = boot_ms();
    return true;
}

static void begin_line(struct text *out)
{
    char now[NOW_SIZE];
    text_format(out, "%s", now_show(now));
}

static void put_progress(struct change *change, const struct list_watch *watch,
                         const struct list_seen *seen)
{
    struct text mark = {0}, out = {0};
    bool waits = change->phase != ENDS;
    text_format(&mark, "%d %u %x %x %x %x %u", change->phase, seen->clients, seen->told,
                seen->saying, seen->ours, seen->vote, waits ? list_watch_up(&change->next) : 0);
    if (!is_due(change, &mark))
        return;
    begin_line(&out);
    if (waits)
        change_show_sayers(&out, watch, seen, &change->next);
    else
        change_show_end(&out, watch, seen, false);
    put(change, &out);
}

/* ---- Refusals ------------------------------------------------------------------- */

/* Frees the sentence. */
static void refuse(struct change *change, redlock_code code, struct text *sentence)
{
    failure_tell(change->session.options, "cannot change the list", code, sentence->bytes, NULL);
    text_free(sentence);
    session_end(&change->session, exit_for(code), 0);
}

/* Once a quorum knows our end, no other command can have one.  Before our end begins one that does
 * not may be enough for another command; later they are too many if the rest is none. */
static bool has_lost(const struct change *change, const struct list_watch *watch,
                     const struct list_seen *seen)
{
    unsigned others = masters_in(seen->over & ~seen->ours);
    unsigned most = change->phase == ENDS ? watch->masters - watch->quorum : watch->spare;
    return others > most && masters_in(seen->ours) < watch->quorum;
}

/* The list is over in favour of another one, by that many masters. */
static void put_way_out(struct text *out, const struct list_watch *watch,
                        const struct list_seen *seen, unsigned tell)
{
    unsigned others = masters_in(seen->over & ~seen->ours);
    if (tell >= watch->quorum)
        text_format(out, ": begin with that one, or take the end back (--undo)");
    else if (seen->ours && others > watch->masters - watch->quorum)
        text_format(out,
                    " on %u of %u masters, and of ours on %u: neither has a quorum. Take both "
                    "ends back (--undo), and run one command alone",
                    tell, watch->masters, masters_in(seen->ours));
    else
        text_format(out,
                    " on %u of %u masters: let that command end it, or take the end back (--undo)",
                    tell, watch->masters);
}

/* Another command leads its clients elsewhere.  True: this one must not go on. */
static bool is_taken(struct change *change, const struct list_watch *watch,
                     const struct list_seen *seen)
{
    if (!has_lost(change, watch, seen))
        return false;
    const struct client_text *other = list_watch_other(seen);
    struct text why = {0};
    text_format(&why, "the list ");
    plan_put_nodes(&why, &change->plan, change->step - 1, plan_member);
    text_format(&why, " is over in favour of another one, ");
    text_shown(&why, other->bytes, other->length);
    put_way_out(&why, watch, seen, list_watch_tellers(seen, other));
    refuse(change, REDLOCK_E_DIFFERS, &why);
    return true;
}

static unsigned over_for_others(const struct list_watch *watch, const struct list_seen *seen)
{
    return watch->successor.length ? seen->over & ~seen->ours : seen->over;
}

/* Another command led clients away from the list to come: an end would leave them none. */
static bool is_next_taken(struct change *change)
{
    struct list_seen next;
    list_watch_look(&change->next, &next);
    unsigned other = over_for_others(&change->next, &next);
    if (masters_in(other) <= change->next.masters - change->next.quorum)
        return false;
    const struct client_text *list = &next.used.successors[__builtin_ctz(other)];
    struct text why = {0};
    text_format(&why, "the next list ");
    plan_put_nodes(&why, &change->plan, change->step, plan_member);
    text_format(&why, " is over in favour of ");
    text_shown(&why, list->bytes, list->length);
    text_format(&why, ", by another command. When that has ended, run this one again to go on");
    refuse(change, REDLOCK_E_DIFFERS, &why);
    return true;
}

/* Two quorums of the present list share a master, and that keeps one end.  So no other command can
 * lead clients elsewhere beyond a network that has parted.  Without a quorum of the next list an
 * end would leave them none, and a third list in use might go unheard. */
static bool do_quorums_tell(const struct change *change, const struct list_seen *now,
                            const struct list_seen *next)
{
    return masters_in(now->told) >= change->now.quorum &&
           masters_in(next->told) >= change->next.quorum;
}

/* ---- Watches -------------------------------------------------------------------- */

static void drop(struct change *change, struct list_watch *watch)
{
    if (watch->client == change->session.client)
        watch->client = NULL;
    list_watch_free(watch);
}

/* The one in place of this list is the next one, if there is one. */
static bool watch_list(struct change *change, struct list_watch *watch, unsigned list, bool says)
{
    drop(change, watch);
    plan_put_entries(&watch->entries, &change->plan, list);
    if (list + 1 < change->plan.chain.count)
        plan_put_told(&watch->successor, &change->plan, list + 1);
    if (list_watch_open(watch, change->session.loop, &change->plan.options, says))
        return true;
    session_end(&change->session, EXIT_INTERNAL, 0);
    return false;
}

/* ---- A step --------------------------------------------------------------------- */

static void look_anew(struct change *change)
{
    if (watch_list(change, &change->now, change->step - 1, false))
        watch_list(change, &change->next, change->step, false);
}

static void begin_look(struct change *change)
{
    change->phase = OPENS;
    look_anew(change);
}

static void begin_step(struct change *change, unsigned step)
{
    change->step = step;
    change->began = boot_ms();
    change->revivals = 0;
    begin_look(change);
}

static void finish(struct change *change)
{
    struct text out = {0};
    change_show_all(&out, &change->plan, change->took_ms);
    put(change, &out);
    session_end(&change->session, EXIT_DONE, 0);
}

static void end_step(struct change *change, const struct list_seen *seen)
{
    struct text out = {0};
    begin_line(&out);
    change_show_end(&out, &change->ends[change->step], seen, true);
    put(change, &out);
    change->took_ms[change->step] = boot_ms() - change->began;
    if (change->session.ending)
        return;
    if (change->step + 1 == change->plan.chain.count)
        finish(change);
    else
        begin_step(change, change->step + 1);
}

static void begin_end(struct change *change)
{
    change->phase = ENDS;
    change->enough_at = 0;
    change->looks_back = false;
    watch_list(change, &change->ends[change->step], change->step - 1, true);
    drop(change, &change->now);
}

static void put_look_back(struct change *change, const struct list_watch *watch,
                          const struct list_seen *seen)
{
    struct text mark = {0}, out = {0};
    text_format(&mark, "back %u %x %x %x", seen->clients, seen->told, seen->saying, seen->vote);
    if (!is_due(change, &mark))
        return;
    begin_line(&out);
    text_format(&out, "step %u again: ", change->step - 1);
    change_show_end(&out, watch, seen, false);
    put(change, &out);
}

/* Nobody may have a lease by the list before the former one, which need not meet the next one.  Its
 * end could be taken back while the former one was valid, so it is looked at after that one.  Where
 * the end of the former one came later, no tool takes the other one back by what it saw before. */
static bool has_stayed_over(struct change *change, unsigned ended)
{
    struct list_watch *watch = &change->ends[change->step - 1];
    struct list_seen seen;
    if (change->step == 1)
        return true;
    if (!change->looks_back) {
        change->looks_back = true;
        change->ended = ended;
        watch_list(change, watch, change->step - 2, true);
        return false;
    }
    list_watch_look(watch, &seen);
    unsigned over =
        list_watch_shared(&change->ends[change->step], watch, seen.ours & ~seen.saying & seen.vote);
    bool is = masters_in(over & ended & change->ended) >= list_watch_enough(watch);
    if (!is && seen.is_settled) {
        put_look_back(change, watch, &seen);
        change->looks_back = !(ended & ~change->ended);
    }
    return is;
}

/* One that abstains after a restart forgot which clients said the list, and these may have leases.
 * All masters that are up are waited for, for a while: one of them may forget the end. */
static void look_whether_over(struct change *change)
{
    struct list_watch *watch = &change->ends[change->step];
    struct list_seen seen;
    list_watch_look(watch, &seen);
    unsigned ended = seen.ours & ~seen.saying;
    if (is_taken(change, watch, &seen) || is_next_taken(change) || !seen.is_settled)
        return;
    bool is_enough = masters_in(ended & seen.vote) >= watch->quorum;
    if (!is_enough)
        change->enough_at = 0;
    else if (!change->enough_at)
        change->enough_at = boot_ms();
    bool is_all = ended == seen.told || boot_ms() >= change->enough_at + PATIENT_MS;
    if (!is_enough || !is_all)
        put_progress(change, watch, &seen);
    else if (has_stayed_over(change, seen.ours))
        end_step(change, &seen);
}

/* ---- Waiting for the clients ------------------------------------------------------ */

static bool is_patience_over(const struct change *change)
{
    int64_t patience = change->session.options->patience_ms;
    return patience >= 0 && boot_ms() >= change->began + patience;
}

static void tell_impatience(struct change *change, const struct list_seen *seen)
{
    struct text out = {0};
    begin_line(&out);
    text_format(&out, "--patience is over, so the former list ends: ");
    change_show_sayers(&out, &change->now, seen, &change->next);
    put(change, &out);
}

/* Clients came to a list that may not meet the next one, perhaps led by another command. */
static bool has_others(struct change *change, const struct list_seen *seen)
{
    struct text why = {0};
    redlock_code code = change_check_used(&why, &change->plan, seen);
    if (code)
        refuse(change, code, &why);
    return code;
}

/* The last look may be wrong by now. */
static bool has_slept(const struct change *change)
{
    return boot_ms() > change->looked_at + SLEPT_MS;
}

static void end_if_nobody_says(struct change *change, const struct list_seen *seen)
{
    bool is_free = masters_in(seen->saying) <= change->now.spare;
    bool is_impatient = !is_free && is_patience_over(change);
    if (has_slept(change) || !(is_free || is_impatient))
        return;
    if (is_impatient)
        tell_impatience(change, seen);
    if (!change->session.ending)
        begin_end(change);
}

static void look_who_says(struct change *change)
{
    struct list_seen seen, next;
    bool slept = has_slept(change);
    change->looked_at = boot_ms();
    if (slept) {
        look_anew(change);
        return;
    }
    list_watch_look(&change->now, &seen);
    list_watch_look(&change->next, &next);
    if (is_taken(change, &change->now, &seen) || has_others(change, &seen) || !seen.is_settled ||
        !next.is_settled || is_next_taken(change))
        return;
    put_progress(change, &change->now, &seen);
    if (do_quorums_tell(change, &seen, &next))
        end_if_nobody_says(change, &seen);
}

/* A command before this one may have ended it. */
static void begin_wait(struct change *change)
{
    struct text out = {0};
    struct list_seen seen;
    bool says = change->phase == REVIVES;
    change_show_step(&out, &change->plan, change->step);
    put(change, &out);
    change->phase = WAITS;
    change->looked_at = boot_ms();
    if (says && !watch_list(change, &change->next, change->step, false))
        return;
    list_watch_look(&change->now, &seen);
    if (!change->session.ending && masters_in(seen.ours) > change->now.masters - change->now.quorum)
        begin_end(change);
}

/* ---- The list to come --------------------------------------------------------------- */

static bool is_unsafe(struct change *change, const struct list_seen *seen)
{
    const struct list_used *list = list_watch_unsafe(&change->next, seen);
    struct text why = {0};
    if (!list)
        return false;
    text_format(&why, "the next list is over, and one in use may not meet it: ");
    change_put_used(&why, list);
    refuse(change, REDLOCK_E_DIFFERS, &why);
    return true;
}

/* It was in use before, and ended by another change.  Nobody can take a lease under it yet. */
static void revive(struct change *change, const struct list_seen *now, const struct list_seen *next)
{
    unsigned masters = list_watch_behind(&change->next, &change->now, now);
    change->phase = REVIVES;
    if (!list_watch_revive(&change->next, change->session.loop, &change->plan.options,
                           masters & over_for_others(&change->next, next)))
        session_end(&change->session, EXIT_INTERNAL, 0);
}

/* The present list is asked again when the next one has told: an end that came in between shows
 * there, or makes the number of its changes another one. */
static void look_at_next(struct change *change)
{
    struct list_seen now, next;
    list_watch_look(&change->now, &now);
    list_watch_look(&change->next, &next);
    if (is_taken(change, &change->now, &now) || !now.is_settled || !next.is_settled)
        return;
    if (!over_for_others(&change->next, &next)) {
        begin_wait(change);
        return;
    }
    list_watch_note(&change->next, &next);
    change->phase = LOOKS_TWICE;
    watch_list(change, &change->now, change->step - 1, false);
}

static void look_whether_to_revive(struct change *change)
{
    struct list_seen now, next;
    list_watch_look(&change->now, &now);
    list_watch_look(&change->next, &next);
    if (is_taken(change, &change->now, &now) || !now.is_settled)
        return;
    if (!do_quorums_tell(change, &now, &next) || !list_watch_is_free(&change->now, &now))
        put_progress(change, &change->now, &now);
    else if (!is_unsafe(change, &now) && !is_unsafe(change, &next))
        revive(change, &now, &next);
}

static void refuse_revival(struct change *change, const struct list_seen *seen)
{
    struct text why = {0};
    text_format(&why, "the next list ");
    plan_put_nodes(&why, &change->plan, change->step, plan_member);
    text_format(&why, " was over before, and is valid again on %u of %u masters, and %u must",
                masters_in(seen->told & ~over_for_others(&change->next, seen)),
                change->next.masters, change->next.quorum);
    refuse(change, REDLOCK_E_UNAVAILABLE, &why);
}

/* An end that changed since the look is not taken back. */
static void look_whether_revived(struct change *change)
{
    struct list_seen seen;
    list_watch_look(&change->next, &seen);
    bool is_late = boot_ms() >= change->next.until;
    unsigned over = over_for_others(&change->next, &seen);
    bool is_valid = masters_in(seen.told & ~over) >= change->next.quorum;
    if (seen.is_settled && is_valid && (is_late || !over))
        begin_wait(change);
    else if (is_late && ++change->revivals >= REVIVALS_MOST)
        refuse_revival(change, &seen);
    else if (is_late)
        begin_look(change);
}

/* ---- Asking the user ---------------------------------------------------------------- */

static void decline(struct change *change)
{
    if (!change->session.options->quiet)
        say("nothing was changed");
    session_end(&change->session, EXIT_NOBODY, 0);
}

static void on_answer(void *owner, bool yes)
{
    struct change *change = owner;
    if (yes)
        begin_step(change, 1);
    else
        decline(change);
}

static void ask_user(struct change *change)
{
    struct text line = {0};
    change->phase = ASKS;
    change->question = (struct question){.answered = on_answer, .owner = change};
    text_format(&line, "change the list so?");
    question_ask(&change->question, change->session.loop, &line);
}

/* ---- Before all of it ----------------------------------------------------------------- */

/* A change of a fleet that nobody uses ends at once, and leaves the clients as they are. */
static void warn_of_nobody(const struct change *change, const struct list_seen *now)
{
    struct text fleet = {0};
    if (now->saying || change->session.options->quiet)
        return;
    fleet_show(&fleet, now->used.fleet);
    say_at(REDLOCK_LOG_WARNING,
           "no client of the %s says the present list. That is right if none is up, or if this "
           "command ended early before; else give --prefix and --fleet as the clients have them "
           "(`redlock config`)",
           fleet.bytes);
    text_free(&fleet);
}

static void check(struct change *change)
{
    struct list_seen now, last;
    struct text why = {0}, out = {0};
    list_watch_look(&change->now, &now);
    list_watch_look(&change->next, &last);
    if (!now.is_settled || !last.is_settled)
        return;
    struct checked checked = {&change->now, &now, &change->next, &last};
    redlock_code code = change_find_servers(&why, &change->plan, &checked);
    code = code ? code : change_check(&why, &change->plan, &checked);
    if (code) {
        refuse(change, code, &why);
        return;
    }
    plan_show(&out, &change->plan);
    put(change, &out);
    if (change->session.ending)
        return;
    warn_of_nobody(change, &now);
    if (change->session.options->yes)
        begin_step(change, 1);
    else
        ask_user(change);
}

static void on_look(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct change *change = timer->data;
    static void (*const looks[])(struct change *) = {
        [CHECKS] = check,
        [OPENS] = look_at_next,
        [LOOKS_TWICE] = look_whether_to_revive,
        [REVIVES] = look_whether_revived,
        [WAITS] = look_who_says,
        [ENDS] = look_whether_over,
    };
    (void)events;
    if (!change->session.ending && looks[change->phase])
        looks[change->phase](change);
    if (change->session.ending)
        ev_timer_stop(loop, timer);
}

/* ---- The command ---------------------------------------------------------------------- */

static void on_begin(void *data)
{
    struct change *change = data;
    list_watch_take(&change->now, change->session.client, change->session.options);
    if (!fleet_is_named(change->session.options, change->session.client)) {
        session_end(&change->session, EXIT_USAGE, 0);
        return;
    }
    if (!watch_list(change, &change->next, change->plan.chain.count - 1, false))
        return;
    ev_timer_init(&change->look, on_look, 0, LOOK_S);
    change->look.data = change;
    ev_timer_start(change->session.loop, &change->look);
}

/* An end stays. */
static void tell_state(struct change *change)
{
    struct list_watch *watch = &change->ends[change->step];
    struct list_seen seen = {.ours = 0};
    struct text nodes = {0};
    if (change->phase <= ASKS) {
        say("nothing was changed");
        return;
    }
    plan_put_nodes(&nodes, &change->plan, change->step - 1, plan_member);
    if (change->phase == ENDS)
        list_watch_look(watch, &seen);
    if (change->phase == ENDS)
        say("in step %u: the list %s is over on %u of %u masters. To go on, run this command "
            "again; to take the end back, use --undo with that list",
            change->step, nodes.bytes, masters_in(seen.over), watch->masters);
    else
        say("in step %u: the list %s is not over. To go on, run this command again", change->step,
            nodes.bytes);
    text_free(&nodes);
}

static void on_signal(void *data, int number)
{
    struct change *change = data;
    ev_timer_stop(change->session.loop, &change->look);
    question_drop(&change->question, change->session.loop);
    if (!change->session.ending && !change->session.options->quiet)
        tell_state(change);
    session_end_by_signal(&change->session, number, NULL);
}

static void on_end(void *data)
{
    struct change *change = data;
    drop(change, &change->now);
    drop(change, &change->next);
    for (unsigned i = 0; i < LISTS_MOST_ON_WAY; i++)
        drop(change, &change->ends[i]);
    text_free(&change->mark);
}

static int run(struct change *change)
{
    struct text out = {0};
    if (change->plan.chain.count > 1)
        return session_perform(&change->session, &change->plan.options, change);
    plan_show(&out, &change->plan);
    bool done = put_text(&out);
    text_free(&out);
    return done ? EXIT_DONE : EXIT_OUTPUT;
}

int perform_change(const struct options *options)
{
    struct change change = {.session = {.begin = on_begin,
                                        .signalled = on_signal,
                                        .ended = on_end,
                                        .patient = true,
                                        .looks = true,
                                        .any_list = true}};
    int status = plan_make(&change.plan, options);
    if (status != EXIT_DONE)
        return status;
    status = options->plan ? plan_tell(&change.plan) : run(&change);
    plan_free(&change.plan);
    return status;
}
