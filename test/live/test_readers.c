/*
 * Readers and writers as users of the library. Many wait, hands change keys, a reader stands still,
 * and tokens stand for leases.
 * rule: S4, S8, S11, S13
 */
#include "scene.h"

#define MASTERS   5
#define QUORUM    3
#define CLIENTS   8
#define READERS   200
#define MOST      10000
#define WITHIN_MS 2000
#define TTL       6000

static redlock_lease_options reading(int64_t ttl_ms, int64_t wait_ms)
{
    redlock_lease_options options = lease_terms(ttl_ms, wait_ms);
    options.mode = REDLOCK_SHARED;
    return options;
}

static void read_it(struct take *take, struct user *user)
{
    redlock_lease_options terms = reading(TTL, 0);
    assert_code(take_lock(take, user, "name", &terms), REDLOCK_OK);
}

static void tell_each(unsigned masters, const char *command)
{
    for (unsigned i = 0; i < masters; i++)
        cluster_tell(&cluster, i, command);
}

/* Masters on which the name has `readers` readers, the dead included. */
static unsigned masters_with(long long readers)
{
    return cluster_answering(&cluster, readers, "ZCARD redlock:holders:name");
}

static unsigned masters_on_which_wait(long long waiters)
{
    return cluster_answering(&cluster, waiters, "ZCARD redlock:queue:name");
}

/* ---- Many ---- */

static void assert_writer_stays_out(void)
{
    struct take take;
    assert_code(take_lock(&take, &user, "name", NULL), REDLOCK_E_HELD);
    take_free(&take);
}

/* Many leases, without the reports to each. */
struct crowd {
    redlock_lease *leases[MOST];
    unsigned count, told[KINDS];
};

static struct crowd crowd;

static void crowd_hear(redlock_lease *lease, const redlock_event *event, void *data)
{
    (void)lease, (void)data;
    crowd.told[event->kind]++;
}

static void crowd_ask(struct user *user, const redlock_lease_options *terms)
{
    assert_code(redlock_acquire(user->client, &crowd.leases[crowd.count++], "name", terms,
                                crowd_hear, NULL),
                REDLOCK_OK);
}

static void crowd_release(struct user *user)
{
    for (unsigned i = 0; i < crowd.count; i++)
        assert_code(redlock_lease_release(crowd.leases[i]), REDLOCK_OK);
    AWAIT(user, crowd.told[REDLOCK_RELEASED] == crowd.count);
    for (unsigned i = 0; i < crowd.count; i++)
        redlock_lease_free(crowd.leases[i]);
}

/* One script hands over to 64; the others come in with what the next scripts find. */
CASE(two_hundred_come_in_soon_behind_a_writer)
{
    struct take writer;
    struct user users[CLIENTS];
    struct ev_loop *loop = ev_loop_new(0);
    redlock_lease_options terms = reading(10000, REDLOCK_FOREVER);
    crowd = (struct crowd){.count = 0};
    for (unsigned i = 0; i < CLIENTS; i++) {
        user_begin(&users[i], loop, cluster.nodes, NULL);
        AWAIT(&users[i], users[i].ready);
    }
    assert_code(take_lock(&writer, &users[0], "name", NULL), REDLOCK_OK);
    for (unsigned i = 0; i < READERS; i++)
        crowd_ask(&users[i % CLIENTS], &terms);
    AWAIT(&users[0], masters_on_which_wait(READERS) == MASTERS);
    int64_t since = now_us();
    assert_code(redlock_lease_release(writer.lease), REDLOCK_OK);
    AWAIT_AWAKE_MS(&users[0], crowd.told[REDLOCK_ACQUIRED] == READERS, WITHIN_MS);
    print_message("    %d readers within %lld ms\n", READERS, (long long)(now_us() - since) / 1000);
    crowd_release(&users[0]);
    take_free(&writer);
    for (unsigned i = 0; i < CLIENTS; i++)
        assert_int_equal(user_end(&users[i], 10000), 0);
    ev_loop_destroy(loop);
    assert_int_equal(cluster_keys(&cluster), 0);
}

