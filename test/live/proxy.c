#define _GNU_SOURCE
#include "proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cluster.h"
#include "front.h"
#include "listener.h"

#define ROADS 64

/* Without bytes it is the end of that direction. */
struct parcel {
    struct parcel *next;
    int64_t due;
    size_t length;
    char bytes[];
};

struct lane {
    struct parcel *first, *last;
    bool ended;
};

enum side { CLIENT, MASTER };

struct road {
    int fds[2];           /* of the sides; -1: free */
    struct lane lanes[2]; /* by the side from which it comes */
    enum roads kind;
    bool is_blind;
};

struct proxy {
    pthread_t thread;
    pthread_mutex_t mutex; /* for all that follows */
    int listener, port, to, wake[2];
    bool stops;
    int delay_ms;
    unsigned held[3]; /* ways, by kind of road */
    unsigned mains, subscriptions;
    struct front *front; /* NULL: clients come without TLS */
    struct road roads[ROADS];
};

static const struct road no_road = {.fds = {-1, -1}};

/* ---- Roads ---- */

static void drop_first(struct lane *lane)
{
    struct parcel *parcel = lane->first;
    lane->first = parcel->next;
    free(parcel);
}

static void close_road(struct road *road)
{
    for (enum side side = CLIENT; side <= MASTER; side++) {
        close(road->fds[side]);
        while (road->lanes[side].first)
            drop_first(&road->lanes[side]);
    }
    *road = no_road;
}

static int connect_to(const struct sockaddr *address, socklen_t size)
{
    int master = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    setsockopt(master, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(master, address, size) == 0)
        return master;
    close(master);
    return -1;
}

static int connect_to_master(int port)
{
    const char *path = cluster_socket(port);
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                  .sin_port = htons((uint16_t)port)};
    snprintf(local.sun_path, sizeof local.sun_path, "%s", path ? path : "");
    return path ? connect_to((struct sockaddr *)&local, sizeof local)
                : connect_to((struct sockaddr *)&address, sizeof address);
}

static void open_road(struct proxy *proxy)
{
    int client = accept4(proxy->listener, NULL, NULL, SOCK_CLOEXEC), on = 1;
    int master = connect_to_master(proxy->to);
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (master >= 0)
        for (unsigned i = 0; i < ROADS; i++)
            if (proxy->roads[i].fds[CLIENT] < 0) {
                proxy->roads[i] = (struct road){.fds = {client, master}, .kind = MAIN_ROADS};
                proxy->mains++;
                return;
            }
    close(client);
    close(master);
}

/* ---- Parcels ---- */

static void take_in(struct lane *lane, const char *bytes, size_t length, int64_t due)
{
    struct parcel *parcel = malloc(sizeof *parcel + length);
    if (!parcel)
        abort();
    parcel->next = NULL;
    parcel->due = due;
    parcel->length = length;
    memcpy(parcel->bytes, bytes, length);
    if (lane->first)
        lane->last->next = parcel;
    else
        lane->first = parcel;
    lane->last = parcel;
    lane->ended |= length == 0;
}

static void look_at_requests(struct proxy *proxy, struct road *road, const char *bytes,
                             size_t length)
{
    if (road->kind == MAIN_ROADS && memmem(bytes, length, "SUBSCRIBE", 9)) {
        road->kind = SUBSCRIPTION_ROADS;
        proxy->mains--;
        proxy->subscriptions++;
    }
}

static int64_t due_at(const struct proxy *proxy, const struct lane *lane, enum side from)
{
    int64_t due = now_us();
    if (from == MASTER && proxy->delay_ms < 0)
        return INT64_MAX;
    if (from == MASTER)
        due += proxy->delay_ms * 1000LL;
    return lane->first && lane->last->due > due ? lane->last->due : due;
}

static void collect(struct proxy *proxy, struct road *road, enum side from)
{
    char bytes[65536];
    struct lane *lane = &road->lanes[from];
    int64_t due = due_at(proxy, lane, from);
    ssize_t got = recv(road->fds[from], bytes, sizeof bytes, 0);
    size_t length = got > 0 ? (size_t)got : 0;
    if (from == CLIENT)
        look_at_requests(proxy, road, bytes, length);
    take_in(lane, bytes, length, due);
}

/* Delivers the parcels that are due; returns when the next one is. */
static int64_t hand_over(const struct proxy *proxy, struct road *road, enum side from)
{
    struct lane *lane = &road->lanes[from];
    unsigned way = from == CLIENT ? REQUESTS : REPLIES;
    if (road->is_blind || proxy->held[road->kind] & way)
        return INT64_MAX;
    while (lane->first && lane->first->due <= now_us()) {
        const struct parcel *parcel = lane->first;
        int to = road->fds[from == CLIENT ? MASTER : CLIENT];
        /* The master may be dead, and the client not yet know it. */
        if (parcel->length == 0 ||
            (send(to, parcel->bytes, parcel->length, MSG_NOSIGNAL) < 0 && from == MASTER)) {
            close_road(road);
            return INT64_MAX;
        }
        drop_first(lane);
    }
    return lane->first ? lane->first->due : INT64_MAX;
}

/* ---- The thread ---- */

