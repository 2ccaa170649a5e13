/*
 * Threads that acquire again what they hold share one handle. The lease ends when the last one
 * gives it back, whatever threads, masters or the client do meanwhile.
 * rule: T12, T13, T14, T15, T16, T17
 */
#include <sys/wait.h>

#include "fixture.h"
#include "sync_user.h"

static redlock_lease_options again(int64_t ttl_ms)
{
    redlock_lease_options options = terms(ttl_ms, 0);
    options.reentrant = true;
    return options;
}

static redlock_lease_options again_as(bool shared)
{
    redlock_lease_options options = again(10000);
    options.mode = mode_of(shared);
    return options;
}

static redlock_sync_lease *enter(redlock_sync *client, const char *name)
{
    redlock_lease_options options = again(10000);
    return take(client, name, &options);
}

static void refuse_with(redlock_sync *client, const char *name,
                        const redlock_lease_options *options, redlock_code code, const char *says)
{
    redlock_sync_lease *lease;
    redlock_sync_result result = {.size = sizeof(redlock_sync_result)};
    assert_code(redlock_sync_acquire(client, &lease, name, options, &result), code);
    assert_null(lease);
    assert_code(result.code, code);
    assert_says(result.text, says);
}

static void refuse(redlock_sync *client, const char *name, redlock_code code, const char *says)
{
    redlock_lease_options options = again(10000);
    refuse_with(client, name, &options, code, says);
}

static redlock_code try_names(redlock_sync *client, const redlock_name *names, size_t count,
                              bool shared, redlock_sync_lease **lease, redlock_sync_result *result)
{
    redlock_lease_options options = again_as(shared);
    return redlock_sync_acquire_names(client, lease, names, count, &options, result);
}

static void refuse_names(redlock_sync *client, const redlock_name *names, size_t count,
                         const char *says)
{
    redlock_sync_lease *lease;
    redlock_sync_result result = {.size = sizeof(redlock_sync_result)};
    assert_code(try_names(client, names, count, false, &lease, &result), REDLOCK_E_STATE);
    assert_null(lease);
    assert_says(result.text, says);
}

/* The names are `lease` once more, and then one time less. */
static void in_and_out(redlock_sync *client, const redlock_name *names, size_t count, bool shared,
                       const redlock_sync_lease *lease)
{
    redlock_sync_lease *inner;
    redlock_sync_result result = {.size = sizeof(redlock_sync_result)};
    if (try_names(client, names, count, shared, &inner, &result))
        fail_msg("once more: %s", result.text);
    assert_ptr_equal(inner, lease);
    give_back(inner);
    assert_true(redlock_sync_lease_valid_for(lease) > 0);
}

static unsigned count_of(redlock_sync *client, const char *name)
{
    redlock_name one = redlock_name_of(name);
    return redlock_sync_hold_count(client, &one, 1);
}

static void close_other(redlock_sync *client)
{
    assert_int_equal(close_and_free(client), 0);
}

/* ---- A call in a thread of its own ---- */

static redlock_code enter_it(struct call *call)
{
    redlock_lease_options options = again(10000);
    return redlock_sync_acquire(call->client, &call->lease, call->name, &options, NULL);
}

static redlock_code free_it(struct call *call)
{
    redlock_sync_lease_free(call->lease);
    return REDLOCK_OK;
}

static redlock_code count_it(struct call *call)
{
    return (redlock_code)count_of(call->client, call->name);
}

static redlock_code elsewhere(redlock_code (*act)(struct call *), redlock_sync *client,
                              const char *name, redlock_sync_lease *lease)
{
    struct call call = {.act = act, .client = client, .name = name, .lease = lease};
    call_begin(&call);
    return call_end(&call);
}

/* ---- In and out ---- */

WITH_CLEAN_CLIENT(the_same_thread_gets_the_same_lease)
{
    redlock_sync_lease *lease = enter(client, "same"), *inner;
    redlock_lease_options options = again(10000);
    redlock_sync_result result = {.size = sizeof(redlock_sync_result)};
    assert_code(redlock_sync_acquire(client, &inner, "same", &options, &result), REDLOCK_OK);
    assert_ptr_equal(inner, lease);
    assert_code(result.code, REDLOCK_OK);
    assert_string_equal(result.text, "held by this thread already, 2 deep");
    assert_in_range(result.valid_ms, 1, 9898);
    assert_int_equal(result.masters, 0);
    assert_string_equal(result.votes, "");
    assert_ptr_equal(enter(client, "same"), lease);
    assert_code(redlock_sync_lease_release(lease, &result), REDLOCK_OK);
    assert_string_equal(result.text, "still held for other acquires of the thread, 2 deep");
    assert_in_range(result.valid_ms, 1, 9898);
    assert_code(redlock_sync_lease_release(lease, NULL), REDLOCK_OK);
    assert_int_equal(cluster_holders(&cluster, "same", redlock_sync_lease_token(lease)) >= 3, true);
    assert_code(redlock_sync_lease_release(lease, &result), REDLOCK_OK);
    assert_true(result.masters == 5);
    assert_int_equal(redlock_sync_lease_valid_for(lease), 0);
    assert_code(redlock_sync_lease_release(lease, NULL), REDLOCK_E_STATE);
    for (int i = 0; i < 3; i++)
        redlock_sync_lease_free(lease);
}

