/*
 * Many looks at once: a client asks for some at a time, for one where the masters take long, and
 * each ends once, is freed, or ends with the client.  And what a look tells, by its own options.
 * rule: N1, N2
 */
#include "fixture.h"
#include "liar.h"
#include "user.h"

#define LOOKS   400
#define AT_ONCE 8

struct look {
    redlock_look *handle;
    unsigned told;
    redlock_code code;
};

static struct look looks[LOOKS];
static unsigned told, told_well;

static unsigned most_in_flight(void)
{
    unsigned most = 0;
    for (unsigned i = 0; i < cluster.count; i++)
        most = node_of(&user, i).in_flight > most ? node_of(&user, i).in_flight : most;
    return most;
}

static unsigned least_in_flight(void)
{
    unsigned least = LOOKS;
    for (unsigned i = 0; i < cluster.count; i++)
        least = node_of(&user, i).in_flight < least ? node_of(&user, i).in_flight : least;
    return least;
}

static void on_seen(redlock_look *handle, const redlock_look_result *result, void *data)
{
    struct look *look = data;
    assert_ptr_equal(handle, look->handle);
    look->code = result->code;
    look->told++;
    told++;
    told_well += result->code == REDLOCK_OK;
}

static void begin(struct look *look)
{
    char text[16];
    int length = snprintf(text, sizeof text, "look-%u", (unsigned)(look - looks));
    redlock_name name = {.size = sizeof(redlock_name), .bytes = text, .length = (size_t)length};
    *look = (struct look){0};
    assert_code(redlock_look_begin(user.client, &look->handle, &name, 1, NULL, on_seen, look),
                REDLOCK_OK);
}

static void begin_all(void)
{
    told = told_well = 0;
    for (unsigned i = 0; i < LOOKS; i++)
        begin(&looks[i]);
}

static void drop(struct look *look)
{
    redlock_look_free(look->handle);
    look->handle = NULL;
}

static void drop_all(void)
{
    for (unsigned i = 0; i < LOOKS; i++)
        drop(&looks[i]);
}

static void end_all_well(void)
{
    cluster_do(&cluster, "resume 1 2 3");
    AWAIT(&user, told == LOOKS);
    assert_int_equal(told_well, LOOKS);
    drop_all();
}

/* Returns the number of those under way, which no master answers for now. */
static unsigned begin_all_paused(void)
{
    AWAIT(&user, user_is_quiet(&user)); /* its list is said */
    cluster_do(&cluster, "pause 1 2 3");
    begin_all();
    AWAIT(&user, least_in_flight() > 0);
    return most_in_flight();
}

/* Looks that begin after cheap ones; a busy machine may have made the last ones dear. */
static unsigned begin_all_paused_together(void)
{
    int64_t end = now_us() + 10000000;
    while (now_us() < end) {
        begin_all();
        end_all_well();
        unsigned under_way = begin_all_paused();
        if (under_way > 1)
            return under_way;
        end_all_well();
    }
    fail_msg("each look goes alone");
    return 0;
}

/* How dear they are is not known before. */
CASE(test_the_first_goes_alone)
{
    assert_int_equal(begin_all_paused(), 1);
    end_all_well();
}

CASE(test_alone_after_dear_ones)
{
    unsigned under_way = begin_all_paused_together();
    assert_in_range(under_way, 2, AT_ONCE);
    int64_t dear = now_us() + 20000;
    AWAIT(&user, now_us() > dear);
    cluster_do(&cluster, "resume 1 2 3");
    AWAIT(&user, told >= under_way);
    assert_in_range(most_in_flight(), 0, 3);
    end_all_well();
}

/* That one of many was late says little. */
CASE(test_again_and_alone)
{
    redlock_options options = {.size = sizeof(redlock_options)};
    options.request_timeout_ms = 1000;
    user_end(&user, 1000);
    user_begin(&user, user.loop, cluster.nodes, &options);
    AWAIT(&user, user.ready);
    begin_all_paused_together();
    AWAIT(&user, stats_of(&user).timeouts > 0);
    end_all_well();
}

/* The looks under way report nothing any more, and the next ones have their turn. */
CASE(test_freed_ones_make_room)
{
    begin_all();
    user_step(&user, now_us() + 1000000);
    for (unsigned i = 0; i < LOOKS; i++)
        if (i % 10)
            drop(&looks[i]);
    AWAIT(&user, told == LOOKS / 10);
    AWAIT(&user, user_is_quiet(&user));
    for (unsigned i = 0; i < LOOKS; i += 10)
        assert_int_equal(looks[i].told, 1);
    drop_all();
    begin_all();
    user_step(&user, now_us() + 1000000);
    drop_all();
    begin(&looks[0]);
    AWAIT(&user, looks[0].told);
    drop(&looks[0]);
}

