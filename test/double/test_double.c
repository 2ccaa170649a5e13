/* Masters inside the process: each that redlock/testing.h promises of them, and each kind of
 * request. */
#include <ev.h>
#include <redlock/recipes.h>
#include <redlock/testing.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../cases.h"

#define TTL         10000
#define KINDS       (REDLOCK_NOT_MOVED + 1)
#define ADVANCE(ms) assert_int_equal(redlock_testing_advance(ms), REDLOCK_OK)

/* ---- a client with a lease ---- */

static redlock *open_clients[16]; /* a case that fails leaves some */

struct user {
    redlock *client;
    redlock_lease *lease;
    unsigned told[KINDS];
    redlock_event last;
    char text[512];
    int64_t at_ms;
    redlock_lease_options again; /* size not 0: it asks again as soon as it is not acquired */
};

static void on_event(redlock_lease *lease, const redlock_event *event, void *data)
{
    struct user *user = data;
    user->told[event->kind]++;
    user->last = *event;
    user->at_ms = redlock_testing_now_ms();
    snprintf(user->text, sizeof user->text, "%s", event->text);
    for (unsigned i = 0; i < event->masters; i++)
        if (event->votes[i]->kind == REDLOCK_VOTE_REFUSED)
            snprintf(user->text, sizeof user->text, "%s", event->votes[i]->text);
    if (event->kind == REDLOCK_NOT_ACQUIRED && user->again.size) {
        redlock_lease_free(lease);
        assert_int_equal(
            redlock_acquire(user->client, &user->lease, "name", &user->again, on_event, user),
            REDLOCK_OK);
    }
}

static void open_with(struct user *user, struct ev_loop *loop, redlock_options options)
{
    char why[256];
    *user = (struct user){0};
    options.size = sizeof options;
    options.nodes = options.nodes ? options.nodes : "memory://5";
    if (redlock_open(&user->client, loop, &options, why, sizeof why) != REDLOCK_OK)
        fail_msg("%s", why);
    unsigned place = 0;
    while (open_clients[place])
        place++;
    open_clients[place] = user->client;
}

static void open_user(struct user *user)
{
    open_with(user, NULL, (redlock_options){0});
    ADVANCE(0);
}

static void close_user(struct user *user)
{
    for (unsigned i = 0; i < sizeof open_clients / sizeof open_clients[0]; i++)
        if (open_clients[i] == user->client)
            open_clients[i] = NULL;
    redlock_free(user->client);
}

static void ask_with(struct user *user, const char *name, redlock_lease_options options)
{
    options.size = sizeof options;
    options.ttl_ms = options.ttl_ms ? options.ttl_ms : TTL;
    assert_int_equal(redlock_acquire(user->client, &user->lease, name, &options, on_event, user),
                     REDLOCK_OK);
}

static void ask(struct user *user, const char *name, int64_t wait_ms)
{
    ask_with(user, name, (redlock_lease_options){.wait_ms = wait_ms});
}

static void release(struct user *user)
{
    redlock_lease_release(user->lease);
    ADVANCE(0);
    redlock_lease_free(user->lease);
    user->lease = NULL;
}

static bool holds(const struct user *user)
{
    return redlock_lease_valid_for(user->lease) > 0;
}

/* One try of a client of its own. */
static redlock_code try_with(redlock_options options, const char *name)
{
    struct user user;
    open_with(&user, NULL, options);
    ADVANCE(0);
    ask(&user, name, 0);
    ADVANCE(3000);
    redlock_code code = user.last.code;
    if (user.last.kind == REDLOCK_ACQUIRED)
        release(&user);
    close_user(&user);
    return code;
}

static redlock_code try_once(const char *name)
{
    return try_with((redlock_options){0}, name);
}

static int in_virtual_time(void **state)
{
    (void)state;
    return redlock_testing_begin(REDLOCK_TESTING_VIRTUAL);
}

static int in_real_time(void **state)
{
    (void)state;
    return redlock_testing_begin(REDLOCK_TESTING_REAL);
}

static int begin_again(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof open_clients / sizeof open_clients[0]; i++) {
        redlock_free(open_clients[i]);
        open_clients[i] = NULL;
    }
    return redlock_testing_begin(REDLOCK_TESTING_REAL);
}

#define VIRTUAL(name) CASE_OF(name, in_virtual_time, begin_again, NULL)
#define REAL(name)    CASE_OF(name, in_real_time, begin_again, NULL)

/* ---- wrong use ---- */

static void assert_refused(redlock_code code, redlock_code wanted, const char *why)
{
    assert_int_equal(code, wanted);
    if (!strstr(redlock_testing_why(), why))
        fail_msg("%s", redlock_testing_why());
}

