/*
 * election.c - says a value on all masters while its lease holds their name.
 *
 * A master stores it only where the name holds the lease's token, and nothing later is said.  The
 * master forgets it when the validity that was left at the request is over.  So a lease says it
 * again and again, while it is valid.
 */
#include <string.h>

#include "ground/sanity.h"
#include "lease/view.h"
#include "masters/master.h"
#include "recipes/election.h"
#include "recipes/task.h"

#define SAID_AGAIN_MOST  MS(10000) /* so that a master that lost it says it again soon */
#define SAID_AGAIN_LEAST MS(10)    /* as the validity comes to its end */
#define EVERY_MASTER     UINT16_MAX

/* ---- what is said -------------------------------------------------------------------- */

static size_t saying_size(size_t token_length, size_t value_length)
{
    return sizeof(struct saying) + token_length + value_length;
}

struct saying *saying_new(const struct memory *memory, const struct said *said)
{
    struct saying *saying =
        memory->take(memory->pool, saying_size(said->token.length, said->value.length));
    if (!saying)
        return NULL;
    *saying = (struct saying){.references = 1,
                              .token_length = (uint32_t)said->token.length,
                              .value_length = (uint32_t)said->value.length,
                              .term = said->term,
                              .number = said->number};
    memcpy(saying->bytes, said->token.bytes, said->token.length);
    if (said->value.length)
        memcpy(saying->bytes + said->token.length, said->value.bytes, said->value.length);
    return saying;
}

struct saying *saying_share(struct saying *saying)
{
    saying->references++;
    return saying;
}

void saying_drop(const struct memory *memory, struct saying *saying)
{
    if (!saying || --saying->references)
        return;
    memory->give(memory->pool, saying, saying_size(saying->token_length, saying->value_length));
}

struct said saying_said(const struct saying *saying)
{
    return (struct said){.term = saying->term,
                         .number = saying->number,
                         .token = {saying->bytes, saying->token_length},
                         .value = {saying->bytes + saying->token_length, saying->value_length}};
}

