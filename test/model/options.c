/*
 * options.c - the command lines of the models.
 */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *command, *manual;

void options_fail(const char *what, const char *word)
{
    fprintf(stderr, "%s: %s: %s\n%s", command, what, word ? word : "", manual);
    exit(64);
}

int options_number(const char *option, const char *word, int least, int most)
{
    char *end = NULL;
    long value = word ? strtol(word, &end, 10) : 0;
    if (!word || end == word || *end || value < least || value > most)
        options_fail(option, word);
    return (int)value;
}

int options_named(const char *what, const char *word, const char *(*name_of)(int), int count)
{
    for (int i = 0; word && i < count; i++)
        if (strcmp(word, name_of(i)) == 0)
            return i;
    options_fail(what, word);
}

static bool is_flag(struct flags *flags, const char *option)
{
    bool *flag = strcmp(option, "--quiet") == 0     ? &flags->quiet
                 : strcmp(option, "--mutants") == 0 ? &flags->mutants
                 : strcmp(option, "--list") == 0    ? &flags->list
                                                    : NULL;
    if (flag)
        *flag = true;
    return flag;
}

void options_read(char **words, const char *usage, struct flags *flags,
                  void (*set)(void *wish, const char *option, const char *word), void *wish)
{
    const char *slash = strrchr(words[0], '/');
    command = slash ? slash + 1 : words[0];
    manual = usage;
    for (words++; *words; words++)
        if (!is_flag(flags, *words)) {
            set(wish, words[0], words[1]);
            words++;
        }
}
