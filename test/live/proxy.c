#include "proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cluster.h"

#define ROADS 16

struct parcel {
    struct parcel *next;
    int64_t due;
    size_t length;
    char bytes[];
};

struct road {
    int client, master; /* -1: free */
    struct parcel *first, *last;
};

struct proxy {
    pthread_t thread;
    int listener, port, to, stop[2];
    atomic_int delay_ms;
    struct road roads[ROADS];
};

static int listen_anywhere(int *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, ROADS) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) != 0)
        abort();
    *port = ntohs(address.sin_port);
    return listener;
}

static void close_road(struct road *road)
{
    close(road->client);
    close(road->master);
    while (road->first) {
        struct parcel *parcel = road->first;
        road->first = parcel->next;
        free(parcel);
    }
    *road = (struct road){.client = -1, .master = -1};
}

static void open_road(struct proxy *proxy)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                  .sin_port = htons((uint16_t)proxy->to)};
    int client = accept(proxy->listener, NULL, NULL);
    int master = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(master, (struct sockaddr *)&address, sizeof address) == 0)
        for (unsigned i = 0; i < ROADS; i++)
            if (proxy->roads[i].client < 0) {
                proxy->roads[i] = (struct road){.client = client, .master = master};
                return;
            }
    close(client);
    close(master);
}

static void forward(struct road *road)
{
    char bytes[65536];
    ssize_t got = recv(road->client, bytes, sizeof bytes, 0);
    if (got <= 0 || send(road->master, bytes, (size_t)got, MSG_NOSIGNAL) != got)
        close_road(road);
}

static void collect(struct proxy *proxy, struct road *road)
{
    char bytes[65536];
    ssize_t got = recv(road->master, bytes, sizeof bytes, 0);
    if (got <= 0) {
        close_road(road);
        return;
    }
    struct parcel *parcel = malloc(sizeof *parcel + (size_t)got);
    int delay = atomic_load(&proxy->delay_ms);
    parcel->next = NULL;
    parcel->due = delay < 0 ? INT64_MAX : now_us() + delay * 1000LL;
    parcel->length = (size_t)got;
    memcpy(parcel->bytes, bytes, parcel->length);
    if (road->first)
        road->last->next = parcel;
    else
        road->first = parcel;
    road->last = parcel;
}

/* Hands over what is due; when the next parcel is. */
static int64_t hand_over(struct road *road)
{
    while (road->first && road->first->due <= now_us()) {
        struct parcel *parcel = road->first;
        if (send(road->client, parcel->bytes, parcel->length, MSG_NOSIGNAL) < 0) {
            close_road(road);
            return INT64_MAX;
        }
        road->first = parcel->next;
        free(parcel);
    }
    return road->first ? road->first->due : INT64_MAX;
}

static int next_wait(struct proxy *proxy)
{
    int64_t next = INT64_MAX;
    for (unsigned i = 0; i < ROADS; i++) {
        int64_t due = proxy->roads[i].client >= 0 ? hand_over(&proxy->roads[i]) : INT64_MAX;
        next = due < next ? due : next;
    }
    if (next == INT64_MAX)
        return -1;
    int64_t left = (next - now_us()) / 1000 + 1;
    return left > 0 ? (int)left : 0;
}

static void *run(void *argument)
{
    struct proxy *proxy = argument;
    for (;;) {
        int wait = next_wait(proxy);
        struct pollfd polled[2 + 2 * ROADS] = {{proxy->stop[0], POLLIN, 0},
                                               {proxy->listener, POLLIN, 0}};
        for (unsigned i = 0; i < ROADS; i++) {
            polled[2 + 2 * i] = (struct pollfd){proxy->roads[i].client, POLLIN, 0};
            polled[3 + 2 * i] = (struct pollfd){proxy->roads[i].master, POLLIN, 0};
        }
        if (poll(polled, 2 + 2 * ROADS, wait) < 0)
            continue;
        if (polled[0].revents)
            return NULL;
        for (unsigned i = 0; i < ROADS; i++) {
            struct road *road = &proxy->roads[i];
            if (road->client >= 0 && polled[2 + 2 * i].revents)
                forward(road);
            if (road->client >= 0 && polled[3 + 2 * i].revents)
                collect(proxy, road);
        }
        if (polled[1].revents)
            open_road(proxy);
    }
}

struct proxy *proxy_start(int port)
{
    struct proxy *proxy = calloc(1, sizeof *proxy);
    proxy->to = port;
    proxy->listener = listen_anywhere(&proxy->port);
    for (unsigned i = 0; i < ROADS; i++)
        proxy->roads[i] = (struct road){.client = -1, .master = -1};
    if (pipe(proxy->stop) != 0 || pthread_create(&proxy->thread, NULL, run, proxy) != 0)
        abort();
    return proxy;
}

int proxy_port(const struct proxy *proxy)
{
    return proxy->port;
}

void proxy_delay(struct proxy *proxy, int ms)
{
    atomic_store(&proxy->delay_ms, ms);
}

void proxy_stop(struct proxy *proxy)
{
    if (write(proxy->stop[1], "", 1) != 1)
        abort();
    pthread_join(proxy->thread, NULL);
    for (unsigned i = 0; i < ROADS; i++)
        if (proxy->roads[i].client >= 0)
            close_road(&proxy->roads[i]);
    close(proxy->listener);
    close(proxy->stop[0]);
    close(proxy->stop[1]);
    free(proxy);
}