/* Also those that still wait for their turn. */
CASE(test_closing_ends_all)
{
    begin_all();
    user_step(&user, now_us() + 1000000);
    assert_in_range(told, 0, LOOKS - 1);
    user_end(&user, 1000);
    assert_int_equal(told, LOOKS);
    for (unsigned i = 0; i < LOOKS; i++)
        assert_int_equal(looks[i].told, 1);
    assert_code(looks[LOOKS - 1].code, REDLOCK_E_CLOSED);
    user_join(&user, user.loop, &cluster);
}

/* ---- reports ------------------------------------------------------------------ */

#define READERS 20

/* The expected answer of a look, and the number of its reports. */
struct told_crowds {
    redlock_look *look;
    const char *waits; /* the first waiter; NULL: none */
    size_t tokens;     /* told of each crowd, at most */
    unsigned waiting, reading, permits, out;
    unsigned times, timeouts, unheard;
};

static void assert_crowd(const redlock_crowd *crowd, unsigned count, size_t most)
{
    assert_int_equal(crowd->count, count);
    assert_int_equal(crowd->told, count < most ? count : most);
    for (size_t i = 0; i < crowd->told; i++) {
        assert_true(strlen(crowd->tokens[i]) > 22 && !strchr(crowd->tokens[i], '\n'));
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(crowd->tokens[i], crowd->tokens[j]);
    }
}

static void on_crowds(redlock_look *look, const redlock_look_result *result, void *data)
{
    struct told_crowds *told = data;
    assert_ptr_equal(look, told->look);
    assert_int_equal(result->size, sizeof *result);
    told->times++;
    for (unsigned i = 0; i < result->masters; i++) {
        const redlock_view *view = result->views[i];
        told->timeouts += view->kind == REDLOCK_VOTE_TIMEOUT;
        told->unheard += view->kind == REDLOCK_VOTE_NONE;
        if (view->kind != REDLOCK_VOTE_HELD)
            continue;
        assert_crowd(&view->waiters, told->waiting, told->tokens);
        assert_crowd(&view->readers, told->reading, told->tokens);
        assert_crowd(&view->permits_out, told->out, told->tokens);
        assert_int_equal(view->permits, told->permits);
        if (told->waits)
            assert_string_equal(view->waiters.tokens[0], told->waits);
    }
}

static void look_crowds(struct told_crowds *told, const char *name, int tokens, bool all_answers)
{
    redlock_name one = redlock_name_of(name);
    redlock_look_options options = {
        .size = sizeof options, .tokens = tokens, .all_answers = all_answers};
    told->tokens = tokens ? (size_t)tokens : 16;
    assert_code(redlock_look_begin(user.client, &told->look, &one, 1, &options, on_crowds, told),
                REDLOCK_OK);
}

static void end_crowds(struct told_crowds *told)
{
    AWAIT(&user, told->times);
    redlock_look_free(told->look);
}

/* Two looks of one client at one time, with other options. */
CASE(test_each_look_has_its_own_number_of_tokens)
{
    static struct take readers[READERS], writer;
    redlock_lease_options terms = lease_terms(20000, 0), waits = lease_terms(20000, 20000);
    terms.mode = REDLOCK_SHARED;
    for (unsigned i = 0; i < READERS; i++)
        assert_code(take_lock(&readers[i], &user, "crowd", &terms), REDLOCK_OK);
    take_ask(&writer, &user, "crowd", &waits);
    AWAIT(&user, cluster_answering(&cluster, 1, "ZCARD redlock:queue:crowd") == cluster.count);
    AWAIT(&user, user_is_quiet(&user));
    const char *waits_first = redlock_lease_token(writer.lease);
    struct told_crowds few = {.reading = READERS, .waiting = 1, .waits = waits_first}, more = few;
    look_crowds(&few, "crowd", 3, true);
    look_crowds(&more, "crowd", 0, true);
    end_crowds(&few);
    end_crowds(&more);
    for (unsigned i = 0; i < READERS; i++)
        take_free(&readers[i]);
    AWAIT(&user, has(&writer));
    take_free(&writer);
}

CASE(test_all_answers_are_waited_for_by_the_look_that_wants_them)
{
    struct told_crowds quorum = {0}, all = {0};
    cluster_do(&cluster, "pause 3");
    look_crowds(&all, "nobody's", 0, true);
    end_crowds(&all);
    assert_int_equal(all.timeouts, 1);
    assert_int_equal(all.unheard, 0);
    cluster_do(&cluster, "resume 3");
    AWAIT(&user, user_all_up(&user) && user_is_quiet(&user));
    cluster_do(&cluster, "pause 3");
    look_crowds(&quorum, "nobody's", 0, false);
    end_crowds(&quorum);
    assert_int_equal(quorum.unheard, 1);
    cluster_do(&cluster, "resume 3");
    AWAIT(&user, user_is_quiet(&user));
}

