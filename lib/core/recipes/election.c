/*
 * election.c - says a value on all masters while its lease holds their name.
 *
 * A master stores it only where the name holds the lease's token, and nothing later is said; it
 * forgets it when the validity that was left when it was asked is over.  So it is said again and
 * again, and only by a lease that is valid.
 */
#include <string.h>

#include "ground/mutant.h"
#include "ground/sanity.h"
#include "lease/view.h"
#include "masters/master.h"
#include "recipes/election.h"

#define SAID_AGAIN_MOST  MS(10000) /* so that a master that lost it says it again soon */
#define SAID_AGAIN_LEAST MS(10)    /* as the validity comes to its end */

struct task *announcer_new(struct engine *e, struct names *names, struct lease *lease, void *owner)
{
    struct task *task = task_new(e, TASK_ANNOUNCER, sizeof(struct announcer),
                                 sizeof(struct announced_at), names, owner);
    if (!task)
        return NULL;
    struct announcer *announcer = (struct announcer *)(void *)task;
    announcer->lease = lease;
    announcer->term = lease_fence(lease);
    lease_token(e, lease, announcer->token);
    ASSERT(announcer->term > 0);
    return task;
}

bool announcer_set(struct engine *e, struct task *task, const void *value, size_t length)
{
    struct announcer *announcer = (struct announcer *)(void *)task;
    struct said said = {.term = announcer->term,
                        .number = announcer->saying ? announcer->saying->number + 1 : 1,
                        .token = announcer->token,
                        .token_length = strlen(announcer->token),
                        .value = value,
                        .value_length = length};
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

/* ---- asking ---------------------------------------------------------------------- */

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
                                             .value = {saying->bytes + saying->token_length,
                                                       saying->value_length}}});
}

void announcer_work(struct engine *e, struct announcer *announcer)
{
    usec until = lease_valid_until(announcer->lease), next = NEVER;
    if (MUTANT(ANNOUNCED_PAST) && until)
        until = NEVER / 2;
    for (unsigned i = 0; i < e->config.masters && until > e->now; i++) {
        struct announced_at *at = &announcer->at[i];
        if (!master_is_up(&e->masters[i]) || announcer->task.outstanding & 1U << i)
            continue;
        if (e->now >= at->due)
            announcer_say(e, announcer, i, until - e->now);
        next = at->due < next ? at->due : next;
    }
    task_wake_at(e, &announcer->task, next);
}

void announcer_forget(struct announcer *announcer, unsigned master)
{
    announcer->at[master].stored = announcer->at[master].due = 0;
}

/* In full: who resigns may close next, and nobody would be there to send what was forgotten. */
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
void announcer_end(struct engine *e, struct announcer *announcer)
{
    for (unsigned i = 0; i < e->config.masters; i++)
        if (announcer->touched & 1U << i && master_is_up(&e->masters[i]))
            announcer_unsay(e, announcer, i);
}

/* ---- answers ---------------------------------------------------------------------- */

void announcer_hear(struct engine *e, struct announcer *announcer, unsigned master,
                    const struct reply *reply)
{
    if (announcer->task.ended)
        return;
    struct announced_at *at = &announcer->at[master];
    int64_t number = announcer->saying->number;
    if (reply->answer == ANSWER_YES)
        at->stored = at->asked;
    else
        at->stored = 0;
    if (task_needs_text(&announcer->task, master))
        at->due = 0;
    if (announcer->told != number && announcer_count_stored(e, announcer) >= e->quorum)
        task_has_news(e, &announcer->task);
    announcer_work(e, announcer);
}

bool announcer_tell(struct engine *e, struct announcer *announcer, struct task_news *news)
{
    int64_t number = announcer->saying->number;
    news->masters = announcer_count_stored(e, announcer);
    if (announcer->told == number || news->masters < e->quorum)
        return false;
    announcer->told = number;
    return true;
}

void announcer_free(struct engine *e, struct announcer *announcer)
{
    for (unsigned i = 0; i < e->config.masters; i++)
        saying_drop(&e->memory, announcer->at[i].sent);
    saying_drop(&e->memory, announcer->saying);
    e->memory.give(e->memory.pool, announcer,
                   sizeof *announcer + e->config.masters * sizeof *announcer->at);
}
