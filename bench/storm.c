/*
 * storm.c - many clients whose connections are all lost at once, and which connect again: what a
 * connection costs a master, from the login to a vote.
 */
#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cluster.h"
#include "redlock.h"
#include "scenario.h"
#include "user.h"

#define AT_ONCE  1000 /* clients; more come back in several storms */
#define OTHER_FD 64   /* descriptors that are not connections */
#define BACK_S   60.
#define LOOK_S   0.01

struct storm {
    const struct options *options;
    const struct cluster *cluster;
    struct user *users;
    unsigned clients;
};

/* ---- the masters ---- */

static double number_after(const char *text, const char *line, const char *word)
{
    const char *begins = strstr(text, line), *at = begins ? strstr(begins, word) : NULL;
    return at ? atof(at + strlen(word)) : 0;
}

/* Of all masters together so far: the figures behind `word` in two lines of INFO. */
static double masters_sum(const struct cluster *cluster, const char *info, const char *const *lines,
                          const char *word)
{
    double sum = 0;
    for (unsigned i = 0; i < cluster->count; i++) {
        redisReply *reply = cluster_ask(cluster, i, info);
        for (unsigned j = 0; reply && reply->str && j < 2; j++)
            sum += number_after(reply->str, lines[j], word);
        if (reply)
            freeReplyObject(reply);
    }
    return sum;
}

/* Seconds. */
static double masters_cpu(const struct cluster *cluster)
{
    static const char *const lines[] = {"used_cpu_sys", "used_cpu_user"};
    return masters_sum(cluster, "INFO cpu", lines, ":");
}

/* How many connections the masters have closed. */
static uint64_t cut_all(const struct cluster *cluster)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < cluster->count; i++) {
        redisReply *reply = cluster_ask(cluster, i, "CLIENT KILL TYPE normal");
        if (reply && reply->type == REDIS_REPLY_INTEGER)
            sum += (uint64_t)reply->integer;
        if (reply)
            freeReplyObject(reply);
    }
    return sum;
}

/* ---- the clients ---- */

static uint64_t connects(const struct storm *storm)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < storm->clients; i++) {
        redlock_stats stats = {.size = sizeof stats};
        redlock_stats_get(storm->users[i].client, &stats);
        sum += stats.connects;
    }
    return sum;
}

static bool is_up(redlock *client)
{
    redlock_node node = {.size = sizeof node};
    for (unsigned i = 0; redlock_node_get(client, i, &node) == REDLOCK_OK; i++)
        if (node.state == REDLOCK_NODE_DOWN || node.state == REDLOCK_NODE_CONNECTING)
            return false;
    return true;
}

static bool all_up(const struct storm *storm)
{
    for (unsigned i = 0; i < storm->clients; i++)
        if (!is_up(storm->users[i].client))
            return false;
    return true;
}

/* A client that has not noticed its loss yet looks well, but has not connected again. */
static bool wait_until_back(struct storm *storm, uint64_t wanted)
{
    int64_t end = now_ns() + (int64_t)(BACK_S * 1e9);
    while (now_ns() < end && !interrupted) {
        user_run_for(&storm->users[0], LOOK_S);
        if (connects(storm) >= wanted && all_up(storm))
            return true;
    }
    return false;
}

/* ---- */

struct sums {
    uint64_t clients, connections;
    double masters_s;
};

static bool one_storm(struct storm *storm, struct sums *sums, struct result *result)
{
    uint64_t before = connects(storm), cut = cut_all(storm->cluster);
    double user, system, user_then, system_then, cpu = masters_cpu(storm->cluster);
    int64_t begun = now_ns();
    usage_now(&user, &system);
    if (!wait_until_back(storm, before + cut)) {
        result_note(result, "not all clients were back in %.0f s", BACK_S);
        return false;
    }
    result->seconds += (double)(now_ns() - begun) / 1e9;
    usage_now(&user_then, &system_then);
    result->user += user_then - user;
    result->system += system_then - system;
    sums->masters_s += masters_cpu(storm->cluster) - cpu;
    sums->connections += cut;
    sums->clients += storm->clients;
    return true;
}

