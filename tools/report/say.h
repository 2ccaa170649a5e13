/*
 * say.h - the only way out to stdout and stderr.
 *
 * stderr never blocks: the reader of a full pipe must not keep us from renewing a lease.  Text that
 * does not fit is dropped. stdout carries results and is written in full or reported as failed.
 */
#ifndef REDLOCK_TOOLS_SAY_H
#define REDLOCK_TOOLS_SAY_H

#include <stdbool.h>

#include "redlock.h"
#include "text.h"

/* Called once, before the first message. */
void say_start(void);

/* From now on each message is a JSON document: {"event":"log","level":...,"text":...}. */
void say_as_json(void);

/* From now on each message that is no document begins with the time of day. */
void say_with_times(void);

/* Writes "redlock: ", the message in printable characters and a newline to stderr. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As say(), which is for errors, with a level. */
void say_at(redlock_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes the text as it is to stderr. */
void say_text(const struct text *text);

/* Replaces the last line of the terminal, cut to its width; writes nothing in the background,
 * where the terminal is another program's.  Other messages come before this line. */
void say_line(const struct text *line);

/* Removes that line. */
void say_line_end(void);

/* Writes to stdout; on failure tells why and returns false. */
bool put_text(const struct text *text);
/* False: stdout is a pipe or a socket whose reader has gone.  Without
 * anything to write this is the only sign. */
bool output_is_read(void);

#endif