enum { DEEP = 3 };

/* Releases and frees `lease`, which was acquired DEEP times, as the letters say. */
static void unwind(redlock_sync *other, redlock_sync_lease *lease, const char *order)
{
    unsigned held = DEEP, handles = DEEP;
    for (; *order; order++) {
        if (*order == 'f') {
            held -= held == handles;
            handles--;
            redlock_sync_lease_free(lease);
        } else {
            held--;
            assert_code(redlock_sync_lease_release(lease, NULL), REDLOCK_OK);
        }
        if (held)
            refuse(other, "order", REDLOCK_E_HELD, "");
        if (handles)
            assert_int_equal(redlock_sync_lease_valid_for(lease) > 0, held > 0);
    }
}

WITH_CLEAN_CLIENT(it_goes_with_the_last_in_every_order)
{
    static const char *const orders[] = {"fff",   "ffrf",   "frff",   "frfrf",  "frrff",
                                         "rfff",  "rffrf",  "rfrff",  "rfrfrf", "rfrrff",
                                         "rrfff", "rrffrf", "rrfrff", "rrrfff"};
    redlock_sync *other = open_on(&cluster);
    for (unsigned i = 0; i < sizeof orders / sizeof *orders; i++) {
        redlock_sync_lease *lease = enter(client, "order");
        for (int j = 1; j < DEEP; j++)
            assert_ptr_equal(enter(client, "order"), lease);
        unwind(other, lease, orders[i]);
        AWAIT(cluster_keys(&cluster) == 0);
    }
    close_other(other);
}

WITH_CLEAN_CLIENT(after_the_last_release_it_is_a_new_lease)
{
    redlock_sync_lease *old = enter(client, "anew");
    enter(client, "anew");
    assert_code(redlock_sync_lease_release(old, NULL), REDLOCK_OK);
    redlock_sync_lease_free(old);
    assert_code(redlock_sync_lease_release(old, NULL), REDLOCK_OK);
    redlock_sync_lease *lease = enter(client, "anew");
    assert_ptr_not_equal(lease, old);
    assert_code(redlock_sync_lease_release(old, NULL), REDLOCK_E_STATE);
    redlock_sync_lease_free(old);
    assert_true(redlock_sync_lease_valid_for(lease) > 0);
    assert_ptr_equal(enter(client, "anew"), lease);
    give_back(lease);
    give_back(lease);
}

WITH_CLEAN_CLIENT(several_names_are_a_set)
{
    redlock_sync_lease *lease, *other;
    redlock_name names[] = {NAME("a"), NAME("b"), NAME("c")};
    redlock_name turned[] = {NAME("c"), NAME("a"), NAME("b")};
    redlock_name beside[] = {NAME("b"), NAME("d")};
    redlock_name apart = NAME("d"), one[] = {NAME("a"), NAME("a")};
    redlock_name four[] = {names[0], names[1], names[2], apart};
    assert_code(try_names(client, names, 3, false, &lease, NULL), REDLOCK_OK);
    in_and_out(client, turned, 3, false, lease);
    refuse_names(client, names, 1, "would wait for itself");
    refuse_names(client, names + 1, 2, "would wait for itself");
    refuse_names(client, beside, 2, "would wait for itself");
    refuse_names(client, four, 4, "would wait for itself");
    assert_code(try_names(client, one, 2, false, &other, NULL), REDLOCK_E_NAME);
    assert_code(try_names(client, &apart, 1, false, &other, NULL), REDLOCK_OK);
    assert_ptr_not_equal(other, lease);
    in_and_out(client, &apart, 1, false, other);
    give_back(other);
    give_back(lease);
    assert_code(try_names(client, beside, 2, false, &lease, NULL), REDLOCK_OK);
    give_back(lease);
}

