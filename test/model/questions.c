#include "questions.h"

#include <ctype.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct questions *asked;
static struct {
    int numbers[RULES_NUMBERS]; /* -1: as the question has it */
    int question;               /* -1: each */
    int mutant;
    int most;
    bool quiet, mutants, list;
} wish;

/* "open-on-one" for OPEN_ON_ONE; until the next call. */
static const char *spelled(const char *constant)
{
    static char name[64];
    size_t i = 0;
    for (; constant[i] && i < sizeof name - 1; i++)
        name[i] = constant[i] == '_' ? '-' : (char)tolower(constant[i]);
    name[i] = '\0';
    return name;
}

static const char *question_name(int question)
{
    return spelled(asked->constants[question]);
}

static const char *mutant_name(int mutant)
{
    return spelled(asked->mutants[mutant].constant);
}

/* ---- The story ---- */

void print_letters(const char *what, uint8_t set)
{
    if (set)
        printf("%s", what);
    for (int i = 0; set >> i; i++)
        if (set >> i & 1)
            printf("%c", letter(i));
}

struct story {
    const struct model *model;
    int steps;
    alignas(max_align_t) char before[MODEL_WORLD_SIZE];
};

static void print_step(void *visitor, const struct step *step, const struct world *next)
{
    struct story *story = visitor;
    const struct model *model = story->model;
    if (step) {
        int wrong;
        memcpy(&wrong, (const char *)step + model->wrong_at, sizeof wrong);
        printf("  %2d.  ", ++story->steps);
        story_step(&(struct move){model->rules, step, (const struct world *)story->before, next});
        printf("%s%s\n", wrong ? " -- " : "", story_wrongs[wrong]);
    }
    story_world(model->rules, next);
    printf("\n");
    memcpy(story->before, next, model->world_size);
}

static void print_story(const struct search *search)
{
    search_tell(search, print_step, &(struct story){.model = search->model});
    if (search->is_stuck)
        printf("        from here on %s\n", search->model->stuck_words);
    if (search->is_restless)
        printf("        from here on they can go on like that for ever\n");
}

/* ---- Searching ---- */

static const char *result(const struct search *search)
{
    return search->found_wrong   ? "WRONG"
           : search->is_stuck    ? "STUCK"
           : search->is_restless ? "RESTLESS"
           : search->unfinished  ? "not finished"
                                 : "holds";
}

static void change_numbers(char *rules, const struct change *change)
{
    for (size_t k = 0; k < sizeof change->numbers / sizeof *change->numbers; k++)
        if (change->numbers[k].offset)
            memcpy(rules + change->numbers[k].offset, &change->numbers[k].value, sizeof(int));
}

static void fill_rules(char *rules, int question, int mutant)
{
    asked->rules_for(question, mutant, (struct rules *)rules);
    for (int i = 0; i < asked->changes_count; i++)
        if (asked->changes[i].mutant == mutant)
            change_numbers(rules, &asked->changes[i]);
    for (int i = 0; i < asked->numbers_count; i++)
        if (wish.numbers[i] >= 0)
            memcpy(rules + asked->numbers[i].offset, &wish.numbers[i], sizeof(int));
}

enum result { HOLDS, FOUND, UNFINISHED };

static enum result search(int question, int mutant)
{
    alignas(max_align_t) char rules[RULES_SIZE];
    struct search search;
    clock_t began = clock();
    fill_rules(rules, question, mutant);
    struct model model = asked->model_of((struct rules *)rules);
    model.most = (uint32_t)wish.most;
    search_run(&search, &model);
    double seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
    printf("%-28s ", mutant_name(mutant));
    printf("%-9s %9u states, depth %2d, %6.2f s: %s\n", question_name(question), search.count,
           search.depth, seconds, result(&search));
    fflush(stdout);
    enum result found = search_found(&search) ? FOUND : search.unfinished ? UNFINISHED : HOLDS;
    if (found == FOUND && !wish.quiet)
        print_story(&search);
    search_free(&search);
    return found;
}

static bool is_wished(int question)
{
    return wish.question < 0 || wish.question == question;
}

/* Returns 1 if in any of the questions something went wrong. */
static int search_questions(void)
{
    int wrong = 0;
    for (int question = 0; question < asked->count; question++)
        wrong |= is_wished(question) && search(question, wish.mutant) == FOUND;
    return wrong;
}

/* Whether a mutant did what is expected of it, or may yet do it behind the states that were asked
 * for. */
