/*
 * The slots of a name on one real master: hints about free ones, and what is kept.
 * rule: P4, P6, P12
 */
#include "one_master.h"

#include "ground/slots.h"

#define HOUR 3600000

/* Of the name "pool", which is said to have `permits` slots. */
static enum answer about_slot(struct request request, unsigned slot, unsigned permits)
{
    struct names *names = slot_new(&memory, (struct slice){"pool", 4}, slot);
    request.names = names;
    if (request.tag.kind == REQUEST_GRANT)
        request.grant.permits = (uint16_t)permits;
    else if (request.tag.kind == REQUEST_QUEUE)
        request.queue.permits = (uint16_t)permits;
    enum answer answer = ask(&request);
    names_drop(&memory, names);
    return answer;
}

static enum answer grant_slot(unsigned slot, const char *token)
{
    return about_slot(request_of(REQUEST_GRANT, NULL, token), slot, 4);
}

static enum answer queue_slot_of(const char *channel, unsigned slot, const char *token, usec ticket)
{
    struct request request = request_of(REQUEST_QUEUE, NULL, token);
    request.queue.ticket = ticket;
    request.channel = channel;
    return about_slot(request, slot, 4);
}

static enum answer queue_slot(unsigned slot, const char *token, usec ticket)
{
    return queue_slot_of(CHANNEL, slot, token, ticket);
}

static enum answer release_slot(unsigned slot, const char *token)
{
    return about_slot(request_of(REQUEST_RELEASE, NULL, token), slot, 4);
}

static unsigned lookups(void)
{
    redisReply *info = cluster_ask(&cluster, 0, "INFO stats");
    unsigned hits = 0, misses = 0;
    sscanf(strstr(info->str, "keyspace_hits:"), "keyspace_hits:%u", &hits);
    sscanf(strstr(info->str, "keyspace_misses:"), "keyspace_misses:%u", &misses);
    freeReplyObject(info);
    return hits + misses;
}

static void take_slots(unsigned count)
{
    static const char *const tokens[] = {"a", "b", "c", "d"};
    for (unsigned slot = 0; slot < count; slot++)
        assert_int_equal(grant_slot(slot, tokens[slot]), ANSWER_YES);
}

/* ---- Tries ---- */

#define TEST(name) CASE_WITH(name, set_up, tear_down)

TEST(a_foreign_key_is_a_holder)
{
    TELL("SET redlock:permit:1:pool foreign PX 60000");
    assert_int_equal(grant_slot(1, "x"), ANSWER_HELD);
    assert_int_equal(reply.grant.free_slot, 2);
    assert_int_equal(queue_slot(1, "x", FAR), ANSWER_QUEUED);
    assert_int_equal(reply.queue.slots.free_slot, 2);
    assert_true(reply.queue.foreign);
}

TEST(a_far_slot_is_told)
{
    for (unsigned slot = 0; slot < 39; slot++)
        TELL("SET redlock:permit:%u:pool foreign PX 60000", slot);
    assert_int_equal(about_slot(request_of(REQUEST_GRANT, NULL, "x"), 0, 40), ANSWER_HELD);
    assert_int_equal(reply.grant.free_slot, 39);
    TELL("SET redlock:permit:39:pool foreign PX 60000");
    assert_int_equal(about_slot(request_of(REQUEST_GRANT, NULL, "x"), 0, 40), ANSWER_HELD);
    assert_int_equal(reply.grant.free_slot, -1);
}

/* ---- Hints ---- */

TEST(a_free_slot_is_told_to_the_oldest)
{
    take_slots(4);
    assert_int_equal(queue_slot(1, "v", FAR + 1), ANSWER_QUEUED);
    assert_int_equal(queue_slot(2, "old", FAR), ANSWER_QUEUED);
    assert_int_equal(release_slot(0, "a"), ANSWER_YES);
    assert_heard("old slot 0");
    assert_holder("redlock:permit:0:pool", NULL);
}

