/*
 * latch.c - makes a latch, arrives at it, waits until it is open, or asks how it stands.
 *
 * The record of a latch outlasts all that have arrived, so it must outlast restarts of masters too.
 * A process counts only if it has got its record itself, and a client that has read a quorum puts
 * the record where it is missing.  Reasons: doc/design/latches.md.
 */
#include <stdio.h>
#include <string.h>

#include "ground/token.h"
#include "masters/logical.h"
#include "masters/master.h"
#include "recipes/latch.h"

#define AFTER_ERROR MS(200)

#define GRACE_LEAST 400 /* us */

#define AGAIN_LEAST     MS(5)
#define AGAIN_DOUBLINGS 4

static void latcher_keep_id(char *to, const char *id)
{
    size_t length = id ? strlen(id) : 0;
    ASSERT(length <= LATCH_ID_MAX);
    memcpy(to, id ? id : "", length);
}

static struct latcher *latcher_of(struct task *task)
{
    return (struct latcher *)(void *)task;
}

/* A process that is younger than the call, and has forgotten the latch, does not vote before the
 * call is over: it would get a latch without its arrivals. */
static void latcher_begin(struct engine *e, struct task *task)
{
    struct latcher *latcher = latcher_of(task);
    usec longest = latcher->call == LATCH_CREATE ? task_word_lasts(e) : NEVER;
    usec wait = latcher->wait < longest ? latcher->wait : longest;
    latcher->begun_at = latcher->tried_at = e->now;
    if (latcher->leaves_at) /* it goes on for another one */
        return;
    latcher->leaves_at = wait == NEVER ? NEVER : e->now + wait;
    latcher->gives_up_at = wait == NEVER ? NEVER : latcher->leaves_at + task_word_lasts(e);
    if (latcher->call == LATCH_CREATE) {
        latcher->gives_up_at = e->now + task_word_lasts(e);
        token_draw(e, latcher->record.id);
    }
    if (latcher->call == LATCH_ARRIVE && !latcher->arrival[0])
        token_draw(e, latcher->arrival);
}

/* All masters have the same end by their wall clocks; nobody counts on a master that is near it. */
static void latcher_set_end(struct engine *e, struct latcher *latcher)
{
    usec wall = logical_wall(e);
    if (latcher->call == LATCH_CREATE && !latcher->record.ends_ms && wall)
        latcher->record.ends_ms = (wall + latcher->life) / 1000 + e->config.skew_ms + 1;
}

/* ---- what follows -------------------------------------------------------------------- */

/* Arrivals of the last moment may be on different masters, so that they are more than enough. */
static unsigned latcher_count_arrived(const struct engine *e, const struct latcher *latcher)
{
    if (latcher->call == LATCH_CREATE || !latch_is_bound(latcher))
        return 0;
    unsigned arrived = tally_arrived(e, latcher, e->config.spare + 1);
    bool enough = latcher->open || arrived > latcher->record.arrivals;
    return enough ? latcher->record.arrivals : arrived;
}

static void latcher_conclude(struct engine *e, struct latcher *latcher, enum latch_end end)
{
    latcher->end = end;
    latcher->arrived = latcher_count_arrived(e, latcher);
    tally_name(e, latcher, latcher->who);
    if (latcher->call == LATCH_CREATE && end != LATCH_MADE)
        latch_withdraw(e, latcher);
    task_conclude(e, &latcher->task);
}

static bool latcher_is_over(const struct engine *e, const struct latcher *latcher)
{
    return e->now >= latcher->leaves_at &&
           (e->now >= latcher->gives_up_at || latch_is_answered(e, latcher));
}

static const struct latch_record *latcher_find_another(const struct engine *e,
                                                       const struct latcher *latcher)
{
    bool is_gone = tally_is_gone(e, latcher, 0);
    const struct latch_record *other = is_gone ? tally_other(e, latcher) : NULL;
    bool is_known = other && (tally_has_quorum(e, latcher, other) ||
                              latch_is_answered(e, latcher) || latcher_is_over(e, latcher));
    return is_known ? other : NULL;
}

/* Later than that, others may take away what it has made. */
static enum latch_end latcher_judge_creation(const struct engine *e, struct latcher *latcher)
{
    if (e->now >= latcher->gives_up_at)
        return LATCH_UNKNOWN;
    if (tally_readers(e, latcher, 0) >= e->quorum)
        return LATCH_MADE;
    latcher->other = latcher_find_another(e, latcher);
    if (latcher->other)
        return LATCH_HELD;
    return latcher_is_over(e, latcher) ? LATCH_UNKNOWN : LATCH_PENDING;
}

