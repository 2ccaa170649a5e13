/* A daemon that goes over to other masters while it holds leases: at SIGHUP it reads its list anew,
 * from the file in REDLOCK_NODES_FILE.  A client has one list for its life, so the former one is
 * left for a client of the new list.  Both lists are in use meanwhile: `redlock masters change`
 * tells which lists follow each other. */
#include <err.h>
#include <ev.h>
#include <redlock.h>
#include <stdio.h>

#define JOBS 3

struct job {
    struct daemon *daemon;
    redlock_lease *lease; /* NULL: it ended */
    char name[16];
};

struct daemon {
    redlock *client; /* for all that is asked from now on */
    redlock *former; /* NULL: no lease is on its way */
    struct job jobs[JOBS];
    ev_signal reload, end;
};

static void begin(struct job *job);

/* An acquire that waited when the list changed is asked for anew. */
static void on_event(redlock_lease *lease, const redlock_event *event, void *data)
{
    struct job *job = data;
    printf("%s: %s\n", redlock_event_name(event->kind), event->text);
    fflush(stdout);
    if (event->kind != REDLOCK_LOST && event->kind != REDLOCK_NOT_ACQUIRED)
        return;
    job->lease = NULL;
    redlock_lease_free(lease);
    if (event->code == REDLOCK_E_CANCELLED)
        begin(job);
}

static void begin(struct job *job)
{
    redlock *client = job->daemon->client;
    if (redlock_acquire(client, &job->lease, job->name, NULL, on_event, job))
        warnx("%s", redlock_last_error(client));
}

static redlock *open_client(void)
{
    char why[256];
    redlock *client;
    if (redlock_open(&client, EV_DEFAULT, NULL, why, sizeof why) != REDLOCK_OK)
        warnx("%s", why);
    return client;
}

static void on_left(redlock *client, unsigned left, void *data)
{
    struct daemon *daemon = data;
    printf("%u releases are owed to the former masters\n", left);
    fflush(stdout);
    redlock_free(client);
    daemon->former = NULL;
}

/* A list that is refused changes nothing. */
static void on_reload(struct ev_loop *loop, ev_signal *signal, int events)
{
    struct daemon *daemon = signal->data;
    redlock *next = open_client();
    (void)loop, (void)events;
    if (!next)
        return;
    if (redlock_relist(daemon->client, next, on_left, daemon) == REDLOCK_OK) {
        daemon->former = daemon->client;
        daemon->client = next;
        return;
    }
    warnx("%s", redlock_last_error(daemon->client));
    redlock_free(next);
}

static void on_closed(redlock *client, unsigned left, void *data)
{
    (void)left, (void)data;
    redlock_free(client);
}

static void on_end(struct ev_loop *loop, ev_signal *signal, int events)
{
    struct daemon *daemon = signal->data;
    (void)events;
    ev_signal_stop(loop, &daemon->reload);
    ev_signal_stop(loop, &daemon->end);
    if (daemon->former)
        redlock_close(daemon->former, 1000, on_left, daemon);
    redlock_close(daemon->client, 1000, on_closed, NULL);
}

static void watch(ev_signal *watcher, void (*told)(struct ev_loop *, ev_signal *, int), int number,
                  struct daemon *daemon)
{
    ev_signal_init(watcher, told, number);
    watcher->data = daemon;
    ev_signal_start(EV_DEFAULT, watcher);
}

int main(void)
{
    struct daemon daemon = {.client = open_client()};
    if (!daemon.client)
        return 1;
    watch(&daemon.reload, on_reload, SIGHUP, &daemon);
    watch(&daemon.end, on_end, SIGTERM, &daemon);
    for (unsigned i = 0; i < JOBS; i++) {
        struct job *job = &daemon.jobs[i];
        job->daemon = &daemon;
        snprintf(job->name, sizeof job->name, "job-%u", i + 1);
        begin(job);
    }
    ev_run(EV_DEFAULT, 0);
    return 0;
}
