/*
 * After a fork the child holds nothing, whatever it calls, and the parent notices nothing
 * of it.  And the figures: statistics, states of masters, OpenMetrics.
 */
#include "fixture.h"
#include "user.h"

#include <ctype.h>
#include <math.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Exit status of the child: the line of the check that failed. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            _exit(__LINE__ % 250 + 1);                                                             \
    } while (0)

static void in_child(struct take *take)
{
    struct take other;
    struct seen seen;
    redlock_name name = NAME("inherited");
    redlock *client = user.client;
    CHECK(redlock_lease_valid_for(take->lease) == 0);
    CHECK(redlock_lease_release(take->lease) == REDLOCK_E_FORKED);
    CHECK(redlock_lease_extend(take->lease, 0) != REDLOCK_OK);
    CHECK(redlock_acquire(client, &other.lease, "x", NULL, take_hear, &other) == REDLOCK_E_FORKED);
    CHECK(!other.lease);
    CHECK(redlock_look_begin(client, &seen.look, &name, 1, NULL, look_hear, &seen) ==
          REDLOCK_E_FORKED);
    CHECK(!seen.look);
    CHECK(redlock_node_adopt(client, 0) != REDLOCK_OK);
    redlock_close(client, 1000, NULL, NULL);
    /* The parent's loop, run by mistake. */
    ev_loop_fork(user.loop);
    ev_run(user.loop, EVRUN_NOWAIT);
    ev_run(user.loop, EVRUN_NOWAIT);
    redlock_lease_free(take->lease);
    redlock_free(client);

    /* A client of its own is another contender. */
    user_open(&user, &cluster, NULL);
    CHECK(take_lock(&other, &user, "inherited", NULL) == REDLOCK_E_HELD);
    take_free(&other);
    CHECK(take_lock(&other, &user, "child's own", NULL) == REDLOCK_OK);
    CHECK(take_release(&other) == REDLOCK_OK);
    user_close(&user, 5000);
    _exit(0);
}

static void expect_success(pid_t child)
{
    int status;
    int64_t end = now_us() + 20000000;
    while (waitpid(child, &status, WNOHANG) == 0) /* the parent's lease is renewed meanwhile */
        assert_true(user_step(&user, end));
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status))
        fail_msg("a check of the child failed: %d", WEXITSTATUS(status));
}

