/*
 * follow.h - a lock of the command goes on with another list of masters: of run, elect, or lock.
 *
 *   its file has another list ──┐
 *   its list is over            ├─► a client of that list ─► the lease moves ─► the former one
 * closes (the masters tell the next) ┘
 *
 * A lease that waits moves, too, and keeps its turn.  If no quorum of the next list votes soon, its
 * wait ends with E_DIFFERS, and begins anew there.
 */
#ifndef REDLOCK_TOOLS_FOLLOW_H
#define REDLOCK_TOOLS_FOLLOW_H

#include <ev.h>

#include "session.h"

struct follow {
    struct session *session;
    redlock_lease *lease; /* waits or is held; NULL: it is not to be moved */
    redlock *next;        /* a client of another list; NULL: there is none */
    bool tried, votes;    /* each of its masters was reached or tried; a quorum votes */
    bool is_led;          /* its list is the one that masters tell */
    ev_stat file;         /* with our list */
    ev_timer settling;    /* it has just changed, and may have a part of a list */
    bool changed;         /* since its list was read, or that could not be gone to */
    ev_timer again;
};

void follow_start(struct follow *follow, struct session *session);
/* The lease is asked for, or held now: it moves from now on when another list comes up. */
void follow_takes(struct follow *follow, redlock_lease *lease);
/* It is lost, or neither waits nor is held any more. */
void follow_drops(struct follow *follow);
/* An event of the lease: it moved or not, or is not renewed, as its list may be over. */
void follow_hears(struct follow *follow, const redlock_event *event);
/* Masters tell that the list is over, and the next one. */
void follow_next(struct follow *follow);
/* Nothing is held, and the session's list is over: it has a client of the list in place of it from
 * now on.  False: that list is not known. */
bool follow_to_successor(struct follow *follow);
void follow_stop(struct follow *follow);

#endif
