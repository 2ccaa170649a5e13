/*
 * command.h - requests → RESP bytes.  With reply.h, all that knows Redis.
 */
#ifndef REDLOCK_WIRE_COMMAND_H
#define REDLOCK_WIRE_COMMAND_H

#include "connection.h"
#include "ground/names.h"

#define BATCH_MAX 32 /* requests in one command */

/* Appends the commands of `request` to `buffer` and lists the replies to expect; returns how many,
 * the last being STEP_FINAL.  A REQUEST_HELLO with `login` not NULL is preceded by the login; NULL
 * says that this connection has done so already.  A whole one, for a master that does not have the
 * script, is preceded by the loading of all the scripts of claims.  If memory is out
 * the buffer says so (buffer->failed), and the connection must be given up. */
unsigned command_write(struct buffer *buffer, const struct request *request,
                       const struct credentials *login, enum step steps[STEPS_MAX]);

/* The request may go in one command with others like it. */
bool command_may_batch(const struct request *request);

/* Two such requests may go in one command: they are of one kind, and of one mode where
 * the kind has modes. */
static inline bool command_is_like(const struct request *a, const struct request *b)
{
    return a->tag.kind == b->tag.kind &&
           (!request_has_modes(a->tag.kind) || request_shares_any(a) == request_shares_any(b));
}

/* Appends one command for `count` (2 to BATCH_MAX) requests that are alike; one reply answers
 * them all.  `whole`: with the script's text, for the master may not have it. */
void command_write_each(struct buffer *buffer, const struct request *requests, unsigned count,
                        bool whole);

#endif