WITH_CLEAN_CLIENT(what_is_wrong_is_refused_as_ever)
{
    redlock_sync_lease *lease = enter(client, "wrong");
    redlock_name none = {.size = sizeof none};
    redlock_lease_options options = again(INT64_MAX);
    refuse(client, NULL, REDLOCK_E_NAME, "empty");
    refuse(client, "", REDLOCK_E_NAME, "empty");
    refuse(client, "redlock:x", REDLOCK_E_NAME, "kept for redlock");
    assert_code(try_names(client, &none, 1, false, &lease, NULL), REDLOCK_E_NAME);
    assert_code(try_names(client, NULL, 1, false, &lease, NULL), REDLOCK_E_NAME);
    assert_code(try_names(client, &none, 0, false, &lease, NULL), REDLOCK_E_NAME);
    assert_code(try_names(client, &none, SIZE_MAX, false, &lease, NULL), REDLOCK_E_NAME);
    refuse_with(client, "other", &options, REDLOCK_E_TTL, "max_ttl_ms");
    options.size = 0;
    refuse_with(client, "other", &options, REDLOCK_E_ARGUMENT, "size");
    options = again(10000);
    options.permits = 2;
    refuse_with(client, "other", &options, REDLOCK_E_ARGUMENT, "a permit cannot be reentrant");
    options = again(10000);
    memset(&options.fence, 2, sizeof options.fence);
    refuse_with(client, "wrong", &options, REDLOCK_E_ARGUMENT, "neither true nor false");
    options = again(10000);
    options.mode = REDLOCK_SLOT;
    refuse_with(client, "wrong", &options, REDLOCK_E_ARGUMENT, "mode is ");
    redlock_name slot = NAME("wrong");
    slot.mode = REDLOCK_SLOT;
    assert_code(try_names(client, &slot, 1, false, &lease, NULL), REDLOCK_E_ARGUMENT);
    lease = enter(client, "wrong"); /* was not disturbed */
    give_back(lease);
    give_back(lease);
}

/* ---- Others stay out ---- */

WITH_CLEAN_CLIENT(others_are_kept_out)
{
    redlock_sync *other = open_on(&cluster);
    redlock_sync_lease *lease = enter(client, "mine");
    redlock_lease_options plain = terms(10000, 0);
    assert_code(elsewhere(enter_it, client, "mine", NULL), REDLOCK_E_HELD);
    refuse(other, "mine", REDLOCK_E_HELD, "");
    refuse_with(client, "mine", &plain, REDLOCK_E_HELD, "");
    refuse_with(client, "mine", NULL, REDLOCK_E_HELD, "");
    assert_ptr_equal(enter(client, "mine"), lease);
    give_back(lease);
    give_back(lease);
    lease = take(client, "mine", &plain);
    refuse(client, "mine", REDLOCK_E_HELD, "");
    give_back(lease);
    close_other(other);
}

WITH_CLEAN_CLIENT(a_new_thread_is_not_the_one_that_ended)
{
    struct call owner = {.act = enter_it, .client = client, .name = "ended"};
    call_begin(&owner);
    assert_code(call_end(&owner), REDLOCK_OK);
    for (int i = 0; i < 20; i++)
        assert_code(elsewhere(enter_it, client, "ended", NULL), REDLOCK_E_HELD);
    refuse(client, "ended", REDLOCK_E_HELD, "");
    give_back(owner.lease);
}

WITH_CLEAN_CLIENT(another_thread_gives_it_back)
{
    redlock_sync_lease *lease = enter(client, "helped");
    enter(client, "helped");
    assert_code(elsewhere(release_it, NULL, NULL, lease), REDLOCK_OK);
    assert_code(elsewhere(free_it, NULL, NULL, lease), REDLOCK_OK);
    assert_true(redlock_sync_lease_valid_for(lease) > 0);
    assert_ptr_equal(enter(client, "helped"), lease);
    assert_code(elsewhere(free_it, NULL, NULL, lease), REDLOCK_OK);
    assert_true(redlock_sync_lease_valid_for(lease) > 0);
    assert_code(elsewhere(release_it, NULL, NULL, lease), REDLOCK_OK);
    assert_int_equal(redlock_sync_lease_valid_for(lease), 0);
    redlock_sync_lease *fresh = enter(client, "helped");
    assert_ptr_not_equal(fresh, lease);
    redlock_sync_lease_free(lease);
    give_back(fresh);
}

