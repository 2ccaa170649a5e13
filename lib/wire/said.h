/*
 * said.h - what is said of a name, as the masters keep it and publish it.
 */
#ifndef REDLOCK_WIRE_SAID_H
#define REDLOCK_WIRE_SAID_H

#include "ground/event.h"

/* These point into `text`.  False if it is no such text. */
bool said_read(const char *text, size_t length, struct said *said);
bool said_read_push(const char *text, const char *end, struct push *push);

#endif
