#include "tasks.h"

#include <stdlib.h>

#include "step.h"

/* Tasks are few and change seldom: all of them are looked at when one has something to do. */

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
    task->untold = false;
    lease->client->tasks_asked = true;
    end_task(lease->client, task);
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
    client->tasks_asked = false;
    for (struct client_task **at = &client->tasks, *task; (task = *at);) {
        if (task->freed) {
            end_task(client, task);
            *at = task->next;
            free(task);
            continue;
        }
        carry_out_calls_of_task(client, task);
        at = &task->next;
    }
}

void client_tasks_close(redlock *client)
{
    for (struct client_task *task = client->tasks; task; task = task->next)
        if (!task->owes) {
            end_task(client, task);
            task->untold = false;
        }
}

void client_tasks_note(struct task *core)
{
    struct client_task *task = task_owner(core);
    task->untold = task->client->tasks_untold = true;
}

static bool tell_task(redlock *client, struct client_task *task)
{
    task->untold = false;
    return task->tell(client, task);
}

bool client_tasks_tell(redlock *client)
{
    for (struct client_task *task = client->tasks; task; task = task->next)
        if (task->untold && task->core && tell_task(client, task))
            return true;
    client->tasks_untold = false;
    return false;
}

void client_tasks_free(redlock *client)
{
    for (struct client_task *task = client->tasks, *next; task; task = next) {
        next = task->next;
        free(task);
    }
}
