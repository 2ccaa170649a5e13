/*
 * buffer.h - bytes that wait to be written.  Keeps its memory between uses.
 */
#ifndef REDLOCK_WIRE_BUFFER_H
#define REDLOCK_WIRE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

struct buffer {
    char *data;
    size_t length;
    size_t capacity;
    bool failed; /* memory was out: the bytes in it are not complete */
};

/* Makes room for `size` more bytes, which the caller fills and then counts with buffer_advance();
 * NULL if memory is out. */
char *buffer_reserve(struct buffer *buffer, size_t size);
void buffer_advance(struct buffer *buffer, size_t size);
void buffer_append(struct buffer *buffer, const void *data, size_t size);
/* Drops the first `size` bytes. */
void buffer_consume(struct buffer *buffer, size_t size);
void buffer_clear(struct buffer *buffer);
void buffer_free(struct buffer *buffer);

#endif
