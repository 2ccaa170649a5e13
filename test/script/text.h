/*
 * text.h - a text that grows: a scenario as its file has it, or as it should be.
 */
#ifndef REDLOCK_TEST_TEXT_H
#define REDLOCK_TEST_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct text {
    char *bytes; /* NULL, or with '\0' behind the last one */
    size_t length;
};

void text_put(struct text *text, const char *bytes, size_t length);
void text_put_text(struct text *text, const struct text *more);
void text_drop(struct text *text);

/* These say on stderr what went wrong. */
bool text_read(struct text *text, const char *path);
bool text_write(const struct text *text, const char *path);

/* The line in which two texts differ first, counted from 1; 0: they are the same. */
unsigned text_compare(const struct text *a, const struct text *b);
/* That line, or "" behind the last one; its length goes to `length`. */
const char *text_line(const struct text *text, unsigned line, size_t *length);
/* Where the last lines begin. */
const char *text_tail(const struct text *text, unsigned lines);

#endif
