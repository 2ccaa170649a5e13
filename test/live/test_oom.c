/*
 * The n-th allocation fails, or the n-th call on a socket or an epoll, for every n in the life of a
 * client: open, acquire, contend, extend, release, close. Nothing crashes or leaks, every outcome
 * comes once, and no key stays behind.
 */
#include <redlock/recipes.h>

#include "fixture.h"
#include "user.h"

#include "faults.h"

#define LAST 100000 /* it ends long before, when the n-th is never reached */

static bool is_short_of(redlock_code code)
{
    return code == REDLOCK_E_MEMORY || code == REDLOCK_E_SYSTEM;
}

static void ask_for(struct take *take, struct user *user, const redlock_name *names, size_t count,
                    const redlock_lease_options *terms)
{
    take_init(take, user);
    redlock_code code =
        redlock_acquire_names(user->client, &take->lease, names, count, terms, take_hear, take);
    if (code)
        assert_code(code, REDLOCK_E_MEMORY);
    assert_int_equal(code == REDLOCK_OK, take->lease != NULL);
}

static void ask(struct take *take, struct user *user, const redlock_name *names, size_t count,
                int64_t wait_ms)
{
    redlock_lease_options terms = lease_terms(2000, wait_ms);
    ask_for(take, user, names, count, &terms);
}

static unsigned decided(const struct take *take)
{
    return take->told[REDLOCK_ACQUIRED].times + take->told[REDLOCK_NOT_ACQUIRED].times;
}

static void extend(struct take *take)
{
    if (redlock_lease_extend(take->lease, 0) == REDLOCK_OK)
        AWAIT(take->user, take->told[REDLOCK_EXTENDED].times + take->told[REDLOCK_LOST].times +
                              take->told[REDLOCK_NOT_EXTENDED].times);
}

static void give_back(struct take *take)
{
    if (take->told[REDLOCK_ACQUIRED].times && redlock_lease_release(take->lease) == REDLOCK_OK)
        AWAIT(take->user, take->told[REDLOCK_RELEASED].times);
    assert_true(take->told[REDLOCK_RELEASED].times <= 1);
    assert_true(take->told[REDLOCK_LOST].times <= 1);
    assert_int_equal(decided(take), 1);
    (void)redlock_lease_token(take->lease);
    redlock_lease_free(take->lease);
}

