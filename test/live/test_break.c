/*
 * A lock is broken on real masters: when its holder, if it heeds wishes, hears of it.
 * rule: H9
 */
#include <redlock/recipes.h>

#include "scene.h"

#define TTL     20000
#define DELAY   200 /* ms, of each answer and push */
#define BREAKS  9
#define MASTERS 4

static struct user holds, breaks;

static void hear_wish(redlock_heeder *heeder, const redlock_wish *wish, void *data)
{
    (void)heeder, (void)wish;
    ++*(unsigned *)data;
}

static bool tell(const char *observers)
{
    return cluster_answering(&scene.cluster, 1, "ZCARD %s", observers) == scene.cluster.count &&
           user_is_quiet(&holds);
}

/* `wishes` counts them; NULL: it hears of none.  All masters push from now on. */
static redlock_heeder *hold_and_hear(struct take *take, redlock_mode mode, unsigned *wishes)
{
    redlock_heeder *heeder;
    redlock_lease_options terms = lease_terms(TTL, 0);
    terms.mode = mode;
    assert_code(take_lock(take, &holds, "name", &terms), REDLOCK_OK);
    assert_code(redlock_heed(take->lease, &heeder, wishes ? hear_wish : NULL, wishes), REDLOCK_OK);
    for (unsigned i = 0; i < scene.cluster.count; i++)
        AWAIT(&holds, scene_subscriptions(&scene, i, "holds"));
    AWAIT(&holds, tell(wishes ? "redlock:observers:redlock:wish:name"
                              : "redlock:observers:redlock:taken:name"));
    return heeder;
}

static void begin_break(struct take *by, const struct take *holder)
{
    redlock_name name = redlock_name_of("name");
    take_init(by, &breaks);
    assert_code(redlock_release_token(breaks.client, &by->lease, &name, 1,
                                      redlock_lease_token(holder->lease), take_hear, by),
                REDLOCK_OK);
}

