/*
 * A lease that is held moves to another client, which counts on other masters.  It is held all the
 * time, by promises of the one list or of the other.
 * rule: D5, D6, D7
 */
#include <redlock/recipes.h>

#include "scene.h"

#define FLEET "fleet"

static struct user former, next, other;
static struct take held;
static char token[128];

static void begin(void)
{
    scene_join_list(&scene, &former, FLEET, 0, 5);
    scene_join_list(&scene, &next, FLEET, 0, 6);
    assert_code(take_lock(&held, &former, "name", NULL), REDLOCK_OK);
    snprintf(token, sizeof token, "%s", redlock_lease_token(held.lease));
}

static void end(void)
{
    assert_int_equal(user_end(&former, 5000), 0);
    assert_int_equal(user_end(&next, 5000), 0);
}

static void move(void)
{
    assert_code(redlock_lease_move(held.lease, next.client), REDLOCK_OK);
    AWAIT(&next, held.told[REDLOCK_MOVED].times || held.told[REDLOCK_NOT_MOVED].times);
}

static void assert_moved(void)
{
    const struct told *moved = &held.told[REDLOCK_MOVED];
    assert_int_equal(moved->times, 1);
    assert_int_equal(held.told[REDLOCK_NOT_MOVED].times, 0);
    assert_true(moved->event.valid_ms > 0 && moved->valid_for > 0);
    assert_int_equal(moved->event.masters, 6);
    assert_string_equal(redlock_lease_token(held.lease), token);
}

/* ---- It goes on ---- */

SCENE(test_handle_token_and_callback_stay, .masters = 6)
{
    begin();
    move();
    assert_moved();
    assert_int_equal(user_end(&former, 5000), 0); /* nothing is left there to release */
    assert_true(redlock_lease_valid_for(held.lease) > 0);
    AWAIT(&next, cluster_holders(&scene.cluster, "name", token) == 6);
    assert_code(take_release(&held), REDLOCK_OK);
    AWAIT(&next, cluster_holders(&scene.cluster, "name", NULL) == 0);
    assert_int_equal(user_end(&next, 5000), 0);
}

/* The former list is of three dead masters then. */
SCENE(test_it_lives_on_without_the_former_masters, .masters = 6)
{
    redlock_lease_options terms = lease_terms(3000, 0);
    scene_join_list(&scene, &former, FLEET, 0, 3);
    scene_join_list(&scene, &other, FLEET, 0, 4);
    scene_join_list(&scene, &next, FLEET, 1, 4);
    assert_code(take_lock(&held, &former, "name", &terms), REDLOCK_OK);
    assert_code(redlock_lease_move(held.lease, other.client), REDLOCK_OK);
    AWAIT(&other, held.told[REDLOCK_MOVED].times == 1);
    AWAIT(&other, cluster_holders(&scene.cluster, "name", NULL) == 4);
    assert_code(redlock_lease_move(held.lease, next.client), REDLOCK_OK);
    AWAIT(&next, held.told[REDLOCK_MOVED].times == 2);
    AWAIT(&next, cluster_holders(&scene.cluster, "name", NULL) == 5);
    user_meanwhile(&next, &scene.cluster, "kill 1");
    AWAIT(&next, stats_of(&next).renewals >= 6);
    assert_int_equal(held.told[REDLOCK_LOST].times, 0);
    assert_code(take_release(&held), REDLOCK_OK);
    end();
    assert_int_equal(user_end(&other, 5000), 0);
}

SCENE(test_a_fence_and_a_slot_go_with_it, .masters = 6)
{
    redlock_lease_options terms = lease_terms(10000, 0);
    scene_join_list(&scene, &former, FLEET, 0, 5);
    scene_join_list(&scene, &next, FLEET, 0, 6);
    terms.fence = true;
    terms.permits = 3;
    assert_code(take_lock(&held, &former, "name", &terms), REDLOCK_OK);
    int64_t fence = redlock_lease_fence(held.lease);
    int slot = redlock_lease_slot(held.lease);
    move();
    assert_int_equal(held.told[REDLOCK_MOVED].event.fence, fence);
    assert_int_equal(redlock_lease_fence(held.lease), fence);
    assert_int_equal(redlock_lease_slot(held.lease), slot);
    assert_code(redlock_lease_extend(held.lease, 0), REDLOCK_OK);
    AWAIT(&next, held.told[REDLOCK_EXTENDED].times == 1);
    assert_code(take_release(&held), REDLOCK_OK);
    struct take later;
    assert_code(take_lock(&later, &next, "name", &terms), REDLOCK_OK);
    assert_true(redlock_lease_fence(later.lease) > fence);
    assert_code(take_release(&later), REDLOCK_OK);
    end();
}

