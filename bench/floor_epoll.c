/*
 * floor_epoll.c - the floor of any client: raw sockets and epoll, neither hiredis nor libev.  Each
 * command goes to all masters; a pair is acquired, and then released, with the third of five
 * answers. floor.h says what it lacks.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "floor.h"
#include "floor_wire.h"
#include "redlock.h"

#define DRAIN_S 5.
#define SENT    65536 /* commands of which some master has not answered; a power of two */

struct pair {
    struct floor_commands commands;
    int64_t since;
    uint64_t phase; /* its last command: an answer to an earlier one comes too late */
    unsigned answers, yes;
    bool releases;
};

struct floor {
    int epoll;
    unsigned count, quorum;
    struct wire wires[15];
    uint64_t answered[15]; /* commands, by this master */
    /* The commands, in the order in which all masters get them and answer. */
    struct sent {
        struct pair *pair;
        uint64_t phase;
    } sent[SENT];
    uint64_t commands, serial, limit, begun;
    struct pair *pairs;
    unsigned concurrency, in_flight;
    bool measures, begins; /* pairs; else those under way come to their end */
    bool broken;
    int64_t now;
    struct result *result;
};

static void break_off(struct floor *floor, const char *why)
{
    result_note(floor->result, "%s", why);
    floor->broken = true;
}

static uint64_t behind(const struct floor *floor)
{
    uint64_t most = 0;
    for (unsigned i = 0; i < floor->count; i++)
        if (floor->commands - floor->answered[i] > most)
            most = floor->commands - floor->answered[i];
    return most;
}

static void command(struct floor *floor, struct pair *pair, const char *bytes, size_t length)
{
    floor->sent[floor->commands % SENT] = (struct sent){pair, ++pair->phase};
    floor->commands++;
    pair->answers = pair->yes = 0;
    pair->since = floor->now;
    for (unsigned i = 0; i < floor->count; i++)
        wire_add(&floor->wires[i], bytes, length);
    if (behind(floor) == SENT)
        break_off(floor, "a master is too far behind the others");
}

static void begin(struct floor *floor, struct pair *pair)
{
    floor->begun++;
    floor->in_flight++;
    pair->releases = false;
    floor_name(&pair->commands, floor->serial++);
    command(floor, pair, pair->commands.set, pair->commands.set_length);
}

static bool wants_more(const struct floor *floor)
{
    return floor->begins && (!floor->limit || floor->begun < floor->limit);
}

static void end(struct floor *floor, struct pair *pair, bool ok)
{
    floor->in_flight--;
    pair->phase++;
    if (floor->measures) {
        floor->result->pairs += ok;
        floor->result->failed += !ok;
    }
    if (wants_more(floor))
        begin(floor, pair);
}

static void decided(struct floor *floor, struct pair *pair)
{
    struct result *result = floor->result;
    struct histogram *times = pair->releases ? &result->release : &result->acquire;
    if (floor->measures)
        histogram_add(times, floor->now - pair->since);
    if (pair->releases) {
        end(floor, pair, true);
        return;
    }
    pair->releases = true;
    command(floor, pair, pair->commands.release, pair->commands.release_length);
}

static void on_answer(struct floor *floor, unsigned master, const char *line)
{
    const struct sent *sent = &floor->sent[floor->answered[master]++ % SENT];
    struct pair *pair = sent->pair;
    if (sent->phase != pair->phase)
        return;
    pair->answers++;
    pair->yes += line[0] == '+' || (line[0] == ':' && line[1] == '1');
    if (pair->yes == floor->quorum)
        decided(floor, pair);
    else if (pair->answers == floor->count)
        end(floor, pair, false);
}

static void read_answers(struct floor *floor, unsigned master)
{
    const char *line;
    if (!wire_receive(&floor->wires[master]))
        break_off(floor, "a connection was lost");
    floor->now = now_ns();
    while (!floor->broken && (line = wire_line(&floor->wires[master])))
        on_answer(floor, master, line);
}

/* A master that takes no more bytes owes answers, which end the next wait. */
static void send_all(struct floor *floor)
{
    for (unsigned i = 0; i < floor->count; i++)
        if (!wire_send(&floor->wires[i]))
            break_off(floor, "a connection was lost");
}