VIRTUAL(wrong_arguments_are_refused_with_a_reason)
{
    char long_key[REDLOCK_NAME_MAX + 2] = "";
    memset(long_key, 'k', sizeof long_key - 1);
    redlock_code (*const about_master[])(unsigned) = {redlock_testing_kill, redlock_testing_forget};
    redlock_code (*const with_flag[])(unsigned, bool) = {
        redlock_testing_restart, redlock_testing_hang, redlock_testing_cut, redlock_testing_lie};
    redlock_code (*const about_key[])(const char *) = {redlock_testing_give, redlock_testing_break};
    for (unsigned i = 0; i < 2; i++)
        assert_refused(about_master[i](15), REDLOCK_E_ARGUMENT, "there is no master 15");
    for (unsigned i = 0; i < 4; i++)
        assert_refused(with_flag[i](UINT32_MAX, true), REDLOCK_E_ARGUMENT, "there is no master");
    for (unsigned i = 0; i < 2; i++) {
        assert_refused(about_key[i](NULL), REDLOCK_E_ARGUMENT, "1 to 1024 bytes");
        assert_refused(about_key[i](""), REDLOCK_E_ARGUMENT, "1 to 1024 bytes");
        assert_refused(about_key[i](long_key), REDLOCK_E_ARGUMENT, "1 to 1024 bytes");
        assert_refused(about_key[i]("nobody"), REDLOCK_E_STATE, "\"nobody\"");
    }
    assert_refused(redlock_testing_step_clock(15, 0), REDLOCK_E_ARGUMENT, "no master");
    assert_refused(redlock_testing_step_clock(0, INT64_MAX), REDLOCK_E_ARGUMENT, "10 years");
    assert_refused(redlock_testing_step_clock(0, INT64_MIN), REDLOCK_E_ARGUMENT, "10 years");
    assert_refused(redlock_testing_hold(NULL, 1000), REDLOCK_E_ARGUMENT, "1 to 1024 bytes");
    assert_refused(redlock_testing_hold("name", 0), REDLOCK_E_ARGUMENT, "1 ms to 24 hours");
    assert_refused(redlock_testing_hold("name", INT64_MAX), REDLOCK_E_ARGUMENT, "1 ms to 24 hours");
    assert_refused(redlock_testing_advance(-1), REDLOCK_E_ARGUMENT, "not by -1 ms");
    assert_refused(redlock_testing_advance(INT64_MAX), REDLOCK_E_ARGUMENT, "10 years");
    assert_refused(redlock_testing_begin((redlock_testing_time)7), REDLOCK_E_ARGUMENT, "kind 7");
    for (unsigned i = 0; i < 15; i++)
        redlock_testing_kill(i);
    assert_refused(redlock_testing_hold("name", 1000), REDLOCK_E_UNAVAILABLE, "no master");
}

VIRTUAL(a_test_begins_when_no_client_is_left)
{
    struct user user;
    open_user(&user);
    assert_refused(redlock_testing_begin(REDLOCK_TESTING_REAL), REDLOCK_E_STATE, "free it first");
    close_user(&user);
    assert_int_equal(redlock_testing_begin(REDLOCK_TESTING_REAL), REDLOCK_OK);
    assert_refused(redlock_testing_advance(0), REDLOCK_E_STATE, "time is real");
}

REAL(a_client_whose_masters_are_all_away_is_left)
{
    struct user user;
    struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
    for (unsigned i = 0; i < 15; i++)
        redlock_testing_kill(i);
    open_with(&user, loop, (redlock_options){0});
    ev_run(loop, EVRUN_ONCE);
    assert_refused(redlock_testing_begin(REDLOCK_TESTING_VIRTUAL), REDLOCK_E_STATE, "free it");
    close_user(&user);
    ev_loop_destroy(loop);
}

VIRTUAL(a_killed_master_cannot_hang)
{
    redlock_testing_kill(1);
    assert_refused(redlock_testing_hang(1, true), REDLOCK_E_STATE, "master 1 was killed");
    assert_int_equal(redlock_testing_hang(1, false), REDLOCK_OK);
    redlock_testing_restart(1, true);
    assert_int_equal(redlock_testing_hang(1, true), REDLOCK_OK);
}

static void on_event_advance(redlock_lease *lease, const redlock_event *event, void *data)
{
    (void)lease, (void)event;
    *(redlock_code *)data = redlock_testing_advance(1);
}

VIRTUAL(a_callback_cannot_advance_the_time)
{
    struct user user;
    redlock_lease *lease;
    redlock_code code = REDLOCK_OK;
    open_user(&user);
    assert_int_equal(redlock_acquire(user.client, &lease, "name", NULL, on_event_advance, &code),
                     REDLOCK_OK);
    ADVANCE(0);
    assert_int_equal(code, REDLOCK_E_STATE);
    close_user(&user);
}

