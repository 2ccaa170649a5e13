/*
 * shared-model - every order of events among a few masters and clients, tried against the
 * rules of shared and exclusive leases, and against each of them broken.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../options.h"
#include "story.h"
#include "world.h"

static const char usage[] =
    "usage: shared-model [OPTION]...\n"
    "  --ask QUESTION   backing, crash, exclusion, order or progress (default: each)\n"
    "  --masters N      1 to 3\n"
    "  --clients N      1 to 3\n"
    "  --ttl N          1 to 3 ticks; order and progress have no time\n"
    "  --shorter N      0 to 2: the second client's ttl is as much shorter\n"
    "  --restarts N     0 to 3 masters restart (not with a queue)\n"
    "  --late N         0 to 6 messages are late or lost, 7: any number\n"
    "  --changes N      0 to 6 downgrades and upgrades\n"
    "  --clocks N       2 to 14: no logical clock goes further (order)\n"
    "  --most N         gives up after as many states\n"
    "  --mutant NAME    with this rule broken\n"
    "  --mutants        breaks one rule after the other\n"
    "  --list           says which there are\n"
    "  --quiet          tells no stories\n"
    "The status is 0 if nothing went wrong (--mutants: if each went wrong that should), 1 if not,\n"
    "64 for usage.\n";

struct wish {
    struct rules rules; /* -1: as the question has it */
    int question;       /* QUESTIONS: each */
    int most;
    struct flags flags;
};

static bool is_wrong(const void *step)
{
    return ((const struct step *)step)->wrong;
}

static bool is_honest(const void *step)
{
    return ((const struct step *)step)->honest;
}

static struct model model_of(const struct rules *rules, int most)
{
    return (struct model){.name = "shared-model",
                          .rules = rules,
                          .words = shared_words(rules),
                          .most = most,
                          .begin = shared_begin,
                          .steps = shared_steps,
                          .pack = shared_pack,
                          .unpack = shared_unpack,
                          .world_size = sizeof(struct world),
                          .is_wrong = is_wrong,
                          .is_honest = is_honest,
                          .is_goal = rules->question == PROGRESS ? shared_is_goal : NULL};
}

static const char *result(const struct search *search)
{
    return search->found_wrong  ? "WRONG"
           : search->is_stuck   ? "STUCK"
           : search->unfinished ? "not finished"
                                : "holds";
}

static void put(int *option, int wished)
{
    if (wished >= 0)
        *option = wished;
}

static struct rules as_wished(const struct wish *wish, enum question question, enum mutant mutant)
{
    struct rules rules = rules_for(question, mutant);
    put(&rules.masters, wish->rules.masters);
    put(&rules.clients, wish->rules.clients);
    put(&rules.ttl, wish->rules.ttl);
    put(&rules.shorter, wish->rules.shorter);
    put(&rules.restarts, wish->rules.restarts);
    put(&rules.late, wish->rules.late);
    put(&rules.changes, wish->rules.changes);
    put(&rules.clocks, wish->rules.clocks);
    return rules;
}

static bool search(const struct wish *wish, enum question question, enum mutant mutant)
{
    const struct rules rules = as_wished(wish, question, mutant);
    const struct model model = model_of(&rules, wish->most);
    struct search search;
    clock_t began = clock();
    search_run(&search, &model);
    double seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
    printf("%-28s %-9s %9u states, depth %2d, %6.2f s: %s\n", mutant_texts[mutant].name,
           question_names[question], search.count, search.depth, seconds, result(&search));
    fflush(stdout);
    bool found = search_found(&search);
    if (found && !wish->flags.quiet)
        story_print(&search);
    search_free(&search);
    return found;
}

/* In how many of the questions asked something went wrong. */
static int search_questions(const struct wish *wish)
{
    int wrong = 0;
    for (int question = 0; question < QUESTIONS; question++)
        if (wish->question == QUESTIONS || wish->question == question)
            wrong += search(wish, question, wish->rules.mutant);
    return wrong;
}

/* Whether a mutant did what is expected of it. */
static bool is_as_expected(const struct wish *wish, enum mutant mutant)
{
    const struct mutant_text *text = &mutant_texts[mutant];
    if (search(wish, text->question, mutant) != text->is_harmless)
        return true;
    printf("%s %s\n", text->name, text->is_harmless ? "DOES HARM" : "ESCAPED");
    return false;
}

static int search_mutants(const struct wish *wish)
{
    int unexpected = 0, tried = 0;
    for (enum mutant mutant = NONE + 1; mutant < MUTANTS; mutant++) {
        if (wish->question != QUESTIONS && wish->question != (int)mutant_texts[mutant].question)
            continue;
        tried++;
        unexpected += !is_as_expected(wish, mutant);
    }
    printf("%d mutants, %d unexpected\n", tried, unexpected);
    return unexpected > 0;
}

static int list(void)
{
    for (enum mutant mutant = NONE + 1; mutant < MUTANTS; mutant++)
        printf("%-28s %-9s %s%s\n", mutant_texts[mutant].name,
               question_names[mutant_texts[mutant].question], mutant_texts[mutant].text,
               mutant_texts[mutant].is_harmless ? " (does no harm)" : "");
    return 0;
}

static const char *question_name(int question)
{
    return question_names[question];
}

static const char *mutant_name(int mutant)
{
    return mutant_texts[mutant].name;
}

static bool set_number(struct wish *wish, const char *option, const char *word)
{
    const struct {
        const char *name;
        int *value, least, most;
    } numbers[] = {{"--masters", &wish->rules.masters, 1, MASTERS},
                   {"--clients", &wish->rules.clients, 1, CLIENTS},
                   {"--ttl", &wish->rules.ttl, 1, 3},
                   {"--shorter", &wish->rules.shorter, 0, 2},
                   {"--restarts", &wish->rules.restarts, 0, MASTERS},
                   {"--late", &wish->rules.late, 0, ANY_NUMBER},
                   {"--changes", &wish->rules.changes, 0, 6},
                   {"--clocks", &wish->rules.clocks, 2, HIGHEST_CLOCK - 1},
                   {"--most", &wish->most, 0, INT32_MAX}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(option, numbers[i].name) == 0) {
            *numbers[i].value = options_number(option, word, numbers[i].least, numbers[i].most);
            return true;
        }
    return false;
}

static void set_option(void *of, const char *option, const char *word)
{
    struct wish *wish = of;
    if (set_number(wish, option, word))
        return;
    if (strcmp(option, "--ask") == 0)
        wish->question = options_named("no such question", word, question_name, QUESTIONS);
    else if (strcmp(option, "--mutant") == 0)
        wish->rules.mutant = options_named("no such mutant", word, mutant_name, MUTANTS);
    else
        options_fail("no such option", option);
}

int main(int argc, char **argv)
{
    struct wish wish = {.question = QUESTIONS,
                        .rules = {QUESTIONS, NONE, -1, -1, -1, -1, -1, -1, -1, -1}};
    (void)argc;
    options_read(argv, usage, &wish.flags, set_option, &wish);
    if (wish.flags.list)
        return list();
    if (wish.flags.mutants)
        return search_mutants(&wish);
    return search_questions(&wish) > 0;
}
