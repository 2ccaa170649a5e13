/*
 * wish_asker.c - tells the holder of a name that somebody wishes to have it.
 *
 * Each master reads who holds the name, keeps the wish for that token, and tells those who heed.
 * Nothing is taken from the holder.  A wish has one id on all masters, however often it is said.
 */
#include <stdio.h>
#include <string.h>

#include "ground/sanity.h"
#include "masters/master.h"
#include "recipes/task.h"
#include "recipes/wish.h"

#define AFTER_ERROR MS(1000)
#define UNDECIDED   MS(200)  /* the name changes hands: it is asked again soon */
#define AGAIN       MS(5000) /* the holder may be another one */

struct asked_at {
    usec due;      /* it is asked again then */
    usec answered; /* send time of the last request that was answered, well or not; 0: none */
    bool held, absent;
    bool heard; /* that holder heeds */
    unsigned waiting;
    char holder[TOKEN_MAX + 1]; /* that it named last, as much as fits; "": none */
};

struct asker {
    struct task task;
    usec id, wait;
    usec until; /* then it tells how it went */
    bool again;
    enum ask_end end;
    enum cause cause;
    size_t length;
    char words[WISH_WORDS_MAX];
    struct asked_at at[];
};

static struct asker *asker_of(struct task *task)
{
    return (struct asker *)(void *)task;
}

/* ---- how it stands --------------------------------------------------------------------- */

static unsigned asker_count_held(const struct engine *e, const struct asker *asker)
{
    unsigned count = 0;
    for (unsigned i = 0; i < e->config.masters; i++)
        count += asker->at[i].held;
    return count;
}

/* The holder that more masters name than any other. */
static const char *asker_holder(const struct engine *e, const struct asker *asker, unsigned *on)
{
    const char *best = "";
    *on = 0;
    for (unsigned i = 0; i < e->config.masters; i++) {
        unsigned same = 0;
        for (unsigned j = 0; asker->at[i].holder[0] && j < e->config.masters; j++)
            same += strcmp(asker->at[i].holder, asker->at[j].holder) == 0;
        if (same > *on) {
            *on = same;
            best = asker->at[i].holder;
        }
    }
    return best;
}

/* This holder.  None if those that say so may all be wrong: it would not believe them either. */
static unsigned asker_count_heeding(const struct engine *e, const struct asker *asker)
{
    unsigned count = 0, on;
    const char *holder = asker_holder(e, asker, &on);
    for (unsigned i = 0; i < e->config.masters; i++)
        count += asker->at[i].heard && strcmp(asker->at[i].holder, holder) == 0;
    return count > e->config.spare ? count : 0;
}

/* A master that abstains may have forgotten the holder. */
static unsigned asker_count_absent(const struct engine *e, const struct asker *asker)
{
    unsigned count = 0;
    for (unsigned i = 0; i < e->config.masters; i++)
        count += asker->at[i].absent && task_counts_on(e, i);
    return count;
}

/* Some master was asked, and has yet to answer for the first time. */
static bool asker_awaits_any(const struct engine *e, const struct asker *asker)
{
    for (unsigned i = 0; i < e->config.masters; i++)
        if (master_is_up(&e->masters[i]) && !asker->at[i].answered)
            return true;
    return false;
}

/* No master that may be asked has yet to answer for the first time. */
static bool asker_heard_all(const struct engine *e, const struct asker *asker)
{
    for (unsigned i = 0; i < e->config.masters; i++)
        if (task_awaits(e, i))
            return false;
    return !asker_awaits_any(e, asker);
}

/* A holder may have let go at once.  Then a master has told it, and that answer may come last. */
static enum ask_end asker_end(const struct engine *e, const struct asker *asker)
{
    bool is_over = e->now >= asker->until && (asker->wait || asker_heard_all(e, asker));
    if (asker_count_held(e, asker) >= e->quorum)
        return ASK_TOLD;
    if (asker->again)
        return ASK_PENDING;
    if (asker_count_absent(e, asker) >= e->quorum && (is_over || !asker_awaits_any(e, asker)))
        return asker_count_heeding(e, asker) ? ASK_TOLD : ASK_FREE;
    return is_over || e->misconfigured ? ASK_UNKNOWN : ASK_PENDING;
}

static void asker_judge(struct engine *e, struct asker *asker)
{
    if (asker->end)
        return;
    asker->end = asker_end(e, asker);
    if (!asker->end)
        return;
    if (asker->end == ASK_UNKNOWN)
        asker->cause = e->misconfigured;
    if (asker->again)
        task_tell_news(e, &asker->task);
    else
        task_conclude(e, &asker->task);
}

/* ---- asking ---------------------------------------------------------------------------- */

static usec asker_draw_id(struct engine *e)
{
    while (!e->wisher) {
        ASSERT(e->random && e->random->left >= sizeof e->wisher);
        memcpy(&e->wisher, e->random->bytes, sizeof e->wisher);
        e->random->bytes += sizeof e->wisher;
        e->random->left -= sizeof e->wisher;
        e->wisher = (e->wisher | 1) & ((UINT32_C(1) << WISH_CLIENT_BITS) - 1);
    }
    uint32_t count = e->wishes++ & ((UINT32_C(1) << WISH_COUNT_BITS) - 1);
    return (usec)e->wisher << WISH_COUNT_BITS | count;
}

static void asker_begin(struct engine *e, struct task *task)
{
    struct asker *asker = asker_of(task);
    if (!asker->id)
        asker->id = asker_draw_id(e);
    asker->until = asker->wait == NEVER ? NEVER : e->now + asker->wait;
}