/* Each master that has none says so twice, and all have said it once before any says it again.  So
 * there was a moment at which no quorum had the latch.  See latcher_take(). */
static void latcher_verify_gone(const struct engine *e, struct latcher *latcher)
{
    if (!tally_is_gone(e, latcher, 0))
        latcher->verified_from = 0;
    else if (!latcher->verified_from)
        latcher->verified_from = e->now;
}

static bool latcher_is_gone(const struct engine *e, const struct latcher *latcher)
{
    return latcher->verified_from && tally_is_gone(e, latcher, latcher->verified_from);
}

static enum latch_end latcher_judge_arrival(const struct engine *e, const struct latcher *latcher)
{
    bool opens = latcher->decided && !latcher->open && !latcher_is_over(e, latcher);
    bool is_counted = tally_counts_arrival(e, latcher);
    return is_counted && !opens && !latch_is_mending(e, latcher) ? LATCH_ARRIVED : LATCH_PENDING;
}

static enum latch_end latcher_judge_wait(const struct engine *e, const struct latcher *latcher)
{
    if (latcher->open)
        return latch_is_mending(e, latcher) ? LATCH_PENDING : LATCH_OPEN;
    bool may_end = e->now >= latcher->leaves_at && !latch_is_mending(e, latcher);
    return may_end && tally_is_shut(e, latcher) ? LATCH_SHUT : LATCH_PENDING;
}

static void latcher_learn_record(const struct engine *e, struct latcher *latcher)
{
    const struct latch_record *found = latch_is_bound(latcher) ? NULL : tally_found(e, latcher);
    if (found)
        latcher->record = *found;
}

/* A master that has lost the latch may be the last to answer each time. */
static void latcher_begin_grace(const struct engine *e, struct latcher *latcher)
{
    usec took = e->now - latcher->begun_at;
    if (!latcher->grace_until && tally_readers(e, latcher, 0) >= e->quorum)
        latcher->grace_until = e->now + (took > GRACE_LEAST ? took : GRACE_LEAST);
}

static enum latch_end latcher_judge(struct engine *e, struct latcher *latcher)
{
    enum latch_end end = LATCH_PENDING;
    if (latcher->call == LATCH_CREATE)
        return latcher_judge_creation(e, latcher);
    latcher_learn_record(e, latcher);
    if (latch_is_bound(latcher)) {
        latcher_begin_grace(e, latcher);
        latcher->decided = latcher->decided || tally_is_open(e, latcher);
        latcher->open = latcher->open || (latcher->decided && tally_knows_open(e, latcher));
        end = latcher->call == LATCH_ARRIVE ? latcher_judge_arrival(e, latcher)
                                            : latcher_judge_wait(e, latcher);
    }
    if (end)
        return end;
    latcher_verify_gone(e, latcher);
    if (latcher_is_gone(e, latcher))
        return LATCH_GONE;
    return latcher_is_over(e, latcher) ? LATCH_UNKNOWN : LATCH_PENDING;
}

/* In proportion to how long the masters took, and longer from try to try, until there is room for
 * many others. */
static usec latcher_pause(struct engine *e, struct latcher *latcher)
{
    unsigned doublings = latcher->again < AGAIN_DOUBLINGS ? latcher->again : AGAIN_DOUBLINGS;
    usec took = e->now - latcher->tried_at, most = task_word_lasts(e) / 8;
    usec longest = took < most >> doublings ? took << doublings : most;
    return engine_jitter(e, AGAIN_LEAST, longest > 2 * AGAIN_LEAST ? longest : 2 * AGAIN_LEAST);
}

/* A reader of what is there would take two tries with one id for one. */
static void latcher_draw_next_id(struct latcher *latcher)
{
    unsigned digits = 2, tries = ++latcher->again % 100;
    snprintf(latcher->record.id + TOKEN_TEXT - digits, digits + 1, "%02u", tries);
}

/* Earlier answers count no more.  Another maker takes it away as well. */
static void latcher_start_over(struct engine *e, struct latcher *latcher)
{
    latch_withdraw(e, latcher);
    latch_clear_all(e, latcher);
    latcher->again_at = e->now + latcher_pause(e, latcher);
    latcher->tried_at = latcher->again_at;
    latcher_draw_next_id(latcher);
    for (unsigned i = 0; i < e->config.masters; i++) {
        latcher->at[i].stands = LATCHED_UNKNOWN;
        latcher->at[i].due = 0;
    }
}

static void latcher_leave(struct engine *e, struct task *task, enum cause cause)
{
    latcher_of(task)->cause = cause;
    latcher_conclude(e, latcher_of(task), LATCH_UNKNOWN);
}

