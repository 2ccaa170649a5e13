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

/* A number of the model's rules, an int.  The words go on from "least to most". */
struct rules_number {
    const char *option;
    size_t offset;
    int least, most;
    const char *words;
};

enum { RULES_SIZE = 64, RULES_NUMBERS = 12 };

struct questions {
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

/* A model has its struct rules, world and step, its functions by these names, and its mutants and
 * questions in rules.c. */
#define MODEL(prefix, the_rules, the_words)                                                        \
    (struct model)                                                                                 \
    {                                                                                              \
        .rules = (the_rules), .words = (the_words), .begin = prefix##_begin,                       \
        .steps = prefix##_steps, .pack = prefix##_pack, .unpack = prefix##_unpack,                 \
        .world_size = sizeof(struct world), .wrong_at = offsetof(struct step, wrong)               \
    }

/* Its program, with the model_of() and the numbers that stand before it. */
#define MODEL_MAIN                                                                                 \
    static void fill_rules(int question, int mutant, void *rules)                                  \
    {                                                                                              \
        *(struct rules *)rules = rules_for((enum question)question, (enum mutant)mutant);          \
    }                                                                                              \
                                                                                                   \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        static const struct questions questions = {.names = question_names,                        \
                                                   .count = QUESTIONS,                             \
                                                   .mutants = mutant_texts,                        \
                                                   .mutants_count = MUTANTS,                       \
                                                   .numbers = numbers,                             \
                                                   .numbers_count =                                \
                                                       sizeof numbers / sizeof *numbers,           \
                                                   .rules_for = fill_rules,                        \
                                                   .model_of = model_of,                           \
                                                   .print_story = story_print};                    \
        _Static_assert(sizeof(struct rules) <= RULES_SIZE, "room for the rules");                  \
        _Static_assert(sizeof(struct world) <= MODEL_WORLD_SIZE, "room for a world");              \
        _Static_assert(sizeof numbers / sizeof *numbers <= RULES_NUMBERS, "room for the numbers"); \
        (void)argc;                                                                                \
        return questions_ask(&questions, argv);                                                    \
    }

#endif
