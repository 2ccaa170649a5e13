/*
 * once.h - what `redlock once` does beyond `redlock run`.
 *
 *   the lock is held ── look ──► it was done ────────────────────► release, and tell by whom
 *                        │
 *                        └─► run the command ── it succeeded ── record ──► release
 */
#ifndef REDLOCK_TOOLS_ONCE_H
#define REDLOCK_TOOLS_ONCE_H

#include "redlock/recipes.h"
#include "session.h"

#define ONCE_TO_DO (-1)

struct once {
    struct session *session;
    redlock_once *call; /* under way; NULL: none */
    bool records;
    char note[REDLOCK_LATCH_ID_SIZE];
    /* After a look: ONCE_TO_DO, or the exit status.  After a record: the exit status. */
    void (*told)(void *data, int status);
    void *data;
};

bool once_is_asked_for(const struct session *session);
/* They tell later, or at once if the library refuses. */
void once_look(struct once *once, redlock_lease *lease);
void once_record(struct once *once, redlock_lease *lease);
/* Tells that a signal asked the command to end.  Returns the exit status. */
int once_leave_unrecorded(struct once *once, redlock_lease *lease);
/* A signal waits for that. */
bool once_is_recording(const struct once *once);
/* Stops a look, and tells nothing.  False: there was none. */
bool once_stop_look(struct once *once);

#endif
