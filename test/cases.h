/*
 * cases.h - cases of cmocka that need no list: a case is run because it stands in the file, in the
 * order of the file.
 *
 *     CASE(what_is_true)
 *     {
 *         assert_true(...);
 *     }
 *
 *     PROGRAM_OF_CASES(NULL, NULL)
 */
#ifndef REDLOCK_TEST_CASES_H
#define REDLOCK_TEST_CASES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { CASES_MAX = 128 };

/* Of this file. */
static struct {
    struct CMUnitTest cases[CASES_MAX];
    int lines[CASES_MAX];
    unsigned count;
} cases_here;

/* Constructors run in any order. */
static inline void cases_add(struct CMUnitTest test, int line)
{
    unsigned at = cases_here.count++;
    if (at == CASES_MAX)
        abort();
    for (; at > 0 && cases_here.lines[at - 1] > line; at--) {
        cases_here.cases[at] = cases_here.cases[at - 1];
        cases_here.lines[at] = cases_here.lines[at - 1];
    }
    cases_here.cases[at] = test;
    cases_here.lines[at] = line;
}

/* Runs the cases that have this set-up, or, with `others`, those that have another one. */
static inline int cases_run(CMFixtureFunction set_up, bool others, CMFixtureFunction begin,
                            CMFixtureFunction end)
{
    struct CMUnitTest chosen[CASES_MAX];
    size_t count = 0;
    for (unsigned i = 0; i < cases_here.count; i++)
        if ((cases_here.cases[i].setup_func == set_up) != others)
            chosen[count++] = cases_here.cases[i];
    return _cmocka_run_group_tests("tests", chosen, count, begin, end);
}

#define CASE_IS_ADDED(name, function, set_up, tear_down, data)                                     \
    __attribute__((constructor)) static void name##_is_added(void)                                 \
    {                                                                                              \
        cases_add((struct CMUnitTest){#name, function, set_up, tear_down, data}, __LINE__);        \
    }

#define CASE_OF(name, set_up, tear_down, data)                                                     \
    static void name(void **state);                                                                \
    CASE_IS_ADDED(name, name, set_up, tear_down, data)                                             \
    static void name(__attribute__((unused)) void **state)

/* The case has what its set-up made as `variable`. */
#define CASE_IN(type, variable, name, set_up, tear_down)                                           \
    static void name(type *variable);                                                              \
    static void name##_in(void **state)                                                            \
    {                                                                                              \
        name(*state);                                                                              \
    }                                                                                              \
    CASE_IS_ADDED(name, name##_in, set_up, tear_down, NULL)                                        \
    static void name(__attribute__((unused)) type *variable)

#define CASE(name)                         CASE_OF(name, NULL, NULL, NULL)
#define CASE_WITH(name, set_up, tear_down) CASE_OF(name, set_up, tear_down, NULL)

/* begin() runs before all of them, end() after all. */
#define PROGRAM_OF_CASES(begin, end)                                                               \
    int main(void)                                                                                 \
    {                                                                                              \
        return _cmocka_run_group_tests("tests", cases_here.cases, cases_here.count, begin, end);   \
    }

#endif
