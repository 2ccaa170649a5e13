#include "task_calls.h"

#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "loop.h"
#include "options.h"
#include "report.h"
#include "timeout.h"

redlock_code task_calls_check(redlock *client, const char *name, struct names **names)
{
    redlock_name one = {.bytes = name, .length = name ? strlen(name) : 0};
    redlock_code code = calls_check(client);
    if (!code)
        code = calls_check_name(client, &one);
    if (code)
        return code;
    *names = calls_make_name(client, &one);
    return *names ? REDLOCK_OK : client_fail(client, REDLOCK_E_MEMORY, "out of memory");
}

redlock_code task_calls_wait(redlock *client, int64_t timeout_ms, usec *wait)
{
    if (!timeout_is_valid(timeout_ms))
        return client_fail(client, REDLOCK_E_ARGUMENT, TIMEOUT_COMPLAINT, (long long)timeout_ms);
    *wait = in_usec(timeout_wait_ms(timeout_ms));
    return REDLOCK_OK;
}

void *task_calls_new(redlock *client, size_t size,
                     bool (*tell)(redlock *client, struct client_task *task))
{
    struct client_task *task = calloc(1, size);
    if (!task)
        return NULL;
    task->client = client;
    task->tell = tell;
    return task;
}

redlock_code task_calls_enter(redlock *client, void *made, struct task *core)
{
    struct client_task *task = made;
    if (!task || !core) {
        free(task);
        return client_fail(client, REDLOCK_E_MEMORY, "out of memory");
    }
    task->core = core;
    client_task_enter(task, client);
    return REDLOCK_OK;
}

static void go_on(struct client_task *task, bool *what)
{
    *what = true;
    client_task_ask(task);
    loop_hold(task->client);
}

void task_calls_ask(struct client_task *task)
{
    go_on(task, &task->asked);
}

bool task_calls_go_over(struct client_task *task, redlock *to)
{
    if (!client_task_go_over(task, to))
        return false;
    task_calls_ask(task);
    return true;
}

void task_calls_told(struct client_task *task)
{
    task->owes = false;
    task->go = NULL;
}

void task_calls_leave(struct client_task *task)
{
    go_on(task, &task->leaves);
}

void task_calls_drop(void *made)
{
    struct client_task *task = made;
    if (task && client_is_usable(task->client))
        go_on(task, &task->freed);
}
