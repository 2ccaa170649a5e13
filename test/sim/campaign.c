#include "campaign.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "faults.h"
#include "links.h"
#include "mutants.h"

#define MUTANT_SEEDS   20000
#define FAILURES_SHOWN 5

/* ---- a failing run -------------------------------------------------------------- */

static void print_command(const struct campaign *campaign, const struct options *options)
{
    printf("%s --seed %" PRIu64 " --profile %s", links_kind.program, options->seed,
           campaign->profile);
    if (options->masters)
        printf(" --masters %u", options->masters);
    if (options->spare >= 0)
        printf(" --spare %d", options->spare);
    if (options->wrong >= 0)
        printf(" --wrong %d", options->wrong);
    if (options->tokens >= 0)
        printf(" --tokens %d", options->tokens);
    if (options->periods >= 0)
        printf(" --periods %d", options->periods);
    if (options->permits >= 0)
        printf(" --permits %d", options->permits);
    if (options->leaders >= 0)
        printf(" --leaders %d", options->leaders);
    if (options->barriers >= 0)
        printf(" --barriers %d", options->barriers);
    if (options->latches >= 0)
        printf(" --latches %d", options->latches);
    if (options->readers >= 0)
        printf(" --readers %d", options->readers);
    if (options->clients)
        printf(" --clients %u", options->clients);
    if (options->ops)
        printf(" --ops %u", options->ops);
    if (client_calls_a_turn)
        printf(" --turn %u", client_calls_a_turn);
    for (unsigned kind = 0; kind < FAULTS_END; kind++)
        if (options->without & 1U << kind)
            printf(" --without %s", fault_name((enum fault_kind)kind));
    if (options->only)
        printf(" --only %s", options->only);
    if (strcmp(campaign->mutant, "none") != 0)
        printf(" --mutant %s", campaign->mutant);
    printf(" --trace\n");
}

static bool still_fails(const struct options *options, const char *rule)
{
    struct result result;
    world_run(options, &result);
    return result.violation.rule && strcmp(result.violation.rule, rule) == 0;
}

/* Without each fault in turn, then with ever fewer calls of the users. */
static void shrink(struct options *options, const struct result *failed)
{
    const char *rule = failed->violation.rule;
    for (unsigned kind = 0; kind < FAULTS_END; kind++) {
        struct options less = *options;
        less.without |= 1U << kind;
        if (failed->faults & 1U << kind && still_fails(&less, rule))
            *options = less;
    }
    unsigned ops = options->ops ? options->ops : 40;
    for (unsigned step = ops / 2; step; step /= 2) {
        struct options less = *options;
        if (ops <= step)
            continue;
        less.ops = ops - step;
        if (!still_fails(&less, rule))
            continue;
        *options = less;
        ops -= step;
    }
}

static void report(const struct campaign *campaign, const struct options *options,
                   const struct result *result)
{
    printf("seed %" PRIu64 ", %u masters: VIOLATION of %s after %.3f ms: %s\n", options->seed,
           result->masters, result->violation.rule, (double)result->violation.at / 1000,
           result->violation.text);
    printf("    replay:  ");
    print_command(campaign, options);
    struct options smaller = *options;
    shrink(&smaller, result);
    if (smaller.ops == options->ops && smaller.without == options->without)
        return;
    printf("    smaller: ");
    print_command(campaign, &smaller);
}

/* ---- seeds ------------------------------------------------------------------------- */

#define RULES_MOST 40
struct sums {
    struct {
        const char *rule;
        uint64_t runs;
    } broken[RULES_MOST];
    uint64_t runs, failed, hash, steps, acquired, lost, renewals, heals, tokens;
    double hours; /* of virtual time; for people only */
};

static void count_rule(struct sums *sums, const char *rule)
{
    unsigned i = 0;
    while (i + 1 < RULES_MOST && sums->broken[i].rule && strcmp(sums->broken[i].rule, rule) != 0)
        i++;
    sums->broken[i].rule = rule;
    sums->broken[i].runs++;
}

static void add(struct sums *sums, const struct result *result)
{
    sums->runs++;
    sums->failed += result->violation.rule != NULL;
    if (result->violation.rule)
        count_rule(sums, result->violation.rule);
    sums->hash = mix(sums->hash ^ result->hash);
    sums->steps += result->events;
    sums->acquired += result->acquired;
    sums->lost += result->lost;
    sums->renewals += result->renewals;
    sums->heals += result->heals;
    sums->tokens += result->tokens;
    sums->hours += (double)result->lasted / 3.6e9;
}

static void print_sums(const struct campaign *campaign, const struct sums *sums)
{
    printf("profile %s: %" PRIu64 " runs, %" PRIu64 " failed; %.1f hours of virtual time, %" PRIu64
           " steps of the core, %" PRIu64 " tokens, %" PRIu64 " leases acquired, %" PRIu64
           " renewals, %" PRIu64 " heals, %" PRIu64 " leases lost\n",
           campaign->profile, sums->runs, sums->failed, sums->hours, sums->steps, sums->tokens,
           sums->acquired, sums->renewals, sums->heals, sums->lost);
    for (unsigned i = 0; i < RULES_MOST && sums->broken[i].rule; i++)
        printf("%s %s %" PRIu64, i ? "," : "broken:", sums->broken[i].rule, sums->broken[i].runs);
    printf("%strace hash %016" PRIx64 "\n", sums->failed ? "\n" : "", sums->hash);
}

