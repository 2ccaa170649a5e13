/*
 * message_writer.h - the answer to a message → its bytes.
 */
#ifndef SIM_MESSAGE_WRITER_H
#define SIM_MESSAGE_WRITER_H

#include "answer_writer.h"
#include "client_shell.h"

/* A liar says what it likes, but in words that there are: what has none becomes an error.  And an
 * error may refuse all requests of a command at once, which tells each that it must go alone. */
void message_settle(struct message *message, struct chance *chance);

void message_write(struct buffer *to, const struct world *world, const struct message *message);

#endif
