/* Which clients of a fleet go on when their lists differ, by the words of masters.
 * rule: A4, A5, A6, A7, A8, A9, A11, D1, D2, D3 */
#include "core_world.h"

#include <stdarg.h>
#include <stdio.h>

#include "masters/agreement.h"
#include "masters/master_parts.h"

#define HOUR MS(3600 * 1000)
#define WEEK (168 * HOUR)

static const char *const addresses[MASTERS_MAX] = {"10.0.0.1:1", "10.0.0.2:1", "10.0.0.3:1",
                                                   "10.0.0.4:1", "10.0.0.5:1", "10.0.0.6:1",
                                                   "10.0.0.7:1", "10.0.0.8:1", "10.0.0.9:1"};

/* No master counts as hung here. */
static struct engine_config config_of(unsigned masters, unsigned spare)
{
    struct engine_config config = {.masters = masters,
                                   .spare = spare,
                                   .drift_ppm = 10000,
                                   .max_ttl_ms = 30000,
                                   .skew_ms = 1000,
                                   .connect_timeout = MS(600000),
                                   .request_timeout = MS(600000),
                                   .channel = "channel",
                                   .fleet = "fleet"};
    memcpy(config.addresses, addresses, sizeof config.addresses);
    return config;
}

static void begin(unsigned masters, unsigned spare)
{
    struct engine_config config = config_of(masters, spare);
    fake_init(&fake);
    fake.silent = true;
    for (unsigned i = 0; i < masters; i++)
        fake.masters[i].uptime_s = 3600;
    assert_true(fake_start(&fake, &config));
}

/* Masters are counted from 1, as their addresses are. */
static void greet(unsigned master)
{
    fake_connected(&fake, master - 1);
    assert_true(fake_answer_hello(&fake, master - 1));
}

static void greet_all(void)
{
    for (unsigned i = 1; i <= fake.engine.config.masters; i++)
        greet(i);
}

static void begin_greeted(unsigned masters, unsigned spare)
{
    begin(masters, spare);
    greet_all();
}

static enum request_kind asked_first(unsigned master)
{
    assert_true(fake.masters[master - 1].count);
    return fake.masters[master - 1].waiting[0].kind;
}

static void answer_hello(unsigned master)
{
    assert_int_equal(asked_first(master), REQUEST_HELLO);
    fake_answer_hello(&fake, master - 1);
}

/* ---- words ---------------------------------------------------------------------------- */

/* The knowledge of masters about the process of each server, counted from 1. */
static struct known {
    usec since, until; /* ages; below 0: the process was not heard */
    unsigned run;      /* 0: that of the server */
} known[MASTERS_MAX + 1];
static bool by_host; /* others name the servers in another way than we do */

static int know_nothing(void **state)
{
    (void)state;
    for (unsigned i = 0; i <= MASTERS_MAX; i++)
        known[i] = (struct known){-1, -1, 0};
    by_host = false;
    return 0;
}

#define CASE_HERE(name) CASE_WITH(name, know_nothing, core_tear_down)

static char text[8192];
static size_t used;

