#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

static void make_room(struct text *text, size_t more)
{
    size_t needed = text->length + more + 1;
    if (needed <= text->room)
        return;
    size_t room = needed * 2;
    text->bytes = memory_or_end(realloc(text->bytes, room));
    text->room = room;
}

void text_add(struct text *text, const void *bytes, size_t length)
{
    make_room(text, length);
    if (length > 0)
        memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = 0;
}

void text_vformat(struct text *text, const char *format, va_list values)
{
    va_list again;
    va_copy(again, values);
    int length = vsnprintf(NULL, 0, format, values);
    if (length > 0) {
        make_room(text, (size_t)length);
        vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
}

void text_format(struct text *text, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    text_vformat(text, format, values);
    va_end(values);
}

void text_free(struct text *text)
{
    free(text->bytes);
    *text = (struct text){0};
}

/* Length as the first byte claims it, and the smallest code point that needs it:
 * anything below is an overlong form. */
static size_t claimed_length(unsigned char first, unsigned *bits, unsigned *smallest)
{
    if ((first & 0xE0) == 0xC0) {
        *bits = first & 0x1F;
        *smallest = 0x80;
        return 2;
    }
    if ((first & 0xF0) == 0xE0) {
        *bits = first & 0x0F;
        *smallest = 0x800;
        return 3;
    }
    if ((first & 0xF8) == 0xF0) {
        *bits = first & 0x07;
        *smallest = 0x10000;
        return 4;
    }
    return 0;
}

size_t utf8_length(const unsigned char *bytes, size_t left)
{
    unsigned point = 0;
    unsigned smallest = 0;
    if (left > 0 && bytes[0] < 0x80)
        return 1;
    size_t length = left > 0 ? claimed_length(bytes[0], &point, &smallest) : 0;
    if (length == 0 || length > left)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xC0) != 0x80)
            return 0;
        point = point << 6 | (bytes[i] & 0x3F);
    }
    bool surrogate = point >= 0xD800 && point <= 0xDFFF;
    return point < smallest || point > 0x10FFFF || surrogate ? 0 : length;
}

unsigned utf8_point(const unsigned char *bytes, size_t length)
{
    unsigned point = 0;
    unsigned smallest = 0;
    if (length == 1)
        return bytes[0];
    claimed_length(bytes[0], &point, &smallest);
    for (size_t i = 1; i < length; i++)
        point = point << 6 | (bytes[i] & 0x3F);
    return point;
}

bool utf8_steers(const unsigned char *bytes, size_t length)
{
    unsigned point = utf8_point(bytes, length);
    bool control = point < 0x20 || (point >= 0x7F && point < 0xA0);
    bool mark = point == 0x061C || point == 0x200E || point == 0x200F;
    bool line_or_embedding = point >= 0x2028 && point <= 0x202E;
    bool isolate = point >= 0x2066 && point <= 0x2069;
    return control || mark || line_or_embedding || isolate;
}

static void add_escaped(struct text *text, const unsigned char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        text_format(text, "\\x%02x", bytes[i]);
}

void text_shown(struct text *text, const void *bytes, size_t length)
{
    const unsigned char *from = bytes;
    const unsigned char *end = from + length;
    while (from < end) {
        size_t step = utf8_length(from, (size_t)(end - from));
        if (step > 0 && !utf8_steers(from, step)) {
            text_add(text, from, step);
        } else {
            step = step > 0 ? step : 1;
            add_escaped(text, from, step);
        }
        from += step;
    }
}

size_t utf8_cut(const char *bytes, size_t length, size_t most)
{
    if (length <= most)
        return length;
    while (most > 0 && ((unsigned char)bytes[most] & 0xC0) == 0x80)
        most--;
    return most;
}
