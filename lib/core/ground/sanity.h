/*
 * sanity.h - assertions: what the code assumes, stated where it assumes it.
 *
 * In debug, sanitizer and simulator builds (REDLOCK_ASSERTS) the program ends where an assertion
 * fails; in other builds an assertion is no code.
 */
#ifndef REDLOCK_CORE_SANITY_H
#define REDLOCK_CORE_SANITY_H

#ifdef REDLOCK_ASSERTS
#undef NDEBUG
#include <assert.h>
#define ASSERT(condition) assert(condition)
#define IF_ASSERTS(...)   __VA_ARGS__
#else
#define ASSERT(condition) ((void)sizeof((condition) ? 1 : 0))
#define IF_ASSERTS(...)
#endif

#endif
