#include "recipes/tasks.h"

#include <string.h>

#include "ground/sanity.h"
#include "masters/master.h"
#include "masters/subscription.h"
#include "recipes/barrier.h"
#include "recipes/election.h"
#include "recipes/latch.h"
#include "recipes/survey.h"

/* ---- one task ------------------------------------------------------------------ */

static struct announcer *announcer_of(struct task *task)
{
    ASSERT(task->kind == TASK_ANNOUNCER);
    return (struct announcer *)(void *)task;
}

static struct observer *observer_of(struct task *task)
{
    ASSERT(task->kind == TASK_OBSERVER);
    return (struct observer *)(void *)task;
}

static struct party *party_of(struct task *task)
{
    ASSERT(task->kind == TASK_PARTY);
    return (struct party *)(void *)task;
}

static struct latcher *latcher_of(struct task *task)
{
    ASSERT(task->kind == TASK_LATCHER);
    return (struct latcher *)(void *)task;
}

static struct surveyor *surveyor_of(struct task *task)
{
    ASSERT(task->kind == TASK_SURVEYOR);
    return (struct surveyor *)(void *)task;
}

static void task_unlink(struct engine *e, struct task *task)
{
    struct task **at = &e->tasks;
    while (*at != task)
        at = &(*at)->next;
    *at = task->next;
}

static void task_free(struct engine *e, struct task *task)
{
    task_unlink(e, task);
    names_drop(&e->memory, task->names);
    deadlines_leave(&e->deadlines, &task->deadline);
    switch (task->kind) {
    case TASK_ANNOUNCER:
        announcer_free(e, announcer_of(task));
        break;
    case TASK_OBSERVER:
        observer_free(e, observer_of(task));
        break;
    case TASK_PARTY:
        party_free(e, party_of(task));
        break;
    case TASK_LATCHER:
        latcher_free(e, latcher_of(task));
        break;
    case TASK_SURVEYOR:
        surveyor_free(e, surveyor_of(task));
    }
}

static void task_work(struct engine *e, struct task *task)
{
    if (!task->begun || task->ended)
        return;
    switch (task->kind) {
    case TASK_ANNOUNCER:
        announcer_work(e, announcer_of(task));
        break;
    case TASK_OBSERVER:
        observer_work(e, observer_of(task));
        break;
    case TASK_PARTY:
        party_work(e, party_of(task));
        break;
    case TASK_LATCHER:
        latcher_work(e, latcher_of(task));
        break;
    case TASK_SURVEYOR:
        surveyor_work(e, surveyor_of(task));
    }
}

void tasks_begin(struct engine *e, struct task *task)
{
    if (!task->begun && task->kind == TASK_PARTY)
        party_begin(e, party_of(task));
    if (!task->begun && task->kind == TASK_LATCHER)
        latcher_begin(e, latcher_of(task));
    task->begun = true;
    task_work(e, task);
}

/* By another task, which is told of changes of the name on the same channel. */
static bool is_observed(const struct engine *e, const struct names *names)
{
    for (const struct task *task = e->tasks; task; task = task->next)
        if (task->kind != TASK_ANNOUNCER && !task->ended && names_are_same(task->names, names))
            return true;
    return false;
}

static void withdraw(struct engine *e, struct task *task)
{
    switch (task->kind) {
    case TASK_ANNOUNCER:
        announcer_end(e, announcer_of(task));
        break;
    case TASK_OBSERVER:
        if (task->begun && !is_observed(e, task->names))
            observer_end(e, observer_of(task));
        break;
    case TASK_PARTY:
        party_end(e, party_of(task));
        break;
    case TASK_LATCHER:
        latcher_end(e, latcher_of(task));
        break;
    case TASK_SURVEYOR:
        break;
    }
}

void tasks_end(struct engine *e, struct task *task)
{
    ASSERT(!task->ended);
    task->ended = true;
    deadlines_set(&e->deadlines, &task->deadline, NEVER);
    withdraw(e, task);
    if (!task->in_flight)
        task_free(e, task);
}

