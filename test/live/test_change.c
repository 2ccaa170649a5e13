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

WITH_BOTH(test_readers_that_wait_come_in)
{
    struct take writer, reader, late;
    assert_code(lock(&writer, &ours, false), REDLOCK_OK);
    wait_for(&reader, &theirs, true);
    int64_t fence = redlock_lease_fence(writer.lease);
    downgrade(&writer);
    AWAIT(&theirs, has(&reader));
    assert_true(redlock_lease_valid_for(writer.lease) > 0);
    assert_int_equal(redlock_lease_fence(writer.lease), fence);
    assert_true(redlock_lease_fence(reader.lease) > fence);
    assert_code(lock(&late, &theirs, false), REDLOCK_E_HELD);
    take_free(&late);
    assert_code(take_release(&writer), REDLOCK_OK);
    assert_code(take_release(&reader), REDLOCK_OK);
}

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

/* A master that does not answer is converted when it does. */
WITH_BOTH(test_a_frozen_master_follows)
{
    struct take writer;
    assert_code(lock(&writer, &ours, false), REDLOCK_OK);
    AWAIT(&ours, cluster_holders(&cluster, "name", NULL) == MASTERS);
    cluster_do(&cluster, "pause 2");
    downgrade(&writer);
    cluster_do(&cluster, "resume 2");
    AWAIT(&ours, marked() == MASTERS);
    assert_code(take_release(&writer), REDLOCK_OK);
}

WITH_BOTH(test_several_names)
{
    struct take writer, reader;
    redlock_name names[] = {NAME("name"), SHARED_NAME("other")};
    redlock_lease_options terms = terms_of(false, 0);
    take_init(&writer, &ours);
    assert_code(
        redlock_acquire_names(ours.client, &writer.lease, names, 2, &terms, take_hear, &writer),
        REDLOCK_OK);
    AWAIT(&ours, has(&writer));
    assert_true(redlock_lease_is_shared(writer.lease));
    downgrade(&writer);
    assert_code(lock(&reader, &theirs, true), REDLOCK_OK);
    AWAIT(&ours, masters_with(2) == MASTERS);
    assert_code(upgrade(&writer), REDLOCK_E_HELD);
    assert_code(take_release(&reader), REDLOCK_OK);
    AWAIT(&ours, masters_with(1) == MASTERS);
    assert_code(upgrade(&writer), REDLOCK_OK);
    AWAIT(&ours, cluster_holders(&cluster, "other", redlock_lease_token(writer.lease)) == MASTERS);
    assert_code(take_release(&writer), REDLOCK_OK);
}

/* ---- Upgrade ---- */

WITH_BOTH(test_the_only_reader_becomes_the_writer)
{
    struct take reader, other, next;
    assert_code(lock(&reader, &ours, true), REDLOCK_OK);
    assert_code(lock(&other, &theirs, true), REDLOCK_OK);
    int64_t largest = redlock_lease_fence(other.lease);
    assert_code(take_release(&other), REDLOCK_OK);
    AWAIT(&ours, masters_with(1) == MASTERS);
    wait_for(&next, &theirs, false); /* it waits for this reader anyhow */
    assert_code(upgrade(&reader), REDLOCK_OK);
    assert_true(redlock_lease_fence(reader.lease) > largest);
    assert_int_equal(reader.told[REDLOCK_CHANGED].event.fence, redlock_lease_fence(reader.lease));
    assert_code(lock(&other, &theirs, true), REDLOCK_E_HELD);
    take_free(&other);
    int64_t fence = redlock_lease_fence(reader.lease);
    assert_code(take_release(&reader), REDLOCK_OK);
    AWAIT(&theirs, has(&next));
    assert_true(redlock_lease_fence(next.lease) > fence);
    assert_code(take_release(&next), REDLOCK_OK);
}

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

/* A master takes nothing from another reader and shortens nothing. It prolongs what it has, and
 * keeps the fence. */
