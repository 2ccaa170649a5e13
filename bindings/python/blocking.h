/*
 * blocking.h - waits that a signal of Python can end, and events that wait for the interpreter.
 * No Python runs on a thread of the library: so a busy interpreter holds up no renewal.
 */
#ifndef REDLOCKS_BLOCKING_H
#define REDLOCKS_BLOCKING_H

#include <redlock.h>
#include <redlock/recipes.h>

/* ---- Letters: events of leases, for the thread of Python that calls callbacks ---- */

struct letter {
    struct letter *next;
    uint64_t lease;      /* its number */
    redlock_event event; /* its strings are `text` alone */
    char text[256];
};

struct inbox;
struct inbox *inbox_new(void);
void inbox_drop(struct inbox *box);
/* Waits for the next letter.  NULL: the inbox is closed. */
struct letter *inbox_take(struct inbox *box);
void inbox_close(struct inbox *box);
void letter_free(struct letter *letter);

/* ---- An acquire, and the lease that comes of it ---- */

struct held {
    redlock_sync_lease *lease; /* NULL: none */
    redlock_sync_result result;
};

/* Without an inbox its events are read by held_loss() alone. */
struct held *held_new(redlock_sync *client, struct inbox *box, uint64_t number);
/* Ends the acquire if it is still under way. */
void held_free(struct held *held);
/* The arguments must live until the acquire is done or held_free() has returned. */
redlock_code held_acquire(struct held *held, const redlock_name *names, size_t count,
                          const redlock_lease_options *options);
/* Begins it on a thread of its own.  Then held_wait() says whether it is done. */
bool held_begin(struct held *held, const redlock_name *names, size_t count,
                const redlock_lease_options *options);
bool held_wait(struct held *held, int64_t ms);
/* The code of LOST; REDLOCK_OK: it was not lost. */
redlock_code held_loss(const struct held *held);

/* ---- A call at a barrier or latch, or a wish, which runs on the library's thread ---- */

struct task {
    redlock_code code;
    redlock_barrier_result passage;
    redlock_latch_result tally;
    redlock_asked asked;
    char text[1024];
};
typedef redlock_code latch_call(redlock *client, redlock_latch **latch, const char *name,
                                const redlock_latch_options *options,
                                redlock_latch_callback *callback, void *data);

struct task *task_new(redlock_sync *client);
/* Ends the call if it is still under way. */
void task_free(struct task *task);
/* The arguments must live until these have returned. */
redlock_code task_arrive(struct task *task, const char *name,
                         const redlock_barrier_options *options);
redlock_code task_latch(struct task *task, latch_call *call, const char *name,
                        const redlock_latch_options *options);
redlock_code task_ask(struct task *task, const char *name, const redlock_ask_options *options);
bool task_wait(struct task *task, int64_t ms);

/* The text of redlock_stats_text(), for text_free(); NULL without memory, or after a close. */
char *metrics_of(redlock_sync *client);
void text_free(char *text);

#endif
