#include "router.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define PACKET_MOST 2048
#define AT_ONCE     64 /* packets of one device before the next has its turn */
#define NS_PER_MS   1e6
#define HOST        16 /* of a packet: where its sender's address begins */

struct packet {
    struct packet *next;
    int64_t due;
    size_t length;
    char bytes[];
};

/* One direction of a link: packets keep their order, as within a flow on most networks. */
struct way {
    int to;
    struct packet *first, *last;
};

struct router {
    const struct place *places;
    unsigned count;
    const struct link_terms *terms;
    struct way there[PLACES_MOST], back[PLACES_MOST]; /* by the master's place */
    int poll, timer;
    uint64_t chance;
};

static int64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* From 0 to less than 1: the same in each run. */
static double draw(struct router *router)
{
    router->chance ^= router->chance << 13;
    router->chance ^= router->chance >> 7;
    router->chance ^= router->chance << 17;
    return (double)(router->chance >> 11) / (double)(UINT64_C(1) << 53);
}

static void put(struct router *router, struct way *way, const struct link_terms *terms,
                const char *bytes, size_t length)
{
    if (draw(router) * 100 < terms->loss_percent)
        return;
    struct packet *packet = malloc(sizeof *packet + length);
    if (!packet)
        return;
    double delay_ms = terms->rtt_ms / 2 + draw(router) * terms->jitter_ms / 2;
    int64_t due = now_ns() + (int64_t)(delay_ms * NS_PER_MS);
    if (way->last && way->last->due > due)
        due = way->last->due;
    *packet = (struct packet){.due = due, .length = length};
    memcpy(packet->bytes, bytes, length);
    if (way->last)
        way->last->next = packet;
    else
        way->first = packet;
    way->last = packet;
}

/* The third byte of an address is the place; 0 where the packet is none of ours. */
static unsigned place_of(const struct router *router, const char *address)
{
    unsigned place = (unsigned char)address[2];
    return address[0] == 10 && address[1] == 99 && place < router->count ? place : 0;
}

static void take(struct router *router, unsigned from)
{
    char bytes[PACKET_MOST];
    for (unsigned i = 0; i < AT_ONCE; i++) {
        ssize_t length = read(router->places[from].device, bytes, sizeof bytes);
        if (length < HOST + 4)
            return;
        unsigned to = from ? from : place_of(router, bytes + HOST);
        if (to)
            put(router, from ? &router->back[from] : &router->there[to], &router->terms[to - 1],
                bytes, (size_t)length);
    }
}

static void deliver(struct way *way, int64_t now)
{
    struct packet *packet;
    while ((packet = way->first) && packet->due <= now) {
        if (write(way->to, packet->bytes, packet->length) < 0 && errno == EAGAIN)
            return;
        way->first = packet->next;
        if (!way->first)
            way->last = NULL;
        free(packet);
    }
}

static int64_t sooner(const struct way *way, int64_t than)
{
    return way->first && way->first->due < than ? way->first->due : than;
}

static void set_timer(struct router *router)
{
    int64_t next = INT64_MAX;
    for (unsigned i = 1; i < router->count; i++)
        next = sooner(&router->back[i], sooner(&router->there[i], next));
    struct itimerspec when = {0};
    if (next < INT64_MAX)
        when.it_value = (struct timespec){next / 1000000000, next % 1000000000};
    timerfd_settime(router->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

int router_descriptor(const struct router *router)
{
    return router->poll;
}

void router_turn(struct router *router)
{
    struct epoll_event events[PLACES_MOST + 1];
    int ready = epoll_wait(router->poll, events, PLACES_MOST + 1, 0);
    for (int i = 0; i < ready; i++)
        if (events[i].data.u32 < router->count)
            take(router, events[i].data.u32);
    int64_t now = now_ns();
    for (unsigned i = 1; i < router->count; i++) {
        deliver(&router->there[i], now);
        deliver(&router->back[i], now);
    }
    set_timer(router);
}

static int watch(struct router *router, int descriptor, unsigned number)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = number};
    return epoll_ctl(router->poll, EPOLL_CTL_ADD, descriptor, &event);
}

struct router *router_make(const struct place *places, unsigned count,
                           const struct link_terms *terms)
{
    static struct router router;
    router = (struct router){.places = places, .count = count, .terms = terms, .chance = 1};
    router.poll = epoll_create1(EPOLL_CLOEXEC);
    router.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    int failed = watch(&router, router.timer, count);
    for (unsigned i = 0; i < count; i++) {
        failed |= watch(&router, places[i].device, i);
        router.there[i].to = places[i].device;
        router.back[i].to = places[0].device;
    }
    return failed ? NULL : &router;
}
