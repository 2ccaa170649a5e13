/*
 * crowd.c - many processes that want one name, of any kind (--worker).
 *
 * Each acquires, holds, releases, rests and asks again. Each time it writes a line `ASKED ACQUIRED
 * RELEASED [ENQUEUED [SLOT]]`, in ns of CLOCK_MONOTONIC. ENQUEUED is when it was certainly enqueued
 * on a quorum, 0 if never; SLOT is that of its permit.
 */
#include "crowd.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define READY_S 6.
#define END_S   10.

static pid_t start_worker(struct crowd *crowd, unsigned index)
{
    crowd->outputs[index] = tmpfile();
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    dup2(fileno(crowd->outputs[index]), STDOUT_FILENO);
    setenv("REDLOCK_NODES", crowd->cluster->nodes, 1);
    if (crowd->options->worker) {
        int null = open("/dev/null", O_RDONLY);
        dup2(null, STDIN_FILENO);
        execl("/bin/sh", "sh", "-c", crowd->options->worker, (char *)NULL);
        _exit(127);
    }
    crowd->work(crowd->options, crowd->cluster, index);
    _exit(0);
}

static unsigned ready_workers(const struct crowd *crowd)
{
    unsigned ready = 0;
    for (unsigned i = 0; i < crowd->options->workers; i++) {
        struct stat file;
        ready += fstat(fileno(crowd->outputs[i]), &file) == 0 && file.st_size > 0;
    }
    return ready;
}

static void pause_ms(unsigned ms)
{
    usleep(ms * 1000);
}

static void wait_until_ready(struct crowd *crowd)
{
    int64_t end = now_ns() + (int64_t)(READY_S * 1e9);
    while (!interrupted && now_ns() < end && 2 * ready_workers(crowd) < crowd->options->workers)
        pause_ms(20);
}

static void end_workers(struct crowd *crowd)
{
    unsigned workers = crowd->options->workers, left = workers;
    int64_t end = now_ns() + (int64_t)(END_S * 1e9);
    for (unsigned i = 0; i < workers; i++)
        kill(crowd->pids[i], SIGTERM);
    while (left) {
        for (unsigned i = 0; i < workers; i++)
            if (crowd->pids[i] && waitpid(crowd->pids[i], NULL, WNOHANG) == crowd->pids[i]) {
                crowd->pids[i] = 0;
                left--;
            }
        for (unsigned i = 0; now_ns() > end && i < workers; i++)
            if (crowd->pids[i])
                kill(crowd->pids[i], SIGKILL);
        pause_ms(5);
    }
}

/* ---- what they wrote ---- */

static void keep(struct crowd *crowd, struct holding holding)
{
    if (crowd->count == crowd->capacity) {
        crowd->capacity = crowd->capacity ? 2 * crowd->capacity : 1024;
        crowd->holdings = realloc(crowd->holdings, crowd->capacity * sizeof *crowd->holdings);
    }
    crowd->holdings[crowd->count++] = holding;
}

static int by_time(const void *left, const void *right)
{
    const struct holding *a = left, *b = right;
    return (a->acquired > b->acquired) - (a->acquired < b->acquired);
}

static void read_outputs(struct crowd *crowd)
{
    for (unsigned i = 0; i < crowd->options->workers; i++) {
        char line[128];
        rewind(crowd->outputs[i]);
        while (fgets(line, sizeof line, crowd->outputs[i])) {
            long long asked, acquired, released, enqueued = 0;
            int slot = -1;
            if (sscanf(line, "%lld %lld %lld %lld %d", &asked, &acquired, &released, &enqueued,
                       &slot) >= 3)
                keep(crowd, (struct holding){i, asked, acquired, released, enqueued, slot});
        }
        fclose(crowd->outputs[i]);
    }
    qsort(crowd->holdings, crowd->count, sizeof *crowd->holdings, by_time);
}

/* ---- */

void crowd_run(struct crowd *crowd, double warm, double seconds, struct result *result)
{
    unsigned workers = crowd->options->workers;
    crowd->pids = calloc(workers, sizeof *crowd->pids);
    crowd->outputs = calloc(workers, sizeof *crowd->outputs);
    crowd->count = 0;
    for (unsigned i = 0; i < workers; i++)
        crowd->pids[i] = start_worker(crowd, i);
    wait_until_ready(crowd);
    pause_ms((unsigned)(warm * 1e3));
    uint64_t commands = commands_done(crowd->cluster, crowd->options->count);
    crowd->from = now_ns();
    crowd->to = crowd->from + (int64_t)(seconds * 1e9);
    while (!interrupted && now_ns() < crowd->to)
        pause_ms(10);
    crowd->to = now_ns();
    crowd->commands = commands_done(crowd->cluster, crowd->options->count) - commands;
    end_workers(crowd);
    read_outputs(crowd);
    result->seconds = (double)(crowd->to - crowd->from) / 1e9;
    free(crowd->pids);
    free(crowd->outputs);
}

bool crowd_saw(const struct crowd *crowd, const struct holding *holding)
{
    return holding->acquired >= crowd->from && holding->acquired <= crowd->to;
}

void crowd_free(struct crowd *crowd)
{
    free(crowd->holdings);
}
