/*
 * barrier.c - arrives at a barrier on all masters, waits there until all parties have, and leaves.
 *
 * A master counts it until its ttl is over, and opens when it counts enough parties at one time;
 * from then on it takes nobody off.  A party passes when enough parties are each on a quorum of
 * open masters, and a quorum has stored that.  It leaves by asking them to count it no more:
 * doc/design/barriers.md has the reasons.
 */
#include <string.h>

#include "ground/token.h"
#include "masters/master.h"
#include "masters/subscription.h"
#include "recipes/barrier.h"

#define AFTER_ERROR MS(200)

static struct party *party_of(struct task *task)
{
    return (struct party *)(void *)task;
}

static void party_begin(struct engine *e, struct task *task)
{
    struct party *party = party_of(task);
    if (!party->leaves_at)
        party->leaves_at = party->terms.wait == NEVER ? NEVER : e->now + party->terms.wait;
    if (!party->token_length) {
        token_draw(e, party->token);
        memcpy(party->token + TOKEN_TEXT, e->label, e->label_length);
        party->token_length = TOKEN_TEXT + e->label_length;
    }
}

/* ---- asking ---------------------------------------------------------------------- */

static enum errand party_errand(const struct party *party)
{
    if (party->decided)
        return ERRAND_TELL_PASSED;
    return party->gives_up_at ? ERRAND_DEPART : ERRAND_ARRIVE;
}

/* The master's word must not grow old while the party waits. */
static usec party_asks_again_after(const struct engine *e, const struct party *party)
{
    usec lasts = task_word_lasts(e);
    return (party->terms.ttl < lasts ? party->terms.ttl : lasts) / 3;
}

static unsigned party_count_touched(const struct engine *e, const struct party *party)
{
    unsigned count = 0;
    for (unsigned i = 0; i < e->config.masters; i++)
        count += party->touched >> i & 1;
    return count;
}

static void party_arrive(struct engine *e, struct party *party, unsigned master, bool passed)
{
    uint16_t bit = (uint16_t)(1U << master);
    party->touched |= bit;
    if (party->heard_until == NEVER && party_count_touched(e, party) >= e->quorum)
        party->heard_until = passage_heard_until(e, party, e->now);
    task_send(e, &party->task, master,
              &(struct request){.tag = {.kind = REQUEST_ARRIVE},
                                .token = party->token,
                                .token_length = party->token_length,
                                .ttl_ms = party->terms.ttl / 1000,
                                .channel = e->config.channel,
                                .barrier = {.generation = party->terms.generation,
                                            .parties = (uint16_t)party->terms.parties,
                                            .kept_ms = 2 * e->config.max_ttl_ms,
                                            .passed = passed}});
}

/* In full: a client that leaves may close next, and could not send a forgotten script again. */
static void party_depart(struct engine *e, struct party *party, unsigned master)
{
    task_send(e, &party->task, master,
              &(struct request){.tag = {.kind = REQUEST_DEPART},
                                .whole = true,
                                .token = party->token,
                                .token_length = party->token_length,
                                .barrier = {.generation = party->terms.generation,
                                            .parties = (uint16_t)party->terms.parties}});
}

static void party_ask(struct engine *e, struct party *party, unsigned master, enum errand errand)
{
    struct stood_at *at = &party->at[master];
    at->asked = errand;
    at->due = e->now + party_asks_again_after(e, party);
    if (errand == ERRAND_DEPART)
        party_depart(e, party, master);
    else
        party_arrive(e, party, master, errand == ERRAND_TELL_PASSED);
}

static bool party_wants(const struct engine *e, const struct party *party, unsigned master)
{
    const struct stood_at *at = &party->at[master];
    enum errand errand = party_errand(party);
    if (errand == ERRAND_DEPART && !(party->touched >> master & 1))
        return false;
    if (errand != at->carried)
        return true;
    return e->now >= at->due && (errand == ERRAND_ARRIVE || !party->gives_up_at);
}

