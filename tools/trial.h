/*
 * trial.h - asks each master alone for a lock, with a fence, on two names, and for a place in the
 * queue behind it.  Then it gives the lock back, and the master hands it over to that place.  The
 * master refuses here all that it would refuse to a user.
 *
 * The names are redlock-nodes:<random>:1 and :2, behind the prefix; they are given back at once.
 */
#ifndef REDLOCK_TOOLS_TRIAL_H
#define REDLOCK_TOOLS_TRIAL_H

#include <ev.h>

#include "options.h"
#include "redlock.h"
#include "text.h"

/* The finding of the trial on one master. */
struct finding {
    bool tried;           /* it was asked, and whether it grants is known */
    bool grants;          /* a lock with a fence, on several names */
    bool name_denied;     /* its ACL forbids the names of the trial: nothing is known */
    bool is_another;      /* than the master that was met at this address, which is still there */
    struct text refusal;  /* why it does not grant */
    struct text no_queue; /* why nobody can wait there; empty if somebody can */
    struct text unheard;  /* why waiters do not hear of grants; empty if they do */
};

struct trial {
    struct trials *all;
    redlock *client;
    redlock_lease *holder, *waiter;
    bool ended, listened; /* it is known whether the waiter may subscribe */
    bool released;        /* the holder's lock was given back, for the waiter */
    int64_t max_ttl_ms;
    struct finding finding;
};

struct trials {
    const struct options *options;
    struct ev_loop *loop;
    redlock *known; /* the client that has met the masters */
    ev_timer look;
    uint64_t mark; /* in the names of this trial */
    unsigned left; /* that have not ended */
    void (*done)(void *data);
    void *data;
    struct trial of[REDLOCK_MASTERS_MAX];
};

/* Tries the masters whose bits are set, each with the max_ttl that it knows.  Calls `done` once, at
 * once if there is none. */
void trials_begin(struct trials *trials, const struct options *options, struct ev_loop *loop,
                  redlock *known, unsigned masters, void (*done)(void *data), void *data);
void trials_free(struct trials *trials);

#endif
