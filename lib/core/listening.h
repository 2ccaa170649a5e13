/*
 * listening.h - hearing of handovers: one notification connection to each master,
 * for all who wait, opened with the first of them and closed after the last.
 *
 * Nothing depends on it but speed: a push that is not heard is found by the next
 * refresh.
 */
#ifndef REDLOCK_CORE_LISTENING_H
#define REDLOCK_CORE_LISTENING_H

#include "event.h"

struct engine;

/* Somebody waits: connects where it is not. */
void listening_keep(struct engine *engine);
/* Closes what nobody has needed for a while; looks again later if somebody may. */
void listening_look(struct engine *engine);
void listening_end(struct engine *engine);

/* The connection to the master has ended: this one, on which nothing is ever asked, would
 * not notice. */
void listening_lost(struct engine *engine, unsigned master);

void listening_begun(struct engine *engine, unsigned master);
void listening_ended(struct engine *engine, unsigned master);

#endif
