/*
 * wish_heeder.c - hears of the wishes for a name while a lease holds it.
 *
 * The user hears of a wish once, when more masters tell it than may be wrong.  A wish that was said
 * to another token is none.  A lease may have its token from a lease of this client before it.  So
 * the heeder also leaves out what was said before it began.
 */
#include <string.h>

#include "lease/view.h"
#include "masters/master.h"
#include "masters/subscription.h"
#include "recipes/task.h"
#include "recipes/wish.h"

#define AFTER_ERROR MS(1000)
#define KNOWN_MOST  8  /* wishes of which masters tell now */
#define TOLD_MOST   64 /* wishes that the user does not hear of again */

struct wish {
    usec id; /* 0: none */
    uint16_t masters;
    bool untold;
    unsigned waiting;
    size_t length;
    char words[WISH_WORDS_MAX];
};

struct heeder {
    struct task task;
    usec since;     /* what was said before is left out */
    uint16_t again; /* masters (bits) whose answer to come may be from before the subscription */
    char token[TOKEN_MAX + 1];
    struct wish known[KNOWN_MOST];
    usec told[TOLD_MOST];
    unsigned next_known, next_told;
    usec due[]; /* each master is asked again then */
};

static struct heeder *heeder_of(struct task *task)
{
    return (struct heeder *)(void *)task;
}

/* ---- what the masters tell ------------------------------------------------------------ */

/* They have a name, a space, and a text without control characters. */
static bool words_are_good(struct slice words)
{
    const char *space = words.length ? memchr(words.bytes, ' ', words.length) : NULL;
    if (!space || space == words.bytes || words.length > WISH_WORDS_MAX)
        return false;
    for (size_t i = 0; i < words.length; i++)
        if ((unsigned char)words.bytes[i] < ' ' || words.bytes[i] == 0x7f)
            return false;
    return true;
}

static bool heeder_has_told(const struct heeder *heeder, usec id)
{
    for (unsigned i = 0; i < TOLD_MOST; i++)
        if (heeder->told[i] == id)
            return true;
    return false;
}

/* `from`: the earliest time at which the master may have said that this much of its life is left.
 */
static bool heeder_wants(const struct engine *e, const struct heeder *heeder,
                         const struct said *said, usec from)
{
    usec age = MS(WISH_LIFE - said->remaining_ms);
    return slices_are_same(said->token, slice_of(heeder->token)) && words_are_good(said->value) &&
           !wish_is_ours(e, said->term) && !heeder_has_told(heeder, said->term) &&
           from - (age > 0 ? age : 0) >= heeder->since;
}

static struct wish *wish_find(struct heeder *heeder, const struct said *said)
{
    for (unsigned i = 0; i < KNOWN_MOST; i++) {
        struct wish *wish = &heeder->known[i];
        if (wish->id == said->term &&
            slices_are_same((struct slice){wish->words, wish->length}, said->value))
            return wish;
    }
    return NULL;
}

/* In the place of the one that came first. */
static struct wish *wish_new(struct heeder *heeder, const struct said *said)
{
    struct wish *wish = &heeder->known[heeder->next_known];
    heeder->next_known = (heeder->next_known + 1) % KNOWN_MOST;
    *wish = (struct wish){.id = said->term, .length = said->value.length};
    memcpy(wish->words, said->value.bytes, said->value.length);
    return wish;
}

static void heeder_take(struct engine *e, struct heeder *heeder, unsigned master,
                        const struct said *said, usec from)
{
    if (!heeder_wants(e, heeder, said, from))
        return;
    struct wish *wish = wish_find(heeder, said);
    if (!wish)
        wish = wish_new(heeder, said);
    wish->masters |= (uint16_t)(1U << master);
    unsigned waiting = (unsigned)(said->number - 1 < 1000000 ? said->number - 1 : 1000000);
    wish->waiting = waiting > wish->waiting ? waiting : wish->waiting;
    if ((unsigned)__builtin_popcount(wish->masters) <= e->config.spare)
        return;
    wish->untold = true;
    task_tell_news(e, &heeder->task);
}

/* ---- asking --------------------------------------------------------------------------- */

static void heeder_ask(struct engine *e, struct task *task, unsigned master, int64_t told_for_ms)
{
    task_send(e, task, master,
              &(struct request){.tag = {.kind = REQUEST_OBSERVE},
                                .ttl_ms = told_for_ms,
                                .channel = e->config.channel});
}