static void run_storm(void *self, double warm, double seconds, struct result *result)
{
    struct storm *storm = self;
    struct sums sums = {0};
    (void)warm, (void)seconds;
    while (sums.clients < storm->options->leases && !interrupted)
        if (!one_storm(storm, &sums, result))
            break;
    if (!sums.connections)
        return;
    double each = 1e6 / (double)sums.connections;
    result_fact(result, "clients", (double)sums.clients);
    result_fact(result, "at_once", storm->clients);
    result_fact(result, "connections", (double)sums.connections);
    result_fact(result, "reconnecting_s", result->seconds);
    result_fact(result, "master_us_per_connection", sums.masters_s * each);
    result_fact(result, "client_us_per_connection", (result->user + result->system) * each);
}

/* ---- clients that only stay connected ---- */

struct costs {
    double cpu_s, bytes, calls, calls_us; /* of all masters */
};

static struct costs costs_so_far(const struct cluster *cluster)
{
    static const char *const net[] = {"total_net_input_bytes", "total_net_output_bytes"};
    static const char *const scripts[] = {"cmdstat_evalsha:", "cmdstat_eval:"};
    return (struct costs){.cpu_s = masters_cpu(cluster),
                          .bytes = masters_sum(cluster, "INFO stats", net, ":"),
                          .calls = masters_sum(cluster, "INFO commandstats", scripts, "calls="),
                          .calls_us = masters_sum(cluster, "INFO commandstats", scripts, "usec=")};
}

static void run_idle(void *self, double warm, double seconds, struct result *result)
{
    struct storm *storm = self;
    user_run_for(&storm->users[0], warm);
    struct costs before = costs_so_far(storm->cluster);
    user_run_for(&storm->users[0], seconds);
    struct costs now = costs_so_far(storm->cluster);
    double minute = 60 / seconds / storm->cluster->count;
    result->seconds = seconds;
    result_fact(result, "clients", storm->clients);
    result_fact(result, "master_ms_per_minute", (now.cpu_s - before.cpu_s) * 1e3 * minute);
    result_fact(result, "master_scripts_ms_per_minute",
                (now.calls_us - before.calls_us) / 1e3 * minute);
    result_fact(result, "master_scripts_per_minute", (now.calls - before.calls) * minute);
    result_fact(result, "master_bytes_per_minute", (now.bytes - before.bytes) * minute);
}

static unsigned clients_at_once(const struct options *options, const struct cluster *cluster)
{
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    unsigned most = options->leases < AT_ONCE ? options->leases : AT_ONCE;
    rlim_t room = files.rlim_cur > OTHER_FD ? (files.rlim_cur - OTHER_FD) / cluster->count : 0;
    return room < most ? (unsigned)room : most;
}

static void close_storm(void *self)
{
    struct storm *storm = self;
    for (unsigned i = 0; i < storm->clients; i++)
        user_close(&storm->users[i]);
    free(storm->users);
    free(storm);
}

static void *open_storm(const struct options *options, const struct cluster *cluster,
                        struct ev_loop *loop, struct result *result)
{
    struct storm *storm = calloc(1, sizeof *storm);
    unsigned wanted = clients_at_once(options, cluster);
    storm->options = options;
    storm->cluster = cluster;
    storm->users = calloc(wanted + 1, sizeof *storm->users);
    while (storm->clients < wanted && !interrupted &&
           user_open(&storm->users[storm->clients], options, cluster, loop, result))
        storm->clients++;
    if (wanted && storm->clients == wanted && wait_until_back(storm, 0))
        return storm;
    result_note(result, "%u of %u clients could be opened", storm->clients, wanted);
    close_storm(storm);
    return NULL;
}

const struct scenario storm_scenario = {
    .name = "storm",
    .summary = "--leases clients that lose all connections at once, and connect again",
    .open = open_storm,
    .run = run_storm,
    .close = close_storm};

const struct scenario idle_scenario = {
    .name = "idle",
    .summary = "--leases clients that only stay connected: what they cost each master a minute",
    .open = open_storm,
    .run = run_idle,
    .close = close_storm};
