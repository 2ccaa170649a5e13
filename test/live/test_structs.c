/*
 * A struct that nobody has cleared: the library refuses it, whatever it contains, or the lease is
 * exclusive.
 */
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "named.h"
#include "user.h"

#define DRAWS 2000

PROGRAM(.masters = 3, .has_user = true)

static void fill(void *at, size_t size)
{
    for (size_t i = 0; i < size; i++)
        ((unsigned char *)at)[i] = (unsigned char)random();
}

/* Another lease has the name already: a second one is a reader beside it, or else it waits or is
 * refused. */
static void must_not_share(struct user *user, const redlock_name *name,
                           const redlock_lease_options *terms)
{
    struct take take;
    take_init(&take, user);
    redlock_code code =
        redlock_acquire_names(user->client, &take.lease, name, 1, terms, take_hear, &take);
    if (code) {
        assert_null(take.lease);
        return;
    }
    assert_false(redlock_lease_is_shared(take.lease));
    redlock_lease_free(take.lease);
}

/* A program from before names had a mode sets only these. */
CASE(a_name_with_bytes_and_length)
{
    for (unsigned i = 0; i < DRAWS; i++) {
        redlock_name name;
        fill(&name, sizeof name);
        name.bytes = "name";
        name.length = 4;
        struct take take;
        assert_code(
            redlock_acquire_names(user.client, &take.lease, &name, 1, NULL, take_hear, NULL),
            REDLOCK_E_ARGUMENT);
        name.size = sizeof name;
        must_not_share(&user, &name, NULL);
    }
}

CASE(the_options_of_a_lease_with_a_ttl)
{
    redlock_name name = NAME("name");
    for (unsigned i = 0; i < DRAWS; i++) {
        redlock_lease_options terms;
        fill(&terms, sizeof terms);
        terms.size = sizeof terms;
        terms.ttl_ms = 1000;
        must_not_share(&user, &name, &terms);
    }
}

/* One field at a time, for together the others hide it. */
CASE(each_byte_of_the_options_of_a_lease)
{
    redlock_name name = NAME("name");
    size_t ends = offsetof(redlock_lease_options, on_event);
    for (size_t at = sizeof(size_t); at < ends; at++)
        for (unsigned value = 1; value < 256; value += 2) {
            redlock_lease_options terms = {.size = sizeof terms};
            memset((char *)&terms + at, (int)value, 1);
            must_not_share(&user, &name, &terms);
        }
}

/* Its pointers are never followed, for the numbers are wrong. */
CASE(the_options_of_a_client_with_a_list)
{
    struct ev_loop *loop = ev_loop_new(0);
    for (unsigned i = 0; i < DRAWS; i++) {
        redlock_options options;
        redlock *client = NULL;
        fill(&options, sizeof options);
        options.size = sizeof options;
        options.nodes = cluster.nodes;
        assert_code(redlock_open(&client, loop, &options, NULL, 0), REDLOCK_E_ARGUMENT);
        assert_null(client);
    }
    ev_loop_destroy(loop);
}

/* ---- a look, a survey, results ---- */

static void on_seen(redlock_look *look, const redlock_look_result *result, void *data)
{
    (void)look, (void)result, (void)data;
}

static void on_page(redlock_survey *survey, const redlock_survey_page *page, void *data)
{
    (void)survey, (void)page, (void)data;
}

/* Its only other fields are a number and a flag, which may be right by chance. */
CASE(the_options_of_a_look_and_of_a_survey)
{
    redlock_name name = NAME("name");
    for (int value = 2; value < 256; value++) {
        redlock_look *look;
        redlock_survey *survey;
        redlock_look_options seen = {.size = sizeof seen};
        redlock_survey_options found = {.size = sizeof found};
        memset(&seen.all_answers, value, sizeof seen.all_answers);
        memset(&found.foreign, value, sizeof found.foreign);
        assert_code(redlock_look_begin(user.client, &look, &name, 1, &seen, on_seen, NULL),
                    REDLOCK_E_ARGUMENT);
        assert_code(redlock_survey_begin(user.client, &survey, &found, on_page, NULL),
                    REDLOCK_E_ARGUMENT);
        assert_true(!look && !survey);
    }
}

static struct take waiter;

static redlock_code get_stats(void *result)
{
    return redlock_stats_get(waiter.user->client, result);
}

static redlock_code get_node(void *result)
{
    return redlock_node_get(waiter.user->client, 0, result);
}

static redlock_code get_place(void *result)
{
    return redlock_lease_place(waiter.lease, result);
}

/* Behind its size there is nothing that may be written, or read. */
static void refuses_sizes(redlock_code (*get)(void *result), size_t known)
{
    const size_t sizes[] = {0, 1, known - 8, known - 1, known + 1, known + 8, SIZE_MAX};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        size_t around[] = {sizes[i], 0x5a5a, 0x5a5a};
        assert_code(get(around), REDLOCK_E_ARGUMENT);
        assert_int_equal(around[0], sizes[i]);
        assert_true(around[1] == 0x5a5a && around[2] == 0x5a5a);
    }
}

CASE(results_of_another_size)
{
    redlock_lease_options terms = {.size = sizeof terms};
    take_ask(&waiter, &user, "name", &terms);
    refuses_sizes(get_stats, sizeof(redlock_stats));
    refuses_sizes(get_node, sizeof(redlock_node));
    refuses_sizes(get_place, sizeof(redlock_place));
    take_free(&waiter);
}