VIRTUAL(clients_that_never_rest_are_noticed)
{
    struct user user;
    redlock_testing_hold("name", 60000);
    open_user(&user);
    user.again = (redlock_lease_options){.size = sizeof user.again};
    ask(&user, "name", 0);
    assert_refused(redlock_testing_advance(0), REDLOCK_E_STATE, "never come to rest");
    assert_int_equal(redlock_testing_now_ms(), 0);
    close_user(&user);
}

VIRTUAL(wrong_lists_are_refused)
{
    static const char *const wrong[][2] = {{"memory://", "1 to 15"},
                                           {"memory://0", "1 to 15"},
                                           {"memory://16", "1 to 15"},
                                           {"memory://x", "1 to 15"},
                                           {"memory://5/2", "1 to 15"},
                                           {"memory://99999999999", "1 to 15"},
                                           {"memory://2,memory://3", "same place as master 1"},
                                           {"memory://2,127.0.0.1:1", "knows no virtual time"},
                                           {"redis://h", "knows no virtual time"}};
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        redlock *client;
        char why[256];
        redlock_options options = {.size = sizeof options, .nodes = wrong[i][0]};
        assert_int_equal(redlock_open(&client, NULL, &options, why, sizeof why), REDLOCK_E_NODES);
        if (!strstr(why, wrong[i][1]))
            fail_msg("%s", why);
    }
}

VIRTUAL(a_client_in_virtual_time_shows_no_descriptor)
{
    struct user user;
    open_user(&user);
    assert_int_equal(redlock_fd(user.client), -1);
    assert_int_equal(redlock_next_timeout_ms(user.client), -1);
    assert_int_equal(redlock_process(user.client), REDLOCK_E_ARGUMENT);
    assert_non_null(strstr(redlock_last_error(user.client), "virtual time"));
    close_user(&user);
}

/* ---- time ---- */

/* For each ttl and margin, with renewals up to some moment: LOST comes `margin` before the validity
 * ends, and not a millisecond earlier or later. */
VIRTUAL(lost_comes_at_the_very_millisecond)
{
    static const int64_t terms[][3] = {/* ttl, margin, held for that long before */
                                       {10000, 0, 0},
                                       {10000, 2000, 0},
                                       {10000, REDLOCK_ZERO, 0},
                                       {300, 0, 1000},
                                       {30000, 1234, 123456}};
    for (unsigned i = 0; i < sizeof terms / sizeof terms[0]; i++) {
        struct user user;
        int64_t ttl = terms[i][0], least = ttl / 20 > 10 ? ttl / 20 : 10;
        int64_t margin = terms[i][1] == 0 ? least : terms[i][1] == REDLOCK_ZERO ? 0 : terms[i][1];
        assert_int_equal(redlock_testing_begin(REDLOCK_TESTING_VIRTUAL), REDLOCK_OK);
        open_user(&user);
        ask_with(&user, "name", (redlock_lease_options){.ttl_ms = ttl, .margin_ms = terms[i][1]});
        ADVANCE(terms[i][2]);
        assert_true(holds(&user));
        for (unsigned master = 0; master < 3; master++)
            redlock_testing_hang(master, true);
        int64_t left = redlock_lease_valid_for(user.lease);
        assert_true(left > margin && left <= ttl - ttl / 100 - 2);
        ADVANCE(left - margin - 1);
        assert_int_equal(user.told[REDLOCK_LOST], 0);
        ADVANCE(2); /* a renewal is sent between two milliseconds */
        assert_int_equal(user.told[REDLOCK_LOST], 1);
        assert_int_equal(user.at_ms, terms[i][2] + left - margin);
        assert_int_equal(user.last.valid_ms, margin);
        close_user(&user);
    }
}

VIRTUAL(callbacks_come_at_their_moment_of_a_long_time)
{
    struct user user;
    open_user(&user);
    ask_with(&user, "name", (redlock_lease_options){.no_renew = true, .margin_ms = 1000});
    ADVANCE(3600000);
    assert_int_equal(user.told[REDLOCK_LOST], 1);
    assert_int_equal(user.at_ms, TTL - TTL / 100 - 2 - 1000);
    assert_int_equal(redlock_testing_now_ms(), 3600000);
    close_user(&user);
}

VIRTUAL(a_day_of_renewals_passes_at_once)
{
    struct user user;
    open_user(&user);
    ask(&user, "name", 0);
    ADVANCE(86400000);
    assert_true(holds(&user));
    assert_int_equal(user.told[REDLOCK_LOST] + user.told[REDLOCK_AT_RISK], 0);
    close_user(&user);
}