WITH_BOTH(test_master_by_master)
{
    struct take reader;
    unsigned stored = 0;
    assert_code(lock(&reader, &ours, true), REDLOCK_OK);
    await_all_marked();
    const char *token = redlock_lease_token(reader.lease);
    cluster_tell(&cluster, 0, "ZREM redlock:holders:name %s", token);
    cluster_tell(&cluster, 0, "ZADD redlock:holders:name 99999999999999 somebody");
    cluster_tell(&cluster, 1, "PEXPIRE name 100000");
    cluster_tell(&cluster, 2, "DEL redlock:holders:name");
    cluster_tell(&cluster, 2, "SET name %s PX 1000", token);
    assert_code(upgrade(&reader), REDLOCK_OK);
    AWAIT(&ours, cluster_holders(&cluster, "name", token) == MASTERS - 1);
    assert_int_equal(marked(), 1);
    assert_true(cluster_count(&cluster, 1, "PTTL name") > TTL);
    assert_true(cluster_count(&cluster, 2, "PTTL name") > 1000);
    for (unsigned i = 0; i < MASTERS; i++) {
        redisReply *clock = cluster_ask(&cluster, i, "HGET redlock:clock h");
        stored += atoll(clock->str) >= redlock_lease_fence(reader.lease);
        freeReplyObject(clock);
    }
    assert_true(stored > MASTERS / 2);
    assert_code(take_release(&reader), REDLOCK_OK);
    cluster_tell(&cluster, 0, "DEL name redlock:holders:name");
}

/* Those that answered keep other readers out for a moment: a renewal lets them in again. */
WITH_BOTH(test_too_few_masters)
{
    struct take reader, other;
    assert_code(lock(&reader, &ours, true), REDLOCK_OK);
    await_all_marked();
    cluster_do(&cluster, "pause 1 2 3");
    assert_code(upgrade(&reader), REDLOCK_E_UNAVAILABLE);
    cluster_do(&cluster, "resume 1 2 3");
    AWAIT(&ours, marked() == MASTERS);
    assert_int_equal(reader.told[REDLOCK_LOST].times, 0);
    assert_code(lock(&other, &theirs, true), REDLOCK_OK);
    assert_code(take_release(&other), REDLOCK_OK);
    assert_code(take_release(&reader), REDLOCK_OK);
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

/* The end of the lease comes in place of CHANGED. */
WITH_BOTH(test_released_meanwhile)
{
    for (unsigned i = 0; i < 2; i++) {
        struct take lease;
        assert_code(lock(&lease, &ours, i), REDLOCK_OK);
        assert_code((i ? redlock_lease_upgrade : redlock_lease_downgrade)(lease.lease), REDLOCK_OK);
        assert_int_equal(user_step(&ours, now_us() + 1000000), true);
        unsigned told = lease.told[REDLOCK_CHANGED].times;
        assert_code(take_release(&lease), REDLOCK_OK);
        assert_int_equal(lease.told[REDLOCK_CHANGED].times, told);
    }
}

WITH_BOTH(test_extended_meanwhile)
{
    struct take lease;
    assert_code(lock(&lease, &ours, true), REDLOCK_OK);
    assert_code(redlock_lease_upgrade(lease.lease), REDLOCK_OK);
    assert_code(redlock_lease_extend(lease.lease, 0), REDLOCK_OK);
    AWAIT(&ours, lease.told[REDLOCK_CHANGED].times && lease.told[REDLOCK_EXTENDED].times);
    assert_code(redlock_lease_extend(lease.lease, 0), REDLOCK_OK);
    assert_code(redlock_lease_downgrade(lease.lease), REDLOCK_OK);
    AWAIT(&ours, lease.told[REDLOCK_CHANGED].times == 2 && lease.told[REDLOCK_EXTENDED].times == 2);
    assert_code(take_release(&lease), REDLOCK_OK);
}

PROGRAM(.masters = MASTERS)
