/*
 * views.h - the views of a name that the masters tell to a look.
 */
#ifndef REDLOCK_CLIENT_VIEWS_H
#define REDLOCK_CLIENT_VIEWS_H

#include "client.h"

/* Keeps the crowds that the reply to a PEEK names. */
void views_note(redlock *client, const struct event *event);
/* Frees those of a lease, before it is freed. */
void views_forget(redlock_lease *lease);

/* The result of a look for its user. */
struct sight {
    redlock_look_result result;
    redlock_view views[REDLOCK_MASTERS_MAX];
    const redlock_view *each[REDLOCK_MASTERS_MAX];
};
/* The text is the client's, until it tells something else; the crowds are the look's. */
void views_fill(redlock *client, const redlock_lease *lease, const struct outcome *outcome,
                struct sight *sight);

#endif
