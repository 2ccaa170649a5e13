/*
 * tasks.h - all tasks of an engine: what happens to the engine happens to each of them.
 */
#ifndef REDLOCK_CORE_RECIPES_TASKS_H
#define REDLOCK_CORE_RECIPES_TASKS_H

#include "recipes/task.h"

/* It begins, or was given something else to do. */
void tasks_begin(struct engine *engine, struct task *task);
/* Frees the task, or when its last answer has come. */
void tasks_end(struct engine *engine, struct task *task);
/* `task` goes on for `former`, which ends. */
void tasks_go_over(struct engine *from, struct task *former, struct engine *to, struct task *task);
void tasks_hear(struct engine *engine, unsigned master, const struct reply *reply);
void tasks_wake(struct engine *engine, struct task *task);
/* A master has come up, or has ceased to abstain. */
void tasks_look(struct engine *engine);
void tasks_master_down(struct engine *engine, unsigned master);
void tasks_push(struct engine *engine, unsigned master, const struct push *push);
/* Pushes that were sent before the subscription was made have reached nobody. */
void tasks_subscribed(struct engine *engine, unsigned master);
/* A party leaves its barrier, a call about a latch ends: its user wants that, or the engine
 * closes. */
void tasks_leave(struct engine *engine, struct task *task);
void tasks_close(struct engine *engine);
/* Closing has taken too long. */
void tasks_give_up(struct engine *engine);
/* Some user does not know yet how its task ended. */
bool tasks_are_owed(const struct engine *engine);
/* Some task asks masters, or awaits their answers; one that has ended waits for its user alone. */
bool tasks_are_busy(const struct engine *engine);
void tasks_free(struct engine *engine);

#endif
