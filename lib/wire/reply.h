/*
 * reply.h - replies → answers.
 */
#ifndef REDLOCK_WIRE_REPLY_H
#define REDLOCK_WIRE_REPLY_H

#include "command.h"
#include "ground/event.h"
#include "raw_reply.h"

/* The state of a login; the caller clears it with each new connection. */
struct login_state {
    int64_t client_id;
    char run_id[RUN_ID_MAX + 1]; /* from INFO; "": unknown */
    bool failed; /* AUTH, SELECT or SUBSCRIBE was refused: the final answer is that error */
    bool denied; /* the user or the password is wrong, or there was none */
    char why[VOTE_TEXT_MAX]; /* why it was refused, also where that did not matter */
};

/* Takes the reply to a step before STEP_FINAL.  False if this step cannot have such a reply
 * (protocol error). */
bool reply_take_step(struct login_state *login, enum step step, const struct raw_reply *raw);

/* Turns the final reply into an answer.  `reply` points into `raw` and `hello`.  False if this
 * request cannot have such a reply (protocol error). */
bool reply_read(const struct raw_reply *raw, const struct tag *tag, const struct login_state *login,
                struct hello *hello, struct reply *reply);

/* As reply_read(), for one reply to `count` requests: the answer to the request at `index`.  If all
 * were refused at once, the answer is ANSWER_NOSCRIPT: send each alone, so that none suffers for
 * another. */
bool reply_read_each(const struct raw_reply *raw, unsigned index, unsigned count,
                     const struct tag *tag, struct reply *reply);

/* The reply is the answer to connection_write_probe(). */
bool reply_is_alive(const struct raw_reply *raw);

/* Turns what comes on a subscription after its STEP_SUBSCRIBE into a push, which points into `raw`.
 * False if a master sends no such message on this channel (protocol error). */
bool reply_read_push(const struct raw_reply *raw, const char *channel, struct push *push);

#endif
