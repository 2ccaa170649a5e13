/*
 * listening.h - hearing of handovers: one notification connection to each master,
 * for all who wait, opened with the first of them and closed after the last.
 *
 * No lease depends on it but for speed: a push that is not heard is found by the next
 * refresh.  What is heard counts only from the process that the other connection
 * speaks to.
 */
#ifndef REDLOCK_CORE_LISTENING_H
#define REDLOCK_CORE_LISTENING_H

#include "event.h"

struct engine;

/* Somebody waits: connects where it is not, probes what was quiet for long. */
void listening_keep(struct engine *engine);
/* Closes what does not answer, and what nobody has needed for a while; looks again later if
 * somebody may. */
void listening_look(struct engine *engine);
void listening_end(struct engine *engine);

/* The other connection to the master has ended: this one, on which nothing is ever asked, would
 * not notice for long. */
void listening_lost(struct engine *engine, unsigned master);

void listening_begun(struct engine *engine, unsigned master, const char *run_id);
void listening_ended(struct engine *engine, unsigned master);
/* Any sign of life. */
void listening_heard(struct engine *engine, unsigned master);

/* It is the process whose hello says whether the master may grant, and which answers refreshes. */
bool listening_to_same_process(const struct engine *engine, unsigned master);

#endif
