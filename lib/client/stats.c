/*
 * stats.c - a client's counters; these and its masters as OpenMetrics text.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "link.h"
#include "nodes.h"

/* ---- counters ------------------------------------------------------------------ */

static redlock_stats collect(const redlock *client)
{
    struct counters_view now = engine_count(client->engine);
    const struct engine_counters *c = now.done;
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
                           .waiting = now.waiting,
                           .lost = c->lost,
                           .released = c->released,
                           .timeouts = c->timeouts,
                           .connects = c->connects,
                           .disconnects = c->disconnects,
                           .owed = c->owed,
                           .held = now.held,
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
    size_t size, length; /* length: of the whole page, with what did not fit */
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

/* The path of a socket may have any printable character. */
static void put_label(struct page *page, const char *value)
{
    for (; *value; value++)
        put(page, *value == '"' || *value == '\\' ? "\\%c" : "%c", *value);
}

static void put_of_master(struct page *page, const char *gauge, const char *master)
{
    put(page, "%s{master=\"", gauge);
    put_label(page, master);
    put(page, "\"} ");
}

static void put_masters(struct page *page, const redlock *client)
{
    put(page, "# TYPE redlock_master_up gauge\n# HELP redlock_master_up 1 if the master votes.\n");
    for (unsigned i = 0; i < client->masters; i++) {
        redlock_node node;
        node_fill(client, i, &node);
        put_of_master(page, "redlock_master_up", node.node);
        put(page, "%d\n", node.state == REDLOCK_NODE_UP);
    }
    put(page, "# TYPE redlock_master_round_trip_seconds gauge\n"
              "# HELP redlock_master_round_trip_seconds Smoothed round trip.\n");
    for (unsigned i = 0; i < client->masters; i++) {
        usec round_trip = engine_master(client->engine, i).round_trip;
        if (!round_trip)
            continue;
        put_of_master(page, "redlock_master_round_trip_seconds", client->addresses[i].shown);
        put(page, "%.6f\n", (double)round_trip / 1e6);
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
