/*
 * A client is left for one of another list: its leases move, then it closes by itself.
 * rule: D5, D6, D12
 */
#include "recipe_user.h"
#include "relisted.h"

#define HELD 3
#define TTL  4000 /* ms: some wait for renewals */

static struct user last;
static struct take held[HELD];

static void begin(void)
{
    former_closed = 0;
    relisted_join(&former, 0, 5);
    relisted_join(&next, 0, 6);
    redlock_lease_options terms = lease_terms(TTL, 0);
    for (unsigned i = 0; i < HELD; i++) {
        char name[] = {(char)('a' + i), '\0'};
        assert_code(take_lock(&held[i], &former, name, &terms), REDLOCK_OK);
    }
}

static void assert_left(void)
{
    AWAIT(&next, former_closed);
    redlock_free(former.client);
    for (unsigned i = 0; i < HELD; i++) {
        assert_int_equal(held[i].told[REDLOCK_LOST].times, 0);
        assert_int_equal(former_closed, 1);
    }
}

static bool have_moved(unsigned count)
{
    unsigned moved = 0;
    for (unsigned i = 0; i < HELD; i++)
        moved += held[i].told[REDLOCK_MOVED].times == 1;
    return moved == count;
}

static void end(void)
{
    for (unsigned i = 0; i < HELD; i++)
        assert_code(take_release(&held[i]), REDLOCK_OK);
    assert_int_equal(user_end(&next, 5000), 0);
}

SCENE(test_all_move_then_it_closes, .masters = 6)
{
    begin();
    relisted_ask();
    assert_true(redlock_is_busy(former.client));
    assert_left();
    assert_true(have_moved(HELD));
    end();
}

SCENE(test_without_leases_it_closes, .masters = 6)
{
    former_closed = 0;
    relisted_join(&former, 0, 5);
    relisted_join(&next, 0, 6);
    relisted_ask();
    assert_left();
    assert_int_equal(user_end(&next, 5000), 0);
}

SCENE(test_it_takes_no_more_calls, .masters = 6)
{
    struct take late;
    begin();
    relisted_ask();
    take_init(&late, &former);
    assert_code(redlock_acquire(former.client, &late.lease, "late", NULL, take_hear, &late),
                REDLOCK_E_CLOSED);
    assert_says(redlock_last_error(former.client), "left for another one");
    assert_code(relisted_leave_for(&next), REDLOCK_E_CLOSED);
    assert_left();
    end();
}

/* Its ticket is older than that of a waiter who came later by the next list. */
SCENE(test_a_waiter_keeps_its_turn, .masters = 6)
{
    struct take waiter, later;
    redlock_lease_options terms = lease_terms(10000, REDLOCK_FOREVER);
    redlock_place place = {.size = sizeof place};
    begin();
    relisted_join(&last, 0, 6);
    take_ask(&waiter, &former, "a", &terms);
    AWAIT(&former, redlock_lease_place(waiter.lease, &place) == REDLOCK_OK);
    take_ask(&later, &last, "a", &terms);
    AWAIT(&last, redlock_lease_place(later.lease, &place) == REDLOCK_OK && place.position == 1);
    relisted_ask();
    assert_left();
    assert_int_equal(waiter.told[REDLOCK_MOVED].times, 1);
    assert_int_equal(waiter.told[REDLOCK_MOVED].event.valid_ms, 0);
    assert_string_equal(waiter.told[REDLOCK_MOVED].text, "moved, and waits there");
    AWAIT(&next, redlock_lease_place(later.lease, &place) == REDLOCK_OK && place.position == 1);
    assert_code(take_release(&held[0]), REDLOCK_OK);
    AWAIT(&next, waiter.told[REDLOCK_ACQUIRED].times);
    assert_int_equal(later.told[REDLOCK_ACQUIRED].times, 0);
    assert_code(take_release(&waiter), REDLOCK_OK);
    AWAIT(&last, later.told[REDLOCK_ACQUIRED].times);
    assert_code(take_release(&later), REDLOCK_OK);
    for (unsigned i = 1; i < HELD; i++)
        assert_code(take_release(&held[i]), REDLOCK_OK);
    assert_int_equal(user_end(&last, 5000), 0);
    assert_int_equal(user_end(&next, 5000), 0);
}

