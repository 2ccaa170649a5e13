/*
 * sync_recipe.h - a call of a recipe, for a thread that waits.  If its list of masters is over, it
 * is asked anew, by the next one, for the rest of its time.
 */
#ifndef REDLOCK_SYNC_RECIPE_H
#define REDLOCK_SYNC_RECIPE_H

#include "sync_client.h"
#include "sync_report.h"

struct recipe_call {
    struct call call;
    redlock_sync *client;
    const char *name;
    /* Asks redlock.h, with `options`. */
    redlock_code (*ask)(redlock *redlock, struct recipe_call *recipe);
    const void *options; /* `rest`; of the first call, the user's if they cannot be read */
    void *rest;          /* ours, which begin with their size */
    int64_t *timeout_ms; /* in `rest` */
    int64_t wait_ms;
};

/* The structs of a recipe: its options, and what it tells. */
struct recipe_kinds {
    struct sized options, told;
};

/* Any thread: carries the call out with the user's options and fills `told`, which is the user's
 * too, from `own`.  Both may be NULL.  Options may point into `told`: it is written when they are
 * read no more. */
redlock_code sync_recipe(redlock_sync *client, struct recipe_call *recipe,
                         const struct recipe_kinds *kinds, const void *options, void *told,
                         const void *own);
/* The background thread: the call has ended so.  It is asked anew with `rest`, if it may be and its
 * list is over; else it is finished. */
void sync_recipe_end(struct recipe_call *recipe, bool may_ask_anew, redlock_code code,
                     const char *text);

#endif
