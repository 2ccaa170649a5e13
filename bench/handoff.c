/*
 * handoff.c - many processes want one name: the time from a release to the next holder, its cost to
 * the masters, and its fairness.
 *
 * Each worker acquires, holds, releases, rests and asks again, and writes a line `ASKED ACQUIRED
 * RELEASED [ENQUEUED]` (ns of CLOCK_MONOTONIC) each time; ENQUEUED is when it was certainly
 * enqueued on a quorum, 0 if never.  Workers may be of any kind: --worker.
 */
#include "handoff.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenario.h"

#define READY_S 6.
#define END_S   10.

struct holding {
    unsigned worker;
    int64_t asked, acquired, released, enqueued;
};

struct handoff {
    bool is_floor;
    const struct options *options;
    const struct cluster *cluster;
    pid_t *pids;
    FILE **outputs;
    struct holding *holdings;
    size_t count, capacity;
    /* ns of a round trip to the quorum without contention; 0: not measured.  One at a time, with
     * pauses as long as a hold, in which machines fall asleep. */
    int64_t round_trip, paced_round_trip;
};

/* ---- workers ---- */

static pid_t start_worker(struct handoff *handoff, unsigned index)
{
    handoff->outputs[index] = tmpfile();
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    dup2(fileno(handoff->outputs[index]), STDOUT_FILENO);
    setenv("REDLOCK_NODES", handoff->cluster->nodes, 1);
    if (handoff->options->worker) {
        int null = open("/dev/null", O_RDONLY);
        dup2(null, STDIN_FILENO);
        execl("/bin/sh", "sh", "-c", handoff->options->worker, (char *)NULL);
        _exit(127);
    }
    if (handoff->is_floor)
        floor_worker_run(handoff->options, handoff->cluster, index);
    else
        worker_run(handoff->options, handoff->cluster);
    _exit(0);
}

static unsigned ready_workers(const struct handoff *handoff)
{
    unsigned ready = 0;
    for (unsigned i = 0; i < handoff->options->workers; i++) {
        struct stat file;
        ready += fstat(fileno(handoff->outputs[i]), &file) == 0 && file.st_size > 0;
    }
    return ready;
}

static void pause_ms(unsigned ms)
{
    usleep(ms * 1000);
}

static void wait_until_ready(struct handoff *handoff)
{
    int64_t end = now_ns() + (int64_t)(READY_S * 1e9);
    while (!interrupted && now_ns() < end && 2 * ready_workers(handoff) < handoff->options->workers)
        pause_ms(20);
}

static void end_workers(struct handoff *handoff)
{
    unsigned workers = handoff->options->workers, left = workers;
    int64_t end = now_ns() + (int64_t)(END_S * 1e9);
    for (unsigned i = 0; i < workers; i++)
        kill(handoff->pids[i], SIGTERM);
    while (left) {
        for (unsigned i = 0; i < workers; i++)
            if (handoff->pids[i] && waitpid(handoff->pids[i], NULL, WNOHANG) == handoff->pids[i]) {
                handoff->pids[i] = 0;
                left--;
            }
        for (unsigned i = 0; now_ns() > end && i < workers; i++)
            if (handoff->pids[i])
                kill(handoff->pids[i], SIGKILL);
        pause_ms(5);
    }
}

/* ---- what they wrote ---- */

static void keep(struct handoff *handoff, struct holding holding)
{
    if (handoff->count == handoff->capacity) {
        handoff->capacity = handoff->capacity ? 2 * handoff->capacity : 1024;
        handoff->holdings =
            realloc(handoff->holdings, handoff->capacity * sizeof *handoff->holdings);
    }
    handoff->holdings[handoff->count++] = holding;
}

static int by_time(const void *left, const void *right)
{
    const struct holding *a = left, *b = right;
    return (a->acquired > b->acquired) - (a->acquired < b->acquired);
}

