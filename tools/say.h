/*
 * say.h - the only way out to stdout and stderr.
 *
 * stderr never blocks: while a lease is held nobody may keep us from renewing
 * it, also not the reader of a full pipe.  What does not fit is dropped.
 * stdout carries results and is written in full or reported as failed.
 */
#ifndef REDLOCK_TOOLS_SAY_H
#define REDLOCK_TOOLS_SAY_H

#include <stdbool.h>

#include "text.h"

/* Once, before anything is said. */
void say_start(void);

/* "redlock: ", the message, a newline, to stderr. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The text as it is, to stderr. */
void say_text(const struct text *text);

/* Writes to stdout; false when that failed, and then it was said why. */
bool put_text(const struct text *text);

#endif
