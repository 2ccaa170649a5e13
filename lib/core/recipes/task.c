#include "recipes/task.h"

#include "ground/mutant.h"
#include "ground/quorum.h"
#include "masters/master.h"

struct task *task_new(struct engine *e, enum task_kind kind, size_t size, size_t each,
                      struct names *names, void *owner)
{
    struct task *task = e->memory.take(e->memory.pool, size + each * e->config.masters);
    if (!task)
        return NULL;
    if (!deadlines_enter(&e->deadlines, &e->memory)) {
        e->memory.give(e->memory.pool, task, size + each * e->config.masters);
        return NULL;
    }
    task->kind = kind;
    task->owner = owner;
    task->names = names_share(names);
    task->number = ++e->last_task;
    task->deadline.owner = OWNER_TASK;
    task->next = e->tasks;
    e->tasks = task;
    return task;
}

void task_send(struct engine *e, struct task *task, unsigned master, struct request *request)
{
    uint16_t bit = (uint16_t)(1U << master);
    request->tag.round = task->number;
    request->tag.sent_at = e->now;
    request->names = task->names;
    request->whole |= (task->whole & bit) != 0;
    task->in_flight++;
    task->outstanding |= bit;
    master_send(e, master, request);
}

usec task_word_lasts(const struct engine *e)
{
    usec longest = MS(e->config.max_ttl_ms);
    return longest / 2 - quorum_drift(longest, e->config.drift_ppm);
}

bool task_counts_on(const struct engine *e, unsigned master)
{
    return master_is_up(&e->masters[master]) &&
           (!master_abstains(e, &e->masters[master]) || MUTANT(PARTY_QUARANTINED));
}

void task_wake_at(struct engine *e, struct task *task, usec at)
{
    deadlines_set(&e->deadlines, &task->deadline, at);
}

void task_has_news(struct engine *e, struct task *task)
{
    e->sink.emit(e->sink.shell, &(struct effect){.kind = EFFECT_TELL_TASK, .task = task});
}