/* ---- what befalls masters ---- */

VIRTUAL(a_killed_master_takes_no_connection_until_it_starts_again)
{
    struct user user;
    redlock_testing_kill(0);
    redlock_testing_kill(0);
    open_user(&user);
    redlock_node node = {.size = sizeof node};
    assert_int_equal(redlock_node_get(user.client, 0, &node), REDLOCK_OK);
    assert_int_equal(node.state, REDLOCK_NODE_DOWN);
    assert_non_null(strstr(node.text, "refused"));
    redlock_testing_restart(0, true);
    ADVANCE(10000);
    redlock_node_get(user.client, 0, &node);
    assert_int_equal(node.state, REDLOCK_NODE_ABSTAINS);
    ADVANCE(35000);
    redlock_node_get(user.client, 0, &node);
    assert_int_equal(node.state, REDLOCK_NODE_UP);
    close_user(&user);
}

VIRTUAL(data_outlive_a_restart_or_not)
{
    for (int with_data = 0; with_data < 2; with_data++) {
        struct user user;
        assert_int_equal(redlock_testing_begin(REDLOCK_TESTING_VIRTUAL), REDLOCK_OK);
        open_with(&user, NULL, (redlock_options){.restart_policy = REDLOCK_RESTART_TRUST});
        ADVANCE(0);
        redlock_testing_hold("name", 60000);
        for (unsigned i = 0; i < 5; i++)
            redlock_testing_restart(i, with_data);
        ADVANCE(3000);
        ask(&user, "name", 0);
        ADVANCE(0);
        assert_int_equal(user.last.code, with_data ? REDLOCK_E_HELD : REDLOCK_OK);
        close_user(&user);
    }
}

/* A client asks, goes, and has the name all the same, once the masters go on. */
VIRTUAL(a_master_that_hung_carries_out_what_it_was_sent)
{
    struct user user;
    open_user(&user);
    for (unsigned i = 0; i < 5; i++)
        redlock_testing_hang(i, true);
    ask(&user, "name", 0);
    ADVANCE(10);
    assert_int_equal(user.last.code, 0);
    close_user(&user);
    for (unsigned i = 0; i < 5; i++)
        redlock_testing_hang(i, false);
    assert_refused(redlock_testing_hold("name", 1000), REDLOCK_E_HELD, "5 masters");
    ADVANCE(TTL + 1);
    assert_int_equal(redlock_testing_hold("name", 1000), REDLOCK_OK);
}

VIRTUAL(nothing_passes_where_a_master_is_cut_off)
{
    struct user user, late;
    open_user(&user);
    ask(&user, "name", 0);
    ADVANCE(0);
    for (unsigned i = 0; i < 3; i++)
        redlock_testing_cut(i, true);
    open_user(&late); /* cannot connect */
    ADVANCE(TTL);
    assert_int_equal(user.told[REDLOCK_LOST], 1);
    ask(&late, "other", 0);
    ADVANCE(3000);
    assert_int_equal(late.last.code, REDLOCK_E_UNAVAILABLE);
    for (unsigned i = 0; i < 3; i++)
        redlock_testing_cut(i, false);
    ADVANCE(5000);
    redlock_lease_free(late.lease);
    ask(&late, "other", 0);
    ADVANCE(0);
    assert_int_equal(late.last.code, REDLOCK_OK);
    assert_true(holds(&late));
    close_user(&user);
    close_user(&late);
}

/* A request that could not pass arrives after the cut, if the client is still there. */
VIRTUAL(what_is_under_way_arrives_after_a_cut)
{
    struct user user;
    open_with(&user, NULL, (redlock_options){.request_timeout_ms = 60000});
    ADVANCE(0);
    for (unsigned i = 0; i < 5; i++)
        redlock_testing_cut(i, true);
    ask(&user, "name", 0);
    ADVANCE(100);
    assert_int_equal(user.told[REDLOCK_ACQUIRED], 0);
    for (unsigned i = 0; i < 5; i++)
        redlock_testing_cut(i, false);
    ADVANCE(0);
    assert_int_equal(user.told[REDLOCK_ACQUIRED], 1);
    close_user(&user);
}

VIRTUAL(a_master_killed_while_it_is_cut_off_is_found_dead)
{
    struct user user;
    open_user(&user);
    redlock_testing_cut(0, true);
    redlock_testing_kill(0);
    redlock_testing_cut(0, false);
    ADVANCE(0);
    redlock_node node = {.size = sizeof node};
    redlock_node_get(user.client, 0, &node);
    assert_int_equal(node.state, REDLOCK_NODE_DOWN);
    redlock_testing_cut(0, true);
    ADVANCE(5000); /* a connection that does not come about */
    redlock_testing_cut(0, false);
    ADVANCE(5000);
    redlock_node_get(user.client, 0, &node);
    assert_int_equal(node.state, REDLOCK_NODE_DOWN);
    close_user(&user);
}