static void end_break(struct take *by)
{
    AWAIT(&breaks, by->told[REDLOCK_RELEASED].times);
    redlock_lease_free(by->lease);
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The time from the call that breaks it to LOST. */
static int64_t time_a_break(redlock_mode mode, unsigned *wishes)
{
    struct take holder, by;
    redlock_heeder *heeder = hold_and_hear(&holder, mode, wishes);
    for (unsigned i = 0; i < scene.cluster.count; i++)
        proxy_delay(scene.roads[i], DELAY);
    int64_t since = now_us();
    begin_break(&by, &holder);
    AWAIT(&holds, holder.told[REDLOCK_LOST].times);
    for (unsigned i = 0; i < scene.cluster.count; i++)
        proxy_delay(scene.roads[i], 0);
    assert_code(holder.told[REDLOCK_LOST].event.code, REDLOCK_E_GONE);
    assert_int_equal(holder.told[REDLOCK_EXTENDED].times, 0);
    end_break(&by);
    redlock_heeder_free(heeder);
    take_free(&holder);
    AWAIT(&holds, user_is_quiet(&holds));
    return holder.told[REDLOCK_LOST].at_us - since;
}

/* One is to the master and on to the holder: the proxy delays what comes from a master.  The other
 * one is that of the renewal.  A busy machine only adds to the way, so the shortest one counts. */
static void time_breaks(redlock_mode mode, unsigned *wishes)
{
    int64_t took[BREAKS];
    scene_enter(&scene, &holds, "holds", 7);
    scene_enter(&scene, &breaks, "breaks", 7);
    for (unsigned i = 0; i < BREAKS; i++)
        took[i] = time_a_break(mode, wishes);
    qsort(took, BREAKS, sizeof *took, by_size);
    print_message("    from the break to LOST: median %.2f ms, %.2f of a round trip of %d ms\n",
                  (double)took[BREAKS / 2] / 1000, (double)took[BREAKS / 2] / 1000 / DELAY, DELAY);
    assert_true(took[0] <= (2 * DELAY + DELAY / 4) * 1000);
    scene_leave(&breaks);
    scene_leave(&holds);
}

SCENE(test_a_holder_that_heeds_loses_a_broken_lock_within_two_round_trips, .masters = 3)
{
    unsigned wishes = 0;
    time_breaks(REDLOCK_EXCLUSIVE, &wishes);
    assert_int_equal(wishes, 0);
}

SCENE(test_and_so_does_one_that_hears_of_no_wishes, .masters = 3)
{
    time_breaks(REDLOCK_EXCLUSIVE, NULL);
}

SCENE(test_and_so_does_a_reader, .masters = 3)
{
    time_breaks(REDLOCK_SHARED, NULL);
}

/* ---- A word alone ------------------------------------------------------------------ */

static void publish(unsigned master, const char *left, const char *record)
{
    redisReply *heeders =
        cluster_ask(&scene.cluster, master, "ZRANGE redlock:observers:redlock:wish:name 0 -1");
    char message[256];
    assert_true(heeders && heeders->elements == 1);
    snprintf(message, sizeof message, "said 17 redlock:wish:name %s %s", left, record);
    cluster_tell(&scene.cluster, master, "PUBLISH %s %s", heeders->element[0]->str, message);
    freeReplyObject(heeders);
}

static void say_taken(unsigned master, const char *token)
{
    char record[160];
    snprintf(record, sizeof record, "1 1 %s taken", token);
    publish(master, "1", record);
}

/* The holder has heard what each of the liars said before this, too. */
static void await_pushes(unsigned liars, unsigned spare, const char *token, const unsigned *wishes)
{
    char record[160];
    for (unsigned k = 0; k < liars; k++)
        for (unsigned i = 0; i <= spare; i++) {
            snprintf(record, sizeof record, "%u 1 %s web-3 please", 1U << 30 | k, token);
            publish(k + i, "15000", record);
        }
    AWAIT(&holds, *wishes == liars);
}

/* Masters say again and again that the lock was broken, and it was not. */
static void lie(unsigned liars, unsigned spare, uint64_t renewals_due)
{
    struct take holder;
    unsigned wishes = 0;
    redlock_options options = scene_options(&scene);
    options.spare = (int)spare;
    options.label = "holds";
    scene_join(&scene, &holds, 0, &options);
    redlock_heeder *heeder = hold_and_hear(&holder, REDLOCK_EXCLUSIVE, &wishes);
    const char *token = redlock_lease_token(holder.lease);
    uint64_t before = stats_of(&holds).renewals;
    int64_t since = now_us();
    for (unsigned i = 0; i < 20; i++)
        for (unsigned k = 0; k < liars; k++)
            say_taken(k, token);
    await_pushes(liars, spare, token, &wishes);
    AWAIT(&holds, user_is_quiet(&holds));
    uint64_t renewals = stats_of(&holds).renewals - before;
    uint64_t seconds = (uint64_t)(now_us() - since) / 1000000;
    assert_true(renewals >= renewals_due && renewals <= renewals_due + seconds);
    assert_int_equal(holder.told[REDLOCK_LOST].times, 0);
    assert_int_equal(cluster_holders(&scene.cluster, "name", token), MASTERS);
    redlock_heeder_free(heeder);
    assert_code(take_release(&holder), REDLOCK_OK);
    scene_leave(&holds);
}

SCENE(test_one_liar_does_not_make_a_holder_renew, .masters = MASTERS)
{
    lie(1, 0, 0);
}

SCENE(test_a_liar_for_whom_there_is_a_spare_vote_does_not, .masters = MASTERS)
{
    lie(1, 1, 0);
}

SCENE(test_the_word_of_all_makes_it_renew_at_once_and_once_a_second, .masters = MASTERS)
{
    lie(MASTERS, 0, 1);
}

PROGRAM()
