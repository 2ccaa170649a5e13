/* Closing with very many leases: they are released in portions, as answers come. */
/* rule: K16 */
#include "core_world.h"

#define LEASES  2000
#define AT_ONCE 256  /* leases that one step releases */
#define UNHEARD 1024 /* releases to one master that may be unanswered */
#define FAR     1536 /* the same where masters are 15 ms away */

static struct actor crowd[LEASES]; /* more than a fake has room for */

static void tell(struct actor *actor, enum outcome_kind kind, enum cause cause)
{
    struct outcome outcome;
    assert_true(engine_tell(&fake.engine, fake.now, &actor->core, &outcome));
    assert_int_equal(outcome.kind, kind);
    assert_int_equal(outcome.cause, cause);
}

static void acquire(struct actor *actor, bool is_told)
{
    struct terms terms = {.ttl = MS(10000), .margin = MS(500), .wait = is_told ? 0 : NEVER};
    struct names *names = fake_names(&fake, "job");
    assert_true(lease_init(&fake.engine, &actor->core, names, &terms, NULL, 0));
    names_drop(&fake.memory, names);
    fake_step(&fake, &(struct event){.kind = EVENT_ACQUIRE, .lease = &actor->core});
    answer_all(ANSWER_YES);
    if (is_told)
        tell(actor, OUTCOME_ACQUIRED, CAUSE_NONE);
}

static int begin_at(void **state, usec away, usec age, bool are_told)
{
    if (core_set_up_greeted(state))
        return -1;
    for (unsigned i = 0; i < LEASES; i++)
        acquire(&crowd[i], are_told);
    for (unsigned i = 0; i < MASTERS; i++)
        fake.engine.masters[i].round_trip = away;
    fake_advance(&fake, age);
    fake.closing = true;
    fake_step(&fake, &(struct event){.kind = EVENT_CLOSE});
    assert_int_equal(fake.masters[0].count, AT_ONCE);
    return 0;
}

static int begin(void **state)
{
    return begin_at(state, 0, 0, true);
}

static int begin_far(void **state)
{
    return begin_at(state, MS(15), 0, true);
}

/* The leases are held for 28 ms more. */
static int begin_late(void **state)
{
    return begin_at(state, 0, MS(9370), true);
}

/* Nor was any of them told. */
static int begin_untold(void **state)
{
    return begin_at(state, 0, MS(9370), false);
}

static int end(void **state)
{
    for (unsigned i = 0; i < LEASES; i++)
        lease_drop(&fake.engine, &crowd[i].core);
    return core_tear_down(state);
}

static void wake_all(void)
{
    while (engine_next_deadline(&fake.engine) <= fake.now)
        fake_wake(&fake);
}

/* All answers come at once, whether masters seemed to be far away or not. */
static void answer_each_in_turn(unsigned unheard)
{
    usec begun = fake.now;
    for (unsigned answered = 0; !fake.closed; answered++) {
        wake_all();
        unsigned left = LEASES - answered;
        assert_int_equal(fake.masters[0].count, left < unheard ? left : unheard);
        for (unsigned i = 0; i < MASTERS; i++)
            assert_true(fake_answer(&fake, i, &(struct reply){.answer = ANSWER_YES}));
    }
    assert_int_equal(fake.now, begun);
    for (unsigned i = 0; i < LEASES; i++)
        tell(&crowd[i], OUTCOME_RELEASED, CAUSE_NONE);
}

CASE_WITH(test_goes_on_with_the_answers, begin, end)
{
    answer_each_in_turn(UNHEARD);
}

CASE_WITH(test_more_is_under_way_to_masters_that_are_far, begin_far, end)
{
    answer_each_in_turn(FAR);
}

CASE_WITH(test_goes_on_when_no_master_answers, begin, end)
{
    for (unsigned i = 0; i < MASTERS; i++)
        fake.masters[i].hangs = true;
    fake_advance(&fake, MS(3000));
    assert_int_equal(fake.engine.held.count + fake.engine.busy.count, 0);
    for (unsigned i = 0; i < LEASES; i++)
        tell(&crowd[i], OUTCOME_RELEASED, CAUSE_UNAVAILABLE);
}

CASE_WITH(test_releases_what_is_lost_meanwhile, begin_late, end)
{
    wake_all();
    fake_advance(&fake, MS(40));
    assert_int_equal(fake.engine.held.count, 0);
    answer_all(ANSWER_YES);
    assert_int_equal(engine_owed(&fake.engine), 0);
    assert_false(fake.closed);
    fake_advance(&fake, MS(490)); /* validity has ended */
    assert_int_equal(fake.masters[0].count, LEASES - UNHEARD);
    answer_all(ANSWER_YES);
    assert_true(fake.closed);
}

/* An acquire that was too late to report is not tried again, however long it wanted to wait. */
CASE_WITH(test_tries_nothing_again, begin_untold, end)
{
    fake.now += MS(40);
    wake_all();
    for (unsigned i = 0; i < LEASES; i++)
        tell(&crowd[i], OUTCOME_NOT_ACQUIRED, CAUSE_CLOSED);
    answer_all(ANSWER_YES);
    assert_true(fake.closed);
}

CASE_WITH(test_sends_what_is_left_when_given_up, begin, end)
{
    wake_all();
    assert_int_equal(fake.masters[2].count, UNHEARD);
    fake_step(&fake, &(struct event){.kind = EVENT_GIVE_UP});
    assert_int_equal(fake.masters[2].count, LEASES);
    assert_int_equal(engine_owed(&fake.engine), 3 * LEASES);
    answer_all(ANSWER_YES);
}

PROGRAM_OF_CASES(NULL, NULL)
