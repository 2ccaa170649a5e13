#include "lists.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "change.h"
#include "liar.h"
#include "movers.h"
#include "trace.h"
#include "wrong.h"

#define HOST 16 /* of an address number: the other name */

static bool has_lists(const struct world *w)
{
    return habit_has_lists(w->options.habit);
}

/* ---- drawing --------------------------------------------------------------------- */

void lists_finish(struct list_kind *kind, unsigned spare)
{
    kind->masters = 0;
    for (unsigned i = 0; i < MASTERS_MAX; i++)
        if (kind->has >> i & 1)
            kind->servers[kind->masters++] = (uint8_t)i;
    kind->spare = kind->masters < 4 ? 0 : spare;
    kind->quorum = wrong_quorum(kind->masters, kind->spare);
}

static const unsigned sizes[] = {3, 3, 5, 5, 5, 4, 6, 7, 2, 1};

/* Some of the first list's masters are missing, others are there, and some have other names. */
static void draw_other(struct world *w, unsigned most_missing)
{
    static const unsigned counts[] = {0, 0, 0, 1, 1, 1, 2, 2, 3};
    struct chance *chance = &w->listing;
    struct list_kind *kind = &w->kinds[1];
    unsigned missing = counts[chance_below(chance, 9)], more = counts[chance_below(chance, 9)];
    unsigned count = w->kinds[0].masters;
    kind->has = w->kinds[0].has;
    for (unsigned i = 0; i < missing && i < most_missing; i++)
        kind->has &= (uint16_t) ~(1U << chance_below(chance, count));
    for (unsigned i = 0; i < more; i++)
        kind->has |= (uint16_t)(1U << (count + i));
    if (!kind->has || chance_permille(chance, 20))
        kind->has = (uint16_t)(7U << count); /* none in common */
    if (chance_permille(chance, 250))
        kind->renamed = (uint16_t)chance_next(chance);
    w->masters = count + (more > 3 ? more : 3);
}

/* Some masters of the first list, and mostly too few for both to be used. */
static void draw_part(struct world *w)
{
    unsigned count = w->kinds[0].masters;
    unsigned part = count / 2 + (count > 3 && count % 2);
    w->kinds[1].has = (uint16_t)((1U << (part ? part : 1)) - 1);
    w->masters = count;
}

/* By a list that is kept by hand, one master is another one, and farther away.  Programs that have
 * it are over soon. */
static void draw_replaced(struct world *w)
{
    unsigned count = w->kinds[0].masters;
    w->kinds[1].has = (uint16_t)((1U << (count + 1)) - 1);
    w->kinds[1].has &= (uint16_t) ~(1U << chance_below(&w->listing, count));
    w->masters = count + 1;
    w->is_replaced = true;
    for (unsigned c = 0; c < CLIENTS_MAX; c++)
        w->paths[c][count].farther = MS(2);
}

/* It may not meet the first one, and often shares no master with it. */
static void draw_successor(struct world *w, unsigned size)
{
    struct chance *chance = &w->listing;
    struct list_kind *kind = &w->kinds[1];
    unsigned count = w->kinds[0].masters, least = size < count ? size : count;
    unsigned common = chance_permille(chance, 400) ? 0 : chance_below(chance, least + 1);
    kind->has = (uint16_t)(((1U << (size - common)) - 1) << count);
    while ((unsigned)__builtin_popcount(kind->has) < size)
        kind->has |= (uint16_t)(1U << chance_below(chance, count));
    kind->renamed = chance_permille(chance, 250) ? (uint16_t)chance_next(chance) : 0;
    w->masters = count + size - common;
}

static unsigned draw_spare(struct world *w, bool liar)
{
    return chance_permille(&w->listing, liar ? 930 : 150);
}

static void draw_second(struct world *w, bool liar)
{
    unsigned dice = liar ? 1000 : chance_below(&w->listing, 1000);
    if (dice < 350)
        draw_part(w);
    else if (dice < 450)
        draw_replaced(w);
    else
        draw_other(w, w->kinds[0].masters);
    lists_finish(&w->kinds[1], draw_spare(w, liar));
}

