#include "checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES      2 /* few, so that often enough have arrived */
#define ARRIVALS   3
#define TEXT       16
#define FORMER     "0000000000000000000000000000000000000000"
#define FORMER_RUN UINT64_MAX

/* ---- calls ----------------------------------------------------------------------------------- */

static struct model_call draw_mend(struct chance *chance, const struct model_master *model,
                                   struct model_call call, int64_t now_ms, int64_t longest_ms)
{
    call.parties = 1 + chance_below(chance, ARRIVALS);
    call.run = chance_permille(chance, 900) ? model->run_id : FORMER_RUN;
    bool ended = chance_permille(chance, 100);
    int64_t left_ms =
        ended ? -chance_range(chance, 1, 500) : chance_range(chance, -2, 8 * longest_ms);
    call.not_after = 1000 * (now_ms + left_ms);
    call.open = chance_permille(chance, 150);
    for (unsigned i = 0, count = chance_below(chance, ARRIVALS); i < count; i++)
        call.arrived[i] = 1 + i + chance_below(chance, 2);
    return call;
}

struct model_call latch_draw(struct chance *chance, const struct model_master *model,
                             unsigned tokens, int64_t now_ms, int64_t longest_ms)
{
    static const enum request_kind kinds[] = {REQUEST_TALLY, REQUEST_TALLY, REQUEST_TALLY,
                                              REQUEST_MEND,  REQUEST_MEND,  REQUEST_DROP};
    struct model_call call = {.kind = kinds[chance_below(chance, sizeof kinds / sizeof kinds[0])],
                              .count = 1};
    call.whole = chance_permille(chance, 500);
    call.names[0] = (uint8_t)chance_below(chance, NAMES);
    uint32_t present = model->data.latches[call.names[0]].id;
    call.value =
        present && chance_permille(chance, 800) ? present : 1 + chance_below(chance, tokens);
    if (call.kind == REQUEST_MEND)
        return draw_mend(chance, model, call, now_ms, longest_ms);
    if (call.kind == REQUEST_DROP) {
        call.ttl_ms = chance_permille(chance, 500) ? 0 : chance_range(chance, 1, longest_ms);
        return call;
    }
    if (chance_permille(chance, 200))
        call.value = 0;
    call.open = chance_permille(chance, 60);
    call.arrived[0] = chance_permille(chance, 700) ? 1 + chance_below(chance, ARRIVALS + 1) : 0;
    call.channel = chance_below(chance, 1 + EARS);
    call.ttl_ms = chance_permille(chance, 100) ? 0 : chance_range(chance, 2, longest_ms);
    return call;
}

void latch_spell(const struct model_call *call, const struct model_master *model, const char *run,
                 struct request *request)
{
    static char ear[40], arrived[MODEL_ARRIVALS * TEXT];
    size_t used = 0;
    arrived[0] = '\0';
    for (unsigned i = 0; i < MODEL_ARRIVALS && call->arrived[i]; i++)
        used += (size_t)snprintf(arrived + used, sizeof arrived - used, "%svalue-%u",
                                 used ? "\n" : "", call->arrived[i]);
    snprintf(ear, sizeof ear, "redlock:ear-%u", call->channel);
    request->channel = call->channel ? ear : NULL;
    struct slice id = {request->token, request->token_length}, lines = {arrived, used};
    if (call->kind == REQUEST_TALLY)
        request->tally = (struct tally_request){id, lines, call->open};
    else if (call->kind == REQUEST_MEND)
        request->mend = (struct mend_request){.id = id,
                                              .run = call->run == model->run_id ? run : FORMER,
                                              .arrived = lines,
                                              .ends_ms = call->not_after / 1000,
                                              .arrivals = (uint16_t)call->parties,
                                              .open = call->open};
    else
        request->drop = (struct drop_request){id, call->ttl_ms};
}

/* ---- answers --------------------------------------------------------------------------------- */

static uint32_t arrivals_of(const struct model_latch *latch)
{
    uint32_t arrivals = 0;
    for (unsigned i = 0; i < MODEL_ARRIVALS && latch->arrived[i]; i++)
        arrivals |= 1U << latch->arrived[i];
    return arrivals;
}

