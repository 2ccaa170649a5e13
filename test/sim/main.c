/*
 * redlock-sim - the real core against modelled masters in virtual time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "campaign.h"
#include "faults.h"
#include "links.h"
#include "mutants.h"
#include "turns.h"
#include "wrong.h"

static const char usage[] =
    "usage: %s [OPTION]...\n"
    "  --seeds A..B      runs these seeds (default 1..1000)\n"
    "  --seed S          one run\n"
    "  --trace           tells its story\n"
    "  --profile NAME    what may go wrong (default mix)\n"
    "  --without FAULT   but not that; may be repeated\n"
    "  --periods P       per mille of the leases keep others out for a while after\n"
    "                    ACQUIRED (at_least); default: drawn, none in half of the runs\n"
    "  --tokens P        per mille: how often users hand a lease on by its token, or use one;\n"
    "                    default: drawn, seldom in three quarters of the runs\n"
    "  --permits P       per mille of the leases are one of the permits of a name;\n"
    "                    default: drawn, none in two thirds of the runs\n"
    "  --barriers P      per mille: how often users arrive at a barrier; else some runs have none\n"
    "  --latches P       per mille: how often users do something about a latch; likewise\n"
    "  --asks P          per mille: how often users ask a holder to let go, or heed wishes;\n"
    "                    default: none, except in the profile wishes\n"
    "  --works P         per mille of the leases under which work is done once;\n"
    "                    default: none, except in the profile once\n"
    "  --leaders P       per mille of the leases that can announce something, and others\n"
    "                    observe; default: drawn, none in two thirds of the runs\n"
    "  --readers P       per mille of the names that are asked for are shared;\n"
    "                    default: drawn, and none in half of the runs\n"
    "  --spare F         spare votes; default: drawn in the profile wrong, else none\n"
    "  --wrong K         masters wrong at once, with --masters and --spare, in that\n"
    "                    profile; default: as many as are tolerated\n"
    "  --masters N       1 to 15; default: drawn for each run, mostly 3 and 5\n"
    "  --clients N       1 to 6; default: 2 or 3\n"
    "  --ops N           calls of the users; default: drawn\n"
    "  --turn N          calls about leases that a client carries out in a turn; default: 1,024\n"
    "  --backlog N       unanswered requests with which a master is behind; default: 8,192\n"
    "  --only RULE       looks at this rule alone (exclusion, orphan, ...)\n"
    "  --catch           says how many seeds it takes to the first violation, and of what\n"
    "  --mutant NAME     with this rule broken\n"
    "  --mutants         breaks one rule after the other until it is noticed\n"
    "  --list-mutants, --list-profiles, --list-faults\n"
    "The status is 0 if no rule was violated (--mutants: if every mutant was caught;\n"
    "--catch, --profile beyond, more wrong than is tolerated: if any violation was found),\n"
    "1 if not, 64 for usage.\n";

static int fail(const char *what, const char *word)
{
    fprintf(stderr, "%s: %s: %s\n", links_kind.program, what, word ? word : "");
    fprintf(stderr, usage, links_kind.program);
    exit(64);
}

static uint64_t number(const char *option, const char *word, uint64_t least, uint64_t most)
{
    char *end = NULL;
    uint64_t value = word ? strtoull(word, &end, 10) : 0;
    if (!word || end == word || *end || value < least || value > most)
        fail(option, word);
    return value;
}

static void range(struct campaign *campaign, const char *word)
{
    if (!word || sscanf(word, "%" SCNu64 "..%" SCNu64, &campaign->first, &campaign->last) != 2 ||
        campaign->last < campaign->first)
        fail("--seeds A..B", word);
}

static void profile(struct campaign *campaign, const char *word)
{
    const struct profile *profile = word ? profile_find(word) : NULL;
    if (!profile)
        fail("no such profile", word);
    if (habit_has_lists(profile->habit) && !links_kind.has_lists)
        fail("these links have one list only", word);
    campaign->profile = profile->name;
    campaign->options.faults = profile->faults;
    campaign->options.habit = profile->habit;
    campaign->options.beyond = campaign->beyond_is_well = profile->beyond;
}

static void without(struct campaign *campaign, const char *word)
{
    for (unsigned kind = 0; kind < FAULTS_END; kind++)
        if (word && strcmp(word, fault_name((enum fault_kind)kind)) == 0) {
            campaign->options.without |= 1U << kind;
            return;
        }
    fail("no such fault", word);
}

static void hand_over(char **words)
{
    mutants_hand_over(words);
    fail("no script of the mutants beside this program", NULL);
}

static void mutant(struct campaign *campaign, const char *word, char **words)
{
    if (!getenv("REDLOCK_SIM_BROKEN")) /* mutants.sh has built this program */
        hand_over(words);
    campaign->mutant = word;
}

