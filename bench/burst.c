/*
 * burst.c - one turn of a client asks for many leases, plain, fenced and shared, and looks at a
 * third as many names.  It tells how many came to nothing, and when the last outcome came.
 * names: all of them would wait.  Then the client keeps a queue for each name.
 */
#include <stdio.h>
#include <stdlib.h>

#include "redlock.h"
#include "scenario.h"
#include "user.h"

#define LOOKS_BY 3 /* leases for each look */
#define MOST_S   600.

struct burst {
    struct user user;
    const struct options *options;
    redlock_lease **leases;
    redlock_look **looks;
    char *bytes;
    int64_t wait_ms;
    struct result *result;
    int64_t begun, released_at;
    unsigned untold, held, not_acquired, overload, lost, looks_failed; /* of this run */
    double leases_s, looks_s;
};

static double since(int64_t then)
{
    return (double)(now_ns() - then) / 1e9;
}

static void count_told(struct burst *burst)
{
    if (--burst->untold == 0)
        ev_break(burst->user.loop, EVBREAK_ONE);
}

static void on_event(redlock_lease *lease, const redlock_event *event, void *data)
{
    struct burst *burst = data;
    (void)lease;
    switch (event->kind) {
    case REDLOCK_ACQUIRED:
        burst->held++;
        burst->leases_s = since(burst->begun);
        histogram_add(&burst->result->acquire, now_ns() - burst->begun);
        count_told(burst);
        break;
    case REDLOCK_NOT_ACQUIRED:
        result_note(burst->result, "acquire: %s", event->text);
        burst->not_acquired++;
        burst->overload += event->code == REDLOCK_E_OVERLOAD;
        burst->leases_s = since(burst->begun);
        count_told(burst);
        break;
    case REDLOCK_LOST:
        result_note(burst->result, "lost: %s", event->text);
        burst->lost++;
        break;
    case REDLOCK_RELEASED:
        histogram_add(&burst->result->release, now_ns() - burst->released_at);
        count_told(burst);
        break;
    default:
        break;
    }
}

static void on_look(redlock_look *look, const redlock_look_result *result, void *data)
{
    struct burst *burst = data;
    (void)look;
    if (result->code)
        result_note(burst->result, "look: %s", result->text);
    burst->looks_failed += result->code != REDLOCK_OK;
    burst->looks_s = since(burst->begun);
    count_told(burst);
}

/* ---- the turn ---- */

/* By turns plain, fenced and shared; all fenced, if that is wanted. */
static redlock_lease_options terms_of(const struct options *options, unsigned number)
{
    redlock_lease_options terms = {.size = sizeof terms};
    terms.ttl_ms = options->ttl_ms;
    terms.fence = options->fence || number % 3 == 1;
    terms.mode = !options->fence && number % 3 == 2 ? REDLOCK_SHARED : REDLOCK_EXCLUSIVE;
    return terms;
}

static bool ask_one(struct burst *burst, unsigned number)
{
    redlock_lease_options terms = terms_of(burst->options, number);
    terms.wait_ms = burst->wait_ms;
    redlock_name name = user_name(burst->bytes, burst->options, "burst-lease", number);
    if (redlock_acquire_names(burst->user.client, &burst->leases[number], &name, 1, &terms,
                              on_event, burst))
        return false;
    burst->untold++;
    if (number % LOOKS_BY)
        return true;
    name = user_name(burst->bytes, burst->options, "burst-look", number);
    if (redlock_look_begin(burst->user.client, &burst->looks[number / LOOKS_BY], &name, 1, NULL,
                           on_look, burst))
        return false;
    burst->untold++;
    return true;
}

static bool ask_all(struct burst *burst)
{
    for (unsigned i = 0; i < burst->options->leases; i++)
        if (!ask_one(burst, i)) {
            result_note(burst->result, "%s", redlock_last_error(burst->user.client));
            return false;
        }
    return true;
}

/* ---- its end ---- */

static bool wait_until_told(struct burst *burst, const char *what)
{
    if (burst->untold && !interrupted)
        user_run_for(&burst->user, MOST_S);
    if (burst->untold)
        result_note(burst->result, "%u %s did not come in %.0f s", burst->untold, what, MOST_S);
    return !burst->untold;
}

