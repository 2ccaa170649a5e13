/*
 * command.h - requests → RESP bytes.  With reply.h, all that knows Redis.
 */
#ifndef REDLOCK_WIRE_COMMAND_H
#define REDLOCK_WIRE_COMMAND_H

#include "buffer.h"
#include "ground/names.h"

/* The account to use on this master; a NULL is not sent. */
struct credentials {
    const char *user;
    const char *password;
    int db;
    const char *client_name;
};

/* The reply to expect for each command written. */
enum step {
    STEP_AUTH,
    STEP_SELECT,
    STEP_SETNAME,   /* an error here does not matter */
    STEP_CLIENT_ID, /* an error here does not matter */
    STEP_LOAD,      /* one for each script */
    STEP_INFO,      /* of a subscription: the process at its other end */
    STEP_SUBSCRIBE, /* the last of a subscription; messages follow */
    STEP_FINAL      /* the reply that answers the request itself */
};

/* The number of scripts that a whole hello loads: see requests.h. */
#define SCRIPTS_OF(kind, name, token, takes, sets, clock, batch, modes, slot)                      \
    +(1 + (batch)) * (1 + (modes)) + (slot)
enum { SCRIPTS_LOADED = 1 CLAIM_REQUESTS(SCRIPTS_OF) };

#define STEPS_MAX (4 + SCRIPTS_LOADED + 1) /* before the scripts, and STEP_FINAL */
#define BATCH_MAX 32                       /* requests in one command */

/* Appends the commands of `request` to `buffer` and lists the replies to expect; returns how many,
 * the last being STEP_FINAL.  A REQUEST_HELLO with `login` not NULL is preceded by the login; NULL
 * says that this connection has done so already.  A whole one, for a master that does not have the
 * script, is preceded by the loading of all the scripts of claims.  If memory is out
 * the buffer says so (buffer->failed), and the connection must be given up. */
unsigned command_write(struct buffer *buffer, const struct request *request,
                       const struct credentials *login, enum step steps[STEPS_MAX]);

/* Appends the commands that make a connection a subscription: the login, INFO and SUBSCRIBE; lists
 * the replies to expect and returns how many.  Returns 0 if memory is out. */
unsigned command_write_subscribe(struct buffer *buffer, const struct credentials *login,
                                 const char *channel, enum step steps[STEPS_MAX]);

/* Appends the command that asks a subscription for a sign of life: see reply_is_alive(). */
void command_write_probe(struct buffer *buffer);

/* The text of the script whose hash is at `hash`; NULL if it is none of ours. */
const char *command_script(const char *hash);

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
