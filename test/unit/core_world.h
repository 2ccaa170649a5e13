/*
 * core_world.h - what the tests of the core share: a fake shell around an engine of three
 * masters, which keeps no trace.
 */
#ifndef REDLOCK_TEST_CORE_WORLD_H
#define REDLOCK_TEST_CORE_WORLD_H

#include "../script/fake.h"
#include "unit.h"

enum { MASTERS = 3 };

extern struct fake fake;

/* All masters are connected, and have answered hello. */
#define CORE_TEST(name) CASE_WITH(name, core_set_up_greeted, core_tear_down)
/* No master is connected yet. */
#define CORE_TEST_ALONE(name) CASE_WITH(name, core_set_up, core_tear_down)

int core_set_up(void **state);
int core_set_up_greeted(void **state);
/* Fails if the core broke a promise. */
int core_tear_down(void **state);

/* A lease of that name; and its first call. */
struct actor *core_make(const char *name, const char *names, const struct terms *terms);
struct actor *core_ask(const char *name, const char *names, const struct terms *terms,
                       enum event_kind kind);
/* Each master answers so, until none has a request left. */
void answer_all(enum answer answer);

#endif
