/*
 * Masters that refuse: wrong passwords, missing permissions, replicas, one server listed twice.
 * Each error names its cause.
 */
#include "fixture.h"
#include "user.h"

#include "liar.h"

/* A list in which the first `odd` masters are reached with other credentials; NULL: with their
 * own passwords. */
static const char *list(const char *login, unsigned odd, const char *others)
{
    static char nodes[600];
    size_t used = 0;
    for (unsigned i = 0; i < 5; i++) {
        char own[48];
        snprintf(own, sizeof own, ":%s@", cluster.passwords[i]);
        const char *given = i < odd ? login : others;
        used += (size_t)snprintf(nodes + used, sizeof nodes - used, "%s://%s127.0.0.1:%d ",
                                 cluster_scheme(), given ? given : own, cluster.ports[i]);
    }
    return nodes;
}

static void open_list(struct user *user, const char *nodes)
{
    redlock_options options = {.size = sizeof(redlock_options)};
    options.nodes = nodes;
    options.connect_timeout_ms = 5000;
    options.request_timeout_ms = 1000;
    user_open(user, NULL, &options);
}

static void expect_held(struct user *user, const char *name)
{
    struct take take;
    assert_code(take_lock(&take, user, name, NULL), REDLOCK_OK);
    assert_code(take_release(&take), REDLOCK_OK);
}

static void expect_refused(struct user *user, const char *name, unsigned odd,
                           redlock_vote_kind kind, const char *says)
{
    struct take take;
    assert_code(take_lock(&take, user, name, NULL), REDLOCK_E_UNAVAILABLE);
    const struct told *told = &take.told[REDLOCK_NOT_ACQUIRED];
    for (unsigned i = 0; i < odd; i++) {
        assert_vote(&told->votes[i], kind);
        assert_says(told->votes[i].text, says);
    }
    assert_says(told->text, says);
    take_free(&take);
    AWAIT_AWAKE_MS(user, cluster_keys(&cluster) == 0, 1000);
}

static void expect_node(struct user *user, unsigned index, redlock_node_state state,
                        const char *says)
{
    redlock_node node = node_of(user, index);
    assert_int_equal(node.state, state);
    assert_says(node.text, says);
    assert_null(strstr(node.node, "hunter2"));
}

/* NULL: the one that it was started with. */
static void set_password(const char *password)
{
    for (unsigned i = 0; i < 5; i++)
        cluster_tell(&cluster, i, "CONFIG SET requirepass %s",
                     password ? password : cluster.passwords[i]);
}

CASE(test_passwords)
{
    struct user user;
    set_password("hunter2 &%");
    open_list(&user, list("", 0, ":hunter2%20&%25@"));
    assert_code(user.ready_code, REDLOCK_OK);
    expect_held(&user, "right");
    user_close_clean(&user, &cluster);

    open_list(&user, list(":wrong@", 2, "default:hunter2%20&%25@"));
    assert_code(user.ready_code, REDLOCK_OK);
    assert_says(user.ready_text, "WRONGPASS");
    expect_held(&user, "two wrong");
    expect_node(&user, 0, REDLOCK_NODE_DOWN, "WRONGPASS");
    assert_null(strstr(user.log, "hunter2"));
    user_close_clean(&user, &cluster);

    open_list(&user, list(":wrong@", 3, ":hunter2%20&%25@"));
    assert_code(user.ready_code, REDLOCK_E_UNAVAILABLE);
    expect_refused(&user, "three wrong", 3, REDLOCK_VOTE_UNREACHABLE, "WRONGPASS");
    user_close_clean(&user, &cluster);

    open_list(&user, list("", 3, ":hunter2%20&%25@"));
    assert_code(user.ready_code, REDLOCK_E_UNAVAILABLE);
    assert_says(user.ready_text, "NOAUTH");
    expect_refused(&user, "none given", 3, REDLOCK_VOTE_UNREACHABLE, "NOAUTH");
    user_close_clean(&user, &cluster);
    set_password(NULL);
}

