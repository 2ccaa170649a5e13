/*
 * election_observer.c - asks all masters what is said of a name, and hears their pushes.
 */
#include <stdio.h>

#include "ground/mutant.h"
#include "ground/sanity.h"
#include "masters/master.h"
#include "masters/subscription.h"
#include "recipes/election.h"
#include "recipes/election_verdict.h"

#define LOOKS_SUBSCRIBED MS(5000) /* a push may be lost */
#define LOOKS            MS(1000) /* where the master sends none, or does not answer well */
#define TOLD_FOR         (3 * LOOKS_SUBSCRIBED / 1000)

struct task *observer_new(struct engine *e, struct names *names, void *owner)
{
    return task_new(e, TASK_OBSERVER, sizeof(struct observer), sizeof(struct heard), names, owner);
}

/* ---- what is known of one master --------------------------------------------------- */

static void heard_forget(struct engine *e, struct heard *heard)
{
    saying_drop(&e->memory, heard->saying);
    heard->saying = NULL;
    heard->known = false;
    heard->answered = 0; /* what it says now is yet to be asked */
}

/* The same saying is in memory once. */
static struct saying *observer_find(const struct engine *e, const struct observer *observer,
                                    const struct said *said)
{
    struct saying *own[] = {observer->said, observer->said_told};
    for (unsigned i = 0; i < 2; i++)
        if (own[i] && saying_is(own[i], said))
            return saying_share(own[i]);
    for (unsigned i = 0; i < e->config.masters; i++)
        if (observer->of[i].saying && saying_is(observer->of[i].saying, said))
            return saying_share(observer->of[i].saying);
    return NULL;
}

/* `since`: at some time after that the master says so; 0: it is a push, and may be old. */
static void observer_keep(struct engine *e, struct observer *observer, unsigned master,
                          const struct said *said, usec since)
{
    struct heard *heard = &observer->of[master];
    struct saying *saying = NULL;
    if (said->term) {
        saying = observer_find(e, observer, said);
        if (!saying)
            saying = saying_new(&e->memory, said);
    }
    heard_forget(e, heard);
    heard->known = saying || !said->term; /* else memory is out */
    heard->saying = saying;
    heard->asked_at = since;
    heard->expires = said->term ? e->now + MS(said->remaining_ms) : NEVER;
}

static bool heard_is_later(const struct heard *heard, const struct said *said)
{
    if (!heard->saying)
        return false;
    struct said known = saying_said(heard->saying);
    return said_order(&known, said) > 0;
}

/* ---- asking ------------------------------------------------------------------------- */

static void observer_ask(struct engine *e, struct observer *observer, unsigned master,
                         int64_t told_for_ms)
{
    bool writes = !e->config.looks_only;
    observer->of[master].overtaken = false;
    task_send(e, &observer->task, master,
              &(struct request){.tag = {.kind = REQUEST_OBSERVE},
                                .ttl_ms = told_for_ms,
                                .channel = writes ? e->config.channel : NULL});
}

static bool observer_is_due(const struct engine *e, const struct observer *observer,
                            unsigned master)
{
    const struct heard *heard = &observer->of[master];
    return e->now >= heard->due ||
           (observer->verified_from && heard->answered < observer->verified_from);
}

static void observer_expire(struct engine *e, struct observer *observer)
{
    for (unsigned i = 0; i < e->config.masters; i++) {
        struct heard *heard = &observer->of[i];
        if (heard->known && e->now >= heard->expires) {
            heard_forget(e, heard);
            heard->due = 0;
        }
    }
}

static void observer_ask_all(struct engine *e, struct observer *observer)
{
    usec next = NEVER;
    for (unsigned i = 0; i < e->config.masters; i++) {
        struct heard *heard = &observer->of[i];
        if (heard->known && heard->expires < next)
            next = heard->expires;
        if (!master_is_up(&e->masters[i]) || observer->task.outstanding & 1U << i)
            continue;
        if (observer_is_due(e, observer, i))
            observer_ask(e, observer, i, TOLD_FOR);
        else if (heard->due < next)
            next = heard->due;
    }
    if (!e->config.looks_only)
        subscription_keep(e);
    task_wake_at(e, &observer->task, next);
}

/* ---- what follows from it ------------------------------------------------------------- */

static void observer_conclude(struct engine *e, struct observer *observer, enum observed state,
                              struct saying *said)
{
    saying_drop(&e->memory, observer->said);
    observer->said = said ? saying_share(said) : NULL;
    observer->state = state;
    observer->verified_from = 0;
    if (said) {
        observer->latest_term = said->term;
        observer->latest_number = said->number;
    }
    if (state != observer->told || observer->said != observer->said_told)
        task_has_news(e, &observer->task);
}

/* That nothing is said, or is not known, is concluded from questions alone that were asked after
 * it first seemed so: else a change of leaders, heard of from one master after the other, would
 * look like it. */
