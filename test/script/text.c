#include "text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_put(struct text *text, const char *bytes, size_t length)
{
    text->bytes = realloc(text->bytes, text->length + length + 1);
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

void text_put_text(struct text *text, const struct text *more)
{
    if (more->length)
        text_put(text, more->bytes, more->length);
}

void text_drop(struct text *text)
{
    free(text->bytes);
    *text = (struct text){0};
}

bool text_read(struct text *text, const char *path)
{
    char buffer[4096];
    size_t got;
    FILE *file = fopen(path, "r");
    text_put(text, "", 0);
    while (file && (got = fread(buffer, 1, sizeof buffer, file)) > 0)
        text_put(text, buffer, got);
    if (!file || fclose(file)) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return false;
    }
    return true;
}

bool text_write(const struct text *text, const char *path)
{
    FILE *file = fopen(path, "w");
    bool right = file && fwrite(text->bytes, 1, text->length, file) == text->length;
    if (!file || fclose(file) || !right)
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return right;
}

unsigned text_compare(const struct text *a, const struct text *b)
{
    unsigned line = 1;
    if (a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0)
        return 0;
    for (size_t i = 0; a->bytes[i] && a->bytes[i] == b->bytes[i]; i++)
        line += a->bytes[i] == '\n';
    return line;
}

const char *text_line(const struct text *text, unsigned line, size_t *length)
{
    const char *at = text->bytes;
    while (--line && *at) {
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    *length = strcspn(at, "\n");
    return at;
}

const char *text_tail(const struct text *text, unsigned lines)
{
    size_t at = text->length;
    for (unsigned seen = 0; at > 0 && seen<lines; seen += at> 0 && text->bytes[at - 1] == '\n')
        at--;
    return text->bytes + at;
}