static void latcher_work(struct engine *e, struct task *task)
{
    struct latcher *latcher = latcher_of(task);
    if (e->misconfigured) {
        latcher_leave(e, task, e->misconfigured);
        return;
    }
    latcher_set_end(e, latcher);
    enum latch_end end = latcher_judge(e, latcher);
    if (end) {
        latcher_conclude(e, latcher, end);
        return;
    }
    if (latcher->call == LATCH_CREATE && tally_is_split(e, latcher))
        latcher_start_over(e, latcher);
    latch_ask_all(e, latcher);
}

/* ---- answers ------------------------------------------------------------------------- */

static unsigned lines_count(struct slice lines)
{
    struct slice line;
    unsigned count = 0;
    while (lines_next(&lines, &line))
        count++;
    return count;
}

/* Of another latch it counts for nothing: see tally_has(). */
static void latcher_take_record(struct engine *e, struct latched_at *at, const struct reply *reply)
{
    const struct latch_reply *told = &reply->latch;
    at->record = (struct latch_record){.arrivals = told->arrivals, .ends_ms = told->ends_ms};
    memcpy(at->record.id, told->id.bytes, told->id.length);
    bool is_kept = lines_keep(&e->memory, &at->arrived, told->arrived);
    at->count = lines_count(lines_all(&at->arrived));
    bool is_open = reply->answer == ANSWER_OPEN;
    at->none_since = is_open || told->arrived.length ? 0 : e->now;
    at->is_young = told->age < latch_old_age(e);
    at->lasts_until = reply->tag.sent_at + MS(told->remaining_ms - e->config.skew_ms);
    at->stands = !is_kept ? LATCHED_UNKNOWN : is_open ? LATCHED_OPEN : LATCHED_SHUT;
    at->arrived_at = at->carries_arrival ? reply->tag.sent_at : 0;
    at->opened_at = is_open ? reply->tag.sent_at : 0;
}

/* That the master has none is new, if it is not what putting it there has come to. */
static void latcher_take_none(struct engine *e, struct latched_at *at, bool may_be_put)
{
    lines_drop(&e->memory, &at->arrived);
    at->stands = LATCHED_NONE;
    at->is_young = false;
    at->arrived_at = at->opened_at = 0;
    if (!may_be_put)
        at->none_since = 0;
    else if (!at->none_since)
        at->none_since = e->now;
}

/* It has none, or another one. */
static bool latcher_lacks(const struct latcher *latcher, const struct latched_at *at)
{
    bool some = at->stands == LATCHED_SHUT || at->stands == LATCHED_OPEN;
    return at->stands == LATCHED_NONE || (some && strcmp(at->record.id, latcher->record.id) != 0);
}

/* The answer may have lain unread for long: this process was stopped, say. */
static bool latch_is_about_to_end(const struct engine *e, const struct reply *reply)
{
    return MS(reply->latch.remaining_ms) - (e->now - reply->tag.sent_at) <= MS(e->config.skew_ms);
}

/* All that lack it are to say so after the last of them has said it for the first time. */
static void latcher_take(struct engine *e, struct latcher *latcher, unsigned master,
                         const struct reply *reply)
{
    struct latched_at *at = &latcher->at[master];
    bool lacked = latcher_lacks(latcher, at);
    at->asked_at = at->answered = reply->tag.sent_at;
    if (reply->answer == ANSWER_ABSENT)
        latcher_take_none(e, at, !at->mends);
    else if (latch_is_about_to_end(e, reply))
        latcher_take_none(e, at, false);
    else
        latcher_take_record(e, at, reply);
    if (latcher_lacks(latcher, at) && !lacked)
        latcher->verified_from = 0;
}

/* It is tried again, but nobody waits until it has the latch: that may never be. */
static void latcher_take_error(struct engine *e, struct latched_at *at)
{
    at->due = at->paused_until = e->now + AFTER_ERROR;
    if (at->mends || at->clears)
        at->none_since = 0;
}

static bool latch_is_told(const struct reply *reply)
{
    return reply->answer == ANSWER_YES || reply->answer == ANSWER_OPEN ||
           reply->answer == ANSWER_ABSENT;
}

static void latcher_hear_drop(struct engine *e, struct latched_at *at, const struct reply *reply)
{
    if (at->clears && reply->answer == ANSWER_YES) {
        latcher_take_none(e, at, true);
        at->due = at->paused_until = 0;
    } else if (at->clears) {
        latcher_take_error(e, at);
    }
}

