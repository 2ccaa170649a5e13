/*
 * resp.h - RESP.  Room is reserved beforehand: these functions only move a cursor.
 */
#ifndef REDLOCK_WIRE_RESP_H
#define REDLOCK_WIRE_RESP_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "ground/names.h"

#define FRAME_MAX ((size_t)32) /* most bytes of a bulk string or an integer beyond its own */
#define FIXED_MAX 768          /* most bytes of a request beyond names, token, login and scripts */

#define PUT(to, literal) put_bytes(to, literal, sizeof(literal) - 1)

static inline char *put_bytes(char *to, const void *bytes, size_t length)
{
    if (length)
        memcpy(to, bytes, length);
    return to + length;
}

/* "*3\r\n", "$22\r\n" */
char *put_header(char *to, char type, uint64_t number);
char *put_bulk(char *to, const void *bytes, size_t length);
char *put_integer(char *to, int64_t number);

static inline char *put_slice(char *to, struct slice slice)
{
    return put_bulk(to, slice.bytes, slice.length);
}

static inline char *put_string(char *to, const char *string)
{
    return put_slice(to, slice_of(string));
}

static inline char *put_flag(char *to, bool flag)
{
    return flag ? PUT(to, "$1\r\n1\r\n") : PUT(to, "$1\r\n0\r\n");
}

#endif
