/*
 * view.h - a task as the shell has it: made, asked for news.  What happens to it between goes
 * through engine_step() (EVENT_TASK_BEGIN and END), and what it is made of is in task.h.
 *
 *   An announcer says a value on the masters while its lease holds their name.
 *   An observer learns what a quorum of masters says of a name.
 *   A party arrives at a barrier, and waits until all parties have.
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

/* How it went at a barrier. */
enum passage {
    PASSAGE_NONE, /* not yet told */
    PASSAGE_PASSED,
    PASSAGE_NOT, /* it did not pass, and no party passes that counted it */
    PASSAGE_UNKNOWN
};

struct task_news {
    enum observed observed; /* of an observer */
    struct said said;       /* SAID; it stays until the next step */
    unsigned masters;       /* that say so; of an announcer, that have stored what it says; of a
                               party, that have answered well */
    enum passage passage;   /* of a party */
    enum cause cause;  /* why it left: CANCELLED, CLOSED; UNAVAILABLE: no quorum was heard of for
                          long; HELD: others wait for another number; NONE: its time was over */
    unsigned arrived;  /* of a party: most parties that a master counts */
    unsigned others;   /* HELD: the number that others wait for */
    const char *token; /* of a party; it stays until the task ends */
};

/* The terms on which a party arrives; times in microseconds. */
struct barrier_terms {
    int64_t generation;
    unsigned parties;
    usec ttl;  /* it is counted for so long after it was last heard of */
    usec wait; /* NEVER: for ever */
};

/* Each is told with `owner`, and shares `names`; NULL when memory is out.  EVENT_TASK_BEGIN
 * follows. */
struct task *observer_new(struct engine *engine, struct names *names, void *owner);
/* The lease is held and has a fence; it must outlive EVENT_TASK_END. */
struct task *announcer_new(struct engine *engine, struct names *names, struct lease *lease,
                           void *owner);
/* `token` is that of an earlier call, or NULL. */
struct task *party_new(struct engine *engine, struct names *names,
                       const struct barrier_terms *terms, const char *token, void *owner);
/* What it is to say from the next EVENT_TASK_BEGIN on; the bytes are copied.  False when
 * memory is out; then it says what it said before. */
bool announcer_set(struct engine *engine, struct task *task, const void *value, size_t length);

void *task_owner(const struct task *task);
/* After EFFECT_TELL_TASK: takes the news; false if there is none any more. */
bool task_tell(struct engine *engine, struct task *task, struct task_news *news);

#endif
