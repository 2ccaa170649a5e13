/*
 * change.c - leads all clients of a fleet to another list of masters, step by step.
 *
 * In each step the operator gives the next list to the clients.  The command waits until no client
 * says the former one, and then tells the masters that it is over.  A client that slept, or has an
 * old file, gets no lease under it any more (doc/design/agreement.md).
 */
#include "change.h"

#include "change_checks.h"
#include "change_parts.h"
#include "change_report.h"
#include "duration.h"
#include "failure.h"
#include "lists_report.h"
#include "plan_report.h"
#include "question.h"
#include "say.h"
#include "session.h"

#define LOOK_S     0.05
#define PATIENT_MS 10000 /* for masters above a quorum */

/* ---- A step --------------------------------------------------------------------- */

static void begin_step(struct change *change, unsigned step)
{
    change->step = step;
    change->began = boot_ms();
    change->revivals = 0;
    change->asks_next = false;
    change_open_next(change);
}

static void finish(struct change *change)
{
    struct text out = {0};
    change_show_all(&out, &change->plan, change->took_ms);
    change_put(change, &out);
    session_end(&change->session, EXIT_DONE, 0);
}

static void end_step(struct change *change, const struct list_seen *seen)
{
    struct text out = {0};
    change_begin_line(&out);
    change_show_end(&out, &change->ends[change->step], seen, true);
    change_put(change, &out);
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
    change_watch(change, &change->ends[change->step], change->step - 1, true);
    change_drop(change, &change->now);
}

static void put_look_back(struct change *change, const struct list_watch *watch,
                          const struct list_seen *seen)
{
    struct text mark = {0}, out = {0};
    text_format(&mark, "back %u %x %x %x", seen->clients, seen->told, seen->saying, seen->vote);
    if (!change_is_due(change, &mark))
        return;
    change_begin_line(&out);
    text_format(&out, "step %u again: ", change->step - 1);
    change_show_end(&out, watch, seen, false);
    change_put(change, &out);
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
        change_watch(change, watch, change->step - 2, true);
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
    if (change_is_taken_back(change) || change_is_taken(change, watch, &seen) ||
        change_is_next_taken(change) || !seen.is_settled)
        return;
    bool is_enough = masters_in(ended & seen.vote) >= watch->quorum;
    if (!is_enough)
        change->enough_at = 0;
    else if (!change->enough_at)
        change->enough_at = boot_ms();
    bool is_all = ended == seen.told || boot_ms() >= change->enough_at + PATIENT_MS;
    if (!is_enough || !is_all)
        change_put_progress(change, watch, &seen);
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
    change_begin_line(&out);
    text_format(&out, "--patience is over, so the former list ends: ");
    change_show_sayers(&out, &change->now, seen, &change->next);
    change_put(change, &out);
}

/* Clients came to a list that may not meet the next one, perhaps led by another command. */
static bool has_others(struct change *change, const struct list_seen *seen)
{
    struct text why = {0};
    redlock_code code = change_check_used(&why, &change->plan, seen);
    if (code)
        change_refuse(change, code, &why);
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
    if (!is_free && !is_impatient)
        return;
    if (is_impatient)
        tell_impatience(change, seen);
    if (!change->session.ending && !has_slept(change) && !change->asks_next)
        begin_end(change);
}

static void look_who_says(struct change *change)
{
    struct list_seen seen, next;
    list_watch_look(&change->now, &seen);
    list_watch_look(&change->next, &next);
    if (change_is_taken(change, &change->now, &seen) || has_others(change, &seen) ||
        !seen.is_settled || !next.is_settled || change_is_next_taken(change))
        return;
    change_put_progress(change, &change->now, &seen);
    if (change_do_quorums_tell(change, &seen, &next))
        end_if_nobody_says(change, &seen);
}

/* A command before this one may have ended the former list. */
static void begin_wait(struct change *change)
{
    struct text out = {0};
    struct list_seen seen;
    change_show_step(&out, &change->plan, change->step);
    change_put(change, &out);
    change->phase = WAITS;
    list_watch_look(&change->now, &seen);
    if (!change->session.ending && masters_in(seen.ours) > change->now.masters - change->now.quorum)
        begin_end(change);
}

static void open_next(struct change *change)
{
    if (change_is_next_ready(change))
        begin_wait(change);
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
        change_refuse(change, code, &why);
        return;
    }
    plan_show(&out, &change->plan);
    change_put(change, &out);
    if (change->session.ending)
        return;
    warn_of_nobody(change, &now);
    if (change->session.options->yes)
        begin_step(change, 1);
    else
        ask_user(change);
}

/* Old answers say no end: the command looks anew, unless an honest master has told it. */
static void look_at_end_anew(struct change *change)
{
    struct list_watch *end = &change->ends[change->step];
    change->looks_back = false;
    change->enough_at = 0;
    if (masters_in(list_watch_ended(end)) <= end->spare) {
        change_drop(change, end);
        change_open_next(change);
    } else if (!list_watch_open(end, change->session.loop, &change->plan.options, false)) {
        session_end(&change->session, EXIT_INTERNAL, 0);
    } else {
        change_watch(change, &change->next, change->step, false);
    }
}

/* Answers from before a sleep are old, and so are those that lay in a socket meanwhile. */
static void look_after_sleep(struct change *change)
{
    if (change->phase == ENDS)
        look_at_end_anew(change);
    else if (change->phase == WAITS)
        change_look_anew(change);
    else
        change_open_next(change);
}

static bool has_woken(struct change *change)
{
    bool slept = has_slept(change);
    change->looked_at = boot_ms();
    return slept && change->phase > ASKS;
}

static void on_look(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct change *change = timer->data;
    static void (*const looks[])(struct change *) = {
        [CHECKS] = check,      [OPENS] = open_next,     [LOOKS_TWICE] = open_next,
        [REVIVES] = open_next, [WAITS] = look_who_says, [ENDS] = look_whether_over,
    };
    (void)events;
    if (!change->session.ending && has_woken(change))
        look_after_sleep(change);
    else if (!change->session.ending)
        change_hold_former_ends(change);
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
    if (!change_watch(change, &change->next, change->plan.chain.count - 1, false))
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
        say("in step %u: the list %s is not over. To go on, run this command again, before any "
            "other change",
            change->step, nodes.bytes);
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
    change_drop(change, &change->now);
    change_drop(change, &change->next);
    for (unsigned i = 0; i < LISTS_MOST_ON_WAY; i++)
        change_drop(change, &change->ends[i]);
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
