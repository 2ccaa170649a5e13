/*
 * failure.h - tells the user of a failure, in the same way for every command.
 */
#ifndef REDLOCK_TOOLS_FAILURE_H
#define REDLOCK_TOOLS_FAILURE_H

#include "options.h"
#include "redlock.h"

/*
 * With --json a document on stdout; `run` writes it to stderr, as stdout belongs to its command.
 * Else a message with the reasons, unless --quiet silences it.
 *   what   "cannot lock"; the names follow, if some were given
 *   event  with what the masters said, or NULL
 */
void failure_tell(const struct options *options, const char *what, redlock_code code,
                  const char *sentence, const redlock_event *event);

/* --quiet silences what is normal, such as another holder, and no error. */
bool failure_is_told(const struct options *options, redlock_code code);

/* Tells of an end by a signal: as JSON only, since whoever sent the signal knows. */
void failure_tell_signal(const struct options *options, int number, const redlock_event *event);

#endif