int said_order(const struct said *a, const struct said *b)
{
    if (a->term != b->term)
        return a->term < b->term ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

bool saying_is(const struct saying *saying, const struct said *said)
{
    struct said kept = saying_said(saying);
    return said_order(&kept, said) == 0 && slices_are_same(kept.token, said->token) &&
           slices_are_same(kept.value, said->value);
}

/* ---- saying it ------------------------------------------------------------------------ */

struct announced_at {
    int64_t stored;      /* the number that this master has stored; 0: none */
    int64_t asked;       /* the number of the request that is outstanding */
    usec due;            /* it is asked again then */
    struct saying *sent; /* what that request points to */
};

struct announcer {
    struct task task;
    struct lease *lease;
    char token[TOKEN_MAX + 1];
    usec term;
    struct saying *saying; /* the value to say; its number counts up */
    int64_t told;          /* the number in the last news: a quorum has stored it */
    uint16_t touched;      /* masters (bits) where something may be said */
    struct announced_at at[];
};

static struct announcer *announcer_of(struct task *task)
{
    return (struct announcer *)(void *)task;
}

bool announcer_set(struct engine *e, struct task *task, const void *value, size_t length)
{
    struct announcer *announcer = announcer_of(task);
    struct said said = {.term = announcer->term,
                        .number = announcer->saying ? announcer->saying->number + 1 : 1,
                        .token = slice_of(announcer->token),
                        .value = {value, length}};
    ASSERT(length <= VALUE_MOST);
    struct saying *saying = saying_new(&e->memory, &said);
    if (!saying)
        return false;
    saying_drop(&e->memory, announcer->saying);
    announcer->saying = saying;
    for (unsigned i = 0; i < e->config.masters; i++)
        announcer->at[i].due = 0;
    return true;
}

static unsigned announcer_count_stored(const struct engine *e, const struct announcer *announcer)
{
    unsigned count = 0;
    for (unsigned i = 0; i < e->config.masters; i++)
        count += announcer->at[i].stored == announcer->saying->number;
    return count;
}

static void announcer_say(struct engine *e, struct announcer *announcer, unsigned master, usec left)
{
    struct announced_at *at = &announcer->at[master];
    struct saying *saying = announcer->saying;
    usec again = left / 3 < SAID_AGAIN_MOST ? left / 3 : SAID_AGAIN_MOST;
    at->due = e->now + (again > SAID_AGAIN_LEAST ? again : SAID_AGAIN_LEAST);
    at->asked = saying->number;
    saying_drop(&e->memory, at->sent);
    at->sent = saying_share(saying);
    announcer->touched |= (uint16_t)(1U << master);
    task_send(e, &announcer->task, master,
              &(struct request){.tag = {.kind = REQUEST_ANNOUNCE},
                                .token = announcer->token,
                                .token_length = strlen(announcer->token),
                                .ttl_ms = (left + 999) / 1000,
                                .announce = {.term = announcer->term,
                                             .number = saying->number,
                                             .value = saying_said(saying).value}});
}

static void announcer_work(struct engine *e, struct task *task)
{
    struct announcer *announcer = announcer_of(task);
    usec until = lease_valid_until(announcer->lease), next = NEVER;
    for (unsigned i = 0; i < e->config.masters && until > e->now; i++) {
        struct announced_at *at = &announcer->at[i];
        if (!master_is_up(&e->masters[i]) || task_is_asking(task, i))
            continue;
        if (e->now >= at->due)
            announcer_say(e, announcer, i, until - e->now);
        next = at->due < next ? at->due : next;
    }
    task_wake_at(e, task, next);
}

static void announcer_forget(struct engine *e, struct task *task, unsigned master)
{
    (void)e;
    struct announced_at *at = &announcer_of(task)->at[master];
    at->stored = at->due = 0;
}

/* In full: a client that resigns may close next, and could not send a forgotten script again. */
static void announcer_unsay(struct engine *e, struct announcer *announcer, unsigned master)
{
    task_send(e, &announcer->task, master,
              &(struct request){.tag = {.kind = REQUEST_UNSAY},
                                .whole = true,
                                .token = announcer->token,
                                .token_length = strlen(announcer->token),
                                .announce.term = announcer->term});
}

/* A master that is not connected forgets it by itself. */
static void announcer_drop(struct engine *e, struct task *task)
{
    struct announcer *announcer = announcer_of(task);
    for (unsigned i = 0; i < e->config.masters; i++)
        if (announcer->touched & 1U << i && master_is_up(&e->masters[i]))
            announcer_unsay(e, announcer, i);
}

/* ---- answers ---------------------------------------------------------------------- */

static void announcer_hear(struct engine *e, struct task *task, unsigned master,
                           const struct reply *reply)
{
    struct announcer *announcer = announcer_of(task);
    struct announced_at *at = &announcer->at[master];
    at->stored = reply->answer == ANSWER_YES ? at->asked : 0;
    if (task_needs_text(task, master))
        at->due = 0;
    if (announcer->told != announcer->saying->number &&
        announcer_count_stored(e, announcer) >= e->quorum)
        task_tell_news(e, task);
}

static bool announcer_tell(struct engine *e, struct task *task, struct task_news *news)
{
    struct announcer *announcer = announcer_of(task);
    int64_t number = announcer->saying->number;
    unsigned stored = announcer_count_stored(e, announcer);
    if (announcer->told == number || stored < e->quorum)
        return false;
    announcer->told = number;
    news->announcer = (struct announcer_news){stored};
    return true;
}

static void announcer_free(struct engine *e, struct task *task)
{
    struct announcer *announcer = announcer_of(task);
    for (unsigned i = 0; i < e->config.masters; i++)
        saying_drop(&e->memory, announcer->at[i].sent);
    saying_drop(&e->memory, announcer->saying);
}

/* ---- its lease moves to another engine ------------------------------------------------ */

static bool announcer_copy_saying(struct engine *to, struct announcer *copy,
                                  const struct announcer *announcer)
{
    if (!announcer->saying) /* memory was out */
        return true;
    struct said said = saying_said(announcer->saying);
    copy->saying = saying_new(&to->memory, &said);
    return copy->saying;
}

/* Masters of both say what either has said: its lease is the same. */
static bool announcer_follow(struct task *task, struct task *former)
{
    struct announcer *it = announcer_of(task), *was = announcer_of(former);
    it->told = was->told;
    it->touched = EVERY_MASTER;
    was->touched = 0;
    return it->saying;
}

static const struct task_kind ANNOUNCER = {.size = sizeof(struct announcer),
                                           .each = sizeof(struct announced_at),
                                           .work = announcer_work,
                                           .hear = announcer_hear,
                                           .forget = announcer_forget,
                                           .follow = announcer_follow,
                                           .drop = announcer_drop,
                                           .free = announcer_free,
                                           .tell = announcer_tell};

struct task *announcer_new(struct engine *e, struct names *names, struct lease *lease, void *owner)
{
    struct task *task = task_new(e, &ANNOUNCER, names, owner);
    if (!task)
        return NULL;
    struct announcer *announcer = announcer_of(task);
    announcer->lease = lease;
    announcer->term = lease_fence(lease);
    lease_token(e, lease, announcer->token);
    ASSERT(announcer->term > 0);
    return task;
}

struct task *announcer_copy(struct engine *to, const struct task *task, struct names *names,
                            void *owner)
{
    const struct announcer *announcer = (const struct announcer *)(const void *)task;
    struct task *copy = task_new(to, &ANNOUNCER, names, owner);
    if (!copy)
        return NULL;
    struct announcer *it = announcer_of(copy);
    it->lease = announcer->lease;
    it->term = announcer->term;
    memcpy(it->token, announcer->token, sizeof it->token);
    if (announcer_copy_saying(to, it, announcer))
        return copy;
    task_free(to, copy);
    return NULL;
}