/* Its time to wait runs on, and it is no holder by either list. */
SCENE(test_a_waiter_waits_no_longer, .masters = 6)
{
    struct take waiter, new_one;
    redlock_lease_options terms = lease_terms(10000, 4000);
    begin();
    take_ask(&waiter, &former, "a", &terms);
    AWAIT(&former, user_is_quiet(&former));
    take_ask(&new_one, &former, "new", &terms);
    relisted_ask();
    AWAIT(&next, new_one.told[REDLOCK_ACQUIRED].times && new_one.told[REDLOCK_MOVED].times);
    AWAIT(&next, waiter.told[REDLOCK_NOT_ACQUIRED].times);
    assert_int_equal(waiter.told[REDLOCK_NOT_ACQUIRED].event.code, REDLOCK_E_HELD);
    assert_int_equal(waiter.told[REDLOCK_MOVED].times, 1);
    assert_left();
    take_free(&waiter);
    assert_code(take_release(&new_one), REDLOCK_OK);
    end();
}

/* Several wait for the same name, fenced, shared or for a permit: each gets it in turn. */
SCENE(test_waiters_of_all_kinds_go_over, .masters = 6)
{
    struct take waiters[6], holder, reader;
    redlock_lease_options kinds[3] = {lease_terms(10000, REDLOCK_FOREVER)};
    redlock_lease_options one_permit = lease_terms(10000, 0);
    kinds[1] = kinds[2] = kinds[0];
    kinds[0].fence = true;
    kinds[1].mode = REDLOCK_SHARED;
    kinds[2].permits = one_permit.permits = 1;
    begin();
    assert_code(take_lock(&holder, &former, "permit", &one_permit), REDLOCK_OK);
    assert_code(take_lock(&reader, &former, "shared", NULL), REDLOCK_OK);
    static const char *const names[3] = {"a", "shared", "permit"};
    for (unsigned i = 0; i < 6; i++)
        take_ask(&waiters[i], &former, names[i / 2], &kinds[i / 2]);
    AWAIT(&former, user_is_quiet(&former));
    relisted_ask();
    assert_left();
    assert_code(take_release(&held[0]), REDLOCK_OK);
    assert_code(take_release(&holder), REDLOCK_OK);
    assert_code(take_release(&reader), REDLOCK_OK);
    for (unsigned i = 0; i < 6; i++) {
        assert_int_equal(waiters[i].told[REDLOCK_MOVED].times, 1);
        AWAIT(&next, waiters[i].told[REDLOCK_ACQUIRED].times);
        assert_true(i >= 2 || redlock_lease_fence(waiters[i].lease) > 0);
        assert_code(take_release(&waiters[i]), REDLOCK_OK);
    }
    for (unsigned i = 1; i < HELD; i++)
        assert_code(take_release(&held[i]), REDLOCK_OK);
    assert_int_equal(user_end(&next, 5000), 0);
}

/* It cannot have a token there. */
SCENE(test_a_waiter_that_cannot_go_over_is_cancelled, .masters = 6)
{
    struct take waiter;
    redlock_lease_options terms = lease_terms(10000, REDLOCK_FOREVER);
    redlock_place place = {.size = sizeof place};
    begin();
    scene_enter(&scene, &last, "a-label-of-many-characters-which-no-other-client-here-has-0000", 0);
    AWAIT(&last, last.ready && user_all_up(&last));
    take_ask(&waiter, &former, "a", &terms);
    AWAIT(&former, redlock_lease_place(waiter.lease, &place) == REDLOCK_OK);
    assert_code(redlock_lease_move(waiter.lease, last.client), REDLOCK_E_ARGUMENT);
    assert_says(redlock_last_error(former.client), "longer label");
    assert_code(relisted_leave_for(&last), REDLOCK_OK);
    AWAIT(&last, waiter.told[REDLOCK_NOT_ACQUIRED].times);
    assert_int_equal(waiter.told[REDLOCK_NOT_ACQUIRED].event.code, REDLOCK_E_CANCELLED);
    take_free(&waiter);
    assert_left();
    assert_int_equal(user_end(&next, 5000), 0);
    for (unsigned i = 0; i < HELD; i++)
        assert_code(take_release(&held[i]), REDLOCK_OK);
    assert_int_equal(user_end(&last, 5000), 0);
}

