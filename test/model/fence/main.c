/*
 * fence-model - every order of events among a few masters and a few attempts, tried
 * against the fence rule and against the rule broken in one place.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../options.h"
#include "fence.h"
#include "story.h"

static const char usage[] =
    "usage: fence-model [OPTION]...\n"
    "  --masters N             3 to 5\n"
    "  --spare F               0 to 2 votes, and as many masters that lie (default: 3 and 0,\n"
    "                          then 4 and 1)\n"
    "  --attempts N            1 to 3 (default 2)\n"
    "  --restarts N            0 to 3 masters lose their data (default 1)\n"
    "  --timing free|leased    default: both, one after the other\n"
    "  --mutant NAME           with the rule broken in this place\n"
    "  --mutants               breaks one place after the other\n"
    "  --list                  says which there are\n"
    "  --quiet                 tells no stories\n"
    "The status is 0 if no wrong fence was shown (--mutants: if each mutant showed one),\n"
    "1 if not, 64 for usage.\n";

/* Whether a wrong fence was shown. */
static bool search(const struct rules *rules, bool quiet)
{
    const struct model model = {.rules = rules,
                                .words = FENCE_WORDS,
                                .world_size = sizeof(struct world),
                                .wrong_at = offsetof(struct step, wrong)};
    struct search search;
    clock_t began = clock();
    search_run(&search, &model);
    double seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
    printf("%-21s %d, %d %-7s %9u states, depth %2d, %6.2f s: %s\n",
           fence_mutant_name(rules->mutant), rules->masters, rules->spare,
           rules->leased ? "leased" : "free", search.count, search.depth, seconds,
           search.found_wrong ? "WRONG FENCE" : "holds");
    fflush(stdout);
    if (search.found_wrong && !quiet)
        fence_story(&search);
    search_free(&search);
    return search.found_wrong;
}

enum timing { BOTH, FREE, LEASED };

/* The number of requested timings in which a wrong fence was shown. */
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

static int search_settings(struct rules rules, enum timing timing, bool quiet)
{
    if (rules.masters)
        return search_timings(rules, timing, quiet);
    rules.masters = 3;
    int wrong = search_timings(rules, timing, quiet);
    rules.masters = 4;
    rules.spare = 1;
    return wrong + search_timings(rules, timing, quiet);
}

static int search_mutants(struct rules rules, enum timing timing, bool quiet)
{
    int escaped = 0;
    for (rules.mutant = NONE + 1; rules.mutant < MUTANTS; rules.mutant++) {
        fence_mutant_setting(rules.mutant, &rules.masters, &rules.spare);
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

static enum timing timing_named(const char *word)
{
    if (word && strcmp(word, "free") == 0)
        return FREE;
    if (!word || strcmp(word, "leased") != 0)
        options_fail("--timing free|leased", word);
    return LEASED;
}

static const char *name_of(int mutant)
{
    return fence_mutant_name((enum mutant)mutant);
}

struct wish {
    struct rules rules;
    enum timing timing;
    struct flags flags;
};

static void set_option(void *of, const char *option, const char *word)
{
    struct wish *wish = of;
    if (strcmp(option, "--attempts") == 0)
        wish->rules.attempts = options_number(option, word, 1, MOST_ATTEMPTS);
    else if (strcmp(option, "--restarts") == 0)
        wish->rules.restarts = options_number(option, word, 0, 3);
    else if (strcmp(option, "--masters") == 0)
        wish->rules.masters = options_number(option, word, 3, MASTERS);
    else if (strcmp(option, "--spare") == 0)
        wish->rules.spare = options_number(option, word, 0, 2);
    else if (strcmp(option, "--timing") == 0)
        wish->timing = timing_named(word);
    else if (strcmp(option, "--mutant") == 0)
        wish->rules.mutant = options_named("no such mutant", word, name_of, MUTANTS);
    else
        options_fail("no such option", option);
}

int main(int argc, char **argv)
{
    struct wish wish = {.rules = {.attempts = 2, .restarts = 1}};
    (void)argc;
    options_read(argv, usage, &wish.flags, set_option, &wish);
    if (wish.flags.list)
        return list();
    if (wish.flags.mutants)
        return search_mutants(wish.rules, wish.timing, wish.flags.quiet);
    return search_settings(wish.rules, wish.timing, wish.flags.quiet) > 0;
}
