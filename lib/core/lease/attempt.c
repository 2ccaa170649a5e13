#include "lease/attempt.h"

#include "ground/sanity.h"
#include "ground/shared.h"

#define SPARE_ATTEMPTS 4096 /* attempts kept for the next lease; more are freed */

void attempt_begin(struct attempt *attempt, struct names *names, const struct terms *terms)
{
    attempt->names = names_share(names);
    attempt->wait = terms->wait;
    attempt->max_hold = terms->max_hold;
    attempt->at_least = terms->at_least;
    attempt->place = (struct queue_place){0};
    attempt->ahead_alone = 0;
    attempt->yields = 0;
    attempt->yielded_at = 0;
    attempt->unfounded = false;
    ASSERT(!attempt->permit);
}

void attempt_open(struct attempt *attempt, unsigned masters, enum request_kind kind,
                  uint32_t number, usec give_up)
{
    attempt->fence = 0;
    attempt->basis = 0;
    attempt->place.refreshed_at = 0;
    attempt->place.early = 0;
    attempt->place.minority_since = 0;
    round_begin(attempt->round, masters, kind, number, give_up);
}

/* ---- memory ----------------------------------------------------------------------- */

static size_t round_size(const struct engine *e)
{
    return sizeof(struct round) + e->config.masters * sizeof(struct ballot);
}

bool attempt_make_room(struct engine *e, struct attempt *attempt)
{
    if (attempt->round)
        return true;
    attempt->round = e->memory.take(e->memory.pool, round_size(e));
    if (attempt->round)
        round_begin(attempt->round, e->config.masters, REQUEST_ACQUIRE, 0, 0);
    return attempt->round != NULL;
}

void attempt_give_room(struct engine *e, struct attempt *attempt)
{
    if (!attempt->round)
        return;
    round_hush(attempt->round, &e->memory, e->config.masters);
    e->memory.give(e->memory.pool, attempt->round, round_size(e));
    attempt->round = NULL;
}

static void drop(struct engine *e, struct attempt *attempt)
{
    attempt_give_room(e, attempt);
    e->memory.give(e->memory.pool, attempt, sizeof *attempt);
}

static struct attempt *new_attempt(struct engine *e)
{
    struct attempt *attempt = e->memory.take(e->memory.pool, sizeof *attempt);
    if (!attempt || attempt_make_room(e, attempt))
        return attempt;
    drop(e, attempt);
    return NULL;
}

struct attempt *attempt_take(struct engine *e)
{
    struct attempt *attempt = e->free_attempts;
    if (!attempt)
        return new_attempt(e);
    e->free_attempts = attempt->next_free;
    e->spare_attempts--;
    return attempt;
}

/* Spare attempts have room for a question. */
void attempt_give(struct engine *e, struct attempt *attempt)
{
    names_drop(&e->memory, attempt->names);
    attempt->names = NULL;
    if (attempt->permit)
        e->memory.give(e->memory.pool, attempt->permit, sizeof *attempt->permit);
    attempt->permit = NULL;
    if (e->spare_attempts == SPARE_ATTEMPTS || !attempt->round) {
        drop(e, attempt);
        return;
    }
    round_hush(attempt->round, &e->memory, e->config.masters);
    attempt->next_free = e->free_attempts;
    e->free_attempts = attempt;
    e->spare_attempts++;
}

bool attempt_for_permit(struct engine *e, struct attempt *attempt, unsigned count)
{
    attempt->permit = e->memory.take(e->memory.pool, sizeof *attempt->permit);
    if (attempt->permit)
        attempt->permit->count = (uint16_t)count;
    return attempt->permit != NULL;
}

void attempts_drop(struct engine *e)
{
    while (e->free_attempts) {
        struct attempt *attempt = e->free_attempts;
        e->free_attempts = attempt->next_free;
        drop(e, attempt);
    }
}
