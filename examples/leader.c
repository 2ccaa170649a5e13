/* A scheduler on several hosts, of which one leads and works; the others wait, and the next one
 * goes on where it ends, dies or is cut off.  All of them know where to send what the leader is to
 * do: to the address that it announces.  Start it with an address, on as many hosts as you like.
 * The masters: REDLOCK_NODES. */
#include <err.h>
#include <ev.h>
#include <redlock/recipes.h>
#include <stdio.h>
#include <string.h>

struct host {
    redlock_campaign *candidate;
    redlock_observer *observer;
    ev_timer work;
    ev_signal end;
    redlock *client;
};

/* Each piece of work takes less than this, so none is begun with less validity. */
#define PIECE_MS 100

static void on_work(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct host *host = timer->data;
    const redlock_lease *lease = redlock_campaign_lease(host->candidate);
    (void)loop, (void)events;
    if (redlock_lease_valid_for(lease) > PIECE_MS)
        printf("a piece of work, with term %lld\n", (long long)redlock_lease_fence(lease));
    fflush(stdout);
}

static void on_event(redlock_campaign *candidate, const redlock_event *event, void *data)
{
    struct host *host = data;
    (void)candidate;
    if (event->kind == REDLOCK_ACQUIRED)
        ev_timer_again(EV_DEFAULT, &host->work);
    else if (event->kind == REDLOCK_LOST || event->kind == REDLOCK_RELEASED)
        ev_timer_stop(EV_DEFAULT, &host->work);
    printf("%s: %s\n", redlock_event_name(event->kind), event->text);
    fflush(stdout);
}

/* A request to the leader has its term, for the leader may not lead any more. */
static void on_leader(redlock_observer *observer, const redlock_leader *leader, void *data)
{
    (void)observer, (void)data;
    if (leader->code)
        printf("not known who leads\n");
    else if (leader->term)
        printf("send to %.*s, with term %lld\n", (int)leader->length, (const char *)leader->value,
               (long long)leader->term);
    else
        printf("nobody leads\n");
    fflush(stdout);
}

static void on_closed(redlock *client, unsigned left, void *data)
{
    (void)client, (void)left, (void)data;
    ev_break(EV_DEFAULT, EVBREAK_ALL);
}

/* The name goes to the next one at once, not when the ttl is over. */
static void on_signal(struct ev_loop *loop, ev_signal *signal, int events)
{
    struct host *host = signal->data;
    (void)loop, (void)events;
    redlock_observer_free(host->observer);
    host->observer = NULL;
    redlock_close(host->client, 1000, on_closed, host);
}

static bool begin(struct host *host, const char *address)
{
    redlock_campaign_options options = {.size = sizeof options};
    options.value = address;
    options.length = strlen(address);
    ev_init(&host->work, on_work);
    host->work.repeat = PIECE_MS / 1000.;
    ev_signal_init(&host->end, on_signal, SIGTERM);
    host->work.data = host->end.data = host;
    ev_signal_start(EV_DEFAULT, &host->end);
    return redlock_campaign_begin(host->client, &host->candidate, "scheduler", &options, on_event,
                                  host) == REDLOCK_OK &&
           redlock_observer_begin(host->client, &host->observer, "scheduler", on_leader, host) ==
               REDLOCK_OK;
}

int main(int argc, char **argv)
{
    struct host host = {0};
    char why[256];
    if (redlock_open(&host.client, EV_DEFAULT, NULL, why, sizeof why) != REDLOCK_OK)
        errx(1, "%s", why);
    bool begun = begin(&host, argc > 1 ? argv[1] : "127.0.0.1:8000");
    if (begun)
        ev_run(EV_DEFAULT, 0);
    redlock_observer_free(host.observer);
    redlock_campaign_free(host.candidate);
    redlock_free(host.client);
    return !begun;
}
