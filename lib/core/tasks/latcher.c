/*
 * latcher.c - makes a latch, arrives at it, waits until it is open, or asks how it stands.
 *
 * What masters keep of a latch outlasts everybody who has arrived, so it must outlast restarts of
 * masters too: a process counts only if it has got its record itself, and whoever has read a quorum
 * puts the record where it is missing.  doc/design.md has the reasons.
 */
#include <string.h>

#include "ground/token.h"
#include "masters/logical.h"
#include "masters/master.h"
#include "masters/subscription.h"
#include "tasks/passage.h"
#include "tasks/tally.h"
#include "tasks/task.h"

#define LOOKS_SUBSCRIBED MS(5000) /* a push may be lost */
#define LOOKS            MS(1000) /* where the master sends none */
#define AFTER_ERROR      MS(200)
#define TOLD_FOR         (3 * LOOKS_SUBSCRIBED / 1000)

static void keep_id(char *to, const char *id)
{
    size_t length = id ? strlen(id) : 0;
    ASSERT(length <= LATCH_ID_MAX);
    memcpy(to, id ? id : "", length);
}

struct task *latcher_new(struct engine *e, struct names *names, const struct latch_terms *terms,
                         void *owner)
{
    struct task *task =
        task_new(e, TASK_LATCHER, sizeof(struct latcher), sizeof(struct latched_at), names, owner);
    if (!task)
        return NULL;
    struct latcher *latcher = (struct latcher *)(void *)task;
    latcher->call = terms->call;
    latcher->any = !terms->id && terms->call != LATCH_CREATE;
    latcher->life = terms->life;
    latcher->wait = terms->call == LATCH_COUNT ? 0 : terms->wait;
    latcher->record.arrivals = terms->call == LATCH_CREATE ? terms->arrivals : 0;
    keep_id(latcher->record.id, terms->id);
    keep_id(latcher->arrival, terms->arrival);
    return task;
}

/* A process that is younger than the call, and has forgotten the latch, does not vote before the
 * call is over: it would get a latch at which nobody has arrived. */
void latcher_begin(struct engine *e, struct latcher *latcher)
{
    usec longest = latcher->call == LATCH_CREATE ? passage_lasts(e) : NEVER;
    usec wait = latcher->wait < longest ? latcher->wait : longest;
    latcher->leaves_at = wait == NEVER ? NEVER : e->now + wait;
    latcher->gives_up_at = wait == NEVER ? NEVER : latcher->leaves_at + passage_lasts(e);
    if (latcher->call == LATCH_CREATE)
        token_draw(e, latcher->record.id);
    if (latcher->call == LATCH_ARRIVE && !latcher->arrival[0])
        token_draw(e, latcher->arrival);
}

/* ---- asking how it stands ------------------------------------------------------------- */

static bool is_bound(const struct latcher *latcher)
{
    return latcher->record.arrivals != 0;
}

static void tally(struct engine *e, struct latcher *latcher, unsigned master)
{
    struct latched_at *at = &latcher->at[master];
    at->carries_arrival = latcher->arrival[0] && (!latcher->any || is_bound(latcher));
    at->carries_open = latcher->decided;
    latcher->sent |= at->carries_arrival;
    const char *arrival = at->carries_arrival ? latcher->arrival : "";
    bool waits = latcher->call == LATCH_AWAIT && latcher->wait;
    task_send(e, &latcher->task, master,
              &(struct request){.tag = {.kind = REQUEST_TALLY},
                                .token = latcher->record.id,
                                .token_length = strlen(latcher->record.id),
                                .value = arrival,
                                .value_length = strlen(arrival),
                                .open = at->carries_open,
                                .ttl_ms = waits ? TOLD_FOR : 0,
                                .channel = waits ? e->config.channel : NULL});
}

/* What it said must not grow old. */
static usec ask_again_after(const struct engine *e, unsigned master)
{
    usec looks = subscription_is_to_same_process(e, master) ? LOOKS_SUBSCRIBED : LOOKS;
    usec lasts = passage_lasts(e) / 3;
    return looks < lasts ? looks : lasts;
}

/* ---- putting it where it is missing ------------------------------------------------------ */

