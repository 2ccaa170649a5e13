/*
 * Asking the holder of a name, for threads that wait.
 */
#include "fixture.h"
#include "sync_user.h"

#define MASTERS 5

WITH_CLIENT(test_asking_a_holder)
{
    redlock_asked asked = {.size = sizeof asked};
    redlock_sync_result result = {.size = sizeof result};
    redlock_ask_options options = {.size = sizeof options, .text = "please"};
    redlock_lease_options long_ttl = terms(20000, 0);
    assert_code(redlock_sync_ask(client, "name", NULL, &asked, &result), REDLOCK_E_GONE);
    assert_string_equal(result.text, redlock_code_text(REDLOCK_E_GONE));
    redlock_sync_lease *lease = take(client, "name", &long_ttl);
    options.timeout_ms = 10000;
    assert_code(redlock_sync_ask(client, "name", &options, &asked, &result), REDLOCK_OK);
    assert_int_equal(asked.masters, MASTERS);
    assert_int_equal(asked.heard, 0);
    assert_true(asked.told >= 1 && asked.told <= MASTERS);
    assert_string_equal(asked.holder, redlock_sync_lease_token(lease));
    assert_code(redlock_sync_ask(client, "name", NULL, NULL, NULL), REDLOCK_OK);
    give_back(lease);
}

WITH_CLIENT(test_what_is_refused)
{
    redlock_asked asked = {.size = 1, .waiting = 7};
    redlock_sync_result result = {.size = sizeof result};
    redlock_ask_options options = {.size = sizeof options, .text = "a\nb"};
    assert_code(redlock_sync_ask(client, "name", NULL, &asked, &result), REDLOCK_E_ARGUMENT);
    assert_says(result.text, "redlock_asked.size is 1");
    assert_int_equal(asked.waiting, 7);
    assert_code(redlock_sync_ask(client, "name", &options, NULL, &result), REDLOCK_E_ARGUMENT);
    assert_says(result.text, "control characters");
    assert_code(redlock_sync_ask(client, "", NULL, NULL, NULL), REDLOCK_E_NAME);
}

PROGRAM(.masters = MASTERS)