static void task_leave(struct engine *e, struct task *task, enum cause cause)
{
    if (task->kind == TASK_PARTY)
        party_leave(e, party_of(task), cause);
    else
        latcher_leave(e, latcher_of(task), cause);
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

static struct task *task_find(const struct engine *e, uint32_t number)
{
    struct task *task = e->tasks;
    while (task && task->number != number)
        task = task->next;
    return task;
}

static void hear(struct engine *e, struct task *task, unsigned master, const struct reply *reply)
{
    switch (task->kind) {
    case TASK_ANNOUNCER:
        announcer_hear(e, announcer_of(task), master, reply);
        break;
    case TASK_OBSERVER:
        if (!task->ended)
            observer_hear(e, observer_of(task), master, reply);
        break;
    case TASK_PARTY:
        party_hear(e, party_of(task), master, reply);
        break;
    case TASK_LATCHER:
        latcher_hear(e, latcher_of(task), master, reply);
        break;
    case TASK_SURVEYOR:
        if (!task->ended)
            surveyor_hear(e, surveyor_of(task), master, reply);
    }
}

void tasks_hear(struct engine *e, unsigned master, const struct reply *reply)
{
    struct task *task = task_find(e, reply->tag.round);
    uint16_t bit = (uint16_t)(1U << master);
    ASSERT(task && task->in_flight);
    if (!task)
        return;
    task->in_flight--;
    task->outstanding &= (uint16_t)~bit;
    /* Once: a master that has the text does not need it again. */
    bool needs_text = reply->answer == ANSWER_NOSCRIPT && !(task->whole & bit);
    task->whole = needs_text ? task->whole | bit : task->whole & (uint16_t)~bit;
    if (reply->answer != ANSWER_LOST) /* else the end of the connection follows */
        hear(e, task, master, reply);
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
    for (struct task *task = e->tasks; task; task = task->next) {
        switch (task->kind) {
        case TASK_ANNOUNCER:
            announcer_forget(announcer_of(task), master);
            break;
        case TASK_OBSERVER:
            observer_forget(e, observer_of(task), master);
            break;
        case TASK_PARTY:
            party_forget(party_of(task), master);
            break;
        case TASK_LATCHER:
            latcher_forget(e, latcher_of(task), master);
            break;
        case TASK_SURVEYOR:
            if (!task->ended)
                surveyor_forget(e, surveyor_of(task), master);
        }
        task_work(e, task);
    }
}

static bool task_is_about(const struct task *task, const struct push *push)
{
    struct slice name = names_at(task->names, 0);
    return name.length == push->name_length && memcmp(name.bytes, push->name, name.length) == 0;
}

void tasks_push(struct engine *e, unsigned master, const struct push *push)
{
    if (!subscription_is_to_same_process(e, master))
        return;
    for (struct task *task = e->tasks; task; task = task->next) {
        if (!task->begun || task->ended || !task_is_about(task, push))
            continue;
        if (task->kind == TASK_OBSERVER)
            observer_push(e, observer_of(task), master, &push->said);
        else if (task->kind == TASK_PARTY)
            party_look(e, party_of(task), master);
        else if (task->kind == TASK_LATCHER)
            latcher_look(e, latcher_of(task), master);
    }
}

void tasks_subscribed(struct engine *e, unsigned master)
{
    for (struct task *task = e->tasks; task; task = task->next) {
        if (!task->begun || task->ended)
            continue;
        if (task->kind == TASK_OBSERVER)
            observer_subscribed(e, observer_of(task), master);
        else if (task->kind == TASK_PARTY)
            party_look(e, party_of(task), master);
        else if (task->kind == TASK_LATCHER)
            latcher_look(e, latcher_of(task), master);
    }
}

/* ---- closing ---------------------------------------------------------------------- */

static bool has_ended(const struct task *task)
{
    if (task->kind == TASK_PARTY)
        return ((const struct party *)(const void *)task)->passage;
    return task->kind == TASK_LATCHER && ((const struct latcher *)(const void *)task)->end;
}

/* Its user is yet to be told how it ended. */
static bool task_is_owed(const struct task *task)
{
    bool ends = task->kind == TASK_PARTY || task->kind == TASK_LATCHER;
    return ends && task->begun && !task->ended && !has_ended(task);
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
        if (task_is_owed(task) && task->kind == TASK_PARTY)
            party_give_up(e, party_of(task));
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
    while (task && has_ended(task) && !task->in_flight)
        task = task->next;
    return task != NULL;
}

void tasks_free(struct engine *e)
{
    while (e->tasks)
        task_free(e, e->tasks);
}

/* ---- what the shell does with one ------------------------------------------------- */

void *task_owner(const struct task *task)
{
    return task->owner;
}

bool task_tell(struct engine *e, struct task *task, struct task_news *news)
{
    ASSERT(!task->ended);
    *news = (struct task_news){0};
    switch (task->kind) {
    case TASK_ANNOUNCER:
        return announcer_tell(e, announcer_of(task), news);
    case TASK_OBSERVER:
        return observer_tell(e, observer_of(task), news);
    case TASK_PARTY:
        return party_tell(e, party_of(task), news);
    case TASK_LATCHER:
        return latcher_tell(e, latcher_of(task), news);
    case TASK_SURVEYOR:
        return surveyor_tell(e, surveyor_of(task), news);
    }
    return false;
}
