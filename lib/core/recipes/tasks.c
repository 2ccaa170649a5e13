#include "recipes/tasks.h"

#include "ground/sanity.h"
#include "masters/subscription.h"

/* ---- one task ------------------------------------------------------------------ */

/* It asks masters, or may. */
static bool task_is_at_work(const struct task *task)
{
    return task->begun && !task->ended && !task->over;
}

static void task_work(struct engine *e, struct task *task)
{
    if (task_is_at_work(task))
        task->kind->work(e, task);
}

void tasks_begin(struct engine *e, struct task *task)
{
    if (!task->begun && task->kind->begin)
        task->kind->begin(e, task);
    task->begun = true;
    task_work(e, task);
}

void tasks_end(struct engine *e, struct task *task)
{
    task_end(e, task);
    if (task->begun && !task->over && task->kind->drop)
        task->kind->drop(e, task);
    if (!task->in_flight)
        task_free(e, task);
}

void tasks_go_over(struct engine *from, struct task *former, struct engine *to, struct task *task)
{
    if (task->kind->follow(task, former))
        tasks_begin(to, task);
    tasks_end(from, former);
}

static void task_leave(struct engine *e, struct task *task, enum cause cause)
{
    if (task->over)
        return;
    task->kind->leave(e, task, cause);
    task_work(e, task);
}

void tasks_leave(struct engine *e, struct task *task)
{
    task_leave(e, task, CAUSE_CANCELLED);
}

void tasks_wake(struct engine *e, struct task *task)
{
    task_work(e, task);
}

/* ---- all of them ---------------------------------------------------------------- */

static void task_hear(struct engine *e, struct task *task, unsigned master,
                      const struct reply *reply)
{
    if (!task_is_at_work(task))
        return;
    task->kind->hear(e, task, master, reply);
    task_work(e, task);
}

/* Its own text goes once: a master that has it does not need it again.  One that was ahead may have
 * been refused, or forgotten since. */
static void task_hear_of_text(struct engine *e, struct task *task, unsigned master,
                              const struct reply *reply)
{
    uint16_t bit = (uint16_t)(1U << master);
    bool needs_text = reply->answer == ANSWER_NOSCRIPT && reply->tag.text != TEXT_WITH;
    task->whole = needs_text ? task->whole | bit : task->whole & (uint16_t)~bit;
    if (reply->tag.text != TEXT_NOT)
        e->masters[master].texts &= ~(1U << reply->tag.kind);
}

void tasks_hear(struct engine *e, unsigned master, const struct reply *reply)
{
    struct task *task = task_of_number(e, reply->tag.round);
    uint16_t bit = (uint16_t)(1U << master);
    ASSERT(task && task->in_flight);
    if (!task)
        return;
    task->in_flight--;
    task->outstanding &= (uint16_t)~bit;
    task_hear_of_text(e, task, master, reply);
    if (reply->answer != ANSWER_LOST) /* else the end of the connection follows */
        task_hear(e, task, master, reply);
    if (task->ended && !task->in_flight)
        task_free(e, task);
}

void tasks_look(struct engine *e)
{
    for (struct task *task = e->tasks; task; task = task->next)
        task_work(e, task);
}

void tasks_master_down(struct engine *e, unsigned master)
{
    for (struct task *task = e->tasks; task; task = task->next)
        if (task_is_at_work(task)) {
            task->kind->forget(e, task, master);
            task_work(e, task);
        }
}

static void task_look(struct engine *e, struct task *task, unsigned master, const struct said *said)
{
    if (!task->kind->look || !task_is_at_work(task))
        return;
    task->kind->look(e, task, master, said);
    task_work(e, task);
}

void tasks_push(struct engine *e, unsigned master, const struct push *push)
{
    if (!subscription_is_to_same_process(e, master))
        return;
    for (struct task *task = task_of_name(e, push->name); task; task = task_before(task))
        task_look(e, task, master, &push->said);
}

void tasks_subscribed(struct engine *e, unsigned master)
{
    for (struct task *task = e->tasks; task; task = task->next)
        task_look(e, task, master, NULL);
}

/* ---- closing ---------------------------------------------------------------------- */

/* Its user does not know yet how it ended. */
static bool task_is_owed(const struct task *task)
{
    return task->kind->leave && task_is_at_work(task);
}

void tasks_close(struct engine *e)
{
    for (struct task *task = e->tasks; task; task = task->next)
        if (task_is_owed(task))
            task_leave(e, task, CAUSE_CLOSED);
}

void tasks_give_up(struct engine *e)
{
    for (struct task *task = e->tasks; task; task = task->next)
        if (task_is_owed(task) && task->kind->give_up)
            task->kind->give_up(e, task);
}

bool tasks_are_owed(const struct engine *e)
{
    const struct task *task = e->tasks;
    while (task && !task_is_owed(task))
        task = task->next;
    return task != NULL;
}

bool tasks_are_busy(const struct engine *e)
{
    const struct task *task = e->tasks;
    while (task && task->over && !task->in_flight)
        task = task->next;
    return task != NULL;
}

void tasks_free(struct engine *e)
{
    while (e->tasks)
        task_free(e, e->tasks);
    index_free(&e->tasks_by_number, &e->memory);
    index_free(&e->tasks_by_name, &e->memory);
}