static void put(struct engine *e, struct latcher *latcher, unsigned master, const char *run)
{
    struct latched_at *at = &latcher->at[master];
    at->mends = true;
    task_send(e, &latcher->task, master,
              &(struct request){.tag = {.kind = REQUEST_MEND},
                                .token = latcher->record.id,
                                .token_length = strlen(latcher->record.id),
                                .run = run,
                                .arrivals = (uint16_t)latcher->record.arrivals,
                                .not_after = MS(latcher->record.ends_ms),
                                .open = latcher->decided,
                                .value = at->sent ? at->sent : "",
                                .value_length = at->sent_length});
}

static bool is_missing(const struct engine *e, const struct latcher *latcher, unsigned master)
{
    return passage_counts(e, master) && latcher->at[master].none_since;
}

/* Enough can be read. */
static bool may_mend(const struct engine *e, const struct latcher *latcher)
{
    return latcher->call != LATCH_CREATE && is_bound(latcher) &&
           tally_readers(e, latcher, 0) >= tally_readers_enough(e);
}

/* Only what is read after the master was found to have none: who has arrived at it before that is
 * on others as well, from before they are read. */
static usec read_from(const struct latcher *latcher, unsigned master)
{
    return latcher->at[master].none_since;
}

static bool can_be_mended(const struct engine *e, const struct latcher *latcher, unsigned master)
{
    return may_mend(e, latcher) && is_missing(e, latcher, master) &&
           tally_readers(e, latcher, read_from(latcher, master)) >= tally_readers_enough(e);
}

static void give_sent(struct engine *e, struct latched_at *at)
{
    if (at->sent)
        e->memory.give(e->memory.pool, at->sent, at->sent_length + 1);
    at->sent = NULL;
    at->sent_length = 0;
}

static void mend(struct engine *e, struct latcher *latcher, unsigned master)
{
    struct latched_at *at = &latcher->at[master];
    usec from = read_from(latcher, master);
    unsigned least = e->config.spare + 1;
    size_t length = tally_list(e, latcher, from, least, NULL);
    at->sent = e->memory.take(e->memory.pool, length + 1);
    if (!at->sent) /* it is tried again */
        return;
    at->sent_length = tally_list(e, latcher, from, least, at->sent);
    ASSERT(at->sent_length == length);
    put(e, latcher, master, e->masters[master].facts.run_id);
}

/* A creation is for the processes that there were when it was begun. */
static void make(struct engine *e, struct latcher *latcher, unsigned master)
{
    struct latched_at *at = &latcher->at[master];
    const char *run = e->masters[master].facts.run_id;
    if (!at->run[0])
        memcpy(at->run, run, strlen(run) + 1);
    latcher->touched |= (uint16_t)(1U << master);
    latcher->sent = true;
    put(e, latcher, master, at->run);
}

/* ---- all of it ------------------------------------------------------------------------------ */

static bool is_another_process(const struct engine *e, const struct latcher *latcher,
                               unsigned master)
{
    const struct latched_at *at = &latcher->at[master];
    return at->run[0] && strcmp(at->run, e->masters[master].facts.run_id) != 0;
}

static bool is_wanted_of_creation(const struct engine *e, const struct latcher *latcher,
                                  unsigned master)
{
    return !tally_has(e, latcher, master) && e->now >= latcher->at[master].due &&
           !is_another_process(e, latcher, master) && latcher->record.ends_ms;
}

/* Of another one that is to be mended, its answer is from before. */
static bool is_read_again(const struct engine *e, const struct latcher *latcher, unsigned master)
{
    if (!may_mend(e, latcher) || !tally_has(e, latcher, master))
        return false;
    for (unsigned i = 0; i < e->config.masters; i++)
        if (is_missing(e, latcher, i) && latcher->at[master].asked_at < read_from(latcher, i))
            return true;
    return false;
}

static bool is_wanted(const struct engine *e, const struct latcher *latcher, unsigned master)
{
    const struct latched_at *at = &latcher->at[master];
    if (e->now < at->paused_until)
        return false;
    if (latcher->call == LATCH_CREATE)
        return is_wanted_of_creation(e, latcher, master);
    if (e->now >= at->due || (latcher->verified_from && at->asked_at < latcher->verified_from))
        return true;
    if (!tally_has(e, latcher, master))
        return can_be_mended(e, latcher, master);
    return (latcher->arrival[0] && !at->arrived_at) || (latcher->decided && !at->opened_at) ||
           is_read_again(e, latcher, master);
}