static void turn(struct floor *floor)
{
    struct epoll_event events[15];
    int count = epoll_wait(floor->epoll, events, 15, 100);
    if (count < 0 && errno != EINTR)
        break_off(floor, "epoll_wait failed");
    for (int i = 0; i < count; i++) {
        read_answers(floor, events[i].data.u32);
        send_all(floor);
    }
    floor->now = now_ns();
}

/* ---- slices ---- */

static int64_t after(double seconds)
{
    return now_ns() + (int64_t)(seconds * 1e9);
}

static bool goes_on(const struct floor *floor)
{
    return !floor->broken && !interrupted;
}

static void run_until(struct floor *floor, int64_t end)
{
    while (goes_on(floor) && floor->now < end && (floor->in_flight || wants_more(floor)))
        turn(floor);
}

static void measure(struct floor *floor, double seconds, struct result *result)
{
    double user, system;
    int64_t started = now_ns();
    floor->measures = true;
    usage_now(&user, &system);
    run_until(floor, floor->limit ? INT64_MAX : after(seconds));
    usage_now(&result->user, &result->system);
    result->user -= user;
    result->system -= system;
    result->seconds = (double)(now_ns() - started) / 1e9;
    floor->measures = false;
}

/* The late answers belong to no later slice. */
static void drain(struct floor *floor)
{
    int64_t end = after(DRAIN_S);
    floor->begins = false;
    while (goes_on(floor) && floor->now < end && behind(floor))
        turn(floor);
    if (goes_on(floor) && behind(floor))
        break_off(floor, "a master did not answer all");
}

static void run_floor(void *self, double warm, double seconds, struct result *result)
{
    struct floor *floor = self;
    floor->result = result;
    floor->begun = 0;
    floor->begins = true;
    floor->now = now_ns();
    for (unsigned i = 0; i < floor->concurrency && wants_more(floor) && !floor->broken; i++)
        begin(floor, &floor->pairs[i]);
    send_all(floor);
    if (warm > 0)
        run_until(floor, after(warm));
    measure(floor, seconds, result);
    drain(floor);
}

/* ---- */

static void close_floor(void *self)
{
    struct floor *floor = self;
    for (unsigned i = 0; i < floor->count; i++)
        wire_close(&floor->wires[i]);
    for (unsigned i = 0; i < floor->concurrency; i++)
        floor_discard(&floor->pairs[i].commands);
    free(floor->pairs);
    close(floor->epoll);
    free(floor);
}

static bool watch(struct floor *floor, unsigned i)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = i};
    return epoll_ctl(floor->epoll, EPOLL_CTL_ADD, floor->wires[i].fd, &event) == 0;
}

static void *open_floor(const struct options *options, const struct cluster *cluster,
                        struct ev_loop *loop, struct result *result)
{
    struct floor *floor = calloc(1, sizeof *floor);
    (void)loop;
    bool good = options->rate <= 0 && options->concurrency < SENT / 4;
    if (!good)
        result_note(result, "this floor has a closed loop, of fewer than %d pairs", SENT / 4);
    floor->epoll = epoll_create1(EPOLL_CLOEXEC);
    floor->count = cluster->count;
    floor->quorum = redlock_quorum(cluster->count, options->spare);
    floor->concurrency = options->concurrency;
    floor->limit = options->pairs;
    floor->serial = (uint64_t)now_ns() << 8;
    floor->pairs = calloc(options->concurrency, sizeof *floor->pairs);
    for (unsigned i = 0; good && i < floor->count; i++)
        good = wire_open(&floor->wires[i], cluster, i, result) && watch(floor, i);
    for (unsigned i = 0; good && i < floor->concurrency; i++)
        good = floor_prepare(&floor->pairs[i].commands, options);
    if (good)
        return floor;
    close_floor(floor);
    return NULL;
}

const struct scenario floor_epoll_scenario = {
    .name = "floor-epoll",
    .summary = "the same with raw sockets and epoll, no library: not safe either",
    .open = open_floor,
    .run = run_floor,
    .close = close_floor,
    .loops = true};
