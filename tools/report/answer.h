/*
 * answer.h - what the masters say of one name, and what that means.
 */
#ifndef REDLOCK_TOOLS_ANSWER_H
#define REDLOCK_TOOLS_ANSWER_H

#include "votes.h"

struct answer {
    const char *state; /* a constant: "held", "partly held", ... */
    struct holding holdings[REDLOCK_MASTERS_MAX];
    unsigned count;    /* of holdings */
    unsigned answered; /* masters */
};

struct answer answer_judge(const redlock_look_result *result);
bool answer_is(const struct answer *answer, const char *state);
/* No master was left out because a quorum had answered. */
bool answer_is_whole(const redlock_look_result *result);

/* The lines of `redlock status` about the name, without those of each master and with them, and
 * the document of it. */
void answer_show_short(struct text *out, const redlock_name *name,
                       const redlock_look_result *result);
void answer_show(struct text *out, const redlock_name *name, const redlock_look_result *result);
void answer_json(struct text *out, const redlock_name *name, const redlock_look_result *result);

/* A text that is the same as long as nothing has changed but times.  A master that was not waited
 * for is taken to say what it said `before`, in the text of the answer before, or an empty one. */
void answer_mark(struct text *out, const struct text *before, const redlock_look_result *result);

#endif
