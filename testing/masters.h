/*
 * masters.h - the masters of this process: the model, with what befalls a master, and the texts of
 * names and tokens.
 *
 * Everything here is under one lock, which the functions of double.h and redlock/testing.h take.
 */
#ifndef TESTING_MASTERS_H
#define TESTING_MASTERS_H

#include "model_master.h"
#include "texts.h"

struct inside {
    struct model_master model;
    bool used; /* since masters_begin() */
    bool up;
    bool hangs;   /* it takes connections and commands, and carries none out */
    bool is_cut;  /* nothing passes, either way */
    bool lies;    /* it gives a name away that somebody has */
    usec stepped; /* its wall clock, from the true one */
};

extern struct inside masters[MASTERS_MAX];
extern struct texts names, tokens, channels;

void masters_lock(void);
void masters_unlock(void);
/* All of them are up, for a day, and know nothing. */
void masters_begin(void);
/* Once, before anything else is done with them. */
void masters_are_needed(void);

/* The master's wall clock. */
usec master_wall(const struct inside *master);
void master_execute(struct inside *master, const struct model_call *call,
                    struct model_answer *answer);
/* Starts again, with its data or without. */
void master_restart(struct inside *master, bool with_data);
/* As FLUSHALL. */
void master_forget(struct inside *master);

/* Before a command is read: makes room for the texts of one, by those that no master needs. */
void masters_sweep(void);

#endif
