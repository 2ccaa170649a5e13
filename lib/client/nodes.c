#include "nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "link.h"
#include "report.h"
#include "sized.h"
#include "tls_facts.h"

static redlock_node_state state_of(const struct master_view *master, usec now)
{
    if (master->refused)
        return REDLOCK_NODE_REFUSED;
    switch (master->state) {
    case MASTER_UP:
        return now < master->abstains_until ? REDLOCK_NODE_ABSTAINS : REDLOCK_NODE_UP;
    case MASTER_CONNECTING:
    case MASTER_PREPARING:
        return master->tried ? REDLOCK_NODE_DOWN : REDLOCK_NODE_CONNECTING;
    default:
        return REDLOCK_NODE_DOWN;
    }
}

/* For a master that has had no trouble. */
static const char *how_far(const struct master_view *master)
{
    switch (master->state) {
    case MASTER_CONNECTING:
        return "still being connected";
    case MASTER_PREPARING:
        return "connected, has not answered yet";
    default:
        return "not connected";
    }
}

static const char *trouble_of(const redlock *client, unsigned index,
                              const struct master_view *master)
{
    const char *untold = link_trouble(client->links[index]);
    bool is_news = !master->trouble[0] || master->state == MASTER_DOWN;
    return untold && is_news ? untold : master->trouble;
}

const char *node_trouble(const redlock *client, unsigned index, const struct master_view *master)
{
    const char *trouble = trouble_of(client, index, master);
    return trouble[0] ? trouble : how_far(master);
}

static void fill_tls(const redlock *client, unsigned index, redlock_node *node)
{
    const struct tls_facts *facts = link_tls(client->links[index]);
    node->tls_protocol = facts ? facts->protocol : "";
    node->tls_peer = facts ? facts->peer : "";
    if (!facts)
        return;
    node->tls_expires_s = facts->ends_at - (system_wall_lead() + system_now()) / 1000000;
    node->tls_verified = facts->verified;
}

void node_fill(const redlock *client, unsigned index, redlock_node *node)
{
    struct master_view master = engine_master(client->engine, index);
    const struct hello *facts = master.facts;
    usec now = system_now();
    *node = (redlock_node){.size = sizeof *node,
                           .node = client->addresses[index].shown,
                           .state = state_of(&master, now),
                           .text = trouble_of(client, index, &master),
                           .rtt_us = master.round_trip ? master.round_trip : -1,
                           .run_id = facts->run_id,
                           .version = facts->version,
                           .role = facts->role,
                           .uptime_s = master.met ? facts->uptime_s : -1,
                           .eviction = facts->eviction,
                           .aof = facts->aof,
                           .in_flight = master.in_flight,
                           .max_ttl_ms = facts->max_ttl_ms};
    if (node->state == REDLOCK_NODE_DOWN)
        node->text = node_trouble(client, index, &master);
    if (node->state == REDLOCK_NODE_ABSTAINS)
        node->abstains_ms = (master.abstains_until - now + 999) / 1000;
    if (master.met)
        node->clock_offset_us = master.offset - system_wall_lead();
    fill_tls(client, index, node);
}

unsigned redlock_node_count(const redlock *client)
{
    return client->masters;
}

redlock_code redlock_node_get(redlock *client, unsigned index, redlock_node *node)
{
    static const struct sized known = SIZED(redlock_node, tls_expires_s);
    redlock_node all;
    if (index >= client->masters)
        return client_fail(client, REDLOCK_E_ARGUMENT, "there is no master %u: the list has %u",
                           index, client->masters);
    if (!sized_is_known(&known, node->size))
        return client_fail_size(client, &known, node->size);
    node_fill(client, index, &all);
    sized_give(node, &all);
    return REDLOCK_OK;
}

/* ---- their changes ------------------------------------------------------------ */

/* A master that is retried every second is logged once, until the text about it
 * changes. */
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

void __attribute__((cold)) nodes_note_change(redlock *client, unsigned master)
{
    log_master(client, master);
    client->changed |= client->on_node ? 1U << master : 0;
}

/* ---- clients that count otherwise --------------------------------------------- */

static void log_spare(redlock *client, const struct told_list *theirs)
{
    unsigned ours = client->config.spare, least = theirs->spare < ours ? theirs->spare : ours;
    unsigned quorum = quorum_of(client->masters, least);
    client_log(client, REDLOCK_LOG_WARNING,
               "other clients of the fleet have spare %u, this one %u: two quorums may share only "
               "2 x %u - %u = %u masters, so %u may be wrong. Give all clients one spare",
               theirs->spare, ours, quorum, client->masters, 2 * quorum - client->masters, least);
}

/* How long a master abstains that has forgotten all leases. */
static long long abstains_ms(const redlock *client, int64_t max_ttl_ms)
{
    usec drift = quorum_drift(MS(max_ttl_ms), client->config.drift_ppm);
    return max_ttl_ms + drift / 1000 + client->config.skew_ms;
}

static void log_max_ttl(redlock *client, const struct told_list *theirs)
{
    int64_t ours = client->config.max_ttl_ms, their = theirs->max_ttl_ms;
    int64_t least = their < ours ? their : ours, most = their < ours ? ours : their;
    client_log(
        client, REDLOCK_LOG_WARNING,
        "other clients of the fleet have max_ttl_ms %lld, this one %lld: a master that restarts "
        "may abstain for %lld ms, not %lld. Give all clients one max_ttl",
        (long long)their, (long long)ours, abstains_ms(client, least), abstains_ms(client, most));
}

void __attribute__((cold)) nodes_note_lists(redlock *client)
{
    struct told_list theirs;
    if (!engine_unlike_list(client->engine, &theirs))
        theirs = (struct told_list){0};
    bool is_logged =
        theirs.spare == client->unlike.spare && theirs.max_ttl_ms == client->unlike.max_ttl_ms;
    client->unlike.spare = theirs.spare;
    client->unlike.max_ttl_ms = theirs.max_ttl_ms;
    if (is_logged || !theirs.masters || client->closing)
        return;
    if (theirs.spare != client->config.spare)
        log_spare(client, &theirs);
    if (theirs.max_ttl_ms != client->config.max_ttl_ms)
        log_max_ttl(client, &theirs);
}