VIRTUAL(a_master_that_forgot_takes_the_lease_again)
{
    struct user user;
    open_user(&user);
    ask(&user, "name", 0);
    ADVANCE(0);
    redlock_testing_forget(0);
    redlock_testing_forget(1);
    ADVANCE(TTL);
    assert_true(holds(&user));
    redlock_testing_kill(3);
    redlock_testing_kill(4);
    ADVANCE(3 * TTL);
    assert_true(holds(&user));
    close_user(&user);
}

VIRTUAL(liars_make_two_holders)
{
    struct user one, other;
    open_user(&one);
    open_user(&other);
    ask(&one, "name", 0);
    ADVANCE(0);
    redlock_testing_lie(0, true);
    redlock_testing_lie(1, true);
    assert_int_equal(try_once("name"), REDLOCK_E_HELD);
    redlock_testing_lie(2, true);
    ask(&other, "name", 0);
    ADVANCE(0);
    assert_true(holds(&one) && holds(&other));
    close_user(&one);
    close_user(&other);
}

VIRTUAL(a_stepped_clock_ends_what_a_master_keeps)
{
    redlock_testing_hold("name", 60000);
    assert_int_equal(try_once("name"), REDLOCK_E_HELD);
    for (unsigned i = 0; i < 3; i++)
        redlock_testing_step_clock(i, 61000);
    assert_int_equal(try_once("name"), REDLOCK_OK);
}

/* ---- lists of masters ---- */

static redlock_code try_list(const char *nodes, const char *fleet)
{
    return try_with((redlock_options){.nodes = nodes, .fleet = fleet}, "its-own");
}

/* Two quorums of a fleet must meet: 2 of 3 and 3 of 5 need not, 3 of 4 and 3 of 5 do. */
VIRTUAL(a_list_that_need_not_meet_another_is_refused)
{
    struct user user;
    open_user(&user);
    ask(&user, "name", 0);
    ADVANCE(0);
    assert_int_equal(try_list("memory://3", NULL), REDLOCK_E_DIFFERS);
    assert_int_equal(try_list("memory://4", NULL), REDLOCK_OK);
    assert_int_equal(try_list("memory://3", "another-fleet"), REDLOCK_OK);
    ADVANCE(600000);
    assert_true(holds(&user));
    assert_int_equal(try_list("memory://3", NULL), REDLOCK_E_DIFFERS);
    close_user(&user);
    ADVANCE(0);
    for (unsigned i = 0; i < 5; i++)
        redlock_testing_forget(i);
    assert_int_equal(try_list("memory://3", NULL), REDLOCK_OK);
}

VIRTUAL(a_list_that_nobody_says_any_more_is_forgotten)
{
    struct user user;
    open_user(&user);
    ask(&user, "name", 0);
    ADVANCE(0);
    for (unsigned i = 0; i < 5; i++)
        redlock_testing_cut(i, true);
    close_user(&user); /* it cannot take its list back */
    for (unsigned i = 0; i < 5; i++)
        redlock_testing_cut(i, false);
    assert_int_equal(try_list("memory://3", NULL), REDLOCK_E_DIFFERS);
    ADVANCE(180000);
    assert_int_equal(try_list("memory://3", NULL), REDLOCK_OK);
}

/* ---- another holder ---- */

VIRTUAL(another_holder_takes_and_gives)
{
    assert_int_equal(redlock_testing_hold("name", 60000), REDLOCK_OK);
    assert_refused(redlock_testing_hold("name", 60000), REDLOCK_E_HELD, "15 masters");
    assert_int_equal(try_once("name"), REDLOCK_E_HELD);
    assert_int_equal(redlock_testing_give("name"), REDLOCK_OK);
    assert_refused(redlock_testing_give("name"), REDLOCK_E_STATE, "does not hold");
    assert_int_equal(try_once("name"), REDLOCK_OK);
    assert_int_equal(redlock_testing_hold("name", 1000), REDLOCK_OK);
    ADVANCE(1001);
    assert_int_equal(try_once("name"), REDLOCK_OK);
}

VIRTUAL(waiters_get_their_turn_in_order)
{
    struct user users[3];
    redlock_testing_hold("name", 60000);
    for (unsigned i = 0; i < 3; i++) {
        open_user(&users[i]);
        ask(&users[i], "name", REDLOCK_FOREVER);
        ADVANCE(1000);
    }
    redlock_testing_give("name");
    for (unsigned i = 0; i < 3; i++) {
        ADVANCE(0);
        for (unsigned j = i; j < 3; j++)
            assert_int_equal(users[j].told[REDLOCK_ACQUIRED], j == i);
        release(&users[i]);
    }
    for (unsigned i = 0; i < 3; i++)
        close_user(&users[i]);
}

