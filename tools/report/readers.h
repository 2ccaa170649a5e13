/*
 * readers.h - a name that is shared: its value is a marker, and its readers are told beside that.
 */
#ifndef REDLOCK_TOOLS_READERS_H
#define REDLOCK_TOOLS_READERS_H

#include "votes.h"

/* The readers of the name; none if it is held exclusively, or permits of it are out. */
struct waiters votes_readers(const redlock_event *event);

/* Finds the whole value of a token without its label among the readers that the masters name;
 * false if no master names it. */
bool votes_find_reader(const redlock_event *event, const char *token, struct text *value);

/* The label of a token, or all of it where there is none. */
void who_show(struct text *out, const char *token, size_t length);

#endif