/* ---- Without the masters ---- */

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The background thread stands still, so nothing here can need it. */
WITH_CLEAN_CLIENT(it_asks_nobody)
{
    enum { TIMES = 200000 };
    redlock_sync_lease *lease = enter(client, "quiet"), *inner;
    redlock_lease_options options = again(10000);
    AWAIT(cluster_holders(&cluster, "quiet", redlock_sync_lease_token(lease)) == 5);
    redlock_stats before = stats_now(client);
    struct pause pause;
    pause_begin(&pause, client);
    int64_t since = now_ns();
    for (int i = 0; i < TIMES; i++) {
        if (redlock_sync_acquire(client, &inner, "quiet", &options, NULL) || inner != lease ||
            redlock_sync_lease_release(inner, NULL))
            fail_msg("at %d", i);
        redlock_sync_lease_free(inner);
    }
    print_message("acquire, release and free once more: %.0f ns\n",
                  (double)(now_ns() - since) / TIMES);
    since = now_ns();
    for (int i = 0; i < TIMES; i++)
        if (count_of(client, "quiet") != 1)
            fail_msg("counted, at %d", i);
    print_message("hold count: %.0f ns\n", (double)(now_ns() - since) / TIMES);
    pause_end(&pause);
    redlock_stats after = stats_now(client);
    assert_int_equal(after.acquired, before.acquired);
    assert_int_equal(after.rounds, before.rounds);
    assert_int_equal(after.requests, before.requests);
    assert_int_equal(after.held, before.held);
    give_back(lease);
}

/* Keys that others take away, on a quorum. */
static void take_away(const char *name)
{
    for (unsigned i = 0; i < 3; i++)
        cluster_tell(&cluster, i, "SET %s thief PX 60000", name);
}

static void give_away(const char *name)
{
    cluster_tell_all(&cluster, "DEL %s", name);
}

/* ---- How many times it is held ---- */

WITH_CLEAN_CLIENT(a_count_goes_up_and_down_with_the_acquires)
{
    redlock_sync *other = open_on(&cluster);
    redlock_lease_options plain = terms(10000, 0);
    assert_int_equal(count_of(client, "counted"), 0);
    redlock_sync_lease *lease = enter(client, "counted");
    assert_int_equal(count_of(client, "counted"), 1);
    enter(client, "counted");
    enter(client, "counted");
    assert_int_equal(count_of(client, "counted"), 3);
    assert_int_equal(elsewhere(count_it, client, "counted", NULL), 0);
    assert_int_equal(count_of(other, "counted"), 0);
    assert_code(redlock_sync_lease_release(lease, NULL), REDLOCK_OK);
    assert_int_equal(count_of(client, "counted"), 2);
    redlock_sync_lease_free(lease); /* of the one that was released */
    assert_int_equal(count_of(client, "counted"), 2);
    redlock_sync_lease_free(lease);
    assert_int_equal(count_of(client, "counted"), 1);
    give_back(lease);
    assert_int_equal(count_of(client, "counted"), 0);
    lease = take(client, "counted", &plain); /* not reentrant */
    assert_int_equal(count_of(client, "counted"), 0);
    give_back(lease);
    close_other(other);
}

WITH_CLEAN_CLIENT(a_count_is_of_all_the_names_in_any_mode)
{
    redlock_sync_lease *lease;
    redlock_name names[] = {NAME("a"), NAME("b")};
    redlock_name turned[] = {SHARED_NAME("b"), NAME("a")};
    redlock_name more[] = {NAME("a"), NAME("b"), NAME("c")}, twice[] = {NAME("a"), NAME("a")};
    redlock_name none = {.size = sizeof none}, unsized = NAME("a");
    unsized.size = 0;
    assert_code(try_names(client, names, 2, false, &lease, NULL), REDLOCK_OK);
    assert_int_equal(redlock_sync_hold_count(client, names, 2), 1);
    assert_int_equal(redlock_sync_hold_count(client, turned, 2), 1);
    assert_int_equal(redlock_sync_hold_count(client, names, 1), 0);
    assert_int_equal(redlock_sync_hold_count(client, more, 3), 0);
    assert_int_equal(redlock_sync_hold_count(client, twice, 2), 0);
    assert_int_equal(redlock_sync_hold_count(client, &none, 1), 0);
    assert_int_equal(redlock_sync_hold_count(client, &unsized, 1), 0);
    assert_int_equal(redlock_sync_hold_count(client, NULL, 1), 0);
    assert_int_equal(redlock_sync_hold_count(client, names, 0), 0);
    assert_int_equal(redlock_sync_hold_count(client, names, SIZE_MAX), 0);
    assert_int_equal(redlock_sync_hold_count(NULL, names, 2), 0);
    give_back(lease);
}

/* ---- Loss ---- */

