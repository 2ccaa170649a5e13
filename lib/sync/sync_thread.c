/*
 * sync_thread.c - the background thread of a client.  In the virtual time of the test double there
 * is none: the client takes its turns on the test's loop, inside the calls that wait.
 */
#include "double_time.h"
#include "sync_client.h"
#include "sync_wait.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

/* The sooner of both; -1 is never. */
static int sooner(int ms, int other_ms)
{
    return ms < 0 || (other_ms >= 0 && other_ms < ms) ? other_ms : ms;
}

/* The calls of the mail are carried out in the same turn.  The words of validity are updated after
 * all replies.  Returns the ms until the next turn, if nothing comes; -1: none is needed. */
static int take_turn(redlock_sync *client)
{
    sync_take_mail(client);
    sync_sides_process(client);
    int follow_ms = sync_follow(client);
    sync_note_left_behind(client);
    return sooner(sync_refresh(client), follow_ms);
}

static void end_client(redlock_sync *client)
{
    sync_end_validity(client); /* before another thread may free a lease without a call here */
    sync_finish_all(client);
    sync_sides_free(client); /* each call that waited was counted by one */
}

/* ---- the thread ---- */

/* If the application has closed a descriptor of ours, the thread looks for mail by time: the number
 * of the bell may be another file's by now.  A poll() does not report a descriptor that is closed
 * while it waits. */
#define PAUSE_MS 10
#define LOOK_MS  1000

/* Waits until there is mail or something to do, for `wait_ms` at most; -1: for no time in
 * particular. */
static void await_work(redlock_sync *client, int wait_ms)
{
    struct pollfd ready[SIDES_MOST + 1] = {{.fd = client->bell, .events = POLLIN}};
    nfds_t count = sync_sides_poll(client, ready + 1) + 1;
    eventfd_t rung;
    short seen = 0;
    poll(ready, count, wait_ms < 0 || wait_ms > LOOK_MS ? LOOK_MS : wait_ms);
    for (nfds_t i = 0; i < count; i++)
        seen |= ready[i].revents;
    if (seen & POLLNVAL)
        poll(NULL, 0, PAUSE_MS);
    if (ready[0].revents & POLLIN)
        eventfd_read(client->bell, &rung); /* first: a later ring then wakes the thread again */
}

static void *run_thread(void *data)
{
    redlock_sync *client = data;
    int wait_ms = -1;
    sync_note_running(client);
    prctl(PR_SET_NAME, "redlock");
    while (client->open_sides) {
        await_work(client, wait_ms);
        wait_ms = take_turn(client);
    }
    end_client(client);
    return NULL;
}

/* ---- the test's loop ---- */

static int64_t take_turn_of_test(void *owner)
{
    redlock_sync *client = owner;
    int wait_ms = take_turn(client);
    if (client->open_sides)
        return wait_ms < 0 ? INT64_MAX : sync_now_us() + (int64_t)wait_ms * 1000;
    end_client(client);
    client->place = NULL;
    return -1;
}

/* ---- either ---- */

redlock_code sync_thread_prepare(redlock_sync *client)
{
    if (double_is_virtual())
        return double_is_here() ? REDLOCK_OK : REDLOCK_E_STATE;
    client->bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return client->bell < 0 ? REDLOCK_E_SYSTEM : REDLOCK_OK;
}

bool sync_thread_start(redlock_sync *client)
{
    if (client->bell >= 0)
        return !pthread_create(&client->thread, NULL, run_thread, client);
    return (client->place = double_follow(take_turn_of_test, client));
}

void sync_thread_drop(const redlock_sync *client)
{
    if (client->bell >= 0)
        close(client->bell);
}

void sync_thread_join(redlock_sync *client)
{
    struct deadline never = sync_deadline(REDLOCK_FOREVER);
    if (client->bell >= 0)
        pthread_join(client->thread, NULL);
    pthread_mutex_lock(&client->lock);
    while (client->place && sync_wait(&client->changed, &client->lock, &never))
        continue;
    pthread_mutex_unlock(&client->lock);
    sync_thread_drop(client);
}