static void draw_until_they_may_not_meet(struct world *w, bool liar)
{
    do {
        draw_successor(w, sizes[chance_below(&w->listing, 10)]);
        lists_finish(&w->kinds[1], draw_spare(w, liar));
    } while (lists_may_meet(&w->kinds[0], &w->kinds[1]));
}

static void draw_kinds(struct world *w)
{
    struct chance *chance = &w->listing;
    bool liar = chance_permille(chance, 300) && !(w->options.without & 1U << FAULT_LIAR);
    unsigned count = liar ? 4 + chance_below(chance, 4) : sizes[chance_below(chance, 10)];
    w->kinds[0].has = (uint16_t)((1U << count) - 1);
    lists_finish(&w->kinds[0], is_change(w) && liar ? 1 : draw_spare(w, liar));
    if (is_change(w))
        draw_until_they_may_not_meet(w, liar);
    else
        draw_second(w, liar);
    w->kinds[1].more_ttl_ms = chance_permille(chance, 100) ? 500 : 0;
    w->spare = w->kinds[0].spare < w->kinds[1].spare ? w->kinds[0].spare : w->kinds[1].spare;
    w->quorum = w->kinds[0].quorum;
    movers_draw_lists(w);
    w->wrong = liar;
    w->faults &= ~(liar ? 0 : 1U << FAULT_LIAR);
    w->lists.runs = !is_change(w) && !lists_may_meet(&w->kinds[0], &w->kinds[1]);
}

void lists_draw(struct world *w)
{
    static const int64_t longest[] = {1000, 3000, 6000, 20000};
    struct chance *chance = &w->listing;
    if (!has_lists(w))
        return;
    chance->state = mix(w->options.seed ^ 0x1157);
    draw_kinds(w);
    w->clients = w->options.clients ? w->options.clients : 2 + chance_below(chance, 3);
    w->ops_left = w->options.ops ? w->options.ops : (unsigned)chance_range(chance, 4, 24);
    w->names = 1 + chance_permille(chance, 200);
    w->max_ttl_ms = longest[chance_below(chance, 4)];
    w->skew_ms = 1000;
    w->change.chance.state = mix(w->options.seed ^ 0xc4a6e);
    w->sleepy =
        chance_permille(chance, is_change(w) ? 500 : 200) && w->faults & 1U << FAULT_STOP_CLIENT
            ? 60
            : 0;
    if (w->sleepy || w->is_replaced)
        w->ops_left += 16;
    w->longest_gap_ms =
        !w->sleepy && !w->is_replaced && chance_permille(chance, 500) ? 2000 : 30000;
    w->fault_pace = (unsigned)chance_range(chance, 2000, 40000);
    movers_draw_clients(w);
    for (unsigned k = 0; k < (w->moves ? KINDS_ALL : KINDS); k++)
        TRACE(w, "list %c: masters %#x (%#x renamed), quorum %u, %u spare", 'A' + k,
              w->kinds[k].has, w->kinds[k].renamed, w->kinds[k].quorum, w->kinds[k].spare);
}

/* Words count for two minutes, and what was said is kept for longer. */
usec lists_a_while(struct world *w)
{
    unsigned dice = chance_below(&w->chance, 10);
    return chance_range(&w->chance, MS(1), dice < 5 ? MS(400) : dice < 8 ? MS(8000) : MS(200000));
}

/* ---- who has which --------------------------------------------------------------- */

usec lists_begins_after(struct world *w)
{
    if (!has_lists(w) || chance_permille(&w->listing, 500))
        return 0;
    return chance_range(&w->listing, 1, chance_permille(&w->listing, 500) ? MS(500) : MS(150000));
}

bool lists_begins_late(const struct shell *s)
{
    return has_lists(s->world) && !s->world->ending;
}

bool lists_have_begun(const struct world *w)
{
    bool all = true;
    for (unsigned c = 0; c < w->clients; c++)
        all &= w->shells[c]->running;
    return all;
}

