/*
 * failure.h - tells the user of an outcome that is no success, in the same way
 * wherever it comes from.
 */
#ifndef REDLOCK_TOOLS_FAILURE_H
#define REDLOCK_TOOLS_FAILURE_H

#include "options.h"
#include "redlock.h"

/*
 * With --json as a document, on stdout, or of `run` on stderr, for stdout belongs to
 * the command that it runs; else, unless quiet, as a message with the reasons.
 *   what   "cannot lock"; the names follow, if some were given
 *   event  with what the masters said, or NULL
 */
void failure_tell(const struct options *options, const char *what, redlock_code code,
                  const char *sentence, const redlock_event *event);

/* Ended by a signal, of which people need not be told. */
void failure_tell_signal(const struct options *options, int number, const redlock_event *event);

#endif
