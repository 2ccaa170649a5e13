/*
 * lists_in_use.h - the lists of masters that the clients of a fleet count on, for the command.  It
 * is no part of the library's interface, and only the static library has it.
 */
#ifndef REDLOCK_CLIENT_LISTS_IN_USE_H
#define REDLOCK_CLIENT_LISTS_IN_USE_H

#include "redlock.h"

#define LISTS_MOST 16

/* Any bytes that a client has sent. */
struct client_text {
    const char *bytes;
    size_t length;
};

struct list_used {
    unsigned masters, quorum, spare;
    unsigned clients; /* that say it */
    int64_t max_ttl_ms;
    int64_t first_ms, last_ms; /* since it was said */
    struct client_text label;  /* of the client that said it last */
    struct client_text nodes[REDLOCK_MASTERS_MAX];
    unsigned told_by; /* bits: the masters of this client that tell it */
    unsigned unsafe;  /* bits: other lists here that may not be used beside it */
    bool is_ours;     /* this client has the same one */
};

struct lists_used {
    const char *fleet; /* NULL: none, and no master is asked */
    unsigned count;
    unsigned asked; /* bits: the masters that have answered */
    unsigned tell;  /* bits: those of them that remember lists */
    struct list_used lists[LISTS_MOST];
};

/* Of a client that only looks; the texts are valid until the loop runs again. */
REDLOCK_API void redlock_lists_used(const redlock *client, struct lists_used *used);

#endif