WITH_CLEAN_CLIENT(a_lost_lease_is_not_acquired_once_more)
{
    redlock_lease_options options = again(3000);
    redlock_sync_lease *lease = take(client, "lost", &options);
    redlock_sync_result result = {.size = sizeof(redlock_sync_result)};
    assert_ptr_equal(take(client, "lost", &options), lease);
    assert_int_equal(count_of(client, "lost"), 2);
    take_away("lost");
    AWAIT(count_of(client, "lost") == 0);
    AWAIT(redlock_sync_lease_valid_for(lease) == 0);
    refuse(client, "lost", REDLOCK_E_GONE, "");
    give_away("lost");
    refuse(client, "lost", REDLOCK_E_GONE, "no quorum of masters has it any more");
    assert_code(redlock_sync_lease_release(lease, &result), REDLOCK_E_GONE);
    assert_code(result.code, REDLOCK_E_GONE);
    refuse(client, "lost", REDLOCK_E_GONE, "");
    redlock_sync_lease_free(lease);
    refuse(client, "lost", REDLOCK_E_GONE, "");
    redlock_sync_lease_release(lease, NULL);
    options = again(10000);
    options.wait_ms = 10000;
    redlock_sync_lease *fresh = take(client, "lost", &options);
    assert_ptr_not_equal(fresh, lease);
    assert_int_equal(count_of(client, "lost"), 1);
    redlock_sync_lease_free(lease);
    give_back(fresh);
}

WITH_CLEAN_CLIENT(each_loss_has_its_code)
{
    redlock_lease_options options = again(400);
    options.max_hold_ms = 100;
    redlock_sync_lease *capped = take(client, "capped", &options);
    options.max_hold_ms = 0;
    options.no_renew = true;
    redlock_sync_lease *ended = take(client, "ended", &options);
    AWAIT(redlock_sync_lease_valid_for(capped) == 0 && redlock_sync_lease_valid_for(ended) == 0);
    AWAIT(stats_now(client).lost >= 2);
    refuse(client, "capped", REDLOCK_E_MAX_HOLD, "");
    refuse(client, "ended", REDLOCK_E_EXPIRED, "not renewed");
    redlock_sync_lease_free(capped);
    redlock_sync_lease_free(ended);
    options = again(10000);
    options.wait_ms = 10000;
    give_back(take(client, "capped", &options));
    give_back(take(client, "ended", &options));
}

static redlock_code enter_once_more(struct call *call)
{
    redlock_lease_options options = again(10000);
    options.no_renew = true;
    redlock_code code =
        redlock_sync_acquire(call->client, &call->lease, "margin", &options, &call->result);
    redlock_sync_lease_free(call->lease);
    return code;
}

static redlock_code is_counted(struct call *call)
{
    return count_of(call->client, "margin") ? REDLOCK_OK : REDLOCK_E_EXPIRED;
}

/* While the background thread stands still LOST does not come. */
static void until_its_margin(int64_t ttl_ms, int64_t margin_ms, int64_t margin,
                             redlock_code (*act)(struct call *))
{
    struct call call = {.client = open_on(&cluster), .result = {.size = sizeof call.result}};
    redlock_lease_options options = again(ttl_ms);
    options.no_renew = true;
    options.margin_ms = margin_ms;
    redlock_sync_lease *lease = take(call.client, "margin", &options);
    struct pause pause;
    pause_begin(&pause, call.client);
    redlock_code code = REDLOCK_OK;
    int64_t before = 0, after = 0;
    bool too_late = false;
    while (!code) {
        before = redlock_sync_lease_valid_for(lease);
        code = act(&call);
        after = redlock_sync_lease_valid_for(lease);
        too_late |= !code && before <= margin;
    }
    pause_end(&pause);
    assert_false(too_late);
    assert_code(code, REDLOCK_E_EXPIRED);
    if (act == enter_once_more)
        assert_says(call.result.text, "within its margin");
    assert_null(call.lease);
    assert_true(after <= margin);
    redlock_sync_lease_free(lease);
    AWAIT(cluster_keys(&cluster) == 0);
    close_clean(call.client, &cluster);
}

CASE(within_its_margin_it_is_as_good_as_lost)
{
    until_its_margin(2000, 1800, 1800, enter_once_more);
    until_its_margin(1000, 0, 50, enter_once_more);
    until_its_margin(300, REDLOCK_ZERO, 0, enter_once_more);
    until_its_margin(2000, 1500, 1500, is_counted);
}

/* LOST comes late, and no thread may believe meanwhile that it gave the lease back. */
WITH_CLEAN_CLIENT(a_release_after_its_end_says_so)
{
    redlock_sync_lease *lease, *inner;
    redlock_lease_options options = again(300);
    options.no_renew = true;
    lease = take(client, "over", &options);
    inner = take(client, "over", &options);
    assert_ptr_equal(inner, lease);
    struct pause pause;
    pause_begin(&pause, client);
    AWAIT(redlock_sync_lease_valid_for(lease) == 0);
    redlock_sync_result result = {.size = sizeof(redlock_sync_result)};
    assert_code(redlock_sync_lease_release(inner, &result), REDLOCK_E_GONE);
    assert_says(result.text, "before its validity ended");
    pause_end(&pause);
    redlock_sync_lease_free(inner);
    redlock_sync_lease_free(lease);
    AWAIT(cluster_keys(&cluster) == 0);
}

