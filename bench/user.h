/*
 * user.h - a redlock client on a loop, opened and closed as scenarios need it.
 */
#ifndef BENCH_USER_H
#define BENCH_USER_H

#include <ev.h>

#include "redlock.h"
#include "scenario.h"

struct user {
    redlock *client;
    struct ev_loop *loop;
    ev_io ready; /* the client's descriptor, if it shows one */
    bool done;   /* ready, or closed */
};

/* Waits until every master was reached or tried; false, with a note, on failure. */
bool user_open(struct user *user, const struct options *options, const struct cluster *cluster,
               struct ev_loop *loop, struct result *result);
/* The name of this number, in `bytes`, which has room for as many as the options ask for. */
redlock_name user_name(char *bytes, const struct options *options, const char *kind,
                       unsigned number);
/* Unless the loop is broken before. */
void user_run_for(struct user *user, double seconds);
/* Gives every lease back, within this time at most. */
void user_close_within(struct user *user, unsigned ms);
/* Gives every lease back, and frees the client. */
void user_close(struct user *user);

#endif