static bool is_as_expected(int mutant)
{
    const struct mutant_text *text = &asked->mutants[mutant];
    enum result found = search(text->question, mutant);
    if (found == UNFINISHED || (found == FOUND) != text->is_harmless)
        return true;
    printf("%s %s\n", mutant_name(mutant), text->is_harmless ? "DOES HARM" : "ESCAPED");
    return false;
}

static int search_mutants(void)
{
    int unexpected = 0, tried = 0;
    for (int mutant = 1; mutant < asked->mutants_count; mutant++) {
        if (!is_wished(asked->mutants[mutant].question))
            continue;
        tried++;
        unexpected += !is_as_expected(mutant);
    }
    printf("%d mutants, %d unexpected\n", tried, unexpected);
    return unexpected > 0;
}

static int list(void)
{
    for (int mutant = 1; mutant < asked->mutants_count; mutant++) {
        const struct mutant_text *text = &asked->mutants[mutant];
        printf("%-28s ", mutant_name(mutant));
        printf("%-9s %s%s\n", question_name(text->question), text->text,
               text->is_harmless ? " (does no harm)" : "");
    }
    return 0;
}

/* ---- The command line ---- */

static const char *command;

static const char *usage_text(void)
{
    static char text[4096];
    FILE *to = fmemopen(text, sizeof text, "w");
    fprintf(to, "usage: %s [OPTION]...\n  --ask QUESTION   ", command);
    for (int i = 0; i < asked->count; i++)
        fprintf(to, "%s%s", i ? ", " : "", question_name(i));
    fprintf(to, " (default: each)\n");
    for (int i = 0; i < asked->numbers_count; i++) {
        const struct rules_number *number = &asked->numbers[i];
        fprintf(to, "  %s N%*s%d to %d%s\n", number->option, 15 - (int)strlen(number->option), "",
                number->least, number->most, number->words);
    }
    fprintf(to,
            "  --most N         gives up after as many states\n"
            "  --mutant NAME    with this rule broken\n"
            "  --mutants        breaks one rule after the other\n"
            "  --list           says which there are\n"
            "  --quiet          tells no stories\n"
            "The status is 0 if nothing went wrong (--mutants: if each went wrong that should), 1 "
            "if not,\n64 for usage.\n");
    fclose(to);
    return text;
}

_Noreturn static void fail_usage(const char *what, const char *word)
{
    fprintf(stderr, "%s: %s: %s\n%s", command, what, word ? word : "", usage_text());
    exit(64);
}

static int number_of(const char *option, const char *word, int least, int most)
{
    char *end = NULL;
    long value = word ? strtol(word, &end, 10) : 0;
    if (!word || end == word || *end || value < least || value > most)
        fail_usage(option, word);
    return (int)value;
}

static int named(const char *what, const char *word, const char *(*name_of)(int), int count)
{
    for (int i = 0; word && i < count; i++)
        if (strcmp(word, name_of(i)) == 0)
            return i;
    fail_usage(what, word);
}

static bool set_flag(const char *option)
{
    bool *flag = strcmp(option, "--quiet") == 0     ? &wish.quiet
                 : strcmp(option, "--mutants") == 0 ? &wish.mutants
                 : strcmp(option, "--list") == 0    ? &wish.list
                                                    : NULL;
    if (flag)
        *flag = true;
    return flag;
}

static bool set_number(const char *option, const char *word)
{
    for (int i = 0; i < asked->numbers_count; i++) {
        const struct rules_number *number = &asked->numbers[i];
        if (strcmp(option, number->option) == 0) {
            wish.numbers[i] = number_of(option, word, number->least, number->most);
            return true;
        }
    }
    return false;
}

static void set_option(const char *option, const char *word)
{
    if (set_number(option, word))
        return;
    if (strcmp(option, "--most") == 0)
        wish.most = number_of(option, word, 0, INT32_MAX);
    else if (strcmp(option, "--ask") == 0)
        wish.question = named("no such question", word, question_name, asked->count);
    else if (strcmp(option, "--mutant") == 0)
        wish.mutant = named("no such mutant", word, mutant_name, asked->mutants_count);
    else
        fail_usage("no such option", option);
}

int questions_ask(const struct questions *questions, char **words)
{
    asked = questions;
    wish.question = -1;
    for (int i = 0; i < RULES_NUMBERS; i++)
        wish.numbers[i] = -1;
    const char *slash = strrchr(words[0], '/');
    command = slash ? slash + 1 : words[0];
    for (words++; *words; words++)
        if (!set_flag(*words)) {
            set_option(words[0], words[1]);
            words++;
        }
    if (wish.list)
        return list();
    return wish.mutants ? search_mutants() : search_questions();
}
