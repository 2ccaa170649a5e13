/*
 * metrics.c - what a client has counted, and its masters, as OpenMetrics text.
 */
#include <stdarg.h>
#include <stdio.h>

#include "nodes.h"

struct page {
    char *text;
    size_t size, length; /* length: of the whole page, with what did not fit */
};

static void put_line(struct page *page, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void put_line(struct page *page, const char *format, ...)
{
    size_t room = page->length < page->size ? page->size - page->length : 0;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(room ? page->text + page->length : NULL, room, format, arguments);
    va_end(arguments);
    if (length > 0)
        page->length += (size_t)length;
}

/* OpenMetrics wants the unit of seconds in the name, and in a line of its own. */
static void put_head(struct page *page, const char *name, const char *type, bool seconds,
                     const char *help)
{
    const char *unit = seconds ? "_seconds" : "";
    put_line(page, "# TYPE redlock_%s%s %s\n", name, unit, type);
    if (seconds)
        put_line(page, "# UNIT redlock_%s_seconds seconds\n", name);
    put_line(page, "# HELP redlock_%s%s %s.\n", name, unit, help);
}

static void put_counter(struct page *page, const char *name, uint64_t count, const char *help)
{
    put_head(page, name, "counter", false, help);
    put_line(page, "redlock_%s_total %llu\n", name, (unsigned long long)count);
}

static void put_gauge(struct page *page, const char *name, uint64_t count, const char *help)
{
    put_head(page, name, "gauge", false, help);
    put_line(page, "redlock_%s %llu\n", name, (unsigned long long)count);
}

static void put_end(struct page *page, unsigned bucket)
{
    if (bucket < REDLOCK_BUCKETS - 1)
        put_line(page, "%.6f", (double)REDLOCK_BUCKET_US(bucket) / 1e6);
    else
        put_line(page, "+Inf");
}

static void put_histogram(struct page *page, const char *name, const uint64_t *buckets,
                          uint64_t sum_us, const char *help)
{
    unsigned long long count = 0;
    put_head(page, name, "histogram", true, help);
    for (unsigned i = 0; i < REDLOCK_BUCKETS; i++) {
        count += buckets[i];
        put_line(page, "redlock_%s_seconds_bucket{le=\"", name);
        put_end(page, i);
        put_line(page, "\"} %llu\n", count);
    }
    put_line(page, "redlock_%s_seconds_count %llu\n", name, count);
    put_line(page, "redlock_%s_seconds_sum %.6f\n", name, (double)sum_us / 1e6);
}

static void put_stats(struct page *page, const redlock_stats *stats)
{
#define PUT_COUNTER(name, help) put_counter(page, #name, stats->name, help);
    REDLOCK_COUNTERS(PUT_COUNTER)
#undef PUT_COUNTER
    put_gauge(page, "held", stats->held, "leases held now");
    put_gauge(page, "waiting", stats->waiting, "leases that wait in turn now");
    put_gauge(page, "at_risk", stats->at_risk, "leases held now that are at risk");
    put_gauge(page, "abstaining", stats->abstaining, "masters that restarted and abstain now");
    put_histogram(page, "acquire", stats->acquire_times, stats->acquire_us,
                  "time from asking for a lease to having it");
    put_histogram(page, "queue", stats->queue_times, stats->queue_us,
                  "time that leases waited in turn until they were handed over");
    put_histogram(page, "hold", stats->hold_times, stats->hold_us,
                  "time for which leases were held");
    put_histogram(page, "renewal_left", stats->renewal_left_times, stats->renewal_left_us,
                  "validity that was left when a renewal reached a quorum");
}

/* ---- masters ----------------------------------------------------------------------- */

/* The path of a socket may have any printable character. */
static void put_label(struct page *page, const char *value)
{
    for (; *value; value++)
        put_line(page, *value == '"' || *value == '\\' ? "\\%c" : "%c", *value);
}

static void put_of_master(struct page *page, const char *gauge, const redlock_node *node)
{
    put_line(page, "redlock_master_%s{master=\"", gauge);
    put_label(page, node->node);
    put_line(page, "\"} ");
}

static void put_up(struct page *page, const redlock_node *node)
{
    put_of_master(page, "up", node);
    put_line(page, "%d\n", node->state == REDLOCK_NODE_UP);
}

static void put_round_trip(struct page *page, const redlock_node *node)
{
    if (node->rtt_us < 0)
        return;
    put_of_master(page, "round_trip_seconds", node);
    put_line(page, "%.6f\n", (double)node->rtt_us / 1e6);
}

/* Always with a sign: the clock is read again for the next call, and the length must not change. */
static void put_offset(struct page *page, const redlock_node *node)
{
    if (node->uptime_s < 0) /* it has not been met */
        return;
    put_of_master(page, "clock_offset_seconds", node);
    put_line(page, "%+.6f\n", (double)node->clock_offset_us / 1e6);
}

static void put_each(struct page *page, const redlock *client,
                     void (*put_one)(struct page *, const redlock_node *))
{
    for (unsigned i = 0; i < client->masters; i++) {
        redlock_node node;
        node_fill(client, i, &node);
        put_one(page, &node);
    }
}

static void put_masters(struct page *page, const redlock *client)
{
    put_gauge(page, "quorum", quorum_of(client->masters, client->config.spare),
              "masters that must grant a lease");
    put_gauge(page, "lists", engine_count_lists(client->engine),
              "lists of masters that the clients of the fleet count on, as far as is known");
    put_head(page, "master_up", "gauge", false, "1 if the master votes");
    put_each(page, client, put_up);
    put_head(page, "master_round_trip", "gauge", true, "smoothed round trip");
    put_each(page, client, put_round_trip);
    put_head(page, "master_clock_offset", "gauge", true,
             "wall clock of the master less that of this machine");
    put_each(page, client, put_offset);
}

size_t redlock_stats_text(const redlock *client, char *buffer, size_t size)
{
    struct page page = {buffer, size, 0};
    redlock_stats stats = stats_collect(client);
    put_stats(&page, &stats);
    put_masters(&page, client);
    put_line(&page, "# EOF\n");
    return page.length;
}
