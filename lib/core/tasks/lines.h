/*
 * lines.h - texts of several lines, as masters list tokens.
 */
#ifndef REDLOCK_CORE_TASKS_LINES_H
#define REDLOCK_CORE_TASKS_LINES_H

#include "ground/names.h"

/* Takes the next line off the front; false if there is none. */
static inline bool lines_next(struct slice *lines, struct slice *line)
{
    if (!lines->length)
        return false;
    line->bytes = lines->bytes;
    line->length = 0;
    while (line->length < lines->length && lines->bytes[line->length] != '\n')
        line->length++;
    size_t taken = line->length + (line->length < lines->length);
    lines->bytes += taken;
    lines->length -= taken;
    return true;
}

#endif
