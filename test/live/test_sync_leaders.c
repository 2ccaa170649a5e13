/*
 * Elections by threads that wait: a thread leads while it has a fenced lease.
 */
#include "fixture.h"
#include "sync_user.h"

#define MASTERS 5
#define TTL     20000

static redlock_sync_lease *lead(const char *name)
{
    redlock_lease_options options = terms(TTL, REDLOCK_FOREVER);
    options.fence = true;
    return take(client, name, &options);
}

static redlock_code look(redlock_leader *leader, char *value, size_t size)
{
    memset(value, '#', size);
    return redlock_sync_leader_get(client, "name", leader, value, size, NULL);
}

WITH_CLIENT(test_a_thread_leads)
{
    redlock_leader leader = {.size = sizeof leader};
    char value[8];
    assert_code(look(&leader, value, sizeof value), REDLOCK_OK);
    assert_true(leader.term == 0 && leader.length == 0);
    redlock_sync_lease *lease = lead("name");
    redlock_sync_result result = {.size = sizeof(redlock_sync_result)};
    assert_code(redlock_sync_lease_announce(lease, "blue", 4, &result), REDLOCK_OK);
    assert_true(result.granted >= MASTERS / 2 + 1);
    assert_code(look(&leader, value, sizeof value), REDLOCK_OK);
    assert_true(leader.term == redlock_sync_lease_fence(lease));
    assert_int_equal(leader.length, 4);
    assert_memory_equal(value, "blue####", 8);
    assert_ptr_equal(leader.value, value);
    assert_code(redlock_sync_lease_announce(lease, "a long value", 12, NULL), REDLOCK_OK);
    assert_code(look(&leader, value, 4), REDLOCK_OK);
    assert_int_equal(leader.length, 12);
    assert_memory_equal(value, "a lo####", 8);
    assert_code(redlock_sync_leader_get(client, "name", &leader, NULL, 0, NULL), REDLOCK_OK);
    assert_true(leader.term == redlock_sync_lease_fence(lease));
    give_back(lease);
    AWAIT(redlock_sync_leader_get(client, "name", &leader, NULL, 0, NULL) == REDLOCK_OK &&
          leader.term == 0);
}

WITH_CLIENT(test_what_cannot_be_announced)
{
    static char value[REDLOCK_VALUE_MAX + 1];
    redlock_lease_options options = terms(TTL, 0);
    redlock_sync_lease *plain = take(client, "plain", &options);
    redlock_sync_result result = {.size = sizeof(redlock_sync_result)};
    assert_code(redlock_sync_lease_announce(plain, "x", 1, &result), REDLOCK_E_STATE);
    assert_non_null(strstr(result.text, "fence"));
    give_back(plain);
    redlock_sync_lease *lease = lead("name");
    assert_code(redlock_sync_lease_announce(lease, value, sizeof value, NULL), REDLOCK_E_ARGUMENT);
    assert_code(redlock_sync_lease_downgrade(lease, NULL), REDLOCK_OK);
    assert_code(redlock_sync_lease_announce(lease, "x", 1, NULL), REDLOCK_E_STATE);
    give_back(lease);
    assert_code(redlock_sync_lease_announce(NULL, "x", 1, NULL), REDLOCK_E_ARGUMENT);
    redlock_leader leader = {.size = sizeof leader};
    assert_code(redlock_sync_leader_get(client, "", &leader, NULL, 0, NULL), REDLOCK_E_NAME);
    assert_code(redlock_sync_leader_get(client, "name", NULL, NULL, 0, NULL), REDLOCK_E_ARGUMENT);
    assert_code(redlock_sync_leader_get(NULL, "name", &leader, NULL, 0, NULL), REDLOCK_E_ARGUMENT);
}

/* ---- several threads ---- */

static redlock_code speak(struct call *call)
{
    return redlock_sync_lease_announce(call->lease, call->data, strlen(call->data), NULL);
}

/* Each thread learns that its value is announced, or that another replaced it; the last one stays.
 * */
WITH_CLIENT(test_threads_announce_at_once)
{
    enum { SPEAKERS = 8 };
    struct call speakers[SPEAKERS];
    char values[SPEAKERS][16];
    redlock_sync_lease *lease = lead("name");
    redlock_leader leader = {.size = sizeof leader};
    char value[16];
    unsigned said = 0;
    for (unsigned i = 0; i < SPEAKERS; i++) {
        snprintf(values[i], sizeof values[i], "value %u", i);
        speakers[i] = (struct call){.act = speak, .lease = lease, .data = values[i]};
        call_begin(&speakers[i]);
    }
    for (unsigned i = 0; i < SPEAKERS; i++) {
        redlock_code code = call_end(&speakers[i]);
        assert_true(code == REDLOCK_OK || code == REDLOCK_E_CANCELLED);
        said += code == REDLOCK_OK;
    }
    assert_true(said >= 1);
    assert_code(look(&leader, value, sizeof value), REDLOCK_OK);
    assert_true(leader.term == redlock_sync_lease_fence(lease));
    assert_memory_equal(value, "value ", 6);
    give_back(lease);
}

PROGRAM(.masters = MASTERS, .fenced = true)