static void ask(struct engine *e, struct latcher *latcher, unsigned master)
{
    struct latched_at *at = &latcher->at[master];
    at->due = e->now + ask_again_after(e, master);
    at->carries_arrival = at->carries_open = at->mends = false;
    if (latcher->call == LATCH_CREATE)
        make(e, latcher, master);
    else if (can_be_mended(e, latcher, master))
        mend(e, latcher, master);
    else
        tally(e, latcher, master);
}

/* The same moment by each master's wall clock; nobody counts on a master that is near it. */
static void set_end(struct engine *e, struct latcher *latcher)
{
    usec wall = logical_wall(e);
    if (latcher->call == LATCH_CREATE && !latcher->record.ends_ms && wall)
        latcher->record.ends_ms = (wall + latcher->life) / 1000 + e->config.skew_ms + 1;
}

static usec next_look(const struct latched_at *at)
{
    return at->due > at->paused_until ? at->due : at->paused_until;
}

static void ask_all(struct engine *e, struct latcher *latcher)
{
    usec next = e->now < latcher->leaves_at ? latcher->leaves_at : latcher->gives_up_at;
    for (unsigned i = 0; i < e->config.masters; i++) {
        if (!passage_counts(e, i) || latcher->task.outstanding >> i & 1)
            continue;
        if (is_wanted(e, latcher, i))
            ask(e, latcher, i);
        else if (next_look(&latcher->at[i]) > e->now && next_look(&latcher->at[i]) < next)
            next = next_look(&latcher->at[i]);
    }
    if (latcher->call == LATCH_AWAIT && latcher->wait)
        subscription_keep(e);
    task_wake_at(e, &latcher->task, next);
}

/* No master will soon say more. */
static bool is_answered(const struct engine *e, const struct latcher *latcher)
{
    for (unsigned i = 0; i < e->config.masters; i++) {
        const struct master *master = &e->masters[i];
        if (master_is_up(master) ? passage_counts(e, i) && (latcher->task.outstanding >> i & 1 ||
                                                            is_wanted(e, latcher, i))
                                 : !master->tried || master_is_connecting(master))
            return false;
    }
    return true;
}

/* ---- what follows -----------------------------------------------------------------------------
 */

static void drop(struct engine *e, struct latcher *latcher, unsigned master)
{
    task_send(e, &latcher->task, master,
              &(struct request){.tag = {.kind = REQUEST_DROP},
                                .token = latcher->record.id,
                                .token_length = strlen(latcher->record.id)});
}

/* What was not made is in nobody's way; and where somebody has arrived at it, it stays. */
static void withdraw(struct engine *e, struct latcher *latcher)
{
    for (unsigned i = 0; i < e->config.masters; i++)
        if (latcher->touched >> i & 1 && master_is_up(&e->masters[i]))
            drop(e, latcher, i);
}

/* Arrivals of the last moment may be on different masters, so that they are more than enough. */
static unsigned count_arrived(const struct engine *e, const struct latcher *latcher)
{
    if (latcher->call == LATCH_CREATE || !is_bound(latcher))
        return 0;
    unsigned arrived = tally_arrived(e, latcher, 0, e->config.spare + 1);
    return arrived < latcher->record.arrivals ? arrived : latcher->record.arrivals;
}

static void conclude(struct engine *e, struct latcher *latcher, enum latch_end end)
{
    latcher->end = end;
    latcher->arrived = count_arrived(e, latcher);
    if (latcher->call == LATCH_CREATE && end != LATCH_MADE)
        withdraw(e, latcher);
    task_wake_at(e, &latcher->task, NEVER);
    task_has_news(e, &latcher->task);
}

static const struct latch_record *other_latch(const struct engine *e, const struct latcher *latcher)
{
    for (unsigned i = 0; i < e->config.masters; i++) {
        const struct latched_at *at = &latcher->at[i];
        if (at->record.arrivals && strcmp(at->record.id, latcher->record.id) != 0)
            return &at->record;
    }
    return NULL;
}

static bool is_over(const struct engine *e, const struct latcher *latcher)
{
    return e->now >= latcher->leaves_at &&
           (e->now >= latcher->gives_up_at || is_answered(e, latcher));
}

