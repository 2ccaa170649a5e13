/*
 * spelling.h - replies as people write them: "[1 'a b' nil +OK !'ERR no']" is an array of an
 * integer, a string, nothing, a status and an error.
 */
#ifndef REDLOCK_TEST_SPELLING_H
#define REDLOCK_TEST_SPELLING_H

#include <stdio.h>

#include "unit.h"

/* Returns what is behind the word. */
static const char *spell_word(FILE *bytes, const char *word)
{
    const char *kind = *word == '+' || *word == '!' ? word++ : NULL;
    bool is_quoted = *word == '\'';
    word += is_quoted;
    int length = (int)strcspn(word, is_quoted ? "'" : " ]");
    if (kind)
        fprintf(bytes, "%c%.*s\r\n", *kind == '!' ? '-' : '+', length, word);
    else if (is_quoted)
        fprintf(bytes, "$%d\r\n%.*s\r\n", length, length, word);
    else
        fprintf(bytes, *word == 'n' ? "$-1\r\n" : ":%.*s\r\n", length, word);
    return word + length + is_quoted;
}

static void spell_array(FILE *bytes, const char *words)
{
    unsigned count = 0;
    char *fields;
    size_t size;
    FILE *written = open_memstream(&fields, &size);
    for (; *words != ']'; words += strspn(words, " ")) {
        words = spell_word(written, words);
        count++;
    }
    fclose(written);
    fprintf(bytes, "*%u\r\n%s", count, fields);
    free(fields);
}

/* The caller frees it.  Words with the ends of RESP's lines are spelt already. */
static char *spell(const char *words)
{
    char *reply;
    size_t size;
    FILE *bytes = open_memstream(&reply, &size);
    if (strchr(words, '\r'))
        fputs(words, bytes);
    else if (*words == '[')
        spell_array(bytes, words + 1);
    else
        spell_word(bytes, words);
    fclose(bytes);
    return reply;
}

/* Copies the first of "1 | [2 nil] | 'a'" to `words`, and goes on to the next; false: there is
 * none. */
static bool next_of(const char **list, char words[static 300])
{
    size_t length = strcspn(*list, "|");
    if (!length)
        return false;
    snprintf(words, 300, "%.*s", (int)length, *list);
    *list += length;
    *list += strspn(*list, "| ");
    return true;
}

#endif
