/*
 * stats.c - what is going on: the masters as this client sees them, its counters,
 * and both as OpenMetrics text.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "client.h"

/* ---- masters ------------------------------------------------------------------ */

static redlock_node_state state_of(const struct master *master, usec now)
{
    if (master->refused)
        return REDLOCK_NODE_REFUSED;
    switch ((enum master_state)master->state) {
    case MASTER_UP:
        return now < master->abstains_until ? REDLOCK_NODE_ABSTAINS : REDLOCK_NODE_UP;
    case MASTER_CONNECTING:
    case MASTER_PREPARING:
        return master->tried ? REDLOCK_NODE_DOWN : REDLOCK_NODE_CONNECTING;
    default:
        return REDLOCK_NODE_DOWN;
    }
}

void node_fill(const redlock *client, unsigned index, redlock_node *node)
{
    const struct master *master = &client->engine.masters[index];
    usec now = system_now();
    *node = (redlock_node){.node = client->addresses[index].shown,
                           .state = state_of(master, now),
                           .text = master->trouble,
                           .rtt_us = master->round_trip ? master->round_trip : -1,
                           .run_id = master->facts.run_id,
                           .version = master->facts.version,
                           .role = master->facts.role,
                           .uptime_s = master->met ? master->facts.uptime_s : -1,
                           .eviction = master->facts.eviction,
                           .aof = master->facts.aof,
                           .in_flight = master->in_flight};
    if (node->state == REDLOCK_NODE_ABSTAINS)
        node->abstains_ms = (master->abstains_until - now + 999) / 1000;
    if (master->met)
        node->clock_offset_us = master->offset - system_wall_lead();
}

unsigned redlock_nodes(const redlock *client)
{
    return client->masters;
}

redlock_code redlock_node_get(const redlock *client, unsigned index, redlock_node *node)
{
    if (index >= client->masters)
        return REDLOCK_E_ARGUMENT;
    node_fill(client, index, node);
    return REDLOCK_OK;
}

redlock_code redlock_adopt(redlock *client, unsigned index)
{
    if (index >= client->masters)
        return client_fail(client, REDLOCK_E_ARGUMENT, "there is no master %u: the list has %u",
                           index, client->masters);
    if (!client_is_usable(client))
        return REDLOCK_E_FORKED;
    if (!master_is_up(&client->engine.masters[index]))
        return client_fail(client, REDLOCK_E_STATE, "%s is not connected: %s",
                           client->addresses[index].shown, client->engine.masters[index].trouble);
    client->adopt |= 1U << index;
    client_hold_loop(client);
    return REDLOCK_OK;
}

/* ---- counters ------------------------------------------------------------------ */

static redlock_stats collect(const redlock *client)
{
    const struct engine_counters *c = &client->engine.counters;
    redlock_stats stats = {.acquires = c->acquires,
                           .acquired = c->acquired,
                           .contended = c->contended,
                           .unavailable = c->unavailable,
                           .rounds = c->rounds,
                           .renewals = c->renewals,
                           .renewals_missed = c->renewals_missed,
                           .heals = c->heals,
                           .raises = c->raises,
                           .handoffs = c->handoffs,
                           .handoffs_here = c->handed_here,
                           .pushes = c->pushes,
                           .found = c->found,
                           .yields = c->yields,
                           .queue_us = c->queue_us,
                           .waiting = client->engine.in_lines,
                           .lost = c->lost,
                           .released = c->released,
                           .timeouts = c->timeouts,
                           .connects = c->connects,
                           .disconnects = c->disconnects,
                           .owed = c->owed,
                           .held = client->engine.held.count,
                           .acquire_us = c->acquire_us};
    for (unsigned i = 0; i < client->masters; i++) {
        const struct link_counters *link = link_counters(client->links[i]);
        stats.requests += link->requests;
        stats.replies += link->replies;
        stats.protocol_errors += link->protocol_errors;
    }
    return stats;
}

void redlock_stats_get(const redlock *client, redlock_stats *stats, size_t size)
{
    redlock_stats all = collect(client);
    memset(stats, 0, size);
    memcpy(stats, &all, size < sizeof all ? size : sizeof all);
}

/* ---- OpenMetrics ----------------------------------------------------------------- */

struct page {
    char *text;
    size_t size, length; /* length: of the whole page, also what did not fit */
};

static void put(struct page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct page *page, const char *format, ...)
{
    size_t room = page->length < page->size ? page->size - page->length : 0;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(room ? page->text + page->length : NULL, room, format, arguments);
    va_end(arguments);
    if (length > 0)
        page->length += (size_t)length;
}

static void put_masters(struct page *page, const redlock *client)
{
    put(page, "# TYPE redlock_master_up gauge\n# HELP redlock_master_up 1 if the master votes.\n");
    for (unsigned i = 0; i < client->masters; i++) {
        redlock_node node;
        node_fill(client, i, &node);
        put(page, "redlock_master_up{master=\"%s\"} %d\n", node.node,
            node.state == REDLOCK_NODE_UP);
    }
    put(page, "# TYPE redlock_master_round_trip_seconds gauge\n"
              "# HELP redlock_master_round_trip_seconds Smoothed round trip.\n");
    for (unsigned i = 0; i < client->masters; i++) {
        const struct master *master = &client->engine.masters[i];
        if (master->round_trip)
            put(page, "redlock_master_round_trip_seconds{master=\"%s\"} %.6f\n",
                client->addresses[i].shown, (double)master->round_trip / 1e6);
    }
}

size_t redlock_stats_text(const redlock *client, char *buffer, size_t size)
{
    struct page page = {buffer, size, 0};
    redlock_stats stats = collect(client);
#define PUT_COUNTER(name, help)                                                                    \
    put(&page,                                                                                     \
        "# TYPE redlock_" #name " counter\n# HELP redlock_" #name " " help ".\n"                   \
        "redlock_" #name "_total %llu\n",                                                          \
        (unsigned long long)stats.name);
    REDLOCK_COUNTERS(PUT_COUNTER)
#undef PUT_COUNTER
    put(&page,
        "# TYPE redlock_acquire_seconds counter\n"
        "# HELP redlock_acquire_seconds Time from asking for leases to having them.\n"
        "redlock_acquire_seconds_total %.6f\n",
        (double)stats.acquire_us / 1e6);
    put(&page,
        "# TYPE redlock_held gauge\n# HELP redlock_held Leases held now.\nredlock_held %llu\n",
        (unsigned long long)stats.held);
    put_masters(&page, client);
    put(&page, "# EOF\n");
    return page.length;
}