static void read_outputs(struct handoff *handoff)
{
    for (unsigned i = 0; i < handoff->options->workers; i++) {
        char line[128];
        rewind(handoff->outputs[i]);
        while (fgets(line, sizeof line, handoff->outputs[i])) {
            long long asked, acquired, released, enqueued = 0;
            if (sscanf(line, "%lld %lld %lld %lld", &asked, &acquired, &released, &enqueued) >= 3)
                keep(handoff, (struct holding){i, asked, acquired, released, enqueued});
        }
        fclose(handoff->outputs[i]);
    }
    qsort(handoff->holdings, handoff->count, sizeof *handoff->holdings, by_time);
}

struct figures {
    struct histogram handoff, wait;
    uint64_t holdings, overlaps, to_itself, enqueued, overtaken;
    uint64_t *of_worker;
};

static void measure(const struct handoff *handoff, int64_t from, int64_t to,
                    struct figures *figures)
{
    for (size_t i = 1; i < handoff->count; i++) {
        const struct holding *last = &handoff->holdings[i - 1], *next = &handoff->holdings[i];
        if (next->acquired < from || next->acquired > to)
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
static void judge_order(const struct handoff *handoff, struct figures *figures)
{
    size_t count = handoff->count, waiters = 0;
    const struct holding **asking = calloc(2 * count + 1, sizeof *asking),
                         **enqueued = asking + count;
    for (size_t i = 0; i < count; i++) {
        asking[i] = &handoff->holdings[i];
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

static void tell(const struct handoff *handoff, const struct figures *figures, uint64_t commands,
                 struct result *result)
{
    unsigned workers = handoff->options->workers;
    double holdings = figures->holdings ? (double)figures->holdings : 1;
    uint64_t least = UINT64_MAX, most = 0;
    for (unsigned i = 0; i < workers; i++) {
        least = figures->of_worker[i] < least ? figures->of_worker[i] : least;
        most = figures->of_worker[i] > most ? figures->of_worker[i] : most;
    }
    result->pairs = figures->holdings;
    result->acquire = figures->wait;
    result_fact(result, "workers", workers);
    result_fact(result, "hold_ms", handoff->options->hold_ms);
    tell_times(handoff, &figures->handoff, result);
    result_fact(result, "commands_per_handoff", (double)commands / holdings);
    result_fact(result, "commands_per_s_and_worker",
                (double)commands / result->seconds / handoff->options->workers);
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
    unsigned workers = handoff->options->workers;
    struct figures *figures = calloc(1, sizeof *figures);
    figures->of_worker = calloc(workers, sizeof *figures->of_worker);
    handoff->pids = calloc(workers, sizeof *handoff->pids);
    handoff->outputs = calloc(workers, sizeof *handoff->outputs);
    handoff->count = 0;
    for (unsigned i = 0; i < workers; i++)
        handoff->pids[i] = start_worker(handoff, i);
    wait_until_ready(handoff);
    pause_ms((unsigned)(warm * 1e3));
    uint64_t commands = commands_done(handoff->cluster, handoff->options->count);
    int64_t from = now_ns(), to = from + (int64_t)(seconds * 1e9);
    while (!interrupted && now_ns() < to)
        pause_ms(10);
    to = now_ns();
    commands = commands_done(handoff->cluster, handoff->options->count) - commands;
    end_workers(handoff);
    read_outputs(handoff);
    measure(handoff, from, to, figures);
    judge_order(handoff, figures);
    result->seconds = (double)(to - from) / 1e9;
    tell(handoff, figures, commands, result);
    free(figures->of_worker);
    free(figures);
    free(handoff->pids);
    free(handoff->outputs);
}

static void *open_handoff(const struct options *options, const struct cluster *cluster,
                          struct ev_loop *loop, struct result *result)
{
    struct handoff *handoff = calloc(1, sizeof *handoff);
    handoff->options = options;
    handoff->cluster = cluster;
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
    handoff->is_floor = true;
    return handoff;
}

static void close_handoff(void *self)
{
    struct handoff *handoff = self;
    free(handoff->holdings);
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