bool latch_same_answer(const struct model_answer *model, const struct reply *real)
{
    const struct model_latch *latch = &model->latch;
    const struct latch_reply *told = &real->latch;
    uint32_t arrivals;
    if (real->tag.kind == REQUEST_DROP ||
        (model->answer != ANSWER_YES && model->answer != ANSWER_OPEN))
        return true;
    return told->arrivals == latch->of && told->ends_ms == latch->ends_ms &&
           number_in(told->id.bytes) == latch->id && numbers_in(told->arrived, &arrivals) &&
           arrivals == arrivals_of(latch) && llabs(told->remaining_ms - model->remaining_ms) <= 1 &&
           llabs(told->age - model->clock) <= 1000;
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* Of a process that has ended, which one does not matter. */
static bool same_run(const struct model_latch *latch, const struct model_master *model,
                     const char *run, const char *real)
{
    return (strcmp(real, run) == 0) == (latch->run == model->run_id);
}

static bool same_member(const struct model_latch *latch, const struct model_master *model,
                        const char *run, const char *member)
{
    char fact[64];
    if (strcmp(member, "open") == 0)
        return latch->open;
    if (strncmp(member, "run:", 4) == 0)
        return same_run(latch, model, run, member + 4);
    if (strncmp(member, "put:", 4) == 0)
        return strtoll(member + 4, NULL, 10) == latch->put_ms;
    if (strncmp(member, "a:", 2) == 0)
        return arrivals_of(latch) >> number_in(member) & 1;
    snprintf(fact, sizeof fact, "id:value-%u", latch->id);
    if (strcmp(member, fact) == 0)
        return true;
    snprintf(fact, sizeof fact, "of:%u", latch->of);
    if (strcmp(member, fact) == 0)
        return true;
    snprintf(fact, sizeof fact, "ends:%lld", (long long)latch->ends_ms);
    return strcmp(member, fact) == 0;
}

static bool same_members(const struct model_latch *latch, const struct model_master *model,
                         const char *run, const redisReply *set)
{
    size_t wanted = 5U + latch->open;
    for (unsigned i = 0; i < MODEL_ARRIVALS && latch->arrived[i]; i++)
        wanted++;
    for (unsigned i = 0; i < set->elements; i++)
        if (!same_member(latch, model, run, set->element[i]->str))
            return false;
    return set->elements == wanted;
}

bool latch_same_keys(redisContext *context, struct model_master *model, const char *run,
                     unsigned name)
{
    int64_t expires = real_integer(context, "PEXPIRETIME redlock:latch:name:%u", name);
    redisReply *set = real_ask(context, "ZRANGE redlock:latch:name:%u 0 -1", name);
    const struct model_latch *latch = &model->data.latches[name];
    int64_t now = real_ms(context);
    bool same = expires == latch->ends_ms &&
                (set->elements ? same_members(latch, model, run, set) : expires <= now + 1);
    if (expires == -2) /* it is not there; one that never expires is wrong */
        same = !latch->id || latch->ends_ms <= now + 1;
    freeReplyObject(set);
    return same;
}

void latch_spoil(redisContext *context, struct chance *chance, struct model_master *model,
                 const char *run)
{
    unsigned name = chance_below(chance, NAMES);
    struct model_latch *latch = &model->data.latches[name];
    if (chance_permille(chance, 500)) {
        (void)real_integer(context, "DEL redlock:latch:name:%u", name);
        *latch = (struct model_latch){0};
        return;
    }
    bool may_end = real_integer(context, "PTTL redlock:latch:name:%u", name) <= 5;
    if (!latch->id || latch->run != model->run_id || may_end)
        return;
    (void)real_integer(context, "ZREM redlock:latch:name:%u run:%s", name, run);
    (void)real_integer(context, "ZADD redlock:latch:name:%u 1 run:%s", name, FORMER);
    latch->run = FORMER_RUN;
}

bool latch_ends_between(const struct model_data *data, unsigned name, int64_t from_ms,
                        int64_t until_ms)
{
    const struct model_latch *latch = &data->latches[name];
    return latch->id && latch->ends_ms >= from_ms && latch->ends_ms <= until_ms;
}
