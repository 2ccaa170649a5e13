#include "tasks.h"

#include <stddef.h>
#include <stdlib.h>

#include "step.h"

/* ---- the queues ---------------------------------------------------------------- */

static void queue_task(struct task_queue *queue, struct queued_task *it)
{
    if (it->queued)
        return;
    it->queued = true;
    it->next = NULL;
    if (queue->first)
        queue->last->next = it;
    else
        queue->first = it;
    queue->last = it;
}

static struct queued_task *take_task(struct task_queue *queue)
{
    struct queued_task *it = queue->first;
    if (it) {
        queue->first = it->next;
        it->queued = false;
    }
    return it;
}

static struct client_task *task_with_calls(struct queued_task *it)
{
    return (struct client_task *)(void *)((char *)it - offsetof(struct client_task, calls));
}

static struct client_task *task_with_news(struct queued_task *it)
{
    return (struct client_task *)(void *)((char *)it - offsetof(struct client_task, news));
}

void client_task_ask(struct client_task *task)
{
    queue_task(&task->client->tasks_asked, &task->calls);
}

void client_task_untold(struct client_task *task)
{
    queue_task(&task->client->tasks_untold, &task->news);
}

/* ---- what was asked --------------------------------------------------------------- */

static void end_task(redlock *client, struct client_task *task)
{
    if (task->core)
        client_step(client, &(struct event){.kind = EVENT_TASK_END, .task = task->core});
    task->core = NULL;
}

void client_tasks_end_of(redlock_lease *lease)
{
    struct client_task *task = announcer_of(lease);
    rare_of(lease)->announcer = NULL;
    task->freed = true;
    client_task_ask(task);
    end_task(lease->client, task);
}

void client_task_enter(struct client_task *task, redlock *client)
{
    task->client = client;
    task->next = client->tasks;
    task->at = &client->tasks;
    if (task->next)
        task->next->at = &task->next;
    client->tasks = task;
    client->loud_tasks += !task->quiet;
}

static void take_out(struct client_task *task)
{
    *task->at = task->next;
    if (task->next)
        task->next->at = task->at;
    task->client->loud_tasks -= !task->quiet;
}

bool client_task_go_over(struct client_task *task, redlock *to)
{
    struct task *core = task_again(to->engine, task->core, task);
    if (!core)
        return false;
    end_task(task->client, task);
    take_out(task);
    client_task_enter(task, to);
    task->core = core;
    return true;
}

bool client_takes(const redlock *client)
{
    return !client->close_asked && engine_readiness(client->engine, system_now()) == CAUSE_NONE;
}

static void free_task(struct client_task *task)
{
    take_out(task);
    task->gone = true;
    if (!task->news.queued)
        free(task);
}

/* Calls about it that are queued find that it is freed. */
static void drop_former(struct client_task *task)
{
    task->core = NULL;
    task->freed = true;
    if (!task->calls.queued)
        free_task(task);
}

void client_tasks_go_over(redlock_lease *lease, struct client_task *next)
{
    struct client_task *task = announcer_of(lease);
    if (!next)
        return;
    engine_move_announcement(task->client->engine, task->core, next->client->engine, next->core,
                             next->client->now);
    drop_former(task);
    rare_of(lease)->announcer = next;
}

void client_tasks_forget(struct client_task *task)
{
    if (!task)
        return;
    end_task(task->client, task);
    free_task(task);
}

static void carry_out_calls_of_task(redlock *client, struct client_task *task)
{
    if (task->asked && task->core)
        client_step(client, &(struct event){.kind = EVENT_TASK_BEGIN, .task = task->core});
    if (task->leaves && task->core)
        client_step(client, &(struct event){.kind = EVENT_TASK_LEAVE, .task = task->core});
    task->asked = task->leaves = false;
}

void client_tasks_carry_out(redlock *client)
{
    for (struct queued_task *it; (it = take_task(&client->tasks_asked));) {
        struct client_task *task = task_with_calls(it);
        if (task->freed) {
            end_task(client, task);
            free_task(task);
        } else {
            carry_out_calls_of_task(client, task);
        }
    }
}

void client_tasks_close(redlock *client)
{
    for (struct client_task *task = client->tasks; task; task = task->next)
        if (!task->owes)
            end_task(client, task);
}

/* ---- news ------------------------------------------------------------------------- */

void client_tasks_note(struct task *core)
{
    client_task_untold(task_owner(core));
}

bool client_tasks_tell(redlock *client)
{
    for (struct queued_task *it; (it = take_task(&client->tasks_untold));) {
        struct client_task *task = task_with_news(it);
        if (task->gone)
            free(task);
        else if (task->core && !task->freed && task->tell(client, task))
            return true;
    }
    return false;
}

void client_tasks_free(redlock *client)
{
    for (struct queued_task *it; (it = take_task(&client->tasks_untold));)
        if (task_with_news(it)->gone)
            free(task_with_news(it));
    for (struct client_task *task = client->tasks, *next; task; task = next) {
        next = task->next;
        free(task);
    }
}
