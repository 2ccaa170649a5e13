/*
 * lines.h - texts of several lines, as masters list tokens.
 */
#ifndef REDLOCK_CORE_RECIPES_LINES_H
#define REDLOCK_CORE_RECIPES_LINES_H

#include <string.h>

#include "ground/names.h"

/* A text that is kept. */
struct lines {
    char *bytes; /* NULL: there are none */
    size_t length;
};

/* Makes room for `length` bytes in place of those that were kept; false if memory is out: then none
 * are kept. */
bool lines_make_room(const struct memory *memory, struct lines *lines, size_t length);
/* Makes room for the bytes likewise, and copies them. */
bool lines_keep(const struct memory *memory, struct lines *lines, struct slice bytes);
void lines_drop(const struct memory *memory, struct lines *lines);

static inline struct slice lines_all(const struct lines *lines)
{
    return lines->bytes ? (struct slice){lines->bytes, lines->length} : (struct slice){"", 0};
}

/* Takes the next line off the front; false if there is none. */
static inline bool lines_next(struct slice *lines, struct slice *line)
{
    if (!lines->length)
        return false;
    const char *end = memchr(lines->bytes, '\n', lines->length);
    line->bytes = lines->bytes;
    line->length = end ? (size_t)(end - lines->bytes) : lines->length;
    size_t taken = line->length + (end != NULL);
    lines->bytes += taken;
    lines->length -= taken;
    return true;
}

#endif
