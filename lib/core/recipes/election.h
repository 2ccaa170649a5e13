/*
 * election.h - something that is said of a name, in memory once for all that refer to it.  An
 * announcer says it (election.c), and an observer hears it (election_observer.c).
 */
#ifndef REDLOCK_CORE_RECIPES_ELECTION_H
#define REDLOCK_CORE_RECIPES_ELECTION_H

#include "ground/event.h"

struct saying {
    uint32_t references;
    uint32_t token_length, value_length;
    usec term;
    int64_t number;
    char bytes[]; /* the token, the value */
};

/* NULL when memory is out. */
struct saying *saying_new(const struct memory *memory, const struct said *said);
struct saying *saying_share(struct saying *saying);
/* NULL is allowed. */
void saying_drop(const struct memory *memory, struct saying *saying);
struct said saying_said(const struct saying *saying);

bool saying_is(const struct saying *saying, const struct said *said);
/* Below 0: `a` was said before `b`; a term is that of one leader, and its numbers grow. */
int said_order(const struct said *a, const struct said *b);

#endif
