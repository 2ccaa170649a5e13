/*
 * Counter-examples to promises, each played on real masters as it was found.
 */
#include "scene.h"

/* ---- A push from a master that restarted ---- */

static bool is_free(unsigned master)
{
    return cluster_count(&scene.cluster, master, "EXISTS name") == 0;
}

/* By a client that comes only then: a master may release while it abstains. */
static void release_something(void)
{
    struct user user;
    struct take take;
    redlock_name name = NAME("name");
    scene_enter(&scene, &user, "third", 0);
    take_init(&take, &user);
    assert_code(redlock_release_token(user.client, &take.lease, &name, 1,
                                      "AAAAAAAAAAAAAAAAAAAAAA:old", take_hear, &take),
                REDLOCK_OK);
    AWAIT(&user, take.told[REDLOCK_RELEASED].times);
    take_free(&take);
    scene_leave(&user);
}

/*
 * The master comes back with a snapshot in which the waiter is enqueued and the holder's lease ends
 * soon, as it was prolonged later.  The waiter learns that its notification connection has ended,
 * and not that the other one has: it subscribes at the new process, which abstains, and gets a
 * push.
 */
SCENE(test_a_push_from_a_restarted_master, .masters = 1, .max_ttl_ms = 10000)
{
    struct user holds, waits;
    struct take holder, waiter;
    redlock_lease_options brief = lease_terms(2000, 0), terms = lease_terms(10000, REDLOCK_FOREVER);
    brief.no_renew = true;
    terms.margin_ms = 10;
    scene_enter(&scene, &holds, "holder", 0);
    scene_enter(&scene, &waits, "waiter", ALL);
    assert_code(take_lock(&holder, &holds, "name", &brief), REDLOCK_OK);
    int64_t begin = now_us();
    scene_enqueue(&scene, &waiter, &waits, "waiter", &terms);
    cluster_tell(&scene.cluster, 0, "SAVE");
    assert_code(redlock_lease_extend(holder.lease, 10000), REDLOCK_OK);
    AWAIT(&holds, holder.told[REDLOCK_EXTENDED].times);

    proxy_blind(scene.roads[0], MAIN_ROADS);
    user_meanwhile(&waits, &scene.cluster, "kill 1");
    user_meanwhile(&waits, &scene.cluster, "restart 1");
    AWAIT(&waits, is_free(0));
    while (!scene_subscriptions(&scene, 0, "waiter") &&
           user_step(&waits, begin + 2300000)) /* it need not listen */
        ;
    assert_int_equal(waiter.outcomes, 0);
    release_something();
    while (user_step(&waits, begin + 4000000)) /* it lives no longer than 3 s in the snapshot */
        if (has(&waiter))
            fail_msg("the waiter has it for %lld ms, and the holder for %lld ms more",
                     (long long)redlock_lease_valid_for(waiter.lease),
                     (long long)redlock_lease_valid_for(holder.lease));
    assert_true(redlock_lease_valid_for(holder.lease) > 0);

    proxy_break(scene.roads[0], ALL_ROADS);
    take_release(&holder);
    take_free(&waiter);
    scene_leave(&waits);
    scene_leave(&holds);
}

/* ---- Fences ---- */

static bool is_asked(const struct user *user, unsigned master)
{
    return node_of(user, master).in_flight > 0;
}

/* In the order of holding. */
static void fence_is_told(const struct take *take)
{
    static int64_t last;
    int64_t fence = redlock_lease_fence(take->lease);
    if (fence <= last)
        fail_msg("first the fence is %lld, and then %lld", (long long)last, (long long)fence);
    last = fence;
}

/* Takes the name as soon as two masters are rid of the waiter, and releases it; not if the waiter
 * acquires it first. */
static void take_in_between(struct user *user, const struct take *waiter)
{
    struct take take;
    redlock_lease_options terms = lease_terms(20000, 0);
    bool was_taken = false;
    int64_t end = now_us() + 6000000;
    terms.fence = true;
    while (!has(waiter) && !was_taken) {
        assert_true(user_step(user, end));
        if (!is_free(0) || !is_free(2))
            continue;
        was_taken = take_lock(&take, user, "name", &terms) == REDLOCK_OK;
        if (was_taken && !has(waiter)) {
            fence_is_told(&take);
            print_message("    somebody else had it in between\n");
            take_release(&take);
        } else {
            take_free(&take);
        }
    }
}

