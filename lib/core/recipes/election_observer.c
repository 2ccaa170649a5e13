/*
 * election_observer.c - asks all masters what is said of a name, and hears their pushes.
 */
#include <stdio.h>

#include "ground/sanity.h"
#include "masters/master.h"
#include "masters/subscription.h"
#include "recipes/election.h"
#include "recipes/task.h"

#define AFTER_ERROR MS(1000)

/* The last word of a master, as far as an observer knows. */
struct heard {
    bool known;            /* something, or that nothing is said */
    struct saying *saying; /* NULL: nothing */
    usec asked_at;         /* it was so at some time after that; 0: a push says so */
    usec expires;          /* it is not known any more from then on */
    bool overtaken;        /* since it was asked, a push came, or pushes have begun to be heard */
    usec answered;         /* send time of the last answered request, well or not; 0: ask now */
    usec due;              /* it is asked again then */
};

struct observer {
    struct task task;
    enum observed state, told;       /* known now, and last told to the user by the shell */
    struct saying *said, *said_told; /* likewise; NULL unless SAID */
    enum cause cause, cause_told;    /* likewise, of UNKNOWN: what is wrong with the list */
    usec latest_term;                /* of the last that was SAID; 0: none was */
    int64_t latest_number;
    usec verified_from; /* nothing asked before counts for what is to replace the state; 0: the
                           state stands */
    char trouble[VOTE_TEXT_MAX]; /* the last error of a master that answers with one still, or "" */
    uint8_t troubled;            /* that master */
    struct heard of[];
};

static struct observer *observer_of(struct task *task)
{
    return (struct observer *)(void *)task;
}

/* ---- what is known of one master --------------------------------------------------- */

static void heard_forget(struct engine *e, struct heard *heard)
{
    saying_drop(&e->memory, heard->saying);
    heard->saying = NULL;
    heard->known = false;
    heard->answered = 0; /* what it says now is yet to be asked */
}

/* Each saying is in memory once. */
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

/* ---- what the masters say in all --------------------------------------------------- */

/* A master that abstains may have come up with what was said before something else. */
static bool observer_counts_on(const struct engine *e, unsigned master)
{
    return task_counts_on(e, master);
}

static bool verdict_is_known(const struct engine *e, const struct observer *observer,
                             unsigned master, usec from)
{
    const struct heard *heard = &observer->of[master];
    return observer_counts_on(e, master) && heard->known && heard->asked_at >= from;
}

/* The number of masters that say so. */
static unsigned verdict_count(const struct engine *e, const struct observer *observer,
                              const struct saying *saying)
{
    unsigned count = 0;
    for (unsigned i = 0; saying && i < e->config.masters; i++)
        count +=
            observer_counts_on(e, i) && observer->of[i].known && observer->of[i].saying == saying;
    return count;
}

/* An observer reports nothing that was said before its last report. */
static bool verdict_may_be_told(const struct observer *observer, const struct saying *saying)
{
    if (!observer->latest_term)
        return true;
    struct said latest = {.term = observer->latest_term, .number = observer->latest_number};
    struct said said = saying_said(saying);
    return said_order(&said, &latest) >= 0;
}

/* A quorum may say so, if those say it that are not known. */
static bool verdict_can_be_said(const struct engine *e, const struct observer *observer,
                                const struct saying *saying, usec from)
{
    unsigned most = 0;
    for (unsigned i = 0; i < e->config.masters; i++) {
        bool says =
            observer_counts_on(e, i) && observer->of[i].known && observer->of[i].saying == saying;
        most += says || !verdict_is_known(e, observer, i, from);
    }
    return most >= e->quorum;
}

/* A quorum of masters says so. */
static bool verdict_is_said(const struct engine *e, const struct observer *observer,
                            const struct saying *saying)
{
    return verdict_count(e, observer, saying) >= e->quorum;
}

static struct saying *verdict_find_said(const struct engine *e, const struct observer *observer)
{
    for (unsigned i = 0; i < e->config.masters; i++) {
        struct saying *saying = observer->of[i].saying;
        if (saying && verdict_is_said(e, observer, saying) && verdict_may_be_told(observer, saying))
            return saying;
    }
    return NULL;
}

