/*
 * client.c - the pump.  User calls only queue; everything happens here, once per
 * iteration of the loop, just before it blocks:
 *
 *     what links still have to deliver → adoptions and queued calls → due deadlines
 *     → callbacks
 *
 * until nothing is left, and then one write for each link.  Replies are stepped
 * through the core as they are read.  This is the only place that calls the user.
 */
#include "client.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWN "redlock:" /* what all that is ours on the masters begins with */

/* Rounds of the pump before other watchers of the loop get their turn. */
#define PUMP_ROUNDS       64
#define DEADLINES_A_ROUND 1024
/* So late, replies that have come meanwhile are read before anybody is judged. */
#define LATE MS(20)

static void *take(void *pool, size_t size)
{
    (void)pool;
    return calloc(1, size);
}

static void give(void *pool, void *block, size_t size)
{
    (void)pool;
    (void)size;
    free(block);
}

const struct memory client_memory = {take, give, NULL};

/* ---- saying -------------------------------------------------------------- */

redlock_code client_fail(redlock *client, redlock_code code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(client->error, sizeof client->error, format, arguments);
    va_end(arguments);
    return code;
}

void client_log(const redlock *client, redlock_level level, const char *format, ...)
{
    if (!client->on_log || level > client->log_level)
        return;
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    client->on_log(level, text, client->data);
}

/* A master that is retried every second is spoken of once, until what there is to
 * say has changed. */
static void log_master(redlock *client, unsigned index)
{
    redlock_node node;
    char text[200];
    node_fill(client, index, &node);
    redlock_level level = REDLOCK_LOG_WARNING;
    switch (node.state) {
    case REDLOCK_NODE_UP:
        level = REDLOCK_LOG_INFO;
        snprintf(text, sizeof text, "votes");
        break;
    case REDLOCK_NODE_ABSTAINS:
        snprintf(text, sizeof text, "restarted %lld s ago, abstains %lld s more",
                 (long long)node.uptime_s, (long long)(node.abstains_ms + 999) / 1000);
        break;
    case REDLOCK_NODE_REFUSED:
        level = REDLOCK_LOG_ERROR;
        snprintf(text, sizeof text, "%s", node.text);
        break;
    default:
        snprintf(text, sizeof text, "%s", node.text);
    }
    char *last = client->logged[index];
    if (last && strcmp(last, text) == 0)
        return;
    free(last);
    client->logged[index] = strdup(text);
    client_log(client, level, "%s: %s", node.node, text);
    if (node.state == REDLOCK_NODE_UP && node.eviction[0] &&
        strcmp(node.eviction, "noeviction") != 0)
        client_log(
            client, REDLOCK_LOG_WARNING,
            "%s: may evict locks when memory is short: set maxmemory-policy noeviction, not %s",
            node.node, node.eviction);
}

/* ---- effects and events --------------------------------------------------- */

static void queue_asked(redlock *client, redlock_lease *lease)
{
    if (lease->asked)
        return;
    lease->asked = true;
    lease->next_asked = NULL;
    if (client->asked.first)
        client->asked.last->next_asked = lease;
    else
        client->asked.first = lease;
    client->asked.last = lease;
}

static void queue_untold(redlock *client, redlock_lease *lease)
{
    if (lease->untold)
        return;
    lease->untold = true;
    lease->next_untold = NULL;
    if (client->untold.first)
        client->untold.last->next_untold = lease;
    else
        client->untold.first = lease;
    client->untold.last = lease;
}

static void free_lease(redlock_lease *lease)
{
    free(lease->token_copy);
    free(lease);
}

/* The next one that somebody still wants to hear of; NULL if there is none. */
static redlock_lease *take_untold(redlock *client)
{
    redlock_lease *lease;
    while ((lease = client->untold.first)) {
        client->untold.first = lease->next_untold;
        lease->untold = false;
        if (!lease->freed)
            return lease;
        free_lease(lease);
    }
    return NULL;
}

static redlock_lease *lease_of(struct lease *core)
{
    return (redlock_lease *)(void *)((char *)core - offsetof(redlock_lease, core));
}

static void emit(void *shell, const struct effect *effect)
{
    redlock *client = shell;
    switch (effect->kind) {
    case EFFECT_CONNECT:
        link_connect(client->links[effect->master]);
        break;
    case EFFECT_DISCONNECT:
        link_close(client->links[effect->master]);
        break;
    case EFFECT_SEND:
        link_send(client->links[effect->master], effect->request);
        break;
    case EFFECT_LISTEN:
        ears_listen(client, effect->master);
        break;
    case EFFECT_PROBE:
        ears_probe(client, effect->master);
        break;
    case EFFECT_DEAFEN:
        ears_deafen(client, effect->master);
        break;
    case EFFECT_TELL:
        queue_untold(client, lease_of(effect->lease));
        break;
    case EFFECT_READY:
        client->ready = true;
        break;
    case EFFECT_CLOSED:
        client->closed = true;
        break;
    case EFFECT_NOTICE:
        log_master(client, effect->master);
        break;
    }
}

