#include "world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "change.h"
#include "client_shell.h"
#include "users.h"
#include "faults.h"
#include "foreign.h"
#include "invariants.h"
#include "lasting.h"
#include "recipe_users.h"
#include "liar.h"
#include "lists.h"
#include "movers.h"
#include "trace.h"
#include "user_lease.h"
#include "wrong.h"

#define LOOK_LEAST MS(100)
#define SETTLE     MS(2700)  /* of peace, before it is looked at what is left */
#define LIVENESS   MS(25000) /* by then every waiting acquire has ended */
#define ROUNDS     10        /* that wait for a master which hangs, before one goes well */
#define CLOSING    MS(8000)
#define EVENTS_MAX 3000000

/* ---- clocks -------------------------------------------------------------------- */

usec clock_read(const struct clock *clock, usec now)
{
    return clock->base + now + now / 1000000 * clock->ppm + now % 1000000 * clock->ppm / 1000000;
}

usec clock_when(const struct clock *clock, usec reading)
{
    usec guess = reading - clock->base;
    guess -= guess / (1000000 + clock->ppm) * clock->ppm;
    while (guess > 0 && clock_read(clock, guess) >= reading)
        guess -= (clock_read(clock, guess) - reading) / 2 + 1;
    while (clock_read(clock, guess) < reading)
        guess += (reading - clock_read(clock, guess)) / 2 + 1;
    return guess;
}

usec server_wall(const struct world *w, unsigned master)
{
    return clock_read(&w->servers[master].clock, w->now);
}

/* ---- the queue of what will happen: a heap, earliest first ------------------------ */

