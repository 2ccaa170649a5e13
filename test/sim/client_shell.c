#include "client_shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client_rules.h"
#include "invariants.h"
#include "recipe_users.h"
#include "links.h"
#include "lists.h"
#include "loop.h"
#include "movers.h"
#include "notify.h"
#include "parts.h"
#include "pump.h"
#include "trace.h"
#include "user_lease.h"
#include "wrong.h"

#define HOUR     (3600 * MS(1000))
#define STUMBLES 12 /* per mille of the places where a process may not be run for a while */

struct shell *shell_present;

usec shell_now(struct shell *s)
{
    if (s->read_at != s->world->now) {
        s->read_at = s->world->now;
        s->reading = clock_read(&s->clock, s->world->now);
    }
    return s->reading;
}

bool shell_is_stopped(const struct shell *s)
{
    return s->world->now < s->stopped_until;
}

bool shell_is_idle(const struct shell *s)
{
    return s->running && s->client && !shell_is_stopped(s) && s->turn == TURN_OVER;
}

/* ---- the loop: lib/client/loop.h on happenings ----------------------------------- */

static struct shell *shell_of(const redlock *client)
{
    return (struct shell *)(void *)client->io;
}

redlock_code loop_make(redlock *client, struct ev_loop *ev_loop)
{
    client->io = (struct io_loop *)(void *)ev_loop; /* a shell, as redlock_open() was given */
    return REDLOCK_OK;
}

void loop_start(redlock *client)
{
    shell_of(client)->client = client;
    loop_hold(client);
}

/* Where a process has two clients, the loop runs what the other one has asked for. */
void loop_hold(redlock *client)
{
    struct shell *s = shell_of(client);
    s->holds_loop = pump_holds_loop(client);
    if (s->mate && s->holds_loop && !client->pumping)
        world_plan(s->world, s->world->now, HAPPENS_STIR, s, 0);
}

static void count(const struct shell *s)
{
    const struct engine_counters *counters = &s->client->engine->counters;
    s->world->acquired += counters->acquired;
    s->world->lost += counters->lost;
    s->world->renewals += counters->renewals;
    s->world->heals += counters->heals;
}

static void destroy(struct shell *s)
{
    count(s);
    movers_client_goes(s);
    user_leases_drop(s, true);
    parts_free(s->client);
    leaders_drop(s);
    barriers_drop(s);
    latches_drop(s);
    wishes_drop(s);
    s->client = NULL;
    s->turn = TURN_OVER;
    s->timer_order = 0;
    if (!s->world->violation.rule && (s->account.blocks || s->account.bytes))
        world_violated(s->world, "leak", "client %u left %lld blocks, %lld bytes", s->index + 1,
                       (long long)s->account.blocks, (long long)s->account.bytes);
}

void loop_end(redlock *client)
{
    if (!client->pumping)
        destroy(shell_of(client));
}

void loop_drop(redlock *client)
{
    parts_free(client);
}

static void set_timer(struct shell *s)
{
    usec at = pump_next_wake(s->client);
    if (at == s->timer_at && at != 0)
        return;
    s->timer_at = at;
    s->timer_order = 0;
    if (at == NEVER)
        return;
    usec true_at = clock_when(&s->clock, at);
    if (true_at < s->world->now)
        true_at = s->world->now;
    true_at += chance_range(&s->world->chance, 0, 900); /* no loop is punctual */
    s->timer_order = s->world->order + 1;
    world_plan(s->world, true_at, HAPPENS_WAKE, s, 0);
}

/* ---- turns ------------------------------------------------------------------------- */

/* Now and then the process is not run for a while, just here. */
static bool stumbles(struct shell *s)
{
    struct world *w = s->world;
    if (!(w->faults & 1U << FAULT_STUMBLE) || w->peace || !chance_permille(&w->chance, STUMBLES))
        return false;
    shell_pause(s, chance_range(&w->chance, 100, MS(w->max_ttl_ms) / 2));
    return true;
}

