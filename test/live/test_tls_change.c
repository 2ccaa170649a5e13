/*
 * Masters that have a port for TLS and a plain one: clients go from one to the other.
 * rule: D5, D13, D14
 */
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fixture.h"
#include "lists_in_use.h"
#include "recipe_user.h"

#include <redlock/sync.h>

#define MASTERS     4
#define FLEET       "fleet"
#define PATIENCE_MS 10000

static int plain[MASTERS]; /* ports; cluster.ports are those for TLS */

static int find_port(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof to;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&to, length), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&to, &length), 0);
    close(fd);
    return ntohs(to.sin_port);
}

static bool open_port(unsigned master)
{
    plain[master] = find_port();
    redisReply *reply = cluster_ask(&cluster, master, "CONFIG SET port %d", plain[master]);
    bool is_open = reply && reply->type == REDIS_REPLY_STATUS;
    freeReplyObject(reply);
    return is_open;
}

static void open_ports(void)
{
    for (unsigned i = 0; i < MASTERS; i++) {
        unsigned tries = 20;
        while (!open_port(i))
            assert_true(--tries);
        cluster_tell(&cluster, i, "ACL SETUSER default >one >two");
    }
}

enum door { PLAIN, TLS };

struct list {
    enum door door;
    unsigned first, count;
};

static const struct list three = {PLAIN, 0, 3}, three_tls = {TLS, 0, 3}, two = {PLAIN, 0, 2},
                         others_tls = {TLS, 2, 2};

static const char *put_list(struct list list, const char *mark)
{
    static char texts[4][MASTERS * URI_SIZE];
    static unsigned turn;
    char *text = texts[turn++ % 4];
    text[0] = '\0';
    for (unsigned i = list.first; i < list.first + list.count; i++)
        snprintf(text + strlen(text), URI_SIZE, "%s%s127.0.0.1:%d", i > list.first ? "," : "", mark,
                 list.door == TLS ? cluster.ports[i] : plain[i]);
    return text;
}

static const char *uris_of(struct list list)
{
    return put_list(list, list.door == TLS ? "rediss://:one@" : "redis://:one@");
}

static const char *told_as(struct list list)
{
    return put_list(list, list.door == TLS ? "rediss://" : "");
}

static redlock_options options_of(struct list list)
{
    redlock_options options = {.size = sizeof options};
    options.nodes = uris_of(list);
    options.fleet = FLEET;
    options.connect_timeout_ms = options.request_timeout_ms = 5000;
    return options;
}

static void begin(struct user *user, struct ev_loop *loop, struct list list)
{
    redlock_options options = options_of(list);
    user_begin(user, loop, NULL, &options);
}

static unsigned left; /* former clients that have closed */

static void hear_closed(redlock *client, unsigned owed, void *data)
{
    (void)client, (void)owed, (void)data;
    left++;
}

/* The other client has not heard its masters yet. */
static void go_and_come(struct list from, struct list to)
{
    struct user former, next;
    struct take take;
    begin(&former, ev_loop_new(0), from);
    AWAIT(&former, former.ready && user_all_up(&former));
    assert_code(take_lock(&take, &former, "name", NULL), REDLOCK_OK);
    begin(&next, former.loop, to);
    left = 0;
    assert_code(redlock_may_move(former.client, next.client), REDLOCK_E_DIFFERS);
    assert_code(redlock_relist(former.client, next.client, hear_closed, NULL), REDLOCK_OK);
    AWAIT(&next, left);
    assert_int_equal(take.told[REDLOCK_MOVED].times, 1);
    AWAIT(&next, cluster_holders(&cluster, "name", redlock_lease_token(take.lease)) == 3);
    assert_null(strstr(former.log, "leases wait"));
    redlock_free(former.client);
    assert_code(take_release(&take), REDLOCK_OK);
    user_close(&next, PATIENCE_MS);
}

CASE(one_server_has_two_ports)
{
    go_and_come(three, three_tls);
    go_and_come(three_tls, three);
}