static enum latch_end judge_creation(const struct engine *e, const struct latcher *latcher)
{
    if (tally_readers(e, latcher, 0) >= e->quorum)
        return LATCH_MADE;
    if (tally_is_gone(e, latcher, 0) && other_latch(e, latcher))
        return LATCH_HELD;
    return is_over(e, latcher) ? LATCH_UNKNOWN : LATCH_PENDING;
}

/* Each master that has none says so twice, for the first time before any says it for the second
 * time: then there was a moment at which no quorum had the latch. */
static bool is_gone(struct engine *e, struct latcher *latcher)
{
    if (!tally_is_gone(e, latcher, 0)) {
        latcher->verified_from = 0;
        return false;
    }
    if (!latcher->verified_from)
        latcher->verified_from = e->now;
    return tally_is_gone(e, latcher, latcher->verified_from);
}

/* Who has come to know a quorum leaves the masters as they should be. */
static bool is_mending(const struct engine *e, const struct latcher *latcher)
{
    if (e->now >= latcher->gives_up_at)
        return false;
    for (unsigned i = 0; i < e->config.masters; i++)
        if ((latcher->at[i].mends && latcher->task.outstanding >> i & 1) ||
            (may_mend(e, latcher) && is_missing(e, latcher, i)))
            return true;
    return false;
}

static enum latch_end judge_arrival(const struct engine *e, const struct latcher *latcher)
{
    bool opens = latcher->decided && !latcher->open && !is_over(e, latcher);
    bool is_counted = tally_counts_arrival(e, latcher);
    return is_counted && !opens && !is_mending(e, latcher) ? LATCH_ARRIVED : LATCH_PENDING;
}

static enum latch_end judge_wait(const struct engine *e, const struct latcher *latcher)
{
    if (latcher->open)
        return is_mending(e, latcher) ? LATCH_PENDING : LATCH_OPEN;
    bool may_end = e->now >= latcher->leaves_at && !is_mending(e, latcher);
    return may_end && tally_is_shut(e, latcher) ? LATCH_SHUT : LATCH_PENDING;
}

static void learn_record(const struct engine *e, struct latcher *latcher)
{
    const struct latch_record *found = is_bound(latcher) ? NULL : tally_found(e, latcher);
    if (found)
        latcher->record = *found;
}

static enum latch_end judge(struct engine *e, struct latcher *latcher)
{
    enum latch_end end = LATCH_PENDING;
    if (latcher->call == LATCH_CREATE)
        return judge_creation(e, latcher);
    learn_record(e, latcher);
    if (is_bound(latcher)) {
        latcher->decided = latcher->decided || tally_is_open(e, latcher);
        latcher->open = latcher->open || (latcher->decided && tally_knows_open(e, latcher));
        end = latcher->call == LATCH_ARRIVE ? judge_arrival(e, latcher) : judge_wait(e, latcher);
    }
    if (!end && is_gone(e, latcher))
        return LATCH_GONE;
    return !end && is_over(e, latcher) ? LATCH_UNKNOWN : end;
}

void latcher_work(struct engine *e, struct latcher *latcher)
{
    if (latcher->end)
        return;
    set_end(e, latcher);
    enum latch_end end = judge(e, latcher);
    if (end)
        conclude(e, latcher, end);
    else
        ask_all(e, latcher);
}

void latcher_leave(struct engine *e, struct latcher *latcher, enum cause cause)
{
    if (latcher->end)
        return;
    latcher->cause = cause;
    conclude(e, latcher, LATCH_UNKNOWN);
}

/* ---- answers ------------------------------------------------------------------------------------
 */

static void give_arrived(struct engine *e, struct latched_at *at)
{
    if (at->arrived)
        e->memory.give(e->memory.pool, at->arrived, at->length);
    at->arrived = NULL;
    at->length = 0;
}

static bool keep_arrived(struct engine *e, struct latched_at *at, const struct reply *reply)
{
    give_arrived(e, at);
    if (!reply->reader_tokens_length)
        return true;
    at->arrived = e->memory.take(e->memory.pool, reply->reader_tokens_length);
    if (!at->arrived)
        return false;
    at->length = reply->reader_tokens_length;
    memcpy(at->arrived, reply->reader_tokens, at->length);
    return true;
}