void client_step(redlock *client, const struct event *event)
{
    struct randomness random = randomness_lend(&client->random);
    engine_step(&client->engine, system_now(), &random, event);
    randomness_settle(&client->random, random);
}

static void deliver(void *owner, const struct event *event)
{
    client_step(owner, event);
}

/* ---- what the user asked for ---------------------------------------------- */

bool client_is_usable(const redlock *client)
{
    return client->fork_count == system_fork_count();
}

void client_ask(redlock_lease *lease, enum operation operation)
{
    lease->operations |= (uint8_t)operation;
    if (operation == OP_RELEASE || operation == OP_INSPECT)
        lease->released = true; /* there is nothing left to release */
    queue_asked(lease->client, lease);
    client_hold_loop(lease->client);
}

static void carry_out(redlock *client, redlock_lease *lease)
{
    static const struct {
        enum operation operation;
        enum event_kind event;
    } order[] = {{OP_ACQUIRE, EVENT_ACQUIRE}, {OP_INSPECT, EVENT_INSPECT},
                 {OP_EXTEND, EVENT_EXTEND},   {OP_RELEASE, EVENT_RELEASE},
                 {OP_DETACH, EVENT_DETACH},   {OP_FREE, EVENT_ABANDON}};
    unsigned operations = lease->operations;
    lease->operations = 0;
    bool freed = operations & (OP_DETACH | OP_FREE);
    if (freed)
        operations &= OP_RELEASE | OP_DETACH | OP_FREE;
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        if (operations & order[i].operation)
            client_step(client, &(struct event){.kind = order[i].event,
                                                .lease = &lease->core,
                                                .ttl = MS(lease->extend_ttl)});
    lease->freed = freed;
    if (freed && !lease->untold)
        free_lease(lease);
}

static void carry_out_those(redlock *client, unsigned operations)
{
    redlock_lease *lease = client->asked.first, *next;
    client->asked = (struct lease_queue){0};
    for (; lease; lease = next) {
        next = lease->next_asked;
        lease->asked = false;
        if (lease->operations & operations)
            carry_out(client, lease);
        else
            queue_asked(client, lease);
    }
}

/* Releases first, so that those for one master go in one command.  The calls about one
 * lease keep their order; between two leases there is none to keep. */
static bool carry_out_all(redlock *client)
{
    bool any = client->asked.first || client->adopt;
    for (unsigned i = 0; client->adopt; i++) {
        if (client->adopt & 1U << i)
            client_step(client, &(struct event){.kind = EVENT_ADOPT, .master = i});
        client->adopt &= ~(1U << i);
    }
    carry_out_those(client, OP_RELEASE);
    while (client->asked.first)
        carry_out_those(client, ~0U);
    if (client->close_asked && !client->closing) {
        client->closing = true;
        client_step(client, &(struct event){.kind = EVENT_CLOSE});
        any = true;
    }
    return any;
}

/* ---- time ------------------------------------------------------------------ */

static bool wake_all(redlock *client)
{
    usec due = engine_next_deadline(&client->engine), now = system_now();
    if (due > now)
        return false;
    for (unsigned i = 0; now - due > LATE && i < client->masters; i++)
        link_read(client->links[i]);
    if (now - due > LATE)
        ears_read(client);
    for (unsigned i = 0; i < DEADLINES_A_ROUND; i++) {
        if (engine_next_deadline(&client->engine) > system_now())
            break;
        client_step(client, &(struct event){.kind = EVENT_TIMER});
    }
    return true;
}

static void on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop, (void)events;
    /* It only wakes the loop; the pump follows.  ev_timer has stopped itself, and
     * with it the reference it was given. */
    redlock *client = timer->data;
    client->timer_at = NEVER;
    ev_ref(client->loop);
}

static void set_timer(redlock *client, usec at)
{
    if (at == client->timer_at)
        return;
    if (client->timer_at != NEVER) {
        ev_ref(client->loop);
        ev_timer_stop(client->loop, &client->timer);
    }
    client->timer_at = at;
    if (at == NEVER)
        return;
    usec after = at - system_now();
    ev_timer_set(&client->timer, after > 0 ? (double)after / 1e6 : 0., 0.);
    ev_timer_start(client->loop, &client->timer);
    ev_unref(client->loop);
}

