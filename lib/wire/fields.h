/*
 * fields.h - the fields of a reply: which kind they are of, and what they say.
 */
#ifndef REDLOCK_WIRE_FIELDS_H
#define REDLOCK_WIRE_FIELDS_H

#include <stdlib.h>
#include <string.h>

#include "numbers.h"
#include "raw_reply.h"

static inline bool is_lone(const struct raw_reply *raw, enum field_kind kind)
{
    return !raw->is_array && raw->fields[0].kind == kind;
}

static inline bool is_whole_string(const struct field *field)
{
    return field->kind == FIELD_STRING && !field->integer;
}

/* An integer from 0 to 2^53, as such or in decimal. */
static inline bool get_integer(const struct raw_reply *raw, unsigned index, int64_t *integer)
{
    const struct field *field = &raw->fields[index];
    if (field->kind == FIELD_INTEGER) {
        *integer = field->integer;
    } else if (field->kind == FIELD_STRING && field->length > 0 && field->length <= 16) {
        char *end;
        *integer = strtoll(field->text, &end, 10);
        if (end != field->text + field->length)
            return false;
    } else {
        return false;
    }
    return *integer >= 0 && *integer <= INTEGER_MAX;
}

static inline bool is_text(const struct raw_reply *raw, unsigned index, const char *text)
{
    const struct field *field = &raw->fields[index];
    return field->kind == FIELD_STRING && field->length == strlen(text) &&
           memcmp(field->text, text, field->length) == 0;
}

#endif