static void hold_and_contend(struct user *user)
{
    static const redlock_name one[] = {NAME("one")},
                              three[] = {NAME("two"), NAME("one"), NAME("x")};
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

/* ---- a leader and its observer ---------------------------------------------------- */

struct led {
    unsigned told[KINDS], heard;
    int64_t term;
    char value[8]; /* as heard last */
};

static void on_term(redlock_campaign *candidate, const redlock_event *event, void *data)
{
    struct led *led = data;
    (void)candidate;
    led->told[event->kind]++;
}

static void on_leader(redlock_observer *observer, const redlock_leader *leader, void *data)
{
    struct led *led = data;
    (void)observer;
    assert_non_null(leader->value);
    assert_true(leader->length < sizeof led->value);
    led->heard++;
    led->term = leader->term;
    snprintf(led->value, sizeof led->value, "%.*s", (int)leader->length, (char *)leader->value);
}

static bool is_decided(const struct led *led)
{
    return led->told[REDLOCK_ACQUIRED] || led->told[REDLOCK_NOT_ACQUIRED];
}

static void lead_and_observe(struct user *user)
{
    struct led led = {0};
    redlock_observer *observer;
    redlock_campaign *candidate;
    redlock_campaign_options options = {.size = sizeof options};
    options.ttl_ms = 2000;
    options.value = "value";
    options.length = 5;
    redlock_code code = redlock_observer_begin(user->client, &observer, "one", on_leader, &led);
    assert_true(code == REDLOCK_OK || (code == REDLOCK_E_MEMORY && !observer));
    code = redlock_campaign_begin(user->client, &candidate, "one", &options, on_term, &led);
    assert_true(code == REDLOCK_OK || (code == REDLOCK_E_MEMORY && !candidate));
    if (candidate)
        AWAIT(user, is_decided(&led));
    if (observer)
        AWAIT(user, led.heard);
    redlock_observer_free(observer);
    if (candidate && redlock_campaign_resign(candidate) == REDLOCK_OK)
        AWAIT(user, led.told[REDLOCK_RELEASED] == 1);
    redlock_campaign_free(candidate);
}

static void on_passage(redlock_barrier *party, const redlock_barrier_result *passage, void *data)
{
    (void)party, (void)passage;
    ++*(unsigned *)data;
}

/* One party alone, which passes, or is undecided. */
static void meet(struct user *user)
{
    redlock_barrier *party;
    unsigned told = 0;
    redlock_barrier_options options = {.size = sizeof options};
    options.parties = 1;
    options.timeout_ms = 1000;
    redlock_code code =
        redlock_barrier_arrive(user->client, &party, "one", &options, on_passage, &told);
    assert_true(code == REDLOCK_OK || (code == REDLOCK_E_MEMORY && !party));
    if (party)
        AWAIT(user, told);
    assert_true(told == (party != NULL));
    redlock_barrier_free(party);
}

static void on_tally(redlock_latch *latch, const redlock_latch_result *tally, void *data)
{
    (void)latch, (void)tally;
    ++*(unsigned *)data;
}

static void await_call(struct user *user, redlock_latch *latch, redlock_code code,
                       const unsigned *told)
{
    assert_true(code == REDLOCK_OK || (code == REDLOCK_E_MEMORY && !latch));
    if (latch)
        AWAIT(user, *told);
    assert_true(*told == (latch != NULL));
    redlock_latch_free(latch);
}

/* One latch, for one arrival. */
static void latch(struct user *user)
{
    redlock_latch *call;
    redlock_latch_options options = {.size = sizeof options};
    options.arrivals = 1;
    options.timeout_ms = 1000;
    unsigned told = 0;
    redlock_code code = redlock_latch_create(user->client, &call, "one", &options, on_tally, &told);
    await_call(user, call, code, &told);
    told = 0;
    code = redlock_latch_arrive(user->client, &call, "one", &options, on_tally, &told);
    await_call(user, call, code, &told);
    told = 0;
    code = redlock_latch_await(user->client, &call, "one", &options, on_tally, &told);
    await_call(user, call, code, &told);
}

static void on_closed(redlock *client, unsigned left, void *data)
{
    struct user *user = data;
    (void)client;
    user->closed++;
    user->left = left;
    ev_break(user->loop, EVBREAK_ONE);
}

static void on_record(redlock_once *once, const redlock_latch_result *record, void *data)
{
    (void)once, (void)record;
    ++*(unsigned *)data;
}

static void await_once(struct user *user, const struct take *take, redlock_once *once,
                       redlock_code code, const unsigned *told)
{
    if (code)
        assert_true(code == REDLOCK_E_MEMORY || !redlock_lease_valid_for(take->lease));
    assert_int_equal(code == REDLOCK_OK, once != NULL);
    if (once)
        AWAIT(user, *told);
    assert_true(*told == (once != NULL));
    redlock_once_free(once);
}

static void look_and_record(struct user *user, const struct take *take)
{
    redlock_once *once;
    redlock_once_options look = {.size = sizeof look, .key = "key"};
    redlock_once_options record = {
        .size = sizeof record, .key = "key", .note = "note", .life_ms = 10000};
    unsigned told = 0;
    redlock_code code = redlock_once_look(take->lease, &once, &look, on_record, &told);
    await_once(user, take, once, code, &told);
    told = 0;
    code = redlock_once_record(take->lease, &once, &record, on_record, &told);
    await_once(user, take, once, code, &told);
}

static void do_once(struct user *user)
{
    static const redlock_name one[] = {NAME("one")};
    struct take take;
    ask(&take, user, one, 1, 0);
    if (!take.lease)
        return;
    AWAIT(user, decided(&take));
    if (has(&take))
        look_and_record(user, &take);
    give_back(&take);
}

static void on_wish(redlock_heeder *heeder, const redlock_wish *wish, void *data)
{
    (void)heeder;
    assert_string_equal(wish->text, "please");
    ++*(unsigned *)data;
}

static void on_asked(redlock_asker *asker, const redlock_asked *asked, void *data)
{
    (void)asker, (void)asked;
    ++*(unsigned *)data;
}

static void say_please(struct user *user, struct user *other)
{
    redlock_asker *asker;
    redlock_ask_options options = {.size = sizeof options, .text = "please", .timeout_ms = 1000};
    unsigned told = 0;
    redlock_code code = redlock_ask(other->client, &asker, "one", &options, on_asked, &told);
    assert_true(code == REDLOCK_OK || (code == REDLOCK_E_MEMORY && !asker));
    if (asker)
        AWAIT(user, told);
    assert_true(told == (asker != NULL));
    redlock_asker_free(asker);
}

/* One client has the name and heeds, another one asks.  A wish may be lost, but comes once. */
static void heed_another(struct user *user, struct user *other)
{
    static const redlock_name one[] = {NAME("one")};
    struct take take;
    redlock_heeder *heeder = NULL;
    unsigned heard = 0;
    ask(&take, user, one, 1, 0);
    if (!take.lease)
        return;
    AWAIT(user, decided(&take));
    redlock_code code = redlock_heed(take.lease, &heeder, on_wish, &heard);
    assert_true(!code == (heeder != NULL));
    assert_true(!code || code == REDLOCK_E_MEMORY || code == REDLOCK_E_STATE);
    say_please(user, other);
    assert_true(heard <= 1);
    redlock_heeder_free(heeder);
    give_back(&take);
}

static redlock_code open_other(struct user *other)
{
    redlock_options options = {.size = sizeof options, .nodes = cluster.nodes};
    return redlock_open(&other->client, other->loop, &options, NULL, 0);
}

static void end_life(struct user *user)
{
    redlock_close(user->client, 5000, on_closed, user);
    AWAIT(user, user->closed);
    redlock_free(user->client);
    assert_int_equal(user->left, 0);
}

static void ask_and_heed(struct user *user)
{
    struct user other = {.loop = user->loop};
    if (open_other(&other))
        return;
    heed_another(user, &other);
    end_life(&other);
}

/* A word that could not be taken back ends by itself. */
static void forget_what_expires(void)
{
    cluster_tell_all(&cluster, "DEL redlock:leader:one redlock:observers:one redlock:barrier:0:one "
                               "redlock:passed:one redlock:latch:one");
    cluster_tell_all(&cluster,
                     "DEL %s redlock:leader:redlock:wish:one "
                     "redlock:observers:redlock:wish:one",
                     "redlock:latch:one once key");
}

/* Where the answer to an acquire was lost, it may come behind the release by another client. */
static void forget_what_came_late(void)
{
    assert_true(cluster_holders(&cluster, "one", NULL) < (cluster.count + 1) / 2);
    cluster_tell_all(&cluster, "DEL one");
}

static void on_guard(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)events;
    bool *fired = timer->data;
    *fired = true;
    ev_break(loop, EVBREAK_ALL);
}

