/*
 * The n-th allocation fails, the n-th call on a socket fails, for every n that a life of a
 * client has: open, acquire, contend, extend, release, close.  Nothing crashes or leaks,
 * every outcome is told once, and no key stays behind.
 */
#include "user.h"

#include <stdio.h>

#include "faults.h"

#define LAST 100000 /* it ends long before, when the n-th is never reached */

static struct cluster cluster;

static int start(void **state)
{
    (void)state;
    cluster_start(&cluster, 5, NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    cluster_stop(&cluster);
    return 0;
}

static bool is_short_of(redlock_code code)
{
    return code == REDLOCK_E_MEMORY || code == REDLOCK_E_SYSTEM;
}

static void ask(struct take *take, struct user *user, const redlock_name *names, size_t count,
                int64_t wait_ms)
{
    redlock_lease_options terms = lease_terms(2000, wait_ms);
    take_init(take, user);
    redlock_code code =
        redlock_acquire_names(user->client, &take->lease, names, count, &terms, take_hear, take);
    if (code)
        assert_code(code, REDLOCK_E_MEMORY);
    assert_int_equal(code == REDLOCK_OK, take->lease != NULL);
}

static unsigned decided(const struct take *take)
{
    return take->told[REDLOCK_ACQUIRED].times + take->told[REDLOCK_NOT_ACQUIRED].times;
}

static void extend(struct take *take)
{
    if (redlock_extend(take->lease, 0) == REDLOCK_OK)
        AWAIT(take->user, take->told[REDLOCK_EXTENDED].times + take->told[REDLOCK_LOST].times +
                              take->told[REDLOCK_NOT_EXTENDED].times);
}

static void give_back(struct take *take)
{
    if (take->told[REDLOCK_ACQUIRED].times && redlock_release(take->lease) == REDLOCK_OK)
        AWAIT(take->user, take->told[REDLOCK_RELEASED].times);
    assert_true(take->told[REDLOCK_RELEASED].times <= 1);
    assert_true(take->told[REDLOCK_LOST].times <= 1);
    assert_int_equal(decided(take), 1);
    (void)redlock_token(take->lease);
    redlock_lease_free(take->lease);
}

static void hold_and_contend(struct user *user)
{
    static const redlock_name one[] = {{"one", 3}}, three[] = {{"two", 3}, {"one", 3}, {"x", 1}};
    struct take first, second;
    ask(&first, user, one, 1, 0);
    if (first.lease)
        AWAIT(user, decided(&first));
    ask(&second, user, three, 3, 15);
    if (second.lease)
        AWAIT(user, decided(&second));
    if (first.lease)
        extend(&first);
    if (second.lease)
        give_back(&second);
    if (first.lease)
        give_back(&first);
}

static void on_closed(redlock *client, unsigned left, void *data)
{
    struct user *user = data;
    (void)client;
    user->closed++;
    user->left = left;
    ev_break(user->loop, EVBREAK_ONE);
}

/* Whether it came to the n-th. */
static bool live(enum fault fault, unsigned n)
{
    struct user user = {.loop = ev_loop_new(0)};
    redlock_options options = REDLOCK_OPTIONS_INIT;
    char why[200] = "";
    options.nodes = cluster.nodes;
    fault_arm(fault, n);
    redlock_code code = redlock_open(&user.client, user.loop, &options, why, sizeof why);
    if (code) {
        if (!is_short_of(code))
            fail_msg("%u-th fault: %s: %s", n, redlock_code_name(code), why);
        assert_true(why[0]);
        assert_null(user.client);
    } else {
        hold_and_contend(&user);
        redlock_close(user.client, 5000, on_closed, &user);
        AWAIT(&user, user.closed);
        redlock_free(user.client);
        assert_int_equal(user.left, 0);
    }
    bool struck = fault_disarm();
    ev_run(user.loop, 0);
    ev_loop_destroy(user.loop);
    if (cluster_keys(&cluster))
        fail_msg("the %u-th fault of kind %d left keys behind", n, (int)fault);
    return struck;
}

static void live_through(enum fault fault, const char *what)
{
    unsigned n = 1;
    while (n < LAST && live(fault, n))
        n++;
    print_message("    %u %s\n", n - 1, what);
    assert_true(n > 20 && n < LAST);
}

static void test_memory(void **state)
{
    (void)state;
    live_through(FAULT_MEMORY, "allocations failed");
    live_through(FAULT_MEMORY_SPELL, "times ten allocations failed in a row");
}

static void test_calls_that_fail(void **state)
{
    (void)state;
    live_through(FAULT_CALL_FAILS, "calls on sockets failed");
}

static void test_calls_that_do_half(void **state)
{
    (void)state;
    live_through(FAULT_CALL_PARTLY, "calls on sockets did less than asked for");
    live_through(FAULT_CALL_EINTR, "calls on sockets were interrupted");
}

static void test_connections_that_end(void **state)
{
    (void)state;
    live_through(FAULT_CALL_END, "reads found the connection closed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_calls_that_fail),
        cmocka_unit_test(test_calls_that_do_half),
        cmocka_unit_test(test_connections_that_end),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
