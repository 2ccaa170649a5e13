/*
 * Waiting in turn on real masters: the order of waiters, their pushes, the keys that they leave
 * behind, and the end of dead ones.
 */
#include "fences.h"
#include "fixture.h"
#include "proxy.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define MASTERS    5
#define QUORUM     3
#define CROWD      8
#define LIFE_MS    3000                           /* of a waiter that is not heard of */
#define REFRESH_US (FENCE_TTL * 1000 / 3 * 7 / 8) /* the earliest refresh of a waiter */

static struct ev_loop *loop;
static struct user users[CROWD];
static unsigned joined;
static struct take holder, waiter; /* of the first user, of the second one */

/* ---- Clients on one loop ---- */

static void join_with(struct user *user, const redlock_options *options)
{
    user_begin(user, loop, cluster.nodes, options);
    AWAIT(user, user->ready);
}

static void join(struct user *user)
{
    redlock_options options = fence_options();
    join_with(user, &options);
}

static void join_up_to(unsigned count)
{
    while (joined < count)
        join(&users[joined++]);
}

static int join_two(void **state)
{
    (void)state;
    loop = ev_loop_new(0);
    joined = 0;
    join_up_to(2);
    return 0;
}

/* No test leaves a key. */
static int leave_all(void **state)
{
    (void)state;
    for (unsigned i = 0; i < joined; i++)
        if (users[i].client)
            assert_int_equal(user_end(&users[i], 10000), 0);
    ev_loop_destroy(loop);
    assert_int_equal(cluster_keys(&cluster), 0);
    return 0;
}

#define ON_A_LOOP(name) CASE_WITH(name, join_two, leave_all)

/* ---- The state of the masters ---- */

/* Masters on which the name has this many waiters. */
static unsigned masters_with(const char *name, long long waiters)
{
    return cluster_answering(&cluster, waiters, "ZCARD redlock:queue:%s", name);
}

static unsigned masters_that_are_listened_to(void)
{
    unsigned masters = 0;
    for (unsigned i = 0; i < MASTERS; i++) {
        redisReply *reply = cluster_ask(&cluster, i, "PUBSUB CHANNELS");
        assert_non_null(reply);
        masters += reply->elements > 0;
        freeReplyObject(reply);
    }
    return masters;
}

/* ---- Leases ---- */

static redlock_lease_options patient(void)
{
    return lease_terms(FENCE_TTL, REDLOCK_FOREVER);
}

/* On every master: nobody waits on one that is free. */
static void hold_with(struct take *take, struct user *user, const char *name,
                      const redlock_lease_options *terms)
{
    assert_code(take_lock(take, user, name, terms), REDLOCK_OK);
    AWAIT(user, cluster_holders(&cluster, name, NULL) == MASTERS);
}

static void hold(struct take *take, struct user *user, const char *name)
{
    redlock_lease_options terms = lease_terms(FENCE_TTL, 0);
    hold_with(take, user, name, &terms);
}

/* Asks, and waits until the lease is enqueued on every master, behind this many, and subscribed. */
static void enqueue(struct take *take, struct user *user, const char *name, unsigned before,
                    const redlock_lease_options *terms)
{
    take_ask(take, user, name, terms);
    AWAIT(user, masters_with(name, before + 1) == MASTERS);
    AWAIT(user, masters_that_are_listened_to() == MASTERS);
    AWAIT(user, user_is_quiet(user));
}

/* ---- Order ---- */

ON_A_LOOP(test_first_come_first_served_and_fences_grow)
{
    static struct take takes[CROWD];
    redlock_lease_options terms = patient();
    int64_t last = 0;
    terms.fence = true;
    join_up_to(CROWD);
    hold_with(&takes[0], &users[0], "in order", &terms);
    for (unsigned i = 1; i < CROWD; i++)
        enqueue(&takes[i], &users[i], "in order", i - 1, &terms);
    for (unsigned i = 0; i < CROWD; i++) {
        AWAIT(&users[i], has(&takes[i]));
        for (unsigned j = i + 1; j < CROWD; j++)
            assert_int_equal(takes[j].outcomes, 0);
        assert_true(redlock_lease_fence(takes[i].lease) > last);
        last = redlock_lease_fence(takes[i].lease);
        assert_code(take_release(&takes[i]), REDLOCK_OK);
        assert_int_equal(stats_of(&users[i]).handoffs, i > 0);
    }
}

