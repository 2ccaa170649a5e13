/*
 * handoff.c - many processes want one name: the time from a release to the next holder, its cost to
 * the masters, and its fairness.
 */
#include <stdlib.h>

#include "crowd.h"

struct handoff {
    struct crowd crowd;
    /* ns of a round trip to the quorum without contention; 0: not measured.  One at a time, with
     * pauses as long as a hold, in which machines fall asleep. */
    int64_t round_trip, paced_round_trip;
};

struct figures {
    struct histogram handoff, wait;
    uint64_t holdings, overlaps, to_itself, enqueued, overtaken;
    uint64_t *of_worker;
};

static void measure(const struct crowd *crowd, struct figures *figures)
{
    for (size_t i = 1; i < crowd->count; i++) {
        const struct holding *last = &crowd->holdings[i - 1], *next = &crowd->holdings[i];
        if (!crowd_saw(crowd, next))
            continue;
        figures->holdings++;
        figures->of_worker[next->worker]++;
        figures->overlaps += next->acquired < last->released;
        figures->to_itself += next->worker == last->worker;
        histogram_add(&figures->handoff, next->acquired - last->released);
        histogram_add(&figures->wait, next->acquired - next->asked);
    }
}

/* ---- is it fair? ---- */

static int by_asking(const void *left, const void *right)
{
    const struct holding *a = *(const struct holding *const *)left,
                         *b = *(const struct holding *const *)right;
    return (a->asked > b->asked) - (a->asked < b->asked);
}

static int by_enqueued(const void *left, const void *right)
{
    const struct holding *a = *(const struct holding *const *)left,
                         *b = *(const struct holding *const *)right;
    return (a->enqueued > b->enqueued) - (a->enqueued < b->enqueued);
}

/* Counts the workers that had the name before another that was enqueued already when they first
 * asked. */
static void judge_order(const struct crowd *crowd, struct figures *figures)
{
    size_t count = crowd->count, waiters = 0;
    const struct holding **asking = calloc(2 * count + 1, sizeof *asking),
                         **enqueued = asking + count;
    for (size_t i = 0; i < count; i++) {
        asking[i] = &crowd->holdings[i];
        if (asking[i]->enqueued)
            enqueued[waiters++] = asking[i];
    }
    qsort(asking, count, sizeof *asking, by_asking);
    qsort(enqueued, waiters, sizeof *enqueued, by_enqueued);
    int64_t last = INT64_MIN;
    for (size_t i = 0, s = 0; i < count; i++) {
        for (; s < waiters && enqueued[s]->enqueued < asking[i]->asked; s++)
            last = enqueued[s]->acquired > last ? enqueued[s]->acquired : last;
        figures->overtaken += asking[i]->acquired < last;
    }
    figures->enqueued = waiters;
    free(asking);
}

/* Jain's index: 1 when all had the name equally often, 1/n when one always had it. */
static double jain(const uint64_t *values, unsigned count)
{
    double sum = 0, squares = 0;
    for (unsigned i = 0; i < count; i++) {
        sum += (double)values[i];
        squares += (double)values[i] * (double)values[i];
    }
    return squares > 0 ? sum * sum / (count * squares) : 0;
}

static void tell_times(const struct handoff *self, const struct histogram *handoff,
                       struct result *result)
{
    int64_t round_trip = self->round_trip;
    double p50 = (double)histogram_at(handoff, 0.5), p99 = (double)histogram_at(handoff, 0.99);
    result_fact(result, "handoff_p50_us", p50 / 1e3);
    result_fact(result, "handoff_p99_us", p99 / 1e3);
    result_fact(result, "handoff_max_us", (double)handoff->max / 1e3);
    if (round_trip == 0)
        return;
    result_fact(result, "quiet_round_trip_us", (double)round_trip / 1e3);
    result_fact(result, "paced_round_trip_us", (double)self->paced_round_trip / 1e3);
    result_fact(result, "handoff_p50_round_trips", p50 / (double)round_trip);
    result_fact(result, "handoff_p99_round_trips", p99 / (double)round_trip);
}

