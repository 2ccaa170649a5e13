/*
 * numbers.h - the numbers that masters tell.
 */
#ifndef REDLOCK_WIRE_NUMBERS_H
#define REDLOCK_WIRE_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define INTEGER_MAX (1LL << 53)          /* the largest number that Lua can tell exactly */
#define LEFT_MOST   (INTEGER_MAX / 1000) /* ms: far beyond any ttl, and no sum with it overflows */

/* 1 to 16 digits, 1 to 2^53 */
static inline bool get_digits(const char *text, size_t length, int64_t *number)
{
    if (length == 0 || length > 16 || strspn(text, "0123456789") != length)
        return false;
    *number = strtoll(text, NULL, 10);
    return *number > 0 && *number <= INTEGER_MAX;
}

#endif
