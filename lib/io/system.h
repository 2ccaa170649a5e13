/*
 * system.h - what only the operating system knows: the time that counts suspend,
 * random bytes, whether this process is a forked child.
 */
#ifndef REDLOCK_IO_SYSTEM_H
#define REDLOCK_IO_SYSTEM_H

#include "event.h"

/* CLOCK_BOOTTIME, in microseconds. */
usec system_now(void);

/* Our wall clock less system_now(): for showing how far a master's clock is off,
 * never for validity. */
usec system_wall_lead(void);

/* Makes the random source ready and arms the fork counter; 0 or -1.  Once per
 * client; any thread. */
int system_start(void);

/* Random bytes for the next step: at least RANDOMNESS_PER_STEP, from a buffer of
 * `store` that is refilled from libsodium when low (one system call for many
 * tokens), never handed out twice, not even in a forked child. */
struct randomness_store {
    uint8_t bytes[1024];
    size_t used;
    unsigned forks; /* system_fork_count() when they were drawn */
};
void randomness_init(struct randomness_store *store);
struct randomness randomness_lend(struct randomness_store *store);
/* Tells what the step left of it; the bytes taken are wiped. */
void randomness_settle(struct randomness_store *store, struct randomness rest);

/* Grows by one in every forked child. */
unsigned system_fork_count(void);

/* The default owner label, "host:pid", printable and at most `size` - 1 bytes. */
void system_label(char *label, size_t size);

#endif
