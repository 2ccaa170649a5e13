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

enum task_kind { TASK_ANNOUNCER, TASK_OBSERVER, TASK_PARTY, TASK_LATCHER, TASK_SURVEYOR };

struct task {
    struct task *next;
    struct names *names;
    void *owner; /* of the shell */
    enum task_kind kind;
    uint32_t number;
    uint32_t in_flight; /* requests not yet answered */
    bool begun, ended;
    uint16_t outstanding; /* masters (bits) that have a question to answer */
    uint16_t whole;       /* masters (bits) that have forgotten the script */
    struct deadline deadline;
};

/* `size` bytes that begin with a task, one entry of `each` bytes for each master behind them. */
struct task *task_new(struct engine *engine, enum task_kind kind, size_t size, size_t each,
                      struct names *names, void *owner);
/* Sends a request of the task, whose kind, and what goes with it, is filled in. */
void task_send(struct engine *engine, struct task *task, unsigned master, struct request *request);
/* Its last request was answered: the master has forgotten the script. */
static inline bool task_needs_text(const struct task *task, unsigned master)
{
    return task->whole >> master & 1;
}
/* For how long what a master has said to a party, or of a latch, counts: half of what its
 * quarantine lasts, as what one party passes by and what another one leaves by must fit into one.
 */
usec task_word_lasts(const struct engine *engine);
/* The master may be asked, and what it says counts. */
bool task_counts_on(const struct engine *engine, unsigned master);
void task_wake_at(struct engine *engine, struct task *task, usec at);
void task_has_news(struct engine *engine, struct task *task);

#endif
