/*
 * renew.c - many leases held at once: the cost of a renewal and of a held lease, late renewals, and
 * the price of closing the client.
 */
#include <stdio.h>
#include <stdlib.h>

#include "redlock.h"
#include "scenario.h"
#include "user.h"

#define AT_ONCE  256 /* asked for, and not yet answered */
#define GATHER_S 120.
#define CLOSE_MS 600000

struct renew {
    struct user user;
    const struct options *options;
    redlock_lease_options terms;
    struct result *result;
    redlock_lease **leases;
    unsigned asked, held, failed;
    uint64_t at_risk, healthy, lost, released;
    size_t empty; /* bytes in use before */
};

static void ask_more(struct renew *renew);

static void on_event(redlock_lease *lease, const redlock_event *event, void *data)
{
    struct renew *renew = data;
    (void)lease;
    switch (event->kind) {
    case REDLOCK_ACQUIRED:
        renew->held++;
        ask_more(renew);
        break;
    case REDLOCK_NOT_ACQUIRED:
        result_note(renew->result, "acquire: %s", event->text);
        renew->failed++;
        ask_more(renew);
        break;
    case REDLOCK_AT_RISK:
        renew->at_risk++;
        break;
    case REDLOCK_HEALTHY:
        renew->healthy++;
        break;
    case REDLOCK_LOST:
        result_note(renew->result, "lost: %s", event->text);
        renew->lost++;
        break;
    case REDLOCK_RELEASED:
        renew->released += event->code == REDLOCK_OK;
        break;
    default:
        break;
    }
}

static bool ask_one(struct renew *renew)
{
    char bytes[1024];
    redlock_name name = user_name(bytes, renew->options, "renew", renew->asked);
    return redlock_acquire_names(renew->user.client, &renew->leases[renew->asked], &name, 1,
                                 &renew->terms, on_event, renew) == REDLOCK_OK;
}

static void ask_more(struct renew *renew)
{
    while (renew->asked < renew->options->leases && !interrupted &&
           renew->asked - renew->held - renew->failed < AT_ONCE) {
        if (!ask_one(renew)) {
            result_note(renew->result, "%s", redlock_last_error(renew->user.client));
            interrupted = 1;
        }
        renew->asked++;
    }
    if (renew->held + renew->failed >= renew->options->leases || interrupted)
        ev_break(renew->user.loop, EVBREAK_ONE);
}

static uint64_t renewals(const struct renew *renew, uint64_t *missed)
{
    redlock_stats stats = {.size = sizeof stats};
    redlock_stats_get(renew->user.client, &stats);
    *missed = stats.renewals_missed;
    return stats.renewals;
}

static void *open_renew(const struct options *options, const struct cluster *cluster,
                        struct ev_loop *loop, struct result *result)
{
    struct renew *renew = calloc(1, sizeof *renew);
    renew->options = options;
    renew->result = result;
    renew->terms = (redlock_lease_options){.size = sizeof(redlock_lease_options)};
    renew->terms.ttl_ms = options->ttl_ms;
    renew->leases = calloc(options->leases, sizeof *renew->leases);
    if (!user_open(&renew->user, options, cluster, loop, result)) {
        free(renew->leases);
        free(renew);
        return NULL;
    }
    renew->empty = bytes_in_use();
    int64_t begun = now_ns();
    ask_more(renew);
    user_run_for(&renew->user, GATHER_S);
    result_fact(result, "gather_s", (double)(now_ns() - begun) / 1e9);
    /* Requests on their way at the last outcome are not memory of a lease. */
    user_run_for(&renew->user, 0.2);
    result_fact(result, "memory_bytes_per_lease",
                (double)(bytes_in_use() - renew->empty) / (renew->held ? renew->held : 1));
    return renew;
}

static void run_renew(void *self, double warm, double seconds, struct result *result)
{
    struct renew *renew = self;
    uint64_t missed_before, missed;
    (void)warm;
    renew->result = result;
    uint64_t before = renewals(renew, &missed_before);
    uint64_t at_risk = renew->at_risk, lost = renew->lost;
    int64_t begun = now_ns();
    usage_now(&result->user, &result->system);
    if (!interrupted)
        user_run_for(&renew->user, seconds);
    double user, system;
    usage_now(&user, &system);
    result->user = user - result->user;
    result->system = system - result->system;
    result->seconds = (double)(now_ns() - begun) / 1e9;
    uint64_t count = renewals(renew, &missed) - before;
    double cpu = result->user + result->system;
    result_fact(result, "leases", renew->held);
    result_fact(result, "not_acquired", renew->failed);
    result_fact(result, "renewals", (double)count);
    result_fact(result, "renewals_per_s", (double)count / result->seconds);
    result_fact(result, "cpu_us_per_renewal", count ? cpu * 1e6 / (double)count : 0);
    result_fact(result, "cpu_share_of_core", cpu / result->seconds);
    result_fact(result, "renewals_missed", (double)(missed - missed_before));
    result_fact(result, "at_risk", (double)(renew->at_risk - at_risk));
    result_fact(result, "lost", (double)(renew->lost - lost));
}

static void close_renew(void *self)
{
    struct renew *renew = self;
    user_close(&renew->user);
    free(renew->leases);
    free(renew);
}

/* Once: there is nothing left to close then. */
static void run_closing(void *self, double warm, double seconds, struct result *result)
{
    struct renew *renew = self;
    (void)warm, (void)seconds;
    double user, system;
    usage_now(&user, &system);
    int64_t begun = now_ns();
    user_close_within(&renew->user, CLOSE_MS);
    result->seconds = (double)(now_ns() - begun) / 1e9;
    usage_now(&result->user, &result->system);
    double cpu = result->user + result->system - user - system;
    result_fact(result, "leases", renew->held);
    result_fact(result, "not_acquired", renew->failed);
    result_fact(result, "released", (double)renew->released);
    result_fact(result, "closing_s", result->seconds);
    result_fact(result, "cpu_us_per_closed_lease", cpu * 1e6 / (renew->held ? renew->held : 1));
}

static void close_closing(void *self)
{
    struct renew *renew = self;
    redlock_free(renew->user.client);
    free(renew->leases);
    free(renew);
}

const struct scenario renew_scenario = {
    .name = "renew",
    .summary = "--leases held for --seconds: cost and punctuality of renewals",
    .open = open_renew,
    .run = run_renew,
    .close = close_renew};

const struct scenario closing_scenario = {
    .name = "closing",
    .summary = "--leases held, and the client closed: until all are released",
    .open = open_renew,
    .run = run_closing,
    .close = close_closing};