static bool earlier(const struct happening *a, const struct happening *b)
{
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

void world_plan(struct world *w, usec at, enum happening_kind kind, void *subject, unsigned number)
{
    struct happening new = {.at = at > w->now ? at : w->now,
                            .order = ++w->order,
                            .subject = subject,
                            .kind = kind,
                            .number = number};
    if (w->heaped == w->heap_room) {
        w->heap_room = w->heap_room ? 2 * w->heap_room : 256;
        w->heap = realloc(w->heap, w->heap_room * sizeof *w->heap);
    }
    unsigned slot = w->heaped++;
    while (slot && earlier(&new, &w->heap[(slot - 1) / 2])) {
        w->heap[slot] = w->heap[(slot - 1) / 2];
        slot = (slot - 1) / 2;
    }
    w->heap[slot] = new;
}

static struct happening take_next(struct world *w)
{
    struct happening first = w->heap[0], last = w->heap[--w->heaped];
    unsigned slot = 0;
    for (;;) {
        unsigned child = 2 * slot + 1;
        if (child >= w->heaped)
            break;
        if (child + 1 < w->heaped && earlier(&w->heap[child + 1], &w->heap[child]))
            child++;
        if (!earlier(&w->heap[child], &last))
            break;
        w->heap[slot] = w->heap[child];
        slot = child;
    }
    w->heap[slot] = last;
    return first;
}

/* ---- tokens ------------------------------------------------------------------------- */

uint32_t world_token(struct world *w, const char *text, size_t length)
{
    uint64_t sum = length;
    for (size_t i = 0; i < length; i++)
        sum = sum * 31 + (unsigned char)text[i];
    uint32_t *bucket = &w->buckets[mix(sum) & 255];
    for (uint32_t i = *bucket; i; i = w->tokens[i].next)
        if (strlen(w->tokens[i].text) == length && memcmp(w->tokens[i].text, text, length) == 0)
            return i;
    if (w->token_count + 1 == w->token_room) {
        w->token_room *= 2;
        w->tokens = realloc(w->tokens, w->token_room * sizeof *w->tokens);
    }
    uint32_t number = ++w->token_count;
    struct token *token = &w->tokens[number];
    *token = (struct token){.next = *bucket, .client = CLIENTS_MAX};
    memcpy(token->text, text, length < TOKEN_TEXT ? length : TOKEN_TEXT);
    *bucket = number;
    return number;
}

/* ---- violations ------------------------------------------------------------------------ */

void world_violated(struct world *w, const char *rule, const char *format, ...)
{
    if (w->violation.rule || wrong_may_break(w, rule) ||
        (w->options.only && strcmp(w->options.only, rule) != 0))
        return;
    w->violation.rule = rule;
    w->violation.at = w->now;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(w->violation.text, sizeof w->violation.text, format, arguments);
    va_end(arguments);
    TRACE(w, "VIOLATION of %s: %s", rule, w->violation.text);
}

/* ---- peace -------------------------------------------------------------------------------- */

enum phase { PHASE_RUN, PHASE_SETTLE, PHASE_PROBE, PHASE_CLOSE, PHASE_OVER };

static void begin_peace(struct world *w)
{
    w->peace = true;
    faults_end(w);
    change_end(w);
    TRACE(w, "PEACE from %.3f ms on", (double)w->peace_at / 1000);
}

/* Long ttls mean long runs: they shall not mean many looks. */
static usec look_every(const struct world *w)
{
    usec every = MS(w->max_ttl_ms) / 60;
    usec least = habit_has_lists(w->options.habit) ? MS(1000) : LOOK_LEAST;
    return every > least ? every : least;
}

static bool all_is_given_back(const struct world *w)
{
    for (unsigned c = 0; c < w->clients; c++)
        if (lasting_reaches_quorum(w, c) &&
            (w->shells[c]->all || leaders_observe(w->shells[c]) || barriers_wait(w->shells[c]) ||
             latches_wait(w->shells[c]) || wishes_wait(w->shells[c]) || w->shells[c]->close_asked ||
             !w->shells[c]->ready_told))
            return false;
    for (unsigned f = 0; f < w->foreigners; f++)
        if (w->foreign[f]->next)
            return false;
    return true;
}

static bool may_grant(const struct shell *s, unsigned master)
{
    const struct master *it = shell_master(s, master);
    return it && master_may_grant(s->client->engine, it);
}

static bool all_vote(const struct world *w)
{
    for (unsigned c = 0; c < w->clients; c++)
        for (unsigned i = 0; i < w->masters; i++)
            if (w->shells[c]->entry_of[i] < MASTERS_MAX && lasting_reaches(w, c, i) &&
                !is_liar(w, i) && !may_grant(w->shells[c], i) &&
                !change_takes_vote(w->shells[c], i))
                return false;
    return true;
}

static usec quarantine(const struct world *w)
{
    return MS(w->max_ttl_ms + 1500) * 102 / 100 + MS(w->skew_ms);
}

/* Each waits for a quarter of its ttl where a master is asked and never heard of. */
static usec rounds_that_hang(const struct world *w)
{
    for (unsigned c = 0; c < w->clients; c++)
        if (!lasting_reaches_all(w, c))
            return ROUNDS * MS(w->max_ttl_ms) / 4;
    return 0;
}

/* A liar that says it is another master takes that one's vote, but not at each hello: all is well
 * only some time after the last. */
static bool vote_was_taken(struct world *w)
{
    if (w->liars && liar_took_a_vote(w))
        w->vote_taken_at = w->now;
    return w->vote_taken_at && w->now <= w->vote_taken_at + LIVENESS;
}

/* Every acquire has ended, every release was answered, every master votes. */
static enum phase settle(struct world *w)
{
    check_orphans(w);
    bool was_taken = vote_was_taken(w);
    bool done = all_is_given_back(w) && w->now > w->peace_at + SETTLE;
    if (done && all_vote(w) && !change_is_felt(w)) {
        unsigned prober = chance_below(&w->chance, w->clients);
        while (!lasting_reaches_quorum(w, prober))
            prober = (prober + 1) % w->clients;
        return user_probes(w->shells[prober]) ? PHASE_PROBE : PHASE_SETTLE;
    }
    bool is_late = w->now > w->peace_at + quarantine(w) + LIVENESS + rounds_that_hang(w) +
                                change_heard_within(w);
    if (is_late && (was_taken || w->options.wrong >= 0 || change_leaves_no_quorum(w)))
        return PHASE_OVER;
    if (is_late)
        world_violated(w, "progress", "%s, long after everything was well",
                       all_is_given_back(w) ? "a master does not vote, or a client is refused"
                                            : "something still waits for its answer");
    return PHASE_SETTLE;
}

/* When a master that answers nothing is known to hang. */
static usec longest_stall(const struct engine *e)
{
    usec longest = 0;
    for (unsigned i = 0; i < e->config.masters; i++)
        if (4 * e->masters[i].round_trip > longest)
            longest = 4 * e->masters[i].round_trip;
    if (e->config.request_timeout)
        longest = e->config.request_timeout;
    return 10 * (longest > MS(50) ? longest : MS(50));
}

/* Without a quorum something is owed until its ttl is over, and the answer of a master that hangs
 * is waited for. */
static usec closes_within(const struct world *w, unsigned client)
{
    bool may_owe = !lasting_reaches_quorum(w, client) || w->liars;
    usec owed = may_owe ? MS(w->max_ttl_ms + 1500) * 102 / 100 : 0;
    usec hangs = longest_stall(w->shells[client]->client->engine);
    return CLOSING + (owed > hangs ? owed : hangs);
}

static enum phase probe(struct world *w)
{
    check_orphans(w);
    for (unsigned c = 0; c < w->clients; c++)
        if (w->shells[c]->all && lasting_reaches_quorum(w, c))
            return PHASE_PROBE;
    w->ending = true;
    for (unsigned c = 0; c < w->clients; c++) {
        if (w->shells[c]->client)
            user_closes(w->shells[c], 2 * closes_within(w, c));
        shell_pump(w->shells[c]);
    }
    return PHASE_CLOSE;
}

/* Not the answer to a question whose lease is gone.  The rules looked at what is owed when the
 * client reported that it is closed. */
static bool has_work(const struct engine *e)
{
    return e->busy.count || e->throttled.count || e->stranded.count || e->held.count;
}

/* One that was freed before is at its end. */
static bool is_closed(struct world *w, unsigned client)
{
    const struct shell *s = w->shells[client];
    if (!s->client)
        return true;
    if (s->closed && has_work(s->client->engine))
        world_violated(w, "closing", "client %u is closed, and not done", client + 1);
    if (!s->closed && w->now > s->close_since + closes_within(w, client))
        world_violated(w, "closing", "client %u does not come to an end", client + 1);
    return s->closed;
}

static enum phase close_down(struct world *w)
{
    bool all = true;
    for (unsigned c = 0; c < w->clients; c++)
        all &= is_closed(w, c);
    return all ? PHASE_OVER : PHASE_CLOSE;
}

static void look(struct world *w)
{
    check_waiting(w);
    switch ((enum phase)w->phase) {
    case PHASE_RUN:
        if (w->ops_left == 0 && lists_have_begun(w) && w->linger-- == 0) {
            begin_peace(w);
            w->phase = PHASE_SETTLE;
        }
        break;
    case PHASE_SETTLE:
        w->phase = settle(w);
        break;
    case PHASE_PROBE:
        w->phase = probe(w);
        break;
    case PHASE_CLOSE:
        w->phase = close_down(w);
        break;
    case PHASE_OVER:
        break;
    }
    world_plan(w, w->now + look_every(w), HAPPENS_LOOK, NULL, 0);
}

/* ---- one run -------------------------------------------------------------------------------- */

#define SERVERS_BEGIN 1785000000000000 /* by their clocks */

static void make_server(struct world *w, unsigned index)
{
    struct server *server = &w->servers[index];
    int64_t bound = w->options.beyond ? 60000 : 4500;
    if (habit_has_lists(w->options.habit))
        bound = 200; /* in minutes, too, they stay within the skew */
    server->clock =
        clock_drawn(&w->chance, SERVERS_BEGIN, SERVERS_BEGIN + MS(w->skew_ms) / 4, bound);
    server->up = true;
    server->epoch = 1;
    model_restart(&server->model, server_wall(w, index), chance_next(&w->chance), NULL);
    if (!chance_permille(&w->chance, 60)) /* most have been up for long */
        server->model.started_s -= 100000;
}

/* Features of some runs only, and how much of each, per mille. */
static void draw_shares(struct world *w)
{
    const struct options *options = &w->options;
    bool asks = options->habit == HABIT_WISHES, works = options->habit == HABIT_WORKS;
    const struct {
        struct chance *chance;
        uint64_t salt;
        unsigned runs; /* that have any, per mille */
        int64_t least, most;
        int wished;     /* negative: drawn */
        bool in_crowds; /* or no crowd has any */
        unsigned *share;
    } shares[] = {
        {&w->modes, 0x4ead, 500, 100, 900, options->readers, true, &w->readers},
        {&w->keeping, 0x9e71, 500, 50, 500, options->periods, true, &w->at_least},
        {&w->handing, 0x70ce, 250, 200, 800, options->tokens, true, &w->hands_on},
        {&w->slots, 0x5107, 333, 200, 1000, options->permits, false, &w->permits},
        {&w->leading, 0x1ead, 333, 200, 1000, options->leaders, false, &w->leaders},
        {&w->meeting, 0xba44, 333, 100, 600, options->barriers, false, &w->barriers},
        {&w->latching, 0x1a7c, 333, 100, 600, options->latches, false, &w->latches},
        {&w->asking, 0x3157, asks ? 1000 : 0, 300, 1000, options->asks, false, &w->asks},
        {&w->working, 0x0ce5, works ? 1000 : 0, 300, 1000, options->works, false, &w->works},
        {&w->turning, 0x70b2, 125, 300, 1000, -1, true, &w->turns},
    };
    for (unsigned i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        struct chance *chance = shares[i].chance;
        chance->state = mix(options->seed ^ shares[i].salt);
        unsigned share = (unsigned)chance_range(chance, shares[i].least, shares[i].most);
        bool has = chance_permille(chance, shares[i].runs);
        if (shares[i].wished >= 0)
            *shares[i].share = (unsigned)shares[i].wished;
        else
            *shares[i].share = has ? share : 0;
        if ((options->habit == HABIT_CROWD && !shares[i].in_crowds) ||
            habit_has_lists(options->habit))
            *shares[i].share = 0;
    }
}

/* Most clients agree on how many permits there are. */
static void draw_most_permits(struct world *w)
{
    w->most_permits =
        1 + chance_below(&w->slots, chance_permille(&w->slots, 800) ? 4 : MODEL_PERMITS);
}

static void draw(struct world *w)
{
    static const unsigned masters[] = {3, 3, 3, 5, 5, 5, 4, 7, 1};
    static const int64_t longest[] = {400, 1000, 1000, 3000, 6000, 6000, 20000, 60000};
    const struct options *options = &w->options;
    w->chance.state = mix(options->seed ^ 0x5eed);
    w->masters = options->masters;
    if (!w->masters)
        w->masters = masters[chance_below(&w->chance, sizeof masters / sizeof masters[0])];
    wrong_draw(w);
    w->clients = options->clients ? options->clients : 2 + chance_below(&w->chance, 2);
    if (options->habit == HABIT_WAITING && !options->clients)
        w->clients += chance_below(&w->chance, 3);
    w->ops_left = options->ops ? options->ops
                               : (unsigned)chance_range(&w->chance, 4,
                                                        options->habit == HABIT_WAITING ? 80 : 40);
    w->linger = chance_below(&w->chance, 20);
    w->names = 1 + chance_below(&w->chance, options->habit == HABIT_WAITING ? 2 : 3);
    w->patient = options->habit == HABIT_WAITING && options->faults & 1U << FAULT_UNEVEN &&
                 chance_permille(&w->chance, 650);
    unsigned from = w->patient ? 6 : 0;
    w->max_ttl_ms =
        longest[from + chance_below(&w->chance, sizeof longest / sizeof longest[0] - from)];
    w->longest_gap_ms = w->patient                         ? 2000
                        : options->habit == HABIT_WORKS    ? 250
                        : chance_permille(&w->chance, 800) ? 250
                                                           : w->max_ttl_ms / 4;
    w->prefix = chance_permille(&w->chance, 300) ? "a long prefix:" : "";
    w->skew_ms = chance_permille(&w->chance, 500) ? 1000 : chance_range(&w->chance, 600, 1000);
    crowd_draw(w);
    draw_shares(w);
    draw_most_permits(w);
    faults_draw(w);
    wishes_draw(w);
    lists_draw(w);
    liar_draw(w);
    if (w->faults & 1U << FAULT_FOREIGNERS)
        w->foreigners = 1 + chance_below(&w->chance, FOREIGNERS_MAX);
}

static void populate(struct world *w)
{
    for (unsigned i = 0; i < w->masters; i++)
        make_server(w, i);
    for (unsigned c = 0; c < w->clients; c++)
        w->shells[c] = shell_new(w, c);
    movers_pair(w);
    for (unsigned c = 0; c < w->clients; c++) {
        usec late = lists_begins_after(w);
        if (!late)
            shell_start(w->shells[c]);
        world_plan(w, late + chance_range(&w->chance, 0, MS(100)), HAPPENS_USER, w->shells[c], 0);
    }
    for (unsigned f = 0; f < w->foreigners; f++)
        foreigner_start(w, f);
    world_plan(w, chance_range(&w->chance, 0, 2 * MS(w->fault_pace)), HAPPENS_FAULT, NULL, 0);
    world_plan(w, look_every(w), HAPPENS_LOOK, NULL, 0);
    change_begin(w);
}

static void happen(struct world *w, const struct happening *it)
{
    w->now = it->at;
    switch ((enum happening_kind)it->kind) {
    case HAPPENS_WAKE:
    case HAPPENS_RESUME:
        shell_happens(it->subject, it);
        break;
    case HAPPENS_HEARD:
        subscription_happens(it->subject, it->number);
        shell_readable(it->subject);
        break;
    case HAPPENS_STIR:
        shell_stirs(it->subject);
        break;
    case HAPPENS_USER:
        user_acts(it->subject, it->number == 0);
        break;
    case HAPPENS_SLEEP:
        movers_sleep(it->subject, it->number);
        break;
    case HAPPENS_TOKEN:
        user_uses_token(it->subject);
        break;
    case HAPPENS_REQUEST:
    case HAPPENS_REPLY:
    case HAPPENS_CONNECT:
    case HAPPENS_BREAK:
        net_happens(w, it);
        break;
    case HAPPENS_FAULT:
        faults_strike(w);
        break;
    case HAPPENS_RESTART:
        faults_restart(w, it->number);
        break;
    case HAPPENS_FOREIGNER:
        foreigner_acts(w, it->number);
        break;
    case HAPPENS_LOOK:
        look(w);
        break;
    case HAPPENS_TOOL:
        change_acts(w);
        break;
    }
}

static void sum_up(const struct world *w, struct result *result)
{
    *result = (struct result){.violation = w->violation,
                              .hash = w->hash,
                              .events = w->events,
                              .acquired = w->acquired,
                              .lost = w->lost,
                              .renewals = w->renewals,
                              .heals = w->heals,
                              .lasted = w->now,
                              .masters = w->masters,
                              .faults = w->faults | w->link_faults,
                              .tokens = w->token_count,
                              .lists = w->lists,
                              .changes = w->changes,
                              .moved = w->moved};
}

static void dismantle(struct world *w)
{
    for (unsigned c = 0; c < w->clients; c++)
        shell_free(w->shells[c]);
    for (unsigned f = 0; f < w->foreigners; f++)
        free(w->foreign[f]);
    net_free(w);
    free(w->heap);
    free(w->tokens);
}

void world_run(const struct options *options, struct result *result)
{
    struct world *w = calloc(1, sizeof *w);
    w->options = *options;
    w->token_room = 64;
    w->tokens = calloc(w->token_room, sizeof *w->tokens);
    draw(w);
    TRACE(w, "seed %llu: %u masters, %u clients, %u names, ttl up to %lld ms, skew %lld ms",
          (unsigned long long)options->seed, w->masters, w->clients, w->names,
          (long long)w->max_ttl_ms, (long long)w->skew_ms);
    for (unsigned kind = 0; kind < FAULTS_END; kind++)
        if ((w->faults | w->link_faults) & 1U << kind)
            TRACE(w, "may happen: %s", fault_name((enum fault_kind)kind));
    populate(w);
    unsigned happened = 0;
    while (w->phase != PHASE_OVER && !w->violation.rule && ++happened <= EVENTS_MAX) {
        struct happening next = take_next(w);
        happen(w, &next);
    }
    if (happened > EVENTS_MAX)
        world_violated(w, "progress", "the run does not come to an end");
    for (unsigned c = 0; c < w->clients; c++)
        shell_stop(w->shells[c]); /* a rule that is broken by that counts if none was before */
    sum_up(w, result);
    dismantle(w);
    free(w);
}