static const struct list_kind *choose(const struct shell *s)
{
    struct world *w = s->world;
    bool is_first = !s->kind && s->index < KINDS;
    if (s->kind && !chance_permille(&w->listing, 250))
        return s->kind;
    return &w->kinds[is_first ? s->index : chance_below(&w->listing, KINDS)];
}

void lists_choose(struct shell *s, redlock_options *options)
{
    struct world *w = s->world;
    s->masters = w->masters;
    if (has_lists(w)) {
        s->kind = is_change(w) ? change_choose(s) : choose(s);
        s->masters = s->kind->masters;
        w->kinds[s->kind - w->kinds].was_used = true;
        options->spare = (int)s->kind->spare;
        options->max_ttl_ms += s->kind->more_ttl_ms;
        options->fleet = "fleet";
        TRACE(w, "client %u has list %c", s->index + 1, 'A' + (int)(s->kind - w->kinds));
    }
    memset(s->entry_of, MASTERS_MAX, sizeof s->entry_of);
    for (unsigned i = 0; i < s->masters; i++) {
        s->servers[i] = s->kind ? s->kind->servers[i] : (uint8_t)i;
        s->entry_of[s->servers[i]] = (uint8_t)i;
    }
}

unsigned lists_host(const struct shell *s, unsigned server)
{
    return s->kind && s->kind->renamed >> server & 1;
}

/* ---- words ----------------------------------------------------------------------- */

static uint8_t number_of(const struct shell *s, unsigned entry)
{
    unsigned server = s->servers[entry];
    return (uint8_t)(server + HOST * lists_host(s, server));
}

struct model_agree *lists_say(const struct shell *s, const struct agree_request *says)
{
    struct model_agree *agree = calloc(1, sizeof *agree);
    struct model_kind *kind = &agree->kind;
    agree->says = says->says;
    agree->client = s->channel;
    agree->kept = says->kept;
    agree->told_time = says->told_time;
    kind->quorum = (uint8_t)says->quorum;
    kind->spare = (uint8_t)says->config->spare;
    kind->max_ttl_ms = says->config->max_ttl_ms;
    for (unsigned entry = 0; entry < says->config->masters; entry++) {
        uint8_t number = number_of(s, entry);
        unsigned at = kind->masters++;
        for (; at && kind->addresses[at - 1] > number; at--) {
            kind->addresses[at] = kind->addresses[at - 1];
            agree->run_ids[at] = agree->run_ids[at - 1];
        }
        kind->addresses[at] = number;
        agree->run_ids[at] = strtoull(says->run_ids[entry], NULL, 16);
    }
    return agree;
}

static size_t spell_process(const struct model_told *told, unsigned i, char *text, size_t size)
{
    const struct model_process *process = &told->processes[i];
    unsigned number = told->kind.addresses[i];
    char run_id[20] = "-";
    if (process->run_id)
        snprintf(run_id, sizeof run_id, "%016llx", (unsigned long long)process->run_id);
    return (size_t)snprintf(text, size, "\n%lld %lld %s 10.0.%u.%u:6379", (long long)process->since,
                            (long long)process->until, run_id, number / HOST, number % HOST + 1);
}

struct slice lists_spell(const struct model_agree *agree, usec time)
{
    static char text[(MODEL_LISTS + 1) * (MASTERS_MAX + 1) * 100];
    size_t used = (size_t)snprintf(text, sizeof text, "%lld", (long long)time);
    if (agree->successor)
        used +=
            (size_t)snprintf(text + used, sizeof text - used, " over list-%u", agree->successor);
    for (unsigned i = 0; i < agree->told_count; i++) {
        const struct model_told *told = &agree->told[i];
        used += (size_t)snprintf(
            text + used, sizeof text - used, "\n%c %lld %lld %u %u %u %lld %u ", told->place,
            (long long)told->first_ago, (long long)told->last_ago, told->clients, told->kind.quorum,
            told->kind.spare, (long long)told->kind.max_ttl_ms, told->kind.masters);
        for (unsigned k = 0; k < told->kind.masters; k++)
            used += spell_process(told, k, text + used, sizeof text - used);
    }
    return (struct slice){text, used};
}
