/*
 * Delays make each thread meet what another thread has done meanwhile. A thread that wakes after
 * the end of its lease does not acquire it. A lease that a thread gives back is given back from
 * then on.
 */
#include "fixture.h"
#include "sync_user.h"

#include <signal.h>

/* ---- A gate, at which a thread waits until the test opens it ---- */

static int gate[2];
static atomic_bool is_held_up;

static void wait_at_gate(int number)
{
    char byte;
    (void)number;
    atomic_store(&is_held_up, true);
    while (read(gate[0], &byte, 1) < 0)
        ;
}

/* ---- Woken after the end ---- */

static atomic_bool lost;

static void note_loss(const redlock_event *event, void *data)
{
    (void)data;
    if (event->kind == REDLOCK_LOST)
        atomic_store(&lost, true);
}

static redlock_code acquire(struct call *call)
{
    redlock_lease_options options = terms(1500, 60000);
    options.no_renew = true;
    options.on_event = note_loss;
    return redlock_sync_acquire(client, &call->lease, "late", &options, NULL);
}

/* A signal holds the thread up while it waits, until the lease that it was given is over. */
WITH_CLEAN_CLIENT(woken_after_the_end_it_has_no_lease)
{
    assert_int_equal(pipe(gate), 0);
    signal(SIGUSR1, wait_at_gate);
    struct call sleeper = {.act = acquire};
    redlock_sync_lease *before = take(client, "late", NULL);
    call_begin(&sleeper);
    AWAIT(stats_now(client).waiting == 1);
    pthread_kill(sleeper.thread, SIGUSR1);
    AWAIT(atomic_load(&is_held_up));
    give_back(before);
    AWAIT(atomic_load(&lost));
    assert_int_equal(write(gate[1], "", 1), 1);
    assert_code(call_end(&sleeper), REDLOCK_E_TOO_SLOW);
    assert_null(sleeper.lease);
    close(gate[0]);
    close(gate[1]);
}

/* ---- Given back before it is carried out ---- */

/* Called by the background thread just before it carries out the release. */
static void look(redlock *redlock, void *data)
{
    struct call *call = data;
    (void)redlock;
    call->result.valid_ms = redlock_sync_lease_valid_for(call->lease);
}

static redlock_code look_in_background(struct call *call)
{
    return redlock_sync_run(call->client, look, call);
}

/* The background thread, which is held up, brings what threads read up to date before it finds the
 * release in its mail, and before that a look. */
static void play_giver(redlock_sync *client)
{
    struct pause pause;
    redlock_sync_lease *lease = take(client, "given back", NULL);
    struct call looks = {.act = look_in_background, .client = client, .lease = lease};
    struct call releases = {.act = release_it, .lease = lease};
    pause_begin(&pause, client);
    call_begin(&looks);
    AWAIT(call_is_asleep(&looks));
    call_begin(&releases);
    AWAIT(redlock_sync_lease_valid_for(lease) == 0);
    pause_end(&pause);
    assert_code(call_end(&looks), REDLOCK_OK);
    call_end(&releases);
    assert_int_equal(looks.result.valid_ms, 0);
    redlock_sync_lease_free(lease);
}

WITH_CLEAN_CLIENT(given_back_it_stays_given_back)
{
    for (unsigned i = 0; i < 10; i++)
        play_giver(client);
}

PROGRAM(.masters = 3)
