#include "liar.h"

#include <string.h>

#include "client_shell.h"
#include "lists.h"
#include "exchange.h"
#include "model_net.h"
#include "recipe_users.h"
#include "trace.h"

#define DAY_MS INT64_C(86400000)
#define FLOODS 30 /* per mille of what might be one */

static void draw_lies(struct world *w)
{
    static const unsigned rates[] = {1000, 1000, 500, 100};
    w->lie_rate = rates[chance_below(&w->chance, 4)];
    bool many = chance_permille(&w->chance, 300);
    for (unsigned lie = 0; lie < LIES; lie++)
        if (chance_permille(&w->chance, many ? 500 : 130))
            w->lies |= 1U << lie;
    if (w->quorum > w->masters - 1)
        w->lies = 0;
}

/* Where masters may forget as well, chance decides how many of the wrong ones lie. */
void liar_draw(struct world *w)
{
    bool others = w->options.faults & 1U << FAULT_FORGET;
    if (!(w->faults & 1U << FAULT_LIAR) || w->masters < 3)
        return;
    unsigned liars = others ? chance_below(&w->chance, w->wrong + 1) : 1;
    if (others && chance_permille(&w->chance, 300))
        liars = w->wrong;
    while ((unsigned)__builtin_popcount(w->liars) < liars)
        w->liars |= (uint16_t)(1U << chance_below(&w->chance, w->masters));
    if (liars)
        draw_lies(w);
    TRACE(w, "masters %#x lie: %#x, %u of 1000 times", w->liars, w->lies, w->lie_rate);
}

bool is_liar(const struct world *w, unsigned master)
{
    return w->liars >> master & 1;
}

static bool refuses(const struct shell *s, unsigned master)
{
    const struct master *it = shell_master(s, master);
    return it && it->refused;
}

bool liar_took_a_vote(const struct world *w)
{
    for (unsigned c = 0; c < w->clients; c++)
        for (unsigned i = 0; i < w->masters; i++)
            if (!is_liar(w, i) && refuses(w->shells[c], i))
                return true;
    return false;
}

static bool tells(struct world *w, enum lie lie)
{
    return w->lies >> lie & 1 && chance_permille(&w->chance, w->lie_rate);
}

/* ---- clocks ------------------------------------------------------------------- */

/* As far as the masters have come, by their walls; honest ones'. */
static usec honest_wall(const struct world *w)
{
    usec walls[MASTERS_MAX];
    unsigned count = 0, rank = w->quorum - w->spare;
    for (unsigned i = 0; i < w->masters; i++) {
        usec wall = is_liar(w, i) ? 0 : server_wall(w, i);
        unsigned at = count++;
        for (; at && walls[at - 1] < wall; at--)
            walls[at] = walls[at - 1];
        walls[at] = wall;
    }
    return walls[rank - 1] ? walls[rank - 1] : walls[0];
}

static usec lying_clock(struct world *w, usec honest)
{
    usec ttl = MS(w->max_ttl_ms), longest = ttl + ttl / 100 + MS(2);
    usec wall = honest_wall(w);
    usec most = wall + CLOCK_WINDOW + (longest > MS(w->skew_ms) ? longest : MS(w->skew_ms));
    if (tells(w, LIE_WILD))
        return chance_permille(&w->chance, 500) ? most + chance_range(&w->chance, 0, MS(300000))
                                                : INT64_C(1) << chance_range(&w->chance, 1, 53);
    if (!tells(w, LIE_CLOCK))
        return honest;
    unsigned dice = chance_below(&w->chance, 10);
    return dice == 0  ? chance_range(&w->chance, 1, wall)
           : dice < 4 ? chance_range(&w->chance, wall, most)
                      : most - chance_range(&w->chance, 0, MS(5));
}

/* ---- answers ------------------------------------------------------------------ */

