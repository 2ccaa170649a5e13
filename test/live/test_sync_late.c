/*
 * Delays make each thread meet what another thread has done meanwhile. A thread that wakes after
 * the end of its lease does not acquire it. A lease that a thread gives back is given back from
 * then on.
 */
#include "fixture.h"
#include "sync_user.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

/* ---- A gate, at which a thread waits until the test opens it ---- */

static int gate[2];
static atomic_bool is_held_up;

static void wait_at_gate(void)
{
    char byte;
    atomic_store(&is_held_up, true);
    while (read(gate[0], &byte, 1) < 0)
        ;
}

static void on_signal(int number)
{
    (void)number;
    wait_at_gate();
}

static void set_gate(void)
{
    atomic_store(&is_held_up, false);
    assert_int_equal(pipe(gate), 0);
}

static void open_gate(void)
{
    assert_int_equal(write(gate[1], "", 1), 1);
}

static void remove_gate(void)
{
    close(gate[0]);
    close(gate[1]);
}

static pthread_t begin(void *(*function)(void *), void *data)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, function, data), 0);
    return thread;
}

/* ---- Woken after the end ---- */

struct sleeper {
    redlock_sync *client;
    redlock_sync_lease *lease;
    redlock_code code;
    atomic_bool lost;
};

static void note_loss(const redlock_event *event, void *data)
{
    struct sleeper *sleeper = data;
    if (event->kind == REDLOCK_LOST)
        atomic_store(&sleeper->lost, true);
}

static void *acquire(void *data)
{
    struct sleeper *sleeper = data;
    redlock_lease_options options = terms(1500, 60000);
    options.no_renew = true;
    options.on_event = note_loss;
    options.data = sleeper;
    sleeper->code = redlock_sync_acquire(sleeper->client, &sleeper->lease, "late", &options, NULL);
    return NULL;
}

/* A signal holds the thread up while it waits, until the lease that it was given is over. */
CASE(woken_after_the_end_it_has_no_lease)
{
    set_gate();
    signal(SIGUSR1, on_signal);
    struct sleeper sleeper = {.client = open_on(&cluster)};
    redlock_sync_lease *before = take(sleeper.client, "late", NULL);
    pthread_t thread = begin(acquire, &sleeper);
    AWAIT(stats_now(sleeper.client).waiting == 1);
    pthread_kill(thread, SIGUSR1);
    AWAIT(atomic_load(&is_held_up));
    give_back(before);
    AWAIT(atomic_load(&sleeper.lost));
    open_gate();
    pthread_join(thread, NULL);
    assert_code(sleeper.code, REDLOCK_E_TOO_SLOW);
    assert_null(sleeper.lease);
    close_clean(sleeper.client, &cluster);
    remove_gate();
}

/* ---- Given back before it is carried out ---- */

struct giver {
    redlock_sync *client;
    redlock_sync_lease *lease;
    int64_t left; /* as the background thread reads it, just before it carries out the release */
    atomic_bool looks;
};

static void hold_up(redlock *redlock, void *data)
{
    (void)redlock, (void)data;
    wait_at_gate();
}

static void *hold_up_background(void *data)
{
    const struct giver *giver = data;
    redlock_sync_run(giver->client, hold_up, NULL);
    return NULL;
}

static void look(redlock *redlock, void *data)
{
    struct giver *giver = data;
    (void)redlock;
    giver->left = redlock_sync_lease_valid_for(giver->lease);
}

static void *look_in_background(void *data)
{
    struct giver *giver = data;
    atomic_store(&giver->looks, true);
    redlock_sync_run(giver->client, look, giver);
    return NULL;
}

static void *release(void *data)
{
    const struct giver *giver = data;
    redlock_sync_lease_release(giver->lease, NULL);
    return NULL;
}

/* The background thread, which is held up, brings what threads read up to date before it finds the
 * release in its mail, and before that a look. */
static void play_giver(redlock_sync *client)
{
    set_gate();
    struct giver giver = {.client = client, .lease = take(client, "given back", NULL), .left = -1};
    pthread_t first = begin(hold_up_background, &giver);
    AWAIT(atomic_load(&is_held_up));
    pthread_t second = begin(look_in_background, &giver);
    AWAIT(atomic_load(&giver.looks));
    pthread_t third = begin(release, &giver);
    AWAIT(redlock_sync_lease_valid_for(giver.lease) == 0);
    open_gate();
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    pthread_join(third, NULL);
    assert_int_equal(giver.left, 0);
    redlock_sync_lease_free(giver.lease);
    remove_gate();
}

WITH_CLEAN_CLIENT(given_back_it_stays_given_back)
{
    for (unsigned i = 0; i < 10; i++)
        play_giver(client);
}

PROGRAM(.masters = 3)
