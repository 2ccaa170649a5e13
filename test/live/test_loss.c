/*
 * A holder whose quorum goes away gets LOST before its lease ends, every time: when three of five
 * masters are killed, and when they hang.
 *
 * The end does not come from the library. It is the moment at which the name expires on the three
 * masters, which the test asks when nothing can renew it there any more. Where a busy machine held
 * up this process, LOST must come as soon as it goes on.
 *
 * REDLOCK_LONG=1: fifty tries of each kind, one lease each, which takes some minutes.
 */
#include "fixture.h"
#include "user.h"

#include <sys/random.h>
#include <time.h>

#include "proxy.h"

#define TTL    2000
#define LEASES 10

static struct take takes[LEASES];
static int64_t ends[LEASES]; /* us of CLOCK_BOOTTIME */
static int64_t smallest, largest;
static unsigned leases = LEASES, tries = 3, other_tries = 1;

static void read_how_long(void)
{
    if (getenv("REDLOCK_LONG")) {
        leases = 1;
        tries = other_tries = 50;
    }
}

static int64_t anything_below(int64_t limit)
{
    uint32_t random = 0;
    while (getrandom(&random, sizeof random, 0) != sizeof random)
        ;
    return random % limit;
}

static void run_for(int64_t us)
{
    int64_t end = now_us() + us;
    while (user_step(&user, end))
        ;
}

/* Begins at different moments, so that the renewals do not go in step. */
static void hold_all(void)
{
    AWAIT(&user, user_all_up(&user));
    for (unsigned i = 0; i < leases; i++) {
        char name[16];
        snprintf(name, sizeof name, "loss %u", i);
        redlock_lease_options terms = lease_terms(TTL, 1000);
        assert_code(take_lock(&takes[i], &user, name, &terms), REDLOCK_OK);
        run_for(anything_below(40000));
    }
    run_for(100000 + anything_below(700000));
}

static unsigned all_lost(void)
{
    unsigned lost = 0;
    for (unsigned i = 0; i < leases; i++)
        lost += takes[i].told[REDLOCK_LOST].times;
    return lost == leases;
}

/* From here on masters 0 to 2 change nothing; reading goes on. */
static void freeze_and_read_ends(void)
{
    struct timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    int64_t lead = (int64_t)wall.tv_sec * 1000000 + wall.tv_nsec / 1000 - now_us();
    for (unsigned i = 0; i < 3; i++)
        cluster_tell(&cluster, i, "CLIENT PAUSE 5000 WRITE");
    for (unsigned k = 0; k < leases; k++) {
        char name[16];
        ends[k] = 0;
        snprintf(name, sizeof name, "loss %u", k);
        for (unsigned i = 0; i < 3; i++) {
            int64_t end = cluster_count(&cluster, i, "PEXPIRETIME %s", name) * 1000 - lead;
            ends[k] = end > ends[k] ? end : ends[k];
        }
    }
}

static void check_all(void)
{
    for (unsigned k = 0; k < leases; k++) {
        const struct told *lost = &takes[k].told[REDLOCK_LOST];
        assert_int_equal(lost->times, 1);
        if (lost->event.ends_ms * 1000 + lost->held_up_us <= 0)
            fail_msg("%s: %s", redlock_code_name(lost->event.code), lost->text);
        int64_t before = ends[k] - lost->at_us;
        if (before + lost->held_up_us <= 0)
            fail_msg("LOST %lld us after the end", -(long long)before);
        smallest = before < smallest ? before : smallest;
        largest = before > largest ? before : largest;
        assert_code(take_release(&takes[k]), REDLOCK_E_GONE);
        assert_int_equal(takes[k].told[REDLOCK_LOST].times, 1);
        assert_int_equal(takes[k].told[REDLOCK_EXTENDED].times, 0);
    }
}

static void begin(const char *nodes)
{
    redlock_options options = impatient();
    options.restart_policy = REDLOCK_RESTART_TRUST; /* the tries are not about that */
    options.nodes = nodes;
    user_open(&user, &cluster, &options);
    smallest = INT64_MAX;
    largest = 0;
}

static void finish(const char *what)
{
    print_message("    %s: LOST came %lld.%lld to %lld.%lld ms before the end\n", what,
                  (long long)smallest / 1000, (long long)smallest / 100 % 10,
                  (long long)largest / 1000, (long long)largest / 100 % 10);
    user_close(&user, 5000);
}

CASE(test_killed)
{
    begin(NULL);
    for (unsigned try = 0; try < tries; try++) {
        hold_all();
        freeze_and_read_ends();
        user_meanwhile(&user, &cluster, "kill 1 2 3");
        AWAIT(&user, all_lost());
        check_all();
        user_meanwhile(&user, &cluster, "restart 1 2 3 --empty");
    }
    finish("killed");
}

CASE(test_hung)
{
    begin(NULL);
    for (unsigned try = 0; try < other_tries; try++) {
        hold_all();
        freeze_and_read_ends();
        user_meanwhile(&user, &cluster, "pause 1 2 3");
        AWAIT(&user, all_lost());
        user_meanwhile(&user, &cluster, "resume 1 2 3");
        cluster_tell_all(&cluster, "CLIENT UNPAUSE");
        check_all();
    }
    finish("hung");
}

PROGRAM(.masters = 5, .begun = read_how_long)
