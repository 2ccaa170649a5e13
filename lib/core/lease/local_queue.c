#include "lease/local_queue.h"

#include "ground/shared.h"
#include "lease/lease.h"

static unsigned bucket_of(const struct names *names)
{
    return names_hash(names) % LOCAL_QUEUE_BUCKETS;
}

struct local_queue *local_queue_of(const struct engine *e, const struct names *names)
{
    for (struct local_queue *line = e->local_queues[bucket_of(names)]; line; line = line->next)
        if (names_are_same(line->names, names))
            return line;
    return NULL;
}

static struct local_queue *local_queue_new(struct engine *e, struct names *names)
{
    struct local_queue *line = e->memory.take(e->memory.pool, sizeof *line);
    struct local_queue **bucket = &e->local_queues[bucket_of(names)];
    if (!line)
        return NULL;
    line->names = names_share(names);
    line->next = *bucket;
    if (line->next)
        line->next->prev = line;
    *bucket = line;
    return line;
}

static void local_queue_drop(struct engine *e, struct local_queue *line)
{
    if (line->prev)
        line->prev->next = line->next;
    else
        e->local_queues[bucket_of(line->names)] = line->next;
    if (line->next)
        line->next->prev = line->prev;
    names_drop(&e->memory, line->names);
    e->memory.give(e->memory.pool, line, sizeof *line);
}

bool local_queue_enter(struct engine *e, struct lease *lease)
{
    struct attempt *attempt = lease->attempt;
    struct local_queue *line = local_queue_of(e, attempt->names);
    if (!line)
        line = local_queue_new(e, attempt->names);
    if (!line)
        return false;
    attempt->queue = line;
    attempt->before = line->last;
    attempt->behind = NULL;
    if (line->last)
        line->last->attempt->behind = lease;
    else
        line->first = lease;
    line->last = lease;
    e->waiters++;
    return true;
}

void local_queue_leave(struct engine *e, struct lease *lease)
{
    struct attempt *attempt = lease->attempt;
    struct local_queue *line = attempt->queue;
    if (attempt->before)
        attempt->before->attempt->behind = attempt->behind;
    else
        line->first = attempt->behind;
    if (attempt->behind)
        attempt->behind->attempt->before = attempt->before;
    else
        line->last = attempt->before;
    e->waiters--;
    attempt->queue = NULL;
    attempt->before = attempt->behind = NULL;
    if (!line->first)
        local_queue_drop(e, line);
}

unsigned local_queue_position(const struct lease *lease)
{
    unsigned position = 0;
    for (const struct lease *it = lease->attempt->before; it; it = it->attempt->before)
        position++;
    return position;
}