/* ---- Pushes ---- */

static void hand_over(struct take *from, struct take *to, int64_t within_ms)
{
    int64_t begin = now_us();
    assert_code(redlock_lease_release(from->lease), REDLOCK_OK);
    AWAIT_AWAKE_MS(to->user, has(to), within_ms);
    print_message("    %s after %lld us\n", __func__, (long long)(now_us() - begin));
    AWAIT(from->user, from->told[REDLOCK_RELEASED].times);
    take_free(from);
}

/* The second wait, of a client that was subscribed before. */
ON_A_LOOP(test_told_by_push)
{
    redlock_lease_options terms = patient();
    redlock_stats before = {0};
    for (unsigned times = 0; times < 2; times++) {
        before = stats_of(&users[1]);
        hold(&holder, &users[0], "pushed");
        enqueue(&waiter, &users[1], "pushed", 0, &terms);
        hand_over(&holder, &waiter, 10000);
        assert_true(waiter.told[REDLOCK_ACQUIRED].valid_for > 0);
        assert_true(waiter.told[REDLOCK_ACQUIRED].valid_for <= FENCE_TTL);
        AWAIT(&users[1],
              redlock_lease_valid_for(waiter.lease) > FENCE_TTL * 3 / 4); /* its full ttl */
        assert_code(take_release(&waiter), REDLOCK_OK);
        AWAIT(&users[1], cluster_keys(&cluster) == 0);
    }
    assert_int_equal(stats_of(&users[1]).handoffs, before.handoffs + 1);
    assert_true(stats_of(&users[1]).pushes >= before.pushes + QUORUM);
}

/* The answer to a waiter's enqueuing is slow, the push that follows is not. */
ON_A_LOOP(test_a_push_overtakes_the_answer)
{
    struct user waits;
    struct proxy *proxies[MASTERS];
    char nodes[MASTERS * URI_SIZE] = "";
    redlock_options options = fence_options();
    redlock_lease_options terms = patient();
    for (unsigned i = 0; i < MASTERS; i++) {
        proxies[i] = proxy_start(cluster.ports[i]);
        snprintf(nodes + strlen(nodes), sizeof nodes - strlen(nodes), URI_FORMAT, cluster_scheme(),
                 cluster.passwords[i], proxy_port(proxies[i]));
    }
    user_begin(&waits, loop, nodes, &options);
    AWAIT(&waits, waits.ready);
    for (unsigned times = 0; times < 2; times++) { /* the second time it listens already */
        hold(&holder, &users[0], "overtaken");
        for (unsigned i = 0; times && i < MASTERS; i++)
            proxy_delay(proxies[i], 200);
        take_ask(&waiter, &waits, "overtaken", &terms);
        AWAIT(&waits, masters_with("overtaken", 1) == MASTERS);
        for (unsigned i = 0; i < MASTERS; i++)
            proxy_delay(proxies[i], 0);
        hand_over(&holder, &waiter, REFRESH_US / 1000 - 100);
        assert_code(take_release(&waiter), REDLOCK_OK);
        AWAIT(&waits, cluster_keys(&cluster) == 0);
    }
    assert_int_equal(user_end(&waits, 10000), 0);
    for (unsigned i = 0; i < MASTERS; i++)
        proxy_stop(proxies[i]);
}