static enum turn go_on(struct shell *s)
{
    if (s->turn == TURN_READ) {
        links_read(s);
        return TURN_PUMP;
    }
    check_batch_begins(s);
    s->client->pumping = true;
    bool goes_on = pump_step(s->client);
    s->client->pumping = goes_on;
    return goes_on ? TURN_PUMP : TURN_OVER;
}

static void rest(struct shell *s)
{
    if (s->client->dying) {
        destroy(s);
        return;
    }
    set_timer(s);
    s->holds_loop = pump_holds_loop(s->client);
    check_idle(s);
}

static void run(struct shell *s)
{
    shell_present = s;
    if (s->mate)
        s->mate->waits = 0;
    while (s->turn != TURN_OVER && !s->world->violation.rule) {
        s->turn = go_on(s);
        check_step(s);
        user_leases_drop(s, false);
        if (s->turn != TURN_OVER && stumbles(s))
            return;
    }
    if (!s->world->violation.rule)
        rest(s);
}

void shell_pump(struct shell *s)
{
    if (!shell_is_idle(s))
        return;
    s->turn = TURN_READ;
    check_turn(s);
    run(s);
}

void shell_readable(struct shell *s)
{
    if (s)
        shell_pump(s);
}

/* In the middle of its turn a process reads no link. */
void shell_stirs(struct shell *s)
{
    struct world *w = s->world;
    if (shell_is_idle(s))
        shell_pump(s);
    else if (s->running && s->client)
        world_plan(w, (shell_is_stopped(s) ? s->stopped_until : w->now) + 1, HAPPENS_STIR, s, 0);
}

static void pause_client(struct shell *s, usec how_long)
{
    struct world *w = s->world;
    TRACE(w, "client %u is stopped for %.3f ms", s->index + 1, (double)how_long / 1000);
    s->stopped_until = w->now + how_long;
    s->ran_again_local = clock_read(&s->clock, s->stopped_until);
    world_plan(w, s->stopped_until, HAPPENS_RESUME, s, 0);
}

void shell_pause(struct shell *s, usec how_long)
{
    if (!s->running || shell_is_stopped(s))
        return;
    pause_client(s, how_long);
    if (s->mate && s->mate->running)
        pause_client(s->mate, how_long);
}

void shell_happens(struct shell *s, const struct happening *happening)
{
    if (!s->running || !s->client || shell_is_stopped(s))
        return;
    if (happening->kind == HAPPENS_WAKE && happening->order != s->timer_order)
        return;
    s->timer_at = -1;
    if (s->turn != TURN_OVER)
        run(s); /* it was stopped in the middle of its turn */
    else
        shell_pump(s);
}

/* ---- beginning and end -------------------------------------------------------------------- */

struct shell *shell_new(struct world *w, unsigned index)
{
    struct shell *s = calloc(1, sizeof *s);
    s->world = w;
    s->index = index;
    int64_t bound = w->options.beyond ? 60000 : 4500;
    s->clock = clock_drawn(&w->chance, 1, 1000000000, bound);
    s->read_at = -1;
    return s;
}

static void on_ready(redlock *client, redlock_code code, const char *text, void *data)
{
    struct shell *s = data;
    if (s->ready_told)
        world_violated(s->world, "once", "client %u heard twice that it is ready", s->index + 1);
    s->ready_told = true;
    check_ready(s, client, code, text);
}

static void on_node(redlock *client, unsigned node, void *data)
{
    struct shell *s = data;
    check_node(s, client, node);
}

static void on_log(redlock_level level, const char *text, void *data)
{
    struct shell *s = data;
    check_log(s, level, text);
}

/* Mostly the default ones. */
static void draw_timeouts(struct world *w, redlock_options *options)
{
    if (!chance_permille(&w->chance, 800))
        options->connect_timeout_ms = chance_range(&w->chance, 50, 3000);
    if (w->patient)
        options->request_timeout_ms = chance_range(&w->chance, 1500, 5000);
    else if (chance_permille(&w->chance, 300))
        options->request_timeout_ms =
            chance_range(&w->chance, 20, chance_permille(&w->chance, 500) ? 300 : 3000);
}

