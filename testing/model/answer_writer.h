/*
 * answer_writer.h - what a modelled master answers → the bytes in which a real one says it.
 *
 * Written from the documents of Redis and the heads of lib/wire/scripts, not from
 * lib/wire/reply.c, which the simulator judges by it.
 */
#ifndef TESTING_ANSWER_WRITER_H
#define TESTING_ANSWER_WRITER_H

#include "buffer.h"
#include "ground/event.h"
#include "model_master.h"

bool answer_is_error(enum answer answer);
bool answer_tells_clock(const struct model_call *call, enum answer answer);

/* The answer to a request that has its command for itself; `spelled` is the same answer with its
 * tokens and other texts. */
void answer_write_one(struct buffer *to, const struct model_call *call,
                      const struct model_answer *answer, const struct reply *spelled);
/* That of one of several, as an element of an array. */
void answer_write_of_each(struct buffer *to, const struct model_call *call,
                          const struct model_answer *answer);
/* An error, which may be that of a whole command. */
void answer_write_refusal(struct buffer *to, const struct model_answer *answer);

void answer_write_status(struct buffer *to, const char *text);
void answer_write_error(struct buffer *to, const char *text);
void answer_write_integer(struct buffer *to, int64_t number);
void answer_write_text(struct buffer *to, const char *text);
void answer_write_slice(struct buffer *to, struct slice text);
void answer_write_array(struct buffer *to, unsigned count);
/* {"message", channel, "token clock" or "token slot number" or what is said} */
void answer_write_push(struct buffer *to, const char *channel, const struct push *push);
/* INFO: a master of that process. */
void answer_write_info(struct buffer *to, const char *run_id);

#endif
