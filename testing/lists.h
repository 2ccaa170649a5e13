/*
 * lists.h - the lists of masters that clients say they count on, fleet by fleet: agree.lua, which
 * the model knows for one fleet, and by numbers.
 */
#ifndef TESTING_LISTS_H
#define TESTING_LISTS_H

#include "buffer.h"
#include "command_reader.h"
#include "model_master.h"

/* As struct dictionary has it; keeps what the words say for the next lists_tell(). */
bool lists_hear(void *owner, const struct words *words, unsigned at);
/* The answer of the master to the words that were heard last. */
void lists_tell(unsigned master, usec wall, struct buffer *to);
/* The master starts again, or forgets: the lists are in its memory alone. */
void lists_forget(unsigned master);
/* There are none. */
void lists_begin(void);

#endif