/* A lease that is about something else when it is asked moves later. */
SCENE(test_a_lease_is_asked_again, .masters = 6)
{
    begin();
    assert_code(redlock_lease_extend(held[0].lease, 0), REDLOCK_OK);
    relisted_ask();
    assert_left();
    assert_int_equal(held[0].told[REDLOCK_EXTENDED].times, 1);
    assert_true(have_moved(HELD));
    end();
}

/* Looks end with the client. */
SCENE(test_looks_are_told, .masters = 6)
{
    struct seen seen = {.user = &former};
    begin();
    redlock_name name = {.size = sizeof name, .bytes = "a", .length = 1};
    assert_code(redlock_look_begin(former.client, &seen.look, &name, 1, NULL, look_hear, &seen),
                REDLOCK_OK);
    relisted_ask();
    AWAIT(&next, seen.times == 1);
    redlock_look_free(seen.look);
    assert_left();
    end();
}

/* Handles of leases that ended hold nothing up. */
SCENE(test_ended_leases_do_not_count, .masters = 6)
{
    struct take refused;
    begin();
    assert_code(take_lock(&refused, &former, "a", NULL), REDLOCK_E_HELD);
    cluster_tell_all(&scene.cluster, "DEL b");
    AWAIT(&former, held[1].told[REDLOCK_LOST].times);
    relisted_ask();
    AWAIT(&next, former_closed);
    redlock_free(former.client);
    assert_int_equal(held[0].told[REDLOCK_MOVED].times, 1);
    assert_int_equal(held[2].told[REDLOCK_MOVED].times, 1);
    assert_code(take_release(&held[0]), REDLOCK_OK);
    assert_code(take_release(&held[2]), REDLOCK_OK);
    assert_int_equal(user_end(&next, 5000), 0);
}

SCENE(test_a_release_by_token_goes_on, .masters = 6)
{
    struct take mine, release;
    char token[128];
    redlock_name name = {.size = sizeof name, .bytes = "mine", .length = 4};
    begin();
    assert_code(take_lock(&mine, &former, "mine", NULL), REDLOCK_OK);
    snprintf(token, sizeof token, "%s", redlock_lease_token(mine.lease));
    assert_code(redlock_lease_detach(mine.lease), REDLOCK_OK);
    take_init(&release, &former);
    assert_code(
        redlock_release_token(former.client, &release.lease, &name, 1, token, take_hear, &release),
        REDLOCK_OK);
    relisted_ask();
    assert_left();
    assert_int_equal(release.told[REDLOCK_RELEASED].times, 1);
    assert_code(release.told[REDLOCK_RELEASED].event.code, REDLOCK_OK);
    AWAIT(&next, cluster_holders(&scene.cluster, "mine", NULL) == 0);
    end();
}

static struct take first_told, second_told;
static bool detached;

/* A quorum has granted two leases: one is detached before its callback hears of it. */
static void detach_the_other(redlock_lease *lease, const redlock_event *event, void *data)
{
    struct take *other = data == &first_told ? &second_told : &first_told;
    take_hear(lease, event, data);
    if (event->kind != REDLOCK_ACQUIRED || !redlock_lease_valid_for(other->lease))
        return;
    detached = redlock_lease_detach(other->lease) == REDLOCK_OK;
    relisted_ask();
}

SCENE(test_a_detached_lease_is_left, .masters = 6)
{
    begin();
    detached = false;
    take_init(&first_told, &former);
    take_init(&second_told, &former);
    assert_code(redlock_acquire(former.client, &first_told.lease, "one", NULL, detach_the_other,
                                &first_told),
                REDLOCK_OK);
    assert_code(redlock_acquire(former.client, &second_told.lease, "other", NULL, detach_the_other,
                                &second_told),
                REDLOCK_OK);
    AWAIT(&next, former_closed);
    assert_true(detached);
    unsigned one = cluster_holders(&scene.cluster, "one", NULL);
    unsigned other = cluster_holders(&scene.cluster, "other", NULL);
    assert_true(one >= 3 && other >= 3);
    redlock_free(former.client);
    assert_int_equal(user_end(&next, 5000), 0);
}

