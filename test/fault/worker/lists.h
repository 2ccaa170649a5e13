/*
 * lists.h - the clients of a process of a chaos run: one of the present list of masters, and a
 * former one until nothing uses it.
 *
 * With REDLOCK_NODES_FILE it follows the file: a while after this has changed there is another
 * client, and the owner leaves the former one.  One change at a time.
 */
#ifndef FAULT_WORKER_LISTS_H
#define FAULT_WORKER_LISTS_H

#include <ev.h>
#include <redlock.h>
#include <stdbool.h>

struct lists {
    struct ev_loop *loop;
    redlock_options options;
    /* `left`: there is another client, or a while has passed; the owner leaves the former one.
     * True: it uses it still. */
    bool (*left)(void *owner, redlock *former, bool is_new);
    void (*closed)(void *owner); /* all of them, see lists_close() */
    void *owner;

    redlock *client;  /* for all that is asked from now on */
    redlock *former;  /* NULL: none is in use */
    unsigned closing; /* clients */
    bool changed, ending;
    redlock_stats sum; /* of the clients that have closed */
    ev_stat file;
    ev_timer late, again;
};

/* False, and a line on stderr, if there is no client. */
bool lists_open(struct lists *lists);
/* Closes the former client if nothing uses it. */
void lists_look(struct lists *lists);
/* `closed` follows. */
void lists_close(struct lists *lists);

#endif
