/*
 * nested.h - a `redlock run` in the command of another one, for a name that this one holds: it
 * would wait for itself.
 *
 * The environment tells the names and the token of the `run` around us.  It may be of one that has
 * ended, or be about other masters, so these are asked who has the name.
 */
#ifndef REDLOCK_TOOLS_NESTED_H
#define REDLOCK_TOOLS_NESTED_H

#include "session.h"

struct nested {
    struct session *session;
    const char *token; /* of the `run` around us */
    const redlock_name *name;
    redlock_look *look;
    bool is_whole; /* all our names are among its names */
    void (*told)(void *data, bool is_held);
    void *data;
};

/* Calls `told` once, later.  False: there is nothing to ask. */
bool nested_ask(struct nested *nested, struct session *session,
                void (*told)(void *data, bool is_held), void *data);

/* Tells that the name is held by the `run` around us, and why our command does not join it. */
void nested_refuse(const struct nested *nested);

/* Our process becomes the command, under the lock that is held already. */
int nested_join(char **command);

#endif
