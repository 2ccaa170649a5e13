/*
 * wanted.h - a `redlock run` hears that somebody wishes to have its lock: --on-wanted,
 * --yield-when-wanted.  It also hears at once that its lock was broken.
 */
#ifndef REDLOCK_TOOLS_WANTED_H
#define REDLOCK_TOOLS_WANTED_H

#include <ev.h>

#include "alarm.h"
#include "redlock/recipes.h"
#include "session.h"

#define WANTED_COMMANDS 8 /* that run at once */

struct wanted {
    struct session *session;
    redlock_lease *lease;
    redlock_heeder *heeder;                     /* NULL: it hears of nothing */
    ev_timer watch;                             /* then it begins to, without wishes */
    char **environment;                         /* of the command of --on-wanted */
    void (*yield)(void *data, const char *who); /* called when it is time to let go */
    void *data;
    int64_t not_before; /* boot_ms(): a wish that comes sooner is granted then (--at-least) */
    struct alarm later;
    bool waits;                         /* for that time */
    char who[REDLOCK_TOKEN_SIZE];       /* whose wish waits */
    ev_child commands[WANTED_COMMANDS]; /* those of --on-wanted that run; pid 0: none */
};

/* The lease is held from now on. */
void wanted_start(struct wanted *wanted, redlock_lease *lease);
void wanted_stop(struct wanted *wanted);
/* The lease is another client's now, if there is one that is held: masters of that client tell. */
void wanted_go_over(struct wanted *wanted);
/* The process is about to end: its commands of --on-wanted end, too. */
void wanted_end(struct wanted *wanted);

#endif