/* A lease moves to another client, or stays, and is given back by the one that has it. */
static void take_over(struct user *user, const redlock_lease_options *terms)
{
    static const redlock_name one[] = {NAME("one")};
    struct user other = {.loop = user->loop};
    struct take take;
    if (open_other(&other))
        return;
    ask_for(&take, user, one, 1, terms);
    if (take.lease) {
        AWAIT(user, decided(&take));
        if (has(&take) && terms->fence)
            (void)!redlock_lease_announce(take.lease, "value", 5);
        redlock_code code = redlock_lease_move(take.lease, other.client);
        if (code == REDLOCK_OK)
            AWAIT(user, take.told[REDLOCK_MOVED].times + take.told[REDLOCK_NOT_MOVED].times +
                            take.told[REDLOCK_LOST].times);
        else
            assert_code(code, has(&take) ? REDLOCK_E_MEMORY : REDLOCK_E_STATE);
        give_back(&take);
    }
    end_life(&other);
}

static void go_over(struct user *user)
{
    redlock_lease_options terms = lease_terms(2000, 0);
    take_over(user, &terms);
}

static void lead_and_go_over(struct user *user)
{
    redlock_lease_options terms = lease_terms(2000, 0);
    terms.fence = true;
    take_over(user, &terms);
}

/* Nothing of ours keeps the loop alive, and its count is not too low: it waits for one timer,
 * and then for nothing. */
static void assert_keeps_count(struct ev_loop *loop)
{
    bool waited = false, hung = false;
    ev_timer soon, late;
    ev_timer_init(&soon, on_guard, 0.001, 0.);
    soon.data = &waited;
    ev_timer_start(loop, &soon);
    ev_run(loop, 0);
    ev_timer_init(&late, on_guard, 5., 0.);
    late.data = &hung;
    ev_timer_start(loop, &late);
    ev_unref(loop);
    ev_run(loop, 0);
    assert_true(waited);
    assert_false(hung);
    ev_ref(loop);
    ev_timer_stop(loop, &late);
}

/* Whether it came to the n-th. */
typedef void life(struct user *user);

static bool live(life *life, enum fault fault, unsigned n)
{
    struct user user = {.loop = ev_loop_new(0)};
    redlock_options options = {.size = sizeof(redlock_options)};
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
        life(&user);
        end_life(&user);
    }
    bool struck = fault_disarm();
    assert_keeps_count(user.loop);
    ev_loop_destroy(user.loop);
    if (life == go_over || life == lead_and_go_over)
        forget_what_came_late();
    if (life != hold_and_contend && life != go_over)
        forget_what_expires();
    if (cluster_keys(&cluster))
        fail_msg("the %u-th fault of kind %d left keys behind", n, (int)fault);
    return struck;
}

