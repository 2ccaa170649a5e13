/*
 * tasks.c - one turn of a client begins many tasks of a kind: observers, parties of barriers or
 * surveys.  The result is what each took of the client's CPU until the last had its outcome.
 */
#include <stdio.h>
#include <stdlib.h>

#include "redlock/recipes.h"
#include "scenario.h"
#include "user.h"

#define PARTIES 10 /* of a barrier */
#define MOST_S  600.

struct tasks {
    struct user user;
    const struct options *options;
    redlock_survey **surveys;
    struct result *result;
    unsigned masters, untold, failed;
    int64_t generation;
};

typedef redlock_code begin_task(struct tasks *tasks, unsigned number);

static void count_told(struct tasks *tasks, redlock_code code, const char *text)
{
    if (code) {
        result_note(tasks->result, "%s", text);
        tasks->failed++;
    }
    if (--tasks->untold == 0)
        ev_break(tasks->user.loop, EVBREAK_ONE);
}

static void on_leader(redlock_observer *observer, const redlock_leader *leader, void *data)
{
    count_told(data, leader->code, leader->text);
    redlock_observer_free(observer);
}

static void on_passage(redlock_barrier *party, const redlock_barrier_result *passage, void *data)
{
    count_told(data, passage->code, passage->text);
    redlock_barrier_free(party);
}

static void on_page(redlock_survey *survey, const redlock_survey_page *page, void *data)
{
    (void)survey;
    if (page->last)
        count_told(data, page->code, page->text);
}

static redlock_code begin_observer(struct tasks *tasks, unsigned number)
{
    redlock_observer *observer;
    (void)number;
    return redlock_observer_begin(tasks->user.client, &observer, "bench-observed", on_leader,
                                  tasks);
}

static redlock_code begin_party(struct tasks *tasks, unsigned number)
{
    char name[32];
    redlock_barrier *party;
    redlock_barrier_options options = {.size = sizeof options};
    unsigned left = tasks->options->leases - number / PARTIES * PARTIES;
    options.parties = left < PARTIES ? left : PARTIES;
    options.generation = tasks->generation;
    snprintf(name, sizeof name, "bench-parties:%u", number / PARTIES);
    return redlock_barrier_arrive(tasks->user.client, &party, name, &options, on_passage, tasks);
}

static redlock_code begin_survey(struct tasks *tasks, unsigned number)
{
    return redlock_survey_begin(tasks->user.client, &tasks->surveys[number], NULL, on_page, tasks);
}

static void begin_all(struct tasks *tasks, begin_task *begin, unsigned told_times)
{
    for (unsigned i = 0; i < tasks->options->leases; i++) {
        if (begin(tasks, i)) {
            result_note(tasks->result, "%s", redlock_last_error(tasks->user.client));
            return;
        }
        tasks->untold += told_times;
    }
}

static void run_tasks(struct tasks *tasks, begin_task *begin, unsigned told_times,
                      struct result *result)
{
    double user, system;
    tasks->result = result;
    tasks->untold = tasks->failed = 0;
    tasks->generation++;
    usage_now(&user, &system);
    int64_t begun = now_ns();
    begin_all(tasks, begin, told_times);
    if (tasks->untold && !interrupted)
        user_run_for(&tasks->user, MOST_S);
    result->seconds = (double)(now_ns() - begun) / 1e9;
    usage_now(&result->user, &result->system);
    result->user -= user;
    result->system -= system;
    result_fact(result, "tasks", tasks->options->leases);
    result_fact(result, "untold", tasks->untold);
    result_fact(result, "tasks_failed", tasks->failed);
    result_fact(result, "cpu_us_per_task",
                (result->user + result->system) * 1e6 / tasks->options->leases);
    for (unsigned i = 0; i < tasks->options->leases; i++) {
        redlock_survey_free(tasks->surveys[i]);
        tasks->surveys[i] = NULL;
    }
}

static void run_observers(void *self, double warm, double seconds, struct result *result)
{
    (void)warm, (void)seconds;
    run_tasks(self, begin_observer, 1, result);
}

static void run_parties(void *self, double warm, double seconds, struct result *result)
{
    (void)warm, (void)seconds;
    run_tasks(self, begin_party, 1, result);
}

static void run_surveys(void *self, double warm, double seconds, struct result *result)
{
    struct tasks *tasks = self;
    (void)warm, (void)seconds;
    run_tasks(tasks, begin_survey, tasks->masters, result);
}

static void close_tasks(void *self)
{
    struct tasks *tasks = self;
    user_close(&tasks->user);
    free(tasks->surveys);
    free(tasks);
}

static void *open_tasks(const struct options *options, const struct cluster *cluster,
                        struct ev_loop *loop, struct result *result)
{
    struct tasks *tasks = calloc(1, sizeof *tasks);
    tasks->options = options;
    tasks->masters = cluster->count;
    tasks->generation = now_ns() / 1000000;
    if (!user_open(&tasks->user, options, cluster, loop, result)) {
        free(tasks);
        return NULL;
    }
    tasks->surveys = calloc(options->leases, sizeof(redlock_survey *));
    return tasks;
}

const struct scenario observers_scenario = {
    .name = "observers",
    .summary = "--leases observers of one name, begun in one turn",
    .open = open_tasks,
    .run = run_observers,
    .close = close_tasks,
};
const struct scenario parties_scenario = {
    .name = "parties",
    .summary = "--leases parties, ten of each barrier, that arrive in one turn",
    .open = open_tasks,
    .run = run_parties,
    .close = close_tasks,
};
const struct scenario surveys_scenario = {
    .name = "surveys",
    .summary = "--leases surveys of all masters, begun in one turn",
    .open = open_tasks,
    .run = run_surveys,
    .close = close_tasks,
};
