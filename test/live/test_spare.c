/*
 * One master of five lies, in every kind of answer, to four processes that race for one name.
 * With a spare vote there are never two holders, and each fence is above the one before; without
 * one both is seen.
 * rule: M13
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "redlock/sync.h"
#include "scene.h"

#define LIAR           (1U << 4)
#define FIRST_MASTERS  (1U << 0 | 1U << 1)
#define SECOND_MASTERS (1U << 2 | 1U << 3)
#define PROCESSES      4
#define TRIES          1000
#define MAX_TTL_MS     30000
#define DEADLINE_S     250
#define AHEAD_US       90000000LL /* nearly as far as is believed */
#define DAY_MS         86400000LL

/* ---- The liar --------------------------------------------------------------------- */

static unsigned draw(unsigned below)
{
    static _Thread_local unsigned state = 2463534242U;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state % below;
}

static int64_t lying_clock(int64_t clock)
{
    switch (draw(5)) {
    case 0:
        return 1 + draw(1000000);
    case 1:
        return clock + (int64_t)draw(1000) * (AHEAD_US / 1000);
    case 2:
        return INT64_C(1) << (1 + draw(52));
    default:
        return clock;
    }
}

/* The answer says: it is yours, or another's. */
static void lie_to_grant(struct answer *answer)
{
    int64_t clock = answer_number(answer, 1);
    if (clock < 0)
        return;
    clock = lying_clock(clock);
    answer_set(answer, "*2\r\n:%d\r\n:%lld\r\n", draw(4) ? 1 : -1, (long long)clock);
}

static void lie_about_place(struct answer *answer, int64_t clock)
{
    unsigned remaining_ms = draw(5000), position = draw(3), foreign = draw(2);
    answer_set(answer, "*5\r\n:0\r\n:%lld\r\n:%u\r\n:%u\r\n:%u\r\n", (long long)clock, remaining_ms,
               position, foreign);
}

/* The answer says: it is yours, but a waiter is ahead, or some are ahead of you. */
static void lie_to_waiter(struct answer *answer)
{
    int64_t clock = answer_number(answer, 1);
    if (clock < 0)
        return;
    clock = lying_clock(clock);
    unsigned what = draw(4);
    if (what < 3)
        answer_set(answer, "*2\r\n:%d\r\n:%lld\r\n", what == 2 ? 2 : 1, (long long)clock);
    else
        lie_about_place(answer, clock);
}

/* A master that tells of another process on the same connection votes no more.  So the liar tells
 * of the same one where its vote is enough to deceive. */
static atomic_bool keeps_its_name;

/* Another process each time, another wall clock, another longest ttl, no quarantine or a long one;
 * see hello.lua for the places. */
static void lie_about_itself(struct answer *answer)
{
    static const char before[] = "*11\r\n$40\r\n";
    size_t run_id = sizeof before - 1;
    bool tells_it = answer->length > run_id + 40 && memcmp(answer->bytes, before, run_id) == 0;
    tells_it = tells_it && !atomic_load(&keeps_its_name);
    for (unsigned i = 0; tells_it && draw(20) && i < 40; i++)
        answer->bytes[run_id + i] = "0123456789abcdef"[draw(16)];
    if (!draw(3))
        answer_set_number(answer, 3,
                          answer_number(answer, 3) + (int64_t)draw(200000000) - 100000000);
    if (!draw(8))
        answer_set_number(answer, 4, (int64_t)draw(100000000));
    if (!draw(3))
        answer_set_number(answer, 5, DAY_MS);
    if (!draw(3))
        answer_set_number(answer, 9, lying_clock(answer_number(answer, 9)));
}

/* A plain acquire, a renewal, a release. */
static void lie_about_a_lease(struct answer *answer)
{
    bool was_refused = answer->length == 5 && memcmp(answer->bytes, "$-1\r\n", 5) == 0;
    bool is_small = answer->length == 4 && *answer->bytes == ':';
    if (was_refused)
        answer_set(answer, "+OK\r\n");
    else if (is_small || (answer->length == 5 && memcmp(answer->bytes, ":-1", 3) == 0))
        answer_set(answer, ":%d\r\n", (int)draw(3) - 1);
}

static void lie(void *data, enum asked asked, struct answer *answer)
{
    (void)data;
    switch (asked) {
    case ASKED_HELLO:
        lie_about_itself(answer);
        break;
    case ASKED_GRANT:
        lie_to_grant(answer);
        break;
    case ASKED_QUEUE:
        lie_to_waiter(answer);
        break;
    case ASKED_OTHER:
        lie_about_a_lease(answer);
        break;
    }
}

/* ---- The race ----------------------------------------------------------------------- */

struct arena {
    atomic_int inside;
    atomic_llong fence;
    atomic_uint begun, answered, tries, had, two, back;
};

static struct arena *arena; /* shared by all processes */

static void note_fence(long long fence)
{
    long long largest = atomic_load(&arena->fence);
    if (fence <= largest)
        atomic_fetch_add(&arena->back, 1);
    while (fence > largest && !atomic_compare_exchange_weak(&arena->fence, &largest, fence))
        ;
}

/* Until all have come so far in this round. */
static void meet(atomic_uint *met, unsigned round)
{
    for (atomic_fetch_add(met, 1); atomic_load(met) < PROCESSES * (round + 1);)
        usleep(20);
}

static void note_holder(const redlock_sync_lease *lease)
{
    bool is_valid = redlock_sync_lease_valid_for(lease) > 0;
    if (atomic_fetch_add(&arena->inside, 1) && is_valid)
        atomic_fetch_add(&arena->two, 1);
    note_fence(redlock_sync_lease_fence(lease));
    atomic_fetch_add(&arena->had, 1);
}