static void party_ask_all(struct engine *e, struct party *party)
{
    usec next = party->leaves_at > e->now ? party->leaves_at : NEVER;
    if (party->gives_up_at)
        next = party->gives_up_at;
    else if (party->heard_until < next)
        next = party->heard_until;
    for (unsigned i = 0; i < e->config.masters; i++) {
        if (!task_counts_on(e, i) || task_is_asking(&party->task, i))
            continue;
        if (party_wants(e, party, i))
            party_ask(e, party, i, party_errand(party));
        else if (!party->gives_up_at && party->at[i].due < next)
            next = party->at[i].due;
    }
    if (!party->gives_up_at)
        subscription_keep(e);
    task_wake_at(e, &party->task, next);
}

/* No master will soon say more. */
static bool party_is_answered(const struct engine *e, const struct party *party)
{
    for (unsigned i = 0; i < e->config.masters; i++)
        if (task_awaits(e, i) ||
            (task_counts_on(e, i) && (task_is_asking(&party->task, i) || party_wants(e, party, i))))
            return false;
    return true;
}

/* ---- what follows ------------------------------------------------------------------ */

/* A master that is not connected counts it until its ttl is over. */
static void party_depart_all(struct engine *e, struct party *party)
{
    for (unsigned i = 0; i < e->config.masters; i++) {
        bool departs = party->at[i].asked == ERRAND_DEPART;
        if (party->touched >> i & 1 && !departs && master_is_up(&e->masters[i]))
            party_depart(e, party, i);
    }
}

/* Kept: it stays true, but what a master said does not count for long. */
static void party_note_over(const struct engine *e, struct party *party)
{
    party->cause = CAUSE_OVER;
    party->latest = passage_latest(e, party);
}

static void party_conclude(struct engine *e, struct party *party, enum passage passage)
{
    party->passage = passage;
    party->hears = passage_hears_quorum(e, party);
    if (passage != PASSAGE_PASSED && passage_is_over(e, party))
        party_note_over(e, party);
    if (passage != PASSAGE_PASSED)
        party_depart_all(e, party);
    task_conclude(e, &party->task);
}

static void party_begin_to_leave(struct engine *e, struct party *party, enum cause cause)
{
    if (party->gives_up_at)
        return;
    party->cause = cause;
    party->gives_up_at = e->now + task_word_lasts(e);
}

static void party_judge_leaving(struct engine *e, struct party *party)
{
    if (!party->decided && passage_is_left(e, party))
        party_conclude(e, party, PASSAGE_NOT);
    else if (e->now >= party->gives_up_at || party_is_answered(e, party))
        party_conclude(e, party, PASSAGE_UNKNOWN);
}

static void party_judge(struct engine *e, struct party *party)
{
    party->decided = party->decided || passage_is_decided(e, party);
    if (party->decided && passage_is_known(e, party))
        party_conclude(e, party, PASSAGE_PASSED);
    else if (party->gives_up_at)
        party_judge_leaving(e, party);
}

static void party_judge_staying(struct engine *e, struct party *party)
{
    if (e->misconfigured)
        party_begin_to_leave(e, party, e->misconfigured);
    party->unheard |= e->now >= party->heard_until;
    if (party->unheard)
        party_begin_to_leave(e, party, CAUSE_UNAVAILABLE);
    party->tried = party->tried || party_is_answered(e, party);
    if (party->tried && e->now >= party->leaves_at)
        party_begin_to_leave(e, party, CAUSE_NONE);
    if (!party->decided && passage_is_barred(e, party))
        party_begin_to_leave(e, party, CAUSE_HELD);
    if (!party->decided && passage_is_over(e, party)) {
        party_begin_to_leave(e, party, CAUSE_OVER);
        party_note_over(e, party);
    }
}

static void party_work(struct engine *e, struct task *task)
{
    struct party *party = party_of(task);
    party_judge_staying(e, party);
    party_judge(e, party);
    if (!party->passage)
        party_ask_all(e, party);
}

