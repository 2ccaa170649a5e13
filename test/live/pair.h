/*
 * pair.h - two clients on one loop, for each case of a live test.
 */
#ifndef REDLOCK_TEST_PAIR_H
#define REDLOCK_TEST_PAIR_H

#include "fixture.h"
#include "user.h"

extern struct user ours, theirs;

int pair_join(void **state);
/* Neither owes a release. */
int pair_leave(void **state);

#endif
