/*
 * The names that exist: each master reports its own, some keys at a time, and no more before the
 * user has seen them.
 * rule: N3
 */
#include "fixture.h"
#include "user.h"

#define NAMES   300
#define FOREIGN 2000

/* A survey, and its reports. */
struct sight {
    struct user *user;
    redlock_survey *survey;
    unsigned told, last, failed;
    unsigned free_after; /* the number of answers after which it is freed; 0: never */
    bool seen[REDLOCK_MASTERS_MAX][NAMES];
    unsigned unknown; /* names that nobody took */
    size_t most;      /* names in one answer */
    uint64_t looked_at[REDLOCK_MASTERS_MAX], keys[REDLOCK_MASTERS_MAX];
    unsigned in_flight; /* the most that a master owed at a report */
};

static void note_names(struct sight *sight, const redlock_survey_page *page)
{
    sight->most = page->count > sight->most ? page->count : sight->most;
    for (size_t i = 0; i < page->count; i++) {
        unsigned number = NAMES;
        char text[32] = "";
        assert_true(page->names[i]->length < sizeof text);
        memcpy(text, page->names[i]->bytes, page->names[i]->length);
        if (sscanf(text, "lock-%u", &number) == 1 && number < NAMES)
            sight->seen[page->node][number] = true;
        else
            sight->unknown++;
    }
}

static void on_found(redlock_survey *survey, const redlock_survey_page *page, void *data)
{
    struct sight *sight = data;
    assert_ptr_equal(survey, sight->survey);
    assert_true(page->looked_at >= sight->looked_at[page->node]);
    assert_true(page->looked_at <= page->keys || page->code);
    unsigned in_flight = node_of(sight->user, page->node).in_flight;
    sight->in_flight = in_flight > sight->in_flight ? in_flight : sight->in_flight;
    sight->looked_at[page->node] = page->looked_at;
    sight->keys[page->node] = page->keys;
    note_names(sight, page);
    sight->told++;
    sight->last += page->last;
    sight->failed += page->code != REDLOCK_OK;
    if (page->code)
        assert_true(page->last && page->text[0]);
    if (sight->told == sight->free_after) {
        redlock_survey_free(survey);
        sight->survey = NULL;
    }
}

static void begin(struct sight *sight, struct user *by)
{
    sight->user = by;
    assert_code(redlock_survey_begin(by->client, &sight->survey, NULL, on_found, sight),
                REDLOCK_OK);
}

/* Names that are held, among keys of other software. */
static void fill(unsigned master)
{
    freeReplyObject(cluster_ask(
        &cluster, master, "EVAL %s 0",
        "for i = 0, 299 do redis.call('set', 'lock-' .. i, string.rep('a', 21) .. 'A:me', 'px', "
        "30000) "
        "end for i = 1, 2000 do redis.call('set', 'data-' .. i, string.rep('b', 22) .. 'x') end"));
}

static void empty(unsigned master)
{
    freeReplyObject(
        cluster_ask(&cluster, master, "EVAL %s 0",
                    "for i = 0, 2000 do redis.call('del', 'lock-' .. i, 'data-' .. i) end"));
}

static unsigned count_seen(const struct sight *sight, unsigned master)
{
    unsigned count = 0;
    for (unsigned i = 0; i < NAMES; i++)
        count += sight->seen[master][i];
    return count;
}

CASE(test_all_names_in_small_steps)
{
    static struct sight sight;
    struct user user;
    user_open(&user, &cluster, NULL);
    fill(0);
    fill(2);
    sight = (struct sight){0};
    begin(&sight, &user);
    AWAIT(&user, sight.last == 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(count_seen(&sight, i), i == 1 ? 0 : NAMES);
        assert_true(sight.looked_at[i] == sight.keys[i]);
        assert_true(sight.keys[i] >= (i == 1 ? 1 : NAMES + FOREIGN));
    }
    assert_int_equal(sight.failed + sight.unknown, 0);
    assert_true(sight.told >= 2 * ((NAMES + FOREIGN) / 400));
    assert_true(sight.most < 400);
    assert_int_equal(sight.in_flight, 0); /* it asks each on after the report of its answer */
    redlock_survey_free(sight.survey);
    empty(0);
    empty(2);
    user_close(&user, 1000);
}

CASE(test_it_ends_when_its_user_wants)
{
    static struct sight sight;
    struct user user;
    user_open(&user, &cluster, NULL);
    fill(0);
    sight = (struct sight){.free_after = 3};
    begin(&sight, &user);
    AWAIT(&user, sight.told == 3 && user_is_quiet(&user));
    assert_int_equal(sight.told, 3);
    sight = (struct sight){0};
    begin(&sight, &user);
    empty(0);
    user_close(&user, 1000); /* nothing is owed to it */
}

static redlock_code release_slot(struct take *take, struct user *by, int slot, const char *token)
{
    redlock_name name = NAME("pool");
    name.mode = REDLOCK_SLOT;
    name.slot = slot;
    return redlock_release_token(by->client, &take->lease, &name, 1, token, take_hear, take);
}

CASE(test_wrong_calls)
{
    struct user user;
    struct sight sight = {0};
    struct take take;
    user_open(&user, &cluster, NULL);
    assert_code(redlock_survey_begin(user.client, NULL, NULL, on_found, &sight),
                REDLOCK_E_ARGUMENT);
    assert_code(redlock_survey_begin(user.client, &sight.survey, NULL, NULL, &sight),
                REDLOCK_E_ARGUMENT);
    assert_code(redlock_survey_begin(user.client, &sight.survey, &(redlock_survey_options){0},
                                     on_found, &sight),
                REDLOCK_E_ARGUMENT);
    assert_says(redlock_last_error(user.client), "redlock_survey_options.size is 0");
    redlock_survey_options foreign = {.size = sizeof foreign};
    memset(&foreign.foreign, 0x5a, 1);
    assert_code(redlock_survey_begin(user.client, &sight.survey, &foreign, on_found, &sight),
                REDLOCK_E_ARGUMENT);
    assert_says(redlock_last_error(user.client), "foreign is neither true nor false");
    assert_null(sight.survey);
    redlock_survey_free(NULL);
    static const int slots[] = {-1, REDLOCK_PERMITS_MAX, INT32_MAX, INT32_MIN};
    for (unsigned i = 0; i < COUNT(slots); i++)
        assert_code(release_slot(&take, &user, slots[i], "token"), REDLOCK_E_ARGUMENT);
    assert_says(redlock_last_error(user.client), "a slot is of one name, and 0 to 1023");
    assert_code(release_slot(&take, &user, 0, REDLOCK_READERS), REDLOCK_E_ARGUMENT);
    user_close(&user, 1000);
}

PROGRAM(.masters = 3)