static void lie_to_hello(struct world *w, struct model_answer *answer, bool tolerates_twins)
{
    if (tells(w, LIE_RUN_ID))
        answer->run_id = chance_next(&w->chance);
    unsigned other = chance_below(&w->chance, w->masters);
    if (tells(w, LIE_TWIN) && tolerates_twins && !is_liar(w, other))
        answer->run_id = w->servers[other].model.run_id;
    if (tells(w, LIE_MAX_TTL))
        answer->max_ttl_ms =
            chance_permille(&w->chance, 500) ? DAY_MS : chance_range(&w->chance, 1, 2 * DAY_MS);
    if (tells(w, LIE_ABSTAIN))
        answer->abstains = chance_range(&w->chance, 0, MS(DAY_MS));
    if (tells(w, LIE_TIME))
        answer->time += chance_range(&w->chance, -MS(DAY_MS), MS(DAY_MS));
}

/* A push for the token that has just asked, or for any waiter there. */
static void lie_to_waiters(struct world *w, unsigned master, const struct model_call *call,
                           struct model_answer *answer)
{
    const struct model_data *data = &w->servers[master].model.data;
    const struct model_waiter *waiter =
        data->waiters_used ? &data->waiters[chance_below(&w->chance, data->waiters_used)] : NULL;
    struct model_push push = {
        .channel = call->channel, .value = call->value, .count = 1, .free_slot = -1};
    if (waiter && waiter->value &&
        (call->kind != REQUEST_QUEUE || chance_permille(&w->chance, 300))) {
        push.channel = waiter->channel;
        push.value = waiter->value;
    } else if (call->kind != REQUEST_QUEUE) {
        return;
    }
    push.clock = lying_clock(w, data->clock.h + chance_range(&w->chance, 0, 1000));
    if (w->permits && chance_permille(&w->chance, 300)) {
        push = (struct model_push){.channel = push.channel, .value = push.value};
        push.free_slot = (int)chance_below(&w->chance, PERMITS_MOST);
    }
    if (answer->push_count < MODEL_NAMES)
        answer->pushes[answer->push_count++] = push;
}

/* Also to a request for no slot. */
static void lie_about_slots(struct world *w, struct model_answer *answer)
{
    if (!w->permits || !tells(w, LIE_POSITION))
        return;
    unsigned most = chance_permille(&w->chance, 500) ? w->most_permits : PERMITS_MOST;
    answer->free_slot = (int16_t)((int)chance_below(&w->chance, most + 1) - 1);
    answer->next_slot = (int16_t)((int)chance_below(&w->chance, most + 1) - 1);
}

static void lie_about_queue(struct world *w, struct model_answer *answer)
{
    if (tells(w, LIE_GRANT))
        answer->answer = ANSWER_YES;
    if (tells(w, LIE_REFUSE))
        answer->answer = ANSWER_QUEUED;
    if (tells(w, LIE_AHEAD))
        answer->answer = ANSWER_AHEAD;
    if (answer->answer != ANSWER_QUEUED)
        return;
    answer->belies_holder = tells(w, LIE_POSITION);
    lie_about_slots(w, answer);
    if (tells(w, LIE_POSITION))
        answer->position = chance_below(&w->chance, chance_permille(&w->chance, 500) ? 3 : 1000000);
    if (tells(w, LIE_LEFT))
        answer->remaining_ms = chance_permille(&w->chance, 300) ? INT64_MAX / 2
                               : chance_permille(&w->chance, 300)
                                   ? -chance_range(&w->chance, 1, 1000000)
                                   : chance_range(&w->chance, 0, 2 * DAY_MS);
}

static void lie_about_renewal(struct world *w, struct model_answer *answer)
{
    static const enum answer answers[] = {ANSWER_LATE, ANSWER_HEALED, ANSWER_ABSENT, ANSWER_HELD,
                                          ANSWER_YES};
    if (tells(w, LIE_RENEWAL))
        answer->answer = answers[chance_below(&w->chance, 5)];
    if (answer->answer == ANSWER_LATE)
        answer->time += tells(w, LIE_TIME) ? chance_range(&w->chance, 0, MS(DAY_MS)) : 0;
}