/*
 * The fence came from the grants of two masters. One is lost during the storing, and the other is
 * not enough. The third one gave the name by a lost push, and the client asks it again. It answers
 * after its grant and the lost one's are over, and another holder has had a larger fence.
 */
SCENE(test_a_grant_after_the_fence_was_fixed, .masters = 3)
{
    struct user holds, waits, comes;
    struct take holder, waiter;
    redlock_lease_options terms = lease_terms(20000, REDLOCK_FOREVER);
    redlock_options options = scene_options(&scene);
    terms.fence = true;
    terms.margin_ms = 10;
    options.label = "waiter";
    options.request_timeout_ms = 4000;
    scene_enter(&scene, &holds, "holder", 0);
    scene_join(&scene, &waits, ALL, &options);
    assert_code(take_lock(&holder, &holds, "name", NULL), REDLOCK_OK);
    scene_enqueue(&scene, &waiter, &waits, "waiter", &terms);

    cluster_tell(&scene.cluster, 1, "HINCRBY redlock:clock h 1000"); /* it had more to do */
    proxy_blind(scene.roads[0], SUBSCRIPTION_ROADS);
    proxy_hold(scene.roads[0], MAIN_ROADS, REQUESTS);
    proxy_hold(scene.roads[2], MAIN_ROADS, REQUESTS);
    AWAIT(&waits, is_asked(&waits, 0) && is_asked(&waits, 2) && !is_asked(&waits, 1));
    take_release(&holder);
    for (int64_t end = now_us() + 1000000; !stats_of(&waits).raises && user_step(&waits, end);)
        ;
    proxy_break(scene.roads[2], MAIN_ROADS);
    proxy_let_go(scene.roads[2], MAIN_ROADS, REQUESTS);
    scene_enter(&scene, &comes, "other", 0); /* it knows how far the clocks are */
    take_in_between(&comes, &waiter);
    proxy_let_go(scene.roads[0], MAIN_ROADS, REQUESTS);
    AWAIT(&waits, has(&waiter));
    fence_is_told(&waiter);

    take_release(&waiter);
    assert_code(take_lock(&holder, &comes, "name", &terms), REDLOCK_OK);
    fence_is_told(&holder);
    take_release(&holder);
    scene_leave(&waits);
    scene_leave(&comes);
    scene_leave(&holds);
}

/* ---- Waiters that reach a minority ---- */

#define M1 1U
#define M2 2U
#define M3 4U

/* They see soon that a master does not answer. */
static void join_cut_off(struct user *user, const char *label, unsigned by_road)
{
    redlock_options options = scene_options(&scene);
    options.label = label;
    options.request_timeout_ms = 100;
    options.connect_timeout_ms = 500;
    scene_join(&scene, user, by_road, &options);
}

static unsigned enqueue_anywhere(void)
{
    return scene_waiters(&scene, ALL, "first") + scene_waiters(&scene, ALL, "second");
}

/* One of them has the name, and releases it. */
static void serve(struct take *take)
{
    AWAIT(take->user, has(take));
    assert_code(take_release(take), REDLOCK_OK);
}

/*
 * Two waiters at the head of the queue are cut off from all masters but one, each from different
 * ones.  No waiter gets the name by a quorum unless they leave.
 */
SCENE(test_waiters_that_reach_a_minority, .masters = 3)
{
    struct user holds, waits, cut_off[2];
    struct take holder, waiter, first, second;
    redlock_lease_options terms = lease_terms(2000, REDLOCK_FOREVER);
    scene_enter(&scene, &holds, "holder", 0);
    scene_enter(&scene, &waits, "waiter", 0);
    join_cut_off(&cut_off[0], "first", M2 | M3);
    assert_code(take_lock(&holder, &holds, "name", NULL), REDLOCK_OK);
    scene_enqueue(&scene, &first, &cut_off[0], "first", &terms);
    join_cut_off(&cut_off[1], "second", M1 | M3);
    scene_enqueue(&scene, &second, &cut_off[1], "second", &terms);

    int64_t cut_at = now_us();
    for (unsigned i = 0; i < 3; i++)
        proxy_hold(scene.roads[i], ALL_ROADS, BOTH_WAYS);
    scene_enqueue(&scene, &waiter, &waits, "waiter", &terms);
    AWAIT(&waits, scene_waiters(&scene, M2 | M3, "first") == 0 &&
                      scene_waiters(&scene, M1 | M3, "second") == 0);
    while (enqueue_anywhere() && user_step(&waits, cut_at + 5000000))
        ;
    assert_code(take_release(&holder), REDLOCK_OK);
    AWAIT_AWAKE_MS(&waits, has(&waiter), 1000);
    assert_int_equal(enqueue_anywhere(), 0);

    for (unsigned i = 0; i < 3; i++)
        proxy_let_go(scene.roads[i], ALL_ROADS, BOTH_WAYS);
    assert_code(take_release(&waiter), REDLOCK_OK);
    AWAIT(&waits, has(&first) || has(&second));
    bool in_order = has(&first);
    serve(in_order ? &first : &second);
    serve(in_order ? &second : &first);
    scene_leave(&cut_off[0]);
    scene_leave(&cut_off[1]);
    scene_leave(&waits);
    scene_leave(&holds);
}