static void take_record(struct engine *e, struct latcher *latcher, struct latched_at *at,
                        const struct reply *reply)
{
    at->record = (struct latch_record){.arrivals = reply->permits, .ends_ms = reply->number};
    memcpy(at->record.id, reply->waiters, reply->waiters_length);
    at->none_since = 0;
    bool is_kept = keep_arrived(e, at, reply);
    bool is_open = reply->answer == ANSWER_OPEN;
    at->stands = !is_kept ? LATCHED_UNKNOWN : is_open ? LATCHED_OPEN : LATCHED_SHUT;
    bool is_ours = strcmp(at->record.id, latcher->record.id) == 0;
    at->arrived_at = is_ours && at->carries_arrival ? reply->tag.sent_at : 0;
    at->opened_at = is_ours && is_open ? reply->tag.sent_at : 0;
}

/* That the master has none is new, if it is not what putting it there has come to. */
static void take_none(struct engine *e, struct latched_at *at, bool may_be_put)
{
    give_arrived(e, at);
    at->stands = LATCHED_NONE;
    at->arrived_at = at->opened_at = 0;
    if (!may_be_put)
        at->none_since = 0;
    else if (!at->none_since)
        at->none_since = e->now;
}

static void take(struct engine *e, struct latcher *latcher, unsigned master,
                 const struct reply *reply)
{
    struct latched_at *at = &latcher->at[master];
    at->asked_at = at->answered = reply->tag.sent_at;
    if (reply->answer == ANSWER_ABSENT)
        take_none(e, at, !at->mends);
    else if (reply->remaining_ms <= e->config.skew_ms)
        take_none(e, at, false);
    else
        take_record(e, latcher, at, reply);
}

static bool is_told(const struct reply *reply)
{
    return reply->answer == ANSWER_YES || reply->answer == ANSWER_OPEN ||
           reply->answer == ANSWER_ABSENT;
}

void latcher_hear(struct engine *e, struct latcher *latcher, unsigned master,
                  const struct reply *reply)
{
    struct latched_at *at = &latcher->at[master];
    bool needs_text = task_needs_text(&latcher->task, master);
    if (reply->tag.kind == REQUEST_DROP) {
        if (needs_text && master_is_up(&e->masters[master]))
            drop(e, latcher, master);
        return;
    }
    give_sent(e, at);
    if (latcher->task.ended || latcher->end)
        return;
    if (needs_text)
        at->due = 0;
    else if (is_told(reply))
        take(e, latcher, master, reply);
    else
        at->due = at->paused_until = e->now + AFTER_ERROR;
    latcher_work(e, latcher);
}

void latcher_forget(struct engine *e, struct latcher *latcher, unsigned master)
{
    struct latched_at *at = &latcher->at[master];
    give_sent(e, at);
    give_arrived(e, at);
    at->stands = LATCHED_UNKNOWN;
    at->none_since = at->arrived_at = at->opened_at = at->due = at->paused_until = 0;
    at->carries_arrival = at->carries_open = at->mends = false;
}

void latcher_look(struct engine *e, struct latcher *latcher, unsigned master)
{
    latcher->at[master].due = 0; /* also if a question is out: its answer may be from before */
    latcher_work(e, latcher);
}

/* ---- its end
 * ---------------------------------------------------------------------------------------- */

void latcher_end(struct engine *e, struct latcher *latcher)
{
    if (!latcher->end && latcher->call == LATCH_CREATE)
        withdraw(e, latcher);
}

bool latcher_tell(struct engine *e, struct latcher *latcher, struct task_news *news)
{
    const struct latch_record *other = other_latch(e, latcher);
    const struct latch_record *of = latcher->end == LATCH_HELD && other ? other : &latcher->record;
    news->call = latcher->call;
    news->latch = latcher->end;
    news->cause = latcher->cause;
    news->open = latcher->open;
    news->undecided = latcher->end == LATCH_UNKNOWN && latcher->sent;
    news->id = of->id;
    news->arrival = latcher->arrival;
    news->arrivals = of->arrivals;
    news->arrived = latcher->arrived;
    for (unsigned i = 0; i < e->config.masters; i++)
        news->masters += latcher->at[i].answered != 0;
    return latcher->end != LATCH_PENDING;
}

void latcher_free(struct engine *e, struct latcher *latcher)
{
    for (unsigned i = 0; i < e->config.masters; i++) {
        give_sent(e, &latcher->at[i]);
        give_arrived(e, &latcher->at[i]);
    }
    e->memory.give(e->memory.pool, latcher,
                   sizeof *latcher + e->config.masters * sizeof *latcher->at);
}
