/*
 * broken.c - makes a worker whose library breaks one of its rules, that which the environment
 * variable REDLOCK_MUTANT names; the core is the simulator's (mutant.h).  A judge that never saw a
 * violation proves nothing.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ground/mutant.h"

enum mutant mutant_present;

static const char *const names[MUTANT_COUNT] = {
#define MUTANT_NAME(name, text) [MUTANT_##name] = #name,
    MUTANTS(MUTANT_NAME)
#undef MUTANT_NAME
};

/* Rules of the masters' scripts and of the shell, which the simulator breaks in its own ways. */
static const enum mutant elsewhere[] = {
    MUTANT_RELEASE_OVERTAKES, MUTANT_RUN_ID_UNCHECKED, MUTANT_GRANT_KEEPS_CLOCK,
    MUTANT_RAISE_UNOWNED,     MUTANT_CLOCK_IF_ABSENT,  MUTANT_CLOCK_LOW,
    MUTANT_PROPOSAL_UNCUT,    MUTANT_ARRIVAL_ORDER,    MUTANT_ENQUEUE_KEEPS_CLOCK,
    MUTANT_DEAD_KEPT,         MUTANT_BARGING};

static bool is_elsewhere(int mutant)
{
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if ((int)elsewhere[i] == mutant)
            return true;
    return false;
}

static void misuse(const char *name)
{
    fprintf(stderr,
            "worker: REDLOCK_MUTANT=%s names no rule that the core could break; it is one of\n",
            name);
    for (int i = MUTANT_NONE + 1; i < MUTANT_COUNT; i++)
        if (!is_elsewhere(i))
            fprintf(stderr, "  %s\n", names[i]);
    exit(64);
}

/* Before main(), which is that of the sound worker. */
__attribute__((constructor)) static void choose(void)
{
    const char *name = getenv("REDLOCK_MUTANT");
    for (int i = MUTANT_NONE + 1; name && i < MUTANT_COUNT; i++)
        if (strcmp(name, names[i]) == 0 && !is_elsewhere(i)) {
            mutant_present = (enum mutant)i;
            return;
        }
    misuse(name ? name : "");
}
