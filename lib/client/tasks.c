#include "tasks.h"

#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "loop.h"
#include "report.h"
#include "step.h"

/* Tasks are few and change seldom: all of them are looked at when one has something to do. */

redlock_code client_tasks_check(redlock *client, const char *name, struct names **names)
{
    redlock_name one = {.bytes = name, .length = name ? strlen(name) : 0};
    if (!client)
        return REDLOCK_E_ARGUMENT;
    redlock_code code = calls_check(client);
    if (!code)
        code = calls_check_name(client, &one);
    if (code)
        return code;
    *names = calls_make_name(client, &one);
    return *names ? REDLOCK_OK : client_fail(client, REDLOCK_E_MEMORY, "out of memory");
}

void *client_tasks_new(redlock *client, size_t size,
                       bool (*tell)(redlock *client, struct client_task *task))
{
    struct client_task *task = calloc(1, size);
    if (!task)
        return NULL;
    task->client = client;
    task->tell = tell;
    return task;
}

redlock_code client_tasks_enter(redlock *client, struct client_task *task, struct task *core)
{
    if (!task || !core) {
        free(task);
        return client_fail(client, REDLOCK_E_MEMORY, "out of memory");
    }
    task->core = core;
    task->next = client->tasks;
    client->tasks = task;
    client_tasks_ask(task);
    return REDLOCK_OK;
}

void client_tasks_ask(struct client_task *task)
{
    task->asked = true;
    task->client->tasks_asked = true;
    loop_hold(task->client);
}

void client_tasks_leave(struct client_task *task)
{
    task->leaves = true;
    task->client->tasks_asked = true;
    loop_hold(task->client);
}

void client_tasks_drop(struct client_task *task)
{
    task->freed = true;
    task->untold = false;
    task->client->tasks_asked = true;
    loop_hold(task->client);
}

static void end(redlock *client, struct client_task *task)
{
    if (task->core)
        client_step(client, &(struct event){.kind = EVENT_TASK_END, .task = task->core});
    task->core = NULL;
}

void client_tasks_end(struct client_task *task)
{
    client_tasks_drop(task);
    end(task->client, task);
}

static void carry_out(redlock *client, struct client_task *task)
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
            end(client, task);
            *at = task->next;
            free(task);
            continue;
        }
        carry_out(client, task);
        at = &task->next;
    }
}

void client_tasks_close(redlock *client)
{
    for (struct client_task *task = client->tasks; task; task = task->next)
        if (!task->owes) {
            end(client, task);
            task->untold = false;
        }
}

void client_tasks_note(struct task *core)
{
    struct client_task *task = task_owner(core);
    task->untold = task->client->tasks_untold = true;
}

static bool tell(redlock *client, struct client_task *task)
{
    task->untold = false;
    return task->tell(client, task);
}

bool client_tasks_tell(redlock *client)
{
    for (struct client_task *task = client->tasks; task; task = task->next)
        if (task->untold && task->core && tell(client, task))
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
