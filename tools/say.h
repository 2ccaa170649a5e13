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

#include "redlock.h"
#include "text.h"

/* Once, before anything is said. */
void say_start(void);

/* From now on each message is a JSON document: {"event":"log","level":...,"text":...}. */
void say_as_json(void);

/* "redlock: ", the message as it may be shown, a newline, to stderr. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Likewise; say() says errors. */
void say_at(redlock_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The text as it is, to stderr. */
void say_text(const struct text *text);

/* On the terminal, in place of the line that was said so before: cut where the terminal
 * ends, and not in the background, where somebody else writes.  Other messages come
 * before it. */
void say_line(const struct text *line);

/* Takes it away. */
void say_line_end(void);

/* Writes to stdout; false when that failed, and then it was said why. */
bool put_text(const struct text *text);

#endif
