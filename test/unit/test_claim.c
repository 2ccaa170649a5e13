/* A claim that runs out of room: of memory for its deadline, and of bits to count what is in
 * flight.  And its mode; one that nobody has asked for yet; the shell's view of its lease. */
#include "core_world.h"

#include <stdio.h>

#define TTL MS(10000)

static void answer(unsigned master, enum answer what)
{
    assert_true(fake_answer(&fake, master, &(struct reply){.answer = what}));
}

static struct actor *acquire(void)
{
    struct terms terms = {.ttl = TTL, .margin = MS(500)};
    struct actor *actor = core_ask("A", "job", &terms, EVENT_ACQUIRE);
    answer_all(ANSWER_YES);
    assert_true(actor->acquired);
    return actor;
}

/* Leases that were only made: each has its place among the deadlines.  One is left. */
static void fill_the_heap(void)
{
    const struct deadlines *heap = &fake.engine.deadlines;
    for (unsigned i = 0; heap->owners + 1 < heap->capacity; i++) {
        char name[16];
        snprintf(name, sizeof name, "B%u", i);
        core_make(name, "other", &(struct terms){.ttl = TTL});
    }
}

/* Releases where there is no memory for the claim's deadline; master 3 is away. */
static const struct claim *release_starving(void)
{
    fill_the_heap();
    struct actor *actor = acquire();
    const struct claim *claim = actor->core.claim;
    fake_lose(&fake, 2, "broken pipe");
    fake.countdown = 1;
    fake_call(&fake, actor, EVENT_RELEASE, 0);
    assert_true(fake.starved);
    assert_false(claim->timed);
    for (unsigned i = 0; i < 2; i++)
        answer(i, ANSWER_YES);
    assert_true(actor->ended);
    assert_ptr_equal(fake.engine.abandoned, claim);
    assert_int_equal(engine_owed(&fake.engine), 1);
    return claim;
}

/* Other reasons to wake the engine. */
CORE_TEST(test_is_looked_at_in_its_time)
{
    const struct claim *claim = release_starving();
    deadlines_set(&fake.engine.deadlines, &fake.engine.deadline, fake.now);
    fake_advance(&fake, MS(150));
    assert_false(claim->timed);
    fake_advance(&fake, MS(100));
    assert_true(claim->timed);
}

CORE_TEST(test_is_written_off_without_a_deadline)
{
    const struct claim *claim = release_starving();
    usec end = claim->last_end;
    while (fake.now + MS(100) < end) {
        fake.countdown = 1;
        fake_advance(&fake, MS(100));
        assert_ptr_equal(fake.engine.abandoned, claim);
        assert_false(claim->timed);
    }
    fake.countdown = 1;
    fake_advance(&fake, MS(400));
    assert_null(fake.engine.abandoned);
    fake.countdown = 0;
}

/* Asks master 3 `times` to renew, which says in the end that it has nothing. */
static struct lease *renew_unanswered(unsigned times)
{
    struct actor *actor = acquire();
    for (unsigned i = 0; i < times; i++) {
        fake_call(&fake, actor, EVENT_EXTEND, 0);
        answer(0, ANSWER_YES);
        answer(1, ANSWER_YES);
    }
    for (unsigned i = 0; i < times; i++)
        answer(2, ANSWER_ABSENT);
    return &actor->core;
}

/* A push may carry any text. */
CORE_TEST(test_is_found_by_a_whole_token)
{
    struct claim *claim = acquire()->core.claim;
    char token[TOKEN_MAX + 1];
    claim_enqueue(&fake.engine, claim);
    claim_token(&fake.engine, claim, token);
    assert_ptr_equal(claim_enqueued(&fake.engine, (struct slice){token, TOKEN_TEXT}), claim);
    assert_null(claim_enqueued(&fake.engine, (struct slice){token, TOKEN_TEXT - 1}));
}

CORE_TEST(test_too_many_in_flight_are_never_absent)
{
    struct lease *lease = renew_unanswered(3 * SETTING_MANY);
    assert_int_equal(lease->claim->at[2].promise, 0);
    assert_int_not_equal(lease->claim->at[2].presence, ABSENT);
    fake_call(&fake, fake_actor(&fake, "A"), EVENT_RELEASE, 0);
    assert_int_equal(engine_owed(&fake.engine), 3);
    answer_all(ANSWER_YES);
    assert_int_equal(engine_owed(&fake.engine), 0);
    assert_null(fake.engine.abandoned);
}

