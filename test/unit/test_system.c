/* Time, random bytes, forks. */
#include "system.h"

#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "unit.h"

static int start(void **state)
{
    (void)state;
    return system_start();
}

static void the_clock_is_boottime(void **state)
{
    (void)state;
    struct timespec before, after;
    clock_gettime(CLOCK_BOOTTIME, &before);
    usec now = system_now();
    clock_gettime(CLOCK_BOOTTIME, &after);
    assert_true(now >= before.tv_sec * 1000000LL + before.tv_nsec / 1000);
    assert_true(now <= after.tv_sec * 1000000LL + after.tv_nsec / 1000);
}

static void starting_twice_is_harmless(void **state)
{
    (void)state;
    assert_int_equal(system_start(), 0);
}

static struct randomness take(struct randomness rest, size_t size)
{
    return (struct randomness){rest.bytes + size, rest.left - size};
}

static void lends_enough_for_a_step_at_any_time(void **state)
{
    (void)state;
    struct randomness_store store;
    randomness_init(&store);
    for (int i = 0; i < 5000; i++) {
        struct randomness lent = randomness_lend(&store);
        assert_true(lent.left >= RANDOMNESS_PER_STEP);
        assert_true(lent.bytes >= store.bytes);
        assert_ptr_equal(lent.bytes + lent.left, store.bytes + sizeof store.bytes);
        randomness_settle(&store, take(lent, (size_t)i % (RANDOMNESS_PER_STEP + 1)));
    }
}

static void what_is_not_taken_is_lent_again(void **state)
{
    (void)state;
    struct randomness_store store;
    randomness_init(&store);
    struct randomness first = randomness_lend(&store);
    uint8_t copy[sizeof store.bytes];
    memcpy(copy, first.bytes, first.left);
    randomness_settle(&store, take(first, 16));
    struct randomness second = randomness_lend(&store);
    assert_ptr_equal(second.bytes, first.bytes + 16);
    assert_memory_equal(second.bytes, copy + 16, second.left);
    randomness_settle(&store, second);
    assert_ptr_equal(randomness_lend(&store).bytes, second.bytes);
}

static void what_is_taken_is_wiped(void **state)
{
    (void)state;
    struct randomness_store store;
    const uint8_t zeros[RANDOMNESS_PER_STEP] = {0};
    randomness_init(&store);
    struct randomness lent = randomness_lend(&store);
    assert_memory_not_equal(lent.bytes, zeros, sizeof zeros);
    randomness_settle(&store, take(lent, sizeof zeros));
    assert_memory_equal(lent.bytes, zeros, sizeof zeros);
    assert_memory_not_equal(lent.bytes + sizeof zeros, zeros, sizeof zeros);
}

static int compare(const void *one, const void *other)
{
    return memcmp(one, other, 16);
}

static void no_bytes_come_twice(void **state)
{
    (void)state;
    enum { TOKENS = 4000 };
    static uint8_t tokens[TOKENS][16];
    struct randomness_store store;
    randomness_init(&store);
    for (int i = 0; i < TOKENS; i++) {
        struct randomness lent = randomness_lend(&store);
        memcpy(tokens[i], lent.bytes, 16);
        randomness_settle(&store, take(lent, 16));
    }
    qsort(tokens, TOKENS, 16, compare);
    for (int i = 1; i < TOKENS; i++)
        assert_memory_not_equal(tokens[i - 1], tokens[i], 16);
}

/* What the child's next step would be lent, and its fork count. */
static void be_a_child(int out, struct randomness_store *store)
{
    unsigned forks = system_fork_count();
    struct randomness lent = randomness_lend(store);
    bool told = write(out, &forks, sizeof forks) == sizeof forks &&
                write(out, lent.bytes, RANDOMNESS_PER_STEP) == RANDOMNESS_PER_STEP;
    uint8_t first = lent.bytes[0], drawn_again = 0;
    for (int i = 0; i < 20; i++)
        drawn_again |= randomness_lend(store).bytes[0] != first;
    _exit(told && !drawn_again ? 0 : 1);
}

static void a_forked_child_gets_other_bytes(void **state)
{
    (void)state;
    struct randomness_store store;
    uint8_t of_child[RANDOMNESS_PER_STEP];
    unsigned forks = system_fork_count(), forks_of_child;
    int ends[2], status;
    randomness_init(&store);
    struct randomness lent = randomness_lend(&store);
    randomness_settle(&store, take(lent, 16));
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        be_a_child(ends[1], &store);
    assert_int_equal(read(ends[0], &forks_of_child, sizeof forks), sizeof forks);
    assert_int_equal(read(ends[0], of_child, sizeof of_child), sizeof of_child);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(forks_of_child, forks + 1);
    assert_int_equal(system_fork_count(), forks);
    struct randomness of_parent = randomness_lend(&store);
    assert_ptr_equal(of_parent.bytes, lent.bytes + 16);
    assert_memory_not_equal(of_parent.bytes, of_child, sizeof of_child);
    close(ends[0]);
    close(ends[1]);
}

static void the_label_tells_host_and_process(void **state)
{
    (void)state;
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

static void a_short_label_keeps_the_process(void **state)
{
    (void)state;
    char label[12], pid[24];
    snprintf(pid, sizeof pid, ":%d", (int)getpid());
    system_label(label, sizeof label);
    assert_true(strlen(label) < sizeof label);
    assert_non_null(strstr(label, pid));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_clock_is_boottime),
        cmocka_unit_test(starting_twice_is_harmless),
        cmocka_unit_test(lends_enough_for_a_step_at_any_time),
        cmocka_unit_test(what_is_not_taken_is_lent_again),
        cmocka_unit_test(what_is_taken_is_wiped),
        cmocka_unit_test(no_bytes_come_twice),
        cmocka_unit_test(a_forked_child_gets_other_bytes),
        cmocka_unit_test(the_label_tells_host_and_process),
        cmocka_unit_test(a_short_label_keeps_the_process),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