static bool verdict_is_nothing(const struct engine *e, const struct observer *observer, usec from)
{
    unsigned known = 0;
    for (unsigned i = 0; i < e->config.masters; i++) {
        struct saying *saying = observer->of[i].saying;
        known += verdict_is_known(e, observer, i, from);
        if (saying && verdict_may_be_told(observer, saying) &&
            verdict_can_be_said(e, observer, saying, from))
            return false;
    }
    return known >= e->quorum;
}

struct verdict {
    enum observed state; /* SAID, NOTHING or UNKNOWN */
    struct saying *said;
};

/* Whether something is said, or is not, as far as was asked at `from` or later; 0: at any time. */
static struct verdict verdict_now(const struct engine *e, const struct observer *observer,
                                  usec from)
{
    struct saying *said = verdict_find_said(e, observer);
    if (said)
        return (struct verdict){OBSERVED_SAID, said};
    bool nothing = verdict_is_nothing(e, observer, from);
    return (struct verdict){nothing ? OBSERVED_NOTHING : OBSERVED_UNKNOWN, NULL};
}

/* No master will soon say more to what was asked since observer->verified_from. */
static bool verdict_is_last(const struct engine *e, const struct observer *observer)
{
    for (unsigned i = 0; i < e->config.masters; i++) {
        bool has_answered = observer->of[i].answered >= observer->verified_from;
        if (task_awaits(e, i) || (observer_counts_on(e, i) && !has_answered))
            return false;
    }
    return true;
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
        if (!master_is_up(&e->masters[i]) || task_is_asking(&observer->task, i))
            continue;
        if (observer_is_due(e, observer, i))
            observer_ask(e, observer, i, TASK_TOLD_FOR);
        else if (heard->due < next)
            next = heard->due;
    }
    if (!e->config.looks_only)
        subscription_keep(e);
    task_wake_at(e, &observer->task, next);
}

/* ---- what follows from it ------------------------------------------------------------- */

static bool observer_has_news(const struct observer *observer)
{
    return observer->state != observer->told || observer->said != observer->said_told ||
           observer->cause != observer->cause_told;
}

static void observer_conclude(struct engine *e, struct observer *observer, enum observed state,
                              struct saying *said)
{
    saying_drop(&e->memory, observer->said);
    observer->said = said ? saying_share(said) : NULL;
    observer->state = state;
    observer->cause = e->misconfigured;
    observer->verified_from = 0;
    if (said) {
        observer->latest_term = said->term;
        observer->latest_number = said->number;
    }
    if (observer_has_news(observer))
        task_tell_news(e, &observer->task);
}

