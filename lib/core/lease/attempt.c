#include "lease/attempt.h"

#include "ground/sanity.h"
#include "ground/shared.h"

#define SPARE_MOST 256 /* attempts, and rounds, kept for the next lease; more are given back */
#define SPARE_FEW  64  /* rounds kept of those that only stand in line, who may be very many */

void attempt_begin(struct attempt *attempt, struct names *names, const struct terms *terms)
{
    attempt->names = names_share(names);
    attempt->wait = terms->wait;
    attempt->max_hold = terms->max_hold;
    attempt->at_least = terms->at_least;
    attempt->all_answers = terms->all_answers;
    attempt->tokens_told = terms->tokens_told;
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

static bool take_round(struct engine *e, struct attempt *attempt)
{
    struct round *round = e->free_rounds;
    attempt->round = round ? round : e->memory.take(e->memory.pool, round_size(e));
    if (!round)
        return attempt->round != NULL;
    e->free_rounds = round->next_free;
    e->spare_rounds--;
    round->texts = NULL;
    return true;
}

bool attempt_make_room(struct engine *e, struct attempt *attempt)
{
    if (attempt->round)
        return true;
    if (!take_round(e, attempt))
        return false;
    round_begin(attempt->round, e->config.masters, REQUEST_ACQUIRE, 0, 0);
    return true;
}

static void give_round(struct engine *e, struct attempt *attempt, unsigned most)
{
    struct round *round = attempt->round;
    if (!round)
        return;
    attempt->round = NULL;
    round_hush(round, &e->memory, e->config.masters);
    if (e->spare_rounds >= most) {
        e->memory.give(e->memory.pool, round, round_size(e));
        return;
    }
    round->next_free = e->free_rounds;
    e->free_rounds = round;
    e->spare_rounds++;
}

void attempt_give_room(struct engine *e, struct attempt *attempt)
{
    give_round(e, attempt, SPARE_FEW);
}

static void give_attempt(struct engine *e, struct attempt *attempt)
{
    if (e->spare_attempts == SPARE_MOST) {
        e->memory.give(e->memory.pool, attempt, sizeof *attempt);
        return;
    }
    attempt->next_free = e->free_attempts;
    e->free_attempts = attempt;
    e->spare_attempts++;
}

static struct attempt *take_attempt(struct engine *e)
{
    struct attempt *attempt = e->free_attempts;
    if (!attempt)
        return e->memory.take(e->memory.pool, sizeof *attempt);
    e->free_attempts = attempt->next_free;
    e->spare_attempts--;
    return attempt;
}

struct attempt *attempt_take(struct engine *e)
{
    struct attempt *attempt = take_attempt(e);
    if (!attempt || take_round(e, attempt))
        return attempt;
    give_attempt(e, attempt);
    return NULL;
}

void attempt_give(struct engine *e, struct attempt *attempt)
{
    names_drop(&e->memory, attempt->names);
    attempt->names = NULL;
    if (attempt->permit)
        e->memory.give(e->memory.pool, attempt->permit, sizeof *attempt->permit);
    attempt->permit = NULL;
    give_round(e, attempt, SPARE_MOST);
    give_attempt(e, attempt);
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
        e->memory.give(e->memory.pool, attempt, sizeof *attempt);
    }
    while (e->free_rounds) {
        struct round *round = e->free_rounds;
        e->free_rounds = round->next_free;
        e->memory.give(e->memory.pool, round, round_size(e));
    }
}
