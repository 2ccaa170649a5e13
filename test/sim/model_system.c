/*
 * model_system.c - lib/io/system.h and forks.h, and where the client's memory comes from, of
 * the process that runs just now.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client_shell.h"
#include "memory.h"

/* ---- time and place ---------------------------------------------------------- */

usec system_now(void)
{
    return shell_now(shell_present);
}

usec system_wall_lead(void)
{
    return 0;
}

int system_start(void)
{
    return 0;
}

unsigned forks_process(void)
{
    return shell_present->process;
}

void system_label(char *label, size_t size)
{
    snprintf(label, size, "client:%u", shell_present->index + 1);
}

/* ---- random bytes, lent as lib/io/system.c lends them --------------------------- */

static void draw(struct randomness_store *store)
{
    for (size_t i = 0; i < sizeof store->bytes; i += 8) {
        uint64_t word = chance_next(&shell_present->secrets);
        for (unsigned k = 0; k < 8; k++)
            store->bytes[i + k] = (uint8_t)(word >> 8 * k);
    }
    store->used = 0;
    store->drawn_at = 1;
}

void randomness_forget(struct randomness_store *store)
{
    store->drawn_at = 0;
}

struct randomness randomness_lend(struct randomness_store *store)
{
    if (!store->drawn_at || sizeof store->bytes - store->used < RANDOMNESS_PER_STEP)
        draw(store);
    return (struct randomness){store->bytes + store->used, RANDOMNESS_PER_STEP};
}

void randomness_settle(struct randomness_store *store, struct randomness rest)
{
    store->used += RANDOMNESS_PER_STEP - rest.left;
}

/* ---- memory ------------------------------------------------------------------ */

/* Of the client whose memory it is: its process may have another one. */
static struct account *account_of(void *pool)
{
    const redlock *client = (void *)((char *)pool - offsetof(redlock, pool));
    return &((struct shell *)(void *)client->io)->account;
}

static void *take(void *pool, size_t size)
{
    struct account *account = account_of(pool);
    if (account->fail_permille && chance_permille(&account->chance, account->fail_permille))
        return NULL;
    account->blocks++;
    account->bytes += (int64_t)size;
    return calloc(1, size);
}

static void give(void *pool, void *block, size_t size)
{
    struct account *account = account_of(pool);
    account->blocks--;
    account->bytes -= (int64_t)size;
    free(block);
}

struct memory client_memory(struct pool *pool)
{
    return (struct memory){take, give, pool};
}

void pool_end(struct pool *pool)
{
    (void)pool;
}