/* A lease that is on its way to this client goes on to the next one. */
SCENE(test_a_lease_on_its_way_is_passed_on, .masters = 6)
{
    struct take more;
    redlock_lease_options terms = lease_terms(TTL, 0);
    begin();
    relisted_join(&last, 0, 5);
    assert_code(take_lock(&more, &last, "more", &terms), REDLOCK_OK);
    assert_code(redlock_lease_move(more.lease, former.client), REDLOCK_OK);
    relisted_ask();
    assert_left();
    assert_int_equal(more.told[REDLOCK_MOVED].times, 2);
    assert_int_equal(more.told[REDLOCK_LOST].times + more.told[REDLOCK_NOT_MOVED].times, 0);
    assert_code(take_release(&more), REDLOCK_OK);
    assert_int_equal(user_end(&last, 5000), 0);
    end();
}

SCENE(test_a_leader_keeps_its_term, .masters = 6)
{
    struct take leader;
    begin();
    take_lead(&leader, &former, "led", TTL, 0);
    take_announce(&leader, "here");
    int64_t term = redlock_lease_fence(leader.lease);
    relisted_ask();
    assert_left();
    assert_int_equal(leader.told[REDLOCK_MOVED].times, 1);
    assert_int_equal(redlock_lease_fence(leader.lease), term);
    AWAIT(&next, cluster_answering(&scene.cluster, 1, "EXISTS redlock:leader:led") == 6);
    assert_code(take_release(&leader), REDLOCK_OK);
    end();
}

/* Until the new masters are a quorum nothing is tried, and nothing told. */
SCENE(test_it_waits_for_the_new_masters, .masters = 6)
{
    begin();
    assert_int_equal(user_end(&next, 5000), 0);
    user_meanwhile(&former, &scene.cluster, "pause 1 2 6");
    scene_list(&scene, &next, FLEET, 0, 6);
    uint64_t renewals = stats_of(&former).renewals;
    relisted_ask();
    AWAIT(&former, stats_of(&former).renewals >= renewals + HELD);
    assert_true(have_moved(0));
    for (unsigned i = 0; i < HELD; i++)
        assert_int_equal(held[i].told[REDLOCK_NOT_MOVED].times, 0);
    user_meanwhile(&former, &scene.cluster, "resume 1 2 6");
    assert_left();
    assert_true(have_moved(HELD));
    end();
}

SCENE(test_released_ones_are_not_moved, .masters = 6)
{
    begin();
    assert_code(redlock_lease_release(held[0].lease), REDLOCK_OK);
    relisted_ask();
    assert_code(redlock_lease_release(held[1].lease), REDLOCK_OK);
    assert_left();
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(held[i].told[REDLOCK_RELEASED].times, 1);
        assert_int_equal(held[i].told[REDLOCK_MOVED].times, 0);
    }
    assert_int_equal(held[2].told[REDLOCK_MOVED].times, 1);
    assert_code(take_release(&held[2]), REDLOCK_OK);
    assert_int_equal(user_end(&next, 5000), 0);
}

/* A lease that was upgraded or downgraded cannot move. */
SCENE(test_it_waits_for_what_cannot_move, .masters = 6)
{
    begin();
    assert_code(redlock_lease_downgrade(held[0].lease), REDLOCK_OK);
    AWAIT(&former, held[0].told[REDLOCK_CHANGED].times);
    relisted_ask();
    AWAIT(&next, have_moved(HELD - 1));
    uint64_t renewals = stats_of(&former).renewals;
    AWAIT(&former, stats_of(&former).renewals > renewals);
    assert_int_equal(former_closed, 0);
    assert_code(redlock_lease_release(held[0].lease), REDLOCK_OK);
    assert_left();
    assert_int_equal(held[0].told[REDLOCK_RELEASED].times, 1);
    for (unsigned i = 1; i < HELD; i++)
        assert_code(take_release(&held[i]), REDLOCK_OK);
    assert_int_equal(user_end(&next, 5000), 0);
}