/* fork() without the handlers of pthread_atfork(): as _Fork(), or clone() by hand. */
static pid_t quiet_fork(void)
{
    return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

static void expect_nothing_in_child(pid_t (*make)(void))
{
    struct take take;
    redlock_lease_options terms = lease_terms(2000, 0);
    assert_code(take_lock(&take, &user, "inherited", &terms), REDLOCK_OK);
    AWAIT(&user, cluster_holders(&cluster, "inherited", redlock_lease_token(take.lease)) == 5);
    pid_t child = make();
    if (child == 0)
        in_child(&take);
    expect_success(child);
    int64_t end = now_us() + 2500000; /* longer than the ttl */
    while (user_step(&user, end))
        assert_true(redlock_lease_valid_for(take.lease) > 0);
    assert_int_equal(cluster_holders(&cluster, "inherited", redlock_lease_token(take.lease)), 5);
    assert_int_equal(take.outcomes, 1);
    assert_code(take_release(&take), REDLOCK_OK);
}

CASE(test_child_holds_nothing)
{
    expect_nothing_in_child(fork);
}

CASE(test_quiet_child_holds_nothing)
{
    expect_nothing_in_child(quiet_fork);
}

static void fork_inside(redlock_lease *lease, const redlock_event *event, void *data)
{
    take_hear(lease, event, data);
    if (event->kind != REDLOCK_ACQUIRED)
        return;
    pid_t child = fork();
    if (child == 0) {
        CHECK(redlock_lease_valid_for(lease) == 0);
        redlock_lease_free(lease);
        redlock_free(user.client); /* while its callback runs: freed or not, nothing is sent */
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_true(redlock_lease_valid_for(lease) > 0);
}

CASE(test_fork_inside_a_callback)
{
    struct take take;
    take_init(&take, &user);
    assert_code(redlock_acquire(user.client, &take.lease, "inside", NULL, fork_inside, &take),
                REDLOCK_OK);
    AWAIT(&user, take.told[REDLOCK_ACQUIRED].times);
    assert_int_equal(cluster_holders(&cluster, "inside", redlock_lease_token(take.lease)) >= 3, 1);
    assert_code(take_release(&take), REDLOCK_OK);
}

/* The child exits in the ordinary way, and its memory is not freed. */
CASE(test_child_of_a_round)
{
    struct take take;
    take_ask(&take, &user, "asked", NULL);
    pid_t child = fork();
    if (child == 0) {
        ev_loop_fork(user.loop);
        for (unsigned i = 0; i < 20; i++)
            user_step(&user, INT64_MAX);
        CHECK(take.outcomes == 0);
        _exit(0);
    }
    AWAIT(&user, take.outcomes);
    expect_success(child);
    assert_code(take_release(&take), REDLOCK_OK);
    assert_int_equal(take.told[REDLOCK_ACQUIRED].times, 1);
}

/* ---- What is going on ---- */

static uint64_t count_of(const uint64_t buckets[REDLOCK_BUCKETS])
{
    uint64_t count = 0;
    for (unsigned i = 0; i < REDLOCK_BUCKETS; i++)
        count += buckets[i];
    return count;
}

CASE(test_stats)
{
    struct user fresh;
    struct take take, other;
    redlock_stats stats = {.size = sizeof stats};
    user_open(&fresh, &cluster, NULL);
    for (unsigned i = 0; i < 10; i++) {
        assert_code(take_lock(&take, &fresh, "counted", NULL), REDLOCK_OK);
        if (i < 9)
            assert_code(take_release(&take), REDLOCK_OK);
    }
    assert_code(take_lock(&other, &fresh, "counted", NULL), REDLOCK_E_HELD);
    take_free(&other);
    assert_code(redlock_stats_get(fresh.client, &stats), REDLOCK_OK);
    assert_int_equal(stats.acquires, 11);
    assert_int_equal(stats.acquired, 10);
    assert_int_equal(stats.contended, 1);
    assert_int_equal(stats.rounds, 11);
    assert_int_equal(stats.released, 9);
    assert_int_equal(stats.held, 1);
    assert_int_equal(stats.connects, 5);
    assert_int_equal(stats.unavailable + stats.lost + stats.timeouts + stats.disconnects +
                         stats.protocol_errors + stats.owed,
                     0);
    assert_true(stats.requests >= stats.replies);
    assert_true(stats.acquire_us > 0);
    assert_int_equal(count_of(stats.acquire_times), stats.acquired);
    assert_int_equal(count_of(stats.hold_times), stats.released);
    assert_int_equal(count_of(stats.queue_times) + count_of(stats.renewal_left_times), 0);
    assert_true(stats.at_risk <= stats.held);
    assert_int_equal(stats.abstaining, 0);
    assert_code(take_release(&take), REDLOCK_OK);
    user_close_clean(&fresh, &cluster);
}

CASE(test_openmetrics)
{
    size_t length = redlock_stats_text(user.client, NULL, 0);
    char *text = malloc(length + 1), *end, little[10] = "#########";
    assert_true(length > 500 && length < 20000);
    assert_int_equal(redlock_stats_text(user.client, text, length + 1), length);
    assert_int_equal(strlen(text), length);
    assert_int_equal(redlock_stats_text(user.client, little, sizeof little), length);
    assert_memory_equal(little, text, sizeof little - 1);
    assert_string_equal(text + length - 6, "# EOF\n");
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        if (*line == '#')
            continue;
        assert_int_equal(strncmp(line, "redlock_", 8), 0);
        char *value = strrchr(line, ' ');
        assert_non_null(value);
        assert_true(isfinite(strtod(value, &end)) && !*end);
    }
    free(text);
}

CASE(test_nodes)
{
    redlock_node node = {.size = sizeof node};
    assert_int_equal(redlock_node_count(user.client), 5);
    for (unsigned i = 0; i < 5; i++) {
        assert_code(redlock_node_get(user.client, i, &node), REDLOCK_OK);
        assert_int_equal(node.state, REDLOCK_NODE_UP);
        assert_int_equal(strlen(node.run_id), 40);
        const char *number = strchr(node.version, ' ');
        assert_true(isdigit((unsigned char)(number ? number[1] : node.version[0])));
        assert_in_range(node.rtt_us, 1, 10000000);
        assert_true(llabs(node.clock_offset_us) < 1000000); /* the same clock */
        assert_string_equal(node.eviction, "noeviction");   /* of deploy/redis.conf */
        assert_false(node.aof);
    }
    assert_code(redlock_node_get(user.client, 5, &node), REDLOCK_E_ARGUMENT);
    assert_string_equal(redlock_last_error(user.client), "there is no master 5: the list has 5");
}

PROGRAM(.masters = 5, .has_user = true)
