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
    struct client_text run_ids[REDLOCK_MASTERS_MAX]; /* of these; empty: not heard */
    unsigned told_by;     /* bits: the masters of this client that tell it */
    unsigned unsafe;      /* bits: other lists here that may not be used beside it */
    bool is_ours;         /* this client has the same one */
    bool has_our_masters; /* the same entries, whatever the numbers are */
};

struct lists_used {
    const char *fleet; /* NULL: none, and no master is asked */
    unsigned count;
    unsigned asked;                       /* bits: the masters that have answered */
    unsigned tell;                        /* bits: those of them that remember lists */
    unsigned over;                        /* bits: those to which the list of this client is over */
    int64_t changes[REDLOCK_MASTERS_MAX]; /* of ends, as each tells: see redlock_list_revive() */
    struct client_text successors[REDLOCK_MASTERS_MAX]; /* the list in place of it, as each tells */
    struct list_used lists[LISTS_MOST];
};

/* Of a client that only looks; the texts are valid until the loop runs again. */
REDLOCK_API void redlock_lists_used(const redlock *client, struct lists_used *used);

/* A client that only looks says to these masters (bits), at each look, that its list is over.  No
 * client may count on it then, and masters tell them `successor`, or the list that was named first.
 * The text must outlive the client.  The other call takes that back, where no end has changed since
 * the master told these `changes`: a tool that slept has seen something else. */
REDLOCK_API void redlock_list_end(redlock *client, const char *successor, unsigned masters);
REDLOCK_API void redlock_list_revive(redlock *client, const int64_t *changes);

/* The entries of a file with a list, without its comments; NULL with a sentence in `why`.  They may
 * have passwords: the other call wipes them. */
REDLOCK_API char *redlock_list_read(const char *path, char *why, size_t why_size);
REDLOCK_API void redlock_list_free(char *list);

/* The entries of a list that a master tells, with our logins; NULL: it has masters without TLS,
 * which get none, or memory ran out.  The caller wipes them, and frees them. */
REDLOCK_API char *redlock_list_entries(const redlock *client, struct client_text list);

/* Of a list with commas between its masters, as masters tell it: takes the first one off; false:
 * there is none. */
REDLOCK_API bool redlock_list_take_node(struct client_text *list, struct client_text *node);
REDLOCK_API bool redlock_list_has_node(struct client_text list, struct client_text node);
/* They have the same masters, in any order. */
REDLOCK_API bool redlock_lists_are_same(struct client_text one, struct client_text other);

#endif
