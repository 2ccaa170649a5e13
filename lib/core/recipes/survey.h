/*
 * survey.h - which names are held or waited for on each master.
 */
#ifndef REDLOCK_CORE_RECIPES_SURVEY_H
#define REDLOCK_CORE_RECIPES_SURVEY_H

#include "recipes/lines.h"
#include "recipes/task.h"

struct surveyed_at {
    char cursor[CURSOR_MAX + 1]; /* the next keys stand behind it */
    uint16_t keys;               /* how many of them it is to look at */
    bool begun;                  /* it was asked */
    bool untold;                 /* what it said, or that it says no more, is yet to be told */
    enum survey_end end;
    struct lines names;      /* what it said last */
    uint64_t looked_at;      /* keys, so far */
    uint64_t there_are;      /* likewise, as it said last */
    uint64_t left_out;       /* names that are too long to be told */
    char why[VOTE_TEXT_MAX]; /* FAILED */
};

/* Its name is what all names that it is told begin with. */
struct surveyor {
    struct task task;
    bool foreign;
    struct surveyed_at at[];
};

void surveyor_work(struct engine *engine, struct surveyor *surveyor);
void surveyor_hear(struct engine *engine, struct surveyor *surveyor, unsigned master,
                   const struct reply *reply);
void surveyor_forget(struct engine *engine, struct surveyor *surveyor, unsigned master);
void surveyor_free(struct engine *engine, struct surveyor *surveyor);
bool surveyor_tell(struct engine *engine, struct surveyor *surveyor, struct task_news *news);

#endif
