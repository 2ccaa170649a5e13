/*
 * fake.h - a shell for the core with neither socket nor clock. It keeps the open requests
 * of each master, and writes down all that the core does.
 *
 * It also checks the core's side of event.h: the core sends only on a connection that is up,
 * reports each outcome once, and gives all memory back.
 */
#ifndef REDLOCK_TEST_FAKE_H
#define REDLOCK_TEST_FAKE_H

#include "engine.h"
#include "ground/shared.h"
#include "lease/lease.h"
#include "masters/master.h"
#include "text.h"

#define ACTORS_MAX     64
#define TOKENS_MAX     256
#define FAKE_TASKS_MAX 8
#define TRACE_WIDTH    110
#define EPOCH          INT64_C(1000000000) /* 0.000 of a scenario on our clock */

enum wire { WIRE_DOWN, WIRE_CONNECTING, WIRE_UP, WIRE_CLOSING };
enum subscription_state {
    SUBSCRIPTION_NONE,
    SUBSCRIPTION_ASKED,
    SUBSCRIPTION_UP,
    SUBSCRIPTION_CLOSING
};

/* One master, and the connection to it. */
struct fake_master {
    enum wire wire;
    enum subscription_state subscription; /* the notification connection */
    bool lost_it;                         /* by itself, while the other connection was up */
    bool hangs;
    unsigned connections;
    struct tag *waiting; /* requests not yet answered, oldest first */
    unsigned count, capacity;
    char run_id[RUN_ID_MAX + 1], role[12];
    usec clock;       /* its wall clock less ours */
    usec logical;     /* its logical clock in its hello; 0: none */
    usec quarantined; /* until then, our clock */
    usec age;         /* of its process at 0.000 */
    int64_t uptime_s;
    int64_t client_id;
    int64_t max_ttl_ms;
};

/* A lease with a name, so that scenarios can speak of it. */
struct actor {
    struct lease core;
    struct lease_extra extra; /* behind it: see lease_extra() */
    char name[32];
    bool used, begun, untold, acquired, lost, ended;
};

/* An observer, or what a lease announces; see fake_tasks.h. */
struct fake_task {
    char name[32];
    struct task *core;         /* NULL: there is none */
    const struct actor *lease; /* that announces; NULL: any other task */
    bool is_party, is_latcher, is_survey, is_asker, is_heeder, untold;
    bool ended;       /* a party, or a call about a latch, has its outcome */
    struct said told; /* the observer's last one: no smaller term may follow */
};

struct fake;

struct watcher {
    void (*before)(struct fake *fake, const struct event *event);
    void (*acts)(struct fake *fake, const struct effect *effect);
    void (*after)(struct fake *fake); /* behind the outcomes */
};

struct fake {
    struct engine engine;
    const struct watcher *watcher; /* NULL: none */
    usec now;
    bool started, made, closing, closed, ready;
    bool telling;                  /* outcomes come at once; else by fake_tell_all() */
    unsigned sent, told, connects; /* how often so far */
    struct fake_master masters[MASTERS_MAX];
    struct actor actors[ACTORS_MAX];
    struct fake_task tasks[FAKE_TASKS_MAX];
    char tokens[TOKENS_MAX][TOKEN_MAX + 1];
    uint8_t drawn; /* the last byte handed out as random */

    struct memory memory;
    size_t allocated;
    long countdown; /* allocations until one fails; 0: none does */
    bool starved;   /* one has failed */

    struct text trace; /* all that the core did, a line for each effect */
    bool silent;
    struct {
        char head[32], tail[340], masters[64];
        bool any;
    } line; /* effects that differ only in the master share one */

    struct text reasons; /* lines behind the present line of the trace */

    char broken[256]; /* the first promise that was broken; "": none */
};

void fake_init(struct fake *fake);
bool fake_start(struct fake *fake, const struct engine_config *config);
/* Closes the engine, answers and waits until no request is left, and checks that. */
void fake_finish(struct fake *fake);
/* Frees its trace. */
void fake_drop(struct fake *fake);

void fake_note(struct fake *fake, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A line behind what the core did last. */
void fake_reason(struct fake *fake, const char *format, ...) __attribute__((format(printf, 2, 3)));
void fake_flush(struct fake *fake);
void fake_break(struct fake *fake, const char *format, ...) __attribute__((format(printf, 2, 3)));

void fake_step(struct fake *fake, const struct event *event);
void fake_tell_all(struct fake *fake);
void fake_wake(struct fake *fake);
void fake_advance(struct fake *fake, usec time);
/* Advances until `*events` has changed, or to `end`; false then. */
bool fake_until(struct fake *fake, usec end, const unsigned *events);

/* The oldest request of `master` is answered; false if there is none. */
bool fake_answer(struct fake *fake, unsigned master, struct reply *reply);
bool fake_answer_hello(struct fake *fake, unsigned master);
void fake_connected(struct fake *fake, unsigned master);
/* The connection ends: what waits is lost. */
void fake_lose(struct fake *fake, unsigned master, const char *why);

/* The notification connection; `other`: of another process than the one that answered hello.
 * False if the core did not ask for it. */
bool fake_subscribed(struct fake *fake, unsigned master, bool other);
bool fake_alive(struct fake *fake, unsigned master);
bool fake_unsubscribed(struct fake *fake, unsigned master);
/* A push: the master has handed the names to the token or, from 0 on, `free_slot` is free.
 * False if no token has that short name, or the client is not subscribed. */
bool fake_push(struct fake *fake, unsigned master, const char *token, usec clock, int free_slot);

/* With commas between them; NULL when memory is out. */
struct names *fake_names(struct fake *fake, const char *list);
struct actor *fake_actor(struct fake *fake, const char *name);
bool fake_new(struct fake *fake, const char *name, const char *names, const struct terms *terms,
              const char *token);
void fake_call(struct fake *fake, struct actor *actor, enum event_kind kind, usec ttl);
const char *fake_cause_name(enum cause cause);
const char *fake_answer_name(enum answer answer);
/* The votes of the lease, with commas; "" without a round. */
void fake_votes(struct fake *fake, const struct lease *lease, char *to, size_t size);
/* Its short name, "token-1" for the first one seen. */
const char *fake_token(struct fake *fake, const char *token, size_t length);

/* "9.898s", "3ms"; one of a few buffers. */
const char *fake_time(usec time);

#endif
