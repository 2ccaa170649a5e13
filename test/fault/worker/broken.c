/*
 * broken.c - makes a worker whose library breaks one of its rules, that which the environment
 * variable REDLOCK_MUTANT names; the core is the simulator's (mutant.h).  MODES_IGNORED is the
 * worker's own: it has every name shared, and believes of each what it wished for.  A judge that
 * never saw a violation proves nothing.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock.h>

#include "ground/mutant.h"

#define MODES_IGNORED "MODES_IGNORED"

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
    MUTANT_DEAD_KEPT,         MUTANT_BARGING,          MUTANT_READERS_BARGE,
    MUTANT_MARKER_OF_LAST,    MUTANT_MARKER_FREED};

static bool modes_ignored;

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
    fputs("  " MODES_IGNORED "\n", stderr);
    exit(64);
}

/* Before main(), which is that of the sound worker. */
__attribute__((constructor)) static void choose(void)
{
    const char *name = getenv("REDLOCK_MUTANT");
    modes_ignored = name && strcmp(name, MODES_IGNORED) == 0;
    if (modes_ignored)
        return;
    for (int i = MUTANT_NONE + 1; name && i < MUTANT_COUNT; i++)
        if (strcmp(name, names[i]) == 0 && !is_elsewhere(i)) {
            mutant_present = (enum mutant)i;
            return;
        }
    misuse(name ? name : "");
}

/* The linker gives us the worker's calls (--wrap). */
__typeof__(redlock_acquire) __wrap_redlock_acquire, __real_redlock_acquire;

redlock_code __wrap_redlock_acquire(redlock *client, redlock_lease **lease, const char *name,
                                    const redlock_lease_options *options,
                                    redlock_callback *callback, void *data)
{
    redlock_lease_options asked = *options;
    asked.shared = asked.shared || modes_ignored;
    return __real_redlock_acquire(client, lease, name, &asked, callback, data);
}
