/*
 * start.c - a command that is run again and again, one at a time: from its start to its end.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenario.h"

#define WORDS_MAX 32

struct start {
    const struct options *options;
    char *text, *words[WORDS_MAX + 1]; /* up to a NULL */
    posix_spawn_file_actions_t files;
};

/* Its standard input and output are empty: those of this process carry slices. */
static bool run_command(const struct start *start)
{
    pid_t pid;
    int status;
    return posix_spawnp(&pid, start->words[0], &start->files, NULL, start->words, environ) == 0 &&
           waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool run_timed(const struct start *start, struct result *result)
{
    int64_t begun = now_ns();
    bool good = run_command(start);
    int64_t took = now_ns() - begun;
    result->seconds += (double)took / 1e9;
    if (good)
        histogram_add(&result->acquire, took);
    return good;
}

static bool is_over(const struct start *start, const struct result *result, int64_t end)
{
    uint64_t limit = start->options->pairs;
    return interrupted || (limit ? result->pairs >= limit : now_ns() >= end);
}

static void run_start(void *self, double warm, double seconds, struct result *result)
{
    struct start *start = self;
    int64_t end = now_ns() + (int64_t)(seconds * 1e9);
    double user, system;
    usage_of_children(&user, &system);
    (void)warm;
    while (!is_over(start, result, end)) {
        if (!run_timed(start, result)) {
            result->failed++;
            result_note(result, "%s did not succeed", start->words[0]);
            break;
        }
        result->pairs++;
    }
    usage_of_children(&result->user, &result->system);
    result->user -= user;
    result->system -= system;
    if (result->pairs)
        result_fact(result, "run_us", result->seconds * 1e6 / (double)result->pairs);
}

static void close_start(void *self)
{
    struct start *start = self;
    posix_spawn_file_actions_destroy(&start->files);
    free(start->text);
    free(start);
}

static void split(struct start *start, const char *command)
{
    char *rest = NULL;
    unsigned count = 0;
    start->text = strdup(command);
    for (char *word = strtok_r(start->text, " ", &rest); word && count < WORDS_MAX;
         word = strtok_r(NULL, " ", &rest))
        start->words[count++] = word;
}

static void *open_start(const struct options *options, const struct cluster *cluster,
                        struct ev_loop *loop, struct result *result)
{
    (void)loop;
    if (!options->worker || !*options->worker) {
        result_note(result, "--worker says which command is run");
        return NULL;
    }
    struct start *start = calloc(1, sizeof *start);
    start->options = options;
    setenv("REDLOCK_NODES", cluster->nodes, 1);
    split(start, options->worker);
    posix_spawn_file_actions_init(&start->files);
    posix_spawn_file_actions_addopen(&start->files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&start->files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    return start;
}

const struct scenario start_scenario = {
    .name = "start",
    .summary = "--worker, a command, run again and again: from its start to its end",
    .open = open_start,
    .run = run_start,
    .close = close_start};
