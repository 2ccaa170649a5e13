#include "lease/local_queue.h"

#include "ground/shared.h"
#include "ground/slots.h"
#include "lease/lease.h"

static unsigned bucket_of_names(const struct names *names)
{
    uint32_t hash = names->slot ? slice_hash(slot_name(names)) : names_hash(names);
    return hash % LOCAL_QUEUE_BUCKETS;
}

static bool wait_together(const struct names *a, const struct names *b)
{
    return a->slot ? slots_are_of_one_name(a, b) : names_are_same(a, b);
}

struct local_queue *local_queue_of(const struct engine *e, const struct names *names)
{
    for (struct local_queue *queue = e->local_queues[bucket_of_names(names)]; queue;
         queue = queue->next)
        if (wait_together(queue->names, names))
            return queue;
    return NULL;
}

static void list(struct engine *e, struct local_queue *queue)
{
    struct local_queue **bucket = &e->local_queues[bucket_of_names(queue->names)];
    queue->next = *bucket;
    if (queue->next)
        queue->next->prev = queue;
    *bucket = queue;
}

static void unlist(struct engine *e, struct local_queue *queue)
{
    if (queue->prev)
        queue->prev->next = queue->next;
    else
        e->local_queues[bucket_of_names(queue->names)] = queue->next;
    if (queue->next)
        queue->next->prev = queue->prev;
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
        list(e, queue);
    return queue;
}

static void local_queue_drop(struct engine *e, struct local_queue *queue)
{
    if (!queue->apart)
        unlist(e, queue);
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
