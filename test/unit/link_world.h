/*
 * link_world.h - what the tests of a link share: one link, the master that it talks to,
 * and all that the link told.
 *
 * A test runs the loop only until what it waits for has come; an alarm ends a test that
 * waits in vain.
 */
#ifndef REDLOCK_TEST_LINK_WORLD_H
#define REDLOCK_TEST_LINK_WORLD_H

#include <ev.h>

#include "fake_master.h"
#include "link.h"
#include "unit.h"

struct told {
    enum event_kind kind;
    usec now;   /* as the link says */
    usec clock; /* of a push */
    enum answer answer;
    struct tag tag;
    bool has_text;
    char text[200];
};

struct world {
    struct ev_loop *loop;
    struct io_loop *io; /* the link's place on it */
    struct fake_master fake;
    struct address address;
    struct names *names; /* two, so that requests about them go alone */
    struct names *name;
    struct link *link;
    ev_prepare pumping;
    bool inside; /* a call of the link, from which it must not deliver */
    struct told *told;
    unsigned told_count, told_capacity;
    void (*react)(struct world *world, const struct event *event);
};

enum { MANY = 10000 };

extern const char NAME[]; /* of the client */
extern char LOCAL[];

#define LOADED                                                                                     \
    "$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n$1\r\nd\r\n$1\r\ne\r\n$1\r\nf\r\n$1\r\ng\r\n$1\r\nh\r\n$"    \
    "1\r\ni\r\n$1\r\nj\r\n$1\r\nk\r\n$1\r\nl\r\n$1\r\nm\r\n$1\r\nn\r\n$1\r\no\r\n"                 \
    "$1\r\np\r\n$1\r\nq\r\n$1\r\nr\r\n$1\r\ns\r\n$1\r\nt\r\n"
#define LOGIN_REPLIES "+OK\r\n:77\r\n"
#define HELLO_REPLY                                                                                \
    "*11\r\n$1\r\nr\r\n$1\r\n7\r\n$6\r\nmaster\r\n:1\r\n:0\r\n:0\r\n:0\r\n:0\r\n$0\r\n\r\n:9\r\n:" \
    "5\r\n"

/* It has `struct world *world`. */
#define LINK_TEST(name) CASE_IN(struct world, world, name, world_set_up, world_tear_down)

/* Likewise, and the link is up. */
#define UP_TEST(name) CASE_IN(struct world, world, name, world_set_up_connected, world_tear_down)

int link_tests_begin(void **state);
int world_set_up(void **state);
int world_set_up_connected(void **state);
int world_tear_down(void **state);
void use_unix_socket(struct world *world);

/* host NULL: over the fake master's unix socket. */
void make_link(struct world *world, const char *host);
void make_link_to(struct world *world, struct address address);
/* Begins to connect to slow.test, and waits for the lookup. */
void begin_slow_lookup(struct world *world);
/* The link is up, and what it told so far is forgotten. */
void come_up(struct world *world, const char *host);

/* The calls of a link, which deliver nothing before they return. */
void do_connect(struct world *world);
void do_send(struct world *world, const struct request *request);
void do_flush(struct world *world);
void do_close(struct world *world);
/* Closes, and hears of it. */
void close_link(struct world *world);

void run_until_told(struct world *world, unsigned count);
void run_until_heard(struct world *world, size_t length);

struct request request_of(const struct names *names, enum request_kind kind, unsigned round);
/* About two names: such a request shares its command with no other. */
void send_round(struct world *world, enum request_kind kind, unsigned round);
void send_whole_hello(struct world *world, unsigned round);
/* About one name: it may share its command. */
void send_one(struct world *world, enum request_kind kind, unsigned round);
void send_batch(struct world *world, enum request_kind kind, unsigned first, unsigned count);
void send_long_name(struct world *world, unsigned round);
/* Bytes of one release, as command_write() makes them. */
size_t release_length(const struct world *world);

/* Why it is refused or lost; of a name that is held, the value. */
const char *text_of(const struct reply *reply);
void assert_reply(const struct told *told, unsigned round, enum answer answer);
void assert_lost(const struct told *told, unsigned round);
/* why NULL: the link was closed by its user. */
void assert_closed(const struct told *told, const char *why);
/* Run until this number of events has come, of which the last is this one. */
void run_until_reply(struct world *world, unsigned count, unsigned round, enum answer answer);
void run_until_closed(struct world *world, unsigned count, const char *why);
/* The events from there on: the requests from that round on are lost, and then the end. */
void assert_end(struct world *world, unsigned from, unsigned round, const char *why);
/* This number of events comes, of which those from there on are the end. */
void run_until_end(struct world *world, unsigned count, unsigned from, unsigned round,
                   const char *why);
/* Likewise, by one link_pump(). */
void pump_to_end(struct world *world, unsigned count, unsigned from, unsigned round,
                 const char *why);
/* The first request of a connection is answered with yes. */
void assert_exchange(struct world *world, unsigned round);

/* A reply and a stray one come in one read.  `react` sends requests 2 and 3 on the first: neither
 * is written yet, so both are lost, and the connection ends. */
void assert_stray_reply_ends(struct world *world);

#endif
