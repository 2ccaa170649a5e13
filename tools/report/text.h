/*
 * text.h - a text that grows, and how foreign bytes are shown in it.
 *
 * Without memory the process ends, as memory.h says.
 */
#ifndef REDLOCK_TOOLS_TEXT_H
#define REDLOCK_TOOLS_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct text {
    char *bytes; /* always ends with a NUL once something was added */
    size_t length, room;
};

void text_add(struct text *text, const void *bytes, size_t length);
void text_format(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vformat(struct text *text, const char *format, va_list values)
    __attribute__((format(printf, 2, 0)));
void text_free(struct text *text);

/* Names, labels and error texts come from elsewhere: what is no printable UTF-8
 * is added as \xNN, so that it cannot steer a terminal, nor turn the line round. */
void text_shown(struct text *text, const void *bytes, size_t length);

/* The code point of the valid UTF-8 character. */
unsigned utf8_point(const unsigned char *bytes, size_t length);

/* True for a valid UTF-8 character that steers a terminal: a control character (up to U+001F,
 * U+007F to U+009F), an end of line, a change of direction. */
bool utf8_steers(const unsigned char *bytes, size_t length);

/* How many of the bytes, `most` at the most, end between two characters. */
size_t utf8_cut(const char *bytes, size_t length, size_t most);

/* Bytes of the UTF-8 character at `bytes`, 0 if there is no valid one. */
size_t utf8_length(const unsigned char *bytes, size_t left);

#endif
