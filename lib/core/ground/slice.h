/*
 * slice.h - bytes that somebody else owns.
 */
#ifndef REDLOCK_CORE_SLICE_H
#define REDLOCK_CORE_SLICE_H

#include <stddef.h>

struct slice {
    const char *bytes;
    size_t length;
};

#endif
