/*
 * barrier-model - every order of events among a few masters and parties, tried against the rules
 * by which parties pass a barrier or leave it, and against each of them broken.
 *
 * Here are the questions, with the world that is looked at for each.
 */
#include "world.h"

/* Three masters, and a barrier for two. */
#define OF(the_parties, ...)                                                                       \
    {                                                                                              \
        .masters = 3, .parties = (the_parties), .wanted = 2, .abstain = 3, __VA_ARGS__             \
    }

static const struct rules worlds[QUESTIONS] = {
    [TOGETHER] = OF(3, .expiries = 1),
    [EXPIRY] = OF(2, .lasts = 1, .ttl = 1, .deaths = 1),
    [BARRED] = OF(2, .late = 1, .others = 2),
    [RESTARTS] = OF(2, .lasts = 1, .restarts = 1, .saves = 1, .deaths = 1, .returns = 1),
    [FORGOTTEN] = OF(2, .lasts = 1, .ttl = 2, .kept = 5),
    [PROGRESS] = OF(2, .lasts = 1, .ttl = 1, .late = 1),
    [SLEEPER] = OF(2, .lasts = 1, .ttl = 1, .kept = 4, .deaths = 1, .returns = 1),
    [OTHERS] = OF(2, .lasts = 1, .ttl = 1, .returns = 1, .others = 1),
};

static const struct change changes[] = {
    {ARRIVES_BEHIND, {WITH(parties, 2), WITH(late, 2)}},
    {QUARANTINE_SHORT, {WITH(abstain, 2)}},
    {OPEN_KEPT_SHORT, {WITH(kept, 3)}},
};

static struct model model_of(const struct rules *rules)
{
    return MODEL(rules, rules->question == PROGRESS || rules->question == SLEEPER);
}

static const struct rules_number numbers[] = {
    NUMBER(masters, 1, MASTERS, ""),
    NUMBER(parties, 1, PARTIES, ""),
    NUMBER(wanted, 1, PARTIES, ": as many parties is the barrier for"),
    NUMBER(lasts, 0, LONGEST, " ticks, for which what a master said counts; 0: for ever"),
    NUMBER(ttl, 0, 2, " ticks; 0: a count expires at any time"),
    NUMBER(abstain, 0, 2 * LONGEST + 1, " ticks, for which a restarted master abstains"),
    NUMBER(kept, 0, 15, " ticks, for which an open barrier is kept; 0: for ever"),
    NUMBER(restarts, 0, 3, " times a master restarts"),
    NUMBER(late, 0, 6, " messages are late, or connections end"),
    NUMBER(deaths, 0, 3, " parties die"),
    NUMBER(expiries, 0, 3, " counts end at any time"),
    NUMBER(returns, 0, 3, " times a party comes back with its token"),
};

MODEL_MAIN
