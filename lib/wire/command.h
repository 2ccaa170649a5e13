/*
 * command.h - requests → RESP bytes.  With reply.h, all that knows Redis.
 */
#ifndef REDLOCK_WIRE_COMMAND_H
#define REDLOCK_WIRE_COMMAND_H

#include "connection.h"
#include "ground/names.h"

#define BATCH_MAX          32 /* requests in one command */
#define BATCH_OF_SLOTS_MAX 8  /* likewise, for each may look at all slots of a name */

/* Appends the commands of `request` to `buffer` and lists the replies to expect; returns how many,
 * the last being STEP_FINAL.  A REQUEST_HELLO with `login` not NULL is preceded by the login; NULL
 * says that this connection has done so already.  A whole one, for a master that does not have the
 * script, is preceded by the loading of all the scripts of claims.  If memory is out
 * the buffer says so (buffer->failed), and the connection must be given up. */
unsigned command_write(struct buffer *buffer, const struct request *request,
                       const struct credentials *login, enum step steps[STEPS_MAX]);

/* The request may go in one command with others like it. */
bool command_may_batch(const struct request *request);

/* Such a request may go in one command with `count` others that are alike.  All are of one kind,
 * of one mode where the kind has modes, and about slots or none is. */
static inline bool command_joins(const struct request *others, unsigned count,
                                 const struct request *request)
{
    bool slots = request->names->slot != 0;
    return others->tag.kind == request->tag.kind && slots == (others->names->slot != 0) &&
           (!request_has_modes(request->tag.kind) ||
            request_shares_any(others) == request_shares_any(request)) &&
           count < (slots ? BATCH_OF_SLOTS_MAX : BATCH_MAX);
}

/* Appends one command for `count` (2 to BATCH_MAX) requests that are alike; one reply answers
 * them all.  `whole`: with the script's text, for the master may not have it. */
void command_write_each(struct buffer *buffer, const struct request *requests, unsigned count,
                        bool whole);

#endif
