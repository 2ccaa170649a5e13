#include "recipes/lines.h"

#include <string.h>

void lines_drop(const struct memory *memory, struct lines *lines)
{
    if (lines->bytes)
        memory->give(memory->pool, lines->bytes, lines->length);
    *lines = (struct lines){0};
}

bool lines_make_room(const struct memory *memory, struct lines *lines, size_t length)
{
    lines_drop(memory, lines);
    if (length)
        lines->bytes = memory->take(memory->pool, length);
    lines->length = lines->bytes ? length : 0;
    return lines->length == length;
}

bool lines_keep(const struct memory *memory, struct lines *lines, struct slice bytes)
{
    if (!lines_make_room(memory, lines, bytes.length))
        return false;
    if (bytes.length)
        memcpy(lines->bytes, bytes.bytes, bytes.length);
    return true;
}
