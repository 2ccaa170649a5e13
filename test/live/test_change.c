/*
 * Held leases that change on real masters: a writer that becomes a reader, and the only reader that
 * becomes the writer.
 * rule: S16, S21
 */
#include "pair.h"

#define MASTERS 5
#define TTL     8000 /* a quarter of it is the longest that a busy master may take to answer */

/* No test leaves a key. */
static int leave_both(void **state)
{
    pair_leave(state);
    assert_int_equal(cluster_keys(&cluster), 0);
    return 0;
}

static redlock_lease_options terms_of(bool shared, int64_t wait_ms)
{
    redlock_lease_options terms = lease_terms(TTL, wait_ms);
    terms.mode = mode_of(shared);
    terms.fence = true;
    return terms;
}

static redlock_code lock(struct take *take, struct user *user, bool shared)
{
    redlock_lease_options terms = terms_of(shared, 0);
    return take_lock(take, user, "name", &terms);
}

static void wait_for(struct take *take, struct user *user, bool shared)
{
    redlock_place place = {.size = sizeof place};
    redlock_lease_options terms = terms_of(shared, REDLOCK_FOREVER);
    take_ask(take, user, "name", &terms);
    AWAIT(user, redlock_lease_place(take->lease, &place) == REDLOCK_OK);
}

static void downgrade(struct take *take)
{
    unsigned before = take->told[REDLOCK_CHANGED].times;
    assert_code(redlock_lease_downgrade(take->lease), REDLOCK_OK);
    assert_true(redlock_lease_is_shared(take->lease));
    AWAIT(take->user, take->told[REDLOCK_CHANGED].times > before);
    assert_true(redlock_lease_is_shared(take->lease));
}

/* The code of NOT_CHANGED; OK after CHANGED. */
static redlock_code upgrade(struct take *take)
{
    const struct told *yes = &take->told[REDLOCK_CHANGED], *no = &take->told[REDLOCK_NOT_CHANGED];
    unsigned before = yes->times + no->times, were = yes->times;
    assert_code(redlock_lease_upgrade(take->lease), REDLOCK_OK);
    assert_true(redlock_lease_is_shared(take->lease));
    AWAIT(take->user, yes->times + no->times > before);
    assert_int_equal(redlock_lease_is_shared(take->lease), yes->times == were);
    assert_true(redlock_lease_valid_for(take->lease) > 0);
    return yes->times > were ? REDLOCK_OK : no->event.code;
}

/* Masters on which the name has `readers` readers. */
static unsigned masters_with(long long readers)
{
    return cluster_answering(&cluster, readers, "ZCARD redlock:holders:name");
}

static unsigned marked(void)
{
    return cluster_holders(&cluster, "name", REDLOCK_READERS);
}

/* Every master has the marker, and the client knows it, before the test meddles with masters. */
static void await_all_marked(void)
{
    AWAIT(&ours, marked() == MASTERS && user_is_quiet(&ours));
}

/* ---- Downgrade ---- */

#define WITH_BOTH(name) CASE_WITH(name, pair_join, leave_both)

WITH_BOTH(test_a_writer_that_waits_stays_out)
{
    struct take writer, next, reader;
    assert_code(lock(&writer, &ours, false), REDLOCK_OK);
    wait_for(&next, &theirs, false);
    downgrade(&writer);
    assert_false(has(&next));
    assert_code(lock(&reader, &theirs, true), REDLOCK_E_HELD); /* behind the writer */
    take_free(&reader);
    assert_code(take_release(&writer), REDLOCK_OK);
    AWAIT(&theirs, has(&next));
    assert_code(take_release(&next), REDLOCK_OK);
}

/* ---- Upgrade ---- */

/* It is a reader all the time, and others can come in again. */
WITH_BOTH(test_not_beside_another_reader)
{
    struct take reader, other, third;
    assert_code(lock(&reader, &ours, true), REDLOCK_OK);
    assert_code(lock(&other, &theirs, true), REDLOCK_OK);
    AWAIT(&ours, masters_with(2) == MASTERS);
    assert_code(upgrade(&reader), REDLOCK_E_HELD);
    assert_non_null(strstr(reader.told[REDLOCK_NOT_CHANGED].text, "others read it"));
    assert_code(redlock_lease_detach(reader.lease), REDLOCK_E_STATE);
    assert_code(upgrade(&other), REDLOCK_E_HELD);
    AWAIT(&ours, marked() == MASTERS);
    assert_code(lock(&third, &theirs, true), REDLOCK_OK);
    assert_code(take_release(&third), REDLOCK_OK);
    assert_code(take_release(&other), REDLOCK_OK);
    assert_code(take_release(&reader), REDLOCK_OK);
}