static void latcher_hear(struct engine *e, struct task *task, unsigned master,
                         const struct reply *reply)
{
    struct latcher *latcher = latcher_of(task);
    struct latched_at *at = &latcher->at[master];
    if (reply->tag.kind == REQUEST_DROP) {
        latcher_hear_drop(e, at, reply);
        return;
    }
    lines_drop(&e->memory, &at->sent);
    if (task_needs_text(task, master) || reply->tag.sent_at < latcher->again_at)
        at->due = 0;
    else if (latch_is_told(reply))
        latcher_take(e, latcher, master, reply);
    else
        latcher_take_error(e, at);
}

static void latcher_forget(struct engine *e, struct task *task, unsigned master)
{
    struct latched_at *at = &latcher_of(task)->at[master];
    lines_drop(&e->memory, &at->sent);
    lines_drop(&e->memory, &at->arrived);
    at->stands = LATCHED_UNKNOWN;
    at->none_since = at->arrived_at = at->opened_at = at->due = at->paused_until = 0;
    at->carries_arrival = at->mends = at->clears = false;
}

/* Also if a question is out: its answer may be from before. */
static void latcher_look(struct engine *e, struct task *task, unsigned master,
                         const struct said *said)
{
    (void)e, (void)said;
    latcher_of(task)->at[master].due = 0;
}

/* ---- its end ------------------------------------------------------------------------- */

/* Takes away the latch that it began to make. */
static void latcher_drop(struct engine *e, struct task *task)
{
    if (latcher_of(task)->call == LATCH_CREATE)
        latch_withdraw(e, latcher_of(task));
}

static bool latcher_tell(struct engine *e, struct task *task, struct task_news *news)
{
    const struct latcher *latcher = latcher_of(task);
    const struct latch_record *of = latcher->end == LATCH_HELD ? latcher->other : &latcher->record;
    news->latch = (struct latch_news){.call = latcher->call,
                                      .end = latcher->end,
                                      .cause = latcher->cause,
                                      .open = latcher->open,
                                      .undecided = latcher->end == LATCH_UNKNOWN && latcher->sent,
                                      .arrived = latcher->arrived,
                                      .arrivals = of->arrivals,
                                      .id = of->id,
                                      .arrival = latcher->arrival,
                                      .who = latcher->who};
    for (unsigned i = 0; i < e->config.masters; i++)
        news->latch.answered += latcher->at[i].answered != 0;
    return task->over;
}

static void latcher_free(struct engine *e, struct task *task)
{
    struct latcher *latcher = latcher_of(task);
    for (unsigned i = 0; i < e->config.masters; i++) {
        lines_drop(&e->memory, &latcher->at[i].sent);
        lines_drop(&e->memory, &latcher->at[i].arrived);
    }
}

/* It asks anew, about the latch that the former one has found, if any.  An arrival counts once. */
static bool latcher_inherit(struct engine *e, struct task *task, const struct task *former)
{
    (void)e;
    struct latcher *latcher = latcher_of(task);
    const struct latcher *was = (const struct latcher *)(const void *)former;
    ASSERT(was->call == LATCH_ARRIVE || was->call == LATCH_AWAIT);
    latcher->call = was->call;
    latcher->any = was->any && !latch_is_bound(was);
    latcher->wait = was->wait;
    latcher->leaves_at = was->leaves_at;
    latcher->gives_up_at = was->gives_up_at;
    latcher->sent = was->sent;
    latcher_keep_id(latcher->record.id, latcher->any ? NULL : was->record.id);
    latcher_keep_id(latcher->arrival, was->arrival);
    return true;
}

static const struct task_kind LATCHER = {.size = sizeof(struct latcher),
                                         .each = sizeof(struct latched_at),
                                         .begin = latcher_begin,
                                         .work = latcher_work,
                                         .hear = latcher_hear,
                                         .forget = latcher_forget,
                                         .look = latcher_look,
                                         .leave = latcher_leave,
                                         .inherit = latcher_inherit,
                                         .drop = latcher_drop,
                                         .free = latcher_free,
                                         .tell = latcher_tell};

struct task *latcher_new(struct engine *e, struct names *names, const struct latch_terms *terms,
                         void *owner)
{
    struct task *task = task_new(e, &LATCHER, names, owner);
    if (!task)
        return NULL;
    struct latcher *latcher = latcher_of(task);
    latcher->call = terms->call;
    latcher->any = !terms->id && terms->call != LATCH_CREATE;
    latcher->life = terms->life;
    latcher->wait = terms->call == LATCH_COUNT ? 0 : terms->wait;
    latcher->record.arrivals = terms->call == LATCH_CREATE ? terms->arrivals : 0;
    latcher_keep_id(latcher->record.id, terms->id);
    latcher_keep_id(latcher->arrival, terms->arrival);
    return task;
}
