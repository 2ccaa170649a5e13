/*
 * text.h - a text that grows, and how foreign bytes are shown in it.
 *
 * Memory that runs out ends the process (EXIT_INTERNAL): nothing useful can be
 * said without it, and the kernel ends the command of `redlock run` with us.
 */
#ifndef REDLOCK_TOOLS_TEXT_H
#define REDLOCK_TOOLS_TEXT_H

#include <stdarg.h>
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
 * is added as \xNN, so that it cannot steer a terminal. */
void text_shown(struct text *text, const void *bytes, size_t length);

/* Bytes of the UTF-8 character at `bytes`, 0 if there is no valid one. */
size_t utf8_length(const unsigned char *bytes, size_t left);

#endif
