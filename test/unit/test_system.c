/* Time, random bytes, forks. */
#include "system.h"

#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "forks.h"
#include "unit.h"

#define COPIES 2000
#define EACH   8

static int start(void **state)
{
    (void)state;
    return system_start();
}

CASE(the_clock_is_boottime)
{
    struct timespec before, after;
    clock_gettime(CLOCK_BOOTTIME, &before);
    usec now = system_now();
    clock_gettime(CLOCK_BOOTTIME, &after);
    assert_true(now >= before.tv_sec * 1000000LL + before.tv_nsec / 1000);
    assert_true(now <= after.tv_sec * 1000000LL + after.tv_nsec / 1000);
}

CASE(starting_twice_is_harmless)
{
    assert_int_equal(system_start(), 0);
}

static struct randomness take(struct randomness rest, size_t size)
{
    return (struct randomness){rest.bytes + size, rest.left - size};
}

CASE(lends_enough_for_a_step_at_any_time)
{
    struct randomness_store store = {.drawn_at = 0};
    for (int i = 0; i < 5000; i++) {
        struct randomness lent = randomness_lend(&store);
        assert_int_equal(lent.left, RANDOMNESS_PER_STEP);
        randomness_settle(&store, take(lent, (size_t)i % (RANDOMNESS_PER_STEP + 1)));
    }
}

CASE(what_is_taken_is_wiped)
{
    struct randomness_store store = {.drawn_at = 0};
    const uint8_t zeros[16] = {0};
    struct randomness lent = randomness_lend(&store);
    randomness_settle(&store, take(lent, 16));
    assert_memory_equal(lent.bytes, zeros, 16);
    assert_memory_not_equal(lent.bytes + 16, zeros, 16);
}

/* As when a machine goes on twice from one snapshot. */
CASE(a_copy_is_lent_other_bytes)
{
    struct randomness_store store = {.drawn_at = 0}, copy;
    for (int i = 0; i < 1000; i++) {
        randomness_settle(&store, randomness_lend(&store));
        copy = store;
        struct randomness one = randomness_lend(&store), other = randomness_lend(&copy);
        for (size_t at = 0; at < RANDOMNESS_PER_STEP; at += TOKEN_RANDOM)
            assert_memory_not_equal(one.bytes + at, other.bytes + at, TOKEN_RANDOM);
    }
}

static int compare_tokens(const void *a, const void *b)
{
    return memcmp(a, b, TOKEN_RANDOM);
}

/* Many go on from one snapshot, and each draws several: one moment must not take another out. */
CASE(many_copies_draw_other_tokens)
{
    static uint8_t drawn[EACH][COPIES][TOKEN_RANDOM];
    struct randomness_store snapshot = {.drawn_at = 0};
    for (unsigned i = 0; i < COPIES; i++) {
        struct randomness_store now = {.drawn_at = 0}, copy;
        randomness_lend(&now);
        if (!i)
            snapshot = now;
        copy = snapshot;
        copy.drawn_at = now.drawn_at;
        for (unsigned j = 0; j < EACH; j++) {
            struct randomness lent = randomness_lend(&copy);
            memcpy(drawn[j][i], lent.bytes, TOKEN_RANDOM);
            randomness_settle(&copy, take(lent, TOKEN_RANDOM));
        }
    }
    for (unsigned j = 0; j < EACH; j++) {
        qsort(drawn[j], COPIES, TOKEN_RANDOM, compare_tokens);
        for (unsigned i = 1; i < COPIES; i++)
            assert_memory_not_equal(drawn[j][i - 1], drawn[j][i], TOKEN_RANDOM);
    }
}

/* To be seen in the bytes that only the kernel gave. */
static bool is_drawn_anew(struct randomness_store *store, const struct randomness_store *before)
{
    randomness_lend(store);
    return memcmp(store->bytes + 8, before->bytes + 8, 8) != 0;
}