static void asker_ask(struct engine *e, struct asker *asker, unsigned master)
{
    task_send(e, &asker->task, master,
              &(struct request){.tag = {.kind = REQUEST_ASK},
                                .ttl_ms = WISH_LIFE,
                                .ask = {.id = asker->id,
                                        .words = {asker->words, asker->length},
                                        .least = asker->again}});
}

static void asker_work(struct engine *e, struct task *task)
{
    struct asker *asker = asker_of(task);
    asker_judge(e, asker);
    usec next = e->now >= asker->until ? NEVER : asker->until;
    for (unsigned i = 0; i < e->config.masters && !task->over; i++) {
        struct asked_at *at = &asker->at[i];
        if (!master_is_up(&e->masters[i]) || task_is_asking(task, i))
            continue;
        if (e->now >= at->due)
            asker_ask(e, asker, i);
        else if (at->due < next)
            next = at->due;
    }
    task_wake_at(e, task, task->over ? NEVER : next);
}

/* ---- what happens ------------------------------------------------------------------------ */

static void asker_take(struct asked_at *at, const struct reply *reply)
{
    const struct heed_reply *heed = &reply->heed;
    at->held = reply->answer == ANSWER_HELD;
    at->absent = reply->answer == ANSWER_ABSENT;
    if (!at->held)
        return;
    at->waiting = heed->waiting;
    at->heard = heed->heeding > 0;
    snprintf(at->holder, sizeof at->holder, "%.*s", (int)heed->value.length, heed->value.bytes);
}

static void asker_hear(struct engine *e, struct task *task, unsigned master,
                       const struct reply *reply)
{
    struct asker *asker = asker_of(task);
    struct asked_at *at = &asker->at[master];
    bool is_answer = reply->answer == ANSWER_HELD || reply->answer == ANSWER_ABSENT;
    asker_take(at, reply);
    if (task_needs_text(task, master)) {
        at->due = 0;
        return;
    }
    at->answered = reply->tag.sent_at;
    at->due = e->now + (asker->again ? AGAIN : is_answer ? UNDECIDED : AFTER_ERROR);
}

static void asker_forget(struct engine *e, struct task *task, unsigned master)
{
    (void)e;
    asker_of(task)->at[master] = (struct asked_at){0};
}

static void asker_leave(struct engine *e, struct task *task, enum cause cause)
{
    struct asker *asker = asker_of(task);
    if (asker->end) { /* it has told all that it has to tell */
        task->over = true;
        task_wake_at(e, task, NEVER);
        return;
    }
    asker->end = ASK_UNKNOWN;
    asker->cause = cause;
    task_conclude(e, task);
}

static bool asker_tell(struct engine *e, struct task *task, struct task_news *news)
{
    const struct asker *asker = asker_of(task);
    ASSERT(asker->end);
    news->asker = (struct asker_news){.end = asker->end, .cause = asker->cause, .holder = ""};
    if (asker->end != ASK_FREE)
        news->asker.holder = asker_holder(e, asker, &news->asker.on);
    news->asker.heeding = asker_count_heeding(e, asker);
    for (unsigned i = 0; i < e->config.masters; i++) {
        const struct asked_at *at = &asker->at[i];
        news->asker.answered += at->held || at->absent;
        if (at->waiting > news->asker.waiting)
            news->asker.waiting = at->waiting;
    }
    return true;
}

static void asker_free(struct engine *e, struct task *task)
{
    (void)e, (void)task;
}

/* The wishes of the former client are ours from now on. */
static void asker_take_over(struct engine *e, usec id)
{
    if (wish_is_ours(e, id))
        return;
    memmove(e->former_wishers + 1, e->former_wishers,
            sizeof e->former_wishers - sizeof *e->former_wishers);
    e->former_wishers[0] = (uint32_t)(id >> WISH_COUNT_BITS);
}

static bool asker_inherit(struct engine *e, struct task *task, const struct task *former)
{
    struct asker *asker = asker_of(task);
    const struct asker *was = (const struct asker *)(const void *)former;
    asker_take_over(e, was->id);
    asker->id = was->id;
    asker->wait = was->wait;
    asker->again = was->again;
    asker->end = was->again ? was->end : ASK_PENDING;
    asker->length = was->length;
    memcpy(asker->words, was->words, was->length);
    return true;
}

static const struct task_kind ASKER = {.size = sizeof(struct asker),
                                       .each = sizeof(struct asked_at),
                                       .begin = asker_begin,
                                       .work = asker_work,
                                       .hear = asker_hear,
                                       .forget = asker_forget,
                                       .leave = asker_leave,
                                       .inherit = asker_inherit,
                                       .free = asker_free,
                                       .tell = asker_tell};

struct task *asker_new(struct engine *e, struct names *names, const struct asker_terms *terms,
                       void *owner)
{
    struct task *task = task_new(e, &ASKER, names, owner);
    if (!task)
        return NULL;
    struct asker *asker = asker_of(task);
    const char *label = e->config.label[0] ? e->config.label : "-";
    ASSERT(terms->text.length <= WISH_TEXT_MAX);
    asker->wait = terms->wait;
    asker->again = terms->again;
    int who = snprintf(asker->words, sizeof asker->words, "%s ", label);
    memcpy(asker->words + who, terms->text.bytes, terms->text.length);
    asker->length = (size_t)who + terms->text.length;
    return task;
}