/* Anything that was ever announced, of any name, by anybody. */
static struct model_said something_said(struct world *w)
{
    uint32_t value = 1 + chance_below(&w->leading, w->sayings_made);
    struct model_said said = {.value = value, .term = w->sayings[value].term};
    said.token = 1 + chance_below(&w->leading, w->token_count - 1);
    said.number = chance_range(&w->leading, 1, 3);
    return said;
}

static void lie_about_leader(struct world *w, const struct model_call *call,
                             struct model_answer *answer)
{
    if (tells(w, LIE_REFUSE))
        answer->answer = ANSWER_ABSENT;
    if (!tells(w, LIE_GRANT))
        return;
    answer->answer = ANSWER_YES;
    if (call->kind != REQUEST_OBSERVE)
        return;
    if (w->sayings_made && w->token_count > 1)
        answer->said = something_said(w);
    answer->answer = answer->said.token ? ANSWER_YES : ANSWER_ABSENT;
    answer->remaining_ms = chance_range(&w->leading, 1, w->max_ttl_ms);
}

static void lie_about_barrier(struct world *w, const struct model_call *call,
                              struct model_answer *answer)
{
    bool arrives = call->kind == REQUEST_ARRIVE;
    answer->parties = call->parties;
    if (tells(w, LIE_GRANT))
        answer->answer = chance_permille(&w->meeting, 500) ? ANSWER_YES : ANSWER_OPEN;
    for (unsigned i = 0; answer->answer == ANSWER_OPEN && i < MODEL_PARTIES; i++)
        if (tells(w, LIE_GRANT))
            answer->tokens[i] = 1 + chance_below(&w->meeting, w->token_count - 1);
    if (!tells(w, LIE_REFUSE))
        return;
    bool bars = chance_permille(&w->meeting, 300);
    answer->answer = bars ? ANSWER_HELD : arrives ? ANSWER_QUEUED : ANSWER_ABSENT;
    answer->parties = call->parties + bars;
}

/* It knows what there is, and makes up who has arrived, that it is open, or that it has none. */
static void lie_about_latch(struct world *w, unsigned master, const struct model_call *call,
                            struct model_answer *answer)
{
    const struct model_latch *latch = &w->servers[master].model.data.latches[call->names[0]];
    if (tells(w, LIE_REFUSE)) {
        *answer = (struct model_answer){.answer = ANSWER_ABSENT};
        return;
    }
    if (!latch->id || !tells(w, LIE_GRANT))
        return;
    answer->answer = chance_permille(&w->latching, 500) ? ANSWER_OPEN : ANSWER_YES;
    answer->latch = *latch;
    answer->remaining_ms = MS(3600);
    for (unsigned i = 0; i < MODEL_ARRIVALS; i++)
        answer->latch.arrived[i] = chance_permille(&w->latching, 300)
                                       ? 0
                                       : 1 + chance_below(&w->latching, w->token_count - 1);
}

/* Anything that anybody wished, said to whomever the name has. */
static struct model_said something_wished(struct world *w, unsigned master, unsigned name)
{
    uint32_t number = 1 + chance_below(&w->asking, w->wish_count);
    struct model_said said = {.value = number | SAID_AS_WISH, .term = w->wishes_made[number].id};
    said.token = model_value(&w->servers[master].model, server_wall(w, master), name);
    if (said.token > w->token_count)
        said.token = w->token_count;
    said.number = chance_range(&w->asking, 1, 3);
    return said;
}

static void lie_about_wish(struct world *w, unsigned master, const struct model_call *call,
                           struct model_answer *answer)
{
    bool asks = call->kind == REQUEST_ASK;
    if (tells(w, LIE_REFUSE))
        answer->answer = ANSWER_ABSENT;
    if (!tells(w, LIE_GRANT) || !w->wish_count || !w->token_count)
        return;
    answer->answer = ANSWER_HELD;
    answer->value = 1 + chance_below(&w->asking, w->token_count);
    answer->remaining_ms = chance_range(&w->asking, 1, w->max_ttl_ms);
    answer->counted = chance_below(&w->asking, 3);
    if (asks)
        return;
    answer->said = something_wished(w, master, call->names[0] - wishes_of(0));
    answer->answer = answer->said.token ? ANSWER_YES : ANSWER_ABSENT;
    answer->remaining_ms = chance_range(&w->asking, 1, 15000);
}

