/*
 * relisted.h - a client is left for another one, of the next list: the scene of tests about that.
 */
#ifndef REDLOCK_TEST_RELISTED_H
#define REDLOCK_TEST_RELISTED_H

#include "scene.h"

#define MASTERS 6
#define FLEET   "fleet"

extern struct user former, next, other; /* `other` has the next list too */
extern unsigned former_closed;          /* times that the former client told it */

/* A quorum of the first list are 4 of 6 masters, of the next one 3 of the last 5. */
void relisted_begin(void);
/* Of the first list 3 of 5 masters answer, and of the next one too few: 3 of 6.  `other` has the
 * first list. */
void relisted_begin_without_next(void);
void relisted_run_next(void);
void relisted_join(struct user *user, unsigned first, unsigned count);
/* As redlock_relist(). */
redlock_code relisted_leave_for(struct user *to);
void relisted_ask(void);
/* Fewer than a quorum of the former list are left, and a quorum of the next one. */
void relisted_kill_former(void);
/* The former client closes by itself. */
void relisted_leave(void);
void relisted_end(void);
/* After relisted_kill_former(): two masters of both clients have gone. */
void relisted_end_with_dead(void);

#endif
