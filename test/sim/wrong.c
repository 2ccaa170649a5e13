#include "wrong.h"

#include <string.h>

#include "faults.h"
#include "lists.h"
#include "rules.h"
#include "liar.h"
#include "model_net.h"
#include "trace.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define REMEMBERED      MS(62000)
#define MIXED           200 /* of 1000 runs with one spare vote: beside clients with none */

static const struct setting {
    unsigned masters, spare;
} settings[] = {{4, 1}, {5, 1}, {7, 1}, {7, 2}};

unsigned wrong_quorum(unsigned masters, unsigned spare)
{
    return (masters + spare + 2) / 2;
}

static bool fits(const struct options *options, const struct setting *setting)
{
    return (!options->masters || options->masters == setting->masters) &&
           (options->spare < 0 || (unsigned)options->spare == setting->spare);
}

static void draw_setting(struct world *w)
{
    const struct options *options = &w->options;
    struct setting setting = {options->masters, options->spare < 0 ? 0 : (unsigned)options->spare};
    unsigned first = chance_below(&w->chance, COUNT_OF(settings));
    for (unsigned i = 0; i < COUNT_OF(settings); i++)
        if (fits(options, &settings[(first + i) % COUNT_OF(settings)]))
            setting = settings[(first + i) % COUNT_OF(settings)];
    w->masters = setting.masters ? setting.masters : 5;
    w->spare = setting.spare;
    w->wrong = options->wrong < 0 ? w->spare : (unsigned)options->wrong;
    w->mixed = w->spare == 1 && options->wrong < 0 && chance_permille(&w->chance, MIXED);
}

void wrong_draw(struct world *w)
{
    if (w->options.faults & 1U << FAULT_FORGET)
        draw_setting(w);
    else if (w->options.faults & 1U << FAULT_LIAR)
        w->wrong = 1;
    w->quorum = wrong_quorum(w->masters, w->spare);
}

unsigned wrong_spare_of_client(struct world *w)
{
    return w->mixed && chance_permille(&w->chance, 500) ? 0 : w->spare;
}

/* ---- forgetting ------------------------------------------------------------------ */

static usec all_is_over(const struct world *w)
{
    return w->now + MS(w->max_ttl_ms) * 102 / 100 + MS(w->skew_ms) + MS(100);
}

bool is_wrong(const struct world *w, unsigned master)
{
    const struct server *server = &w->servers[master];
    return is_liar(w, master) || server->wrong_until > w->now || server->jumped ||
           (server->farthest && fences_clock_is_ahead(w, master));
}

static bool may_forget(const struct world *w, unsigned master)
{
    unsigned wrong = 0;
    for (unsigned i = 0; i < w->masters; i++)
        wrong += i != master && is_wrong(w, i);
    return w->servers[master].up && !is_liar(w, master) && wrong < w->wrong;
}

static void flush(struct world *w, unsigned master)
{
    TRACE(w, "FAULT master %u is flushed", master + 1);
    w->servers[master].model.data = (struct model_data){.arrivals = 0};
}

static void lose_a_key(struct world *w, unsigned master)
{
    struct model_data *data = &w->servers[master].model.data;
    unsigned name = chance_below(&w->chance, w->names + 1);
    TRACE(w, "FAULT master %u loses %s", master + 1, name < w->names ? "a lock" : "redlock:clock");
    if (name < w->names)
        data->keys[name] = (struct model_key){0};
    else
        data->clock = (struct model_clock){0};
}

/* A key that stays longer on a clock that was set back is no fault. */
static void set_clock(struct world *w, unsigned master, usec step)
{
    struct server *server = &w->servers[master];
    TRACE(w, "FAULT the clock of master %u jumps by %.3f s", master + 1, (double)step / 1e6);
    server->jumped += step;
    if (server->jumped > server->farthest)
        server->farthest = server->jumped;
    server->clock.base += step;
    orphans_excuse_holders(w, &server->model.data);
    for (unsigned i = 0; i < server->model.data.waiters_used; i++)
        w->tokens[server->model.data.waiters[i].value].excused = true;
}

/* Clients look at walls once a minute, and may remember this one until then. */
static void set_right(struct world *w, unsigned master)
{
    struct server *server = &w->servers[master];
    set_clock(w, master, -server->jumped);
    if (server->wrong_until < w->now + REMEMBERED)
        server->wrong_until = w->now + REMEMBERED;
}

static void jump(struct world *w, unsigned master)
{
    if (w->servers[master].jumped)
        set_right(w, master);
    else
        set_clock(w, master, chance_range(&w->chance, MS(50), MS(20000)));
}

/* A liar is replaced, after a while, by a new process that has nothing. */
static void stop_lying(struct world *w, unsigned master)
{
    static const struct model_data nothing;
    struct server *server = &w->servers[master];
    TRACE(w, "FAULT master %u is down, and will not lie any more", master + 1);
    w->liars &= (uint16_t) ~(1U << master);
    server->wrong_until = all_is_over(w);
    server->up = false;
    server->comes_back_with = &nothing;
    net_server_down(w, master);
    usec longest = chance_permille(&w->chance, 500) ? MS(60000) : MS(600);
    world_plan(w, w->now + chance_range(&w->chance, MS(1), longest), HAPPENS_RESTART, NULL, master);
}

static void begin_to_lie(struct world *w, unsigned master)
{
    TRACE(w, "FAULT master %u lies from now on", master + 1);
    w->liars |= (uint16_t)(1U << master);
}

void wrong_forget(struct world *w, unsigned master)
{
    if (is_liar(w, master) && w->servers[master].up && chance_permille(&w->chance, 300)) {
        stop_lying(w, master);
        return;
    }
    if (!may_forget(w, master))
        return;
    if (w->lies && chance_permille(&w->chance, 200)) {
        begin_to_lie(w, master);
        return;
    }
    w->servers[master].wrong_until = all_is_over(w);
    w->servers[master].abstains_until = 0;
    switch (chance_below(&w->chance, 5)) {
    case 0:
        flush(w, master);
        break;
    case 1:
        lose_a_key(w, master);
        break;
    case 2:
        jump(w, master);
        break;
    case 3:
        faults_fail_over(w, master, false);
        break;
    case 4:
        faults_fail_over(w, master, true);
        break;
    }
}

void wrong_end(struct world *w)
{
    for (unsigned i = 0; i < w->masters; i++)
        if (w->servers[i].jumped)
            set_right(w, i);
}

/* ---- what it may break -------------------------------------------------------------- */

bool wrong_pair_tolerated(const struct world *w, unsigned quorum, unsigned other)
{
    if (habit_has_lists(w->options.habit))
        return true; /* lists_exclude() knows */
    return w->wrong + w->masters + 1 <= quorum + other || w->options.wrong >= 0;
}

static bool is_one_of(const char *rule, const char *const *rules)
{
    for (; *rules; rules++)
        if (strcmp(*rules, rule) == 0)
            return true;
    return false;
}

/* Which two clients a rule is about only exclusion and fence know. */
bool wrong_may_break(const struct world *w, const char *rule)
{
    static const char *const plain[] = {"exclusion", "backing", "fence",   "stored",
                                        "turn",      "order",   "healing", NULL};
    static const char *const mixed[] = {"turn", "order", "healing", NULL};
    if (habit_has_lists(w->options.habit))
        return lists_may_break(w, rule);
    if (wrong_pair_tolerated(w, wrong_quorum(w->masters, 0), wrong_quorum(w->masters, 0)))
        return false;
    return !w->spare ? is_one_of(rule, plain) : w->mixed && is_one_of(rule, mixed);
}
