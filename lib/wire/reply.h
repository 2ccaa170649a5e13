/*
 * reply.h - replies → answers.  hiredis's reader does the parsing; its builder
 * functions are ours and fill one flat, bounded struct instead of a tree, so
 * that reading a reply allocates nothing and no reply can make us allocate much.
 */
#ifndef REDLOCK_WIRE_REPLY_H
#define REDLOCK_WIRE_REPLY_H

#include <hiredis/hiredis.h>

#include "command.h"
#include "event.h"

#define REPLY_FIELDS_MAX BATCH_MAX /* elements of an array; more is a protocol error */
#define REPLY_TEXT_MAX   2048      /* bytes of all strings kept; longer ones are cut */
#define REPLY_BYTES_MAX  65536     /* unparsed bytes that a master may make us keep */

enum field_kind { FIELD_NIL, FIELD_INTEGER, FIELD_STRING, FIELD_STATUS, FIELD_ERROR };

struct field {
    enum field_kind kind;
    long long integer;
    size_t start, length; /* of the text kept, NUL-terminated */
};

/* One reply, flat: an array of one level, or count 1 and no array. */
struct raw_reply {
    bool is_array;
    unsigned count;
    struct field fields[REPLY_FIELDS_MAX];
    char text[REPLY_TEXT_MAX];
    size_t used;
};

/* Makes `reader` build into `raw`. */
void reply_attach(redisReader *reader, struct raw_reply *raw);

/* What a login has told so far; zero it with each new connection. */
struct login_state {
    int64_t client_id;
    char run_id[44];      /* INFO; "" if it was not told */
    bool failed;          /* AUTH, SELECT or SUBSCRIBE was refused: the final answer is that */
    char why[SAYING_MAX]; /* what it refused, also where that did not matter */
};

/* Takes in the reply to a step before STEP_FINAL.  False: not a reply that this
 * step can have (protocol error). */
bool reply_take_step(struct login_state *login, enum step step, const struct raw_reply *raw);

/* Turns the final reply into an answer.  `reply` points into `raw` and `hello`.
 * False: not a reply that this request can have (protocol error). */
bool reply_read(const struct raw_reply *raw, const struct tag *tag, const struct login_state *login,
                struct hello *hello, struct reply *reply);

/* The same for one reply to `count` requests: the answer to the one at `index`.  If all
 * were refused at once the answer is ANSWER_NOSCRIPT: each is to be sent alone, so that
 * none suffers for another. */
bool reply_read_each(const struct raw_reply *raw, unsigned index, unsigned count,
                     const struct tag *tag, struct reply *reply);

/* It is what a listener hears after command_write_probe(). */
bool reply_is_alive(const struct raw_reply *raw);

/* Turns what a listener hears after its STEP_SUBSCRIBE into a push, which points into
 * `raw`.  False: not a message that a master sends on this channel (protocol error). */
bool reply_read_push(const struct raw_reply *raw, const char *channel, struct push *push);

#endif
