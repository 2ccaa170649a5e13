/*
 * Beside another library: two clients of the published algorithm hold the name for 0.2 s and try
 * again each 50 to 150 ms; one of ours is enqueued.  They hand over to no waiter, and ours still
 * gets its turns.
 */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "redlock/sync.h"
#include "fixture.h"
#include "user.h"

#define MASTERS    5
#define QUORUM     3
#define FOREIGNERS 2
#define OURS       FOREIGNERS
#define HOLD_US    200000
#define TTL        "5000"
#define TURNS      75
#define LEAST      (TURNS / 5)
#define GAP_US     3000000
#define DEADLINE_S 250

struct arena {
    atomic_uint turns[FOREIGNERS + 1];
    atomic_int inside;
    atomic_uint two;
    atomic_bool over;
};

static struct arena *arena;

static void hold(unsigned who)
{
    if (atomic_fetch_add(&arena->inside, 1))
        atomic_fetch_add(&arena->two, 1);
    usleep(HOLD_US); /* the work */
    atomic_fetch_sub(&arena->inside, 1);
    atomic_fetch_add(&arena->turns[who], 1);
}

static void pause_between(unsigned *chance)
{
    usleep(50000 + (useconds_t)rand_r(chance) % 100000);
}

/* ---- The others ------------------------------------------------------------------- */

static bool is_ok(redisReply *reply)
{
    if (!reply || reply->type == REDIS_REPLY_ERROR)
        _exit(2);
    bool is_yes = reply->type == REDIS_REPLY_STATUS && strcmp(reply->str, "OK") == 0;
    freeReplyObject(reply);
    return is_yes;
}

static void try_once(redisContext **masters, unsigned who, unsigned number)
{
    static const char release[] =
        "if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1]) end";
    unsigned granted = 0;
    char token[40];
    snprintf(token, sizeof token, "%08x%08x0123456789abcdef", who, number);
    for (unsigned i = 0; i < MASTERS; i++)
        granted += is_ok(redisCommand(masters[i], "SET name %s NX PX " TTL, token));
    if (granted >= QUORUM)
        hold(who);
    for (unsigned i = 0; i < MASTERS; i++)
        (void)is_ok(redisCommand(masters[i], "EVAL %s 1 name %s", release, token));
}

static void contend(unsigned who)
{
    redisContext *masters[MASTERS];
    unsigned chance = who + 1;
    alarm(DEADLINE_S);
    for (unsigned i = 0; i < MASTERS; i++)
        masters[i] = cluster_connect(&cluster, i);
    for (unsigned number = 0; !atomic_load(&arena->over); number++) {
        try_once(masters, who, number);
        pause_between(&chance);
    }
    _exit(0);
}

/* ---- Ours --------------------------------------------------------------------------- */

static unsigned all_turns(void)
{
    unsigned turns = 0;
    for (unsigned i = 0; i <= FOREIGNERS; i++)
        turns += atomic_load(&arena->turns[i]);
    return turns;
}

/* Returns the longest time that it waited. */
static int64_t wait_turn(redlock_sync *client)
{
    int64_t longest = 0;
    unsigned chance = OURS + 1;
    redlock_sync_result result = {.size = sizeof(redlock_sync_result)};
    redlock_lease_options terms = {.size = sizeof(redlock_lease_options)};
    terms.wait_ms = 20000;
    while (all_turns() < TURNS) {
        redlock_sync_lease *lease;
        int64_t since = now_us();
        if (redlock_sync_acquire(client, &lease, "name", &terms, &result))
            fail_msg("%s\n%s", result.text, result.votes);
        int64_t waited = now_us() - since;
        longest = waited > longest ? waited : longest;
        hold(OURS);
        assert_code(redlock_sync_lease_release(lease, NULL), REDLOCK_OK);
        redlock_sync_lease_free(lease);
        pause_between(&chance);
    }
    return longest;
}

CASE(test_beside_another_library)
{
    pid_t others[FOREIGNERS];
    redlock_sync *client;
    redlock_options options = {.size = sizeof(redlock_options)};
    char why[256];
    arena = mmap(NULL, sizeof *arena, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(arena != MAP_FAILED);
    for (unsigned i = 0; i < FOREIGNERS; i++) {
        others[i] = fork();
        if (others[i] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            contend(i);
        }
    }
    options.nodes = cluster.nodes;
    options.request_timeout_ms = 1000; /* a busy machine is not a broken one */
    if (redlock_sync_open(&client, &options, why, sizeof why))
        fail_msg("%s", why);
    alarm(DEADLINE_S);
    int64_t longest = wait_turn(client);
    unsigned ours = atomic_load(&arena->turns[OURS]), all = all_turns();
    atomic_store(&arena->over, true);
    for (unsigned i = 0; i < FOREIGNERS; i++) {
        int status;
        assert_int_equal(waitpid(others[i], &status, 0), others[i]);
        assert_int_equal(status, 0);
    }
    redlock_sync_close(client, 1000);
    redlock_sync_free(client);
    alarm(0);
    print_message("    ours %u of %u turns, longest wait %lld ms\n", ours, all,
                  (long long)longest / 1000);
    assert_int_equal(arena->two, 0);
    assert_true(ours >= LEAST);
    assert_true(longest <= GAP_US);
    munmap(arena, sizeof *arena);
}

PROGRAM(.masters = MASTERS)
