/*
 * wishing.h - one who waits asks the holder to let go, and each holder that follows (--ask).
 */
#ifndef REDLOCK_TOOLS_WISHING_H
#define REDLOCK_TOOLS_WISHING_H

#include "redlock/recipes.h"
#include "session.h"

/* NULL: it does not ask, or asks no more. */
struct wishing {
    redlock_asker *asker;
};

/* Called when the lease was asked for.  A holder that cannot be asked keeps the lock, as any. */
void wishing_start(struct wishing *wishing, struct session *session);
/* The wait has gone over to the session's next client. */
void wishing_go_over(struct wishing *wishing, struct session *session);
/* Called at the outcome, also if wishing_start() was not. */
void wishing_stop(struct wishing *wishing);

#endif