/* The one before has heard of the first slot; its two places are of one waiter. */
TEST(a_second_one_is_told_to_the_next)
{
    take_slots(4);
    assert_int_equal(queue_slot(2, "old", FAR), ANSWER_QUEUED);
    assert_int_equal(queue_slot(3, "old-again", FAR), ANSWER_QUEUED);
    assert_int_equal(queue_slot(2, "v", FAR + 1), ANSWER_QUEUED);
    assert_int_equal(release_slot(0, "a"), ANSWER_YES);
    assert_heard("old slot 0");
    assert_int_equal(release_slot(1, "b"), ANSWER_YES);
    assert_heard("v slot 1");
}

/* Masters give out numbers of their own, so that two clients may draw the same ticket. */
TEST(clients_with_one_ticket_are_two)
{
    take_slots(4);
    assert_int_equal(queue_slot_of("redlock:other", 2, "a-other", FAR), ANSWER_QUEUED);
    assert_int_equal(queue_slot(2, "b-ours", FAR), ANSWER_QUEUED);
    assert_int_equal(queue_slot_of("redlock:other", 3, "c-other", FAR), ANSWER_QUEUED);
    assert_int_equal(simply(REQUEST_PEEK, "pool", "x"), ANSWER_HELD);
    assert_int_equal(reply.peek.waiting, 2);
    assert_int_equal(release_slot(0, "a"), ANSWER_YES); /* a hint for the other one */
    assert_nothing_more_was_told();
    assert_int_equal(release_slot(1, "b"), ANSWER_YES);
    assert_heard("b-ours slot 1");
    assert_int_equal(queue_slot(0, "later", FAR + 1), ANSWER_QUEUED);
    assert_holder("redlock:permit:0:pool", NULL);
}

TEST(the_dead_are_told_nothing)
{
    take_slots(4);
    assert_int_equal(queue_slot(2, "old", FAR), ANSWER_QUEUED);
    assert_int_equal(queue_slot(3, "v", FAR + 1), ANSWER_QUEUED);
    TELL("DEL redlock:waiter:old");
    assert_int_equal(release_slot(0, "a"), ANSWER_YES);
    assert_heard("v slot 0");
}

/* Nothing of it is left, and nobody hears of a slot that it has not freed. */
TEST(who_leaves_leaves_all_queues)
{
    take_slots(4);
    assert_int_equal(queue_slot(2, "w", FAR), ANSWER_QUEUED);
    assert_int_equal(queue_slot(3, "v", FAR + 1), ANSWER_QUEUED);
    assert_int_equal(release_slot(2, "w"), ANSWER_HELD);
    assert_int_equal(ASK_COUNT("EXISTS redlock:waiter:w redlock:queue:redlock:permit:2:pool"), 0);
    assert_int_equal(ASK_COUNT("ZCARD redlock:queue:redlock:permits:pool"), 1);
}

static enum answer renew_slot(unsigned slot, const char *token, int64_t ttl_ms)
{
    struct request request = request_of(REQUEST_RENEW, NULL, token);
    request.ttl_ms = ttl_ms;
    return about_slot(request, slot, 0);
}

static enum answer grant_slot_for(int64_t ttl_ms, unsigned slot, const char *token,
                                  unsigned permits)
{
    struct request request = request_of(REQUEST_GRANT, NULL, token);
    request.ttl_ms = ttl_ms;
    return about_slot(request, slot, permits);
}

#define NUMBER_LEFT ASK_COUNT("PTTL redlock:permits:pool")

TEST(the_number_outlives_the_slots)
{
    assert_int_equal(grant_slot_for(2 * HOUR, 3, "a", 4), ANSWER_YES);
    assert_true(NUMBER_LEFT > 2 * HOUR);
    TELL("SET redlock:permits:pool 4 PX 10000");
    assert_int_equal(grant_slot_for(2 * HOUR, 0, "b", 2), ANSWER_YES);
    assert_holder("redlock:permits:pool", "4"); /* this client knows of two slots alone */
    assert_true(NUMBER_LEFT > 2 * HOUR);
    assert_int_equal(release_slot(3, "a"), ANSWER_YES);
    TELL("SET redlock:permits:pool 4 PX 10000");
    assert_int_equal(grant_slot_for(2 * HOUR, 1, "c", 2), ANSWER_YES);
    assert_holder("redlock:permits:pool", "2");
    assert_int_equal(renew_slot(1, "c", 5 * HOUR), ANSWER_YES);
    assert_true(NUMBER_LEFT > 5 * HOUR);
}

