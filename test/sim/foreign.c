#include "foreign.h"

#include <stdlib.h>
#include <string.h>

#include "invariants.h"
#include "trace.h"

static usec local(const struct world *w, const struct foreigner *it)
{
    return clock_read(&it->clock, w->now);
}

bool foreigner_holds(const struct world *w, unsigned number)
{
    const struct foreigner *it = w->foreign[number];
    return it->end > local(w, it);
}

static void later(struct world *w, unsigned number, usec low, usec high)
{
    world_plan(w, w->now + chance_range(&w->chance, low, high), HAPPENS_FOREIGNER, NULL, number);
}

void foreigner_start(struct world *w, unsigned number)
{
    struct foreigner *it = calloc(1, sizeof *it);
    it->clock = clock_drawn(&w->chance, 1, 1000000, 4500);
    w->foreign[number] = it;
    later(w, number, 0, MS(500));
}

static void begin(struct world *w, struct foreigner *it)
{
    char text[TOKEN_TEXT + 1];
    static const char digits[] = "0123456789abcdef";
    for (unsigned i = 0; i < TOKEN_TEXT; i++)
        text[i] = digits[chance_below(&w->chance, 16)];
    it->token = world_token(w, text, TOKEN_TEXT);
    w->tokens[it->token].excused = w->tokens[it->token].foreign = true;
    it->name = (uint8_t)chance_below(&w->chance, w->names);
    it->ttl = MS(chance_range(&w->chance, w->max_ttl_ms / 8, w->max_ttl_ms));
    it->began = local(w, it);
    it->granted = 0;
}

static void ask(struct world *w, struct foreigner *it)
{
    struct model_answer answer;
    struct model_call call = {.kind = REQUEST_ACQUIRE,
                              .count = 1,
                              .names = {it->name},
                              .value = it->token,
                              .ttl_ms = it->ttl / 1000};
    if (net_execute(w, it->next, &call, &answer) && answer.answer == ANSWER_YES)
        it->granted++;
    it->next++;
}

static void give_back(struct world *w, struct foreigner *it)
{
    struct model_answer answer;
    struct model_call call = {.kind = REQUEST_RELEASE,
                              .whole = true,
                              .plain = true,
                              .count = 1,
                              .names = {it->name},
                              .value = it->token};
    for (unsigned i = 0; i < w->masters; i++)
        net_execute(w, i, &call, &answer);
    it->end = 0;
    it->next = 0;
}

static void count(struct world *w, unsigned number)
{
    struct foreigner *it = w->foreign[number];
    usec end = it->began + it->ttl - it->ttl / 100 - MS(2);
    if (it->granted < w->quorum || local(w, it) >= end) {
        give_back(w, it);
        later(w, number, MS(5), MS(400));
        return;
    }
    it->end = end;
    TRACE(w, "another library's client has %c on %u masters", 'a' + it->name, it->granted);
    check_foreigner(w, number);
    later(w, number, MS(1), it->ttl);
    it->next++;
}

void foreigner_acts(struct world *w, unsigned number)
{
    struct foreigner *it = w->foreign[number];
    if (it->next > w->masters) {
        give_back(w, it);
        later(w, number, 0, MS(300));
    } else if (it->next == w->masters) {
        count(w, number);
    } else if (it->next || !w->peace) {
        if (it->next == 0)
            begin(w, it);
        ask(w, it);
        later(w, number, 50, chance_permille(&w->chance, 30) ? MS(200) : 900);
    }
}