static void party_leave(struct engine *e, struct task *task, enum cause cause)
{
    party_begin_to_leave(e, party_of(task), cause);
}

static void party_give_up(struct engine *e, struct task *task)
{
    party_conclude(e, party_of(task), PASSAGE_UNKNOWN);
}

/* ---- answers ------------------------------------------------------------------------ */

/* It was counted there, or may have been, before that generation was passed; or has found by itself
 * that it was, and tells that. */
static bool party_was_there(const struct party *party, const struct stood_at *at)
{
    return party->comes_back || party->unheard || party->decided || at->has_counted;
}

static enum stand stand_of_over(const struct party *party, const struct stood_at *at,
                                const struct reply *reply)
{
    if (reply->barrier.latest < party->terms.generation)
        return STAND_UNKNOWN; /* a master that is wrong */
    bool is_this = reply->barrier.latest == party->terms.generation;
    bool is_of_as_many = reply->barrier.parties == party->terms.parties;
    return is_this && is_of_as_many && party_was_there(party, at) ? STAND_PASSED : STAND_OVER;
}

static enum stand stand_of(const struct party *party, const struct stood_at *at,
                           const struct reply *reply)
{
    switch (reply->answer) {
    case ANSWER_YES:
        return STAND_PASSED;
    case ANSWER_OPEN:
        return STAND_OPEN;
    case ANSWER_QUEUED:
        return STAND_WAITS;
    case ANSWER_ABSENT:
        return STAND_GONE;
    case ANSWER_HELD:
        return STAND_OTHER;
    case ANSWER_OVER:
        return stand_of_over(party, at, reply);
    default:
        return STAND_UNKNOWN;
    }
}

/* If memory is out there are none: it is asked again. */
static void party_keep_tokens(struct engine *e, struct stood_at *at, const struct reply *reply)
{
    if (at->stand == STAND_OPEN)
        lines_keep(&e->memory, &at->tokens, reply->barrier.tokens);
    else
        lines_drop(&e->memory, &at->tokens);
}

static void party_take(struct engine *e, struct party *party, unsigned master,
                       const struct reply *reply)
{
    struct stood_at *at = &party->at[master];
    at->stand = stand_of(party, at, reply);
    at->has_counted |= reply->answer == ANSWER_QUEUED || reply->answer == ANSWER_OPEN;
    at->latest = at->stand == STAND_OVER ? reply->barrier.latest : 0;
    at->asked_at = at->answered = reply->tag.sent_at;
    at->counted = reply->barrier.counted > at->counted ? reply->barrier.counted : at->counted;
    party_keep_tokens(e, at, reply);
    party->was_open |= at->stand == STAND_OPEN || at->stand == STAND_PASSED;
    if (at->stand == STAND_OTHER)
        party->others = reply->barrier.parties;
    usec until = party->heard_until;
    if (until != NEVER && !party->unheard && e->now < until)
        until = passage_heard_until(e, party, until - task_word_lasts(e));
    party->heard_until = until;
}

static void party_note_refusal(struct stood_at *at, const struct reply *reply)
{
    size_t length = reply->text.length < VOTE_TEXT_MAX ? reply->text.length : VOTE_TEXT_MAX - 1;
    if (length)
        memcpy(at->refusal, reply->text.bytes, length);
    at->refusal[length] = '\0';
}

static void party_hear_of_arrival(struct stood_at *at, const struct reply *reply, bool is_well)
{
    at->heard |= is_well;
    party_note_refusal(at, reply);
}

static void party_hear(struct engine *e, struct task *task, unsigned master,
                       const struct reply *reply)
{
    struct party *party = party_of(task);
    struct stood_at *at = &party->at[master];
    if (task_needs_text(task, master)) {
        at->carried = ERRAND_NONE;
        return;
    }
    bool is_well = stand_of(party, at, reply) != STAND_UNKNOWN;
    at->carried = at->asked;
    if (reply->tag.kind == REQUEST_ARRIVE)
        party_hear_of_arrival(at, reply, is_well);
    if (is_well)
        party_take(e, party, master, reply);
    else
        at->due = e->now + AFTER_ERROR;
}