static void observer_judge(struct engine *e, struct observer *observer)
{
    struct verdict verdict = verdict_now(e, observer, 0);
    if (e->misconfigured) {
        observer_conclude(e, observer, OBSERVED_UNKNOWN, NULL);
        return;
    }
    if (verdict.state == OBSERVED_SAID) {
        observer_conclude(e, observer, OBSERVED_SAID, verdict.said);
        return;
    }
    if (verdict.state == observer->state) {
        observer->verified_from = 0;
        return;
    }
    if (!observer->verified_from)
        observer->verified_from = e->now;
    verdict = verdict_now(e, observer, observer->verified_from);
    if (verdict.state == OBSERVED_NOTHING ||
        (verdict.state == OBSERVED_UNKNOWN && verdict_is_last(e, observer)))
        observer_conclude(e, observer, verdict.state, NULL);
}

void observer_work(struct engine *e, struct observer *observer)
{
    observer_expire(e, observer);
    observer_judge(e, observer);
    observer_ask_all(e, observer);
}

/* ---- what happens ---------------------------------------------------------------------- */

/* What was pushed since the question was asked may be newer than the answer. */
static bool heard_says_less(const struct heard *heard, const struct said *said)
{
    return heard->saying && (!said->term || heard_is_later(heard, said));
}

static void observer_take(struct engine *e, struct observer *observer, unsigned master,
                          const struct reply *reply)
{
    struct heard *heard = &observer->of[master];
    const struct said *said = &reply->said;
    bool subscribed = subscription_is_to_same_process(e, master);
    heard->due = e->now + (subscribed ? LOOKS_SUBSCRIBED : LOOKS);
    if (heard->overtaken && heard_says_less(heard, said))
        return;
    observer_keep(e, observer, master, said, reply->tag.sent_at);
    if (!heard->known) /* memory is out */
        heard->due = e->now + LOOKS;
}

static void observer_end_trouble(struct observer *observer, unsigned master)
{
    if (observer->troubled == master)
        observer->trouble[0] = '\0';
}

void observer_hear(struct engine *e, struct observer *observer, unsigned master,
                   const struct reply *reply)
{
    struct heard *heard = &observer->of[master];
    heard->due = e->now + LOOKS;
    observer_end_trouble(observer, master);
    if (reply->answer == ANSWER_YES || reply->answer == ANSWER_ABSENT)
        observer_take(e, observer, master, reply);
    if (reply->answer == ANSWER_ERROR) { /* what it said before is not what it says */
        heard_forget(e, heard);
        observer->troubled = (uint8_t)master;
        snprintf(observer->trouble, sizeof observer->trouble, "%s", reply->text.bytes);
    }
    if (heard->overtaken || task_needs_text(&observer->task, master))
        heard->due = 0; /* it is asked again, and this was no answer */
    else
        heard->answered = reply->tag.sent_at;
    observer_work(e, observer);
}

static void observer_mark_overtaken(struct observer *observer, unsigned master)
{
    observer->of[master].overtaken = observer->task.outstanding >> master & 1;
}

void observer_subscribed(struct engine *e, struct observer *observer, unsigned master)
{
    observer_mark_overtaken(observer, master);
    observer->of[master].due = 0;
    observer_work(e, observer);
}

void observer_forget(struct engine *e, struct observer *observer, unsigned master)
{
    struct heard *heard = &observer->of[master];
    heard_forget(e, heard);
    heard->due = 0;
    observer_end_trouble(observer, master);
}

void observer_push(struct engine *e, struct observer *observer, unsigned master,
                   const struct said *said)
{
    struct heard *heard = &observer->of[master];
    if (!said->term) { /* taken back, or it was so before something that is known */
        heard_forget(e, heard);
        heard->due = 0;
    } else if (!heard_is_later(heard, said)) {
        observer_keep(e, observer, master, said, 0);
    }
    observer_mark_overtaken(observer, master);
    observer_work(e, observer);
}

void observer_end(struct engine *e, struct observer *observer)
{
    for (unsigned i = 0; i < e->config.masters && !e->config.looks_only; i++)
        if (master_is_up(&e->masters[i]))
            observer_ask(e, observer, i, 0);
}

bool observer_tell(struct engine *e, struct observer *observer, struct task_news *news)
{
    if (observer->state == observer->told && observer->said == observer->said_told)
        return false;
    if (observer->said && !verdict_is_said(e, observer, observer->said))
        return false; /* it was so: what follows from that is being asked */
    saying_drop(&e->memory, observer->said_told);
    observer->said_told = observer->said ? saying_share(observer->said) : NULL;
    observer->told = observer->state;
    news->observed = observer->state;
    news->cause = e->misconfigured;
    news->trouble = observer->trouble;
    if (observer->said)
        news->said = saying_said(observer->said);
    news->masters = verdict_count(e, observer, observer->said);
    return true;
}

void observer_free(struct engine *e, struct observer *observer)
{
    for (unsigned i = 0; i < e->config.masters; i++)
        heard_forget(e, &observer->of[i]);
    saying_drop(&e->memory, observer->said);
    saying_drop(&e->memory, observer->said_told);
    e->memory.give(e->memory.pool, observer,
                   sizeof *observer + e->config.masters * sizeof *observer->of);
}
