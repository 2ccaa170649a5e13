/*
 * user.h - a user of the library in a live test: a client on a loop of its own, leases that
 * remember their outcomes, and waiting without sleeping.
 */
#ifndef REDLOCK_TEST_USER_H
#define REDLOCK_TEST_USER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <ev.h>
#include <redlock.h>

#include "asserts.h"
#include "cluster.h"
#include "named.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define KINDS        (REDLOCK_NOT_MOVED + 1)

struct user {
    struct ev_loop *loop;
    redlock *client;
    unsigned ready, closed; /* times told */
    redlock_code ready_code;
    char ready_text[1024];
    unsigned left;
    unsigned warnings;
    char log[4096];     /* all lines so far, as far as they fit */
    int64_t rested_us;  /* when its loop last had nothing more to do */
    int64_t held_up_us; /* by a busy machine: it rested for longer than it meant to */
};

/* One master's vote, kept beyond the callback. */
struct said_vote {
    redlock_vote_kind kind;
    int64_t remaining_ms;
    char holder[128], text[128];
};

/* One outcome, kept. */
struct told {
    unsigned times;
    redlock_event event; /* its pointers are not to be used */
    struct said_vote votes[REDLOCK_MASTERS_MAX];
    char text[512];
    int64_t at_us;
    int64_t held_up_us; /* just before, by a busy machine: see struct user */
    int64_t valid_for;  /* redlock_lease_valid_for() inside the callback */
};

/* A lease and all its outcomes. */
struct take {
    struct user *user;
    redlock_lease *lease;
    struct told told[KINDS];
    unsigned outcomes; /* of any kind */
};

/* A look, and its last answer. */
struct seen {
    struct user *user;
    redlock_look *look;
    unsigned times;
    redlock_look_result result; /* its pointers are not to be used */
    struct said_vote votes[REDLOCK_MASTERS_MAX];
    char text[512];
};

/* No other client has it, so any list may be used.  It stays until the next call. */
const char *fleet_of_its_own(void);
/* Opens a client and waits until it is ready.  `options` may be NULL, and is then patient
 * with masters, so that a busy machine does not look like a broken one; its nodes may be. */
void user_open(struct user *user, const struct cluster *cluster, const redlock_options *options);
/* On a loop that exists, without waiting.  If its options have nodes, its fleet is its own. */
void user_begin(struct user *user, struct ev_loop *loop, const char *nodes,
                const redlock_options *options);
/* On a loop that exists; waits until the client is ready. */
void user_join(struct user *user, struct ev_loop *loop, const struct cluster *cluster);
/* Closes, waits, frees.  The loop stays.  Returns `left`. */
unsigned user_end(struct user *user, int64_t patience_ms);
/* user_end() of a client that may not be ready yet. */
unsigned user_end_early(struct user *user, int64_t patience_ms);
/* Closes the client and its loop, which nothing may keep alive. */
unsigned user_close(struct user *user, int64_t patience_ms);
/* user_close(), and no key but redlock:clock may be left anywhere. */
void user_close_clean(struct user *user, struct cluster *cluster);

redlock_stats stats_of(const struct user *user);
redlock_node node_of(const struct user *user, unsigned index);
/* All masters vote. */
bool user_all_up(const struct user *user);
/* No master owes the client an answer. */
bool user_is_quiet(const struct user *user);

/* For tests that are about requests not answered in time. */
redlock_options impatient(void);

redlock_lease_options lease_terms(int64_t ttl_ms, int64_t wait_ms);
void take_init(struct take *take, struct user *user);
void take_hear(redlock_lease *lease, const redlock_event *event, void *take);
/* Asks for a lease on one name. */
void take_ask(struct take *take, struct user *user, const char *name,
              const redlock_lease_options *options);
/* Asks, and waits for ACQUIRED or NOT_ACQUIRED: the code. */
redlock_code take_lock(struct take *take, struct user *user, const char *name,
                       const redlock_lease_options *options);
/* Releases, waits, frees the handle: the code. */
redlock_code take_release(struct take *take);
void take_free(struct take *take);
/* True after ACQUIRED. */
bool has(const struct take *take);

void look_hear(redlock_look *look, const redlock_look_result *result, void *seen);
/* Asks for the holder of the name, waits for the answer, and frees the look. */
void look_at(struct seen *seen, struct user *user, const char *name);

/* Runs the loop for one iteration; false once now_us() has passed `end_us`. */
bool user_step(struct user *user, int64_t end_us);

/* A command to the cluster, while the loop goes on: leases are renewed meanwhile. */
void user_meanwhile(struct user *user, const struct cluster *cluster, const char *command);

/* Runs the loop until the condition holds; the test fails if it does not in time. */
#define AWAIT_MS(user, condition, ms)                                                              \
    do {                                                                                           \
        int64_t end_ = now_us() + (int64_t)(ms)*1000;                                              \
        while (!(condition))                                                                       \
            if (!user_step((user), end_))                                                          \
                fail_msg("not within %lld ms: %s", (long long)(ms), #condition);                   \
    } while (0)
#define AWAIT(user, condition) AWAIT_MS(user, condition, 10000)
/* Waits for a condition that must come soon, less the time for which this process was held up. */
#define AWAIT_AWAKE_MS(user, condition, ms)                                                        \
    do {                                                                                           \
        int64_t begin_ = now_us() - (user)->held_up_us;                                            \
        while (!(condition))                                                                       \
            if (!user_step((user), begin_ + (user)->held_up_us + (int64_t)(ms)*1000))              \
                fail_msg("not within %lld ms: %s", (long long)(ms), #condition);                   \
    } while (0)

#endif