/* A lost lease has the outcome RELEASED, too. */
static void release_all(struct burst *burst)
{
    burst->untold = burst->held;
    burst->released_at = now_ns();
    for (unsigned i = 0; i < burst->options->leases; i++)
        redlock_lease_release(burst->leases[i]);
    wait_until_told(burst, "releases");
}

static void free_looks(struct burst *burst)
{
    for (unsigned i = 0; i <= burst->options->leases / LOOKS_BY; i++) {
        redlock_look_free(burst->looks[i]);
        burst->looks[i] = NULL;
    }
}

static void free_leases(struct burst *burst)
{
    for (unsigned i = 0; i < burst->options->leases; i++) {
        redlock_lease_free(burst->leases[i]);
        burst->leases[i] = NULL;
    }
}

static void hold(struct burst *burst, int64_t resident_before)
{
    free_looks(burst);
    user_run_for(&burst->user, burst->options->hold_ms / 1e3);
    if (burst->held)
        result_fact(burst->result, "resident_bytes_per_lease",
                    (double)(bytes_resident() - resident_before) / burst->held);
}

static void tell(const struct burst *burst, double cpu, struct result *result)
{
    unsigned leases = burst->options->leases, looks = (leases + LOOKS_BY - 1) / LOOKS_BY;
    result_fact(result, "leases", leases);
    result_fact(result, "looks", looks);
    result_fact(result, "not_acquired", burst->not_acquired);
    result_fact(result, "overload", burst->overload);
    result_fact(result, "looks_failed", burst->looks_failed);
    result_fact(result, "lost", burst->lost);
    result_fact(result, "leases_told_s", burst->leases_s);
    result_fact(result, "looks_told_s", burst->looks_s);
    result_fact(result, "hold_ms", burst->options->hold_ms);
    result_fact(result, "client_cpu_s", cpu);
}

static void run_burst(void *self, double warm, double seconds, struct result *result)
{
    struct burst *burst = self;
    double user, system;
    (void)warm, (void)seconds;
    burst->result = result;
    burst->untold = burst->held = burst->not_acquired = burst->overload = burst->lost =
        burst->looks_failed = 0;
    burst->leases_s = burst->looks_s = 0;
    int64_t resident = bytes_resident();
    usage_now(&user, &system);
    burst->begun = now_ns();
    bool all_told = ask_all(burst) && wait_until_told(burst, "outcomes");
    result->seconds = since(burst->begun);
    usage_now(&result->user, &result->system);
    result->user -= user;
    result->system -= system;
    result->pairs = burst->held;
    result->failed = burst->not_acquired;
    if (all_told)
        hold(burst, resident);
    tell(burst, result->user + result->system, result);
    if (all_told)
        release_all(burst);
    free_looks(burst);
    free_leases(burst);
}

static void close_burst(void *self)
{
    struct burst *burst = self;
    user_close(&burst->user);
    free(burst->bytes);
    free(burst->looks);
    free(burst->leases);
    free(burst);
}

static void *open_burst(const struct options *options, const struct cluster *cluster,
                        struct ev_loop *loop, struct result *result)
{
    struct burst *burst = calloc(1, sizeof *burst);
    burst->options = options;
    if (!user_open(&burst->user, options, cluster, loop, result)) {
        free(burst);
        return NULL;
    }
    burst->leases = calloc(options->leases, sizeof(redlock_lease *));
    burst->looks = calloc(options->leases / LOOKS_BY + 1, sizeof(redlock_look *));
    burst->bytes = malloc(options->name_size);
    return burst;
}

static void *open_names(const struct options *options, const struct cluster *cluster,
                        struct ev_loop *loop, struct result *result)
{
    struct burst *burst = open_burst(options, cluster, loop, result);
    if (burst)
        burst->wait_ms = REDLOCK_FOREVER;
    return burst;
}

const struct scenario burst_scenario = {
    .name = "burst",
    .summary = "--leases and a third as many looks, all asked for in one turn; held for --hold",
    .open = open_burst,
    .run = run_burst,
    .close = close_burst};
const struct scenario names_scenario = {.name = "names",
                                        .summary =
                                            "the same, but each lease would wait for its name",
                                        .open = open_names,
                                        .run = run_burst,
                                        .close = close_burst};
