/*
 * testing.c - five tests of a program that takes a lock.  They need no server, and no time:
 * redlock/testing.h.  Link it with libredlock-testing in the place of libredlock.
 */
#include <redlock/testing.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(what) ((what) ? (void)0 : fail(__LINE__, #what))

static void fail(int line, const char *what)
{
    fprintf(stderr, "line %d, after %lld ms: not true: %s %s\n", line,
            (long long)redlock_testing_now_ms(), what, redlock_testing_why());
    exit(1);
}

/* ---- what is tested: a worker with a lock, and a store that it writes to ---- */

struct store {
    int64_t fence;
    int value;
};

static bool store_write(struct store *store, int64_t fence, int value)
{
    if (fence < store->fence)
        return false;
    *store = (struct store){fence, value};
    return true;
}

struct worker {
    redlock *client;
    redlock_lease *lease;
    redlock_event_kind heard; /* the last event, with its code and validity */
    redlock_code code;
    int64_t valid_ms;
    bool holds;
};

static void on_event(redlock_lease *lease, const redlock_event *event, void *data)
{
    struct worker *worker = data;
    (void)lease;
    worker->heard = event->kind;
    worker->code = event->code;
    worker->valid_ms = event->valid_ms;
    if (event->kind == REDLOCK_ACQUIRED)
        worker->holds = true;
    if (event->kind == REDLOCK_LOST)
        worker->holds = false; /* it stops here */
}

static void worker_ask(struct worker *worker, int64_t wait_ms)
{
    redlock_lease_options wanted = {
        .size = sizeof wanted, .ttl_ms = 10000, .wait_ms = wait_ms, .fence = true};
    redlock_lease_free(worker->lease);
    CHECK(!redlock_acquire(worker->client, &worker->lease, "report", &wanted, on_event, worker));
    redlock_testing_advance(0); /* here on_event is called, if there is news */
}

static void worker_begin(struct worker *worker)
{
    redlock_options options = {.size = sizeof options, .nodes = "memory://5"};
    *worker = (struct worker){0};
    CHECK(!redlock_open(&worker->client, NULL, &options, NULL, 0));
}

static void worker_end(struct worker *worker)
{
    redlock_free(worker->client);
}

/* ---- the tests ---- */

/* Three of five masters hang.  The lease cannot be renewed, and LOST comes while it is still valid:
 * the margin, of ttl/20, before its end. */
static void lost_comes_in_time(void)
{
    struct worker worker;
    worker_begin(&worker);
    worker_ask(&worker, 0);
    CHECK(worker.holds && worker.valid_ms == 10000 - 10000 / 100 - 2);
    for (unsigned master = 0; master < 3; master++)
        redlock_testing_hang(master, true);
    redlock_testing_advance(worker.valid_ms - 500 - 1);
    CHECK(worker.holds && worker.heard == REDLOCK_AT_RISK);
    redlock_testing_advance(1);
    CHECK(worker.heard == REDLOCK_LOST && worker.code == REDLOCK_E_EXPIRED);
    CHECK(worker.valid_ms == 500 && !worker.holds);
    worker_end(&worker);
}

/* A holder that does not know yet that it has lost the lock writes late. */
static void late_write_is_refused(void)
{
    struct worker former, next;
    struct store store = {0};
    worker_begin(&former);
    worker_begin(&next);
    worker_ask(&former, 0);
    worker_ask(&next, REDLOCK_FOREVER);
    CHECK(former.holds && !next.holds);
    CHECK(store_write(&store, redlock_lease_fence(former.lease), 1));
    redlock_testing_break("report");
    redlock_testing_advance(0);
    CHECK(former.holds && next.holds);
    CHECK(store_write(&store, redlock_lease_fence(next.lease), 2));
    CHECK(!store_write(&store, redlock_lease_fence(former.lease), 3));
    CHECK(store.value == 2);
    redlock_testing_advance(10000);
    CHECK(former.heard == REDLOCK_LOST && former.code == REDLOCK_E_GONE && next.holds);
    worker_end(&former);
    worker_end(&next);
}

/* Another holder has the lock for a while. */
static void waiter_gets_its_turn(void)
{
    struct worker worker;
    worker_begin(&worker);
    redlock_testing_hold("report", 60000);
    worker_ask(&worker, REDLOCK_FOREVER);
    redlock_testing_advance(30000);
    CHECK(!worker.holds);
    redlock_testing_give("report");
    redlock_testing_advance(0);
    CHECK(worker.holds);
    worker_end(&worker);
}

/* Two of five masters may be away, and three may not. */
static void quorum_is_gone(void)
{
    struct worker worker;
    worker_begin(&worker);
    redlock_testing_kill(0);
    redlock_testing_kill(1);
    worker_ask(&worker, 0);
    CHECK(worker.holds);
    redlock_testing_kill(2);
    worker_ask(&worker, 0);
    redlock_testing_advance(10000);
    CHECK(worker.heard == REDLOCK_NOT_ACQUIRED && worker.code == REDLOCK_E_UNAVAILABLE);
    redlock_testing_restart(2, true);
    worker_end(&worker);
}

/* All masters start again with nothing.  They give no lock away until each lease that they may have
 * forgotten is over: max_ttl_ms, and what clocks may differ. */
static void restarted_masters_abstain(void)
{
    struct worker former, next;
    worker_begin(&former);
    worker_begin(&next);
    worker_ask(&former, 0);
    for (unsigned master = 0; master < 5; master++)
        redlock_testing_restart(master, false);
    redlock_testing_advance(1000);
    worker_ask(&next, 0);
    redlock_testing_advance(1000);
    CHECK(next.heard == REDLOCK_NOT_ACQUIRED && next.code == REDLOCK_E_UNAVAILABLE);
    redlock_testing_advance(35000);
    worker_ask(&next, 0);
    CHECK(next.holds && !former.holds);
    worker_end(&former);
    worker_end(&next);
}

int main(void)
{
    void (*const tests[])(void) = {lost_comes_in_time, late_write_is_refused, waiter_gets_its_turn,
                                   quorum_is_gone, restarted_masters_abstain};
    for (unsigned i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        CHECK(!redlock_testing_begin(REDLOCK_TESTING_VIRTUAL));
        tests[i]();
    }
    puts("all five are right");
    return 0;
}
