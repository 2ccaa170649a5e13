/*
 * permits.c - many processes want one of the permits of a name. Measures for each slot the time
 * from a release to the next holder, how long they wait, and the use of the slots.
 */
#include <stdlib.h>

#include "crowd.h"

struct permits {
    struct crowd crowd;
    struct histogram handoff, wait;
    uint64_t holdings, overlaps, out_of_range;
    int64_t waited_ns;      /* all together */
    int64_t in_use, wanted; /* ns × slots: held, and all of them, while somebody waited */
};

/* A moment at which a process asks, gets its permit or gives it back. */
struct change {
    int64_t at;
    int waiting, held;
};

static int by_moment(const void *left, const void *right)
{
    const struct change *a = left, *b = right;
    return (a->at > b->at) - (a->at < b->at);
}

static void count_use(struct permits *permits, const struct change *changes, size_t count)
{
    const struct crowd *crowd = &permits->crowd;
    int waiting = 0, held = 0;
    for (size_t i = 0; i + 1 < count; i++) {
        waiting += changes[i].waiting;
        held += changes[i].held;
        int64_t from = changes[i].at < crowd->from ? crowd->from : changes[i].at;
        int64_t to = changes[i + 1].at > crowd->to ? crowd->to : changes[i + 1].at;
        if (from >= to || waiting <= 0)
            continue;
        permits->in_use += (to - from) * held;
        permits->wanted += (to - from) * crowd->options->permits;
    }
}

static void measure_use(struct permits *permits)
{
    const struct crowd *crowd = &permits->crowd;
    struct change *changes = calloc(3 * crowd->count + 1, sizeof *changes);
    for (size_t i = 0; i < crowd->count; i++) {
        const struct holding *it = &crowd->holdings[i];
        changes[3 * i] = (struct change){it->asked, 1, 0};
        changes[3 * i + 1] = (struct change){it->acquired, -1, 1};
        changes[3 * i + 2] = (struct change){it->released, 0, -1};
    }
    qsort(changes, 3 * crowd->count, sizeof *changes, by_moment);
    count_use(permits, changes, 3 * crowd->count);
    free(changes);
}

/* The slot goes from `last` to `next`, who may have come later. */
static void count_handoff(struct permits *permits, const struct holding *last,
                          const struct holding *next)
{
    permits->overlaps += next->acquired < last->released;
    if (next->asked < last->released)
        histogram_add(&permits->handoff, next->acquired - last->released);
}

static void measure(struct permits *permits)
{
    const struct crowd *crowd = &permits->crowd;
    const struct holding *last[MOST_PERMITS] = {NULL};
    for (size_t i = 0; i < crowd->count; i++) {
        const struct holding *it = &crowd->holdings[i];
        if (it->slot < 0 || (unsigned)it->slot >= crowd->options->permits) {
            permits->out_of_range++;
            continue;
        }
        if (crowd_saw(crowd, it)) {
            permits->holdings++;
            permits->waited_ns += it->acquired - it->asked;
            histogram_add(&permits->wait, it->acquired - it->asked);
            if (last[it->slot])
                count_handoff(permits, last[it->slot], it);
        }
        last[it->slot] = it;
    }
    measure_use(permits);
}

static void tell(const struct permits *permits, struct result *result)
{
    const struct options *options = permits->crowd.options;
    double holdings = permits->holdings ? (double)permits->holdings : 1;
    double mean = (double)permits->waited_ns / holdings;
    result->pairs = permits->holdings;
    result->acquire = permits->wait;
    result_fact(result, "workers", options->workers);
    result_fact(result, "permits", options->permits);
    result_fact(result, "hold_ms", options->hold_ms);
    result_fact(result, "handoff_p50_us", (double)histogram_at(&permits->handoff, 0.5) / 1e3);
    result_fact(result, "handoff_p99_us", (double)histogram_at(&permits->handoff, 0.99) / 1e3);
    result_fact(result, "wait_mean_us", mean / 1e3);
    result_fact(result, "wait_max_us", (double)permits->wait.max / 1e3);
    result_fact(result, "wait_max_by_mean", mean > 0 ? (double)permits->wait.max / mean : 0);
    result_fact(result, "commands_per_holding", (double)permits->crowd.commands / holdings);
    if (permits->wanted)
        result_fact(result, "slots_in_use", (double)permits->in_use / (double)permits->wanted);
    result_fact(result, "overlaps", (double)permits->overlaps);
    if (!permits->holdings)
        result_note(result, "nobody had a permit in %.0f s", result->seconds);
    if (permits->overlaps || permits->out_of_range)
        result_note(result, "%llu times two workers held a slot at once, %llu slots out of range",
                    (unsigned long long)permits->overlaps,
                    (unsigned long long)permits->out_of_range);
}

static void run_permits(void *self, double warm, double seconds, struct result *result)
{
    struct permits *permits = self;
    crowd_run(&permits->crowd, warm, seconds, result);
    struct permits *measured = calloc(1, sizeof *measured);
    measured->crowd = permits->crowd;
    measure(measured);
    tell(measured, result);
    free(measured);
}

static void *open_permits(const struct options *options, const struct cluster *cluster,
                          struct ev_loop *loop, struct result *result)
{
    (void)loop;
    if (!options->permits) {
        result_note(result, "permits: how many there are is missing: --permits K");
        return NULL;
    }
    struct permits *permits = calloc(1, sizeof *permits);
    permits->crowd = (struct crowd){.work = worker_run, .options = options, .cluster = cluster};
    return permits;
}

static void close_permits(void *self)
{
    struct permits *permits = self;
    crowd_free(&permits->crowd);
    free(permits);
}

const struct scenario permits_scenario = {.name = "permits",
                                          .summary =
                                              "--permits of one name that --workers processes want",
                                          .open = open_permits,
                                          .run = run_permits,
                                          .close = close_permits};