struct nester {
    redlock_sync *client;
    redlock_sync_lease *lease; /* of the thread */
    atomic_bool has_it;
    unsigned entered, came_back;
    redlock_code first;
    pthread_t thread;
};

/* Once an acquire was refused, none may succeed while the outer one is not given back. */
static void *nest_until_lost(void *data)
{
    struct nester *nester = data;
    redlock_lease_options options = again(2000);
    redlock_sync_lease *inner;
    if (redlock_sync_acquire(nester->client, &nester->lease, "nesting", &options, NULL))
        return nester;
    atomic_store(&nester->has_it, true);
    for (unsigned refused = 0; refused < 10000;) {
        redlock_code code = redlock_sync_acquire(nester->client, &inner, "nesting", &options, NULL);
        if (!code)
            redlock_sync_lease_free(inner);
        nester->entered++;
        nester->came_back += !code && refused;
        if (code && !refused++)
            nester->first = code;
    }
    redlock_sync_lease_free(nester->lease);
    return NULL;
}

static void nest_in_a_thread(struct nester *nester, redlock_sync *client)
{
    nester->client = client;
    assert_int_equal(pthread_create(&nester->thread, NULL, nest_until_lost, nester), 0);
    AWAIT(atomic_load(&nester->has_it));
}

WITH_CLEAN_CLIENT(a_loss_meets_a_thread_that_nests)
{
    static struct nester nester; /* as the thread outlives a case that fails */
    void *failed;
    nest_in_a_thread(&nester, client);
    take_away("nesting");
    pthread_join(nester.thread, &failed);
    assert_null(failed);
    assert_code(nester.first, REDLOCK_E_GONE);
    assert_int_equal(nester.came_back, 0);
    give_away("nesting");
    AWAIT(cluster_keys(&cluster) == 0);
}

CASE(a_close_meets_a_thread_that_nests)
{
    redlock_sync *client = open_on(&cluster);
    static struct nester nester;
    void *failed;
    nest_in_a_thread(&nester, client);
    assert_int_equal(redlock_sync_close(client, 10000), 0);
    pthread_join(nester.thread, &failed);
    assert_null(failed);
    assert_code(nester.first, REDLOCK_E_CLOSED);
    assert_int_equal(nester.came_back, 0);
    redlock_sync_free(client);
    assert_int_equal(cluster_keys(&cluster), 0);
}

CASE(a_closed_client_lets_nobody_in)
{
    redlock_sync *client = open_on(&cluster);
    redlock_sync_lease *lease = enter(client, "closed");
    enter(client, "closed");
    enter(client, "closed");
    assert_int_equal(redlock_sync_close(client, 10000), 0);
    assert_int_equal(count_of(client, "closed"), 0);
    refuse(client, "closed", REDLOCK_E_CLOSED, "");
    assert_code(redlock_sync_lease_release(lease, NULL), REDLOCK_E_CLOSED);
    redlock_sync_lease_free(lease);
    redlock_sync_free(client);
    assert_code(redlock_sync_lease_release(lease, NULL), REDLOCK_E_CLOSED);
    assert_code(redlock_sync_lease_release(lease, NULL), REDLOCK_E_CLOSED);
    redlock_sync_lease_free(lease);
    redlock_sync_lease_free(lease);
    assert_int_equal(cluster_keys(&cluster), 0);
}

/* ---- Modes and fences ---- */

WITH_CLEAN_CLIENT(a_reader_inside_a_writer_but_no_writer_inside_a_reader)
{
    redlock_lease_options reads = again_as(true), writes = again_as(false);
    redlock_name name = NAME("mode");
    redlock_sync_lease *lease = take(client, "mode", &writes);
    in_and_out(client, &name, 1, true, lease);
    assert_true(redlock_sync_lease_exclusive_for(lease) > 0);
    assert_code(redlock_sync_lease_downgrade(lease, NULL), REDLOCK_OK);
    refuse_with(client, "mode", &writes, REDLOCK_E_STATE, "redlock_sync_lease_upgrade()");
    in_and_out(client, &name, 1, true, lease);
    assert_code(redlock_sync_lease_upgrade(lease, NULL), REDLOCK_OK);
    in_and_out(client, &name, 1, false, lease);
    assert_code(redlock_sync_lease_downgrade(lease, NULL), REDLOCK_OK);
    refuse_with(client, "mode", &writes, REDLOCK_E_STATE, "redlock_sync_lease_upgrade()");
    give_back(lease);
    lease = take(client, "mode", &reads);
    refuse_with(client, "mode", &writes, REDLOCK_E_STATE, "redlock_sync_lease_upgrade()");
    in_and_out(client, &name, 1, true, lease);
    assert_code(redlock_sync_lease_upgrade(lease, NULL), REDLOCK_OK);
    in_and_out(client, &name, 1, false, lease);
    give_back(lease);
}

