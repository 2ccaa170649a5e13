/*
 * survey.c - goes through the keys of each master, some at a time, for the names that are held or
 * waited for.
 *
 * The survey of a master goes on when the user has its last answer, so no more than one answer of
 * each is kept.  One that goes is not asked again: its cursor is of its process.
 */
#include <stdio.h>
#include <string.h>

#include "ground/sanity.h"
#include "masters/master.h"
#include "recipes/lines.h"
#include "recipes/task.h"

#define KEYS_MOST 250 /* that one request looks at: about a millisecond of the master */

struct surveyed_at {
    char cursor[CURSOR_MAX + 1]; /* the next keys stand behind it */
    uint16_t keys;               /* how many of them it is to look at */
    bool begun;                  /* it was asked */
    bool untold; /* the user still has to learn what it said, or that it says no more */
    enum survey_end end;
    struct lines names;      /* what it said last */
    uint64_t looked_at;      /* keys, so far */
    uint64_t there_are;      /* likewise, as it said last */
    uint64_t left_out;       /* names that are too long to report */
    char why[VOTE_TEXT_MAX]; /* FAILED */
};

/* Its name is the prefix of all names that it reports. */
struct surveyor {
    struct task task;
    bool foreign;
    struct surveyed_at at[];
};

static struct surveyor *surveyor_of(struct task *task)
{
    return (struct surveyor *)(void *)task;
}

static void surveyor_fail(struct engine *e, struct surveyor *surveyor, unsigned master,
                          const char *why)
{
    struct surveyed_at *at = &surveyor->at[master];
    snprintf(at->why, sizeof at->why, "%s", why);
    at->end = SURVEY_FAILED;
    at->untold = true;
    task_tell_news(e, &surveyor->task);
}

static void surveyor_ask(struct engine *e, struct surveyor *surveyor, unsigned master)
{
    struct surveyed_at *at = &surveyor->at[master];
    at->begun = true;
    lines_drop(&e->memory, &at->names);
    task_send(e, &surveyor->task, master,
              &(struct request){.tag = {.kind = REQUEST_SURVEY},
                                .survey = {.cursor = slice_of(at->cursor),
                                           .keys = at->keys,
                                           .foreign = surveyor->foreign}});
}

static void surveyor_work(struct engine *e, struct task *task)
{
    struct surveyor *surveyor = surveyor_of(task);
    for (unsigned i = 0; i < e->config.masters; i++) {
        const struct surveyed_at *at = &surveyor->at[i];
        const struct master *master = &e->masters[i];
        if (at->end != SURVEY_GOES_ON || at->untold || task_is_asking(task, i))
            continue;
        if (master_is_up(master))
            surveyor_ask(e, surveyor, i);
        else if (!master_is_connecting(master))
            surveyor_fail(e, surveyor, i, master->trouble);
    }
}

/* Names that were left out are asked for again among fewer keys. */
static void surveyor_go_on(struct surveyed_at *at, const struct reply *reply)
{
    const struct survey_reply *told = &reply->survey;
    bool again = told->left_out > 0 && at->keys > 1;
    if (again) {
        at->keys = (uint16_t)(at->keys / 2);
        return;
    }
    memcpy(at->cursor, told->cursor.bytes, told->cursor.length);
    at->cursor[told->cursor.length] = '\0';
    at->left_out += told->left_out;
    if (strcmp(at->cursor, "0") == 0)
        at->end = SURVEY_DONE;
    bool all = at->end == SURVEY_DONE || at->looked_at + at->keys > at->there_are;
    at->looked_at = all ? at->there_are : at->looked_at + at->keys;
    at->keys = at->keys > KEYS_MOST / 2 ? KEYS_MOST : (uint16_t)(2 * at->keys);
}

static void surveyor_take(struct engine *e, struct surveyor *surveyor, unsigned master,
                          const struct reply *reply)
{
    struct surveyed_at *at = &surveyor->at[master];
    if (!lines_keep(&e->memory, &at->names, reply->survey.names)) {
        surveyor_fail(e, surveyor, master, "out of memory");
        return;
    }
    at->there_are = (uint64_t)reply->survey.keys;
    at->untold = true;
    surveyor_go_on(at, reply);
    task_tell_news(e, &surveyor->task);
}

static const char *surveyor_refusal(const struct reply *reply)
{
    bool says_why = reply->answer == ANSWER_ERROR && reply->text.length > 0;
    return says_why ? reply->text.bytes : "has forgotten the script again";
}

static void surveyor_hear(struct engine *e, struct task *task, unsigned master,
                          const struct reply *reply)
{
    struct surveyor *surveyor = surveyor_of(task);
    ASSERT(surveyor->at[master].end == SURVEY_GOES_ON);
    if (reply->answer == ANSWER_YES)
        surveyor_take(e, surveyor, master, reply);
    else if (!task_needs_text(task, master))
        surveyor_fail(e, surveyor, master, surveyor_refusal(reply));
}

/* The user has its answers so far; the rest is not known. */
static void surveyor_forget(struct engine *e, struct task *task, unsigned master)
{
    struct surveyor *surveyor = surveyor_of(task);
    struct surveyed_at *at = &surveyor->at[master];
    if (at->begun && at->end == SURVEY_GOES_ON)
        surveyor_fail(e, surveyor, master, "the connection ended");
}

static bool surveyor_tell(struct engine *e, struct task *task, struct task_news *news)
{
    struct surveyor *surveyor = surveyor_of(task);
    unsigned master = 0;
    while (master < e->config.masters && !surveyor->at[master].untold)
        master++;
    if (master == e->config.masters)
        return false;
    struct surveyed_at *at = &surveyor->at[master];
    at->untold = false;
    news->survey = (struct survey_news){.master = master,
                                        .end = at->end,
                                        .names = lines_all(&at->names),
                                        .looked_at = at->looked_at,
                                        .there_are = at->there_are,
                                        .left_out = at->left_out,
                                        .why = at->why};
    return true;
}

static void surveyor_free(struct engine *e, struct task *task)
{
    struct surveyor *surveyor = surveyor_of(task);
    for (unsigned i = 0; i < e->config.masters; i++)
        lines_drop(&e->memory, &surveyor->at[i].names);
}

static const struct task_kind SURVEYOR = {.size = sizeof(struct surveyor),
                                          .each = sizeof(struct surveyed_at),
                                          .work = surveyor_work,
                                          .hear = surveyor_hear,
                                          .forget = surveyor_forget,
                                          .free = surveyor_free,
                                          .tell = surveyor_tell};

struct task *surveyor_new(struct engine *e, struct names *begins, bool foreign, void *owner)
{
    struct task *task = task_new(e, &SURVEYOR, begins, owner);
    if (!task)
        return NULL;
    struct surveyor *surveyor = surveyor_of(task);
    surveyor->foreign = foreign;
    for (unsigned i = 0; i < e->config.masters; i++) {
        surveyor->at[i].cursor[0] = '0';
        surveyor->at[i].keys = KEYS_MOST;
    }
    return task;
}