static void tell(const struct handoff *handoff, const struct figures *figures,
                 struct result *result)
{
    const struct crowd *crowd = &handoff->crowd;
    unsigned workers = crowd->options->workers;
    double holdings = figures->holdings ? (double)figures->holdings : 1;
    uint64_t least = UINT64_MAX, most = 0;
    for (unsigned i = 0; i < workers; i++) {
        least = figures->of_worker[i] < least ? figures->of_worker[i] : least;
        most = figures->of_worker[i] > most ? figures->of_worker[i] : most;
    }
    result->pairs = figures->holdings;
    result->acquire = figures->wait;
    result_fact(result, "workers", workers);
    result_fact(result, "hold_ms", crowd->options->hold_ms);
    tell_times(handoff, &figures->handoff, result);
    result_fact(result, "commands_per_handoff", (double)crowd->commands / holdings);
    result_fact(result, "commands_per_s_and_worker",
                (double)crowd->commands / result->seconds / workers);
    result_fact(result, "fairness_jain", jain(figures->of_worker, workers));
    result_fact(result, "least_of_one_worker", (double)least);
    result_fact(result, "most_of_one_worker", (double)most);
    result_fact(result, "to_itself_share", (double)figures->to_itself / holdings);
    result_fact(result, "overlaps", (double)figures->overlaps);
    result_fact(result, "enqueued", (double)figures->enqueued);
    result_fact(result, "overtaken", (double)figures->overtaken);
    if (!figures->holdings)
        result_note(result, "nobody was handed the lock in %.0f s", result->seconds);
    if (figures->overlaps)
        result_note(result, "%llu times two workers held it at once",
                    (unsigned long long)figures->overlaps);
}

static void run_handoff(void *self, double warm, double seconds, struct result *result)
{
    struct handoff *handoff = self;
    struct figures *figures = calloc(1, sizeof *figures);
    figures->of_worker = calloc(handoff->crowd.options->workers, sizeof *figures->of_worker);
    crowd_run(&handoff->crowd, warm, seconds, result);
    measure(&handoff->crowd, figures);
    judge_order(&handoff->crowd, figures);
    tell(handoff, figures, result);
    free(figures->of_worker);
    free(figures);
}

static void *open_handoff(const struct options *options, const struct cluster *cluster,
                          struct ev_loop *loop, struct result *result)
{
    struct handoff *handoff = calloc(1, sizeof *handoff);
    handoff->crowd = (struct crowd){.work = worker_run, .options = options, .cluster = cluster};
    if (!options->worker) {
        double pause_ms = options->hold_ms < 100 ? options->hold_ms : 100;
        handoff->round_trip = quiet_round_trip(options, cluster, loop, 0, result);
        handoff->paced_round_trip = quiet_round_trip(options, cluster, loop, pause_ms, result);
    }
    return handoff;
}

static void *open_floor(const struct options *options, const struct cluster *cluster,
                        struct ev_loop *loop, struct result *result)
{
    struct handoff *handoff = open_handoff(options, cluster, loop, result);
    handoff->crowd.work = floor_worker_run;
    return handoff;
}

static void close_handoff(void *self)
{
    struct handoff *handoff = self;
    crowd_free(&handoff->crowd);
    free(handoff);
}

const struct scenario handoff_scenario = {
    .name = "handoff",
    .summary = "one name that --workers processes want: from release to next holder",
    .open = open_handoff,
    .run = run_handoff,
    .close = close_handoff};

const struct scenario floor_handoff_scenario = {
    .name = "floor-handoff",
    .summary = "the same in a fixed ring, by DEL and PUBLISH: fast, and not safe",
    .open = open_floor,
    .run = run_handoff,
    .close = close_handoff};
