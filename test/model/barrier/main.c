/*
 * barrier-model - every order of events among a few masters and parties, tried against the rules
 * by which parties pass a barrier or leave it, and against each of them broken.
 */
#include <assert.h>

#include "world.h"

static const char usage[] =
    "usage: barrier-model [OPTION]...\n"
    "  --ask QUESTION   together, barred, expiry, restarts, forgotten, progress or\n"
    "                   sleeper (default: each)\n"
    "  --masters N      1 to 3\n"
    "  --parties N      1 to 3\n"
    "  --wanted N       1 to 3: as many parties is the barrier for\n"
    "  --lasts N        0 to 3 ticks, for which what a master said counts; 0: for ever\n"
    "  --ttl N          0 to 2 ticks; 0: a count expires at any time\n"
    "  --abstain N      0 to 7 ticks, for which a restarted master abstains\n"
    "  --kept N         0 to 15 ticks, for which an open barrier is kept; 0: for ever\n"
    "  --restarts N     0 to 3 times a master restarts\n"
    "  --late N         0 to 6 messages are late, or connections end\n"
    "  --deaths N       0 to 3 parties die\n"
    "  --expiries N     0 to 3 counts end at any time\n"
    "  --returns N      0 to 3 times a party comes back with its token\n"
    "  --most N         gives up after as many states\n"
    "  --mutant NAME    with this rule broken\n"
    "  --mutants        breaks one rule after the other\n"
    "  --list           says which there are\n"
    "  --quiet          tells no stories\n"
    "The status is 0 if nothing went wrong (--mutants: if each went wrong that should), 1 if not,\n"
    "64 for usage.\n";

static bool is_wrong(const void *step)
{
    return ((const struct step *)step)->wrong;
}

static bool is_honest(const void *step)
{
    return ((const struct step *)step)->honest;
}

static struct model model_of(const void *of)
{
    const struct rules *rules = of;
    bool must_end = rules->question == PROGRESS || rules->question == SLEEPER;
    return (struct model){.name = "barrier-model",
                          .rules = rules,
                          .words = 2 * MASTERS + 2,
                          .begin = barrier_begin,
                          .steps = barrier_steps,
                          .pack = barrier_pack,
                          .unpack = barrier_unpack,
                          .world_size = sizeof(struct world),
                          .is_wrong = is_wrong,
                          .is_honest = is_honest,
                          .is_goal = must_end ? barrier_is_goal : NULL};
}

static const struct rules_number numbers[] = {
    {"--masters", offsetof(struct rules, masters), 1, MASTERS},
    {"--parties", offsetof(struct rules, parties), 1, PARTIES},
    {"--wanted", offsetof(struct rules, wanted), 1, PARTIES},
    {"--lasts", offsetof(struct rules, lasts), 0, LONGEST},
    {"--ttl", offsetof(struct rules, ttl), 0, 2},
    {"--abstain", offsetof(struct rules, abstain), 0, 2 * LONGEST + 1},
    {"--kept", offsetof(struct rules, kept), 0, 15},
    {"--restarts", offsetof(struct rules, restarts), 0, 3},
    {"--late", offsetof(struct rules, late), 0, 6},
    {"--deaths", offsetof(struct rules, deaths), 0, 3},
    {"--expiries", offsetof(struct rules, expiries), 0, 3},
    {"--returns", offsetof(struct rules, returns), 0, 3},
};

static void fill_rules(int question, int mutant, void *rules)
{
    *(struct rules *)rules = rules_for(question, mutant);
}

int main(int argc, char **argv)
{
    static const struct questions questions = {.usage = usage,
                                               .names = question_names,
                                               .count = QUESTIONS,
                                               .mutants = mutant_texts,
                                               .mutants_count = MUTANTS,
                                               .numbers = numbers,
                                               .numbers_count = sizeof numbers / sizeof *numbers,
                                               .rules_for = fill_rules,
                                               .model_of = model_of,
                                               .print_story = story_print};
    static_assert(sizeof(struct rules) <= RULES_SIZE, "room for the rules");
    static_assert(sizeof(struct world) <= MODEL_WORLD_SIZE, "room for a world");
    static_assert(sizeof numbers / sizeof *numbers <= RULES_NUMBERS, "room for the numbers");
    (void)argc;
    return questions_ask(&questions, argv);
}