/* Nor may it listen again: each refresh asks as well. */
ON_A_LOOP(test_no_right_to_subscribe)
{
    redlock_lease_options terms = patient();
    cluster_tell_all(&cluster, "ACL SETUSER default resetchannels");
    hold(&holder, &users[0], "no pushes");
    take_ask(&waiter, &users[1], "no pushes", &terms);
    AWAIT(&users[1], masters_with("no pushes", 1) == MASTERS);
    hand_over(&holder, &waiter, LIFE_MS);
    redlock_stats stats = stats_of(&users[1]);
    cluster_tell_all(&cluster, "ACL SETUSER default allchannels");
    assert_int_equal(stats.pushes, 0);
    assert_int_equal(stats.handoffs, 1);
    assert_true(stats.found >= QUORUM);
    assert_code(take_release(&waiter), REDLOCK_OK);
}

/* ---- Nothing is left ---- */

enum end { CANCELLED, FREED, CLOSED, HANDED, ENDS };

static void end_wait(enum end end)
{
    switch (end) {
    case CANCELLED:
        assert_code(redlock_lease_release(waiter.lease), REDLOCK_OK);
        AWAIT(waiter.user, waiter.told[REDLOCK_NOT_ACQUIRED].times);
        assert_code(waiter.told[REDLOCK_NOT_ACQUIRED].event.code, REDLOCK_E_CANCELLED);
        take_free(&waiter);
        break;
    case HANDED: /* freed in the midst of its pushes */
        assert_code(redlock_lease_release(holder.lease), REDLOCK_OK);
        ev_run(loop, EVRUN_NOWAIT);
        take_free(&waiter);
        break;
    case FREED:
        take_free(&waiter);
        break;
    default:
        break;
    }
}

/* Moments are counted in iterations of the loop, so that they fall between any two steps. */
static void wait_and_end(enum end end, unsigned moment)
{
    struct user user;
    redlock_lease_options terms = patient();
    join(&user);
    take_ask(&waiter, &user, "left behind", &terms);
    for (unsigned i = 0; i < moment; i++)
        user_step(&user, INT64_MAX);
    assert_int_equal(waiter.outcomes, 0);
    end_wait(end);
    assert_int_equal(user_end(&user, 10000), 0);
    if (end == CLOSED) {
        assert_code(waiter.told[REDLOCK_NOT_ACQUIRED].event.code, REDLOCK_E_CLOSED);
        waiter.lease = NULL; /* went with its client */
    }
}

ON_A_LOOP(test_nothing_is_left_behind)
{
    struct user *user = &users[0];
    for (unsigned moment = 0; moment < 24; moment++) {
        for (enum end end = CANCELLED; end < ENDS; end++) {
            hold(&holder, user, "left behind");
            wait_and_end(end, moment);
            if (end == HANDED)
                AWAIT(user, holder.told[REDLOCK_RELEASED].times);
            else
                assert_int_equal(cluster_keys(&cluster), MASTERS); /* the holder's */
            if (end == HANDED)
                take_free(&holder);
            else
                assert_code(take_release(&holder), REDLOCK_OK);
            AWAIT_AWAKE_MS(user, cluster_keys(&cluster) == 0, 1000); /* not only a quorum of them */
        }
    }
}

/* They said that the name was held, and then refuse all that they are asked: first the one that
 * is enqueued, and by that also the one behind it. */
static void all_refuse(const char *from_now_on, const char *no_more, const char *reason)
{
    static struct take first, behind;
    struct take *const takes[] = {&first, &behind};
    struct user *waits = &users[0];
    redlock_lease_options terms = lease_terms(FENCE_TTL, 1200),
                          brief = lease_terms(FENCE_TTL, 1100);
    cluster_tell_all(&cluster, "SET refused stranger");
    enqueue(&first, waits, "refused", 0, &terms);
    take_ask(&behind, waits, "refused", &brief);
    cluster_tell_all(&cluster, from_now_on);
    for (unsigned i = 0; i < COUNT(takes); i++) {
        const struct told *told = &takes[i]->told[REDLOCK_NOT_ACQUIRED];
        AWAIT(waits, told->times == 1);
        assert_code(told->event.code, REDLOCK_E_UNAVAILABLE);
        assert_says(told->text, reason);
        take_free(takes[i]);
    }
    cluster_tell_all(&cluster, no_more);
    cluster_tell_all(&cluster, "DEL refused");
    AWAIT(waits, cluster_keys(&cluster) == 0);
}