VIRTUAL(a_name_that_is_taken_away_is_not_healed)
{
    struct user readers[2];
    redlock_lease_options shared = {.mode = REDLOCK_SHARED};
    for (unsigned i = 0; i < 2; i++) {
        open_user(&readers[i]);
        ask_with(&readers[i], "name", shared);
        ADVANCE(0);
        assert_true(holds(&readers[i]));
    }
    assert_int_equal(redlock_testing_break("name"), REDLOCK_OK);
    ADVANCE(TTL);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(readers[i].told[REDLOCK_LOST], 1);
        assert_int_equal(readers[i].last.code, REDLOCK_E_GONE);
        close_user(&readers[i]);
    }
    assert_int_equal(try_once("name"), REDLOCK_OK);
}

VIRTUAL(a_writer_whose_name_is_taken_away_does_not_heal_it)
{
    struct user user;
    open_user(&user);
    ask(&user, "name", 0);
    ADVANCE(0);
    assert_int_equal(redlock_testing_break("name"), REDLOCK_OK);
    ADVANCE(TTL);
    assert_int_equal(user.told[REDLOCK_LOST], 1);
    assert_int_equal(user.last.code, REDLOCK_E_GONE);
    assert_int_equal(try_once("name"), REDLOCK_OK);
    close_user(&user);
}

VIRTUAL(a_holder_that_listens_hears_at_once_that_its_name_is_taken_away)
{
    struct user user;
    redlock_heeder *watcher;
    open_user(&user);
    ask(&user, "name", 0);
    ADVANCE(0);
    assert_int_equal(redlock_heed(user.lease, &watcher, NULL, NULL), REDLOCK_OK);
    ADVANCE(0);
    assert_int_equal(redlock_testing_break("name"), REDLOCK_OK);
    ADVANCE(0);
    assert_int_equal(user.told[REDLOCK_LOST], 1);
    assert_int_equal(user.last.code, REDLOCK_E_GONE);
    redlock_heeder_free(watcher);
    close_user(&user);
}

/* ---- room ---- */

VIRTUAL(any_number_of_names_one_after_the_other)
{
    struct user user;
    char name[32];
    open_user(&user);
    for (unsigned i = 0; i < 3000; i++) {
        snprintf(name, sizeof name, "name-%u", i);
        ask(&user, name, 0);
        ADVANCE(1);
        assert_int_equal(user.told[REDLOCK_ACQUIRED], i + 1);
        release(&user);
    }
    close_user(&user);
}

VIRTUAL(too_many_names_at_once_are_refused)
{
    struct user user;
    char name[32];
    open_user(&user);
    for (unsigned i = 0; i < 600; i++) {
        snprintf(name, sizeof name, "name-%u", i);
        ask(&user, name, 0);
        ADVANCE(0);
    }
    assert_in_range(user.told[REDLOCK_ACQUIRED], 500, 511);
    assert_int_equal(user.told[REDLOCK_ACQUIRED] + user.told[REDLOCK_NOT_ACQUIRED], 600);
    assert_non_null(strstr(user.text, "no room"));
    close_user(&user);
}

VIRTUAL(too_many_permits_are_refused)
{
    struct user user;
    open_user(&user);
    ask_with(&user, "pool", (redlock_lease_options){.permits = 33});
    ADVANCE(1000);
    assert_int_equal(user.told[REDLOCK_NOT_ACQUIRED], 1);
    assert_non_null(strstr(user.text, "no room"));
    close_user(&user);
}

/* ---- each kind of request ---- */

VIRTUAL(permits_have_slots)
{
    struct user users[4];
    redlock_lease_options permit = {.permits = 3};
    unsigned slots = 0;
    for (unsigned i = 0; i < 4; i++) {
        open_user(&users[i]);
        permit.wait_ms = i == 3 ? REDLOCK_FOREVER : 0;
        ask_with(&users[i], "pool", permit);
        ADVANCE(10);
        assert_int_equal(users[i].told[REDLOCK_ACQUIRED], i < 3);
        slots |= i < 3 ? 1U << redlock_lease_slot(users[i].lease) : 0;
    }
    assert_int_equal(slots, 7);
    release(&users[1]);
    ADVANCE(2000);
    assert_true(holds(&users[3]));
    for (unsigned i = 0; i < 4; i++)
        close_user(&users[i]);
}