WITH_CLEAN_CLIENT(each_name_has_its_mode)
{
    redlock_lease_options reads = terms(10000, 0);
    redlock_sync_lease *lease, *beside;
    redlock_name names[] = {NAME("x"), SHARED_NAME("s")};
    redlock_name turned[] = {SHARED_NAME("s"), NAME("x")};
    redlock_name crossed[] = {NAME("s"), SHARED_NAME("x")};
    redlock_name readers[] = {SHARED_NAME("s"), SHARED_NAME("x")};
    redlock_name writers[] = {NAME("s"), NAME("x")};
    reads.mode = REDLOCK_SHARED;
    assert_code(try_names(client, names, 2, false, &lease, NULL), REDLOCK_OK);
    in_and_out(client, turned, 2, false, lease);
    in_and_out(client, readers, 2, false, lease);
    in_and_out(client, crossed, 2, true, lease);
    refuse_names(client, crossed, 2, "redlock_sync_lease_upgrade()");
    refuse_names(client, writers, 2, "redlock_sync_lease_upgrade()");
    beside = take(client, "s", &reads);
    assert_code(redlock_sync_lease_upgrade(lease, NULL), REDLOCK_E_HELD);
    give_back(beside);
    in_and_out(client, turned, 2, false, lease); /* a vain upgrade leaves each as it was */
    refuse_names(client, writers, 2, "redlock_sync_lease_upgrade()");
    assert_code(redlock_sync_lease_upgrade(lease, NULL), REDLOCK_OK);
    in_and_out(client, writers, 2, false, lease);
    assert_code(redlock_sync_lease_downgrade(lease, NULL), REDLOCK_OK);
    refuse_names(client, turned, 2, "redlock_sync_lease_upgrade()");
    in_and_out(client, readers, 2, false, lease);
    in_and_out(client, writers, 2, true, lease);
    give_back(lease);
    assert_code(try_names(client, names, 2, false, &lease, NULL), REDLOCK_OK);
    assert_code(redlock_sync_lease_downgrade(lease, NULL), REDLOCK_OK); /* of a mixed lease */
    refuse_names(client, turned, 2, "redlock_sync_lease_upgrade()");
    in_and_out(client, readers, 2, false, lease);
    give_back(lease);
}

WITH_CLEAN_CLIENT(a_fence_is_that_of_the_first)
{
    redlock_lease_options plain = again(10000), fenced = again(10000);
    redlock_name name = NAME("fence");
    fenced.fence = true;
    redlock_sync_lease *lease = take(client, "fence", &plain);
    refuse_with(client, "fence", &fenced, REDLOCK_E_STATE, "in the first acquire");
    give_back(lease);
    lease = take(client, "fence", &fenced);
    int64_t fence = redlock_sync_lease_fence(lease);
    assert_true(fence > 0);
    assert_ptr_equal(take(client, "fence", &fenced), lease);
    assert_int_equal(redlock_sync_lease_fence(lease), fence);
    in_and_out(client, &name, 1, false, lease);
    give_back(lease);
    give_back(lease);
}

/* ---- In a callback, in a child ---- */

struct inside {
    redlock_sync *client;
    redlock_sync_lease *lease;
    redlock_code acquire, release;
    unsigned count;
};

static void enter_inside(redlock *client, void *data)
{
    struct inside *inside = data;
    redlock_sync_lease *lease;
    redlock_lease_options options = again(10000);
    (void)client;
    inside->acquire = redlock_sync_acquire(inside->client, &lease, "inside", &options, NULL);
    inside->release = redlock_sync_lease_release(inside->lease, NULL);
    inside->count = count_of(inside->client, "inside");
    redlock_sync_lease_free(inside->lease);
}

WITH_CLEAN_CLIENT(a_callback_may_free_and_no_more)
{
    struct inside inside = {.client = client, .lease = enter(client, "inside")};
    enter(client, "inside");
    assert_code(redlock_sync_run(client, enter_inside, &inside), REDLOCK_OK);
    assert_code(inside.acquire, REDLOCK_E_STATE);
    assert_code(inside.release, REDLOCK_E_STATE);
    assert_int_equal(inside.count, 0);
    assert_int_equal(count_of(client, "inside"), 1);
    assert_true(redlock_sync_lease_valid_for(inside.lease) > 0);
    assert_code(redlock_sync_run(client, enter_inside, &inside), REDLOCK_OK);
    AWAIT(cluster_keys(&cluster) == 0);
    give_back(enter(client, "inside"));
}