/* ---- A client that always has one more waiter ---- */

#define HOLD_US INT64_C(100000)

/* Two leases of one client, which has one of them, and waits with the other. */
struct pair {
    struct user *user;
    struct take takes[2];
    unsigned turn;
};

/* Releases names that were held for long enough, and asks for them again. */
static void take_turns(struct pair *pair)
{
    redlock_lease_options terms = lease_terms(10000, REDLOCK_FOREVER);
    struct take *take = &pair->takes[pair->turn % 2];
    const struct told *told = &take->told[REDLOCK_ACQUIRED];
    if (!told->times || now_us() < told->at_us + HOLD_US)
        return;
    redlock_lease *given_back = take->lease;
    assert_code(redlock_lease_release(given_back), REDLOCK_OK);
    redlock_lease_free(given_back);
    pair->turn++;
    take_ask(take, pair->user, "name", &terms);
}

/* A waiter is served when those before it have had the name, not much later. */
SCENE(test_a_client_that_always_has_a_waiter, .masters = 3)
{
    static struct pair pair;
    struct user holds, waits;
    struct take waiter;
    redlock_lease_options terms = lease_terms(10000, REDLOCK_FOREVER);
    scene_enter(&scene, &holds, "pair", 0);
    scene_enter(&scene, &waits, "waiter", 0);
    pair = (struct pair){.user = &holds};
    for (unsigned i = 0; i < 2; i++)
        take_ask(&pair.takes[i], &holds, "name", &terms);
    for (unsigned times = 0; times < 5; times++) {
        unsigned turn = pair.turn;
        AWAIT(&holds, (take_turns(&pair), pair.turn >= turn + 2));
        take_ask(&waiter, &waits, "name", &terms);
        AWAIT_AWAKE_MS(&waits, (take_turns(&pair), has(&waiter)), 500);
        assert_code(take_release(&waiter), REDLOCK_OK);
    }
    for (unsigned i = 0; i < 2; i++)
        take_free(&pair.takes[i]);
    scene_leave(&waits);
    scene_leave(&holds);
}

/* ---- Keys that last ---- */

SCENE(test_far_expiries, .masters = 3)
{
    static const char *const names[] = {"far", "farthest"};
    static const char *const ends[] = {"9007199254740991", "9223372036854775807"};
    struct user waits;
    struct take takes[2];
    long long before[3];
    static const char stranger[] = "0123456789abcdefghijkl:stranger"; /* of this library */
    redlock_lease_options terms = lease_terms(10000, 3000);
    scene_enter(&scene, &waits, "waiter", 0);
    for (unsigned i = 0; i < 3; i++) {
        before[i] = scene_scripts(&scene, i);
        for (unsigned j = 0; j < 2; j++)
            cluster_tell(&scene.cluster, i, "SET %s %s PXAT %s", names[j], stranger, ends[j]);
    }
    int64_t begin = now_us();
    for (unsigned j = 0; j < 2; j++)
        take_ask(&takes[j], &waits, names[j], &terms);
    AWAIT(&waits, takes[0].outcomes && takes[1].outcomes);
    for (unsigned j = 0; j < 2; j++) {
        const struct told *told = &takes[j].told[REDLOCK_NOT_ACQUIRED];
        assert_int_equal(told->times, 1);
        assert_code(told->event.code, REDLOCK_E_HELD);
        assert_in_range(told->at_us - begin, 3000000, 4500000);
        take_free(&takes[j]);
    }
    for (unsigned i = 0; i < 3; i++) {
        long long scripts = scene_scripts(&scene, i) - before[i];
        if (scripts >= 50)
            fail_msg("%lld scripts on master %u", scripts, i + 1);
    }
    scene_leave(&waits);
}

PROGRAM(.masters = 0)