static void heeder_begin(struct engine *e, struct task *task)
{
    heeder_of(task)->since = e->now;
}

static void heeder_work(struct engine *e, struct task *task)
{
    struct heeder *heeder = heeder_of(task);
    usec next = NEVER;
    for (unsigned i = 0; i < e->config.masters; i++) {
        if (!master_is_up(&e->masters[i]) || task_is_asking(task, i))
            continue;
        if (e->now >= heeder->due[i])
            heeder_ask(e, task, i, TASK_TOLD_FOR);
        else if (heeder->due[i] < next)
            next = heeder->due[i];
    }
    subscription_keep(e);
    task_wake_at(e, task, next);
}

static void heeder_hear(struct engine *e, struct task *task, unsigned master,
                        const struct reply *reply)
{
    struct heeder *heeder = heeder_of(task);
    bool is_answer = reply->answer == ANSWER_YES || reply->answer == ANSWER_ABSENT;
    heeder->due[master] = e->now + (is_answer ? task_looks_after(e, master) : AFTER_ERROR);
    if (task_needs_text(task, master) || heeder->again >> master & 1)
        heeder->due[master] = 0;
    heeder->again &= (uint16_t) ~(1U << master);
    if (reply->answer == ANSWER_YES)
        heeder_take(e, heeder, master, &reply->said, reply->tag.sent_at);
}

static void heeder_forget(struct engine *e, struct task *task, unsigned master)
{
    (void)e;
    heeder_of(task)->due[master] = 0;
}

static void heeder_look(struct engine *e, struct task *task, unsigned master,
                        const struct said *said)
{
    struct heeder *heeder = heeder_of(task);
    if (said) {
        heeder_take(e, heeder, master, said, e->now);
        return;
    }
    heeder->due[master] = 0;
    if (task_is_asking(task, master))
        heeder->again |= (uint16_t)(1U << master);
}

static void heeder_drop(struct engine *e, struct task *task)
{
    for (unsigned i = 0; i < e->config.masters && !task_looks_at(e, task->names); i++)
        if (master_is_up(&e->masters[i]))
            heeder_ask(e, task, i, 0);
}

/* ---- telling -------------------------------------------------------------------------- */

static bool heeder_tell(struct engine *e, struct task *task, struct task_news *news)
{
    (void)e;
    struct heeder *heeder = heeder_of(task);
    unsigned i = 0;
    while (i < KNOWN_MOST && !heeder->known[i].untold)
        i++;
    if (i == KNOWN_MOST)
        return false;
    struct wish *wish = &heeder->known[i];
    const char *space = memchr(wish->words, ' ', wish->length);
    size_t who = (size_t)(space - wish->words);
    wish->untold = false;
    heeder->told[heeder->next_told] = wish->id;
    heeder->next_told = (heeder->next_told + 1) % TOLD_MOST;
    news->heeder = (struct heeder_news){.who = {wish->words, who},
                                        .text = {space + 1, wish->length - who - 1},
                                        .waiting = wish->waiting};
    wish->id = 0;
    return true;
}

static void heeder_free(struct engine *e, struct task *task)
{
    (void)e, (void)task;
}

/* Its lease goes on with the other engine, and its user has heard what the former one told. */
static bool heeder_inherit(struct engine *e, struct task *task, const struct task *former)
{
    (void)e;
    struct heeder *heeder = heeder_of(task);
    const struct heeder *was = (const struct heeder *)(const void *)former;
    memcpy(heeder->token, was->token, sizeof heeder->token);
    memcpy(heeder->told, was->told, sizeof heeder->told);
    heeder->next_told = was->next_told;
    return true;
}

static const struct task_kind HEEDER = {.size = sizeof(struct heeder),
                                        .each = sizeof(usec),
                                        .begin = heeder_begin,
                                        .work = heeder_work,
                                        .hear = heeder_hear,
                                        .forget = heeder_forget,
                                        .look = heeder_look,
                                        .inherit = heeder_inherit,
                                        .drop = heeder_drop,
                                        .free = heeder_free,
                                        .tell = heeder_tell};

struct task *heeder_new(struct engine *e, struct names *names, const struct lease *lease,
                        void *owner)
{
    struct task *task = task_new(e, &HEEDER, names, owner);
    if (task)
        lease_token(e, lease, heeder_of(task)->token);
    return task;
}