static int check_as_child(redlock_sync *client, redlock_sync_lease *lease)
{
    redlock_lease_options options = again(10000);
    redlock_sync_lease *other;
    if (redlock_sync_acquire(client, &other, "forked", &options, NULL) != REDLOCK_E_FORKED || other)
        return 1;
    if (redlock_sync_lease_release(lease, NULL) != REDLOCK_E_FORKED ||
        redlock_sync_lease_release(lease, NULL) != REDLOCK_E_FORKED)
        return 2;
    if (count_of(client, "forked"))
        return 3;
    for (int i = 0; i < 2; i++)
        redlock_sync_lease_free(lease);
    redlock_sync_free(client);
    return 0;
}

WITH_CLEAN_CLIENT(a_child_is_not_its_parent)
{
    int status;
    redlock_sync_lease *lease = enter(client, "forked");
    enter(client, "forked");
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(check_as_child(client, lease));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_ptr_equal(enter(client, "forked"), lease);
    for (int i = 0; i < 3; i++)
        give_back(lease);
}

/* ---- Threads beside each other ---- */

WITH_CLEAN_CLIENT(two_releases_at_once)
{
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, 2);
    for (int i = 0; i < 200; i++) {
        redlock_sync_lease *lease = enter(client, "at-once");
        enter(client, "at-once");
        struct call two[2] = {{.act = release_it, .lease = lease, .start = &start},
                              {.act = release_it, .lease = lease, .start = &start}};
        call_begin(&two[0]);
        call_begin(&two[1]);
        assert_code(call_end(&two[0]), REDLOCK_OK);
        assert_code(call_end(&two[1]), REDLOCK_OK);
        assert_int_equal(redlock_sync_lease_valid_for(lease), 0);
        two[0].act = two[1].act = free_it;
        call_begin(&two[0]);
        call_begin(&two[1]);
        call_end(&two[0]);
        call_end(&two[1]);
    }
    pthread_barrier_destroy(&start);
}

enum { NESTERS = 8, ROUNDS = 150 };

/* Where the threads leave handles for the ninth to free. */
struct desk {
    redlock_sync *client;
    _Atomic(redlock_sync_lease *) left[NESTERS];
    atomic_uint running, failed, freed;
    atomic_uint next;
};

static void leave_one(struct desk *desk, unsigned own, redlock_sync_lease *lease)
{
    redlock_sync_lease *none = NULL;
    while (!atomic_compare_exchange_weak(&desk->left[own], &none, lease)) {
        none = NULL;
        usleep(10);
    }
}

static void nest_once(struct desk *desk, unsigned own, const char *name)
{
    redlock_lease_options options = again(10000);
    redlock_sync_lease *lease[3];
    options.wait_ms = 10000; /* the ninth may be about to give the last one back */
    for (int i = 0; i < 3; i++)
        if (redlock_sync_acquire(desk->client, &lease[i], name, &options, NULL)) {
            desk->failed++;
            return;
        }
    desk->failed += lease[1] != lease[0] || lease[2] != lease[0];
    leave_one(desk, own, lease[2]);
    desk->failed += redlock_sync_lease_valid_for(lease[0]) == 0;
    desk->failed += redlock_sync_lease_release(lease[1], NULL) != REDLOCK_OK;
    redlock_sync_lease_free(lease[1]);
    redlock_sync_lease_free(lease[0]);
}

static void *nest_often(void *data)
{
    struct desk *desk = data;
    unsigned own = atomic_fetch_add(&desk->next, 1);
    char name[32];
    snprintf(name, sizeof name, "nester-%u", own);
    for (int i = 0; i < ROUNDS; i++)
        nest_once(desk, own, name);
    desk->running--;
    return NULL;
}

static void *free_what_is_left(void *data)
{
    struct desk *desk = data;
    bool last = false;
    while (!last) {
        last = atomic_load(&desk->running) == 0;
        for (unsigned i = 0; i < NESTERS; i++) {
            redlock_sync_lease *lease = atomic_exchange(&desk->left[i], NULL);
            desk->freed += lease != NULL;
            redlock_sync_lease_free(lease);
        }
    }
    return NULL;
}

CASE(a_ninth_thread_frees_for_eight_that_nest)
{
    static struct desk desk; /* as the threads outlive a case that fails */
    pthread_t threads[NESTERS + 1];
    desk.client = open_on(&cluster);
    atomic_store(&desk.running, NESTERS);
    for (int i = 0; i <= NESTERS; i++)
        pthread_create(&threads[i], NULL, i < NESTERS ? nest_often : free_what_is_left, &desk);
    for (int i = 0; i <= NESTERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(desk.failed, 0);
    assert_int_equal(desk.freed, NESTERS * ROUNDS);
    AWAIT(cluster_keys(&cluster) == 0);
    close_clean(desk.client, &cluster);
}

PROGRAM(.masters = 5, .begun = make_them_old)
