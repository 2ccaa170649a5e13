/*
 * crowds.h - the holders, readers and waiters of a name, by a look.
 */
#ifndef REDLOCK_TOOLS_CROWDS_H
#define REDLOCK_TOOLS_CROWDS_H

#include "votes.h"

/* All masters are to answer, and to tell as many tokens as they can. */
extern const redlock_look_options look_at_all;

/* A look in the words of an event, for what is said alike of both. */
struct seen {
    redlock_event event;
    redlock_vote votes[REDLOCK_MASTERS_MAX];
    const redlock_vote *each[REDLOCK_MASTERS_MAX];
};
void look_as_event(const redlock_look_result *result, struct seen *seen);
unsigned look_holdings(const redlock_look_result *result,
                       struct holding holdings[REDLOCK_MASTERS_MAX]);

/* The readers of the name; none if it is held exclusively, or permits of it are out. */
redlock_crowd look_readers(const redlock_look_result *result);
/* The waiters for the name, as most of the masters with a holder for it say. */
redlock_crowd look_waiters(const redlock_look_result *result);

bool crowd_names(const redlock_crowd *crowd, const char *token);
/* The whole value of a token without its label, among those who read the name or have permits, as
 * the master tells; NULL: it does not tell it. */
const char *view_find_member(const redlock_view *view, const char *token);
/* As view_find_member(), of the first master that tells it. */
const char *look_find_member(const redlock_look_result *result, const char *token);
/* The whole value of a token without its label: of the holder that most masters name, or of a
 * member; NULL if nobody has it. */
const char *look_value_of(const redlock_look_result *result, const char *token);

/* The label of a token, or all of it where there is none. */
void who_show(struct text *out, const char *token);

#endif
