/*
 * fence-model - every order of events among three masters and a few attempts, tried
 * against the fence rule and against the rule broken in one place.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fence.h"
#include "story.h"

static const char usage[] =
    "usage: fence-model [OPTION]...\n"
    "  --attempts N            1 to 3 (default 2)\n"
    "  --restarts N            0 to 3 masters lose their data (default 1)\n"
    "  --timing free|leased    default: both, one after the other\n"
    "  --mutant NAME           with the rule broken in this place\n"
    "  --mutants               breaks one place after the other\n"
    "  --list                  says which there are\n"
    "  --quiet                 tells no stories\n"
    "The status is 0 if no wrong fence was shown (--mutants: if each mutant showed one),\n"
    "1 if not, 64 for usage.\n";

static bool is_wrong(const void *step)
{
    return ((const struct step *)step)->wrong;
}

/* Whether a wrong fence was shown. */
static bool search(const struct rules *rules, bool quiet)
{
    const struct model model = {.name = "fence-model",
                                .rules = rules,
                                .words = FENCE_WORDS,
                                .begin = fence_begin,
                                .steps = fence_steps,
                                .pack = fence_pack,
                                .unpack = fence_unpack,
                                .world_size = sizeof(struct world),
                                .is_wrong = is_wrong};
    struct search search;
    clock_t began = clock();
    search_run(&search, &model);
    double seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
    printf("%-21s %-7s %9u states, depth %2d, %6.2f s: %s\n", fence_mutant_name(rules->mutant),
           rules->leased ? "leased" : "free", search.count, search.depth, seconds,
           search.found_wrong ? "WRONG FENCE" : "holds");
    fflush(stdout);
    if (search.found_wrong && !quiet)
        fence_story(&search);
    search_free(&search);
    return search.found_wrong;
}

enum timing { BOTH, FREE, LEASED };

/* In how many of the timings asked for a wrong fence was shown. */
static int search_timings(struct rules rules, enum timing timing, bool quiet)
{
    int wrong = 0;
    for (enum timing each = FREE; each <= LEASED; each++) {
        rules.leased = each == LEASED;
        if (timing == BOTH || timing == each)
            wrong += search(&rules, quiet);
    }
    return wrong;
}

static int search_mutants(struct rules rules, enum timing timing, bool quiet)
{
    int escaped = 0;
    for (rules.mutant = NONE + 1; rules.mutant < MUTANTS; rules.mutant++) {
        if (search_timings(rules, timing, quiet))
            continue;
        printf("%s ESCAPED\n", fence_mutant_name(rules.mutant));
        escaped++;
    }
    printf("%d mutants, %d escaped\n", MUTANTS - 1, escaped);
    return escaped > 0;
}

static int list(void)
{
    for (enum mutant mutant = NONE + 1; mutant < MUTANTS; mutant++)
        printf("%-21s %s\n", fence_mutant_name(mutant), fence_mutant_text(mutant));
    return 0;
}

static void fail(const char *what, const char *word)
{
    fprintf(stderr, "fence-model: %s: %s\n%s", what, word ? word : "", usage);
    exit(64);
}

static int number(const char *option, const char *word, int least, int most)
{
    char *end = NULL;
    long value = word ? strtol(word, &end, 10) : 0;
    if (!word || end == word || *end || value < least || value > most)
        fail(option, word);
    return (int)value;
}

static enum timing timing_named(const char *word)
{
    if (word && strcmp(word, "free") == 0)
        return FREE;
    if (!word || strcmp(word, "leased") != 0)
        fail("--timing free|leased", word);
    return LEASED;
}

static enum mutant mutant_named(const char *word)
{
    for (enum mutant mutant = NONE; word && mutant < MUTANTS; mutant++)
        if (strcmp(word, fence_mutant_name(mutant)) == 0)
            return mutant;
    fail("no such mutant", word);
    return NONE;
}

struct wish {
    struct rules rules;
    enum timing timing;
    bool quiet, mutants, list;
};

static bool is_flag(struct wish *wish, const char *option)
{
    bool *flag = strcmp(option, "--quiet") == 0     ? &wish->quiet
                 : strcmp(option, "--mutants") == 0 ? &wish->mutants
                 : strcmp(option, "--list") == 0    ? &wish->list
                                                    : NULL;
    if (flag)
        *flag = true;
    return flag;
}

static void set_option(struct wish *wish, const char *option, const char *word)
{
    if (strcmp(option, "--attempts") == 0)
        wish->rules.attempts = number(option, word, 1, MOST_ATTEMPTS);
    else if (strcmp(option, "--restarts") == 0)
        wish->rules.restarts = number(option, word, 0, MASTERS);
    else if (strcmp(option, "--timing") == 0)
        wish->timing = timing_named(word);
    else if (strcmp(option, "--mutant") == 0)
        wish->rules.mutant = mutant_named(word);
    else
        fail("no such option", option);
}

int main(int argc, char **argv)
{
    struct wish wish = {.rules = {.attempts = 2, .restarts = 1}};
    for (int i = 1; i < argc; i++)
        if (!is_flag(&wish, argv[i])) {
            set_option(&wish, argv[i], argv[i + 1]);
            i++;
        }
    if (wish.list)
        return list();
    if (wish.mutants)
        return search_mutants(wish.rules, wish.timing, wish.quiet);
    return search_timings(wish.rules, wish.timing, wish.quiet) > 0;
}
