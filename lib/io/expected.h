/*
 * expected.h - the replies that a connection still owes, in order.
 */
#ifndef REDLOCK_IO_EXPECTED_H
#define REDLOCK_IO_EXPECTED_H

#include "command.h"

struct expected {
    struct tag tag; /* of the request that the step belongs to */
    enum step step;
    unsigned sharing; /* number of requests, from this one on, that share one reply; 0: none do */
};

struct expected_queue {
    struct expected *ring;
    unsigned capacity; /* a power of two */
    unsigned first, count;
    unsigned requests; /* number of the steps that are STEP_FINAL */
};

bool expected_init(struct expected_queue *queue);

/* Makes room for the steps of one more request; false if memory is out.  The queue
 * grows when it is half full, so that its other half then still takes the requests
 * that come before the connection is given up. */
bool expected_make_room(struct expected_queue *queue);

/* Does nothing if there is no room all the same. */
void expected_add(struct expected_queue *queue, const struct tag *tag, enum step step);

/* One reply answers the `count` requests added last. */
void expected_share(struct expected_queue *queue, unsigned count);

/* NULL if nothing is expected. */
const struct expected *expected_first(const struct expected_queue *queue);
void expected_drop_first(struct expected_queue *queue);
void expected_free(struct expected_queue *queue);

#endif
