/*
 * options.h - the command lines of the models.
 */
#ifndef MODEL_OPTIONS_H
#define MODEL_OPTIONS_H

#include <stdbool.h>

struct flags {
    bool quiet, mutants, list;
};

/* Reads the command's flags; every other option, with the word behind it, goes to set(). */
void options_read(char **words, const char *usage, struct flags *flags,
                  void (*set)(void *wish, const char *option, const char *word), void *wish);

/* Says what is wrong and how to use the command, and ends it. */
_Noreturn void options_fail(const char *what, const char *word);

int options_number(const char *option, const char *word, int least, int most);

/* Which of `count` names the word is; fails if it is none. */
int options_named(const char *what, const char *word, const char *(*name_of)(int), int count);

#endif
