/*
 * A client is left for another one, of the next list: its heeders, watchers and askers go over.
 * rule: D9
 */
#include <redlock/recipes.h>

#include "relisted.h"

#define TTL         30000
#define PATIENCE_MS 20000 /* askers ask again each 5 s, where a master did not know the heeder */

struct heard {
    unsigned times;
    char text[210];
};

static void hear_wish(redlock_heeder *heeder, const redlock_wish *wish, void *data)
{
    struct heard *heard = data;
    (void)heeder;
    heard->times++;
    snprintf(heard->text, sizeof heard->text, "%s", wish->text);
}

static void hear_answer(redlock_asker *asker, const redlock_asked *asked, void *data)
{
    (void)asker, (void)asked;
    ++*(unsigned *)data;
}

static redlock_asker *ask(struct user *user, const char *name, const char *text, unsigned *answers)
{
    redlock_ask_options options = {.size = sizeof options, .text = text, .again = true};
    redlock_asker *asker;
    *answers = 0;
    assert_code(redlock_ask(user->client, &asker, name, &options, hear_answer, answers),
                REDLOCK_OK);
    return asker;
}

static redlock_heeder *hold_and_heed(struct take *take, struct user *user, const char *name,
                                     struct heard *heard)
{
    redlock_lease_options terms = lease_terms(TTL, 0);
    redlock_heeder *heeder;
    *heard = (struct heard){0};
    assert_code(take_lock(take, user, name, &terms), REDLOCK_OK);
    assert_code(redlock_heed(take->lease, &heeder, hear_wish, heard), REDLOCK_OK);
    return heeder;
}

SCENE(test_a_heeder_and_an_asker_go_over, .masters = MASTERS)
{
    struct take goes, stays;
    struct heard heard, of_other;
    unsigned told, told_other;
    relisted_begin();
    redlock_heeder *heeder = hold_and_heed(&goes, &former, "name", &heard);
    redlock_asker *asker = ask(&former, "free", "soon", &told);
    relisted_ask();
    relisted_leave();
    redlock_asker *asks = ask(&other, "name", "please", &told_other);
    AWAIT_MS(&next, heard.times && told_other, PATIENCE_MS);
    assert_string_equal(heard.text, "please");
    redlock_heeder *heeds = hold_and_heed(&stays, &other, "free", &of_other);
    AWAIT_MS(&next, of_other.times && told, PATIENCE_MS);
    assert_string_equal(of_other.text, "soon");
    redlock_asker_free(asker);
    redlock_asker_free(asks);
    redlock_heeder_free(heeder);
    redlock_heeder_free(heeds);
    assert_int_equal(heard.times, 1);
    assert_int_equal(of_other.times, 1);
    goes.user = &next;
    assert_code(take_release(&goes), REDLOCK_OK);
    assert_code(take_release(&stays), REDLOCK_OK);
    relisted_end();
}

/* Masters of the next list that keep a wish for "free". */
static unsigned keepers(const char *command)
{
    unsigned count = 0;
    for (unsigned i = 1; i < MASTERS; i++) {
        redisReply *reply =
            cluster_ask(&scene.cluster, i, "%s redlock:leader:redlock:wish:free", command);
        assert_non_null(reply);
        count += reply->integer != 0;
        freeReplyObject(reply);
    }
    return count;
}

/* Its asker came over from the former client, and asks on while the next one holds the name.
 * rule: H7 */
SCENE(test_a_wish_of_the_former_client_is_our_own, .masters = MASTERS)
{
    struct take take;
    struct heard heard;
    unsigned told, told_other;
    relisted_begin();
    redlock_asker *asker = ask(&former, "free", "ours", &told);
    relisted_ask();
    relisted_leave();
    redlock_heeder *heeder = hold_and_heed(&take, &next, "free", &heard);
    AWAIT_MS(&next, told, PATIENCE_MS);
    keepers("DEL");
    AWAIT_MS(&next, keepers("EXISTS") == MASTERS - 1, PATIENCE_MS);
    redlock_asker *asks = ask(&other, "free", "theirs", &told_other);
    AWAIT_MS(&next, heard.times, PATIENCE_MS);
    assert_string_equal(heard.text, "theirs");
    redlock_asker_free(asker);
    redlock_asker_free(asks);
    redlock_heeder_free(heeder);
    assert_code(take_release(&take), REDLOCK_OK);
    relisted_end();
}

/* The channel to which a master tells of a break of "name"; "": there is none, or several. */
static void find_watcher(unsigned master, char channel[64])
{
    redisReply *found =
        cluster_ask(&scene.cluster, master, "ZRANGE redlock:observers:redlock:taken:name 0 -1");
    assert_non_null(found);
    snprintf(channel, 64, "%s", found->elements == 1 ? found->element[0]->str : "");
    freeReplyObject(found);
}

static bool is_watched(const char *formerly)
{
    bool is = user_is_quiet(&next);
    for (unsigned i = 1; i < MASTERS; i++) {
        char channel[64];
        find_watcher(i, channel);
        is = is && channel[0] && strcmp(channel, formerly) != 0;
    }
    return is;
}

/* Its lease went over, and its next renewal is 10 s away.
 * rule: H9 */
SCENE(test_a_watcher_goes_over, .masters = MASTERS)
{
    struct take goes, breaks;
    redlock_heeder *watcher;
    redlock_name name = redlock_name_of("name");
    redlock_lease_options terms = lease_terms(TTL, 0);
    char channel[64] = "";
    relisted_begin();
    assert_code(take_lock(&goes, &former, "name", &terms), REDLOCK_OK);
    assert_code(redlock_heed(goes.lease, &watcher, NULL, NULL), REDLOCK_OK);
    AWAIT(&former, (find_watcher(1, channel), channel[0]));
    relisted_ask();
    relisted_leave();
    AWAIT_MS(&next, is_watched(channel), PATIENCE_MS);
    take_init(&breaks, &other);
    int64_t since = now_us();
    assert_code(redlock_release_token(other.client, &breaks.lease, &name, 1,
                                      redlock_lease_token(goes.lease), take_hear, &breaks),
                REDLOCK_OK);
    AWAIT(&next, goes.told[REDLOCK_LOST].times);
    assert_true(goes.told[REDLOCK_LOST].at_us - since < INT64_C(5000000));
    AWAIT(&other, breaks.told[REDLOCK_RELEASED].times);
    redlock_lease_free(breaks.lease);
    redlock_heeder_free(watcher);
    take_free(&goes);
    relisted_end();
}

PROGRAM(.masters = 0)