CASE(ten_thousand_readers_of_one_client)
{
    struct seen seen;
    redlock_lease_options terms = reading(20000, 0);
    int64_t since = now_us();
    crowd = (struct crowd){.count = 0};
    for (unsigned i = 0; i < MOST; i++)
        crowd_ask(&user, &terms);
    AWAIT_MS(&user, crowd.told[REDLOCK_ACQUIRED] == MOST, 60000);
    print_message("    %d readers in %lld ms\n", MOST, (long long)(now_us() - since) / 1000);
    AWAIT(&user, masters_with(MOST) == MASTERS);
    assert_writer_stays_out();
    look_at(&seen, &user, "name");
    assert_says(seen.text, "held by 10000 readers on");
    crowd_release(&user);
    AWAIT(&user, cluster_keys(&cluster) == 0);
}

/* ---- By token ---- */

static void attach(struct take *take, struct user *user, const char *token, bool shared)
{
    redlock_lease_options terms = lease_terms(TTL, 0);
    redlock_name name = {.size = sizeof(redlock_name)};
    name.bytes = "name";
    name.length = 4;
    name.mode = mode_of(shared);
    take_init(take, user);
    assert_code(
        redlock_attach(user->client, &take->lease, &name, 1, token, &terms, take_hear, take),
        REDLOCK_OK);
    AWAIT(user, take->outcomes);
}

static redlock_code release_token(struct user *user, const char *token, bool shared)
{
    struct take take;
    redlock_name name = redlock_name_of("name");
    name.mode = mode_of(shared);
    take_init(&take, user);
    assert_code(redlock_release_token(user->client, &take.lease, &name, 1, token, take_hear, &take),
                REDLOCK_OK);
    AWAIT(user, take.told[REDLOCK_RELEASED].times);
    take_free(&take);
    return take.told[REDLOCK_RELEASED].event.code;
}

/* Takes the name and lets go of it; the token. */
static void leave_to_others(char token[200], struct user *user, bool shared)
{
    struct take take;
    redlock_lease_options terms = lease_terms(20000, 0);
    terms.mode = mode_of(shared);
    assert_code(take_lock(&take, user, "name", &terms), REDLOCK_OK);
    snprintf(token, 200, "%s", redlock_lease_token(take.lease));
    assert_code(redlock_lease_detach(take.lease), REDLOCK_OK);
    AWAIT(user, cluster_holders(&cluster, "name", shared ? REDLOCK_READERS : token) == MASTERS);
}

CASE(a_reader_is_attached_as_a_reader)
{
    struct take take;
    char token[200];
    leave_to_others(token, &user, true);
    attach(&take, &user, token, false);
    assert_code(take.told[REDLOCK_NOT_ACQUIRED].event.code, REDLOCK_E_GONE);
    take_free(&take);
    AWAIT(&user, masters_with(1) == MASTERS);
    attach(&take, &user, token, true);
    assert_int_equal(take.told[REDLOCK_ACQUIRED].times, 1);
    assert_code(redlock_lease_extend(take.lease, 0), REDLOCK_OK);
    AWAIT(&user, take.told[REDLOCK_EXTENDED].times);
    assert_int_equal(masters_with(1), MASTERS);
    assert_code(take_release(&take), REDLOCK_OK);
    AWAIT(&user, cluster_keys(&cluster) == 0);
}

/* As a handover by an older client may leave a reader, too: it has the name alone. */
CASE(a_writer_that_is_attached_as_a_reader_stays_alone)
{
    struct take take, other;
    char token[200];
    redlock_lease_options terms = reading(TTL, 0);
    leave_to_others(token, &user, false);
    attach(&take, &user, token, true);
    assert_int_equal(take.told[REDLOCK_ACQUIRED].times, 1);
    assert_code(take_lock(&other, &user, "name", &terms), REDLOCK_E_HELD);
    take_free(&other);
    assert_int_equal(cluster_holders(&cluster, "name", token), MASTERS);
    assert_code(take_release(&take), REDLOCK_OK);
    AWAIT(&user, cluster_keys(&cluster) == 0);
}

CASE(a_release_by_token_needs_no_mode)
{
    char token[200];
    for (unsigned i = 0; i < 4; i++) {
        leave_to_others(token, &user, i & 1);
        assert_code(release_token(&user, token, i & 2), REDLOCK_OK);
        AWAIT(&user, cluster_keys(&cluster) == 0);
        assert_code(release_token(&user, token, i & 2), REDLOCK_E_GONE);
    }
}

