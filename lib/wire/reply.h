/*
 * reply.h - replies → answers.  hiredis's reader does the parsing; its builder
 * functions are ours and fill one flat, bounded struct instead of a tree.
 * So reading a reply allocates nothing, and no reply can make us allocate much.
 */
#ifndef REDLOCK_WIRE_REPLY_H
#define REDLOCK_WIRE_REPLY_H

#include <hiredis/hiredis.h>

#include "command.h"
#include "ground/event.h"

#define REPLY_FIELDS_MAX BATCH_MAX /* elements of an array; a longer one is a protocol error */
#define REPLY_TEXT_MAX   2048      /* bytes of all strings kept; longer ones are cut */
#define REPLY_LONG_MAX   131400    /* bytes of one string more: a name, and what is said of it */
#define REPLY_BYTES_MAX  200000    /* unparsed bytes that a master may make us keep */

enum field_kind { FIELD_NIL, FIELD_INTEGER, FIELD_STRING, FIELD_STATUS, FIELD_ERROR };

struct field {
    enum field_kind kind;
    long long integer; /* of a string that was cut: its length */
    const char *text;  /* of a string, a status or an error; behind its length stands a NUL */
    size_t length;
};

/* One reply, flat: an array of one level, or a single field, which is no array. */
struct raw_reply {
    bool is_array;
    unsigned count;
    struct field fields[REPLY_FIELDS_MAX];
    char text[REPLY_TEXT_MAX];
    size_t used;
    char *long_text; /* of one string that does not fit; NULL: none came yet */
    size_t long_size;
    bool failed; /* memory was out for the last one, which was cut */
};

/* Makes `reader` build into `raw`. */
void reply_attach(redisReader *reader, struct raw_reply *raw);
/* Frees what `raw` has in memory; it may be used again. */
void reply_free(struct raw_reply *raw);

/* What a login has told so far; the caller clears it with each new connection. */
struct login_state {
    int64_t client_id;
    char run_id[RUN_ID_MAX + 1]; /* from INFO; "" if it was not told */
    bool failed; /* AUTH, SELECT or SUBSCRIBE was refused: the final answer is that error */
    char why[VOTE_TEXT_MAX]; /* why it was refused, also where that did not matter */
};

/* Takes the reply to a step before STEP_FINAL.  False if this step cannot have such a reply
 * (protocol error). */
bool reply_take_step(struct login_state *login, enum step step, const struct raw_reply *raw);

/* Turns the final reply into an answer.  `reply` points into `raw` and `hello`.  False if this
 * request cannot have such a reply (protocol error). */
bool reply_read(const struct raw_reply *raw, const struct tag *tag, const struct login_state *login,
                struct hello *hello, struct reply *reply);

/* The same for one reply to `count` requests: the answer to the one at `index`.  If all were
 * refused at once the answer is ANSWER_NOSCRIPT: each is to be sent alone, so that none suffers for
 * another. */
bool reply_read_each(const struct raw_reply *raw, unsigned index, unsigned count,
                     const struct tag *tag, struct reply *reply);

/* The reply is the answer to command_write_probe(). */
bool reply_is_alive(const struct raw_reply *raw);

/* Turns what comes on a subscription after its STEP_SUBSCRIBE into a push, which points into `raw`.
 * False if a master sends no such message on this channel (protocol error). */
bool reply_read_push(const struct raw_reply *raw, const char *channel, struct push *push);

#endif