static void live_all(life *life, enum fault fault, const char *what)
{
    unsigned n = 1;
    while (n < LAST && live(life, fault, n))
        n++;
    print_message("    %u %s\n", n - 1, what);
    assert_true(n > 10 && n < LAST);
}

#define LIVES_THROUGH_ALL(name, life)                                                              \
    CASE(name)                                                                                     \
    {                                                                                              \
        live_all(life, FAULT_MEMORY, "allocations failed");                                        \
        live_all(life, FAULT_MEMORY_SPELL, "times ten allocations failed in a row");               \
        live_all(life, FAULT_CALL_FAILS, "calls on sockets failed");                               \
    }
LIVES_THROUGH_ALL(test_leases, hold_and_contend)
LIVES_THROUGH_ALL(test_leaders, lead_and_observe)
LIVES_THROUGH_ALL(test_barriers, meet)
LIVES_THROUGH_ALL(test_latches, latch)
LIVES_THROUGH_ALL(test_work_done_once, do_once)
LIVES_THROUGH_ALL(test_wishes, ask_and_heed)
LIVES_THROUGH_ALL(test_move, go_over)
LIVES_THROUGH_ALL(test_move_of_a_leader, lead_and_go_over)

/* A life over TLS has some ten thousand allocations of OpenSSL: the first ones, and then each a bit
 * further than the last. */
CASE(test_tls_memory)
{
    if (!cluster_tls_folder())
        skip();
    unsigned n = 1, count = 1;
    while (n < 10 * LAST && live(hold_and_contend, FAULT_TLS_MEMORY, n)) {
        n += 1 + n / 40;
        count++;
    }
    print_message("    %u of about %u allocations of OpenSSL failed\n", count, n);
    assert_true(n > 1000 && n < 10 * LAST);
}

static void live_through(enum fault fault, const char *what)
{
    live_all(hold_and_contend, fault, what);
}

/* The n-th allocation of an announcement fails, for each n; returns how many there are. */
static unsigned announce_short_of(redlock_campaign *candidate, const char *value, unsigned most)
{
    for (unsigned n = 1; n <= most; n++) {
        fault_arm(FAULT_MEMORY, n);
        redlock_code code = redlock_campaign_announce(candidate, value, strlen(value));
        if (!fault_disarm())
            return n - 1;
        assert_code(code, REDLOCK_E_MEMORY);
    }
    return most;
}

/* Neither now nor in a later term. */
CASE(test_a_value_that_is_refused_is_not_announced)
{
    struct user user;
    struct led led = {0};
    redlock_observer *observer;
    redlock_campaign *candidate;
    redlock_campaign_options options = {.size = sizeof options};
    options.ttl_ms = 2000;
    user_open(&user, &cluster, NULL);
    assert_code(redlock_observer_begin(user.client, &observer, "one", on_leader, &led), REDLOCK_OK);
    assert_code(redlock_campaign_begin(user.client, &candidate, "one", &options, on_term, &led),
                REDLOCK_OK);
    AWAIT(&user, led.told[REDLOCK_ACQUIRED]);
    assert_true(announce_short_of(candidate, "first", LAST) > 0); /* makes what announces, too */
    unsigned allocations = announce_short_of(candidate, "kept", LAST);
    assert_true(allocations >= 2);
    AWAIT(&user, strcmp(led.value, "kept") == 0);
    int64_t term = led.term;
    assert_int_equal(announce_short_of(candidate, "no", allocations), allocations);
    cluster_tell_all(&cluster, "SET one stolen PX 300");
    AWAIT(&user, led.told[REDLOCK_LOST] && led.term > term);
    assert_string_equal(led.value, "kept");
    redlock_observer_free(observer);
    redlock_campaign_free(candidate);
    user_close(&user, 5000);
}

/* Each allocation of a candidacy fails once.  Returns how often the thread led in silence. */
static unsigned lead_short_of_memory(redlock_sync *client, const redlock_campaign_options *options)
{
    unsigned silent = 0, n = 0;
    do {
        redlock_sync_lease *lease;
        redlock_sync_result result = {.size = sizeof result};
        fault_arm(FAULT_MEMORY, ++n);
        redlock_code code = redlock_sync_campaign(client, &lease, "one", options, &result);
        assert_int_equal(code == REDLOCK_OK, lease != NULL);
        assert_code(result.code, code);
        if (!code && strstr(result.text, "memory")) {
            assert_true(redlock_sync_lease_valid_for(lease) > 0);
            silent++;
        }
        redlock_sync_lease_free(lease);
    } while (fault_disarm() && n < LAST);
    assert_true(n < LAST);
    return silent;
}