/* Mostly the default: how fair its waiters are to others. */
static void draw_turn(struct shell *s, redlock_options *options)
{
    struct world *w = s->world;
    if (chance_permille(&w->turning, w->turns))
        options->local_turn_ms = chance_permille(&w->turning, 600)
                                     ? REDLOCK_ZERO
                                     : chance_range(&w->turning, 1, REDLOCK_LOCAL_TURN_MAX);
    s->strict = options->local_turn_ms == REDLOCK_ZERO;
}

#define NODE_TEXT 48
static void spell_nodes(const struct shell *s, char *text)
{
    *text = '\0';
    for (unsigned i = 0; i < s->masters; i++) {
        unsigned server = s->servers[i];
        text += sprintf(text, "redis://%s10.0.%u.%u:6379%s ", server % 2 ? "" : links_kind.login,
                        lists_host(s, server), server + 1, server % 2 ? "" : links_kind.database);
    }
}

static void draw_options(struct shell *s, redlock_options *options)
{
    struct world *w = s->world;
    options->spare = (int)wrong_spare_of_client(w);
    options->max_ttl_ms = w->max_ttl_ms;
    options->clock_skew_ms = w->skew_ms ? w->skew_ms : REDLOCK_ZERO;
    draw_timeouts(w, options);
    draw_turn(s, options);
    if (w->faults & 1U << FAULT_MIXED_TTL)
        options->max_ttl_ms += chance_range(&w->chance, 0, 3) * 500;
    options->label = "";
    options->prefix = w->prefix;
    options->on_ready = on_ready;
    if (chance_permille(&w->chance, 400))
        options->on_node = on_node;
    if (chance_permille(&w->chance, 400))
        options->on_log = on_log;
    options->data = s;
}

static void draw_process(struct shell *s)
{
    struct world *w = s->world;
    bool is_right = chance_permille(&w->chance, 700);
    s->channel = ++w->processes;
    s->process = movers_process(s);
    s->proposals_off = is_right ? 0 : chance_range(&w->chance, -HOUR, HOUR);
    s->account = (struct account){.chance = {chance_next(&w->chance)}};
    s->secrets.state = chance_next(&w->chance);
    s->turn = TURN_OVER;
    s->timer_at = -1;
    memset(s->may_come, 0, sizeof s->may_come);
    s->ready_told = s->close_asked = s->closed = s->closed_told = false;
    s->began_at = s->unheard_at = s->unsettled_at = w->now;
    s->differs = s->is_over = false;
    s->moved_away = s->waits = 0;
}

void shell_start(struct shell *s)
{
    struct world *w = s->world;
    char nodes[MASTERS_MAX * NODE_TEXT], why[256];
    redlock_options options = {.size = sizeof(redlock_options)};
    shell_present = s;
    draw_process(s);
    draw_options(s, &options);
    lists_choose(s, &options);
    s->quorum = wrong_quorum(s->masters, (unsigned)options.spare);
    spell_nodes(s, nodes);
    options.nodes = nodes;
    TRACE(w, "client %u starts", s->index + 1);
    s->running = true;
    redlock *client;
    if (redlock_open(&client, (struct ev_loop *)(void *)s, &options, why, sizeof why))
        world_violated(w, "options", "client %u cannot start: %s", s->index + 1, why);
    if (w->violation.rule)
        return;
    check_configured(s, &options);
    if (w->faults & 1U << FAULT_MEMORY && !w->peace)
        s->account.fail_permille = 30;
    shell_pump(s);
}

void shell_stop(struct shell *s)
{
    if (!s->running)
        return;
    TRACE(s->world, "client %u ends", s->index + 1);
    shell_present = s;
    works_drop(s);
    if (s->client)
        s->client->pumping = false; /* wherever it was just now */
    redlock_free(s->client);
    s->running = false;
    s->stopped_until = 0;
}

void shell_free(struct shell *s)
{
    shell_stop(s);
    while (s->spare) {
        struct pending *pending = s->spare;
        s->spare = pending->next;
        free(pending);
    }
    free(s);
}
