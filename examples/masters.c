/* A daemon that goes over to other masters while it holds leases.  `redlock masters change` tells
 * its masters the next list; at SIGHUP it reads its list anew, from the file in REDLOCK_NODES_FILE.
 * A client has one list for its life, so the former one is left for a client of the new list.  Both
 * lists are in use meanwhile. */
#include <err.h>
#include <ev.h>
#include <redlock.h>
#include <stdio.h>

struct job {
    struct daemon *daemon;
    redlock_lease *lease; /* NULL: it ended */
    const char *name;
};

struct daemon {
    redlock *client; /* for all that is asked from now on */
    redlock *former; /* NULL: no lease is on its way */
    struct job jobs[3];
    ev_signal reload, end;
};

static void begin(struct job *job);

/* An acquire that could not go over to the next list is asked for anew. */
static void on_event(redlock_lease *lease, const redlock_event *event, void *data)
{
    struct job *job = data;
    printf("%s: %s\n", redlock_event_name(event->kind), event->text);
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

static void on_node(redlock *client, unsigned node, void *data);

static redlock *open_client(struct daemon *daemon, const char *nodes)
{
    char why[256];
    redlock *client;
    redlock_options options = {
        .size = sizeof options, .nodes = nodes, .on_node = on_node, .data = daemon};
    if (redlock_open(&client, EV_DEFAULT, &options, why, sizeof why) != REDLOCK_OK)
        warnx("%s", why);
    return client;
}

static void on_left(redlock *client, unsigned left, void *data)
{
    struct daemon *daemon = data;
    printf("%u releases are owed to the former masters\n", left);
    redlock_free(client);
    daemon->former = NULL;
    on_node(daemon->client, 0, daemon);
}

/* NULL: to the list of the environment.  A list that is refused changes nothing. */
static void go_over(struct daemon *daemon, const char *nodes)
{
    redlock *next = open_client(daemon, nodes);
    if (next && redlock_relist(daemon->client, next, on_left, daemon) == REDLOCK_OK) {
        daemon->former = daemon->client;
        daemon->client = next;
    } else if (next) {
        warnx("%s", redlock_last_error(daemon->client));
        redlock_free(next);
    }
}

/* While leases are on their way, it is too early for one more list. */
static void on_node(redlock *client, unsigned node, void *data)
{
    struct daemon *daemon = data;
    (void)client, (void)node;
    if (!daemon->former && redlock_successor(daemon->client))
        go_over(daemon, redlock_successor(daemon->client));
}

static void on_reload(struct ev_loop *loop, ev_signal *signal, int events)
{
    (void)loop, (void)events;
    go_over(signal->data, NULL);
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
        redlock_close(daemon->former, 1000, on_closed, NULL);
    redlock_close(daemon->client, 1000, on_closed, NULL);
}

int main(void)
{
    struct daemon daemon = {.client = open_client(&daemon, NULL),
                            .jobs = {{.name = "job-1"}, {.name = "job-2"}, {.name = "job-3"}}};
    if (!daemon.client)
        return 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    ev_signal_init(&daemon.reload, on_reload, SIGHUP);
    ev_signal_init(&daemon.end, on_end, SIGTERM);
    daemon.reload.data = daemon.end.data = &daemon;
    ev_signal_start(EV_DEFAULT, &daemon.reload);
    ev_signal_start(EV_DEFAULT, &daemon.end);
    for (unsigned i = 0; i < 3; i++) {
        daemon.jobs[i].daemon = &daemon;
        begin(&daemon.jobs[i]);
    }
    ev_run(EV_DEFAULT, 0);
    return 0;
}