static void add_user(const char *rules)
{
    for (unsigned i = 0; i < 5; i++) {
        char command[200];
        snprintf(command, sizeof command, "ACL SETUSER ann reset on >secret %s", rules);
        cluster_tell(&cluster, i, command);
    }
}

CASE(test_permissions)
{
    struct user user;
    add_user("~* +@all -eval -evalsha");
    open_list(&user, list("ann:secret@", 3, NULL));
    assert_code(user.ready_code, REDLOCK_E_UNAVAILABLE);
    expect_refused(&user, "no eval", 3, REDLOCK_VOTE_UNREACHABLE, "NOPERM");
    expect_node(&user, 0, REDLOCK_NODE_DOWN, "eval");
    user_close_clean(&user, &cluster);

    add_user("~redlock:clock ~mine:* +@all");
    open_list(&user, list("ann:secret@", 3, NULL));
    assert_code(user.ready_code, REDLOCK_OK);
    expect_refused(&user, "theirs:x", 3, REDLOCK_VOTE_REFUSED, "NOPERM");
    expect_held(&user, "mine:x");
    AWAIT(&user, cluster_keys(&cluster) == 0);
    /* An error is no plain refusal: releases stay owed, as long as they are refused too. */
    user_close(&user, 0);

    /* The login does without the optional rights. */
    add_user("~* +@all -client -script -select");
    open_list(&user, list("ann:secret@", 5, NULL));
    assert_code(user.ready_code, REDLOCK_OK);
    expect_held(&user, "little");
    user_close_clean(&user, &cluster);

    add_user("~* +@all off");
    open_list(&user, list("ann:secret@", 3, NULL));
    expect_refused(&user, "off", 3, REDLOCK_VOTE_UNREACHABLE, "WRONGPASS");
    user_close_clean(&user, &cluster);
    cluster_tell_all(&cluster, "ACL DELUSER ann");
}

static void refused_list(const char *nodes, redlock_code code, const char *says)
{
    struct user user;
    struct take early, late;
    redlock_options options = {.size = sizeof(redlock_options)};
    redlock_lease_options terms = {.size = sizeof(redlock_lease_options), .ttl_ms = 3000};
    options.nodes = nodes;
    options.connect_timeout_ms = 5000; /* no answer in time would be the news */
    options.request_timeout_ms = 1000;
    user_begin(&user, ev_loop_new(0), NULL, &options);
    take_ask(&early, &user, "early", &terms);
    AWAIT(&user, user.ready);
    assert_code(user.ready_code, code);
    assert_says(user.ready_text, says);
    AWAIT(&user, early.outcomes);
    /* A quorum of sound masters may have been faster than the news. */
    if (early.told[REDLOCK_NOT_ACQUIRED].times)
        assert_code(early.told[REDLOCK_NOT_ACQUIRED].event.code, code);
    assert_code(take_lock(&late, &user, "late", NULL), code);
    take_free(&late);
    take_free(&early);
    /* A sound master may have given a key before the news.  It may keep it for its ttl. */
    AWAIT(&user, cluster_keys(&cluster) == 0);
    user_close(&user, 0);
}

static void make_replicas(unsigned first, const char *host, const char *port)
{
    for (unsigned i = first; i < 5; i++)
        cluster_tell(&cluster, i, "REPLICAOF %s %s", host, port);
}

/* The others are a quorum: it counts as a master that is down, and is said. */
static void enough_without(const char *nodes, unsigned wrong, const char *says)
{
    struct user user;
    struct take take;
    open_list(&user, nodes);
    assert_code(user.ready_code, REDLOCK_OK);
    AWAIT(&user, node_of(&user, wrong).state == REDLOCK_NODE_REFUSED);
    assert_string_equal(node_of(&user, wrong).role, "");
    assert_says(user.log, says);
    assert_code(take_lock(&take, &user, "enough", NULL), REDLOCK_OK);
    assert_vote(&take.told[REDLOCK_ACQUIRED].votes[wrong], REDLOCK_VOTE_UNREACHABLE);
    assert_says(take.told[REDLOCK_ACQUIRED].votes[wrong].text, says);
    take_free(&take);
    user_close(&user, 0);
}

