/*
 * Wishes on real masters: asking a holder, heeding, and how long a wish is on its way.
 * rule: H1, H2, H6, H8
 */
#include <redlock/recipes.h>

#include "pair.h"
#include "scene.h"

#define MASTERS 5
#define TTL     20000
#define DELAY   60 /* ms, of each answer and push */
#define WISHES  25

struct heard {
    redlock_heeder *heeder;
    unsigned times, pleases;
    unsigned waiting;
    char who[80], text[210];
    int64_t at_us;
};

struct answer {
    unsigned times;
    redlock_asked asked;
};

static void hear_wish(redlock_heeder *heeder, const redlock_wish *wish, void *data)
{
    struct heard *heard = data;
    assert_ptr_equal(heeder, heard->heeder);
    heard->times++;
    heard->pleases += strcmp(wish->text, "please") == 0;
    heard->waiting = wish->waiting;
    heard->at_us = now_us();
    snprintf(heard->who, sizeof heard->who, "%s", wish->who);
    snprintf(heard->text, sizeof heard->text, "%s", wish->text);
}

static void hear_answer(redlock_asker *asker, const redlock_asked *asked, void *data)
{
    struct answer *answer = data;
    (void)asker;
    answer->times++;
    answer->asked = *asked;
}

static redlock_code ask(struct user *user, const char *name, const char *text,
                        struct answer *answer)
{
    redlock_ask_options options = {.size = sizeof options, .text = text, .timeout_ms = 10000};
    redlock_asker *asker;
    memset(answer, 0, sizeof *answer);
    redlock_code code = redlock_ask(user->client, &asker, name, &options, hear_answer, answer);
    assert_int_equal(answer->times, 0);
    if (code)
        return code;
    AWAIT(user, answer->times);
    redlock_asker_free(asker);
    return answer->asked.code;
}

/* Wishes for the name reach it from now on.  One that comes within a round trip of the call may be
 * left out, as if it were older. */
static void heed(struct heard *heard, struct take *take)
{
    struct answer answer;
    int64_t until = now_us() + 10000000;
    memset(heard, 0, sizeof *heard);
    assert_code(redlock_heed(take->lease, &heard->heeder, hear_wish, heard), REDLOCK_OK);
    do {
        assert_code(ask(&theirs, "name", "are you there?", &answer), REDLOCK_OK);
        assert_true(now_us() < until);
    } while (!heard->times);
}

CASE_WITH(test_a_holder_hears_who_asks_and_why, pair_join, pair_leave)
{
    struct take holder;
    struct heard heard;
    struct answer answer;
    redlock_lease_options terms = lease_terms(TTL, 0);
    assert_code(take_lock(&holder, &ours, "name", &terms), REDLOCK_OK);
    heed(&heard, &holder);
    assert_code(ask(&theirs, "name", "please", &answer), REDLOCK_OK);
    assert_string_equal(answer.asked.holder, redlock_lease_token(holder.lease));
    assert_int_equal(answer.asked.waiting, 0);
    assert_int_equal(answer.asked.masters, MASTERS);
    AWAIT(&ours, heard.pleases);
    assert_int_equal(heard.waiting, 0);
    assert_code(ask(&theirs, "name", "again", &answer), REDLOCK_OK);
    AWAIT(&ours, strcmp(heard.text, "again") == 0);
    assert_int_equal(heard.pleases, 1);
    redlock_heeder_free(heard.heeder);
    assert_code(take_release(&holder), REDLOCK_OK);
    AWAIT(&ours, cluster_holders(&cluster, "name", NULL) == 0); /* a quorum has released it */
    assert_code(ask(&theirs, "name", NULL, &answer), REDLOCK_E_GONE);
    assert_string_equal(answer.asked.holder, "");
}

CASE_WITH(test_the_next_holder_hears_no_old_wish, pair_join, pair_leave)
{
    struct take holder;
    struct heard heard;
    struct answer answer;
    redlock_lease_options terms = lease_terms(TTL, 0);
    assert_code(take_lock(&holder, &ours, "name", &terms), REDLOCK_OK);
    assert_code(ask(&theirs, "name", "old", &answer), REDLOCK_OK);
    assert_code(take_release(&holder), REDLOCK_OK);
    assert_code(take_lock(&holder, &ours, "name", &terms), REDLOCK_OK);
    heed(&heard, &holder);
    assert_string_equal(heard.text, "are you there?");
    redlock_heeder_free(heard.heeder);
    assert_code(take_release(&holder), REDLOCK_OK);
}