/* All begin at once, and a holder keeps the name until all have their answer; or, in every tenth
 * round, they wait for each other in turn. */
static void race_once(redlock_sync *client, unsigned round)
{
    redlock_sync_lease *lease;
    redlock_lease_options terms = {.size = sizeof(redlock_lease_options)};
    bool waits = round % 10 == 9;
    terms.fence = true;
    terms.ttl_ms = 5000;
    terms.wait_ms = waits ? 50 : 0;
    meet(&arena->begun, round);
    redlock_code code = redlock_sync_acquire(client, &lease, "name", &terms, NULL);
    if (code == REDLOCK_OK)
        note_holder(lease);
    if (!waits)
        meet(&arena->answered, round - round / 10);
    if (code == REDLOCK_OK) {
        atomic_fetch_sub(&arena->inside, 1);
        (void)redlock_sync_lease_release(lease, NULL);
        redlock_sync_lease_free(lease);
    }
    atomic_fetch_add(&arena->tries, 1);
}

static void run_race(const redlock_options *options)
{
    redlock_sync *client;
    alarm(DEADLINE_S);
    if (redlock_sync_open(&client, options, NULL, 0))
        _exit(2);
    if (redlock_sync_ready(client, 10000, NULL, 0))
        _exit(3);
    for (unsigned round = 0; round < TRIES; round++)
        race_once(client, round);
    redlock_sync_close(client, 1000);
    redlock_sync_free(client);
    alarm(0);
}

/* ---- The racers --------------------------------------------------------------------- */

/* A process each.  They begin before the roads do, whose threads may have the lock of malloc()
 * while another thread calls fork(). */
static struct racer {
    pid_t process;
    int orders, answers; /* our ends of two pipes */
} racers[PROCESSES];

struct order {
    redlock_options options;
    char nodes[NODES_SIZE], ca[100];
};

/* Until there are no more orders. */
static void serve(int orders, int answers)
{
    struct order order;
    while (read(orders, &order, sizeof order) == sizeof order) {
        order.options.nodes = order.nodes;
        order.options.tls_ca = order.ca[0] ? order.ca : NULL;
        run_race(&order.options);
        if (write(answers, ".", 1) != 1)
            _exit(4);
    }
    _exit(0);
}

static void start_racer(struct racer *racer)
{
    int orders[2], answers[2];
    assert_int_equal(pipe2(orders, O_CLOEXEC), 0);
    assert_int_equal(pipe2(answers, O_CLOEXEC), 0);
    racer->process = fork();
    assert_true(racer->process >= 0);
    if (racer->process == 0) {
        close(orders[1]);
        close(answers[0]);
        for (struct racer *earlier = racers; earlier < racer; earlier++)
            close(earlier->orders);
        serve(orders[0], answers[1]);
    }
    close(orders[0]);
    close(answers[1]);
    racer->orders = orders[1];
    racer->answers = answers[0];
}

static void stop_racer(struct racer *racer)
{
    int status;
    close(racer->orders);
    close(racer->answers);
    assert_int_equal(waitpid(racer->process, &status, 0), racer->process);
    assert_int_equal(status, 0);
}

/* Two are nearer to the first masters, two to the others: so they split the votes. */
static void order_race(unsigned number, int spare)
{
    struct order order = {.options = scene_options(&scene)};
    order.options.spare = spare;
    order.options.request_timeout_ms = 0;
    scene_nodes(&scene, LIAR | (number % 2 ? FIRST_MASTERS : SECOND_MASTERS), order.nodes);
    if (cluster_tls_folder())
        snprintf(order.ca, sizeof order.ca, "%s/ca.crt", cluster_tls_folder());
    assert_int_equal(write(racers[number].orders, &order, sizeof order), sizeof order);
}

static void let_them_race(int spare)
{
    atomic_store(&keeps_its_name, !spare);
    *arena = (struct arena){0};
    for (unsigned i = 0; i < PROCESSES; i++)
        order_race(i, spare);
    for (unsigned i = 0; i < PROCESSES; i++) {
        char byte;
        assert_int_equal(read(racers[i].answers, &byte, 1), 1);
    }
    print_message(
        "    spare %d: %u tries, %u times had, %u times two holders, %u fences went back\n", spare,
        arena->tries, arena->had, arena->two, arena->back);
    assert_int_equal(arena->tries, PROCESSES * TRIES);
}

static int open_scene(void **state)
{
    (void)state;
    arena = mmap(NULL, sizeof *arena, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(arena != MAP_FAILED);
    for (unsigned i = 0; i < PROCESSES; i++)
        start_racer(&racers[i]);
    scene_open(&scene, 5, MAX_TTL_MS, lie, NULL);
    return 0;
}

static int close_scene(void **state)
{
    (void)state;
    scene_close(&scene); /* first: its guard has a copy of the pipes */
    for (unsigned i = 0; i < PROCESSES; i++)
        stop_racer(&racers[i]);
    munmap(arena, sizeof *arena);
    return 0;
}

CASE_WITH(test_a_spare_vote, open_scene, close_scene)
{
    let_them_race(1);
    assert_int_equal(arena->two, 0);
    assert_int_equal(arena->back, 0);
    assert_true(arena->had > 100);
}

CASE_WITH(test_no_spare_vote, open_scene, close_scene)
{
    unsigned two = 0, back = 0;
    for (unsigned races = 0; races < 10 && !(two && back); races++) {
        let_them_race(0);
        two += arena->two;
        back += arena->back;
    }
    assert_true(two > 0);
    assert_true(back > 0);
}

PROGRAM(.masters = 0)
