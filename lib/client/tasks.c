#include "tasks.h"

#include <stdlib.h>

#include "events.h"
#include "step.h"

/* Tasks are few and change seldom: all of them are looked at when one has something to do. */

void client_tasks_enter(redlock *client, struct redlock_observer *task)
{
    task->client = client;
    task->next = client->tasks;
    client->tasks = task;
}

void client_tasks_ask(struct redlock_observer *task)
{
    task->asked = true;
    task->client->tasks_asked = true;
}

void client_tasks_drop(struct redlock_observer *task)
{
    task->freed = true;
    task->untold = false;
    if (task->lease)
        task->lease->announcer = NULL;
    task->client->tasks_asked = true;
}

static void end(redlock *client, struct redlock_observer *task)
{
    if (task->core)
        client_step(client, &(struct event){.kind = EVENT_TASK_END, .task = task->core});
    task->core = NULL;
}

/* The core uses the lease no more from then on; our part goes with the next turn of the pump. */
void client_tasks_end_of(redlock_lease *lease)
{
    struct redlock_observer *task = lease->announcer;
    client_tasks_drop(task);
    end(lease->client, task);
}

void client_tasks_carry_out(redlock *client)
{
    client->tasks_asked = false;
    for (struct redlock_observer **at = &client->tasks, *task; (task = *at);) {
        if (task->freed) {
            end(client, task);
            *at = task->next;
            free(task);
            continue;
        }
        if (task->asked && task->core)
            client_step(client, &(struct event){.kind = EVENT_TASK_BEGIN, .task = task->core});
        task->asked = false;
        at = &task->next;
    }
}

void client_tasks_close(redlock *client)
{
    for (struct redlock_observer *task = client->tasks; task; task = task->next) {
        end(client, task);
        task->untold = false;
    }
}

/* ---- telling ---------------------------------------------------------------------- */

void client_tasks_note(struct task *core)
{
    struct redlock_observer *task = task_owner(core);
    task->untold = task->client->tasks_untold = true;
}

static bool tell_observer(redlock *client, struct redlock_observer *task)
{
    struct task_news news;
    if (!task_tell(client->engine, task->core, &news))
        return false;
    bool said = news.observed == OBSERVED_SAID;
    redlock_leader leader = {.code = news.observed == OBSERVED_UNKNOWN ? REDLOCK_E_UNAVAILABLE
                                                                       : REDLOCK_OK,
                             .term = said ? news.said.term : 0,
                             .value = said ? news.said.value : "",
                             .length = news.said.value_length,
                             .masters = client->masters,
                             .said = news.masters};
    task->callback(task, &leader, task->data);
    return true;
}

/* No more is told of a lease once its end was asked for. */
static bool tell_announced(redlock *client, redlock_lease *lease, struct task *core)
{
    struct task_news news;
    redlock_event event;
    usec left = lease_valid_until(core_of(lease)) - system_now();
    if (lease->operations & OPS_ENDING_ANNOUNCEMENTS || left <= 0 ||
        !task_tell(client->engine, core, &news))
        return false;
    event_fill(client, lease,
               &(struct outcome){.kind = OUTCOME_ANNOUNCED,
                                 .granted = news.masters,
                                 .valid = left,
                                 .ends = left,
                                 .fence = lease_fence(core_of(lease))},
               &event);
    lease->callback(lease, &event, lease->data);
    return true;
}

static bool tell(redlock *client, struct redlock_observer *task)
{
    task->untold = false;
    return task->lease ? tell_announced(client, task->lease, task->core)
                       : tell_observer(client, task);
}

bool client_tasks_tell(redlock *client)
{
    for (struct redlock_observer *task = client->tasks; task; task = task->next)
        if (task->untold && task->core && tell(client, task))
            return true;
    client->tasks_untold = false;
    return false;
}

void client_tasks_free(redlock *client)
{
    for (struct redlock_observer *task = client->tasks, *next; task; task = next) {
        next = task->next;
        free(task);
    }
}