VIRTUAL(several_names_readers_and_upgrades)
{
    struct user user;
    redlock_name names[2] = {redlock_name_of("a"), redlock_name_of("b")};
    names[1].mode = REDLOCK_SHARED;
    redlock_lease_options options = {.size = sizeof options, .fence = true};
    open_user(&user);
    assert_int_equal(
        redlock_acquire_names(user.client, &user.lease, names, 2, &options, on_event, &user),
        REDLOCK_OK);
    ADVANCE(60000);
    assert_true(holds(&user) && redlock_lease_fence(user.lease) > 0);
    assert_int_equal(redlock_lease_upgrade(user.lease), REDLOCK_OK);
    ADVANCE(0);
    assert_int_equal(user.told[REDLOCK_CHANGED], 1);
    assert_int_equal(redlock_lease_downgrade(user.lease), REDLOCK_OK);
    ADVANCE(0);
    assert_int_equal(user.told[REDLOCK_CHANGED], 2);
    assert_int_equal(redlock_lease_extend(user.lease, 20000), REDLOCK_OK);
    ADVANCE(0);
    assert_int_equal(user.told[REDLOCK_EXTENDED], 1);
    release(&user);
    close_user(&user);
}

static void on_look(redlock_look *look, const redlock_look_result *result, void *data)
{
    (void)look;
    char *text = data;
    for (unsigned i = 0; i < result->masters; i++)
        if (result->views[i]->kind == REDLOCK_VOTE_HELD && result->views[i]->holder)
            snprintf(text, 256, "%s", result->views[i]->holder);
}

static void on_survey(redlock_survey *survey, const redlock_survey_page *page, void *data)
{
    (void)survey;
    unsigned *count = data;
    assert_int_equal(page->code, REDLOCK_OK);
    for (size_t i = 0; i < page->count; i++)
        *count += page->names[i]->length == 4 && memcmp(page->names[i]->bytes, "name", 4) == 0;
}

VIRTUAL(looks_and_surveys_tell_holders)
{
    struct user user;
    redlock_look *look;
    redlock_survey *survey;
    redlock_name name = redlock_name_of("name");
    char text[256] = "";
    unsigned found = 0;
    redlock_testing_hold("name", 60000);
    open_user(&user);
    assert_int_equal(redlock_look_begin(user.client, &look, &name, 1, NULL, on_look, text),
                     REDLOCK_OK);
    assert_int_equal(redlock_survey_begin(user.client, &survey, NULL, on_survey, &found),
                     REDLOCK_OK);
    ADVANCE(1000);
    assert_non_null(strstr(text, ":another"));
    assert_int_equal(found, 5);
    redlock_look_free(look);
    redlock_survey_free(survey);
    close_user(&user);
}

static void on_leader(redlock_observer *observer, const redlock_leader *leader, void *data)
{
    (void)observer;
    snprintf(data, 64, "%.*s", (int)leader->length, (const char *)leader->value);
}

VIRTUAL(a_leader_is_observed)
{
    struct user leads, looks;
    redlock_observer *observer;
    char value[64] = "?";
    open_user(&leads);
    open_user(&looks);
    assert_int_equal(redlock_observer_begin(looks.client, &observer, "leader", on_leader, value),
                     REDLOCK_OK);
    ask_with(&leads, "leader", (redlock_lease_options){.fence = true});
    ADVANCE(0);
    assert_int_equal(redlock_lease_announce(leads.lease, "host 1", 6), REDLOCK_OK);
    ADVANCE(100);
    assert_string_equal(value, "host 1");
    release(&leads);
    ADVANCE(100);
    assert_string_equal(value, "");
    redlock_observer_free(observer);
    close_user(&leads);
    close_user(&looks);
}

static void on_passage(redlock_barrier *party, const redlock_barrier_result *passage, void *data)
{
    (void)party;
    *(unsigned *)data += passage->code == REDLOCK_OK;
}

static void on_latch(redlock_latch *latch, const redlock_latch_result *result, void *data)
{
    (void)latch;
    *(unsigned *)data += result->code == REDLOCK_OK;
}

VIRTUAL(parties_meet_and_latches_open)
{
    struct user users[3];
    redlock_barrier *parties[3];
    redlock_latch *calls[3];
    unsigned passed = 0, told = 0;
    redlock_barrier_options barrier = {.size = sizeof barrier, .parties = 3, .generation = 1};
    redlock_latch_options latch = {.size = sizeof latch, .arrivals = 1};
    for (unsigned i = 0; i < 3; i++) {
        open_user(&users[i]);
        assert_int_equal(redlock_barrier_arrive(users[i].client, &parties[i], "meet", &barrier,
                                                on_passage, &passed),
                         REDLOCK_OK);
        ADVANCE(1000);
        assert_int_equal(passed, i == 2 ? 3 : 0);
    }
    assert_int_equal(
        redlock_latch_create(users[0].client, &calls[0], "gate", &latch, on_latch, &told),
        REDLOCK_OK);
    ADVANCE(1000);
    assert_int_equal(told, 1);
    assert_int_equal(redlock_latch_await(users[1].client, &calls[1], "gate", NULL, on_latch, &told),
                     REDLOCK_OK);
    ADVANCE(5000);
    assert_int_equal(told, 1);
    assert_int_equal(
        redlock_latch_arrive(users[2].client, &calls[2], "gate", NULL, on_latch, &told),
        REDLOCK_OK);
    ADVANCE(1000);
    assert_int_equal(told, 3);
    for (unsigned i = 0; i < 3; i++)
        close_user(&users[i]);
}