/* A slot beyond may be given to its waiter by any script. */
TEST(the_number_outlives_the_waiters)
{
    assert_int_equal(grant_slot_for(HOUR, 3, "a", 4), ANSWER_YES);
    assert_int_equal(queue_slot(3, "w", FAR), ANSWER_QUEUED);
    TELL("DEL redlock:permit:3:pool");
    TELL("PEXPIRE redlock:permits:pool 10000");
    assert_int_equal(grant_slot_for(HOUR, 1, "b", 2), ANSWER_HELD);
    assert_holder("redlock:permits:pool", "4");
    assert_true(NUMBER_LEFT > HOUR);
}

/* A request for less than is left of a slot takes nothing from the life of the number. */
TEST(a_short_lease_keeps_the_number)
{
    assert_int_equal(grant_slot_for(2 * HOUR, 0, "a", 2), ANSWER_YES);
    assert_int_equal(grant_slot_for(10000, 1, "b", 2), ANSWER_YES);
    assert_int_equal(grant_slot_for(10000, 2, "c", 4), ANSWER_YES); /* stores a larger number */
    assert_holder("redlock:permits:pool", "4");
    assert_true(NUMBER_LEFT > 2 * HOUR);
    TELL("SET redlock:permits:pool 1 PX 7200000");
    assert_int_equal(renew_slot(1, "b", 10000), ANSWER_YES); /* of the larger number */
    assert_holder("redlock:permits:pool", "2");
    assert_true(NUMBER_LEFT > HOUR);
    TELL("DEL redlock:permits:pool");
    assert_int_equal(renew_slot(0, "a", 10000), ANSWER_YES);
    assert_true(NUMBER_LEFT > 2 * HOUR);
}

/* A grant or a renewal stores it only where less than 15 s are left. */
TEST(the_number_lasts_for_twice_the_ttl)
{
    assert_int_equal(grant_slot_for(10000, 0, "a", 2), ANSWER_YES);
    assert_in_range(NUMBER_LEFT, 19000, 20000);
    TELL("PEXPIRE redlock:permits:pool 18000");
    assert_int_equal(grant_slot_for(10000, 1, "b", 2), ANSWER_YES);
    assert_int_equal(renew_slot(0, "a", 10000), ANSWER_YES);
    assert_in_range(NUMBER_LEFT, 15000, 18000);
    TELL("PEXPIRE redlock:permits:pool 14000");
    assert_int_equal(renew_slot(0, "a", 10000), ANSWER_YES);
    assert_in_range(NUMBER_LEFT, 19000, 20000);
    TELL("PEXPIRE redlock:permits:pool 14000");
    assert_int_equal(release_slot(1, "b"), ANSWER_YES);
    assert_int_equal(grant_slot_for(10000, 1, "c", 2), ANSWER_YES);
    assert_in_range(NUMBER_LEFT, 19000, 20000);
}

TEST(nothing_is_left_of_permits)
{
    assert_int_equal(grant_slot_for(100, 0, "a", 2), ANSWER_YES);
    assert_int_equal(renew_slot(0, "a", 100), ANSWER_YES);
    assert_int_equal(release_slot(0, "a"), ANSWER_YES);
    AWAIT_IT(ASK_COUNT("EXISTS redlock:permits:pool") == 0);
}

/* A name that never had permits costs two looks, and one with permits as many as it has. */
TEST(a_free_name_is_quickly_looked_at)
{
    unsigned before = lookups();
    assert_int_equal(simply(REQUEST_PEEK, "free", "x"), ANSWER_ABSENT);
    assert_in_range(lookups() - before, 1, 2);
    take_slots(1);
    before = lookups();
    assert_int_equal(simply(REQUEST_PEEK, "pool", "x"), ANSWER_HELD);
    assert_in_range(lookups() - before, 1, 20);
}

PROGRAM(.masters = 1)
