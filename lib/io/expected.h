/*
 * expected.h - the replies that a connection still owes, in order.
 */
#ifndef REDLOCK_IO_EXPECTED_H
#define REDLOCK_IO_EXPECTED_H

#include "command.h"

struct expected {
    struct tag tag; /* of the request that the step belongs to */
    enum step step;
    unsigned sharing; /* so many, this one the first, share one reply; 0: it has its own */
};

struct expected_queue {
    struct expected *ring;
    unsigned capacity; /* a power of two */
    unsigned first, count;
    unsigned requests; /* how many of them are STEP_FINAL */
};

bool expected_init(struct expected_queue *queue);

/* Makes room for the steps of one more request.  It grows when half full, so that
 * where memory is out (false) the other half still takes the requests that come
 * before the connection is given up. */
bool expected_make_room(struct expected_queue *queue);

/* Does nothing if, against all that, there is no room. */
void expected_add(struct expected_queue *queue, const struct tag *tag, enum step step);

/* One reply answers the `count` added last. */
void expected_share(struct expected_queue *queue, unsigned count);

/* NULL if nothing is expected. */
const struct expected *expected_first(const struct expected_queue *queue);
void expected_drop_first(struct expected_queue *queue);
void expected_free(struct expected_queue *queue);

#endif