/* Ports of one host that are of other servers: nothing moves, and it is said. */
CASE(other_servers_of_one_host)
{
    struct user former, next;
    struct take take;
    begin(&former, ev_loop_new(0), two);
    AWAIT(&former, former.ready && user_all_up(&former));
    assert_code(take_lock(&take, &former, "name", NULL), REDLOCK_OK);
    begin(&next, former.loop, others_tls);
    assert_code(redlock_relist(former.client, next.client, NULL, NULL), REDLOCK_OK);
    AWAIT(&next, next.ready && strstr(former.log, "leases wait"));
    assert_int_equal(take.told[REDLOCK_MOVED].times, 0);
    assert_int_equal(take.told[REDLOCK_NOT_MOVED].times, 0);
    assert_true(redlock_lease_valid_for(take.lease) > 0);
    assert_code(redlock_may_move(former.client, next.client), REDLOCK_E_DIFFERS);
    assert_code(take_release(&take), REDLOCK_OK);
    AWAIT(&next, !redlock_is_busy(former.client));
    redlock_free(former.client);
    user_close(&next, PATIENCE_MS);
}

/* The masters there would keep nobody out that counts on those here. */
CASE(a_call_stays_at_other_servers_of_one_host)
{
    struct user former, next;
    struct latching made, waits;
    redlock_latch_options options = {.size = sizeof options, .arrivals = 1};
    begin(&former, ev_loop_new(0), two);
    AWAIT(&former, former.ready && user_all_up(&former));
    left = 0;
    latching_begin(&made, &former, redlock_latch_create, "latch", &options);
    latching_end(&made, &former, REDLOCK_OK);
    latching_begin(&waits, &former, redlock_latch_await, "latch", NULL);
    begin(&next, former.loop, others_tls);
    assert_code(redlock_relist(former.client, next.client, NULL, NULL), REDLOCK_OK);
    AWAIT(&next, next.ready && strstr(former.log, "leases wait"));
    assert_int_equal(waits.times, 0);
    redlock_close(former.client, 0, hear_closed, NULL);
    AWAIT(&next, left);
    latching_end(&waits, &next, REDLOCK_E_CLOSED);
    redlock_free(former.client);
    user_close(&next, PATIENCE_MS);
}

static void is_refused_at_once(const char *host, const char *database)
{
    struct user former, next;
    char nodes[2 * URI_SIZE];
    redlock_options options = options_of(two);
    begin(&former, ev_loop_new(0), two);
    AWAIT(&former, former.ready && user_all_up(&former));
    snprintf(nodes, sizeof nodes, "rediss://:one@%s:%d%s,rediss://:one@%s:%d%s", host,
             cluster.ports[0], database, host, cluster.ports[1], database);
    options.nodes = nodes;
    user_begin(&next, former.loop, NULL, &options);
    assert_code(redlock_relist(former.client, next.client, NULL, NULL), REDLOCK_E_DIFFERS);
    AWAIT(&next, next.ready);
    assert_code(redlock_relist(former.client, next.client, NULL, NULL), REDLOCK_E_DIFFERS);
    user_end(&former, PATIENCE_MS);
    user_close(&next, PATIENCE_MS);
}

CASE(another_host_or_database_is_another_master)
{
    is_refused_at_once("localhost", "");
    is_refused_at_once("127.0.0.1", "/1");
}

/* Once its masters were tried, that is known at once. */
CASE(other_servers_that_were_heard)
{
    struct user former, next;
    begin(&former, ev_loop_new(0), two);
    begin(&next, former.loop, others_tls);
    AWAIT(&next, former.ready && next.ready && user_all_up(&former) && user_all_up(&next));
    assert_code(redlock_relist(former.client, next.client, NULL, NULL), REDLOCK_E_DIFFERS);
    user_end(&former, PATIENCE_MS);
    user_close(&next, PATIENCE_MS);
}

/* ---- A list that is over -------------------------------------------------------------- */

static void tell_over(struct list list, const char *successor)
{
    struct user tool;
    struct lists_used used;
    redlock_options options = options_of(list);
    options.looks_only = true;
    user_begin(&tool, ev_loop_new(0), NULL, &options);
    redlock_list_end(tool.client, successor, UINT16_MAX);
    AWAIT_MS(&tool, (redlock_lists_used(tool.client, &used), used.over == (1U << list.count) - 1),
             LIST_ENDS_MS);
    user_close(&tool, PATIENCE_MS);
}

