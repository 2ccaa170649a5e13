/*
 * memory.h - the core's memory, from the C library.
 */
#ifndef REDLOCK_CLIENT_MEMORY_H
#define REDLOCK_CLIENT_MEMORY_H

#include "engine.h"

extern const struct memory client_memory;

#endif
