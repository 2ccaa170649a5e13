/*
 * task.h - a task: something that asks all masters again and again, and is no lease.
 *
 * Nothing that a lease promises rests on a task.  Its requests belong to no claim; their tags
 * bear its number, so that an answer to a task that is gone finds nobody.  A task that its
 * user has dropped stays until the last answer: the requests point into its memory.
 */
#ifndef REDLOCK_CORE_RECIPES_TASK_H
#define REDLOCK_CORE_RECIPES_TASK_H

#include "ground/names.h"
#include "ground/shared.h"
#include "recipes/view.h"

/* The functions of a kind of task; NULL: none.  tasks.c lets it work after all that it begins,
 * hears, forgets, looks at or leaves. */
struct task_kind {
    size_t size, each; /* of its struct, which begins with a task; of an entry for each master */

    void (*begin)(struct engine *engine, struct task *task);
    /* Asks the masters whose turn it is, and concludes from their answers. */
    void (*work)(struct engine *engine, struct task *task);
    void (*hear)(struct engine *engine, struct task *task, unsigned master,
                 const struct reply *reply);
    /* The master is down: when it comes up again its process may be another one. */
    void (*forget)(struct engine *engine, struct task *task, unsigned master);
    /* Something has changed on this master: `said` is new there, or, if NULL, a change may have
     * gone unheard. */
    void (*look)(struct engine *engine, struct task *task, unsigned master,
                 const struct said *said);
    /* The user, or the engine that closes, wants it to end. */
    void (*leave)(struct engine *engine, struct task *task, enum cause cause);
    /* It goes on for a task of another engine, which takes nothing back when it ends.  False: it
     * has nothing to do yet. */
    bool (*follow)(struct task *task, struct task *former);
    /* The fresh `task`, of another engine, is to go on for `former`.  False: memory is out. */
    bool (*inherit)(struct engine *engine, struct task *task, const struct task *former);
    /* Closing has taken too long: it ends at once. */
    void (*give_up)(struct engine *engine, struct task *task);
    /* The user drops it before it is over: it takes back what the masters need not keep. */
    void (*drop)(struct engine *engine, struct task *task);
    void (*free)(struct engine *engine, struct task *task); /* what its struct points to */
    bool (*tell)(struct engine *engine, struct task *task, struct task_news *news);
};

struct task {
    struct task *next, **at; /* of the tasks of the engine */
    struct indexed by_number, by_name;
    struct names *names;
    void *owner; /* of the shell */
    const struct task_kind *kind;
    uint32_t in_flight; /* requests not yet answered */
    bool begun, ended;
    bool over;            /* how it went is known, and only the user does not know it yet */
    uint16_t outstanding; /* masters (bits) that have a question to answer */
    uint16_t whole;       /* masters (bits) that have forgotten the script */
    struct deadline deadline;
};

/* A struct of this kind, all zeros behind its task; NULL when memory is out. */
struct task *task_new(struct engine *engine, const struct task_kind *kind, struct names *names,
                      void *owner);
void task_free(struct engine *engine, struct task *task);
/* Sends a request of the task, whose kind, and what goes with it, is filled in. */
void task_send(struct engine *engine, struct task *task, unsigned master, struct request *request);
/* The master has a question to answer. */
static inline bool task_is_asking(const struct task *task, unsigned master)
{
    return task->outstanding >> master & 1;
}
/* Its last request was answered: the master has forgotten the script. */
static inline bool task_needs_text(const struct task *task, unsigned master)
{
    return task->whole >> master & 1;
}
void task_wake_at(struct engine *engine, struct task *task, usec at);
void task_tell_news(struct engine *engine, struct task *task);
/* Its user has dropped it: no change of its name concerns it. */
void task_end(struct engine *engine, struct task *task);
/* NULL: it is gone. */
struct task *task_of_number(const struct engine *engine, uint32_t number);
/* Of the tasks of this name that have not ended: the one that was made last, and the one before
 * `task`; NULL if there is none. */
struct task *task_of_name(const struct engine *engine, struct slice name);
struct task *task_before(const struct task *task);
/* The task is over: the shell can tell the user how it went. */
void task_conclude(struct engine *engine, struct task *task);

/* For how long the word of a master to a party, or of a latch, counts: half of its quarantine.  The
 * words by which one party passes and another one leaves must fit into one quarantine.
 */
usec task_word_lasts(const struct engine *engine);
/* The master may be asked, and what it says counts. */
bool task_counts_on(const struct engine *engine, unsigned master);
/* The master cannot be asked, but that may soon change. */
bool task_awaits(const struct engine *engine, unsigned master);

/* How long masters are to tell of changes, in milliseconds; they are asked again before. */
#define TASK_TOLD_FOR 15000
/* After how long to ask a master again that may tell of changes. */
usec task_looks_after(const struct engine *engine, unsigned master);
/* Some task that the user has not dropped looks at changes of this name. */
bool task_looks_at(const struct engine *engine, const struct names *names);

#endif
