/*
 * questions.h - the command of a model that is asked several questions, each about a world of its
 * own, with its rules as they are or one of them broken.
 */
#ifndef MODEL_QUESTIONS_H
#define MODEL_QUESTIONS_H

#include "search.h"

/* A rule that is broken; the first of a model is none. */
struct mutant_text {
    const char *name, *text;
    int question;     /* which finds it */
    bool is_harmless; /* another rule keeps it from doing harm */
};

/* A number of the model's rules, an int. */
struct rules_number {
    const char *option;
    size_t offset;
    int least, most;
};

enum { RULES_SIZE = 64, RULES_NUMBERS = 12 };

struct questions {
    const char *usage;
    const char *const *names; /* of the questions */
    int count;
    const struct mutant_text *mutants;
    int mutants_count;
    const struct rules_number *numbers;
    int numbers_count; /* at most RULES_NUMBERS */
    /* Writes the rules, of at most RULES_SIZE bytes, with which a question is asked. */
    void (*rules_for)(int question, int mutant, void *rules);
    struct model (*model_of)(const void *rules);
    void (*print_story)(const struct search *search);
};

/* Reads the words of the command and does what they say; returns its status. */
int questions_ask(const struct questions *questions, char **words);

#endif