SCENE(test_a_close_releases_what_is_left, .masters = 6)
{
    begin();
    assert_code(redlock_lease_downgrade(held[0].lease), REDLOCK_OK);
    AWAIT(&former, held[0].told[REDLOCK_CHANGED].times);
    relisted_ask();
    AWAIT(&next, have_moved(HELD - 1));
    assert_int_equal(user_end(&former, 5000), 0);
    assert_int_equal(former_closed, 0);
    assert_int_equal(held[0].told[REDLOCK_RELEASED].times, 1);
    for (unsigned i = 1; i < HELD; i++)
        assert_code(take_release(&held[i]), REDLOCK_OK);
    assert_int_equal(user_end(&next, 5000), 0);
}

/* ---- The other client ends first ---- */

SCENE(test_leases_stay_if_the_other_client_is_freed, .masters = 6)
{
    struct take more;
    begin();
    relisted_ask();
    redlock_free(next.client);
    uint64_t renewals = stats_of(&former).renewals;
    AWAIT(&former, stats_of(&former).renewals > renewals);
    assert_true(have_moved(0));
    assert_code(take_lock(&more, &former, "more", NULL), REDLOCK_OK);
    assert_code(take_release(&more), REDLOCK_OK);
    for (unsigned i = 0; i < HELD; i++)
        assert_code(take_release(&held[i]), REDLOCK_OK);
    assert_int_equal(user_end(&former, 5000), 0);
    assert_int_equal(former_closed, 0);
}

SCENE(test_leases_stay_if_the_other_client_closes, .masters = 6)
{
    begin();
    relisted_ask();
    assert_int_equal(user_end(&next, 5000), 0);
    uint64_t renewals = stats_of(&former).renewals;
    AWAIT(&former, stats_of(&former).renewals > renewals);
    for (unsigned i = 0; i < HELD; i++)
        assert_true(redlock_lease_valid_for(held[i].lease) > 0);
    assert_int_equal(user_end(&former, 5000), 0);
}

SCENE(test_either_may_be_freed_at_any_time, .masters = 6)
{
    begin();
    relisted_ask();
    AWAIT(&next, !user_is_quiet(&next));
    redlock_free(former.client);
    AWAIT(&next, user_is_quiet(&next));
    assert_int_equal(user_end(&next, 5000), 0);
}

/* ---- One after the other ---- */

/* All go to the last list: from the first one, and from the one between. */
SCENE(test_a_chain, .masters = 6)
{
    struct take more;
    begin();
    assert_code(take_lock(&more, &next, "more", NULL), REDLOCK_OK);
    relisted_join(&last, 0, 5);
    relisted_ask();
    assert_code(redlock_relist(next.client, last.client, NULL, NULL), REDLOCK_OK);
    AWAIT(&last, former_closed && !redlock_is_busy(next.client));
    redlock_free(next.client);
    redlock_free(former.client);
    AWAIT(&last, user_is_quiet(&last));
    for (unsigned i = 0; i < HELD; i++) {
        assert_int_equal(held[i].told[REDLOCK_LOST].times, 0);
        assert_true(held[i].told[REDLOCK_MOVED].times >= 1);
        assert_code(take_release(&held[i]), REDLOCK_OK);
    }
    assert_int_equal(more.told[REDLOCK_MOVED].times, 1);
    assert_code(take_release(&more), REDLOCK_OK);
    assert_int_equal(user_end(&last, 5000), 0);
}

/* Nothing moves to the list between, whose masters do not answer, and which is freed first.  The
 * former client would wait for a master that hangs, as long as AWAIT() does. */
SCENE(test_a_chain_past_a_list_that_cannot_be_used, .masters = 6)
{
    former_closed = 0;
    relisted_join(&former, 0, 3);
    redlock_lease_options terms = lease_terms(TTL, 0);
    for (unsigned i = 0; i < HELD; i++) {
        char name[] = {(char)('a' + i), '\0'};
        assert_code(take_lock(&held[i], &former, name, &terms), REDLOCK_OK);
    }
    user_meanwhile(&former, &scene.cluster, "pause 3 4");
    scene_list(&scene, &next, FLEET, 0, 4);
    relisted_join(&last, 0, 2);
    relisted_ask();
    assert_code(redlock_relist(next.client, last.client, NULL, NULL), REDLOCK_OK);
    redlock_free(next.client);
    user_meanwhile(&last, &scene.cluster, "kill 3 4");
    AWAIT(&last, former_closed);
    redlock_free(former.client);
    for (unsigned i = 0; i < HELD; i++) {
        assert_int_equal(held[i].told[REDLOCK_MOVED].times, 1);
        assert_code(take_release(&held[i]), REDLOCK_OK);
    }
    assert_int_equal(user_end(&last, 5000), 0);
}