static void forget_lists(void)
{
    cluster_tell_all(&cluster, "EVAL %s 0",
                     "for _, key in ipairs(redis.call('keys', 'redlock:lists:*')) do "
                     "redis.call('del', key) end");
}

static void look_at_first(redlock *redlock, void *data)
{
    redlock_node node = {.size = sizeof node};
    assert_code(redlock_node_get(redlock, 0, &node), REDLOCK_OK);
    *(bool *)data = node.tls_protocol && *node.tls_protocol;
}

static bool has_tls(redlock_sync *client)
{
    bool has = false;
    assert_code(redlock_sync_run(client, look_at_first, &has), REDLOCK_OK);
    return has;
}

#define AWAIT_SYNC(condition)                                                                      \
    do {                                                                                           \
        int64_t end_ = now_us() + PATIENCE_MS * INT64_C(1000);                                     \
        while (!(condition)) {                                                                     \
            assert_true(now_us() < end_);                                                          \
            usleep(1000);                                                                          \
        }                                                                                          \
    } while (0)

/* Threads do nothing for it. */
CASE(threads_go_to_tls)
{
    redlock_sync *client;
    redlock_sync_lease *lease;
    redlock_options options = options_of(three);
    assert_code(redlock_sync_open(&client, &options, NULL, 0), REDLOCK_OK);
    assert_code(redlock_sync_ready(client, PATIENCE_MS, NULL, 0), REDLOCK_OK);
    assert_code(redlock_sync_acquire(client, &lease, "name", NULL, NULL), REDLOCK_OK);
    tell_over(three, told_as(three_tls));
    for (unsigned i = 0; i < 2; i++)
        cluster_tell(&cluster, i, "CLIENT KILL TYPE normal");
    AWAIT_SYNC(has_tls(client));
    assert_true(redlock_sync_lease_valid_for(lease) > 0);
    assert_code(redlock_sync_lease_release(lease, NULL), REDLOCK_OK);
    redlock_sync_lease_free(lease);
    redlock_sync_close(client, PATIENCE_MS);
    redlock_sync_free(client);
    forget_lists();
}

/* Each master has the login of one that has TLS, too, or that has none. */
CASE(whose_login)
{
    struct user user;
    char nodes[3 * URI_SIZE], expected[3 * URI_SIZE], told[3 * URI_SIZE];
    redlock_options options = options_of(three);
    snprintf(nodes, sizeof nodes,
             "rediss://:one@127.0.0.1:%d?ca=%s/ca.crt,redis://:two@127.0.0.1:%d", cluster.ports[0],
             cluster_tls_folder(), plain[1]);
    options.nodes = nodes;
    user_begin(&user, ev_loop_new(0), NULL, &options);
    AWAIT(&user, user.ready && user_all_up(&user));
    snprintf(told, sizeof told, "h:1,127.0.0.1:%d,rediss://h:2", cluster.ports[0]);
    snprintf(
        expected, sizeof expected,
        "redis://:two@h:1,rediss://:one@127.0.0.1:%d?ca=%s/ca.crt,rediss://:one@h:2?ca=%s/ca.crt",
        cluster.ports[0], cluster_tls_folder(), cluster_tls_folder());
    struct user tool;
    struct lists_used used;
    options.looks_only = true;
    user_begin(&tool, user.loop, NULL, &options);
    redlock_list_end(tool.client, told, UINT16_MAX);
    AWAIT_MS(&tool, (redlock_lists_used(tool.client, &used), used.over == 3), LIST_ENDS_MS);
    user_end(&tool, PATIENCE_MS);
    for (unsigned i = 0; i < 2; i++)
        cluster_tell(&cluster, i, "CLIENT KILL TYPE normal");
    AWAIT(&user, redlock_successor(user.client));
    assert_string_equal(redlock_successor(user.client), expected);
    user_close(&user, PATIENCE_MS);
    forget_lists();
}

int main(void)
{
    setenv("REDLOCK_TEST_TLS", "1", 1);
    return RUN_WITH(.masters = MASTERS, .begun = open_ports);
}