/* ---- real time ---- */

REAL(threads_have_the_name_one_after_the_other)
{
    redlock_sync *clients[4];
    redlock_sync_lease *lease;
    redlock_options options = {.size = sizeof options, .nodes = "memory://5"};
    redlock_lease_options waits = {.size = sizeof waits, .wait_ms = 30000};
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(redlock_sync_open(&clients[i], &options, NULL, 0), REDLOCK_OK);
    for (unsigned i = 0; i < 40; i++) {
        redlock_sync *client = clients[i % 4];
        assert_int_equal(redlock_sync_acquire(client, &lease, "name", &waits, NULL), REDLOCK_OK);
        assert_true(redlock_sync_lease_valid_for(lease) > 0);
        redlock_sync_lease_free(lease);
    }
    for (unsigned i = 0; i < 4; i++) {
        redlock_sync_close(clients[i], 1000);
        redlock_sync_free(clients[i]);
    }
}

static void on_acquired_stop(redlock_lease *lease, const redlock_event *event, void *data)
{
    assert_int_equal(event->kind, REDLOCK_ACQUIRED);
    redlock_lease_free(lease);
    ev_break(data, EVBREAK_ALL);
}

REAL(a_loop_of_libev_runs_it)
{
    struct user user;
    redlock_lease *lease;
    struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
    open_with(&user, loop, (redlock_options){0});
    assert_int_equal(redlock_acquire(user.client, &lease, "name", NULL, on_acquired_stop, loop),
                     REDLOCK_OK);
    ev_run(loop, 0);
    close_user(&user);
    ev_loop_destroy(loop);
}

/* Its masters and clients are its own. */
static int use_as_child(struct user *parents)
{
    struct user user;
    for (unsigned i = 0; i < 5; i++) {
        redlock_testing_hang(i, true);
        redlock_testing_kill(i);
    }
    if (redlock_lease_valid_for(parents->lease) || redlock_testing_advance(1000))
        return 1;
    for (unsigned i = 0; i < 5; i++)
        redlock_testing_restart(i, false);
    close_user(parents);
    if (redlock_testing_begin(REDLOCK_TESTING_VIRTUAL))
        return 2;
    open_user(&user);
    ask(&user, "name", 0);
    ADVANCE(3 * TTL);
    return holds(&user) ? 0 : 3;
}

VIRTUAL(a_forked_child_has_virtual_time_of_its_own)
{
    struct user user;
    int status;
    open_user(&user);
    ask(&user, "name", 0);
    ADVANCE(0);
    pid_t child = fork();
    if (child == 0)
        _exit(use_as_child(&user));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    ADVANCE(0);
    assert_int_equal(redlock_testing_now_ms(), 0);
    ADVANCE(3 * TTL);
    assert_true(holds(&user));
    assert_int_equal(user.told[REDLOCK_AT_RISK], 0);
    redlock_node node = {.size = sizeof node};
    redlock_node_get(user.client, 0, &node);
    assert_int_equal(node.state, REDLOCK_NODE_UP);
    close_user(&user);
}

static redlock_code acquire_and_let_go(void)
{
    redlock_sync *client;
    redlock_sync_lease *lease;
    redlock_options options = {.size = sizeof options, .nodes = "memory://3"};
    redlock_code code = redlock_sync_open(&client, &options, NULL, 0);
    if (code)
        return code;
    code = redlock_sync_acquire(client, &lease, "name", NULL, NULL);
    redlock_sync_lease_free(lease);
    redlock_sync_close(client, 1000);
    redlock_sync_free(client);
    return code;
}

REAL(a_forked_child_has_masters_of_its_own)
{
    int status;
    redlock_testing_hold("name", 60000);
    pid_t child = fork();
    if (child == 0) {
        redlock_code held = acquire_and_let_go();
        redlock_testing_give("name");
        _exit(held != REDLOCK_E_HELD || acquire_and_let_go() != REDLOCK_OK);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(acquire_and_let_go(), REDLOCK_E_HELD);
}

PROGRAM_OF_CASES(NULL, NULL)
