/*
 * delay_proxy.c - makes one master seem far away: passes bytes on DELAY/2 ms later in each
 * direction, so that a round trip takes DELAY ms more.
 *
 *     bench-delay-proxy HOST PORT DELAY_MS      prints the port that it listens on
 */
#include <arpa/inet.h>
#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CHUNK 65536

struct parcel {
    struct parcel *next;
    double due;
    size_t length, sent;
    char bytes[];
};

/* One direction of one connection. */
struct way {
    struct pair *pair;
    ev_io from;
    ev_timer timer;
    int to;
    struct parcel *first, *last;
};

struct pair {
    struct way ways[2];
};

static struct sockaddr_in target;
static double delay;

static void end_pair(struct ev_loop *loop, struct pair *pair)
{
    for (int i = 0; i < 2; i++) {
        struct way *way = &pair->ways[i];
        ev_io_stop(loop, &way->from);
        ev_timer_stop(loop, &way->timer);
        close(way->to);
        for (struct parcel *parcel; (parcel = way->first);) {
            way->first = parcel->next;
            free(parcel);
        }
    }
    free(pair);
}

static void set_timer(struct ev_loop *loop, struct way *way, double at)
{
    double after = at - ev_time();
    ev_timer_stop(loop, &way->timer);
    ev_now_update(loop);
    ev_timer_set(&way->timer, after > 0 ? after : 0, 0.);
    ev_timer_start(loop, &way->timer);
}

static void on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)events;
    struct way *way = timer->data;
    double now = ev_time();
    while (way->first && way->first->due <= now) {
        struct parcel *parcel = way->first;
        ssize_t sent = send(way->to, parcel->bytes + parcel->sent, parcel->length - parcel->sent,
                            MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN) {
            end_pair(loop, way->pair);
            return;
        }
        parcel->sent += sent > 0 ? (size_t)sent : 0;
        if (parcel->sent < parcel->length) {
            set_timer(loop, way, now + 0.001);
            return;
        }
        way->first = parcel->next;
        free(parcel);
    }
    if (way->first)
        set_timer(loop, way, way->first->due);
}

static void on_bytes(struct ev_loop *loop, ev_io *watcher, int events)
{
    (void)events;
    struct way *way = watcher->data;
    struct parcel *parcel = malloc(sizeof *parcel + CHUNK);
    ssize_t got = recv(watcher->fd, parcel->bytes, CHUNK, 0);
    if (got <= 0) {
        free(parcel);
        if (got == 0 || errno != EAGAIN)
            end_pair(loop, way->pair);
        return;
    }
    parcel = realloc(parcel, sizeof *parcel + (size_t)got);
    parcel->length = (size_t)got;
    parcel->sent = 0;
    parcel->next = NULL;
    parcel->due = ev_time() + delay;
    if (way->first) {
        way->last->next = parcel;
    } else {
        way->first = parcel;
        set_timer(loop, way, parcel->due);
    }
    way->last = parcel;
}

static void open_way(struct ev_loop *loop, struct pair *pair, int index, int from, int to)
{
    struct way *way = &pair->ways[index];
    int on = 1;
    way->pair = pair;
    way->to = to;
    fcntl(from, F_SETFL, O_NONBLOCK);
    setsockopt(from, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ev_init(&way->timer, on_timer);
    ev_io_init(&way->from, on_bytes, from, EV_READ);
    way->timer.data = way->from.data = way;
    ev_io_start(loop, &way->from);
}

static void on_client(struct ev_loop *loop, ev_io *watcher, int events)
{
    (void)events;
    int client = accept(watcher->fd, NULL, NULL);
    int server = socket(AF_INET, SOCK_STREAM, 0);
    if (client < 0 || server < 0 ||
        connect(server, (struct sockaddr *)&target, sizeof target) != 0) {
        close(client);
        close(server);
        return;
    }
    struct pair *pair = calloc(1, sizeof *pair);
    open_way(loop, pair, 0, client, server);
    open_way(loop, pair, 1, server, client);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: bench-delay-proxy HOST PORT DELAY_MS\n");
        return 64;
    }
    target =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[2]))};
    inet_pton(AF_INET, argv[1], &target.sin_addr);
    delay = atof(argv[3]) / 2e3;
    signal(SIGPIPE, SIG_IGN);
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof own;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&own, size) != 0 || listen(listener, 64) != 0) {
        perror("bench-delay-proxy");
        return 1;
    }
    getsockname(listener, (struct sockaddr *)&own, &size);
    printf("%d\n", ntohs(own.sin_port));
    fflush(stdout);
    struct ev_loop *loop = ev_default_loop(0);
    ev_io watcher;
    ev_io_init(&watcher, on_client, listener, EV_READ);
    ev_io_start(loop, &watcher);
    ev_run(loop, 0);
}
