/*
 * latch_check.h - latches on the simulator's master and on a real one: for differential.c.
 */
#ifndef SIM_LATCH_CHECK_H
#define SIM_LATCH_CHECK_H

#include <hiredis/hiredis.h>

#include "model_master.h"
#include "random.h"
#include "reply.h"

static inline bool is_about_latch(enum request_kind kind)
{
    return kind == REQUEST_TALLY || kind == REQUEST_MEND || kind == REQUEST_DROP;
}

struct model_call latch_draw(struct chance *chance, const struct model_master *model,
                             unsigned tokens, int64_t now_ms, int64_t longest_ms);
/* What is the same in the request is there already.  `run`: of the real one's process. */
void latch_spell(const struct model_call *call, const struct model_master *model, const char *run,
                 struct request *request);
bool latch_same_answer(const struct model_answer *model, const struct reply *real);
/* The latch of a name. */
bool latch_same_keys(redisContext *context, struct model_master *model, const char *run,
                     unsigned name);
/* Somebody else deletes one, or it is as a former process had it. */
void latch_spoil(redisContext *context, struct chance *chance, struct model_master *model,
                 const char *run);
/* One ended, or ends, in these milliseconds. */
bool latch_ends_between(const struct model_data *data, unsigned name, int64_t from_ms,
                        int64_t until_ms);

#endif
