#include "campaign.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "faults.h"
#include "links.h"
#include "lists.h"
#include "turns.h"

#define SEEDS_TO_CATCH 20000
#define FAILURES_SHOWN 5

unsigned calls_a_turn = TURN_USUAL;
unsigned backlog = BACKLOG_USUAL;

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
    if (options->asks >= 0)
        printf(" --asks %d", options->asks);
    if (options->works >= 0)
        printf(" --works %d", options->works);
    if (options->readers >= 0)
        printf(" --readers %d", options->readers);
    if (options->clients)
        printf(" --clients %u", options->clients);
    if (options->ops)
        printf(" --ops %u", options->ops);
    if (calls_a_turn != TURN_USUAL)
        printf(" --turn %u", calls_a_turn);
    if (backlog != BACKLOG_USUAL)
        printf(" --backlog %u", backlog);
    for (unsigned kind = 0; kind < FAULTS_END; kind++)
        if (options->without & 1U << kind)
            printf(" --without %s", fault_name((enum fault_kind)kind));
    if (options->only)
        printf(" --only %s", options->only);
    if (campaign->mutant)
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
    struct list_counts lists;
    struct change_counts changes;
    struct move_counts moved;
};

static void count_rule(struct sums *sums, const char *rule)
{
    unsigned i = 0;
    while (i + 1 < RULES_MOST && sums->broken[i].rule && strcmp(sums->broken[i].rule, rule) != 0)
        i++;
    sums->broken[i].rule = rule;
    sums->broken[i].runs++;
}

static void add_lists(struct list_counts *sum, const struct list_counts *of)
{
    sum->runs += of->runs;
    sum->acquired += of->acquired;
    sum->refused += of->refused;
    for (unsigned i = 0; i < BESIDES; i++)
        sum->beside[i] += of->beside[i];
}

static void add_changes(struct change_counts *sum, const struct change_counts *of)
{
    sum->runs += of->runs;
    sum->opened += of->opened;
    sum->taken_back += of->taken_back;
    sum->ended_again += of->ended_again;
    sum->refused += of->refused;
    for (unsigned i = 0; i < UNPROMISED; i++) {
        sum->late[i] += of->late[i];
        sum->at_once[i] += of->at_once[i];
    }
    for (unsigned k = 0; k < KINDS_ALL; k++) {
        sum->acquired[k] += of->acquired[k];
        sum->left_behind[k] += of->left_behind[k];
    }
}

static void add_moves(struct move_counts *sum, const struct move_counts *of)
{
    sum->runs += of->runs;
    sum->asked += of->asked;
    sum->again += of->again;
    sum->waited += of->waited;
    sum->not_moved += of->not_moved;
    sum->lost += of->lost;
    sum->released += of->released;
    sum->dropped += of->dropped;
    for (unsigned from = 0; from < KINDS_ALL; from++)
        for (unsigned to = 0; to < KINDS_ALL; to++)
            sum->moved[from][to] += of->moved[from][to];
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
    add_lists(&sums->lists, &result->lists);
    add_changes(&sums->changes, &result->changes);
    add_moves(&sums->moved, &result->moved);
}

static void print_lists(const struct list_counts *lists)
{
    printf("lists that may not meet: %" PRIu64 " runs, %" PRIu64 " leases, %" PRIu64
           " times a client was refused; two held at once:\n",
           lists->runs, lists->acquired, lists->refused);
    for (unsigned i = 0; i < BESIDES; i++)
        printf("%8" PRIu64 "  %s\n", lists->beside[i], lists_why((enum beside)i));
}

static void print_changes(const struct change_counts *changes)
{
    printf("changes of the list: %" PRIu64 " runs, %" PRIu64 " opened, %" PRIu64
           " taken back, %" PRIu64 " of these ended again; %" PRIu64
           " times a client was refused as its list is over\n",
           changes->runs, changes->opened, changes->taken_back, changes->ended_again,
           changes->refused);
    printf("leases of the first list: %" PRIu64 ", %" PRIu64 " left behind; of the second: %" PRIu64
           ", %" PRIu64 "\n",
           changes->acquired[0], changes->left_behind[0], changes->acquired[1],
           changes->left_behind[1]);
    printf("leases of the first list held after that, and those of them beside the second:\n"
           "%8" PRIu64 " %8" PRIu64 "  masters had lost the end\n"
           "%8" PRIu64 " %8" PRIu64 "  a step of a clock had made one forget who says the list\n",
           changes->late[UNPROMISED_LOST], changes->at_once[UNPROMISED_LOST],
           changes->late[UNPROMISED_CLOCK], changes->at_once[UNPROMISED_CLOCK]);
}

static void print_moves(const struct move_counts *moved)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < KINDS_ALL * KINDS_ALL; i++)
        sum += moved->moved[i / KINDS_ALL][i % KINDS_ALL];
    printf("runs in which leases move: %" PRIu64 "; %" PRIu64 " moves asked for, %" PRIu64
           " moved (%" PRIu64 " of them again, %" PRIu64 " that waited), %" PRIu64
           " not moved; meanwhile %" PRIu64 " lost, %" PRIu64 " released, %" PRIu64 " dropped\n",
           moved->runs, moved->asked, sum, moved->again, moved->waited, moved->not_moved,
           moved->lost, moved->released, moved->dropped);
    printf("moved, from (a line) to: the first list, the second, the one between\n");
    for (unsigned from = 0; from < KINDS_ALL; from++)
        printf("%8" PRIu64 " %8" PRIu64 " %8" PRIu64 "\n", moved->moved[from][0],
               moved->moved[from][1], moved->moved[from][BETWEEN]);
}

static void print_sums(const struct campaign *campaign, const struct sums *sums)
{
    printf("profile %s: %" PRIu64 " runs, %" PRIu64 " failed; %.1f hours of virtual time, %" PRIu64
           " steps of the core, %" PRIu64 " tokens, %" PRIu64 " leases acquired, %" PRIu64
           " renewals, %" PRIu64 " heals, %" PRIu64 " leases lost\n",
           campaign->profile, sums->runs, sums->failed, sums->hours, sums->steps, sums->tokens,
           sums->acquired, sums->renewals, sums->heals, sums->lost);
    if (sums->lists.runs)
        print_lists(&sums->lists);
    if (sums->changes.runs)
        print_changes(&sums->changes);
    if (sums->moved.runs)
        print_moves(&sums->moved);
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

/* ---- the first violation ---------------------------------------------------------------- */

int campaign_catch(const struct campaign *campaign)
{
    struct options options = campaign->options;
    struct result result;
    for (uint64_t n = 1; n <= SEEDS_TO_CATCH; n++) {
        options.seed = campaign->first + n - 1;
        world_run(&options, &result);
        if (result.violation.rule) {
            printf("%" PRIu64 " %s\n", n, result.violation.rule);
            return 0;
        }
    }
    return 1;
}
