#include "checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES       3 /* few, so that often enough parties are there */
#define GENERATIONS 2
#define PARTIES     3

struct model_call barrier_draw(struct chance *chance, unsigned tokens, int64_t longest_ms)
{
    bool arrives = chance_permille(chance, 700);
    struct model_call call = {.kind = arrives ? REQUEST_ARRIVE : REQUEST_DEPART, .count = 1};
    call.whole = chance_permille(chance, 500);
    call.names[0] = (uint8_t)chance_below(chance, NAMES);
    call.value = 1 + chance_below(chance, tokens);
    call.generation = chance_below(chance, GENERATIONS);
    call.parties = 1 + chance_below(chance, PARTIES);
    if (chance_permille(chance, 700))
        call.parties = 2 + (unsigned)call.generation;
    if (!arrives)
        return call;
    call.ttl_ms = chance_range(chance, 2, longest_ms);
    call.kept_ms = chance_range(chance, 2, 2 * longest_ms);
    call.passed = chance_permille(chance, 30);
    call.channel = 1 + chance_below(chance, EARS);
    return call;
}

void barrier_spell(const struct model_call *call, struct request *request)
{
    static char ear[40];
    request->barrier = (struct barrier_request){.generation = call->generation,
                                                .kept_ms = call->kept_ms,
                                                .parties = (uint16_t)call->parties,
                                                .passed = call->passed};
    snprintf(ear, sizeof ear, "redlock:ear-%u", call->channel);
    request->channel = ear;
}

bool barrier_same_answer(const struct model_answer *model, const struct reply *real)
{
    uint32_t tokens = 0, told;
    if (model->answer == ANSWER_NOSCRIPT)
        return true;
    for (unsigned i = 0; i < MODEL_PARTIES && model->answer == ANSWER_OPEN; i++)
        tokens |= model->tokens[i] ? 1U << model->tokens[i] : 0;
    (void)numbers_in(real->barrier.tokens, &told);
    return real->barrier.parties == model->parties && real->barrier.counted == model->counted &&
           told == tokens &&
           (model->answer != ANSWER_OVER || real->barrier.latest == model->latest);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static struct model_barrier *find(struct model_data *data, unsigned name, unsigned generation)
{
    for (unsigned i = 0; i < MODEL_BARRIERS; i++) {
        struct model_barrier *barrier = &data->barriers[i];
        if (barrier->of && barrier->name == name && barrier->generation == (int64_t)generation)
            return barrier;
    }
    return NULL;
}

/* A member of the real set; false if the model has it not, or not so. */
static bool same_member(struct model_barrier *barrier, const char *member, int64_t score,
                        int64_t soon)
{
    char of[20];
    snprintf(of, sizeof of, "of:%u", barrier->of);
    if (strcmp(member, "open") == 0)
        return barrier->open;
    if (strcmp(member, "passed") == 0)
        return barrier->passed;
    if (strncmp(member, "of:", 3) == 0)
        return strcmp(member, of) == 0;
    for (unsigned i = 0; i < MODEL_PARTIES; i++) {
        struct model_party *party = &barrier->parties[i];
        if (party->value != number_in(member) || llabs(party->expires_ms - score) > 1)
            continue;
        party->expires_ms = score;
        return true;
    }
    return !barrier->open && score <= soon;
}

static unsigned count_of(const struct model_barrier *barrier, int64_t soon)
{
    unsigned count = 1U + barrier->open + barrier->passed;
    for (unsigned i = 0; i < MODEL_PARTIES; i++)
        count +=
            barrier->parties[i].value && (barrier->open || barrier->parties[i].expires_ms > soon);
    return count;
}

static bool same_members(struct model_barrier *barrier, const redisReply *set, int64_t soon)
{
    unsigned found = 0;
    for (unsigned i = 0; i + 1 < set->elements; i += 2) {
        bool is_fact = strncmp(set->element[i]->str, "t:", 2) != 0;
        int64_t score = is_fact ? INT64_MAX : strtoll(set->element[i + 1]->str, NULL, 10);
        if (!same_member(barrier, set->element[i]->str, score, soon))
            return false;
        found += is_fact || barrier->open || score > soon;
    }
    return found == count_of(barrier, soon);
}

static bool same_barrier(redisContext *context, struct model_data *data, unsigned name,
                         unsigned generation)
{
    int64_t expires =
        real_integer(context, "PEXPIRETIME redlock:barrier:%u:name:%u", generation, name);
    redisReply *set =
        real_ask(context, "ZRANGE redlock:barrier:%u:name:%u 0 -1 WITHSCORES", generation, name);
    int64_t now = real_ms(context);
    struct model_barrier *barrier = find(data, name, generation);
    bool same;
    /* Both have it, or neither; the model may have seen its end a millisecond early, also in an
     * earlier command of the same millisecond. */
    if (expires < 0)
        same = !barrier || barrier->expires_ms <= now + 2;
    else if (!barrier)
        same = expires <= now;
    else
        same = llabs(barrier->expires_ms - expires) <= 1 &&
               (set->elements ? same_members(barrier, set, now + 1) : expires <= now + 1);
    if (same && barrier && expires > 0)
        barrier->expires_ms = expires;
    freeReplyObject(set);
    return same;
}

static bool is_record(const char *value, const struct model_passed *passed)
{
    char record[50];
    snprintf(record, sizeof record, "%lld of %u", (long long)passed->generation, passed->of);
    return strcmp(value, record) == 0;
}

static bool same_passed(redisContext *context, struct model_data *data, unsigned name)
{
    int64_t expires = real_integer(context, "PEXPIRETIME redlock:passed:name:%u", name);
    redisReply *value = real_ask(context, "GET redlock:passed:name:%u", name);
    struct model_passed *passed = &data->passed[name];
    bool is_there = value->type == REDIS_REPLY_STRING;
    bool same = passed->expires_ms ? is_there : !is_there || expires <= real_ms(context);
    if (same && passed->expires_ms)
        same = is_record(value->str, passed) && llabs(expires - passed->expires_ms) <= 1;
    if (same && passed->expires_ms)
        passed->expires_ms = expires;
    freeReplyObject(value);
    return same;
}

bool barrier_same_keys(redisContext *context, struct model_master *model, unsigned name)
{
    for (unsigned generation = 0; generation < GENERATIONS; generation++)
        if (!same_barrier(context, &model->data, name, generation))
            return false;
    return same_passed(context, &model->data, name);
}

void barrier_spoil(redisContext *context, struct chance *chance, struct model_master *model)
{
    unsigned name = chance_below(chance, NAMES), generation = chance_below(chance, GENERATIONS);
    (void)real_integer(context, "DEL redlock:barrier:%u:name:%u", generation, name);
    struct model_barrier *barrier = find(&model->data, name, generation);
    if (barrier)
        *barrier = (struct model_barrier){0};
    (void)real_integer(context, "DEL redlock:passed:name:%u", name);
    model->data.passed[name] = (struct model_passed){0};
}

bool barrier_ends_between(const struct model_data *data, unsigned name, int64_t from_ms,
                          int64_t until_ms)
{
    bool any = false;
    for (unsigned i = 0; i < MODEL_BARRIERS; i++) {
        const struct model_barrier *barrier = &data->barriers[i];
        if (!barrier->of || barrier->name != name)
            continue;
        any |= barrier->expires_ms >= from_ms && barrier->expires_ms <= until_ms;
        for (unsigned k = 0; k < MODEL_PARTIES; k++)
            any |= barrier->parties[k].value && barrier->parties[k].expires_ms >= from_ms &&
                   barrier->parties[k].expires_ms <= until_ms;
    }
    return any;
}
