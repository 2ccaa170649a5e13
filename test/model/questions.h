/*
 * questions.h - a model, several questions, and the command that asks them.  Each is about a world
 * of its own, with the rules as they are or one of them broken.
 */
#ifndef MODEL_QUESTIONS_H
#define MODEL_QUESTIONS_H

#include "search.h"

/* A rule that is broken; the first of a model is none. */
struct mutant_text {
    const char *constant, *text;
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

/* The numbers with which a mutant is looked for, where the world of its question has others. */
struct change {
    int mutant;
    struct {
        size_t offset; /* 0, where no number is: there are no more */
        int value;
    } numbers[4];
};

enum { RULES_SIZE = 64, RULES_NUMBERS = 12 };

struct questions {
    const char *const *constants; /* of the questions */
    int count;
    const struct mutant_text *mutants;
    int mutants_count;
    const struct rules_number *numbers;
    int numbers_count; /* at most RULES_NUMBERS */
    const struct change *changes;
    int changes_count;
    /* Writes the rules, of at most RULES_SIZE bytes, with which a question is asked. */
    void (*rules_for)(int question, int mutant, struct rules *rules);
    struct model (*model_of)(const struct rules *rules);
};

/* Reads the words of the command and does what they say; returns its status. */
int questions_ask(const struct questions *questions, char **words);

/* ---- what else such a model has to do: pack.c, story.c ---- */

unsigned model_words(const struct rules *rules); /* of a packed world */

struct move {
    const struct rules *rules;
    const struct step *step;
    const struct world *before, *next;
};

static inline uint8_t larger(uint8_t a, uint8_t b)
{
    return a > b ? a : b;
}

/* A tick of what is left passes. */
static inline void pass(uint8_t *ticks)
{
    *ticks -= *ticks > 0;
}

/* Those that stories are about are letters. */
static inline char letter(int number)
{
    return (char)('A' + number);
}

/* Prints a set of them behind `what`, if it is not empty. */
void print_letters(const char *what, uint8_t set);
/* Print a step, and a world. */
void story_step(const struct move *move);
void story_world(const struct rules *rules, const struct world *world);
extern const char *const story_wrongs[]; /* by what a step has wrong; the first is nothing */

/* ---- its world.h ----
 * The tables of questions and mutants give names to constants; "open-on-one" is OPEN_ON_ONE on the
 * command line. */

#define MODEL_QUESTION(name)               name,
#define MODEL_MUTANT(name, question, text) name,

/* The enums of both, and what can be asked of a struct rules. */
#define MODEL_ENUMS(question_table, mutant_table)                                                  \
    enum question { question_table(MODEL_QUESTION) QUESTIONS };                                    \
    enum mutant { NONE, mutant_table(MODEL_MUTANT, MODEL_MUTANT) MUTANTS }

#define broken(rules, which) ((rules)->mutant == (which))
#define quorum(rules)        ((rules)->masters / 2 + 1)

/* ---- its rules.c ---- */

/* "--late" is `late` of the rules, an int. */
#define NUMBER(name, least, most, words)                                                           \
    {                                                                                              \
        "--" #name, offsetof(struct rules, name), least, most, words                               \
    }

/* Of a struct change. */
#define WITH(name, value)                                                                          \
    {                                                                                              \
        offsetof(struct rules, name), value                                                        \
    }

/* The facts of any model that a search needs. */
#define SEARCHED(the_rules)                                                                        \
    .rules = (the_rules), .words = model_words(the_rules), .world_size = sizeof(struct world),     \
    .wrong_at = offsetof(struct step, wrong)

/* `must_end`: every world must be able to come to the goal. */
#define MODEL(the_rules, must_end)                                                                 \
    (struct model)                                                                                 \
    {                                                                                              \
        SEARCHED(the_rules), .honest_at = offsetof(struct step, honest),                           \
                             .is_goal = (must_end) ? model_is_goal : NULL,                         \
                             .stuck_words = "nobody who is honest gets any further"                \
    }

#define MODEL_CONSTANT(name)                      #name,
#define MODEL_TEXT(name, question, text)          {#name, text, question, false},
#define MODEL_HARMLESS_TEXT(name, question, text) {#name, text, question, true},

/* Its program, behind worlds[], changes[], model_of() and numbers[]. */
#define MODEL_MAIN                                                                                 \
    static void rules_for(int question, int mutant, struct rules *rules)                           \
    {                                                                                              \
        *rules = worlds[question];                                                                 \
        rules->question = (enum question)question;                                                 \
        rules->mutant = (enum mutant)mutant;                                                       \
    }                                                                                              \
                                                                                                   \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        static const char *const constants[] = {QUESTION_TABLE(MODEL_CONSTANT)};                   \
        static const struct mutant_text mutants[] = {                                              \
            {"NONE", "the rules as they are", QUESTIONS, false},                                   \
            MUTANT_TABLE(MODEL_TEXT, MODEL_HARMLESS_TEXT)};                                        \
        static const struct questions questions = {                                                \
            .constants = constants,                                                                \
            .count = QUESTIONS,                                                                    \
            .mutants = mutants,                                                                    \
            .mutants_count = MUTANTS,                                                              \
            .numbers = numbers,                                                                    \
            .numbers_count = sizeof numbers / sizeof *numbers,                                     \
            .changes = changes,                                                                    \
            .changes_count = sizeof changes / sizeof *changes,                                     \
            .rules_for = rules_for,                                                                \
            .model_of = model_of};                                                                 \
        _Static_assert(sizeof(struct rules) <= RULES_SIZE, "room for the rules");                  \
        _Static_assert(sizeof(struct world) <= MODEL_WORLD_SIZE, "room for a world");              \
        _Static_assert(sizeof numbers / sizeof *numbers <= RULES_NUMBERS, "room for the numbers"); \
        (void)argc;                                                                                \
        return questions_ask(&questions, argv);                                                    \
    }

#endif
