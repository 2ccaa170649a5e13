/*
 * A master that hangs costs no lease time. With one of five stopped before the start, acquires take
 * as long as with five healthy ones, and no round ever waits for it.
 */
#include "user.h"

#include "../cases.h"

#include <stdio.h>

#define PAIRS  400
#define FIRSTS 40
#ifdef SANITIZED
#define WAKING 25000 /* us: half of what it costs to wait for a master */
#else
#define WAKING 200 /* us: what it may cost more to be woken, on a busy machine */
#endif
#define OPENING 5000 /* us: the same, of new connections */

static struct cluster healthy, limping;

static int start(void **state)
{
    (void)state;
    cluster_start(&healthy, 5, NULL);
    cluster_start(&limping, 5, NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    cluster_stop(&limping);
    cluster_stop(&healthy);
    return 0;
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The first quarter: a master that is waited for holds up every round, for 50 ms at least; other
 * work of the machine some of them. */
static int64_t quick(int64_t *values, unsigned count)
{
    qsort(values, count, sizeof *values, compare);
    return values[count / 4];
}

/* Time until the outcome; `hung`: the master that must not be waited for, or -1. */
static int64_t time_lock(struct take *take, struct user *user, const char *name, int hung,
                         redlock_code code)
{
    int64_t since = now_us();
    assert_code(take_lock(take, user, name, NULL), code);
    const struct told *told = &take->told[code ? REDLOCK_NOT_ACQUIRED : REDLOCK_ACQUIRED];
    assert_int_equal(told->event.rounds, 1);
    if (hung >= 0)
        assert_vote(&told->votes[hung], REDLOCK_VOTE_UNREACHABLE);
    return told->at_us - since;
}

static void end(struct take *take, redlock_code code)
{
    if (code)
        take_free(take);
    else
        assert_code(take_release(take), REDLOCK_OK);
}

static void compare_quick_ones(struct user *with_five, struct user *with_four, const char *name,
                               redlock_code code)
{
    static int64_t five[PAIRS], four[PAIRS];
    struct take take;
    for (unsigned i = 0; i < PAIRS; i++) {
        five[i] = time_lock(&take, with_five, name, -1, code);
        end(&take, code);
        four[i] = time_lock(&take, with_four, name, 4, code);
        end(&take, code);
    }
    int64_t of_five = quick(five, PAIRS), of_four = quick(four, PAIRS);
    print_message("    %s: %lld us with five, %lld us with one hung: ratio %.2f; longest "
                  "%lld us\n",
                  code ? "contended" : "free", (long long)of_five, (long long)of_four,
                  (double)of_four / (double)of_five, (long long)four[PAIRS - 1]);
    assert_true((double)of_four <= 1.3 * (double)of_five + WAKING);
}

CASE(test_hung_since_before_the_start)
{
    struct user with_five, with_four;
    struct take held_by_five, held_by_four;
    redlock_options options = {.size = sizeof(redlock_options)};
    options.request_timeout_ms = 2000; /* only the hung master is slow */
    cluster_do(&limping, "pause 5");
    user_open(&with_five, &healthy, &options);
    user_open(&with_four, &limping, &options);
    assert_code(with_four.ready_code, REDLOCK_OK);
    assert_says(with_four.ready_text, "no answer within");
    compare_quick_ones(&with_five, &with_four, "name", REDLOCK_OK);
    assert_code(take_lock(&held_by_five, &with_five, "taken", NULL), REDLOCK_OK);
    assert_code(take_lock(&held_by_four, &with_four, "taken", NULL), REDLOCK_OK);
    compare_quick_ones(&with_five, &with_four, "taken", REDLOCK_E_HELD);
    assert_int_equal(stats_of(&with_four).timeouts,
                     0); /* it was never asked, so never waited for */
    assert_code(take_release(&held_by_five), REDLOCK_OK);
    assert_code(take_release(&held_by_four), REDLOCK_OK);
    cluster_do(&limping, "resume 5");
    user_close_clean(&with_four, &limping);
    user_close_clean(&with_five, &healthy);
}

static int64_t time_first(const struct cluster *cluster)
{
    struct user user;
    struct take take;
    int64_t since = now_us();
    user_begin(&user, ev_loop_new(0), cluster->nodes, NULL);
    assert_code(take_lock(&take, &user, "first", NULL), REDLOCK_OK);
    int64_t took = take.told[REDLOCK_ACQUIRED].at_us - since;
    assert_code(take_release(&take), REDLOCK_OK);
    user_end_early(&user, 10000); /* a master that is late must not keep the name */
    ev_loop_destroy(user.loop);
    return took;
}

/* A new client's first acquire does not wait for it either. */
CASE(test_first_acquire)
{
    static int64_t five[FIRSTS], four[FIRSTS];
    cluster_do(&limping, "pause 5");
    for (unsigned i = 0; i < FIRSTS; i++) {
        five[i] = time_first(&healthy);
        four[i] = time_first(&limping);
    }
    cluster_do(&limping, "resume 5");
    int64_t of_five = quick(five, FIRSTS), of_four = quick(four, FIRSTS);
    print_message("    first acquire: %lld us with five, %lld us with one hung: ratio %.2f\n",
                  (long long)of_five, (long long)of_four, (double)of_four / (double)of_five);
    assert_true((double)of_four <= 1.5 * (double)of_five + OPENING);
}

/* A master stops while connected: the client notices after a few requests, and leaves it alone
 * until it goes on. */
CASE(test_hangs_later)
{
    struct user user;
    struct take take;
    redlock_node node = {.size = sizeof node};
    redlock_options options = {.size = sizeof(redlock_options)};
    options.request_timeout_ms = 500; /* the others answer by then on a busy machine, too */
    user_open(&user, &limping, &options);
    assert_code(take_lock(&take, &user, "before", NULL), REDLOCK_OK);
    assert_code(take_release(&take), REDLOCK_OK);
    cluster_do(&limping, "pause 2");
    do {
        assert_code(take_lock(&take, &user, "meanwhile", NULL), REDLOCK_OK);
        assert_int_equal(take.told[REDLOCK_ACQUIRED].event.rounds, 1);
        assert_code(take_release(&take), REDLOCK_OK);
        redlock_node_get(user.client, 1, &node);
    } while (node.state == REDLOCK_NODE_UP);
    assert_says(node.text, "hangs: no answer for");
    uint64_t timeouts = stats_of(&user).timeouts;
    AWAIT(&user, stats_of(&user).held == 0);
    for (unsigned i = 0; i < 100; i++) {
        time_lock(&take, &user, "afterwards", 1, REDLOCK_OK);
        assert_code(take_release(&take), REDLOCK_OK);
    }
    assert_int_equal(stats_of(&user).timeouts, timeouts);
    cluster_do(&limping, "resume 2");
    AWAIT(&user, (redlock_node_get(user.client, 1, &node), node.state == REDLOCK_NODE_UP));
    assert_code(take_lock(&take, &user, "resumed", NULL), REDLOCK_OK);
    AWAIT(&user, cluster_holders(&limping, "resumed", redlock_lease_token(take.lease)) == 5);
    assert_code(take_release(&take), REDLOCK_OK);
    user_close_clean(&user, &limping); /* the grants of the stopped master are released, too */
}

PROGRAM_OF_CASES(start, stop)