/* Another client may ask a master for it that has refused it. */
CORE_TEST(test_is_given_back_everywhere_if_it_was_to_move)
{
    struct terms terms = {.ttl = TTL, .margin = MS(500)};
    struct actor *actor = core_ask("A", "job", &terms, EVENT_ACQUIRE);
    const struct claim *claim = actor->core.claim;
    answer(0, ANSWER_YES);
    answer(1, ANSWER_YES);
    answer(2, ANSWER_HELD);
    assert_true(actor->acquired);
    assert_int_equal(claim->at[2].presence, ABSENT);
    lease_begin_move(&fake.engine, &actor->core);
    assert_int_equal(claim->at[0].presence, PRESENT);
    assert_int_equal(claim->at[2].presence, UNSURE);
    fake_call(&fake, actor, EVENT_RELEASE, 0);
    assert_int_equal(engine_owed(&fake.engine), 3);
    answer_all(ANSWER_YES);
    assert_null(fake.engine.abandoned);
}

static bool is_all_shared(const char *names, enum lease_mode mode)
{
    struct terms terms = {.ttl = TTL, .margin = MS(500)};
    struct lease *lease = &core_make(names, names, &terms)->core;
    lease->claim->mode = mode;
    return lease_is_all_shared(lease);
}

CORE_TEST(test_knows_whether_all_names_are_shared)
{
    assert_true(is_all_shared("a/shared,b/shared", MODE_AS_NAMED));
    assert_false(is_all_shared("a/shared,c", MODE_AS_NAMED));
    assert_false(is_all_shared("c,a/shared", MODE_AS_NAMED));
    assert_true(is_all_shared("c,d", MODE_SHARED));
    assert_false(is_all_shared("b/shared,d/shared", MODE_EXCLUSIVE));
}

CORE_TEST(test_is_not_released_before_it_is_asked_for)
{
    struct actor *actor = core_ask("A", "job", &(struct terms){.ttl = TTL}, EVENT_RELEASE);
    assert_false(actor->ended);
    fake_call(&fake, actor, EVENT_ACQUIRE, 0);
    answer_all(ANSWER_YES);
    assert_true(actor->acquired);
    fake_call(&fake, actor, EVENT_RELEASE, 0);
    answer_all(ANSWER_YES);
    assert_true(actor->ended);
}

static void acquire_in_vain(const char *name, enum event_kind kind, enum answer answer)
{
    struct terms terms = {.ttl = TTL, .margin = MS(500)};
    core_ask(name, "job", &terms, kind);
    answer_all(answer);
    fake.now += fake.telling ? 0 : TTL;
    fake_tell_all(&fake);
    answer_all(ANSWER_YES);
    assert_true(fake_actor(&fake, name)->ended);
}

CORE_TEST(test_why_it_is_not_acquired_is_counted)
{
    const struct engine_counters *counters = &fake.engine.counters;
    acquire_in_vain("H", EVENT_ACQUIRE, ANSWER_HELD);
    assert_int_equal(counters->contended, 1);
    assert_int_equal(counters->unavailable, 0);
    acquire_in_vain("E", EVENT_ACQUIRE, ANSWER_ERROR);
    assert_int_equal(counters->unavailable, 1);
    acquire_in_vain("I", EVENT_INSPECT, ANSWER_ERROR); /* it was not asked for */
    assert_int_equal(counters->unavailable, 1);
    core_ask("C", "job", &(struct terms){.ttl = TTL}, EVENT_ACQUIRE);
    fake_call(&fake, fake_actor(&fake, "C"), EVENT_RELEASE, 0); /* cancelled */
    answer_all(ANSWER_ABSENT);
    assert_int_equal(counters->unavailable, 1);
    fake.telling = false;
    acquire_in_vain("S", EVENT_ACQUIRE, ANSWER_YES); /* its time was over before it was reported */
    assert_int_equal(counters->unavailable, 2);
    assert_int_equal(counters->contended, 1);
}

/* ---- what the shell sees of a lease ----------------------------------------------- */

