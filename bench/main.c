/*
 * main.c - redlock-bench: runs one scenario, or slices of one on request.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cluster.h"
#include "scenario.h"
#include "syscalls.h"

#define INTERRUPTED 130

volatile sig_atomic_t interrupted;

static const struct scenario *const scenarios[] = {
    &pairs_scenario,       &renew_scenario,         &closing_scenario,
    &burst_scenario,       &names_scenario,         &observers_scenario,
    &parties_scenario,     &surveys_scenario,       &handoff_scenario,
    &turns_scenario,       &permits_scenario,       &local_queue_scenario,
    &storm_scenario,       &idle_scenario,          &start_scenario,
    &floor_async_scenario, &floor_patient_scenario, &floor_blocking_scenario,
    &floor_epoll_scenario, &floor_handoff_scenario};

#define SCENARIOS (sizeof scenarios / sizeof scenarios[0])

const struct scenario *scenario_find(const char *name)
{
    for (unsigned i = 0; i < SCENARIOS; i++)
        if (strcmp(scenarios[i]->name, name) == 0)
            return scenarios[i];
    return NULL;
}

void scenarios_list(char *text, size_t size)
{
    size_t used = 0;
    for (unsigned i = 0; i < SCENARIOS && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "  %-16s %s\n", scenarios[i]->name,
                                 scenarios[i]->summary);
}

static ev_async waker;

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
    ev_async_send(ev_default_loop(0), &waker);
}

/* The function that runs the loop looks at `interrupted` then. */
static void on_wake(struct ev_loop *loop, ev_async *watcher, int events)
{
    (void)watcher, (void)events;
    ev_break(loop, EVBREAK_ONE);
}

static void catch_signals(struct ev_loop *loop)
{
    struct sigaction action = {.sa_handler = on_signal};
    ev_async_init(&waker, on_wake);
    ev_async_start(loop, &waker);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

/* ---- slices ---- */

struct line {
    char text[64];
    unsigned length;
    bool whole, over;
};

static void on_input(struct ev_loop *loop, ev_io *watcher, int events)
{
    (void)events;
    struct line *line = watcher->data;
    char byte;
    if (read(STDIN_FILENO, &byte, 1) <= 0)
        line->over = true;
    else if (byte == '\n')
        line->whole = true;
    else if (line->length < sizeof line->text - 1)
        line->text[line->length++] = byte;
    if (line->over || line->whole)
        ev_break(loop, EVBREAK_ONE);
}

/* The loop runs meanwhile: it keeps connections, and renews leases. */
static bool wait_for_line(struct ev_loop *loop, struct line *line)
{
    ev_io watcher;
    *line = (struct line){.length = 0};
    ev_io_init(&watcher, on_input, STDIN_FILENO, EV_READ);
    watcher.data = line;
    ev_io_start(loop, &watcher);
    while (!line->whole && !line->over && !interrupted)
        ev_run(loop, 0);
    ev_io_stop(loop, &watcher);
    return line->whole;
}

static void run_slices(const struct options *options, const struct scenario *scenario, void *self,
                       const struct cluster *cluster, struct ev_loop *loop, struct result *result)
{
    struct line line;
    printf("{\"ready\":true}\n");
    fflush(stdout);
    while (!interrupted && wait_for_line(loop, &line)) {
        double seconds = line.length ? atof(line.text) : options->seconds;
        result_clear(result);
        scenario->run(self, options->warm, seconds, result);
        report(options, result, cluster->count);
    }
}

/* ---- one run ---- */

static void run_once(const struct options *options, const struct scenario *scenario, void *self,
                     const struct cluster *cluster, struct result *result)
{
    scenario->run(self, options->warm, options->seconds, result);
    if (scenario->loops && options->syscalls && options->rate <= 0 && !interrupted) {
        double calls = syscalls_per_pair(options, cluster);
        if (calls >= 0)
            result_fact(result, "syscalls_per_pair", calls);
        else if (!options->json)
            printf("  syscalls_per_pair: not measured\n");
    }
    report(options, result, cluster->count);
}

int main(int argc, char **argv)
{
    struct options options;
    struct cluster cluster;
    options_read(&options, argc, argv);
    const struct scenario *scenario = scenario_find(options.scenario);
    if (!scenario) {
        fprintf(stderr, "redlock-bench: no scenario %s; see --help\n", options.scenario);
        return 64;
    }
    if (!cluster_open(&cluster, &options))
        return 1;
    struct ev_loop *loop = ev_default_loop(0);
    catch_signals(loop);
    struct result *result = calloc(1, sizeof *result);
    void *self = scenario->open(&options, &cluster, loop, result);
    if (!self) {
        fprintf(stderr, "redlock-bench: %s\n", result->note);
        return 1;
    }
    if (options.slices)
        run_slices(&options, scenario, self, &cluster, loop, result);
    else
        run_once(&options, scenario, self, &cluster, result);
    scenario->close(self);
    free(result);
    return interrupted ? INTERRUPTED : 0;
}