int campaign_seeds(const struct campaign *campaign)
{
    struct sums sums = {0};
    struct options options = campaign->options;
    struct result result;
    for (uint64_t seed = campaign->first; seed <= campaign->last; seed++) {
        options.seed = seed;
        world_run(&options, &result);
        add(&sums, &result);
        if (result.violation.rule && sums.failed <= FAILURES_SHOWN && !campaign->beyond_is_well)
            report(campaign, &options, &result);
    }
    print_sums(campaign, &sums);
    if (campaign->beyond_is_well)
        return sums.failed == 0;
    return sums.failed != 0;
}

int campaign_one(const struct campaign *campaign)
{
    struct options options = campaign->options;
    struct result result;
    options.seed = campaign->first;
    world_run(&options, &result);
    if (result.violation.rule && !options.trace)
        report(campaign, &options, &result);
    else
        printf("seed %" PRIu64 ": %s\n", options.seed,
               result.violation.rule ? result.violation.text : "all rules were kept");
    printf("trace hash %016" PRIx64 "\n", result.hash);
    return result.violation.rule != NULL;
}

/* ---- mutants -------------------------------------------------------------------------- */

/* Some rules matter only where what they are for is made to happen often. */
static const struct {
    int mutant;
    const char *profile;
    unsigned masters; /* 0: drawn */
    int permits;      /* likewise */
    int leaders;      /* likewise */
    int barriers;     /* likewise */
    int latches;      /* likewise */
} seen_in[] = {
    /* clang-format off */
    {MUTANT_RAISE_UNOWNED, "evict", 0, 0, 0, 0, 0},
    {MUTANT_FENCE_UNFOUNDED, "handover", 0, 0, 0, 0, 0},
    {MUTANT_PUSH_OF_ANOTHER, "handover", 1, 0, 0, 0, 0},
    {MUTANT_HANDED_ON_AND_ON, "crowd", 0, 0, 0, 0, 0},
    {MUTANT_PLACE_FOR_EVER, "crowd", 0, 0, 0, 0, 0},
    {MUTANT_FORGOTTEN_OWED, "masters", 0, 0, 0, 0, 0},
    {MUTANT_CUT_OFF_STAYS, "lasting", 0, 0, 0, 0, 0},
    {MUTANT_UNHEARD_GOES_ON, "lasting", 3, 0, 0, 0, 0},
    {MUTANT_YIELD_UNPAUSED, "liars", 0, 0, 0, 0, 0},
    {MUTANT_LONGEST_OF_ONE, "liars", 0, 0, 0, 0, 0},
    {MUTANT_TICKET_RENEWED, "handover", 0, 0, 0, 0, 0},
    {MUTANT_CLOCKS_CARRY, "liars", 0, 0, 0, 0, 0},
    {MUTANT_QUORUM_WITHOUT_SPARE, "wrong", 0, 0, 0, 0, 0},
    {OF_CLIENT(CLIENT_MUTANT_FLOOD_HEARD), "liars", 0, 0, 0, 0, 0},
    {MUTANT_ONE_PLACE, "calm", 0, 900, 0, 0, 0},
    {MUTANT_PLACES_KEPT, "handover", 0, 900, 0, 0, 0},
    {MUTANT_SLOT_BEYOND, "handover", 0, 900, 0, 0, 0},
    {MUTANT_BARRIER_OF_OTHERS, "handover", 0, 0, 0, 1000, 0},
    {MUTANT_PARTY_QUARANTINED, "crashes", 0, 0, 0, 1000, 0},
    {MUTANT_OBSERVE_QUARANTINED, "crashes", 1, 0, 1000, 0, 0},
    {MUTANT_LATCH_OPEN_ON_ONE, "handover", 5, 0, 0, 0, 1000},
    {MUTANT_LATCH_OF_ONE, "handover", 3, 0, 0, 0, 1000},
    {MUTANT_LATCH_CLEARS_YOUNG, "handover", 5, 0, 0, 0, 1000},
    /* clang-format on */
};

static void look_where_it_matters(int mutant, struct options *options)
{
    for (unsigned i = 0; i < sizeof seen_in / sizeof seen_in[0]; i++) {
        const struct profile *profile = profile_find(seen_in[i].profile);
        if (seen_in[i].mutant != mutant)
            continue;
        options->faults = profile->faults;
        options->habit = profile->habit;
        if (seen_in[i].masters)
            options->masters = seen_in[i].masters;
        if (seen_in[i].permits)
            options->permits = seen_in[i].permits;
        if (seen_in[i].leaders)
            options->leaders = seen_in[i].leaders;
        if (seen_in[i].barriers)
            options->barriers = seen_in[i].barriers;
        if (seen_in[i].latches)
            options->latches = seen_in[i].latches;
    }
}

static bool catch_one(const struct campaign *campaign, int mutant)
{
    struct options options = campaign->options;
    struct result result;
    look_where_it_matters(mutant, &options);
    mutant_set(mutant);
    for (uint64_t n = 1; n <= MUTANT_SEEDS; n++) {
        options.seed = campaign->first + n - 1;
        world_run(&options, &result);
        if (!result.violation.rule)
            continue;
        printf("| %-27s | %6" PRIu64 " | %-12s | %s |\n", mutant_name(mutant), n,
               result.violation.rule, mutant_text(mutant));
        fflush(stdout);
        return true;
    }
    printf("| %-27s |      - | NOT CAUGHT   | %s |\n", mutant_name(mutant), mutant_text(mutant));
    return false;
}

int campaign_mutants(const struct campaign *campaign)
{
    bool all = true;
    printf("| %-27s | %6s | %-12s | %s |\n", "mutant", "seeds", "caught by", "the rule broken");
    printf("|-----------------------------|-------:|--------------|---|\n");
    for (int mutant = links_kind.first_mutant; mutant < links_kind.mutants_end; mutant++)
        all = catch_one(campaign, mutant) && all;
    mutant_set(MUTANT_NONE);
    return !all;
}