/* ---- telling --------------------------------------------------------------- */

/* Freed by a callback, or in a child that a callback forked. */
static bool is_stopped(const redlock *client)
{
    return client->dying || !client_is_usable(client);
}

static void call_user(redlock *client, redlock_lease *lease, const struct outcome *outcome)
{
    redlock_event event;
    tell_fill(client, lease, outcome, &event);
    if (outcome->kind == OUTCOME_NOT_ACQUIRED || outcome->kind == OUTCOME_RELEASED ||
        outcome->kind == OUTCOME_SEEN)
        lease->ended = true;
    client->telling = lease;
    lease->callback(lease, &event, lease->data);
}

static void tell(redlock *client, redlock_lease *lease)
{
    struct outcome outcome;
    for (;;) {
        struct randomness random = randomness_lend(&client->random);
        bool any = engine_tell(&client->engine, system_now(), &random, &lease->core, &outcome);
        randomness_settle(&client->random, random);
        if (!any)
            return;
        call_user(client, lease, &outcome);
        if (is_stopped(client) || client->telling != lease)
            return; /* freed by its own callback */
        client->telling = NULL;
    }
}

static bool tell_all(redlock *client)
{
    bool any = client->untold.first != NULL;
    redlock_lease *lease;
    while (!is_stopped(client) && (lease = take_untold(client)))
        if (!(lease->operations & (OP_FREE | OP_DETACH)))
            tell(client, lease);
    return any;
}

static bool tell_ready(redlock *client)
{
    if (!client->ready || is_stopped(client))
        return false;
    client->ready = false;
    if (client->on_ready) {
        char text[1024];
        enum cause cause = engine_readiness(&client->engine, system_now());
        tell_readiness(client, cause, text, sizeof text);
        client->on_ready(client, code_of(cause), text, client->data);
    }
    return true;
}

static void flush_all(redlock *client)
{
    for (unsigned i = 0; i < client->masters; i++)
        link_flush(client->links[i]);
}

static bool tell_closed(redlock *client)
{
    if (is_stopped(client) || !client->closing || client->closed_told)
        return false;
    if (!client->closed) {
        if (system_now() < client->close_by)
            return false;
        client_step(client, &(struct event){.kind = EVENT_GIVE_UP});
        if (tell_all(client))
            return true;
    }
    client->closed_told = true;
    unsigned left = client->closed ? 0 : engine_owed(&client->engine);
    flush_all(client);
    if (client->on_closed)
        client->on_closed(client, left, client->closed_data);
    return true;
}

/* ---- the pump --------------------------------------------------------------- */

static void destroy(redlock *client);

void client_hold_loop(redlock *client)
{
    bool hold = engine_is_busy(&client->engine) || client->asked.first || client->untold.first ||
                (client->close_asked && !client->closed_told) || client->adopt;
    if (client->closed_told)
        hold = false;
    if (hold && !client->holds_loop)
        ev_ref(client->loop);
    else if (!hold && client->holds_loop)
        ev_unref(client->loop);
    client->holds_loop = hold;
}

static bool pump_once(redlock *client)
{
    bool any = false;
    for (unsigned i = 0; i < client->masters; i++)
        any |= link_pump(client->links[i]);
    any |= ears_pump(client);
    any |= carry_out_all(client);
    any |= wake_all(client);
    any |= tell_all(client);
    any |= tell_ready(client);
    any |= tell_closed(client);
    return any && !is_stopped(client);
}

static usec next_wake(const redlock *client, bool more)
{
    usec at = more ? 0 : engine_next_deadline(&client->engine);
    if (client->closing && !client->closed_told && client->close_by < at)
        at = client->close_by;
    return at;
}

static void on_prepare(struct ev_loop *loop, ev_prepare *prepare, int events)
{
    (void)loop, (void)events;
    redlock *client = prepare->data;
    if (!client_is_usable(client) || client->pumping) /* a callback may run the loop */
        return;
    client->pumping = true;
    bool more = true;
    for (int round = 0; more && round < PUMP_ROUNDS; round++)
        more = pump_once(client);
    client->pumping = false;
    if (client->dying) {
        destroy(client);
        return;
    }
    if (!client_is_usable(client))
        return;
    flush_all(client);
    for (unsigned i = 0; i < client->masters; i++)
        more |= link_breaks(client->links[i]);
    more |= ears_flush(client);
    set_timer(client, next_wake(client, more));
    client_hold_loop(client);
}

/* ---- beginning and end ------------------------------------------------------- */

