#include "buffer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 4096

static bool grow(struct buffer *buffer, size_t size)
{
    if (size > SIZE_MAX / 2 - buffer->length)
        return false;
    size_t capacity = buffer->capacity ? buffer->capacity : FIRST_CAPACITY;
    while (capacity < buffer->length + size)
        capacity *= 2;
    char *data = realloc(buffer->data, capacity);
    if (!data)
        return false;
    buffer->data = data;
    buffer->capacity = capacity;
    return true;
}

char *buffer_reserve(struct buffer *buffer, size_t size)
{
    if (size > buffer->capacity - buffer->length && !grow(buffer, size)) {
        buffer->failed = true;
        return NULL;
    }
    return buffer->data + buffer->length;
}

void buffer_advance(struct buffer *buffer, size_t size)
{
    buffer->length += size;
}

void buffer_append(struct buffer *buffer, const void *data, size_t size)
{
    if (size == 0)
        return;
    char *to = buffer_reserve(buffer, size);
    if (!to)
        return;
    memcpy(to, data, size);
    buffer->length += size;
}

void buffer_consume(struct buffer *buffer, size_t size)
{
    buffer->length -= size;
    if (buffer->length)
        memmove(buffer->data, buffer->data + size, buffer->length);
}

void buffer_clear(struct buffer *buffer)
{
    buffer->length = 0;
    buffer->failed = false;
}

void buffer_free(struct buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct buffer){0};
}