static bool is_about_wish(const struct model_call *call)
{
    return call->kind == REQUEST_ASK ||
           (call->kind == REQUEST_OBSERVE && wishes_are(call->names[0]));
}

static void lie_about_error(struct world *w, const struct model_call *call,
                            struct model_answer *answer)
{
    static const enum answer answers[] = {ANSWER_ERROR, ANSWER_NOSCRIPT, ANSWER_NO_CLOCK};
    bool has_clock = request_has_clock(call->kind);
    answer->answer = answers[chance_below(&w->chance, has_clock                     ? 3
                                                      : call->kind == REQUEST_HELLO ? 1
                                                                                    : 2)];
    answer->clock = 0;
    answer->error = answer->answer == ANSWER_ERROR ? "ERR whatever" : NULL;
}

/* It has carried out what was asked, and then thrown it away. */
static void forget(struct model_data *data, const struct model_call *call)
{
    for (unsigned i = 0; i < call->count; i++)
        data->keys[call->names[i]] = (struct model_key){0};
    if (data->clock.h)
        data->clock.h = 1;
}

void liar_answers(struct world *w, unsigned master, struct message *message, bool tolerates_twins)
{
    const struct model_call *call = &message->call;
    struct model_answer *answer = &message->answer;
    bool grants = call->kind == REQUEST_ACQUIRE || call->kind == REQUEST_GRANT;
    if (grants && tells(w, LIE_GRANT))
        answer->answer = ANSWER_YES;
    if (grants && tells(w, LIE_REFUSE))
        answer->answer = ANSWER_HELD;
    if (call->kind == REQUEST_UPGRADE && tells(w, LIE_GRANT))
        *answer = (struct model_answer){.answer = ANSWER_YES, .clock = call->proposal};
    if (call->kind == REQUEST_UPGRADE && tells(w, LIE_REFUSE))
        *answer = (struct model_answer){.answer = ANSWER_READ};
    if (call->kind == REQUEST_RAISE && tells(w, LIE_GRANT))
        *answer = (struct model_answer){.answer = ANSWER_YES, .clock = call->fence};
    if (call->kind == REQUEST_HELLO)
        lie_to_hello(w, answer, tolerates_twins);
    if (call->kind == REQUEST_QUEUE)
        lie_about_queue(w, answer);
    if (call->kind == REQUEST_RENEW)
        lie_about_renewal(w, answer);
    if (call->kind == REQUEST_AGREE && call->agree)
        lists_lie(w, call->agree);
    if (call->kind == REQUEST_ARRIVE || call->kind == REQUEST_DEPART)
        lie_about_barrier(w, call, answer);
    else if (call->kind == REQUEST_TALLY || call->kind == REQUEST_MEND)
        lie_about_latch(w, master, call, answer);
    else if (is_about_wish(call))
        lie_about_wish(w, master, call, answer);
    else if (request_is_of_task(call->kind))
        lie_about_leader(w, call, answer);
    bool has_age = call->kind == REQUEST_TALLY || call->kind == REQUEST_MEND;
    if (has_age && answer->clock) /* it tells milliseconds */
        answer->clock = MS(chance_range(&w->chance, 0, 4 * w->max_ttl_ms));
    else if (answer->clock || (call->proposal && answer->answer == ANSWER_YES))
        answer->clock = lying_clock(w, answer->clock ? answer->clock : 1);
    if (tells(w, LIE_FORGET))
        forget(&w->servers[master].model.data, call);
    if (tells(w, LIE_PUSH))
        lie_to_waiters(w, master, call, answer);
    if (tells(w, LIE_FLOOD) && chance_permille(&w->chance, FLOODS))
        answer->floods = true;
    if (call->kind != REQUEST_KILL && call->kind != REQUEST_ADOPT && tells(w, LIE_ERROR))
        lie_about_error(w, call, answer);
}