/* The first list need not meet the last one. */
SCENE(test_a_chain_too_far, .masters = 7)
{
    begin();
    scene_list(&scene, &last, FLEET, 0, 7);
    AWAIT(&last, last.ready);
    relisted_ask();
    assert_code(redlock_relist(next.client, last.client, NULL, NULL), REDLOCK_E_DIFFERS);
    assert_says(redlock_last_error(next.client), "of a client that is left for this one");
    assert_left();
    assert_int_equal(user_end(&last, 5000), 0);
    relisted_join(&last, 0, 7);
    assert_code(redlock_relist(next.client, last.client, NULL, NULL), REDLOCK_OK);
    AWAIT(&last, held[0].told[REDLOCK_MOVED].times == 2 && held[1].told[REDLOCK_MOVED].times == 2 &&
                     held[2].told[REDLOCK_MOVED].times == 2);
    AWAIT(&last, !redlock_is_busy(next.client));
    redlock_free(next.client);
    for (unsigned i = 0; i < HELD; i++)
        assert_code(take_release(&held[i]), REDLOCK_OK);
    assert_int_equal(user_end(&last, 5000), 0);
}

/* Each of them is closed and freed in whatever order. */
SCENE(test_two_are_left_for_one, .masters = 6)
{
    struct take more;
    begin();
    relisted_join(&last, 0, 5);
    assert_code(take_lock(&more, &last, "more", NULL), REDLOCK_OK);
    relisted_ask();
    assert_code(redlock_relist(last.client, next.client, NULL, NULL), REDLOCK_OK);
    AWAIT(&next, !redlock_is_busy(last.client));
    redlock_free(last.client);
    assert_int_equal(more.told[REDLOCK_MOVED].times, 1);
    assert_left();
    assert_code(take_release(&more), REDLOCK_OK);
    end();
}

SCENE(test_leases_of_both_stay_if_the_last_one_is_freed, .masters = 6)
{
    begin();
    relisted_join(&last, 0, 5);
    relisted_ask();
    assert_code(redlock_relist(next.client, last.client, NULL, NULL), REDLOCK_OK);
    redlock_free(last.client);
    uint64_t renewals = stats_of(&former).renewals;
    AWAIT(&former, stats_of(&former).renewals > renewals);
    assert_true(have_moved(0));
    for (unsigned i = 0; i < HELD; i++)
        assert_code(take_release(&held[i]), REDLOCK_OK);
    assert_int_equal(user_end(&former, 5000), 0);
    assert_int_equal(user_end(&next, 5000), 0);
    assert_int_equal(former_closed, 0);
}

/* ---- What is refused ---- */

SCENE(test_what_is_refused, .masters = 6)
{
    redlock_options looks = {.size = sizeof looks, .looks_only = true, .fleet = FLEET};
    begin();
    relisted_join(&last, 3, 3);
    assert_code(redlock_relist(former.client, former.client, NULL, NULL), REDLOCK_E_ARGUMENT);
    assert_code(redlock_relist(former.client, NULL, NULL, NULL), REDLOCK_E_ARGUMENT);
    assert_code(redlock_relist(former.client, last.client, NULL, NULL), REDLOCK_E_DIFFERS);
    assert_int_equal(user_end(&last, 5000), 0);
    user_begin(&last, scene.loop, scene.cluster.nodes, &looks);
    assert_code(redlock_relist(former.client, last.client, NULL, NULL), REDLOCK_E_ARGUMENT);
    assert_code(redlock_lease_move(held[0].lease, last.client), REDLOCK_E_ARGUMENT);
    AWAIT(&last, last.ready);
    assert_int_equal(user_end(&last, 5000), 0);
    assert_code(relisted_leave_for(&next), REDLOCK_OK);
    assert_left();
    end();
}

PROGRAM(.masters = 0)