static void free_parts(redlock *client)
{
    while (take_untold(client))
        ; /* frees those that were dropped */
    for (struct lease *core; (core = engine_any_lease(&client->engine));) {
        lease_drop(&client->engine, core);
        free_lease(lease_of(core));
    }
    engine_free(&client->engine);
    ears_free(client);
    for (unsigned i = 0; i < client->masters; i++) {
        if (client->links[i])
            link_free(client->links[i]);
        free(client->logged[i]);
    }
    addresses_clear(client->addresses, (int)client->masters);
    free(client->prefix);
    free(client->client_name);
    free(client);
}

static void destroy(redlock *client)
{
    set_timer(client, NEVER);
    if (client->holds_loop)
        ev_unref(client->loop);
    ev_ref(client->loop);
    ev_prepare_stop(client->loop, &client->prepare);
    free_parts(client);
}

void redlock_free(redlock *client)
{
    if (!client)
        return;
    client->dying = true;
    if (!client->pumping)
        destroy(client);
}

static redlock_code make_links(redlock *client)
{
    for (unsigned i = 0; i < client->masters; i++) {
        client->links[i] =
            link_new(client->loop, &client->addresses[i], client->client_name,
                     (struct link_owner){.deliver = deliver, .owner = client, .master = i});
        if (!client->links[i])
            return REDLOCK_E_MEMORY;
    }
    return REDLOCK_OK;
}

static uint64_t draw(redlock *client)
{
    struct randomness random = randomness_lend(&client->random);
    uint64_t number;
    memcpy(&number, random.bytes, sizeof number);
    random.bytes += sizeof number;
    random.left -= sizeof number;
    randomness_settle(&client->random, random);
    return number;
}

static redlock_code make_engine(redlock *client, struct engine_config *config)
{
    struct sink sink = {emit, client};
    uint64_t seed = draw(client);
    snprintf(config->channel, sizeof config->channel, OWN "%016llx%08llx",
             (unsigned long long)draw(client), (unsigned long long)draw(client) & 0xffffffff);
    bool made = engine_init(&client->engine, config, &client_memory, &sink, seed);
    return made ? REDLOCK_OK : REDLOCK_E_MEMORY;
}

static void start(redlock *client)
{
    client->timer_at = NEVER;
    ev_init(&client->timer, on_timer);
    client->timer.data = client;
    ev_prepare_init(&client->prepare, on_prepare);
    client->prepare.data = client;
    ev_prepare_start(client->loop, &client->prepare);
    ev_unref(client->loop);
    engine_start(&client->engine, system_now());
    client_hold_loop(client);
    if (client->masters % 2 == 0)
        client_log(client, REDLOCK_LOG_WARNING,
                   "%u masters: an even number survives no more failures than %u; use an odd one",
                   client->masters, client->masters - 1);
}

redlock_code redlock_open(redlock **out, struct ev_loop *loop, const redlock_options *options,
                          char *why, size_t why_size)
{
    if (!out || !loop)
        return REDLOCK_E_ARGUMENT;
    *out = NULL;
    if (why && why_size)
        why[0] = '\0';
    redlock *client = calloc(1, sizeof *client);
    if (!client || system_start() < 0) {
        redlock_code code = client ? REDLOCK_E_SYSTEM : REDLOCK_E_MEMORY;
        if (why && why_size)
            snprintf(why, why_size, client ? "no source of random bytes" : "out of memory");
        free(client);
        return code;
    }
    client->loop = loop;
    client->fork_count = system_fork_count();
    randomness_init(&client->random);
    struct engine_config config = {0};
    redlock_code code = options_read(client, &config, options, why, why_size);
    if (!code)
        code = make_links(client);
    if (!code)
        code = make_engine(client, &config);
    if (code) {
        if (code == REDLOCK_E_MEMORY && why && why_size)
            snprintf(why, why_size, "out of memory");
        client->engine.memory = client_memory;
        free_parts(client);
        return code;
    }
    start(client);
    *out = client;
    return REDLOCK_OK;
}

void redlock_close(redlock *client, int64_t patience_ms,
                   void (*closed)(redlock *, unsigned, void *), void *data)
{
    if (!client || client->close_asked || !client_is_usable(client))
        return;
    client->close_asked = true;
    client->on_closed = closed;
    client->closed_data = data;
    usec patience = patience_ms > 0 ? in_usec(patience_ms) : 0;
    client->close_by = patience == NEVER ? NEVER : system_now() + patience;
    client_hold_loop(client);
}

const char *redlock_last_error(const redlock *client)
{
    return client->error;
}
