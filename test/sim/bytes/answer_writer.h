/*
 * answer_writer.h - what a modelled master answers → the bytes in which a real one says it.
 *
 * Written from the documents of Redis and the heads of lib/wire/scripts, not from
 * lib/wire/reply.c, which it judges.
 */
#ifndef SIM_ANSWER_WRITER_H
#define SIM_ANSWER_WRITER_H

#include "buffer.h"
#include "client_shell.h"

/* A liar says what it likes, but in words that there are: what has none becomes an error.  And an
 * error may refuse all requests of a command at once, which tells each that it must go alone. */
void answer_settle(struct message *message, struct chance *chance);

void answer_write(struct buffer *to, const struct world *world, const struct message *message);

void answer_write_status(struct buffer *to, const char *text);
void answer_write_error(struct buffer *to, const char *text);
void answer_write_integer(struct buffer *to, int64_t number);
void answer_write_text(struct buffer *to, const char *text);
void answer_write_array(struct buffer *to, unsigned count);
/* {"message", channel, "token clock" or "token slot number"} */
void answer_write_push(struct buffer *to, const struct shell *shell, const char *channel,
                       const struct heard *heard);
/* INFO: a master of that process. */
void answer_write_info(struct buffer *to, uint64_t run_id);

#endif