/* Where the other reader has a minority only, a quorum says yes; and the rest is given up. */
WITH_BOTH(test_beside_a_reader_of_a_minority)
{
    NEEDS_SERVERS();
    struct take reader;
    redlock_lease_options terms = terms_of(true, 0);
    terms.fence = false; /* three masters do not vouch for the clocks of new ones */
    assert_code(take_lock(&reader, &ours, "name", &terms), REDLOCK_OK);
    await_all_marked();
    cluster_tell(&cluster, 0, "ZADD redlock:holders:name 99999999999999 somebody");
    cluster_tell(&cluster, 1, "ZADD redlock:holders:name 99999999999999 somebody");
    assert_code(upgrade(&reader), REDLOCK_OK);
    AWAIT(&ours, reader.told[REDLOCK_AT_RISK].times);
    AWAIT(&ours, cluster_holders(&cluster, "name", redlock_lease_token(reader.lease)) == 3);
    assert_code(take_release(&reader), REDLOCK_OK);
    cluster_tell(&cluster, 0, "DEL name redlock:holders:name");
    cluster_tell(&cluster, 1, "DEL name redlock:holders:name");
}

/* ---- The calls ---- */

WITH_BOTH(test_what_is_refused)
{
    struct take lease, none;
    redlock_lease_options terms = terms_of(true, REDLOCK_FOREVER);
    assert_code(lock(&lease, &ours, false), REDLOCK_OK);
    take_ask(&none, &theirs, "name", &terms);
    assert_code(redlock_lease_downgrade(none.lease), REDLOCK_E_STATE); /* not held yet */
    assert_code(redlock_lease_upgrade(none.lease), REDLOCK_E_STATE);
    take_free(&none);
    assert_code(redlock_lease_upgrade(lease.lease), REDLOCK_E_STATE); /* exclusive already */
    assert_code(redlock_lease_downgrade(lease.lease), REDLOCK_OK);
    assert_code(redlock_lease_downgrade(lease.lease), REDLOCK_E_STATE); /* under way */
    assert_code(redlock_lease_upgrade(lease.lease), REDLOCK_E_STATE);
    assert_code(redlock_lease_detach(lease.lease), REDLOCK_E_STATE);
    AWAIT(&ours, lease.told[REDLOCK_CHANGED].times);
    assert_code(redlock_lease_downgrade(lease.lease), REDLOCK_E_STATE); /* shared already */
    assert_code(redlock_lease_detach(lease.lease), REDLOCK_E_STATE);
    assert_code(redlock_lease_release(lease.lease), REDLOCK_OK);
    assert_code(redlock_lease_upgrade(lease.lease), REDLOCK_E_STATE);
    AWAIT(&ours, lease.told[REDLOCK_RELEASED].times);
    assert_code(redlock_lease_downgrade(lease.lease), REDLOCK_E_STATE);
    take_free(&lease);
    assert_false(redlock_lease_is_shared(NULL));
}

WITH_BOTH(test_attached_leases_are_not_upgraded)
{
    struct take first, second;
    char token[REDLOCK_TOKEN_SIZE];
    redlock_name name = SHARED_NAME("name");
    redlock_lease_options terms = lease_terms(TTL, 0);
    assert_code(lock(&first, &ours, true), REDLOCK_OK);
    snprintf(token, sizeof token, "%s", redlock_lease_token(first.lease));
    AWAIT(&ours, marked() == MASTERS);
    assert_code(redlock_lease_detach(first.lease), REDLOCK_OK);
    take_init(&second, &theirs);
    assert_code(
        redlock_attach(theirs.client, &second.lease, &name, 1, token, &terms, take_hear, &second),
        REDLOCK_OK);
    AWAIT(&theirs, has(&second));
    assert_code(redlock_lease_upgrade(second.lease), REDLOCK_E_STATE);
    assert_non_null(strstr(redlock_last_error(theirs.client), "taken over"));
    assert_code(take_release(&second), REDLOCK_OK);
}

PROGRAM(.masters = MASTERS)
