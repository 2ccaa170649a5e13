/*
 * clock.h - the time of this process, real or the test's: see double_now().  Any thread.
 */
#ifndef TESTING_CLOCK_H
#define TESTING_CLOCK_H

#include "ground/event.h"

/* From now on it is virtual, or real again. */
void clock_begin(bool is_virtual);
/* Virtual time goes on, to this moment. */
void clock_go_on_to(usec now);
/* In virtual time: since it began. */
usec clock_since_begin(void);
/* The true wall clock. */
usec clock_wall(void);

#endif