CORE_TEST(test_nothing_is_seen_of_a_lease_that_is_over)
{
    struct actor *actor = acquire();
    struct lease *lease = &actor->core;
    assert_non_null(lease_names(lease));
    assert_false(lease_is_shared(lease) || lease_was_changed(lease) || lease_is_foreign(lease));
    fake_call(&fake, actor, EVENT_RELEASE, 0);
    answer_all(ANSWER_YES);
    assert_null(lease->claim);
    assert_null(lease_names(lease));
    assert_false(lease_is_shared(lease) || lease_is_all_shared(lease) || lease_was_changed(lease));
    assert_false(lease_is_foreign(lease) || lease_leave(lease));
    assert_int_equal(lease_slot(lease), -1);
}

CORE_TEST(test_a_lease_is_left_with_what_is_in_flight)
{
    struct actor *actor = acquire();
    fake_call(&fake, actor, EVENT_EXTEND, 0);
    assert_true(lease_leave(&actor->core));
    actor->core.left = false;
    answer_all(ANSWER_YES);
    assert_false(lease_leave(&actor->core));
    actor->core.left = false;
}

CORE_TEST(test_a_slot_is_seen_while_it_is_held)
{
    struct terms terms = {.ttl = TTL, .margin = MS(500), .permits = 1};
    assert_int_equal(lease_slot(&acquire()->core), -1); /* no permit */
    struct actor *actor = core_ask("P", "job", &terms, EVENT_ACQUIRE);
    assert_int_equal(lease_slot(&actor->core), -1);
    answer_all(ANSWER_YES);
    assert_int_equal(lease_slot(&actor->core), 0);
}

CORE_TEST(test_a_lease_is_valid_once_it_is_told)
{
    struct terms terms = {.ttl = TTL, .margin = MS(500)};
    fake.telling = false;
    struct actor *actor = core_ask("A", "job", &terms, EVENT_ACQUIRE);
    answer_all(ANSWER_YES);
    assert_true(lease_is_held(&actor->core));
    assert_int_equal(lease_valid_until(&actor->core), 0);
    fake_tell_all(&fake);
    assert_true(lease_valid_until(&actor->core) > fake.now);
}

/* One at a time: it goes on until it is reported. */
CORE_TEST(test_an_extend_goes_on_until_it_is_told)
{
    struct actor *actor = acquire();
    assert_false(lease_is_extending(&actor->core));
    fake.telling = false;
    fake_call(&fake, actor, EVENT_EXTEND, 0);
    assert_true(lease_is_extending(&actor->core));
    answer_all(ANSWER_YES);
    assert_true(lease_is_extending(&actor->core));
    fake_tell_all(&fake);
    assert_false(lease_is_extending(&actor->core));
}

static void change(struct actor *actor, enum event_kind kind)
{
    assert_false(lease_is_changing(&actor->core));
    fake.telling = false;
    fake_call(&fake, actor, kind, 0);
    assert_true(lease_is_changing(&actor->core) && lease_was_changed(&actor->core));
    answer_all(ANSWER_YES);
    assert_true(lease_is_changing(&actor->core) && lease_was_changed(&actor->core));
    fake_tell_all(&fake);
    assert_false(lease_is_changing(&actor->core));
    assert_true(lease_was_changed(&actor->core));
}

CORE_TEST(test_a_change_goes_on_until_it_is_told)
{
    struct terms terms = {.ttl = TTL, .margin = MS(500)};
    change(acquire(), EVENT_DOWNGRADE);
    fake.telling = true;
    struct actor *reader = core_ask("S", "other/shared", &terms, EVENT_ACQUIRE);
    answer_all(ANSWER_YES);
    assert_true(reader->acquired && !lease_was_changed(&reader->core));
    change(reader, EVENT_UPGRADE);
}

CORE_TEST(test_an_inspection_is_found_by_its_question)
{
    struct actor *holder = acquire();
    fake_call(&fake, holder, EVENT_EXTEND, 0);
    struct tag renewal = fake.masters[0].waiting[0];
    assert_null(lease_inspecting(&renewal));
    fake_call(&fake, holder, EVENT_ABANDON, 0);
    assert_null(lease_inspecting(&renewal)); /* no lease awaits it */
    answer_all(ANSWER_YES);
    struct actor *actor = core_ask("I", "job", &(struct terms){.ttl = TTL}, EVENT_INSPECT);
    struct tag peek = fake.masters[0].waiting[0];
    assert_ptr_equal(lease_inspecting(&peek), &actor->core);
    peek.round++;
    assert_null(lease_inspecting(&peek));
    peek.claim = NULL;
    assert_null(lease_inspecting(&peek));
    answer_all(ANSWER_ABSENT);
}

PROGRAM_OF_CASES(NULL, NULL)