/* A former replica abstains, though the master was adopted before. */
static void adopt_again(unsigned first)
{
    struct user user;
    open_list(&user, cluster.nodes);
    for (unsigned i = first; i < 5; i++) {
        AWAIT(&user, node_of(&user, i).abstains_ms > 0);
        assert_code(redlock_node_adopt(user.client, i), REDLOCK_OK);
        AWAIT(&user, node_of(&user, i).state == REDLOCK_NODE_UP);
    }
    user_close_clean(&user, &cluster);
}

CASE(test_replica)
{
    char port[12], says[100];
    snprintf(port, sizeof port, "%d", cluster.ports[0]);
    make_replicas(4, "127.0.0.1", port);
    enough_without(cluster.nodes, 4, "is a replica");
    make_replicas(2, "127.0.0.1", port);
    snprintf(says, sizeof says, "127.0.0.1:%d: is a replica", cluster.ports[2]);
    refused_list(cluster.nodes, REDLOCK_E_REPLICA, says);
    make_replicas(2, "NO", "ONE");
    adopt_again(2);
}

CASE(test_same_master)
{
    char nodes[3 * URI_SIZE], says[100];
    snprintf(nodes, sizeof nodes, URI_FORMAT URI_FORMAT "%s://:%s@localhost:%d", cluster_scheme(),
             cluster.passwords[0], cluster.ports[0], cluster_scheme(), cluster.passwords[1],
             cluster.ports[1], cluster_scheme(), cluster.passwords[0], cluster.ports[0]);
    snprintf(says, sizeof says, ":%d: is the same server as master", cluster.ports[0]);
    struct user user;
    struct take take;
    open_list(&user, nodes);
    assert_code(user.ready_code, REDLOCK_OK);
    assert_says(user.ready_text, says);
    assert_code(take_lock(&take, &user, "twice", NULL), REDLOCK_OK);
    assert_int_equal(take.told[REDLOCK_ACQUIRED].event.granted, 2);
    take_free(&take);
    user_close(&user, 0);
    snprintf(nodes, sizeof nodes, "unix://:%s@%s/master-1/redis.sock " URI_FORMAT,
             cluster.passwords[0], cluster.dir, cluster_scheme(), cluster.passwords[0],
             cluster.ports[0]);
    refused_list(nodes, REDLOCK_E_SAME_MASTER, "is the same server as master");
}

CASE(test_databases)
{
    struct user user;
    char nodes[100];
    snprintf(nodes, sizeof nodes, "%s://:%s@127.0.0.1:%d/3", cluster_scheme(), cluster.passwords[0],
             cluster.ports[0]);
    open_list(&user, nodes);
    struct take take;
    assert_code(take_lock(&take, &user, "in three", NULL), REDLOCK_E_UNAVAILABLE);
    take_free(&take); /* another database has a clock of its own: it abstains */
    snprintf(nodes, sizeof nodes, "%s://:%s@127.0.0.1:%d/77", cluster_scheme(),
             cluster.passwords[0], cluster.ports[0]);
    user_close(&user, 1000);
    open_list(&user, nodes);
    assert_code(user.ready_code, REDLOCK_E_UNAVAILABLE);
    expect_node(&user, 0, REDLOCK_NODE_DOWN, "DB index is out of range");
    user_close(&user, 1000);
    cluster_tell(&cluster, 0, "FLUSHDB");
    cluster_tell(&cluster, 0, "SELECT 3");
    cluster_tell(&cluster, 0, "FLUSHDB");
    cluster_tell(&cluster, 0, "SELECT 0");
}

PROGRAM(.masters = 5)
