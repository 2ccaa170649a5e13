/*
 * shares.h - the lines of `redlock list`: a holder or a waiter, and a name.
 */
#ifndef REDLOCK_TOOLS_SHARES_H
#define REDLOCK_TOOLS_SHARES_H

#include "answer.h"

enum share_kind { SHARE_HOLDS, SHARE_READS, SHARE_HAS_PERMIT, SHARE_WAITS };

/* The number of those who share a name. */
struct crowds {
    unsigned reading, permits, out, waiting;
};

struct share {
    enum share_kind kind;
    bool foreign;         /* the value is not of this library */
    char *value;          /* the token with its label; of other software anything */
    const char *who;      /* in the value: the label, or all of it */
    size_t token_length;  /* of the token, in the value */
    redlock_name name;    /* the caller's */
    const char *state;    /* of the name, as answer.h has it */
    struct crowds crowds; /* likewise */
    unsigned on;          /* of masters */
    unsigned masters, quorum;
    int64_t remaining_ms; /* -1 unknown, -2 never expires */
    unsigned place;       /* WAITS: from 1 on */
};

struct shares {
    struct share *all;
    size_t count, room;
};

/* Notes all shares of the name that a look tells. */
void shares_note(struct shares *shares, const redlock_name *name,
                 const redlock_look_result *result);
/* By who has them; those of other software last. */
void shares_sort(struct shares *shares);
/* Of one that is had: "exclusive", "shared", "permit". */
const char *share_mode(enum share_kind kind);
bool share_is_partial(const struct share *share);
bool shares_are_of_one(const struct share *a, const struct share *b);
void shares_free(struct shares *shares);

#endif