static void put(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void put(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    used += (size_t)vsnprintf(text + used, sizeof text - used, format, arguments);
    va_end(arguments);
    assert_true(used < sizeof text);
}

static void put_process(unsigned server)
{
    const struct known *is = &known[server];
    if (is->since < 0)
        put("0 0 - ");
    else
        put("%lld %lld run-%u ", (long long)is->since, (long long)is->until,
            is->run ? is->run : server);
    put(by_host ? "host-%u:1\n" : "10.0.0.%u:1\n", server);
}

/* `servers` are digits. */
static void put_list(char place, const char *servers, unsigned spare)
{
    unsigned count = (unsigned)strlen(servers);
    put("%c 9000000 1000000 1 %u %u 30000 %u web\n", place, quorum_of(count, spare), spare, count);
    for (unsigned i = 0; i < count; i++)
        put_process((unsigned)(servers[i] - '0'));
}

static void open_word(void)
{
    used = 0;
    put("1700000000000000\n");
}

static void answer_word(unsigned master)
{
    assert_int_equal(asked_first(master), REQUEST_AGREE);
    fake_answer(&fake, master - 1, &(struct reply){.answer = ANSWER_YES, .lists = {text, used}});
}

/* The master tells of this list alone. */
static void tell(unsigned master, char place, const char *servers, unsigned spare)
{
    open_word();
    put_list(place, servers, spare);
    answer_word(master);
}

static void tell_nothing(unsigned master)
{
    open_word();
    answer_word(master);
}

static void tell_nothing_from(unsigned first, unsigned last)
{
    for (unsigned i = first; i <= last; i++)
        tell_nothing(i);
}

static void tell_all(char place, const char *servers, unsigned spare)
{
    for (unsigned i = 1; i <= fake.engine.config.masters; i++)
        tell(i, place, servers, spare);
}

enum is { GOES_ON, WAITS, REFUSED };

static enum is client(void)
{
    fake.engine.now = fake.now; /* that of the last step may be long ago */
    if (fake.engine.differs)
        return REFUSED;
    for (unsigned i = 0; i < fake.engine.config.masters; i++)
        if (agreement_holds(&fake.engine, i))
            return GOES_ON;
    return WAITS;
}

/* One of three masters, whose list nobody else has. */
static void begin_alone(void)
{
    begin_greeted(3, 0);
    tell_nothing_from(1, 3);
}

/* ---- by numbers and addresses ------------------------------------------------------------ */

/* Ours and theirs by their servers, and whether any two quorums of theirs meet. */
static const struct {
    const char *ours, *theirs;
    unsigned spare, their_spare;
    bool meet;
} lists[] = {
    {"12345", "12345", 0, 0, true},
    {"12345", "123456", 0, 0, true}, /* from five to six */
    {"123456", "12345", 0, 0, true},
    {"1234", "12345", 0, 0, true},
    {"123", "1234", 0, 0, true},
    {"12", "123", 0, 0, true},
    {"1", "12", 0, 0, true},
    {"12345", "123", 0, 0, false},
    {"123", "12345", 0, 0, false},
    {"12345", "1234567", 0, 0, false},
    {"1", "123", 0, 0, false},
    {"123", "124", 0, 0, true}, /* 3 and 4 may be one server */
    {"12345", "67891", 0, 0, true},
    {"12345", "123456", 1, 1, true},
    {"12345", "1234", 1, 1, true},
    {"12345", "123", 1, 0, true}, /* safe without a liar: shown, not refused */
    {"12345", "1", 1, 0, false},
    {"1", "12345", 0, 1, false},
    {"1234567", "12", 1, 0, false},
    {"12345", "1234567", 1, 1, true},
    {"12345", "123456789", 1, 1, false},
};

CASE_HERE(lists_whose_quorums_meet_are_used_together)
{
    for (size_t i = 0; i < COUNT(lists); i++) {
        begin_greeted((unsigned)strlen(lists[i].ours), lists[i].spare);
        tell_all('<', lists[i].theirs, lists[i].their_spare);
        if (client() != (lists[i].meet ? GOES_ON : REFUSED))
            fail_msg("%s beside %s", lists[i].ours, lists[i].theirs);
        if (i + 1 < COUNT(lists))
            core_tear_down(NULL);
    }
}

/* A list that is ours by all but its longest ttl. */
CASE_HERE(another_longest_ttl_is_no_other_list)
{
    begin_greeted(3, 0);
    for (unsigned i = 1; i <= 3; i++) {
        open_word();
        put("< 1 1 1 2 0 60000 3 web\n");
        for (unsigned server = 1; server <= 3; server++)
            put_process(server);
        answer_word(i);
    }
    assert_int_equal(client(), GOES_ON);
}

static bool is_told_unlike(unsigned spare, int64_t max_ttl_ms)
{
    struct told_list list;
    return agreement_unlike(&fake.engine, &list) && list.spare == spare &&
           list.max_ttl_ms == max_ttl_ms;
}

CASE_HERE(lists_of_our_masters_that_count_otherwise_are_known)
{
    struct told_list list;
    begin_greeted(5, 0);
    tell_all('>', "1234", 0);
    assert_false(agreement_unlike(&fake.engine, &list));
    core_tear_down(NULL);
    begin_greeted(5, 0);
    tell_all('>', "123456", 0);
    assert_false(agreement_unlike(&fake.engine, &list));
    core_tear_down(NULL);
    begin_greeted(5, 0);
    open_word();
    put_list('=', "12345", 0);
    answer_word(1);
    assert_false(agreement_unlike(&fake.engine, &list));
    open_word();
    put_list('<', "12345", 1);
    put_list('<', "12345", 2);
    put_list('<', "1234", 2);
    answer_word(2);
    assert_true(is_told_unlike(2, 30000));
    open_word();
    put("< 1 1 1 3 0 60000 5 web\n");
    for (unsigned server = 1; server <= 5; server++)
        put_process(server);
    put_list('<', "12345", 3);
    answer_word(3);
    assert_true(is_told_unlike(0, 60000));
    assert_int_equal(client(), GOES_ON);
}

CASE_HERE(a_liar_alone_tells_of_no_other_count)
{
    struct told_list list;
    begin_greeted(5, 1);
    tell(1, '<', "12345", 0);
    assert_false(agreement_unlike(&fake.engine, &list));
    tell(2, '>', "12345", 0);
    assert_true(is_told_unlike(0, 30000));
}

/* ---- by processes: {1, 2, 3, 4, 6} beside ours of 1 to 5 ----------------------------------- */

/* Some time after the hello of all. */
static void begin_later(void)
{
    begin_greeted(5, 0);
    fake_advance(&fake, MS(5000));
}

/* Of 6, as all masters tell: since and until when it was heard, in ms before now.  And the seconds
 * for which each of ours is up, 5 apart; how long ago it said so. */
static const struct {
    const char *why;
    int64_t since_ms, until_ms;
    int64_t up_s, up_5_s, later_ms;
    enum is client;
} processes[] = {
    {"two servers of one time are two", 200000, 60000, 3600, 3600, 5000, REFUSED},
    {"a process that is not heard may be ours", -1, -1, 3600, 3600, 5000, GOES_ON},
    {"5 may have followed the process that was 6", 200000, 60000, 3600, 61, 0, GOES_ON},
    /* By more than the seconds to which uptime is cut, the skew and the drift. */
    {"an older process has not followed", 200000, 60000, 3600, 65, 0, REFUSED},
    /* The clock that tells uptime may be fast, and 1 % is before the start of 6. */
    {"uptime drifts", 594000000, 594000000, WEEK / 1000000, WEEK / 1000000, 0, GOES_ON},
    {"the connection to 5 may be dead, and 6 have followed", 1000, 500, 3600, 3600, 5000, GOES_ON},
    {"ages drift by 51 ms, and 2 more", 5100, 500, 3600, 3600, 5000, REFUSED},
    {"and that is not enough", 5050, 500, 3600, 3600, 5000, GOES_ON},
};

CASE_HERE(what_is_known_of_a_process)
{
    for (size_t i = 0; i < COUNT(processes); i++) {
        if (i > 0)
            core_tear_down(NULL);
        known[6] = (struct known){MS(processes[i].since_ms), MS(processes[i].until_ms), 0};
        begin(5, 0);
        for (unsigned master = 0; master < 5; master++)
            fake.masters[master].uptime_s = processes[i].up_s;
        fake.masters[4].uptime_s = processes[i].up_5_s;
        greet_all();
        fake_advance(&fake, MS(processes[i].later_ms));
        tell_all('<', "12346", 0);
        if (client() != processes[i].client)
            fail_msg("%s", processes[i].why);
    }
}

/* Servers 5 and 6 were both there for an hour, as far as the words tell. */
static void both_are_old(void)
{
    known[6] = (struct known){MS(200000), MS(60000), 0};
}

/* It is known with the first answer to what was asked later. */
CASE_HERE(it_counts_at_once_that_a_master_has_answered)
{
    for (unsigned i = 1; i <= 4; i++)
        known[i] = (struct known){MS(200000), MS(60000), 0};
    known[6] = (struct known){MS(1000), MS(500), 0};
    begin_later();
    tell_all('<', "12346", 0);
    fake_advance(&fake, MS(10000));
    assert_int_equal(client(), GOES_ON);
    answer_hello(5);
    assert_int_equal(client(), REFUSED);
}

/* The master's clock was set back. */
CASE_HERE(ages_of_the_future_prove_nothing)
{
    both_are_old();
    begin_later();
    for (unsigned i = 1; i <= 5; i++) {
        open_word();
        put("< 0 0 1 3 0 30000 5 web\n");
        for (unsigned server = 1; server <= 4; server++)
            put_process(server);
        put("200000000 -5000000 run-6 10.0.0.6:1\n");
        answer_word(i);
    }
    assert_int_equal(client(), GOES_ON);
}

CASE_HERE(a_server_has_many_names)
{
    for (unsigned i = 1; i <= 6; i++)
        known[i] = (struct known){MS(200000), MS(60000), 0};
    by_host = true;
    begin_later();
    tell_all('<', "12345", 0);
    assert_int_equal(client(), GOES_ON);
    core_tear_down(NULL);
    begin_later();
    tell_all('<', "12346", 0);
    assert_int_equal(client(), REFUSED);
}

/* One word of a list whose first server is ours; the two others are these. */
static enum is beside(const char *second, const char *third)
{
    begin_greeted(3, 0);
    open_word();
    put("< 9000000 1000000 1 2 0 30000 3 web\n0 0 - 10.0.0.1:1\n%s\n%s\n", second, third);
    answer_word(1);
    tell_nothing_from(2, 3);
    enum is it = client();
    core_tear_down(NULL);
    return it;
}

CASE_WITH(databases_of_a_server_are_two_masters, know_nothing, know_nothing)
{
    assert_int_equal(beside("9000 500 run-2 host-2:1", "0 0 - host-3:1"), GOES_ON);
    assert_int_equal(beside("9000 500 run-2 10.0.0.2:1/1", "9000 500 run-3 10.0.0.3:1/15"),
                     REFUSED);
    assert_int_equal(beside("0 0 - unix:/run/2", "0 0 - unix:/run/3"), GOES_ON);
    assert_int_equal(beside("0 0 - unix:/run/2?db=1", "0 0 - unix:/3?db=1"), REFUSED);
    assert_int_equal(beside("0 0 - 2", "0 0 - 3"), GOES_ON); /* no address of ours */
}

/* One of ours that is down may be 6, and its entry there may be 5, which was not heard. */
CASE_HERE(a_master_that_is_down_may_be_any)
{
    both_are_old();
    begin(5, 0);
    for (unsigned i = 1; i <= 5; i++)
        if (i != 4)
            greet(i);
    fake_advance(&fake, MS(5000));
    fake_lose(&fake, 3, "refused");
    tell(1, '<', "12346", 0);
    tell(2, '<', "12346", 0);
    tell(3, '<', "12346", 0);
    tell_nothing(5);
    assert_int_equal(client(), GOES_ON);
}

/* Each of as many masters as may be wrong makes one pair look different. */
CASE_HERE(a_liar_may_tell_a_false_run_id)
{
    both_are_old();
    begin_greeted(5, 1);
    fake_advance(&fake, MS(5000));
    tell_all('<', "12346", 1);
    assert_int_equal(client(), GOES_ON);
}

CASE_HERE(no_age_overflows)
{
    for (unsigned i = 1; i <= 9; i++)
        known[i] = (struct known){INT64_C(1) << 53, INT64_C(1) << 53, 0};
    begin(5, 0);
    for (unsigned i = 0; i < 5; i++)
        fake.masters[i].uptime_s = i % 2 ? INT64_MAX : INT64_MIN;
    greet_all();
    tell_all('<', "67891", 0);
    assert_int_equal(client(), GOES_ON);
}

/* ---- whose list goes ---------------------------------------------------------------------- */

CASE_HERE(a_common_master_that_tells_nothing_is_for_us)
{
    begin_greeted(5, 0);
    tell(1, '<', "123", 0);
    tell_nothing(2);
    tell_nothing(4); /* it is not theirs */
    tell_nothing(5);
    assert_int_equal(client(), WAITS);
    tell_nothing(3);
    assert_int_equal(client(), GOES_ON);
}

static void answer_error(unsigned master)
{
    assert_int_equal(asked_first(master), REQUEST_AGREE);
    fake_answer(&fake, master - 1, &(struct reply){.answer = ANSWER_ERROR});
}

/* Else two masters that refuse writes for a moment outweigh the third, and two hold at once. */
CASE_HERE(an_error_of_a_common_master_is_not_for_us)
{
    begin_greeted(3, 0);
    tell(3, '<', "12345", 0);
    answer_error(1);
    answer_error(2);
    assert_int_equal(client(), REFUSED);
}

/* Their only server is our second one, as its run_id tells. */
CASE_HERE(a_common_master_is_known_by_its_process)
{
    by_host = true;
    begin_greeted(3, 0);
    tell(1, '<', "8", 0);
    tell_nothing(2);
    tell_nothing(3);
    assert_int_equal(client(), REFUSED);
    core_tear_down(NULL);
    known[7] = (struct known){MS(1000), MS(500), 2};
    known[8] = (struct known){MS(1000), MS(500), 3};
    begin_greeted(5, 0);
    tell(1, '<', "78", 0);
    tell_nothing_from(2, 5);
    assert_int_equal(client(), GOES_ON);
    core_tear_down(NULL);
    known[8].run = 8; /* none of ours */
    begin_greeted(5, 0);
    tell(1, '<', "78", 0);
    tell_nothing_from(2, 5);
    assert_int_equal(client(), REFUSED);
}

/* ---- liars ---------------------------------------------------------------------------------- */

CASE_HERE(a_liar_alone_refuses_nobody)
{
    begin_greeted(5, 1);
    open_word();
    for (unsigned i = 0; i < 6; i++)
        put_list('<', i % 2 ? "2" : "1", 0); /* however often it says so */
    answer_word(1);
    tell_nothing_from(2, 5);
    assert_int_equal(client(), GOES_ON);
}

CASE_HERE(two_that_tell_refuse)
{
    begin_greeted(5, 1);
    tell(1, '<', "1", 0);
    assert_int_equal(client(), GOES_ON);
    tell(2, '<', "1", 0);
    assert_int_equal(client(), REFUSED);
}

/* Its run_ids alone make no master theirs. */
CASE_HERE(a_liar_names_no_masters_by_their_processes)
{
    begin_greeted(7, 1);
    tell(1, '<', "58", 0);
    known[5] = known[8] = (struct known){MS(1000), MS(500), 4};
    tell(3, '>', "58", 0);
    tell_nothing(2);
    tell_nothing_from(4, 7);
    assert_int_equal(client(), REFUSED);
}

/* Time and memory have a bound. */
CASE_HERE(no_more_is_kept_than_an_honest_master_tells)
{
    begin_greeted(3, 0);
    size_t before = fake.allocated;
    open_word();
    for (unsigned i = 0; i < 40; i++)
        put_list('>', "12345", 0);
    answer_word(1);
    assert_in_range(fake.allocated - before, 1, 2048);
}

CASE_HERE(a_master_without_its_script_is_not_asked_for_ever)
{
    begin_greeted(3, 0);
    for (unsigned i = 0; i < 2; i++)
        fake_answer(&fake, 0, &(struct reply){.answer = ANSWER_NOSCRIPT});
    assert_int_equal(fake.masters[0].count, 0);
}

CASE_HERE(no_memory_for_a_word_is_no_word)
{
    begin_greeted(3, 0);
    fake.countdown = 1;
    tell(1, '<', "12345", 0);
    fake.countdown = 0;
    assert_true(fake.starved);
    assert_false(agreement_holds(&fake.engine, 0));
    tell_nothing_from(2, 3);
    fake_advance(&fake, 1);
    assert_true(agreement_is_due(&fake.engine)); /* it is asked for again */
}

/* ---- a saying is a lease -----------------------------------------------------------------------
 */

CASE_HERE(a_word_counts_for_two_minutes)
{
    begin_greeted(3, 0);
    usec asked_at = fake.now;
    fake_advance(&fake, MS(9000)); /* from its question on, and not from its answer */
    tell_nothing_from(1, 3);
    fake_advance(&fake, asked_at + MS(120000) - fake.now);
    assert_int_equal(client(), GOES_ON);
    fake_advance(&fake, 1);
    assert_int_equal(client(), WAITS);
}

CASE_HERE(a_connection_takes_its_word_along)
{
    begin_alone();
    fake_lose(&fake, 0, "reset");
    assert_false(agreement_holds(&fake.engine, 0));
    assert_true(agreement_holds(&fake.engine, 1));
    fake_advance(&fake, MS(1000));
    greet(1);
    assert_false(agreement_holds(&fake.engine, 0));
    tell_nothing(1);
    assert_true(agreement_holds(&fake.engine, 0));
}

static const struct terms terms = {.ttl = MS(30000), .margin = MS(500), .wait = MS(600000)};

static struct actor *acquire_for(const struct terms *terms)
{
    return core_ask("A", "job", terms, EVENT_ACQUIRE);
}

static struct actor *acquire(void)
{
    return acquire_for(&terms);
}

static void grant(unsigned master)
{
    assert_true(request_sets_token(asked_first(master)));
    fake_answer(&fake, master - 1, &(struct reply){.answer = ANSWER_YES});
}

static void grant_all(void)
{
    for (unsigned i = 1; i <= fake.engine.config.masters; i++)
        grant(i);
}

/* They were given, but this process slept until now. */
CASE_HERE(a_promise_without_a_word_does_not_count)
{
    begin_alone();
    fake_advance(&fake, MS(9000));
    struct actor *actor = acquire();
    fake.now += MS(111000) + 1;
    grant_all();
    assert_false(actor->acquired);
}

CASE_HERE(a_refused_client_ends_its_acquires)
{
    begin_greeted(3, 0);
    struct actor *actor = acquire();
    fake.silent = false;
    tell_all('<', "12345", 0);
    assert_true(actor->ended);
    fake_flush(&fake);
    assert_non_null(strstr(fake.trace.bytes, "differs"));
}

/* Renewals that are under way are not counted; the lease runs out. */
CASE_HERE(a_refused_client_prolongs_nothing)
{
    begin_alone();
    struct actor *actor = acquire();
    grant_all();
    usec valid = lease_valid_until(&actor->core);
    fake_advance(&fake, MS(10000) + 1);
    for (unsigned i = 1; i <= 3; i++)
        answer_hello(i);
    fake_call(&fake, actor, EVENT_EXTEND, 0);
    tell_all('<', "12345", 0);
    assert_int_equal(client(), REFUSED);
    grant_all();
    assert_int_equal(lease_valid_until(&actor->core), valid);
    fake_call(&fake, actor, EVENT_EXTEND, 0);
    assert_int_equal(fake.masters[0].count, 0);
}

/* Its answer shows that 5 and 6 are two servers.  The next word may be a minute away. */
CASE_HERE(a_promise_that_does_not_count_ends_the_acquire)
{
    for (unsigned i = 1; i <= 4; i++)
        known[i] = (struct known){MS(200000), MS(60000), 0};
    known[6] = (struct known){MS(1000), MS(500), 0};
    begin_later();
    tell_all('<', "12346", 0);
    assert_int_equal(client(), GOES_ON);
    struct actor *actor = acquire();
    fake.silent = false;
    grant(5);
    assert_int_equal(client(), REFUSED);
    assert_true(actor->ended);
    fake_flush(&fake);
    assert_non_null(strstr(fake.trace.bytes, "differs"));
}

static void settle(void)
{
    assert_true(agreement_holds(&fake.engine, 1));
    agreement_settle(&fake.engine);
}

/* Two lists name the same masters in other ways.  To judge is costly. */
CASE_HERE(promises_are_not_judged_again_for_nothing)
{
    for (unsigned i = 1; i <= 5; i++)
        known[i] = (struct known){MS(200000), MS(60000), 0};
    by_host = true;
    begin_later();
    tell_all('<', "12345", 0);
    fake_advance(&fake, MS(2) + 1);
    acquire();
    for (unsigned i = 5; i; i--) {
        assert_false(agreement_is_sure(&fake.engine));
        grant(i);
    }
    assert_true(agreement_is_sure(&fake.engine)); /* no answer can show more */
    fake_advance(&fake, MS(8000));
    answer_hello(1); /* but another process can */
    assert_false(agreement_is_sure(&fake.engine));
    settle();
    assert_true(agreement_is_sure(&fake.engine));
    fake_lose(&fake, 3, "reset");
    assert_false(agreement_is_sure(&fake.engine));
    settle();
    assert_true(agreement_is_sure(&fake.engine));
    fake_advance(&fake, MS(1000));
    greet(4);
    settle();
    assert_false(agreement_is_sure(&fake.engine));
    tell(4, '<', "12345", 0);
    settle();
    assert_false(agreement_is_sure(&fake.engine)); /* this word is new */
}

/* ---- a master that is yet to be heard ---------------------------------------------------- */

/* A quorum has granted, and tells of {1, 2, 3, 4, 6}; 5 is being connected to for the first time.
 */
static struct actor *acquire_without_5(char place)
{
    begin(5, 0);
    for (unsigned i = 1; i <= 4; i++)
        greet(i);
    fake_advance(&fake, MS(5000));
    for (unsigned i = 1; i <= 4; i++)
        tell(i, place, "12346", 0);
    assert_int_equal(client(), GOES_ON);
    fake_advance(&fake, MS(2) + 1);
    struct actor *actor = acquire();
    for (unsigned i = 1; i <= 4; i++)
        grant(i);
    return actor;
}

CASE_HERE(a_quorum_waits_for_a_master_that_may_refuse_the_list)
{
    both_are_old();
    struct actor *actor = acquire_without_5('<');
    assert_false(actor->acquired);
    fake.silent = false;
    greet(5);
    assert_int_equal(client(), REFUSED);
    assert_true(actor->ended && !actor->acquired);
}

/* It grants nothing, so the lease waits for no answer of it. */
CASE_HERE(nor_does_one_that_abstains_let_it_pass)
{
    both_are_old();
    struct actor *actor = acquire_without_5('<');
    fake.masters[4].quarantined = fake.now + MS(60000);
    fake.silent = false;
    greet(5);
    assert_int_equal(client(), REFUSED);
    assert_true(actor->ended && !actor->acquired);
}

CASE_HERE(it_waits_no_longer_than_until_that_master_is_heard)
{
    both_are_old();
    known[6].run = 5;
    struct actor *actor = acquire_without_5('<');
    assert_false(actor->acquired);
    greet(5);
    assert_true(actor->acquired);
}

CASE_HERE(nor_than_until_it_is_down)
{
    both_are_old();
    struct actor *actor = acquire_without_5('<');
    assert_false(actor->acquired);
    fake_lose(&fake, 4, "refused");
    assert_true(actor->acquired);
}

CASE_HERE(nor_than_for_connections)
{
    both_are_old();
    struct actor *actor = acquire_without_5('<');
    fake_advance(&fake, terms.ttl / 4 - 1);
    assert_false(actor->acquired);
    fake_advance(&fake, 1);
    assert_true(actor->acquired);
}

CASE_HERE(it_waits_for_no_master_that_decides_nothing)
{
    struct actor *actor = acquire_without_5('<'); /* nobody has heard 6 */
    assert_true(actor->acquired);
    core_tear_down(NULL);
    both_are_old();
    actor = acquire_without_5('>'); /* ours was first */
    assert_true(actor->acquired);
    core_tear_down(NULL);
    known[6] = (struct known){0, 0, 0}; /* it may have followed 5 a moment ago */
    actor = acquire_without_5('<');
    assert_true(actor->acquired);
    core_tear_down(NULL);
    known[6] = (struct known){MS(400000), MS(170000), 0};
    actor = acquire_without_5('<');
    assert_false(actor->acquired);
    core_tear_down(NULL);
    known[6].until = MS(180000); /* it is down, and 5 may have followed it */
    actor = acquire_without_5('<');
    assert_true(actor->acquired);
}

CASE_HERE(nor_for_one_that_is_connected_again)
{
    both_are_old();
    begin_greeted(5, 0);
    fake_lose(&fake, 4, "reset");
    fake_advance(&fake, MS(5000));
    for (unsigned i = 1; i <= 4; i++)
        tell(i, '<', "12346", 0);
    struct actor *actor = acquire();
    for (unsigned i = 1; i <= 4; i++)
        grant(i);
    assert_true(actor->acquired);
}

/* ---- an end of it
 * ---------------------------------------------------------------------------------- */

static void begin_refused(void)
{
    begin_greeted(3, 0);
    tell_all('<', "12345", 0);
    assert_int_equal(client(), REFUSED);
    fake_advance(&fake, MS(10000));
    for (unsigned i = 1; i <= 3; i++)
        answer_hello(i);
}

/* The list that refuses ours, and the first master that tells it. */
CASE_HERE(a_refused_client_names_the_other_list)
{
    struct told_list other;
    unsigned teller;
    begin_greeted(3, 0);
    tell_nothing(1);
    assert_false(agreement_other(&fake.engine, &other, &teller));
    tell(2, '<', "12345", 0);
    tell(3, '<', "12345", 0);
    assert_true(agreement_other(&fake.engine, &other, &teller));
    assert_int_equal(other.masters, 5);
    assert_int_equal(teller, 1);
}

/* The words that end it came while we said nothing: all masters are asked anew. */
CASE_HERE(the_others_have_gone)
{
    begin_refused();
    assert_int_equal(fake.engine.agree.says, -1);
    tell_nothing(1);
    assert_int_equal(client(), REFUSED);
    tell_nothing(2);
    assert_int_equal(client(), WAITS);
    assert_int_equal(fake.engine.agree.says, 1);
    assert_int_equal(fake.masters[2].count, 2);
    tell_nothing(3); /* this was asked before */
    tell_nothing(1);
    tell_nothing(2);
    assert_int_equal(client(), WAITS);
    tell_nothing(3);
    assert_int_equal(client(), GOES_ON);
}

/* Not only in its first minute. */
CASE_HERE(a_refused_client_looks_again_soon)
{
    begin_refused();
    tell_all('<', "12345", 0);
    fake_advance(&fake, MS(10000));
    answer_hello(1);
}

/* With the connection goes the word that was against us. */
CASE_HERE(a_connection_ends_that_told_of_them)
{
    begin_greeted(5, 0);
    tell(1, '<', "1", 0);
    tell_nothing_from(2, 5);
    assert_int_equal(client(), REFUSED);
    fake_lose(&fake, 0, "reset");
    assert_int_equal(client(), WAITS);
    tell_nothing_from(2, 5);
    assert_int_equal(client(), GOES_ON);
}

static void close_client(void)
{
    fake_step(&fake, &(struct event){.kind = EVENT_CLOSE});
    fake.closing = true;
}

CASE_HERE(a_client_that_closes_takes_its_list_back)
{
    begin_alone();
    close_client();
    assert_int_equal(fake.engine.agree.says, -1);
    assert_int_equal(asked_first(1), REQUEST_AGREE);
}

CASE_HERE(a_lease_that_is_left_behind_keeps_its_list)
{
    begin_alone();
    struct actor *actor = acquire();
    grant_all();
    fake_call(&fake, actor, EVENT_DETACH, 0);
    close_client();
    assert_int_not_equal(fake.engine.agree.says, -1);
}

/* The names stay taken for the rest of at_least. */
CASE_HERE(a_lease_that_is_kept_keeps_its_list)
{
    static const struct terms kept = {.ttl = MS(30000), .margin = MS(500), .at_least = MS(20000)};
    begin_alone();
    struct actor *actor = acquire_for(&kept);
    grant_all();
    fake_call(&fake, actor, EVENT_RELEASE, 0);
    grant_all(); /* for the rest of it */
    close_client();
    assert_int_not_equal(fake.engine.agree.says, -1);
}

/* ---- a list that is over ------------------------------------------------------------------ */

static void tell_over(unsigned master, const char *successor)
{
    used = 0;
    put("1700000000000000 over %s\n", successor);
    answer_word(master);
}

static bool is_followed_by(const char *list)
{
    struct slice successor;
    return agreement_successor(&fake.engine, &successor) &&
           slices_are_same(successor, slice_of(list));
}

/* As long as the others are a quorum, theirs alone count. */
CASE_HERE(an_ended_list_is_refused_by_all_but_less_than_a_quorum)
{
    begin_greeted(5, 0);
    tell_over(1, "a:1");
    tell_over(2, "a:1");
    tell_nothing_from(3, 5);
    assert_int_equal(client(), GOES_ON);
    assert_false(agreement_holds(&fake.engine, 0));
    assert_true(agreement_holds(&fake.engine, 2));
    assert_false(is_followed_by("a:1"));
    master_agree(&fake.engine, 2, false);
    tell_over(3, "a:1");
    assert_int_equal(client(), REFUSED);
    assert_true(is_followed_by("a:1"));
}

/* Half of the masters may tell the next list of one command, and half that of another. */
CASE_HERE(the_end_is_told_when_a_quorum_tells_the_next_list)
{
    begin_greeted(4, 0);
    tell_nothing_from(1, 4);
    for (unsigned i = 1; i <= 2; i++) {
        master_agree(&fake.engine, i - 1, false);
        tell_over(i, "a:1");
    }
    assert_true(fake.engine.undecided);
    assert_false(is_followed_by("a:1"));
    tell_nothing(3); /* the others were asked for it */
    assert_true(fake.engine.undecided);
    tell_over(4, "a:1");
    assert_false(fake.engine.undecided);
    assert_int_equal(client(), REFUSED);
    assert_true(is_followed_by("a:1"));
}

/* As when a command was interrupted. */
CASE_HERE(the_end_is_told_when_no_quorum_will_tell_the_next_list)
{
    begin_greeted(4, 0);
    tell_over(1, "a:1");
    tell_over(2, "a:1");
    assert_true(fake.engine.undecided);
    tell_nothing(3);
    master_agree(&fake.engine, 0, false); /* its answer changes nothing */
    tell_nothing(4);
    assert_int_equal(client(), REFUSED);
    tell_over(1, "a:1"); /* the others are asked anew */
    assert_int_equal(asked_first(3), REQUEST_AGREE);
    assert_int_equal(client(), REFUSED);
}

/* One that cannot be reached tells nothing. */
CASE_HERE(the_end_is_told_when_all_masters_were_tried)
{
    begin(4, 0);
    for (unsigned i = 1; i <= 2; i++) {
        greet(i);
        tell_over(i, "a:1");
    }
    assert_true(fake.engine.undecided);
    greet(3);
    tell_nothing(3);
    assert_true(fake.engine.undecided);
    fake_lose(&fake, 3, "refused");
    assert_int_equal(client(), REFUSED);
}

/* One liar may say so of each list. */
CASE_HERE(one_who_may_be_wrong_ends_no_list)
{
    begin_greeted(5, 1);
    tell_over(1, "a:1");
    tell_nothing_from(2, 5);
    assert_int_equal(client(), GOES_ON);
}

/* A master that has ended our list is no witness whose word may still come. */
CASE_HERE(nobody_waits_for_the_word_of_a_master_that_ended_ours)
{
    begin_greeted(3, 0);
    tell_over(1, "a:1");
    tell(2, '<', "12345", 0);
    assert_int_equal(client(), REFUSED); /* master 3 alone cannot change that */
    assert_false(is_followed_by("a:1")); /* it is refused by the other list */
}

/* A master that has said so is not asked again at each request. */
CASE_HERE(a_word_of_the_end_is_asked_for_no_sooner)
{
    begin_greeted(5, 0);
    tell_over(1, "a:1");
    tell_nothing_from(2, 5);
    assert_false(agreement_is_due(&fake.engine));
    fake.engine.now = fake.now += MS(76000);
    assert_true(agreement_is_due(&fake.engine));
}

/* Our list may be used again, if a tool has taken the end back. */
CASE_HERE(a_master_that_ended_our_list_is_looked_at_sooner)
{
    begin_greeted(5, 0);
    for (unsigned looks = 0; looks < 2; looks++) {
        tell_over(1, "a:1");
        for (unsigned i = 2; i <= 5 && fake.masters[i - 1].count; i++)
            tell_nothing(i);
        fake_advance(&fake, MS(10000));
        for (unsigned i = 1; i <= 5 && fake.masters[i - 1].count; i++)
            answer_hello(i);
    }
    assert_int_equal(asked_first(1), REQUEST_AGREE);
    assert_int_equal(fake.masters[1].count, 0);
}

/* Its word counted until then. */
CASE_HERE(a_promise_does_not_count_from_the_word_of_the_end_on)
{
    begin_alone();
    assert_true(agreement_holds(&fake.engine, 0));
    master_agree(&fake.engine, 0, false);
    tell_over(1, "a:1");
    assert_false(agreement_holds(&fake.engine, 0));
    assert_true(agreement_holds(&fake.engine, 1));
}

static void begin_ended(void)
{
    begin_greeted(3, 0);
    for (unsigned i = 1; i <= 3; i++)
        tell_over(i, i == 2 ? "a:1,b:1" : "");
    fake_advance(&fake, MS(10000));
    for (unsigned i = 1; i <= 3; i++)
        answer_hello(i);
}

CASE_HERE(a_client_of_an_ended_list_takes_it_back)
{
    begin_ended();
    assert_int_equal(client(), REFUSED);
    assert_true(is_followed_by("a:1,b:1")); /* by one that names it */
    assert_int_equal(fake.engine.agree.says, SAYS_NO_MORE);
}

/* The tool that ended it takes that back. */
CASE_HERE(an_end_that_is_taken_back)
{
    struct slice successor;
    begin_ended();
    tell_nothing(1);
    assert_int_equal(client(), REFUSED);
    tell_nothing(2);
    assert_int_equal(client(), WAITS);
    assert_int_equal(fake.engine.agree.says, SAYS_OURS);
    assert_false(agreement_successor(&fake.engine, &successor));
    tell_nothing(3); /* this was asked before */
    tell_nothing_from(1, 3);
    assert_int_equal(client(), GOES_ON);
}

static void one_ends_ours_and_tells_another(void)
{
    used = 0;
    put("1700000000000000 over a:1\n");
    put_list('<', "12345", 0);
    answer_word(1);
    tell_nothing_from(2, 3);
}

/* Such a master is no witness of other lists. */
CASE_HERE(other_lists_are_nothing_to_an_ended_one)
{
    begin_greeted(3, 0);
    one_ends_ours_and_tells_another();
    assert_int_equal(client(), GOES_ON);
    assert_false(fake.engine.in_question);
}

/* Another process, or another network, may be behind the next one. */
CASE_HERE(the_end_is_forgotten_with_the_connection)
{
    begin_ended();
    fake_lose(&fake, 0, "reset");
    assert_int_equal(client(), REFUSED);
    fake_lose(&fake, 1, "reset");
    assert_int_not_equal(client(), REFUSED);
}

/* ---- who only looks --------------------------------------------------------------------- */

static void begin_looking_at(const char *fleet)
{
    struct engine_config config = config_of(3, 0);
    config.looks_only = true;
    config.fleet = fleet;
    fake_init(&fake);
    fake.silent = true;
    for (unsigned i = 0; i < 3; i++)
        fake.masters[i].uptime_s = 3600;
    assert_true(fake_start(&fake, &config));
    greet_all();
}

static void begin_looking(void)
{
    begin_looking_at("fleet");
}

/* People watch it. */
CASE_HERE(who_looks_asks_again_soon)
{
    begin_looking();
    tell_nothing_from(1, 3);
    fake_advance(&fake, MS(5000));
    answer_hello(1);
    core_tear_down(NULL);
    begin_looking_at(NULL); /* at locks alone */
    fake_advance(&fake, MS(5000));
    assert_int_equal(fake.masters[0].count, 0);
}

CASE_HERE(who_looks_says_nothing)
{
    struct told_list other;
    unsigned teller;
    begin_looking();
    assert_int_equal(asked_first(1), REQUEST_AGREE);
    assert_int_equal(fake.engine.agree.says, 0);
    tell_all('<', "12345", 0); /* the lists that it sees refuse nothing */
    assert_int_equal(client(), GOES_ON);
    assert_false(agreement_other(&fake.engine, &other, &teller));
    fake_step(&fake, &(struct event){.kind = EVENT_CLOSE});
    fake.closing = true;
    assert_int_equal(fake.engine.agree.says, 0);
}

/* It sees the lists of others, and whether its own is over. */
CASE_HERE(who_looks_may_end_a_list)
{
    struct list_in_use found[LISTS_IN_USE_MOST];
    begin_looking();
    one_ends_ours_and_tells_another();
    assert_int_equal(client(), GOES_ON);
    assert_int_equal(agreement_lists(&fake.engine, found), 1);
    assert_true(engine_master(&fake.engine, 0).ended_ours);
    assert_true(slices_are_same(engine_master(&fake.engine, 0).successor, slice_of("a:1")));
    assert_false(engine_master(&fake.engine, 1).ended_ours);
    engine_end_list(&fake.engine, "b:1", 1U << 0);
    assert_int_equal(agreement_say(&fake.engine, 1)->says, SAYS_NOTHING);
    assert_int_equal(agreement_say(&fake.engine, 0)->says, SAYS_OVER);
    assert_string_equal(fake.engine.agree.successor, "b:1");
}

CASE_HERE(who_looks_may_take_an_end_back)
{
    static const int64_t changes[MASTERS_MAX] = {7, 8};
    begin_looking();
    engine_revive_list(&fake.engine, changes);
    assert_int_equal(agreement_say(&fake.engine, 1)->says, SAYS_NOT_OVER);
    assert_int_equal(fake.engine.agree.changes, 8);
}

/* Its process may have stood still.  The lists of that word are gone, which must not look as if no
 * client said one. */
CASE_HERE(who_looks_believes_no_old_word)
{
    begin_looking();
    tell_all('<', "12345", 0);
    fake.engine.now = fake.now += MS(119000);
    assert_true(engine_master(&fake.engine, 0).remembers);
    fake.engine.now = fake.now += MS(2000);
    assert_false(engine_master(&fake.engine, 0).remembers);
}

/* Two lists of others: told both by these masters, of which the rest tells nothing. */
static bool meet_of(const char *ours, unsigned spare, const char *theirs, unsigned their_spare,
                    const char *told_by)
{
    struct list_in_use found[LISTS_IN_USE_MOST];
    begin_looking();
    for (unsigned i = 1; i <= 3; i++) {
        open_word();
        if (strchr(told_by, '0' + (int)i)) {
            put_list('<', ours, spare);
            put_list('=', theirs, their_spare);
        }
        answer_word(i);
    }
    assert_int_equal(agreement_lists(&fake.engine, found), 2);
    assert_int_equal(agreement_count(&fake.engine), 2);
    assert_int_equal(found[0].told, found[1].told);
    bool unsafe = found[0].unsafe;
    assert_int_equal(found[0].unsafe, unsafe << 1);
    assert_int_equal(found[1].unsafe, unsafe);
    core_tear_down(NULL);
    return !unsafe;
}

static bool meet(const char *ours, const char *theirs, unsigned spare, const char *told_by)
{
    return meet_of(ours, spare, theirs, spare, told_by);
}

CASE_WITH(who_looks_compares_any_two_lists, know_nothing, know_nothing)
{
    for (size_t i = 0; i < COUNT(lists); i++)
        if (strcmp(lists[i].ours, lists[i].theirs) != 0 && lists[i].spare == lists[i].their_spare &&
            meet(lists[i].ours, lists[i].theirs, lists[i].spare, "123") != lists[i].meet)
            fail_msg("%s beside %s", lists[i].ours, lists[i].theirs);
    assert_false(meet("12345", "123456789", 1, "12"));
    assert_true(meet("12345", "123456789", 1, "2")); /* it may lie */
}

/* 6 in place of 5 is unsafe once both were heard to live at one moment. */
CASE_WITH(who_looks_compares_processes, know_nothing, know_nothing)
{
    for (unsigned i = 1; i <= 6; i++)
        known[i] = (struct known){MS(200000), MS(60000), 0};
    assert_false(meet("12345", "12346", 0, "1"));
    known[6] = (struct known){MS(50000), MS(10000), 0};
    assert_true(meet("12345", "12346", 0, "1"));
    known[6] = (struct known){MS(200000), MS(60000), 5};
    assert_true(meet("12345", "12346", 0, "1"));
    known[6].since = -1;
    assert_true(meet("12345", "12346", 0, "1"));
}

/* With one liar the quorums meet, and only the clients of the other list are refused. */
CASE_WITH(who_looks_shows_a_list_that_only_one_side_refuses, know_nothing, know_nothing)
{
    for (unsigned i = 1; i <= 6; i++)
        known[i] = (struct known){MS(200000), MS(60000), 0};
    assert_false(meet_of("12345", 1, "126", 0, "1"));
    assert_false(meet_of("126", 0, "12345", 1, "1"));
}

/* A list that one master tells, and another list that another one tells. */
CASE_HERE(who_looks_adds_up_what_masters_tell)
{
    struct list_in_use found[LISTS_IN_USE_MOST];
    begin_looking();
    open_word();
    put("< 5000000 3000000 2 2 0 30000 3 late\n");
    for (unsigned i = 1; i <= 3; i++)
        put_process(i);
    answer_word(1);
    open_word();
    put("< 9000000 4000000 1 2 0 30000 3 early\n");
    for (unsigned i = 3; i; i--)
        put_process(i);
    answer_word(2);
    tell(3, '<', "1", 0);
    fake.engine.now = fake.now += MS(1000);
    assert_int_equal(agreement_lists(&fake.engine, found), 2);
    const struct told_list *list = &found[0].list;
    assert_true(list->first_ago >= MS(10000) && list->last_ago >= MS(4000));
    assert_true(list->last_ago < MS(5000));
    assert_int_equal(list->clients, 2);
    assert_true(slices_are_same(list->label, slice_of("late")));
    assert_int_equal(found[0].told, 3);
    assert_int_equal(found[1].told, 4);
    assert_int_equal(found[0].unsafe, 2);
}

/* Each of three masters tells eight lists of its own. */
CASE_HERE(no_more_lists_are_shown_than_there_is_room_for)
{
    struct list_in_use found[LISTS_IN_USE_MOST + 1] = {0};
    begin_looking();
    for (unsigned i = 1; i <= 3; i++) {
        open_word();
        for (unsigned j = 1; j <= 8; j++)
            put("< 9000000 1000000 1 1 0 %u 1 web\n0 0 - 10.0.0.1:1\n", 1000 * (8 * i + j));
        answer_word(i);
    }
    assert_int_equal(agreement_lists(&fake.engine, found), LISTS_IN_USE_MOST);
    assert_int_equal(found[LISTS_IN_USE_MOST].told, 0);
}

/* The label is that of the last saying, whoever tells it. */
CASE_HERE(who_looks_sees_the_last_label)
{
    struct list_in_use found[LISTS_IN_USE_MOST];
    begin_looking();
    for (unsigned i = 1; i <= 3; i++) {
        open_word();
        put("< 9000000 %u000000 1 1 0 30000 1 label-%u\n", i == 2 ? 1 : 5, i);
        put_process(1);
        answer_word(i);
    }
    assert_int_equal(agreement_lists(&fake.engine, found), 1);
    assert_true(slices_are_same(found[0].list.label, slice_of("label-2")));
}

/* With a spare vote two masters must tell of each. */
CASE_WITH(one_who_may_lie_shows_no_lists_that_may_not_meet, know_nothing, know_nothing)
{
    struct list_in_use found[LISTS_IN_USE_MOST];
    for (unsigned tellers = 1; tellers <= 3; tellers++) { /* of the first list */
        begin_looking();
        for (unsigned i = 1; i <= 3; i++)
            tell(i, '<', i <= tellers ? "12345" : "123456789", 1);
        assert_int_equal(agreement_lists(&fake.engine, found), tellers < 3 ? 2 : 1);
        assert_int_equal(found[0].unsafe, 0);
        core_tear_down(NULL);
    }
}

/* Of three lists the first and the last one may meet. */
CASE_HERE(who_looks_compares_each_two_lists)
{
    struct list_in_use found[LISTS_IN_USE_MOST];
    begin_looking();
    open_word();
    put_list('<', "12345", 0);
    put_list('<', "123", 0);
    put_list('<', "123456", 0);
    answer_word(1);
    assert_int_equal(agreement_lists(&fake.engine, found), 3);
    assert_int_equal(found[0].unsafe, 2);
    assert_int_equal(found[1].unsafe, 5);
    assert_int_equal(found[2].unsafe, 2);
}

/* Our own counts, too, once a master remembers it. */
CASE_HERE(a_client_counts_its_own_list)
{
    begin_greeted(3, 0);
    assert_int_equal(agreement_count(&fake.engine), 0);
    fake_answer(&fake, 0, &(struct reply){.answer = ANSWER_ERROR});
    assert_int_equal(agreement_count(&fake.engine), 0);
    tell_nothing(2);
    assert_int_equal(agreement_count(&fake.engine), 1);
    tell(3, '>', "1234", 0);
    assert_int_equal(agreement_count(&fake.engine), 2);
}

CASE_HERE(a_client_counts_its_own_list_once)
{
    begin_greeted(3, 0);
    open_word();
    put_list('=', "123", 0);
    put_list('>', "1234", 0);
    answer_word(1);
    assert_int_equal(agreement_count(&fake.engine), 2);
}

CASE_HERE(words_that_are_over_tell_of_no_list)
{
    begin_alone();
    assert_int_equal(agreement_count(&fake.engine), 1);
    fake.engine.now = fake.now += MS(120001);
    assert_int_equal(agreement_count(&fake.engine), 0);
}

PROGRAM_OF_CASES(NULL, NULL)
