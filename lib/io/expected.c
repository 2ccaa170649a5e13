#include "expected.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 64
_Static_assert(FIRST_CAPACITY / 2 >= STEPS_MAX, "a login fits the half of it");

bool expected_init(struct expected_queue *queue)
{
    *queue = (struct expected_queue){.capacity = FIRST_CAPACITY};
    queue->ring = malloc(FIRST_CAPACITY * sizeof *queue->ring);
    return queue->ring != NULL;
}

/* Moves the upper part of a ring that was doubled to the upper end again. */
static void unwrap(struct expected_queue *queue, unsigned old_capacity)
{
    unsigned upper = old_capacity - queue->first;
    if (queue->count <= upper)
        return;
    memmove(queue->ring + queue->capacity - upper, queue->ring + queue->first,
            upper * sizeof *queue->ring);
    queue->first = queue->capacity - upper;
}

bool expected_make_room(struct expected_queue *queue)
{
    unsigned capacity = queue->capacity;
    if (queue->count + STEPS_MAX <= capacity / 2)
        return true;
    struct expected *ring =
        capacity <= UINT32_MAX / 4 ? realloc(queue->ring, 2ul * capacity * sizeof *ring) : NULL;
    if (!ring)
        return false;
    queue->ring = ring;
    queue->capacity = 2 * capacity;
    unwrap(queue, capacity);
    return true;
}

static struct expected *at(const struct expected_queue *queue, unsigned index)
{
    return &queue->ring[(queue->first + index) & (queue->capacity - 1)];
}

void expected_add(struct expected_queue *queue, const struct tag *tag, enum step step)
{
    if (queue->count == queue->capacity)
        return;
    *at(queue, queue->count) = (struct expected){.tag = *tag, .step = step};
    queue->count++;
    queue->requests += step == STEP_FINAL;
}

void expected_share(struct expected_queue *queue, unsigned count)
{
    at(queue, queue->count - count)->sharing = count;
}

const struct expected *expected_first(const struct expected_queue *queue)
{
    return queue->count ? at(queue, 0) : NULL;
}

void expected_drop_first(struct expected_queue *queue)
{
    queue->requests -= at(queue, 0)->step == STEP_FINAL;
    queue->first = (queue->first + 1) & (queue->capacity - 1);
    queue->count--;
}

void expected_free(struct expected_queue *queue)
{
    free(queue->ring);
    *queue = (struct expected_queue){0};
}
