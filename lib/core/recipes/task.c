#include "recipes/task.h"

#include "ground/quorum.h"
#include "ground/sanity.h"
#include "masters/master.h"
#include "masters/subscription.h"

#define LOOKS_SUBSCRIBED MS(5000) /* a push may be lost */
#define LOOKS            MS(1000) /* where the master sends none */

_Static_assert(TASK_TOLD_FOR == 3 * LOOKS_SUBSCRIBED / 1000, "two questions may be lost");

/* ---- its life ---------------------------------------------------------------------- */

static size_t task_size(const struct engine *e, const struct task_kind *kind)
{
    return kind->size + kind->each * e->config.masters;
}

static void task_link(struct engine *e, struct task *task)
{
    task->next = e->tasks;
    task->at = &e->tasks;
    if (task->next)
        task->next->at = &task->next;
    e->tasks = task;
}

static void task_unlink(struct task *task)
{
    *task->at = task->next;
    if (task->next)
        task->next->at = task->at;
}

struct task *task_new(struct engine *e, const struct task_kind *kind, struct names *names,
                      void *owner)
{
    struct task *task = e->memory.take(e->memory.pool, task_size(e, kind));
    if (!task)
        return NULL;
    if (!deadlines_enter(&e->deadlines, &e->memory)) {
        e->memory.give(e->memory.pool, task, task_size(e, kind));
        return NULL;
    }
    task->kind = kind;
    task->owner = owner;
    task->names = names_share(names);
    task->deadline.owner = OWNER_TASK;
    task_link(e, task);
    index_enter(&e->tasks_by_number, &e->memory, &task->by_number, ++e->last_task);
    index_enter(&e->tasks_by_name, &e->memory, &task->by_name, slice_hash(names_at(names, 0)));
    return task;
}

void task_free(struct engine *e, struct task *task)
{
    task_unlink(task);
    index_leave(&e->tasks_by_number, &task->by_number);
    index_leave(&e->tasks_by_name, &task->by_name);
    names_drop(&e->memory, task->names);
    deadlines_leave(&e->deadlines, &task->deadline);
    task->kind->free(e, task);
    e->memory.give(e->memory.pool, task, task_size(e, task->kind));
}

struct task *task_again(struct engine *to, const struct task *former, void *owner)
{
    struct names *names = names_copy(&to->memory, former->names);
    struct task *task = names ? task_new(to, former->kind, names, owner) : NULL;
    names_drop(&to->memory, names);
    if (!task || former->kind->inherit(to, task, former))
        return task;
    task_free(to, task);
    return NULL;
}

void task_end(struct engine *e, struct task *task)
{
    ASSERT(!task->ended);
    task->ended = true;
    index_leave(&e->tasks_by_name, &task->by_name);
    task_wake_at(e, task, NEVER);
}

/* ---- finding it ---------------------------------------------------------------------- */

struct task *task_of_number(const struct engine *e, uint32_t number)
{
    struct indexed *it = index_first(&e->tasks_by_number, number);
    return it ? OWNER_OF(struct task, by_number, it) : NULL;
}

/* The first of them that is about this name. */
static struct task *first_about(struct indexed *it, struct slice name)
{
    while (it) {
        struct task *task = OWNER_OF(struct task, by_name, it);
        if (slices_are_same(names_at(task->names, 0), name))
            return task;
        it = index_next(it);
    }
    return NULL;
}

struct task *task_of_name(const struct engine *e, struct slice name)
{
    return first_about(index_first(&e->tasks_by_name, slice_hash(name)), name);
}

struct task *task_before(const struct task *task)
{
    return first_about(index_next(&task->by_name), names_at(task->names, 0));
}

/* ---- what it does -------------------------------------------------------------------- */

/* A text that is under way comes first: the connection keeps the order. */
static void task_add_text(struct engine *e, const struct task *task, unsigned master,
                          struct request *request)
{
    unsigned *texts = &e->masters[master].texts, kind = 1U << request->tag.kind;
    bool is_ahead = *texts & kind;
    request->whole |= task_needs_text(task, master) && !is_ahead;
    if (request->whole)
        *texts |= kind;
    request->tag.text = request->whole ? TEXT_WITH : is_ahead ? TEXT_AHEAD : TEXT_NOT;
}

void task_send(struct engine *e, struct task *task, unsigned master, struct request *request)
{
    uint16_t bit = (uint16_t)(1U << master);
    request->tag.round = task->by_number.hash;
    request->tag.sent_at = e->now;
    request->names = task->names;
    task_add_text(e, task, master, request);
    task->in_flight++;
    task->outstanding |= bit;
    master_send(e, master, request);
}

void task_wake_at(struct engine *e, struct task *task, usec at)
{
    deadlines_set(&e->deadlines, &task->deadline, at);
}

void task_tell_news(struct engine *e, struct task *task)
{
    e->sink.emit(e->sink.shell, &(struct effect){.kind = EFFECT_TELL_TASK, .task = task});
}

void task_conclude(struct engine *e, struct task *task)
{
    task->over = true;
    task_wake_at(e, task, NEVER);
    task_tell_news(e, task);
}

/* ---- whom to ask, and when ----------------------------------------------------------- */

usec task_word_lasts(const struct engine *e)
{
    usec longest = MS(e->config.max_ttl_ms);
    return longest / 2 - quorum_drift(longest, e->config.drift_ppm);
}

bool task_counts_on(const struct engine *e, unsigned master)
{
    return master_is_up(&e->masters[master]) && !master_abstains(e, &e->masters[master]);
}

bool task_awaits(const struct engine *e, unsigned master)
{
    const struct master *it = &e->masters[master];
    return !master_is_up(it) && (!it->tried || master_is_connecting(it));
}

usec task_looks_after(const struct engine *e, unsigned master)
{
    return subscription_is_to_same_process(e, master) ? LOOKS_SUBSCRIBED : LOOKS;
}

bool task_looks_at(const struct engine *e, const struct names *names)
{
    const struct task *task = task_of_name(e, names_at(names, 0));
    while (task && !task->kind->look)
        task = task_before(task);
    return task;
}

/* ---- what the shell does with one ---------------------------------------------------- */

void *task_owner(const struct task *task)
{
    return task->owner;
}

bool task_tell(struct engine *e, struct task *task, struct task_news *news)
{
    ASSERT(!task->ended);
    return task->kind->tell(e, task, news);
}
