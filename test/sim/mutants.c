#include "mutants.h"

#include <string.h>
#include <strings.h>

#include "model_master.h"

enum mutant mutant_present;

static const struct {
    const char *name, *text;
} table[MUTANT_COUNT] = {[MUTANT_NONE] = {"none", "the core as it is"},
#define MUTANT_ROW(name, text) [MUTANT_##name] = {#name, text},
                         MUTANTS(MUTANT_ROW)
#undef MUTANT_ROW
};

const char *mutant_name(enum mutant mutant)
{
    return table[mutant].name;
}

const char *mutant_text(enum mutant mutant)
{
    return table[mutant].text;
}

bool mutant_find(const char *name, enum mutant *mutant)
{
    for (int i = 0; i < MUTANT_COUNT; i++)
        if (strcasecmp(name, table[i].name) == 0) {
            *mutant = (enum mutant)i;
            return true;
        }
    return false;
}

void mutant_set(enum mutant mutant)
{
    mutant_present = mutant;
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
