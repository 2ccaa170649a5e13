#include "lease/local_queue.h"

#include "ground/shared.h"
#include "ground/slots.h"
#include "lease/lease.h"

static uint32_t hash_of_names(const struct names *names)
{
    return names->slot ? slice_hash(slot_name(names)) : names_hash(names);
}

static bool wait_together(const struct names *a, const struct names *b)
{
    return a->slot ? slots_are_of_one_name(a, b) : names_are_same(a, b);
}

struct local_queue *local_queue_of(const struct engine *e, const struct names *names)
{
    struct indexed *it = index_first(&e->local_queues, hash_of_names(names));
    while (it && !wait_together(OWNER_OF(struct local_queue, indexed, it)->names, names))
        it = index_next(it);
    return it ? OWNER_OF(struct local_queue, indexed, it) : NULL;
}

/* Its place on the masters is its own, and no lease is handed to it in memory. */
static bool waits_apart(const struct engine *e, const struct names *names)
{
    return e->config.strict_order || names_any_shared(names);
}

static struct local_queue *local_queue_new(struct engine *e, struct names *names)
{
    struct local_queue *queue = e->memory.take(e->memory.pool, sizeof *queue);
    if (!queue)
        return NULL;
    queue->names = names_share(names);
    queue->apart = waits_apart(e, names);
    if (!queue->apart)
        index_enter(&e->local_queues, &e->memory, &queue->indexed, hash_of_names(names));
    return queue;
}

static void local_queue_drop(struct engine *e, struct local_queue *queue)
{
    index_leave(&e->local_queues, &queue->indexed);
    names_drop(&e->memory, queue->names);
    e->memory.give(e->memory.pool, queue, sizeof *queue);
}

/* Very many may wait for the same names, which are kept once then. */
static void use_names_of(struct engine *e, const struct local_queue *queue, struct attempt *attempt)
{
    if (queue->names == attempt->names || queue->names->slot || !names_may_share(queue->names))
        return;
    names_drop(&e->memory, attempt->names);
    attempt->names = names_share(queue->names);
}

bool local_queue_enter(struct engine *e, struct lease *lease)
{
    struct attempt *attempt = lease->attempt;
    struct local_queue *queue =
        waits_apart(e, attempt->names) ? NULL : local_queue_of(e, attempt->names);
    if (!queue)
        queue = local_queue_new(e, attempt->names);
    if (!queue)
        return false;
    use_names_of(e, queue, attempt);
    attempt->queue = queue;
    attempt->before = queue->last;
    attempt->behind = NULL;
    if (queue->last)
        queue->last->attempt->behind = lease;
    else
        queue->first = lease;
    queue->last = lease;
    e->waiters++;
    return true;
}

void local_queue_leave(struct engine *e, struct lease *lease)
{
    struct attempt *attempt = lease->attempt;
    struct local_queue *queue = attempt->queue;
    if (attempt->before)
        attempt->before->attempt->behind = attempt->behind;
    else
        queue->first = attempt->behind;
    if (attempt->behind)
        attempt->behind->attempt->before = attempt->before;
    else
        queue->last = attempt->before;
    e->waiters--;
    attempt->queue = NULL;
    attempt->before = attempt->behind = NULL;
    if (!queue->first)
        local_queue_drop(e, queue);
}

unsigned local_queue_position(const struct lease *lease)
{
    unsigned position = 0;
    for (const struct lease *it = lease->attempt->before; it; it = it->attempt->before)
        position++;
    return position;
}