/* RELEASED comes when a quorum has the marks; the other masters follow. */
static bool marks_on(unsigned masters)
{
    return cluster_answering(&scene.cluster, 1, "EXISTS redlock:released:%s", token) == masters;
}

/* The former client's renewals may be on their way when it releases. */
SCENE(test_its_release_leaves_marks, .masters = 6)
{
    begin();
    move();
    assert_moved();
    assert_code(take_release(&held), REDLOCK_OK);
    AWAIT(&next, marks_on(6));
    end();

    begin();
    assert_code(redlock_lease_move(held.lease, next.client), REDLOCK_OK);
    assert_code(take_release(&held), REDLOCK_OK);
    AWAIT(&next, marks_on(5));
    end();
}

SCENE(test_readers_move, .masters = 6)
{
    struct take reader;
    redlock_lease_options terms = lease_terms(10000, 0);
    scene_join_list(&scene, &former, FLEET, 0, 5);
    scene_join_list(&scene, &next, FLEET, 0, 6);
    terms.mode = REDLOCK_SHARED;
    assert_code(take_lock(&held, &former, "name", &terms), REDLOCK_OK);
    assert_code(take_lock(&reader, &former, "name", &terms), REDLOCK_OK);
    move();
    assert_true(redlock_lease_is_shared(held.lease));
    assert_code(take_release(&reader), REDLOCK_OK);
    assert_code(take_lock(&reader, &next, "name", NULL), REDLOCK_E_HELD);
    redlock_lease_free(reader.lease);
    assert_code(take_release(&held), REDLOCK_OK);
    assert_code(take_lock(&reader, &next, "name", NULL), REDLOCK_OK);
    assert_code(take_release(&reader), REDLOCK_OK);
    end();
}

/* The masters would have to hear of the move before the lease is over. */
SCENE(test_it_is_lost_while_it_moves, .masters = 6)
{
    redlock_lease_options terms = lease_terms(6000, 0);
    scene_join_list(&scene, &former, FLEET, 0, 3);
    scene_join_list(&scene, &next, FLEET, 0, 4);
    assert_code(take_lock(&held, &former, "name", &terms), REDLOCK_OK);
    cluster_do(&scene.cluster, "pause 1 2 3 4");
    assert_code(redlock_lease_move(held.lease, next.client), REDLOCK_OK);
    AWAIT(&former, held.told[REDLOCK_LOST].times);
    assert_int_equal(held.told[REDLOCK_MOVED].times, 0);
    cluster_do(&scene.cluster, "resume 1 2 3 4");
    AWAIT(&next, user_is_quiet(&next) && stats_of(&next).held == 0);
    assert_int_equal(held.told[REDLOCK_MOVED].times, 0);
    redlock_lease_free(held.lease);
    end();
}

/* ---- Many ---- */

#define MANY 500

static struct take many[MANY];

static unsigned count_told(redlock_event_kind kind)
{
    unsigned count = 0;
    for (unsigned i = 0; i < MANY; i++)
        count += many[i].told[kind].times;
    return count;
}

