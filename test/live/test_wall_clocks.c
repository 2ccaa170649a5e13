/*
 * Wall clocks that are wrong by an hour: a client's, and that of a master, which was set back.
 * rule: Q12
 */
#include "fixture.h"
#include "fences.h"

#include <unistd.h>

#define MASTERS 5
#define HOUR_US INT64_C(3600000000)

static void open_all(struct user *user)
{
    redlock_options options = fence_options();
    user_open(user, &cluster, &options);
}

/* Started again, without its data, by the wall clock that the environment tells of. */
static void restart_by_other_clock(unsigned master)
{
    setenv("WALL_CLOCK", WALL_CLOCK, 1);
    if (getenv("REDLOCK_SERVER"))
        setenv("TRUE_SERVER", getenv("REDLOCK_SERVER"), 1);
    cluster_do(&cluster, "restart %u --empty --server '%s'", master + 1, OFF_SERVER);
}

/* The last number in the output of a command that lives an hour ahead of us. */
static int64_t an_hour_ahead(const char *command)
{
    char line[1024], output[256];
    snprintf(line, sizeof line,
             "ASAN_OPTIONS=verify_asan_link_order=0 WALL_CLOCK_OFF=3600 LD_PRELOAD='%s' %s",
             WALL_CLOCK, command);
    FILE *pipe = popen(line, "re");
    assert_non_null(pipe);
    size_t used = fread(output, 1, sizeof output - 1, pipe);
    output[used] = '\0';
    assert_int_equal(pclose(pipe), 0);
    const char *number = strrchr(output, ' ');
    return atoll(number ? number : output);
}

CASE(test_a_client_an_hour_ahead)
{
    struct user user;
    char command[800];
    int64_t theirs = an_hour_ahead("date +%s") * 1000000;
    assert_true(llabs(theirs - wall_clock(&cluster, 0) - HOUR_US) < BUSY_US);
    settle_clocks(&cluster);
    open_all(&user);
    int64_t first = fence_once(&user, "whose hour");
    snprintf(command, sizeof command, "'%s' lock --fence --ttl 1s 'whose hour'", REDLOCK_COMMAND);
    setenv("REDLOCK_NODES", cluster.nodes, 1);
    int64_t ahead_of_us = an_hour_ahead(command);
    unsetenv("REDLOCK_NODES");
    assert_true(ahead_of_us > first);
    AWAIT(&user, cluster_keys(&cluster) == 0);
    int64_t last = fence_once(&user, "whose hour");
    assert_true(last > ahead_of_us);
    assert_true(last <= wall_clock(&cluster, 0) + BUSY_US); /* it uses no wall clock of its own */
    for (unsigned i = 0; i < MASTERS; i++)
        assert_true(clock_ahead(&cluster, i) < BUSY_US);
    user_close_clean(&user, &cluster);
}

/* Its leases would end all at once when somebody sets the clock right: so it has no vote. */
CASE(test_a_clock_that_was_set_back)
{
    struct user user;
    int64_t back_s = 0;
    char path[] = "/tmp/wall-clock-XXXXXX";
    int file = mkstemp(path);
    assert_int_equal(pwrite(file, &back_s, sizeof back_s, 0), sizeof back_s);
    setenv("WALL_CLOCK_FILE", path, 1);
    restart_by_other_clock(4);
    unsetenv("WALL_CLOCK_FILE");
    back_s = -3600;
    assert_int_equal(pwrite(file, &back_s, sizeof back_s, 0), sizeof back_s);
    open_all(&user);
    AWAIT(&user, strstr(node_of(&user, 4).text, "its clock was set back behind its own start"));
    assert_int_equal(node_of(&user, 4).state, REDLOCK_NODE_DOWN);
    back_s = 0;
    assert_int_equal(pwrite(file, &back_s, sizeof back_s, 0), sizeof back_s);
    AWAIT(&user, node_of(&user, 4).state == REDLOCK_NODE_ABSTAINS ||
                     node_of(&user, 4).state == REDLOCK_NODE_UP);
    user_close_clean(&user, &cluster);
    cluster_do(&cluster, "restart 5 --empty");
    close(file);
    unlink(path);
}

PROGRAM(.masters = MASTERS, .fenced = true)
