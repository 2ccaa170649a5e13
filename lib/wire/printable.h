/*
 * printable.h - what masters say, as a terminal can show it.
 */
#ifndef REDLOCK_WIRE_PRINTABLE_H
#define REDLOCK_WIRE_PRINTABLE_H

#include <stddef.h>

static inline void make_printable(char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] < ' ' || text[i] > '~')
            text[i] = '?';
}

#endif