static int next_wait(struct proxy *proxy)
{
    int64_t next = INT64_MAX;
    for (unsigned i = 0; i < ROADS; i++)
        for (enum side from = CLIENT; from <= MASTER && proxy->roads[i].fds[CLIENT] >= 0; from++) {
            int64_t due = hand_over(proxy, &proxy->roads[i], from);
            next = due < next ? due : next;
        }
    if (next == INT64_MAX)
        return -1;
    int64_t left = (next - now_us()) / 1000 + 1;
    return left > 0 ? (int)left : 0;
}

/* Some may have been broken since they were looked at. */
static void carry(struct proxy *proxy, const struct pollfd *polled)
{
    for (unsigned i = 0; i < 2 * ROADS; i++) {
        struct road *road = &proxy->roads[i / 2];
        enum side from = i % 2 ? MASTER : CLIENT;
        if (polled[i].revents && road->fds[from] == polled[i].fd)
            collect(proxy, road, from);
    }
}

static void *run(void *argument)
{
    struct proxy *proxy = argument;
    pthread_mutex_lock(&proxy->mutex);
    while (!proxy->stops) {
        char byte;
        int wait = next_wait(proxy);
        struct pollfd polled[2 + 2 * ROADS] = {{proxy->wake[0], POLLIN, 0},
                                               {proxy->listener, POLLIN, 0}};
        for (unsigned i = 0; i < 2 * ROADS; i++) {
            const struct road *road = &proxy->roads[i / 2];
            polled[2 + i] =
                (struct pollfd){road->lanes[i % 2].ended ? -1 : road->fds[i % 2], POLLIN, 0};
        }
        pthread_mutex_unlock(&proxy->mutex);
        int ready = poll(polled, 2 + 2 * ROADS, wait);
        pthread_mutex_lock(&proxy->mutex);
        if (ready < 0)
            continue;
        if (polled[0].revents && read(proxy->wake[0], &byte, 1) != 1)
            abort();
        carry(proxy, polled + 2);
        if (polled[1].revents)
            open_road(proxy);
    }
    pthread_mutex_unlock(&proxy->mutex);
    return NULL;
}

/* ---- From outside ---- */

static void begin(struct proxy *proxy)
{
    pthread_mutex_lock(&proxy->mutex);
}

static void end(struct proxy *proxy)
{
    pthread_mutex_unlock(&proxy->mutex);
    if (write(proxy->wake[1], "", 1) != 1)
        abort();
}

struct proxy *proxy_start(int port)
{
    struct proxy *proxy = calloc(1, sizeof *proxy);
    if (!proxy)
        abort();
    proxy->to = port;
    proxy->listener = listen_anywhere(ROADS, &proxy->port);
    for (unsigned i = 0; i < ROADS; i++)
        proxy->roads[i] = no_road;
    pthread_mutex_init(&proxy->mutex, NULL);
    if (pipe2(proxy->wake, O_CLOEXEC) != 0 || pthread_create(&proxy->thread, NULL, run, proxy) != 0)
        abort();
    proxy->front = front_start(proxy->port);
    return proxy;
}

int proxy_port(const struct proxy *proxy)
{
    return proxy->front ? front_port(proxy->front) : proxy->port;
}

void proxy_delay(struct proxy *proxy, int ms)
{
    begin(proxy);
    proxy->delay_ms = ms;
    end(proxy);
}

static void set_held(struct proxy *proxy, unsigned roads, unsigned ways, bool are_held)
{
    begin(proxy);
    for (unsigned kind = MAIN_ROADS; kind <= SUBSCRIPTION_ROADS; kind++) {
        unsigned those = roads & kind ? ways : 0;
        proxy->held[kind] = are_held ? proxy->held[kind] | those : proxy->held[kind] & ~those;
    }
    end(proxy);
}

void proxy_hold(struct proxy *proxy, unsigned roads, unsigned ways)
{
    set_held(proxy, roads, ways, true);
}

void proxy_let_go(struct proxy *proxy, unsigned roads, unsigned ways)
{
    set_held(proxy, roads, ways, false);
}

void proxy_blind(struct proxy *proxy, unsigned roads)
{
    begin(proxy);
    for (unsigned i = 0; i < ROADS; i++)
        proxy->roads[i].is_blind |= (proxy->roads[i].kind & roads) != 0;
    end(proxy);
}

unsigned proxy_roads(struct proxy *proxy, enum roads roads)
{
    pthread_mutex_lock(&proxy->mutex);
    unsigned count = (roads & MAIN_ROADS ? proxy->mains : 0) +
                     (roads & SUBSCRIPTION_ROADS ? proxy->subscriptions : 0);
    pthread_mutex_unlock(&proxy->mutex);
    return count;
}

void proxy_stop(struct proxy *proxy)
{
    front_stop(proxy->front);
    begin(proxy);
    proxy->stops = true;
    end(proxy);
    pthread_join(proxy->thread, NULL);
    for (unsigned i = 0; i < ROADS; i++)
        if (proxy->roads[i].fds[CLIENT] >= 0)
            close_road(&proxy->roads[i]);
    close(proxy->listener);
    close(proxy->wake[0]);
    close(proxy->wake[1]);
    pthread_mutex_destroy(&proxy->mutex);
    free(proxy);
}
