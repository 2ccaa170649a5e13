/*
 * metrics_text.h - the metrics of one command: those of its client, which name the lock.
 */
#ifndef REDLOCK_TOOLS_METRICS_TEXT_H
#define REDLOCK_TOOLS_METRICS_TEXT_H

#include "session.h"

/* `ended`: the exit status is known, and the masters are no concern any more. */
void metrics_text(struct text *out, const struct session *session, bool ended);

#endif
