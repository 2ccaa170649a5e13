/*
 * system.h - what comes from the operating system: the time, with suspend counted,
 * random bytes, the name of this process.
 */
#ifndef REDLOCK_IO_SYSTEM_H
#define REDLOCK_IO_SYSTEM_H

#include "ground/event.h"

/* CLOCK_BOOTTIME, in microseconds. */
usec system_now(void);

/* Our wall clock less system_now(): to show how far a master's clock is off, never for
 * validity. */
usec system_wall_lead(void);

/* Makes the random source ready and watches for forks; 0 or -1.  Once per client; any
 * thread. */
int system_start(void);

/* Random bytes for the next step, never handed out twice.  They come from the kernel, by libsodium,
 * many at a time, for each time is a system call.  A copy of them, by a fork or by a snapshot that
 * is restored twice, must not give two clients one token.  So the store draws new bytes when its
 * bytes are old, in a child, and after randomness_forget(), called for each new connection. */
struct randomness_store {
    uint8_t bytes[256];
    uint8_t lent[RANDOMNESS_PER_STEP]; /* for the step under way, with the moment in them */
    size_t used;
    int64_t drawn_at; /* by the wall clock, in ns; 0: there are no bytes */
    unsigned process; /* forks_process() when they were drawn */
};
void randomness_forget(struct randomness_store *store);
struct randomness randomness_lend(struct randomness_store *store);
/* Takes the rest that the step left; the bytes that it took are wiped. */
void randomness_settle(struct randomness_store *store, struct randomness rest);

/* The bytes count no more: whole pages of them go back to the system. */
void system_forget(void *bytes, size_t size);

/* The reason of IO_REFUSED: epoll takes no more. */
#define SYSTEM_NOT_WATCHED                                                                         \
    "the event loop cannot watch another descriptor (look at fs.epoll.max_user_watches)"

/* The default owner label, "host:pid", printable and at most `size` - 1 bytes. */
void system_label(char *label, size_t size);

#endif
