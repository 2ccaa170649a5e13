/*
 * view.h - a task as the shell has it: made, asked for news.  What happens to it between goes
 * through engine_step() (EVENT_TASK_BEGIN and END), and what it is made of is in task.h.
 *
 *   An announcer says a value on the masters while its lease holds their name.
 *   An observer learns what a quorum of masters says of a name.
 */
#ifndef REDLOCK_CORE_TASKS_VIEW_H
#define REDLOCK_CORE_TASKS_VIEW_H

#include "ground/names.h"

struct engine;

/* What an observer knows. */
enum observed {
    OBSERVED_NOT_YET, /* the masters have not answered */
    OBSERVED_SAID,    /* a quorum of masters says the same */
    OBSERVED_NOTHING, /* a quorum answered, and no quorum can say anything */
    OBSERVED_UNKNOWN  /* too few masters answer to know */
};

struct task_news {
    enum observed observed; /* of an observer */
    struct said said;       /* SAID; it stays until the next step */
    unsigned masters;       /* that say so; of an announcer, that have stored what it says */
};

/* Each is told with `owner`, and shares `names`; NULL when memory is out.  EVENT_TASK_BEGIN
 * follows. */
struct task *observer_new(struct engine *engine, struct names *names, void *owner);
/* The lease is held and has a fence; it must outlive EVENT_TASK_END. */
struct task *announcer_new(struct engine *engine, struct names *names, struct lease *lease,
                           void *owner);
/* What it is to say from the next EVENT_TASK_BEGIN on; the bytes are copied.  False when
 * memory is out; then it says what it said before. */
bool announcer_set(struct engine *engine, struct task *task, const void *value, size_t length);

void *task_owner(const struct task *task);
bool task_is_observer(const struct task *task);
/* After EFFECT_TELL_TASK: takes the news; false if there is none any more. */
bool task_tell(struct engine *engine, struct task *task, struct task_news *news);

#endif