CASE_WITH(test_what_is_refused, pair_join, pair_leave)
{
    struct take lease;
    struct answer answer;
    struct heard heard;
    char text[202];
    redlock_asker *asker;
    redlock_ask_options options = {.size = sizeof options, .again = true, .timeout_ms = 5};
    redlock_lease_options terms = lease_terms(TTL, 0);
    memset(text, 'x', 201);
    text[201] = '\0';
    assert_code(ask(&ours, "name", text, &answer), REDLOCK_E_ARGUMENT);
    assert_says(redlock_last_error(ours.client), "at most 200 bytes, not 201");
    assert_code(ask(&ours, "name", "a\nb", &answer), REDLOCK_E_ARGUMENT);
    assert_says(redlock_last_error(ours.client), "byte 2 is one");
    assert_code(ask(&ours, "", "", &answer), REDLOCK_E_NAME);
    assert_code(redlock_ask(ours.client, &asker, "name", &options, hear_answer, &answer),
                REDLOCK_E_ARGUMENT);
    options.size = 1;
    assert_code(redlock_ask(ours.client, &asker, "name", &options, hear_answer, &answer),
                REDLOCK_E_ARGUMENT);
    terms.mode = REDLOCK_SHARED;
    assert_code(take_lock(&lease, &ours, "name", &terms), REDLOCK_OK);
    assert_code(redlock_heed(lease.lease, &heard.heeder, hear_wish, &heard), REDLOCK_E_STATE);
    assert_code(ask(&theirs, "name", "", &answer), REDLOCK_OK);
    assert_string_equal(answer.asked.holder, REDLOCK_READERS);
    assert_int_equal(answer.asked.heard, 0);
    assert_code(take_release(&lease), REDLOCK_OK);
}

CASE_WITH(test_a_waiter_asks_until_it_is_freed, pair_join, pair_leave)
{
    struct take holder;
    struct heard heard;
    struct answer answer = {0};
    redlock_asker *asker;
    redlock_ask_options options = {.size = sizeof options, .text = "soon", .again = true};
    redlock_lease_options terms = lease_terms(TTL, 0);
    assert_code(redlock_ask(theirs.client, &asker, "name", &options, hear_answer, &answer),
                REDLOCK_OK);
    assert_code(take_lock(&holder, &ours, "name", &terms), REDLOCK_OK);
    assert_code(
        redlock_heed(holder.lease, &heard.heeder, hear_wish, memset(&heard, 0, sizeof heard)),
        REDLOCK_OK);
    AWAIT_MS(&ours, heard.times && answer.times, 20000); /* it asks again each 5 s */
    assert_string_equal(heard.text, "soon");
    assert_int_equal(heard.waiting, 1);
    assert_code(answer.asked.code, REDLOCK_OK);
    assert_int_equal(heard.times, 1);
    redlock_asker_free(asker);
    redlock_heeder_free(heard.heeder);
    assert_code(take_release(&holder), REDLOCK_OK);
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Half of one round trip to the master, half of one back: the proxy delays what comes from it. */
SCENE(test_a_wish_is_on_its_way_for_two_round_trips_at_most, .masters = 3)
{
    struct user holds, asks;
    struct take holder;
    struct heard heard = {0};
    struct answer answer;
    int64_t took[WISHES];
    redlock_lease_options terms = lease_terms(TTL, 0);
    scene_enter(&scene, &holds, "holds", 7);
    scene_enter(&scene, &asks, "asks", 7);
    for (unsigned i = 0; i < 3; i++)
        proxy_delay(scene.roads[i], DELAY);
    assert_code(take_lock(&holder, &holds, "name", &terms), REDLOCK_OK);
    assert_code(redlock_heed(holder.lease, &heard.heeder, hear_wish, &heard), REDLOCK_OK);
    AWAIT(&holds, scene_subscriptions(&scene, 0, "holds") &&
                      scene_subscriptions(&scene, 1, "holds") &&
                      scene_subscriptions(&scene, 2, "holds") && user_is_quiet(&holds));
    for (unsigned i = 0; i < WISHES; i++) {
        unsigned before = heard.times;
        int64_t since = now_us();
        assert_code(ask(&asks, "name", "now", &answer), REDLOCK_OK);
        AWAIT(&holds, heard.times > before);
        took[i] = heard.at_us - since;
        assert_string_equal(heard.who, "asks");
    }
    qsort(took, WISHES, sizeof *took, by_size);
    print_message("    from asking to WANTED: median %.2f ms, %.2f of a round trip of %d ms\n",
                  (double)took[WISHES / 2] / 1000, (double)took[WISHES / 2] / 1000 / DELAY, DELAY);
    assert_true(took[WISHES / 2] <= 2 * DELAY * 1000);
    for (unsigned i = 0; i < 3; i++)
        proxy_delay(scene.roads[i], 0);
    redlock_heeder_free(heard.heeder);
    assert_code(take_release(&holder), REDLOCK_OK);
    scene_leave(&asks);
    scene_leave(&holds);
}

PROGRAM(.masters = MASTERS)
