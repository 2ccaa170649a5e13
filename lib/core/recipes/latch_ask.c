#include "recipes/latch.h"

#include <string.h>

#include "masters/master.h"
#include "masters/subscription.h"

/* ---- how it stands ---------------------------------------------------------------- */

static void latch_read(struct engine *e, struct latcher *latcher, unsigned master)
{
    struct latched_at *at = &latcher->at[master];
    at->carries_arrival = latcher->arrival[0] && (!latcher->any || latch_is_bound(latcher));
    latcher->sent |= at->carries_arrival;
    const char *arrival = at->carries_arrival ? latcher->arrival : "";
    bool waits = latcher->call == LATCH_AWAIT && latcher->wait;
    task_send(e, &latcher->task, master,
              &(struct request){.tag = {.kind = REQUEST_TALLY},
                                .ttl_ms = waits ? TASK_TOLD_FOR : 0,
                                .channel = waits ? e->config.channel : NULL,
                                .tally = {.id = slice_of(latcher->record.id),
                                          .arrival = slice_of(arrival),
                                          .open = latcher->decided}});
}

/* The master's word must not grow old. */
static usec latch_asks_again_after(const struct engine *e, unsigned master)
{
    usec looks = task_looks_after(e, master);
    usec lasts = task_word_lasts(e) / 3;
    return looks < lasts ? looks : lasts;
}

/* ---- putting it where it is missing ------------------------------------------------------ */

static void latch_put(struct engine *e, struct latcher *latcher, unsigned master, const char *run)
{
    struct latched_at *at = &latcher->at[master];
    struct slice lines = lines_all(&at->sent);
    at->mends = true;
    task_send(e, &latcher->task, master,
              &(struct request){.tag = {.kind = REQUEST_MEND},
                                .mend = {.id = slice_of(latcher->record.id),
                                         .run = run,
                                         .arrived = lines,
                                         .ends_ms = latcher->record.ends_ms,
                                         .arrivals = (uint16_t)latcher->record.arrivals,
                                         .open = latcher->decided}});
}

/* A quorum has the latch with an arrival, which nobody takes away.  So no other one is made before
 * this one ends, and a maker of another has given up by then. */
static bool latch_is_kept(const struct engine *e, const struct latcher *latcher, usec from)
{
    usec until = e->now + latch_old_age(e);
    unsigned keepers = 0;
    for (unsigned i = 0; i < e->config.masters; i++) {
        const struct latched_at *at = &latcher->at[i];
        bool is_used = at->count || at->stands == LATCHED_OPEN;
        keepers +=
            tally_has(e, latcher, i) && is_used && at->asked_at >= from && at->lasts_until > until;
    }
    return keepers >= e->quorum;
}

/* A young latch may still be made, but not beside a latch that stays. */
static bool latch_may_go(const struct engine *e, const struct latcher *latcher, unsigned master,
                         usec from)
{
    return !latcher->at[master].is_young || latch_is_kept(e, latcher, from);
}

static bool latch_is_missing(const struct engine *e, const struct latcher *latcher, unsigned master)
{
    return task_counts_on(e, master) && latcher->at[master].none_since &&
           !tally_has(e, latcher, master) && latch_may_go(e, latcher, master, 0);
}

/* Enough can be read. */
static bool latch_may_mend(const struct engine *e, const struct latcher *latcher)
{
    return latcher->call != LATCH_CREATE && latch_is_bound(latcher) &&
           tally_readers(e, latcher, 0) >= tally_readers_enough(e);
}

/* By answers from after it was found to have none: an arrival that it stored before is on others as
 * well, from before they are read. */
static bool latch_can_be_mended(const struct engine *e, const struct latcher *latcher,
                                unsigned master)
{
    usec from = latcher->at[master].none_since;
    return latch_may_mend(e, latcher) && latch_is_missing(e, latcher, master) &&
           tally_readers(e, latcher, from) >= tally_readers_enough(e) &&
           latch_may_go(e, latcher, master, from);
}

static void latch_mend(struct engine *e, struct latcher *latcher, unsigned master)
{
    struct latched_at *at = &latcher->at[master];
    unsigned least = e->config.spare + 1;
    size_t length = tally_list(e, latcher, least, NULL);
    if (!lines_make_room(&e->memory, &at->sent, length)) /* it is tried again */
        return;
    tally_list(e, latcher, least, at->sent.bytes);
    latch_put(e, latcher, master, e->masters[master].facts.run_id);
}

/* A leftover of another latch is in the way.  If somebody arrives at the leftover first, the master
 * keeps it. */
static void latch_clear(struct engine *e, struct latcher *latcher, unsigned master)
{
    latcher->at[master].clears = true;
    latch_drop(e, latcher, master);
}

usec latch_old_age(const struct engine *e)
{
    return MS(e->max_ttl_ms + e->config.skew_ms);
}

void latch_clear_all(struct engine *e, struct latcher *latcher)
{
    for (unsigned i = 0; i < e->config.masters; i++)
        if (latch_is_missing(e, latcher, i) && latcher->at[i].stands == LATCHED_SHUT)
            latch_clear(e, latcher, i);
}

/* A creation is for the processes that there were when it was begun. */
static void latch_make(struct engine *e, struct latcher *latcher, unsigned master)
{
    struct latched_at *at = &latcher->at[master];
    const char *run = e->masters[master].facts.run_id;
    if (!at->run[0])
        memcpy(at->run, run, strlen(run) + 1);
    latcher->touched |= (uint16_t)(1U << master);
    latcher->sent = true;
    latch_put(e, latcher, master, at->run);
}

/* ---- whom to ask now ------------------------------------------------------------- */

