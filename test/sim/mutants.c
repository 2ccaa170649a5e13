#include "mutants.h"

#include <strings.h>

#include "links.h"

enum mutant mutant_present;
enum client_mutant client_mutant_present;
unsigned client_calls_a_turn;
enum byte_mutant byte_mutant_present;

static const struct {
    const char *name, *text;
} table[] = {{"none", "the library as it is"},
#define MUTANT_ROW(name, text) {#name, text},
             MUTANTS(MUTANT_ROW) CLIENT_MUTANTS(MUTANT_ROW) BYTE_MUTANTS(MUTANT_ROW)
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
    for (int i = 0; i < links_kind.known_mutants_end; i++)
        if (strcasecmp(name, table[i].name) == 0)
            return i;
    return -1;
}

void mutant_set(int number)
{
    enum mutant mutant = number < MUTANT_COUNT ? (enum mutant)number : MUTANT_NONE;
    mutant_present = mutant;
    int of_client = number - OF_CLIENT(0), of_bytes = number - OF_BYTES(0);
    bool is_client = of_client > 0 && of_client < CLIENT_MUTANT_COUNT;
    client_mutant_present = is_client ? (enum client_mutant)of_client : CLIENT_MUTANT_NONE;
    byte_mutant_present = of_bytes > 0 ? (enum byte_mutant)of_bytes : BYTE_MUTANT_NONE;
    model_flaws = (struct model_flaws){.ignores_run_id = mutant == MUTANT_RUN_ID_UNCHECKED,
                                       .seeds_if_absent = mutant == MUTANT_CLOCK_IF_ABSENT,
                                       .starts_low = mutant == MUTANT_CLOCK_LOW,
                                       .proposals_uncut = mutant == MUTANT_PROPOSAL_UNCUT,
                                       .orders_by_arrival = mutant == MUTANT_ARRIVAL_ORDER,
                                       .queue_keeps_clock = mutant == MUTANT_ENQUEUE_KEEPS_CLOCK,
                                       .keeps_dead = mutant == MUTANT_DEAD_KEPT,
                                       .heals_marked = mutant == MUTANT_HEALS_MARKED,
                                       .lets_barge = mutant == MUTANT_BARGING,
                                       .passes_registry = mutant == MUTANT_REGISTRY_PASSED,
                                       .new_places_pass = mutant == MUTANT_ENQUEUED_PASSES,
                                       .readers_barge = mutant == MUTANT_READERS_BARGE,
                                       .marker_of_last = mutant == MUTANT_MARKER_OF_LAST,
                                       .frees_for_readers = mutant == MUTANT_MARKER_FREED,
                                       .upgrades_beside = mutant == MUTANT_UPGRADE_BESIDE,
                                       .grants_keep_clock = mutant == MUTANT_GRANT_KEEPS_CLOCK,
                                       .raises_for_anyone = mutant == MUTANT_RAISE_UNOWNED,
                                       .announces_for_anyone = mutant == MUTANT_ANNOUNCE_UNOWNED};
}