SCENE(test_many_move_at_once, .masters = 6)
{
    scene_join_list(&scene, &former, FLEET, 0, 5);
    scene_join_list(&scene, &next, FLEET, 0, 6);
    for (unsigned i = 0; i < MANY; i++) {
        char name[16];
        snprintf(name, sizeof name, "name %u", i);
        take_ask(&many[i], &former, name, NULL);
    }
    AWAIT(&former, count_told(REDLOCK_ACQUIRED) == MANY);
    for (unsigned i = 0; i < MANY; i++)
        assert_code(redlock_lease_move(many[i].lease, next.client), REDLOCK_OK);
    AWAIT(&next, count_told(REDLOCK_MOVED) == MANY);
    assert_int_equal(stats_of(&former).held, 0);
    assert_int_equal(stats_of(&next).held, MANY);
    assert_int_equal(user_end(&former, 5000), 0);
    for (unsigned i = 0; i < MANY; i++)
        assert_code(redlock_lease_release(many[i].lease), REDLOCK_OK);
    AWAIT(&next, count_told(REDLOCK_RELEASED) == MANY);
    assert_int_equal(count_told(REDLOCK_LOST) + count_told(REDLOCK_NOT_MOVED), 0);
    for (unsigned i = 0; i < MANY; i++)
        redlock_lease_free(many[i].lease);
    assert_int_equal(user_end(&next, 5000), 0);
}

/* ---- It stays ---- */

/* Agreement would refuse one of these lists. */
SCENE(test_it_stays_where_another_has_the_name, .masters = 4)
{
    scene_join_list(&scene, &former, FLEET, 0, 3);
    scene_join_list(&scene, &next, FLEET, 0, 4);
    assert_code(take_lock(&held, &former, "name", NULL), REDLOCK_OK);
    cluster_tell(&scene.cluster, 2, "SET name another PX 30000");
    cluster_tell(&scene.cluster, 3, "SET name another PX 30000");
    move();
    const struct told *stays = &held.told[REDLOCK_NOT_MOVED];
    assert_int_equal(held.told[REDLOCK_MOVED].times, 0);
    assert_int_equal(stays->event.code, REDLOCK_E_HELD);
    assert_int_equal(stays->event.masters, 4);
    assert_true(stays->event.valid_ms > 0 && stays->valid_for > 0);
    assert_true(strstr(stays->text, "not moved"));
    assert_code(take_release(&held), REDLOCK_OK);
    end();
}

SCENE(test_it_stays_if_quorums_need_not_meet, .masters = 6)
{
    scene_join_list(&scene, &former, FLEET, 0, 5);
    scene_join_list(&scene, &next, FLEET, 1, 5);
    assert_code(take_lock(&held, &former, "name", NULL), REDLOCK_OK);
    assert_code(redlock_may_move(former.client, next.client), REDLOCK_E_DIFFERS);
    assert_code(redlock_lease_move(held.lease, next.client), REDLOCK_E_DIFFERS);
    assert_true(strstr(redlock_last_error(former.client), "masters change --plan"));
    assert_code(take_release(&held), REDLOCK_OK);
    end();
}

SCENE(test_it_stays_if_the_prefix_is_another, .masters = 6)
{
    redlock *elsewhere;
    redlock_options options = scene_options(&scene);
    options.prefix = "elsewhere:";
    begin();
    options.nodes = scene.cluster.nodes;
    assert_code(redlock_open(&elsewhere, scene.loop, &options, NULL, 0), REDLOCK_OK);
    assert_code(redlock_lease_move(held.lease, elsewhere), REDLOCK_E_ARGUMENT);
    assert_true(strstr(redlock_last_error(former.client), "prefix"));
    assert_code(redlock_may_move(former.client, next.client), REDLOCK_OK);
    redlock_free(elsewhere);
    assert_code(take_release(&held), REDLOCK_OK);
    end();
}

SCENE(test_it_stays_if_the_other_client_closes, .masters = 6)
{
    begin();
    assert_code(redlock_lease_move(held.lease, next.client), REDLOCK_OK);
    assert_int_equal(user_end(&next, 5000), 0);
    assert_int_equal(held.told[REDLOCK_NOT_MOVED].event.code, REDLOCK_E_CLOSED);
    assert_code(take_release(&held), REDLOCK_OK);
    assert_int_equal(user_end(&former, 5000), 0);
}

/* ---- It ends meanwhile ---- */

SCENE(test_a_release_goes_before_a_move, .masters = 6)
{
    begin();
    assert_code(redlock_lease_move(held.lease, next.client), REDLOCK_OK);
    assert_code(redlock_lease_detach(held.lease), REDLOCK_E_STATE);
    assert_code(redlock_lease_move(held.lease, next.client), REDLOCK_E_STATE);
    assert_code(take_release(&held), REDLOCK_OK);
    AWAIT(&next, user_is_quiet(&next) && stats_of(&next).held == 0);
    assert_int_equal(held.told[REDLOCK_MOVED].times + held.told[REDLOCK_NOT_MOVED].times, 0);
    AWAIT(&next, cluster_holders(&scene.cluster, "name", NULL) <= 1); /* on the new master */
    assert_code(take_lock(&held, &next, "name", NULL), REDLOCK_OK);
    assert_code(take_release(&held), REDLOCK_OK);
    end();
}

