/*
 * test_loop.h - the loop of virtual time: it stands until redlock_testing_advance() runs it, or a
 * call that waits.
 *
 * Then each client has its turns, and nothing passes in between; when all rest the clock goes to
 * the next moment at which one of them is to wake.
 */
#ifndef TESTING_TEST_LOOP_H
#define TESTING_TEST_LOOP_H

#include "ground/event.h"

/* From now on time is this thread's. */
void test_loop_begin(void);
/* Runs all clients for this long; false: they never come to rest. */
bool test_loop_run(usec how_long);

#endif