/* Only answers to questions after it first seemed so show that nothing is said, or is not known.
 * Otherwise a change of leaders, heard of from one master after the other, would look like that. */
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
    if (verdict.state == observer->state && !observer->cause) {
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

static void observer_work(struct engine *e, struct task *task)
{
    struct observer *observer = observer_of(task);
    observer_expire(e, observer);
    observer_judge(e, observer);
    observer_ask_all(e, observer);
}

/* ---- what happens ---------------------------------------------------------------------- */

/* A push since the question was asked may be newer than the answer. */
static bool heard_says_less(const struct heard *heard, const struct said *said)
{
    return heard->saying && (!said->term || heard_is_later(heard, said));
}

static void observer_take(struct engine *e, struct observer *observer, unsigned master,
                          const struct reply *reply)
{
    struct heard *heard = &observer->of[master];
    const struct said *said = &reply->said;
    heard->due = e->now + task_looks_after(e, master);
    if (heard->overtaken && heard_says_less(heard, said))
        return;
    observer_keep(e, observer, master, said, reply->tag.sent_at);
    if (!heard->known) /* memory is out */
        heard->due = e->now + AFTER_ERROR;
}

static void observer_end_trouble(struct observer *observer, unsigned master)
{
    if (observer->troubled == master)
        observer->trouble[0] = '\0';
}

static void observer_hear(struct engine *e, struct task *task, unsigned master,
                          const struct reply *reply)
{
    struct observer *observer = observer_of(task);
    struct heard *heard = &observer->of[master];
    heard->due = e->now + AFTER_ERROR;
    observer_end_trouble(observer, master);
    if (reply->answer == ANSWER_YES || reply->answer == ANSWER_ABSENT)
        observer_take(e, observer, master, reply);
    if (reply->answer == ANSWER_ERROR) { /* what it said before is not what it says */
        heard_forget(e, heard);
        observer->troubled = (uint8_t)master;
        snprintf(observer->trouble, sizeof observer->trouble, "%s", reply->text.bytes);
    }
    if (heard->overtaken || task_needs_text(task, master))
        heard->due = 0; /* it is asked again, and this was no answer */
    else
        heard->answered = reply->tag.sent_at;
}

static void observer_forget(struct engine *e, struct task *task, unsigned master)
{
    struct observer *observer = observer_of(task);
    struct heard *heard = &observer->of[master];
    heard_forget(e, heard);
    heard->due = 0;
    observer_end_trouble(observer, master);
}

static void observer_look(struct engine *e, struct task *task, unsigned master,
                          const struct said *said)
{
    struct observer *observer = observer_of(task);
    struct heard *heard = &observer->of[master];
    bool is_taken_back = said && !said->term; /* or it was so before something that is known */
    if (is_taken_back)
        heard_forget(e, heard);
    if (!said || is_taken_back)
        heard->due = 0;
    else if (!heard_is_later(heard, said))
        observer_keep(e, observer, master, said, 0);
    heard->overtaken = task_is_asking(task, master);
}

/* The masters need not tell it of changes any more. */
static void observer_drop(struct engine *e, struct task *task)
{
    bool writes = !e->config.looks_only && !task_looks_at(e, task->names);
    for (unsigned i = 0; i < e->config.masters && writes; i++)
        if (master_is_up(&e->masters[i]))
            observer_ask(e, observer_of(task), i, 0);
}

static bool observer_tell(struct engine *e, struct task *task, struct task_news *news)
{
    struct observer *observer = observer_of(task);
    if (!observer_has_news(observer))
        return false;
    if (observer->said && !verdict_is_said(e, observer, observer->said))
        return false; /* it was so: what follows from that is being asked */
    saying_drop(&e->memory, observer->said_told);
    observer->said_told = observer->said ? saying_share(observer->said) : NULL;
    observer->told = observer->state;
    observer->cause_told = observer->cause;
    news->observer = (struct observer_news){.observed = observer->state,
                                            .said = observer->said ? saying_said(observer->said)
                                                                   : (struct said){0},
                                            .masters = verdict_count(e, observer, observer->said),
                                            .cause = observer->cause,
                                            .trouble = observer->trouble};
    return true;
}

static void observer_free(struct engine *e, struct task *task)
{
    struct observer *observer = observer_of(task);
    for (unsigned i = 0; i < e->config.masters; i++)
        heard_forget(e, &observer->of[i]);
    saying_drop(&e->memory, observer->said);
    saying_drop(&e->memory, observer->said_told);
}

/* Its user has heard what the former one told, so it begins there: that is verified like anything
 * that was known before.  News that the former one has not told is heard of again. */
static bool observer_inherit(struct engine *e, struct task *task, const struct task *former)
{
    struct observer *observer = observer_of(task);
    const struct observer *was = (const struct observer *)(const void *)former;
    observer->latest_term = was->latest_term;
    observer->latest_number = was->latest_number;
    observer->state = observer->told = was->told;
    observer->cause = observer->cause_told = was->cause_told;
    if (!was->said_told)
        return true;
    struct said said = saying_said(was->said_told);
    observer->said_told = saying_new(&e->memory, &said);
    observer->said = observer->said_told ? saying_share(observer->said_told) : NULL;
    return observer->said_told;
}

static const struct task_kind OBSERVER = {.size = sizeof(struct observer),
                                          .each = sizeof(struct heard),
                                          .work = observer_work,
                                          .hear = observer_hear,
                                          .forget = observer_forget,
                                          .look = observer_look,
                                          .inherit = observer_inherit,
                                          .drop = observer_drop,
                                          .free = observer_free,
                                          .tell = observer_tell};

struct task *observer_new(struct engine *e, struct names *names, void *owner)
{
    return task_new(e, &OBSERVER, names, owner);
}