SCENE(test_a_client_may_be_freed_while_a_lease_moves, .masters = 6)
{
    begin();
    assert_code(redlock_lease_move(held.lease, next.client), REDLOCK_OK);
    redlock_free(next.client);
    assert_code(take_release(&held), REDLOCK_OK);
    assert_int_equal(user_end(&former, 5000), 0);

    begin();
    assert_code(redlock_lease_move(held.lease, next.client), REDLOCK_OK);
    redlock_free(former.client);
    AWAIT(&next, user_is_quiet(&next) && stats_of(&next).held == 0);
    assert_int_equal(held.told[REDLOCK_MOVED].times, 0);
    assert_int_equal(user_end(&next, 5000), 0);
}

/* ---- It is refused ---- */

SCENE(test_what_cannot_be_asked_meanwhile, .masters = 6)
{
    redlock_lease_options terms = lease_terms(10000, 0);
    scene_join_list(&scene, &former, FLEET, 0, 5);
    scene_join_list(&scene, &next, FLEET, 0, 6);
    terms.fence = true;
    assert_code(take_lock(&held, &former, "name", &terms), REDLOCK_OK);
    assert_code(redlock_lease_move(held.lease, next.client), REDLOCK_OK);
    assert_code(redlock_lease_extend(held.lease, 0), REDLOCK_E_STATE);
    assert_code(redlock_lease_downgrade(held.lease), REDLOCK_E_STATE);
    assert_code(redlock_lease_announce(held.lease, "value", 5), REDLOCK_E_STATE);
    AWAIT(&next, held.told[REDLOCK_MOVED].times == 1);
    assert_code(redlock_lease_announce(held.lease, "value", 5), REDLOCK_OK);
    AWAIT(&next, held.told[REDLOCK_ANNOUNCED].times == 1);
    assert_code(take_release(&held), REDLOCK_OK);
    end();
}

SCENE(test_what_cannot_be_moved, .masters = 6)
{
    struct take reader;
    redlock_lease_options terms = lease_terms(10000, 0);
    begin();
    assert_code(redlock_lease_move(held.lease, NULL), REDLOCK_E_ARGUMENT);
    assert_code(redlock_lease_move(held.lease, former.client), REDLOCK_E_ARGUMENT);
    assert_code(redlock_lease_extend(held.lease, 0), REDLOCK_OK);
    assert_code(redlock_lease_move(held.lease, next.client), REDLOCK_E_STATE);
    AWAIT(&former, held.told[REDLOCK_EXTENDED].times == 1);
    assert_code(take_lock(&reader, &former, "book", &terms), REDLOCK_OK);
    assert_code(redlock_lease_downgrade(reader.lease), REDLOCK_OK);
    AWAIT(&former, reader.told[REDLOCK_CHANGED].times == 1);
    assert_code(redlock_lease_move(reader.lease, next.client), REDLOCK_E_STATE);
    assert_code(take_release(&reader), REDLOCK_OK);
    terms.max_hold_ms = 100;
    assert_code(take_lock(&reader, &former, "brief", &terms), REDLOCK_OK);
    int64_t valid_for = redlock_lease_valid_for(reader.lease); /* it is held since then or before */
    AWAIT(&former, redlock_lease_valid_for(reader.lease) < valid_for - 200);
    assert_code(redlock_lease_move(reader.lease, next.client), REDLOCK_E_STATE);
    assert_code(take_release(&reader), REDLOCK_OK);
    redlock_close(next.client, 5000, NULL, NULL);
    assert_code(redlock_lease_move(held.lease, next.client), REDLOCK_E_CLOSED);
    redlock_free(next.client);
    assert_code(take_release(&held), REDLOCK_OK);
    assert_int_equal(user_end(&former, 5000), 0);
}

PROGRAM(.masters = 0)