/* A thread that cannot announce still leads, and learns why nobody hears of it. */
CASE(test_a_thread_leads_without_memory_to_announce)
{
    redlock_sync *client;
    redlock_options at = {.size = sizeof at, .nodes = cluster.nodes};
    redlock_campaign_options options = {.size = sizeof options, .value = "value", .length = 5};
    unsigned silent = 0;
    assert_code(redlock_sync_open(&client, &at, NULL, 0), REDLOCK_OK);
    assert_code(redlock_sync_ready(client, 10000, NULL, 0), REDLOCK_OK);
    for (unsigned i = 0; i < 10 && !silent; i++) /* what else allocates may stand in between */
        silent = lead_short_of_memory(client, &options);
    assert_true(silent > 0);
    redlock_sync_close(client, 5000);
    redlock_sync_free(client);
    forget_what_expires();
}

/* A lease with the outcome ACQUIRED can also be released. */
CASE(test_token_takes_no_memory)
{
    struct user user;
    struct take take;
    user_open(&user, &cluster, NULL);
    assert_code(take_lock(&take, &user, "name", NULL), REDLOCK_OK);
    fault_arm(FAULT_MEMORY_SPELL, 1);
    const char *token = redlock_lease_token(take.lease);
    assert_false(fault_disarm());
    AWAIT(&user, cluster_holders(&cluster, "name", token) == 5);
    assert_code(take_release(&take), REDLOCK_OK);
    user_close_clean(&user, &cluster);
}

CASE(test_calls_that_do_half)
{
    live_through(FAULT_CALL_PARTLY, "calls on sockets did less than asked for");
    live_through(FAULT_CALL_EINTR, "calls on sockets were interrupted");
}

CASE(test_watchers_that_are_refused)
{
    live_through(FAULT_WATCH, "watchers were refused by epoll");
}

/* As if fs.epoll.max_user_watches were used up, and then another process ended. */
CASE(test_no_watcher_at_all)
{
    struct user user;
    struct take take;
    redlock_options options = {.size = sizeof(redlock_options)};
    struct ev_loop *loop = ev_loop_new(0);
    options.connect_timeout_ms = 200;
    options.request_timeout_ms = 1000;
    const char *kind = getenv("REDLOCK_TEST_LOOP");
    unsetenv("REDLOCK_TEST_LOOP"); /* a client on a descriptor is not opened then: see below */
    fault_arm(FAULT_WATCH_ALL, 1);
    user_begin(&user, loop, cluster.nodes, &options);
    if (kind)
        setenv("REDLOCK_TEST_LOOP", kind, 1);
    AWAIT(&user, user.ready);
    assert_code(user.ready_code, REDLOCK_E_UNAVAILABLE);
    assert_says(user.ready_text, "fs.epoll.max_user_watches");
    assert_code(take_lock(&take, &user, "name", NULL), REDLOCK_E_UNAVAILABLE);
    assert_says(take.told[REDLOCK_NOT_ACQUIRED].text, "fs.epoll.max_user_watches");
    take_free(&take);
    fault_disarm();
    AWAIT(&user, user_all_up(&user));
    assert_code(take_lock(&take, &user, "name", NULL), REDLOCK_OK);
    assert_code(take_release(&take), REDLOCK_OK);
    assert_int_equal(user_end(&user, 5000), 0);
    assert_keeps_count(loop);
    ev_loop_destroy(loop);
}

CASE(test_no_watcher_for_a_descriptor)
{
    redlock *client;
    char why[200];
    redlock_options options = {.size = sizeof(redlock_options)};
    options.nodes = cluster.nodes;
    for (unsigned n = 1; n <= 2; n++) {
        fault_arm(FAULT_WATCH_ALL, n);
        redlock_code code = redlock_open(&client, NULL, &options, why, sizeof why);
        assert_true(fault_disarm());
        assert_code(code, REDLOCK_E_SYSTEM);
        assert_says(why, "fs.epoll.max_user_watches");
    }
}

CASE(test_connections_that_end)
{
    live_through(FAULT_CALL_END, "reads found the connection closed");
}

int main(void)
{
    faults_begin();
    return RUN_WITH(.masters = 5);
}