/* The permit with the slot has a token, as a name has. */
CASE(test_a_slot_is_looked_at_like_a_name)
{
    struct take out;
    struct seen seen = {.user = &user};
    unsigned named = 0;
    redlock_lease_options terms = lease_terms(20000, 0);
    redlock_name slot = NAME("slots");
    terms.permits = 2;
    assert_code(take_lock(&out, &user, "slots", &terms), REDLOCK_OK);
    AWAIT(&user, user_is_quiet(&user));
    slot.mode = REDLOCK_SLOT;
    slot.slot = redlock_lease_slot(out.lease);
    assert_code(redlock_look_begin(user.client, &seen.look, &slot, 1, NULL, look_hear, &seen),
                REDLOCK_OK);
    AWAIT(&user, seen.times);
    assert_code(seen.result.code, REDLOCK_OK);
    assert_true(seen.result.agreed >= 2);
    for (unsigned i = 0; i < cluster.count; i++) /* one of them may have had another slot free */
        named += strcmp(seen.votes[i].holder, redlock_lease_token(out.lease)) == 0;
    assert_true(named >= 2);
    redlock_look_free(seen.look);
    take_free(&out);
}

static void count_waiters(redlock_look *look, const redlock_look_result *result, void *data)
{
    (void)look;
    *(size_t *)data = result->views[0]->waiters.told;
}

static size_t waiters_told(struct user *user, int tokens)
{
    redlock_name name = NAME("name");
    redlock_look_options options = {.size = sizeof options, .tokens = tokens};
    redlock_look *look;
    size_t count = 0;
    assert_code(redlock_look_begin(user->client, &look, &name, 1, &options, count_waiters, &count),
                REDLOCK_OK);
    AWAIT(user, count);
    redlock_look_free(look);
    return count;
}

/* A program may have room for as many as it asked for. */
CASE(test_a_master_that_tells_too_many_tokens)
{
    static const struct lie twenty_of_18 = {
        AT_REQUEST,
        "*4\r\n$1\r\nh\r\n:9000\r\n:18\r\n$39\r\n"
        "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn\no\np\nq\nr\ns\nt\r\n",
        0, THEN_SERVE};
    struct liar *liar = liar_start(&twenty_of_18);
    struct user other;
    char node[64];
    snprintf(node, sizeof node, "%s://127.0.0.1:%d", cluster_scheme(), liar_port(liar));
    user_open(&other, NULL,
              &(redlock_options){.size = sizeof(redlock_options), .nodes = node, .fleet = ""});
    assert_int_equal(waiters_told(&other, 2), 2);
    assert_int_equal(waiters_told(&other, 0), 16);
    assert_int_equal(waiters_told(&other, REDLOCK_TOKENS_TOLD_MAX), 18);
    user_close(&other, 0);
    liar_stop(liar);
}

static void refuse_options(const redlock_look_options *options, const char *says)
{
    redlock_name name = NAME("never");
    redlock_look *look = (redlock_look *)(void *)&name;
    assert_code(redlock_look_begin(user.client, &look, &name, 1, options, on_seen, NULL),
                REDLOCK_E_ARGUMENT);
    assert_null(look);
    assert_says(redlock_last_error(user.client), says);
}

CASE(test_wrong_calls)
{
    static const int wrong[] = {-1, REDLOCK_TOKENS_TOLD_MAX + 1, INT32_MAX, INT32_MIN};
    redlock_look_options options = {.size = sizeof options};
    redlock_name name = NAME("never");
    redlock_look *look;
    for (unsigned i = 0; i < COUNT(wrong); i++) {
        options.tokens = wrong[i];
        refuse_options(&options, "tokens is ");
    }
    options.tokens = 0;
    memset(&options.all_answers, 0x5a, 1);
    refuse_options(&options, "all_answers is neither true nor false");
    refuse_options(&(redlock_look_options){0}, "redlock_look_options.size is 0");
    refuse_options(&(redlock_look_options){.size = sizeof options + 8}, "redlock_look_options");
    assert_code(redlock_look_begin(NULL, &look, &name, 1, NULL, on_seen, NULL), REDLOCK_E_ARGUMENT);
    assert_null(look);
    assert_code(redlock_look_begin(user.client, NULL, &name, 1, NULL, on_seen, NULL),
                REDLOCK_E_ARGUMENT);
    assert_code(redlock_look_begin(user.client, &look, &name, 1, NULL, NULL, NULL),
                REDLOCK_E_ARGUMENT);
    assert_code(redlock_look_begin(user.client, &look, &name, 0, NULL, on_seen, NULL),
                REDLOCK_E_NAME);
    redlock_name two[] = {NAME("never"), NAME("pool")};
    two[1].mode = REDLOCK_SLOT;
    assert_code(redlock_look_begin(user.client, &look, two, 2, NULL, on_seen, NULL),
                REDLOCK_E_ARGUMENT);
    assert_says(redlock_last_error(user.client), "a slot is of one name");
    redlock_look_free(NULL);
}

PROGRAM(.masters = 3, .has_user = true)