CASE(old_bytes_are_drawn_anew)
{
    struct randomness_store store = {.drawn_at = 0};
    randomness_lend(&store);
    struct randomness_store before = store;
    store.drawn_at -= 10000000; /* 10 ms */
    assert_true(is_drawn_anew(&store, &before));
    before = store;
    store.drawn_at += 3600000000000; /* the wall clock went back */
    assert_true(is_drawn_anew(&store, &before));
    before = store;
    randomness_forget(&store);
    assert_true(is_drawn_anew(&store, &before));
}

static int compare(const void *one, const void *other)
{
    return memcmp(one, other, 16);
}

CASE(no_bytes_come_twice)
{
    enum { TOKENS = 4000 };
    static uint8_t tokens[TOKENS][16];
    struct randomness_store store = {.drawn_at = 0};
    for (int i = 0; i < TOKENS; i++) {
        struct randomness lent = randomness_lend(&store);
        memcpy(tokens[i], lent.bytes, 16);
        randomness_settle(&store, take(lent, 16));
    }
    qsort(tokens, TOKENS, 16, compare);
    for (int i = 1; i < TOKENS; i++)
        assert_memory_not_equal(tokens[i - 1], tokens[i], 16);
}

/* fork() without what it is told to call in the child: as _Fork(), or clone() by hand. */
static pid_t quiet_fork(void)
{
    return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

static void tell_process(int out)
{
    unsigned process = forks_process();
    _exit(write(out, &process, sizeof process) == sizeof process ? 0 : 1);
}

/* Its number, which is still the same when it asks again, and its child's. */
static void be_a_child(int out, pid_t (*fork_again)(void))
{
    unsigned process = forks_process();
    int status;
    if (write(out, &process, sizeof process) != sizeof process || forks_process() != process)
        _exit(1);
    pid_t child = fork_again();
    if (child == 0)
        tell_process(out);
    _exit(waitpid(child, &status, 0) == child ? status : 2);
}

static void check_children(pid_t (*make)(void))
{
    unsigned own = forks_process(), child[2];
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t pid = make();
    if (pid == 0)
        be_a_child(ends[1], make);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(read(ends[0], child, sizeof child), sizeof child);
    assert_true(child[0] != own && child[1] != own && child[0] != child[1]);
    assert_int_equal(forks_process(), own);
    close(ends[0]);
    close(ends[1]);
}

CASE(a_child_is_noticed)
{
    check_children(fork);
    check_children(quiet_fork);
}

/* The input of the child's next step, except the time.  Age is no reason to draw anew. */
static void tell_bytes(int out, struct randomness_store *store)
{
    struct timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    store->drawn_at = wall.tv_sec * 1000000000LL + wall.tv_nsec;
    const uint8_t *bytes = randomness_lend(store).bytes;
    _exit(write(out, bytes + 8, 8) == 8 ? 0 : 1);
}

CASE(a_child_gets_other_bytes)
{
    struct randomness_store store = {.drawn_at = 0};
    uint8_t bytes[8];
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    randomness_lend(&store);
    pid_t child = quiet_fork();
    if (child == 0)
        tell_bytes(ends[1], &store);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(read(ends[0], bytes, sizeof bytes), sizeof bytes);
    assert_memory_not_equal(store.bytes + 8, bytes, sizeof bytes);
    close(ends[0]);
    close(ends[1]);
}

CASE(the_label_tells_host_and_process)
{
    char label[65], pid[24], host[256] = "";
    system_label(label, sizeof label);
    snprintf(pid, sizeof pid, ":%d", (int)getpid());
    gethostname(host, sizeof host - 1);
    assert_string_equal(strrchr(label, ':'), pid);
    for (const char *at = label; *at; at++)
        assert_in_range(*at, '!', '~');
    if (strlen(host) + strlen(pid) < sizeof label)
        assert_int_equal(strlen(label), strlen(host) + strlen(pid));
}

CASE(a_short_label_keeps_the_process)
{
    char label[12], pid[24];
    snprintf(pid, sizeof pid, ":%d", (int)getpid());
    system_label(label, sizeof label);
    assert_true(strlen(label) < sizeof label);
    assert_non_null(strstr(label, pid));
}

PROGRAM_OF_CASES(start, NULL)