CASE(the_marker_is_nobodys_token)
{
    struct take reader, take;
    const redlock_name name = SHARED_NAME("name");
    read_it(&reader, &user);
    take_init(&take, &user);
    assert_code(
        redlock_attach(user.client, &take.lease, &name, 1, REDLOCK_READERS, NULL, take_hear, &take),
        REDLOCK_E_ARGUMENT);
    assert_says(redlock_last_error(user.client), "is no token");
    assert_code(redlock_release_token(user.client, &take.lease, &name, 1, REDLOCK_READERS,
                                      take_hear, &take),
                REDLOCK_E_ARGUMENT);
    assert_null(take.lease);
    assert_code(take_release(&reader), REDLOCK_OK);
}

/* ---- Keys that somebody else has changed ---- */

/* On a minority, which both take again with their next renewals. */
CASE(readers_survive_that_a_key_is_deleted)
{
    static const char *const deletions[] = {"DEL redlock:holders:name", "DEL name",
                                            "DEL name redlock:holders:name"};
    struct take one, two;
    read_it(&one, &user);
    read_it(&two, &user);
    for (unsigned i = 0; i < COUNT(deletions); i++) {
        AWAIT(&user, masters_with(2) == MASTERS);
        tell_each(MASTERS - QUORUM, deletions[i]);
        assert_writer_stays_out();
        AWAIT(&user, masters_with(2) == MASTERS &&
                         cluster_holders(&cluster, "name", REDLOCK_READERS) == MASTERS);
    }
    assert_int_equal(one.told[REDLOCK_LOST].times + two.told[REDLOCK_LOST].times, 0);
    AWAIT(&user, stats_of(&user).heals >= COUNT(deletions) * 2 * (MASTERS - QUORUM));
    assert_code(take_release(&one), REDLOCK_OK);
    assert_code(take_release(&two), REDLOCK_OK);
}

/* As a lock that is deleted by hand on a quorum: each finds out with its next renewal. */
CASE(readers_that_a_quorum_forgot_are_lost)
{
    struct take one, two, writer;
    redlock_lease_options terms = lease_terms(TTL, REDLOCK_FOREVER);
    read_it(&one, &user);
    read_it(&two, &user);
    AWAIT(&user, masters_with(2) == MASTERS);
    tell_each(QUORUM, "DEL redlock:holders:name");
    take_ask(&writer, &user, "name", &terms);
    AWAIT(&user, one.told[REDLOCK_LOST].times && two.told[REDLOCK_LOST].times);
    assert_code(one.told[REDLOCK_LOST].event.code, REDLOCK_E_GONE);
    assert_code(two.told[REDLOCK_LOST].event.code, REDLOCK_E_GONE);
    assert_code(take_release(&one), REDLOCK_E_GONE);
    assert_code(take_release(&two), REDLOCK_E_GONE);
    AWAIT(&user, has(&writer));
    assert_code(take_release(&writer), REDLOCK_OK);
    AWAIT(&user, cluster_keys(&cluster) == 0);
}

/* ---- A reader that stands still ---- */

/* Its loop does not run. */
CASE(a_frozen_reader_ends_before_a_writer_comes_in)
{
    struct user frozen;
    struct take reader, lively, writer, late;
    redlock_lease_options terms = lease_terms(TTL, 10000);
    user_open(&frozen, &cluster, NULL);
    read_it(&reader, &frozen);
    read_it(&lively, &user);
    take_ask(&writer, &user, "name", &terms);
    AWAIT(&user, masters_on_which_wait(1) == MASTERS);
    AWAIT(&user, redlock_lease_valid_for(reader.lease) == 0);
    assert_false(has(&writer));
    assert_true(redlock_lease_valid_for(lively.lease) > 0);
    assert_code(take_release(&lively), REDLOCK_OK);
    AWAIT(&user, has(&writer));
    assert_int_equal(redlock_lease_valid_for(reader.lease), 0);
    assert_int_equal(reader.told[REDLOCK_LOST].times, 0);
    AWAIT(&frozen, reader.told[REDLOCK_LOST].times);
    terms = reading(TTL, 0);
    assert_code(take_lock(&late, &frozen, "name", &terms), REDLOCK_E_HELD);
    take_free(&late);
    assert_code(take_release(&reader), REDLOCK_E_GONE);
    assert_code(take_release(&writer), REDLOCK_OK);
    read_it(&late, &frozen);
    assert_code(take_release(&late), REDLOCK_OK);
    user_close(&frozen, 10000);
}

PROGRAM(.masters = MASTERS, .has_user = true)