ON_A_LOOP(test_all_masters_refuse)
{
    all_refuse("CONFIG SET min-replicas-to-write 1", "CONFIG SET min-replicas-to-write 0",
               "NOREPLICAS");
    all_refuse("CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0", "OOM");
}

/* ---- The dead ---- */

/* Another process that waits for ever. */
static pid_t start_waiter(const char *name)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        setenv("REDLOCK_NODES", cluster.nodes, 1);
        execl(REDLOCK_COMMAND, "redlock", "run", "--wait", "forever", name, "--", "true", NULL);
        _exit(127);
    }
    return child;
}

static void kill_waiter(pid_t child)
{
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

ON_A_LOOP(test_a_dead_waiter_delays_the_next)
{
    redlock_lease_options terms = patient();
    hold(&holder, &users[0], "dead waiter");
    pid_t first = start_waiter("dead waiter");
    AWAIT(&users[0], masters_with("dead waiter", 1) == MASTERS);
    enqueue(&waiter, &users[1], "dead waiter", 1, &terms);
    kill_waiter(first);
    int64_t begin = now_us();
    assert_code(redlock_lease_release(holder.lease), REDLOCK_OK);
    AWAIT(&users[1], has(&waiter));
    int64_t delay = now_us() - begin;
    print_message("    delayed by %lld ms\n", (long long)delay / 1000);
    assert_true(delay < (LIFE_MS + 200) * 1000);
    take_free(&holder);
    assert_code(take_release(&waiter), REDLOCK_OK);
    AWAIT(&users[1],
          cluster_keys(&cluster) == 0); /* a master may keep its last grant for the dead waiter */
}

/* The holder's process dies; the waiter gets the name not before its lease is over, and as soon
 * as it is. */
static void after_the_holder(int64_t ttl_ms, bool fence)
{
    redlock_lease_options terms = patient(), unrenewed = lease_terms(ttl_ms, 0);
    unrenewed.no_renew = true;
    terms.fence = fence;
    int64_t begin = now_us();
    assert_code(take_lock(&holder, &users[0], "dead holder", &unrenewed), REDLOCK_OK);
    int64_t held = now_us();
    redlock_free(users[0].client);
    users[0].client = NULL;
    take_ask(&waiter, &users[1], "dead holder", &terms);
    AWAIT(&users[1], has(&waiter));
    int64_t end = waiter.told[REDLOCK_ACQUIRED].at_us;
    print_message("    %lld us after it expired\n", (long long)(end - held - ttl_ms * 1000));
    assert_true(end >= begin + ttl_ms * 1000);
    assert_true(end < held + (ttl_ms + 400) * 1000 + users[1].held_up_us);
    assert_code(take_release(&waiter), REDLOCK_OK);
    AWAIT(&users[1], cluster_keys(&cluster) == 0); /* a master may have begun to keep it later */
}

ON_A_LOOP(test_a_dead_holder_before_a_fence)
{
    after_the_holder(700, true);
}

ON_A_LOOP(test_short_ttls)
{
    redlock_lease_options short_one = lease_terms(800, 0),
                          terms = lease_terms(1200, REDLOCK_FOREVER);
    hold_with(&holder, &users[0], "short", &short_one);
    enqueue(&waiter, &users[1], "short", 0, &terms);
    uint64_t renewals = stats_of(&users[0]).renewals;
    AWAIT(&users[0],
          stats_of(&users[0]).renewals >= renewals + 8); /* it waits for longer than it lives */
    assert_int_equal(waiter.outcomes, 0);
    assert_true(masters_with("short", 1) >= QUORUM);
    hand_over(&holder, &waiter, 10000);
    assert_true(waiter.told[REDLOCK_ACQUIRED].valid_for <= 1200);
    AWAIT(&users[1], stats_of(&users[1]).renewals >= 4);
    assert_int_equal(waiter.told[REDLOCK_LOST].times, 0);
    assert_code(take_release(&waiter), REDLOCK_OK);
}

/* ---- Places ---- */

ON_A_LOOP(test_places)
{
    static struct take takes[4], local;
    redlock_place place = {.size = sizeof place};
    redlock_lease_options terms = patient();
    join_up_to(4);
    hold(&takes[0], &users[0], "place");
    assert_code(redlock_lease_place(takes[0].lease, &place), REDLOCK_E_STATE);
    for (unsigned i = 1; i < 4; i++)
        enqueue(&takes[i], &users[i], "place", i - 1, &terms);
    take_ask(&local, &users[3], "place", &terms);
    for (unsigned i = 1; i < 4; i++) {
        AWAIT(&users[i], redlock_lease_place(takes[i].lease, &place) == REDLOCK_OK &&
                             place.position == i - 1 && place.expires_ms > 0);
        assert_true(place.expires_ms <= FENCE_TTL);
    }
    AWAIT(&users[3], redlock_lease_place(local.lease, &place) == REDLOCK_OK && place.position == 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_code(take_release(&takes[i]), REDLOCK_OK);
        AWAIT(&users[i + 1], has(&takes[i + 1]));
    }
    assert_code(redlock_lease_place(takes[3].lease, &place), REDLOCK_E_STATE);
    AWAIT(&users[3], redlock_lease_place(local.lease, &place) == REDLOCK_OK && place.position == 0);
    assert_code(take_release(&takes[3]), REDLOCK_OK);
    AWAIT(&users[3], has(&local));
    redlock_stats stats = stats_of(&users[3]); /* here, if it was not held for too long */
    assert_int_equal(stats.handoffs + stats.handoffs_here, 2);
    assert_code(take_release(&local), REDLOCK_OK);
}

/* ---- Many of one client ---- */

#define MANY 10000

struct queue {
    struct user *user;
    redlock_lease *leases[MANY];
    unsigned turn;
};

/* A lease that gets the name hands it to the next at once. */
static void on_turn(redlock_lease *lease, const redlock_event *event, void *data)
{
    struct queue *queue = data;
    if (event->kind == REDLOCK_ACQUIRED) {
        assert_ptr_equal(lease, queue->leases[queue->turn]);
        queue->turn++;
        assert_code(redlock_lease_release(lease), REDLOCK_OK);
    } else {
        assert_int_equal(event->kind, REDLOCK_RELEASED);
        redlock_lease_free(lease);
        ev_break(queue->user->loop, EVBREAK_ONE);
    }
}

ON_A_LOOP(test_many_of_one_client)
{
    static struct queue queue;
    struct user *user = &users[0];
    redlock_lease_options terms = patient();
    queue = (struct queue){.user = user};
    hold(&holder, user, "many");
    size_t memory = resident_bytes();
    redlock_stats before = stats_of(user);
    for (unsigned i = 0; i < MANY; i++)
        assert_code(
            redlock_acquire(user->client, &queue.leases[i], "many", &terms, on_turn, &queue),
            REDLOCK_OK);
    AWAIT(user, masters_with("many", 1) == MASTERS && stats_of(user).waiting == MANY);
    redlock_stats waiting = stats_of(user);
    size_t each = (resident_bytes() - memory) / MANY;
    print_message("    %zu bytes a waiter, %llu requests\n", each,
                  (unsigned long long)(waiting.requests - before.requests));
    assert_true(waiting.requests - before.requests < 100);
#ifndef SANITIZED
    assert_true(each < 1536);
#endif

    int64_t begin = now_us();
    assert_code(take_release(&holder), REDLOCK_OK);
    AWAIT_MS(user, queue.turn == MANY, 60000);
    int64_t elapsed = now_us() - begin;
    redlock_stats after = stats_of(user);
    uint64_t here = after.handoffs_here - waiting.handoffs_here;
    print_message("    %llu handovers here, %.0f a second; %llu requests\n",
                  (unsigned long long)here, 1e6 * (double)here / (double)elapsed,
                  (unsigned long long)(after.requests - waiting.requests));
    assert_true(here > MANY * 9 / 10);
    assert_int_equal(after.waiting, 0);
}

PROGRAM(.masters = MASTERS, .fenced = true)
