#include "lists.h"

#include <stdio.h>
#include <stdlib.h>

#define LATE_MOST_S 0.5 /* until it uses another list */
#define AGAIN_S     0.05
#define PATIENCE_MS 10000

/* ---- Closing ---- */

static void on_closed(redlock *client, unsigned left, void *data)
{
    struct lists *lists = data;
    redlock_stats stats = {.size = sizeof stats};
    (void)left;
    redlock_stats_get(client, &stats);
    lists->sum.acquired += stats.acquired;
    lists->sum.rounds += stats.rounds;
    lists->sum.raises += stats.raises;
    redlock_free(client);
    lists->closing--;
    if (lists->ending && !lists->closing)
        lists->closed(lists->owner);
}

static void close_client(struct lists *lists, redlock **client)
{
    if (!*client)
        return;
    lists->closing++;
    redlock_close(*client, PATIENCE_MS, on_closed, lists);
    *client = NULL;
}

void lists_close(struct lists *lists)
{
    lists->ending = true;
    ev_timer_stop(lists->loop, &lists->late);
    ev_timer_stop(lists->loop, &lists->again);
    ev_stat_stop(lists->loop, &lists->file);
    close_client(lists, &lists->former);
    close_client(lists, &lists->client);
}

/* ---- Another list ---- */

static bool open_client(struct lists *lists)
{
    char why[256] = "";
    bool done =
        redlock_open(&lists->client, lists->loop, &lists->options, why, sizeof why) == REDLOCK_OK;
    if (!done)
        fprintf(stderr, "worker: no client: %s\n", why);
    return done;
}

/* The file is replaced as a whole, so its list can be used. */
static void follow(struct lists *lists)
{
    lists->changed = false;
    lists->former = lists->client;
    if (!open_client(lists))
        exit(1);
    lists->left(lists->owner, lists->former, true);
    ev_timer_again(lists->loop, &lists->again);
}

void lists_look(struct lists *lists)
{
    if (!lists->former || lists->ending || lists->left(lists->owner, lists->former, false))
        return;
    ev_timer_stop(lists->loop, &lists->again);
    close_client(lists, &lists->former);
    if (lists->changed)
        follow(lists);
}

static void on_again(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop, (void)events;
    lists_look(timer->data);
}

static void on_late(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct lists *lists = timer->data;
    (void)loop, (void)events;
    lists->changed = true;
    if (!lists->former)
        follow(lists);
}

static void on_file(struct ev_loop *loop, ev_stat *file, int events)
{
    struct lists *lists = file->data;
    (void)events;
    if (ev_is_active(&lists->late))
        return;
    ev_timer_set(&lists->late, LATE_MOST_S * rand() / RAND_MAX, 0.);
    ev_timer_start(loop, &lists->late);
}

/* The file is watched before it is read. */
bool lists_open(struct lists *lists)
{
    const char *path = getenv("REDLOCK_NODES_FILE");
    lists->file.data = lists->late.data = lists->again.data = lists;
    ev_timer_init(&lists->late, on_late, 0., 0.);
    ev_timer_init(&lists->again, on_again, 0., AGAIN_S);
    ev_stat_init(&lists->file, on_file, path ? path : "", 0.);
    if (path)
        ev_stat_start(lists->loop, &lists->file);
    return open_client(lists);
}
