/*
 * remedy.h - what to do about what a master, or its connection, says.
 */
#ifndef REDLOCK_TOOLS_REMEDY_H
#define REDLOCK_TOOLS_REMEDY_H

/* A constant, without a newline; NULL if the words say all that is known. */
const char *remedy_for(const char *words);

#endif
