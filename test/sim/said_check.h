/*
 * said_check.h - what is said of a name, on the simulator's master and on a real one: for
 * differential.c.
 */
#ifndef SIM_SAID_CHECK_H
#define SIM_SAID_CHECK_H

#include <hiredis/hiredis.h>

#include "model_master.h"
#include "random.h"
#include "reply.h"

#define EARS 3

/* Who is told of changes: a connection that is subscribed to all channels, and what came on it. */
struct listener {
    redisContext *context;
    struct raw_reply raw;
    unsigned count;
    struct model_push heard[EARS];
};

/* False if it cannot subscribe. */
bool listener_begins(struct listener *listener, const char *socket);
void listener_ends(struct listener *listener);
/* Takes in all that was published so far; false if some of it is no message. */
bool listener_hears(struct listener *listener);
/* It has heard what the model publishes, and nothing else. */
bool listener_heard(const struct listener *listener, const struct model_answer *answer);

/* Draws a call; often the token is that of the name. */
struct model_call said_draw(struct chance *chance, const struct model_master *model,
                            unsigned tokens, int64_t longest_ms);
/* What is the same in the request is there already. */
void said_spell(const struct model_call *call, struct request *request);
bool said_same_answer(const struct model_answer *model, const struct reply *real);
/* The record and the observers of a name.  The very millisecond is the real one's to say. */
bool said_same_keys(redisContext *context, struct model_master *model, unsigned name);
/* Somebody else deletes the record of a name or its observers, or writes there what they are not.
 */
void said_spoil(redisContext *context, struct chance *chance, struct model_master *model);
/* Something of it ended, or ends, in these milliseconds. */
bool said_ends_between(const struct model_data *data, unsigned name, int64_t from_ms,
                       int64_t until_ms);

#endif
