/*
 * barrier_check.h - barriers on the simulator's master and on a real one: for differential.c.
 */
#ifndef SIM_BARRIER_CHECK_H
#define SIM_BARRIER_CHECK_H

#include <hiredis/hiredis.h>

#include "model_master.h"
#include "random.h"
#include "reply.h"

static inline bool is_about_barrier(enum request_kind kind)
{
    return kind == REQUEST_ARRIVE || kind == REQUEST_DEPART;
}

struct model_call barrier_draw(struct chance *chance, unsigned tokens, int64_t longest_ms);
/* What is the same in the request is there already. */
void barrier_spell(const struct model_call *call, struct request *request);
bool barrier_same_answer(const struct model_answer *model, const struct reply *real);
/* The barriers of a name.  The very millisecond is the real one's to say. */
bool barrier_same_keys(redisContext *context, struct model_master *model, unsigned name);
/* Somebody else deletes one. */
void barrier_spoil(redisContext *context, struct chance *chance, struct model_master *model);
/* Something of them ended, or ends, in these milliseconds. */
bool barrier_ends_between(const struct model_data *data, unsigned name, int64_t from_ms,
                          int64_t until_ms);

#endif
