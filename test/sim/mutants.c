#include "mutants.h"

#include <strings.h>

#include "model_master.h"

enum mutant mutant_present;
enum client_mutant client_mutant_present;

static const struct {
    const char *name, *text;
} table[] = {{"none", "the library as it is"},
#define MUTANT_ROW(name, text) {#name, text},
             MUTANTS(MUTANT_ROW) CLIENT_MUTANTS(MUTANT_ROW)
#undef MUTANT_ROW
};

const char *mutant_name(int mutant)
{
    return table[mutant].name;
}

const char *mutant_text(int mutant)
{
    return table[mutant].text;
}

int mutant_find(const char *name)
{
    for (int i = 0; i < MUTANTS_END; i++)
        if (strcasecmp(name, table[i].name) == 0)
            return i;
    return -1;
}

void mutant_set(int number)
{
    enum mutant mutant = number < MUTANT_COUNT ? (enum mutant)number : MUTANT_NONE;
    mutant_present = mutant;
    client_mutant_present = number < MUTANT_COUNT
                                ? CLIENT_MUTANT_NONE
                                : (enum client_mutant)(number - OF_CLIENT(CLIENT_MUTANT_NONE));
    model_flaws = (struct model_flaws){.ignores_run_id = mutant == MUTANT_RUN_ID_UNCHECKED,
                                       .seeds_if_absent = mutant == MUTANT_CLOCK_IF_ABSENT,
                                       .starts_low = mutant == MUTANT_CLOCK_LOW,
                                       .proposals_uncut = mutant == MUTANT_PROPOSAL_UNCUT,
                                       .orders_by_arrival = mutant == MUTANT_ARRIVAL_ORDER,
                                       .queue_stands = mutant == MUTANT_ENQUEUE_STANDS,
                                       .keeps_dead = mutant == MUTANT_DEAD_KEPT,
                                       .lets_barge = mutant == MUTANT_BARGING,
                                       .grants_stand = mutant == MUTANT_GRANT_STANDS,
                                       .raises_for_anyone = mutant == MUTANT_RAISE_UNOWNED};
}