static void party_forget(struct engine *e, struct task *task, unsigned master)
{
    (void)e;
    struct stood_at *at = &party_of(task)->at[master];
    at->stand = STAND_UNKNOWN;
    at->carried = at->asked = ERRAND_NONE;
    at->due = 0;
}

/* Also if a question is out: its answer may be from before. */
static void party_look(struct engine *e, struct task *task, unsigned master,
                       const struct said *said)
{
    (void)e, (void)said;
    party_of(task)->at[master].due = 0;
}

/* ---- it arrives again, with another engine ---------------------------------------------- */

/* No party passes that counted one which left for certain, so this is a new one.  Otherwise it is
 * the same one, which may have been counted, or may be still. */
static bool party_inherit(struct engine *e, struct task *task, const struct task *former)
{
    (void)e;
    struct party *party = party_of(task);
    const struct party *was = (const struct party *)(const void *)former;
    party->terms = was->terms;
    party->leaves_at = was->leaves_at;
    party->heard_until = NEVER;
    party->comes_back = was->passage != PASSAGE_NOT;
    party->token_length = party->comes_back ? was->token_length : 0;
    memcpy(party->token, was->token, party->token_length);
    return true;
}

/* ---- its end -------------------------------------------------------------------------- */

static void party_drop(struct engine *e, struct task *task)
{
    party_depart_all(e, party_of(task));
}

const char *party_refusal(const struct task *task, unsigned master)
{
    return ((const struct party *)(const void *)task)->at[master].refusal;
}

static bool party_tell(struct engine *e, struct task *task, struct task_news *news)
{
    const struct party *party = party_of(task);
    struct party_news told = {.passage = party->passage,
                              .cause = party->cause,
                              .hears = party->hears,
                              .others = party->cause == CAUSE_HELD ? party->others : 0,
                              .latest = party->passage == PASSAGE_PASSED ? 0 : party->latest,
                              .token = party->token};
    for (unsigned i = 0; i < e->config.masters; i++) {
        const struct stood_at *at = &party->at[i];
        told.answered += at->heard;
        told.arrived = at->counted > told.arrived ? at->counted : told.arrived;
    }
    bool reached_few = party->passage == PASSAGE_NOT && told.answered < e->quorum;
    if (!told.cause && reached_few)
        told.cause = CAUSE_UNAVAILABLE;
    news->party = told;
    return task->over;
}

static void party_free(struct engine *e, struct task *task)
{
    struct party *party = party_of(task);
    for (unsigned i = 0; i < e->config.masters; i++)
        lines_drop(&e->memory, &party->at[i].tokens);
}

static const struct task_kind PARTY = {.size = sizeof(struct party),
                                       .each = sizeof(struct stood_at),
                                       .begin = party_begin,
                                       .work = party_work,
                                       .hear = party_hear,
                                       .forget = party_forget,
                                       .look = party_look,
                                       .leave = party_leave,
                                       .inherit = party_inherit,
                                       .give_up = party_give_up,
                                       .drop = party_drop,
                                       .free = party_free,
                                       .tell = party_tell};

struct task *party_new(struct engine *e, struct names *names, const struct barrier_terms *terms,
                       const char *token, void *owner)
{
    struct task *task = task_new(e, &PARTY, names, owner);
    if (!task)
        return NULL;
    struct party *party = party_of(task);
    party->terms = *terms;
    party->heard_until = NEVER;
    party->comes_back = token != NULL;
    party->token_length = token ? strlen(token) : 0;
    ASSERT(party->token_length <= TOKEN_MAX);
    memcpy(party->token, token ? token : "", party->token_length);
    return task;
}