static int list(const char *what)
{
    if (strcmp(what, "--list-profiles") == 0)
        for (unsigned i = 0; i < profile_count; i++)
            printf("%-10s %s\n", profiles[i].name, profiles[i].text);
    else
        for (unsigned kind = 0; kind < FAULTS_END; kind++)
            if (kind < FAULT_KINDS || links_kind.faults >> kind & 1)
                puts(fault_name((enum fault_kind)kind));
    return 0;
}

/* With more wrong masters than any two quorums have in common, violations are looked for. */
static void look_for_wrong(struct campaign *campaign)
{
    const struct options *options = &campaign->options;
    if (options->wrong < 0)
        return;
    if (!options->masters || options->spare < 0)
        fail("--wrong takes --masters and --spare", NULL);
    unsigned quorum = wrong_quorum(options->masters, (unsigned)options->spare);
    campaign->beyond_is_well = (unsigned)options->wrong + options->masters >= 2 * quorum;
}

int main(int argc, char **argv)
{
    struct campaign campaign = {.first = 1, .last = 1000};
    struct options *options = &campaign.options;
    options->spare = options->wrong = options->readers = options->tokens = options->periods =
        options->permits = -1;
    options->leaders = -1;
    options->barriers = options->latches = options->asks = options->works = -1;
    bool one = false, catches = false;
    profile(&campaign, "mix");
    for (int i = 1; i < argc; i++) {
        const char *option = argv[i], *next = argv[i + 1];
        if (strcmp(option, "--mutants") == 0 || strcmp(option, "--list-mutants") == 0)
            hand_over(argv);
        if (strncmp(option, "--list-", 7) == 0)
            return list(option);
        if (strcmp(option, "--trace") == 0)
            options->trace = true;
        else if (strcmp(option, "--catch") == 0)
            catches = true;
        else if (i++, strcmp(option, "--seeds") == 0)
            range(&campaign, next);
        else if (strcmp(option, "--seed") == 0)
            campaign.first = number(option, next, 0, UINT64_MAX), one = true;
        else if (strcmp(option, "--masters") == 0)
            options->masters = (unsigned)number(option, next, 1, MASTERS_MAX);
        else if (strcmp(option, "--clients") == 0)
            options->clients = (unsigned)number(option, next, 1, CLIENTS_MAX);
        else if (strcmp(option, "--spare") == 0)
            options->spare = (int)number(option, next, 0, MASTERS_MAX - 1);
        else if (strcmp(option, "--wrong") == 0)
            options->wrong = (int)number(option, next, 0, MASTERS_MAX);
        else if (strcmp(option, "--tokens") == 0)
            options->tokens = (int)number(option, next, 0, 1000);
        else if (strcmp(option, "--periods") == 0)
            options->periods = (int)number(option, next, 0, 1000);
        else if (strcmp(option, "--permits") == 0)
            options->permits = (int)number(option, next, 0, 1000);
        else if (strcmp(option, "--leaders") == 0)
            options->leaders = (int)number(option, next, 0, 1000);
        else if (strcmp(option, "--barriers") == 0)
            options->barriers = (int)number(option, next, 0, 1000);
        else if (strcmp(option, "--latches") == 0)
            options->latches = (int)number(option, next, 0, 1000);
        else if (strcmp(option, "--asks") == 0)
            options->asks = (int)number(option, next, 0, 1000);
        else if (strcmp(option, "--works") == 0)
            options->works = (int)number(option, next, 0, 1000);
        else if (strcmp(option, "--readers") == 0)
            options->readers = (int)number(option, next, 0, 1000);
        else if (strcmp(option, "--ops") == 0)
            options->ops = (unsigned)number(option, next, 1, 1000000);
        else if (strcmp(option, "--turn") == 0)
            calls_a_turn = (unsigned)number(option, next, 1, 1024);
        else if (strcmp(option, "--backlog") == 0)
            backlog = (unsigned)number(option, next, 1, BACKLOG_USUAL);
        else if (strcmp(option, "--profile") == 0)
            profile(&campaign, next);
        else if (strcmp(option, "--without") == 0)
            without(&campaign, next);
        else if (strcmp(option, "--only") == 0 && next)
            options->only = next;
        else if (strcmp(option, "--mutant") == 0)
            mutant(&campaign, next, argv);
        else
            fail("unknown option", option);
    }
    look_for_wrong(&campaign);
    if (catches)
        return campaign_catch(&campaign);
    return one ? campaign_one(&campaign) : campaign_seeds(&campaign);
}
