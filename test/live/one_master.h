/*
 * One real master, asked by way of lib/wire, and what it publishes to those who wait.
 */
#ifndef LIVE_ONE_MASTER_H
#define LIVE_ONE_MASTER_H

#include "command.h"
#include "fixture.h"
#include "ground/names.h"
#include "reply.h"
#include "user.h"

#define CHANNEL "redlock:test"
#define LIFE    20000
#define FAR     (INT64_C(1) << 52) /* a ticket ahead of any clock */

#define TELL(...)      cluster_tell(&cluster, 0, __VA_ARGS__)
#define ASK_COUNT(...) cluster_count(&cluster, 0, __VA_ARGS__)

/* Until `condition`, at most for ten seconds. */
#define AWAIT_IT(condition)                                                                        \
    for (int64_t deadline_ = now_us() + 10000000; !(condition);)                                   \
    assert_true(now_us() < deadline_)

extern redisContext *master, *ear;
extern struct raw_reply raw;
extern struct reply reply; /* the last */
extern const struct memory memory;

struct names *make_names(const struct slice *slices, unsigned count);
/* "a b ~c": three names, the last one shared. */
struct names *split(const char *text);
struct request request_of(enum request_kind kind, const struct names *names, const char *token);
void read_raw(struct buffer *written);
enum answer ask(const struct request *request);
/* These ask about a list of names: see split(). */
enum answer ask_about(const char *list, struct request request);
enum answer queue_for(const char *list, const char *token, usec ticket, int64_t life);
enum answer queue(const char *list, const char *token, usec ticket);
enum answer simply(enum request_kind kind, const char *list, const char *token);
enum answer grant_proposing(const char *list, const char *token, usec proposal);
enum answer grant(const char *list, const char *token);
enum answer release(const char *list, const char *token);
void assert_holder(const char *name, const char *token);
usec read_clock(void);
void assert_heard(const char *payload);
void assert_told(const char *token);
void assert_nothing_more_was_told(void);
redisContext *connect_to_master(void);
int set_up(void **state);
int tear_down(void **state);
void ask_each(const struct request *requests, unsigned count);
enum answer answer_of_each(const struct request *requests, unsigned index, unsigned count);
void become(const char *rules);
void become_anybody(void);

#endif