static bool latch_is_of_another_process(const struct engine *e, const struct latcher *latcher,
                                        unsigned master)
{
    const struct latched_at *at = &latcher->at[master];
    return at->run[0] && strcmp(at->run, e->masters[master].facts.run_id) != 0;
}

static bool latch_wants_to_make(const struct engine *e, const struct latcher *latcher,
                                unsigned master)
{
    return !tally_has(e, latcher, master) && e->now >= latcher->at[master].due &&
           e->now >= latcher->again_at && !latch_is_of_another_process(e, latcher, master) &&
           latcher->record.ends_ms;
}

/* Another master needs mending, and the answer of this one is from before that was found. */
static bool latch_is_read_again(const struct engine *e, const struct latcher *latcher,
                                unsigned master)
{
    if (!latch_may_mend(e, latcher) || !tally_has(e, latcher, master))
        return false;
    for (unsigned i = 0; i < e->config.masters; i++)
        if (latch_is_missing(e, latcher, i) &&
            latcher->at[master].asked_at < latcher->at[i].none_since)
            return true;
    return false;
}

static bool latch_wants(const struct engine *e, const struct latcher *latcher, unsigned master)
{
    const struct latched_at *at = &latcher->at[master];
    if (e->now < at->paused_until)
        return false;
    if (latcher->call == LATCH_CREATE)
        return latch_wants_to_make(e, latcher, master);
    if (e->now >= at->due || (latcher->verified_from && at->asked_at < latcher->verified_from))
        return true;
    if (!tally_has(e, latcher, master))
        return latch_can_be_mended(e, latcher, master);
    return (latcher->arrival[0] && !at->arrived_at) || (latcher->decided && !at->opened_at) ||
           latch_is_read_again(e, latcher, master);
}

static void latch_ask(struct engine *e, struct latcher *latcher, unsigned master)
{
    struct latched_at *at = &latcher->at[master];
    at->due = e->now + latch_asks_again_after(e, master);
    at->carries_arrival = at->mends = at->clears = false;
    if (latcher->call == LATCH_CREATE)
        latch_make(e, latcher, master);
    else if (latch_can_be_mended(e, latcher, master) && at->stands == LATCHED_SHUT)
        latch_clear(e, latcher, master);
    else if (latch_can_be_mended(e, latcher, master))
        latch_mend(e, latcher, master);
    else
        latch_read(e, latcher, master);
}

static usec latch_next_look(const struct latched_at *at)
{
    return at->due > at->paused_until ? at->due : at->paused_until;
}

void latch_ask_all(struct engine *e, struct latcher *latcher)
{
    usec next = e->now < latcher->leaves_at ? latcher->leaves_at : latcher->gives_up_at;
    if (e->now < latcher->again_at && latcher->again_at < next)
        next = latcher->again_at;
    if (e->now < latcher->grace_until && latcher->grace_until < next)
        next = latcher->grace_until;
    for (unsigned i = 0; i < e->config.masters; i++) {
        if (!task_counts_on(e, i) || task_is_asking(&latcher->task, i))
            continue;
        if (latch_wants(e, latcher, i))
            latch_ask(e, latcher, i);
        else if (latch_next_look(&latcher->at[i]) > e->now &&
                 latch_next_look(&latcher->at[i]) < next)
            next = latch_next_look(&latcher->at[i]);
    }
    if (latcher->call == LATCH_AWAIT && latcher->wait)
        subscription_keep(e);
    task_wake_at(e, &latcher->task, next);
}

bool latch_is_answered(const struct engine *e, const struct latcher *latcher)
{
    for (unsigned i = 0; i < e->config.masters; i++)
        if (task_awaits(e, i) || (task_counts_on(e, i) && (task_is_asking(&latcher->task, i) ||
                                                           latch_wants(e, latcher, i))))
            return false;
    return true;
}

/* Each that votes, or may soon, has answered this call once. */
static bool latch_all_were_heard(const struct engine *e, const struct latcher *latcher)
{
    for (unsigned i = 0; i < e->config.masters; i++) {
        const struct latched_at *at = &latcher->at[i];
        if (task_awaits(e, i) || (task_counts_on(e, i) && !at->answered && !at->paused_until))
            return false;
    }
    return true;
}

bool latch_is_mending(const struct engine *e, const struct latcher *latcher)
{
    if (e->now >= latcher->gives_up_at)
        return false;
    if (e->now < latcher->grace_until && !latch_all_were_heard(e, latcher))
        return true;
    for (unsigned i = 0; i < e->config.masters; i++)
        if ((latcher->at[i].mends && task_is_asking(&latcher->task, i)) ||
            (latch_may_mend(e, latcher) && latch_is_missing(e, latcher, i)))
            return true;
    return false;
}

/* ---- taking it away ----------------------------------------------------------------- */

/* In full: a client that drops it may close next, and could not send a forgotten script again. */
void latch_drop(struct engine *e, struct latcher *latcher, unsigned master)
{
    const struct latched_at *at = &latcher->at[master];
    const char *id = at->clears ? at->record.id : latcher->record.id;
    usec age = at->clears && !at->is_young ? latch_old_age(e) : 0;
    task_send(e, &latcher->task, master,
              &(struct request){.tag = {.kind = REQUEST_DROP},
                                .whole = true,
                                .drop = {.id = slice_of(id), .age_ms = age / 1000}});
}

void latch_withdraw(struct engine *e, struct latcher *latcher)
{
    for (unsigned i = 0; i < e->config.masters; i++)
        if (latcher->touched >> i & 1 && master_is_up(&e->masters[i])) {
            latcher->at[i].clears = false;
            latch_drop(e, latcher, i);
        }
}
