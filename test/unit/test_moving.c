/* A lease that is held becomes one of another engine, which has one master more. */
/* rule: D5, D6, D7, D8 */
#include "../script/fake_tasks.h"
#include "core_world.h"

enum { OTHERS = MASTERS + 1 };

static struct fake other;
static struct actor *held, *shadow;
static struct outcome outcome;

/* Of the last request to the other masters. */
static struct renew_request asked;
static struct announce_request announced;

static void note_request(struct fake *its, const struct effect *effect)
{
    (void)its;
    if (effect->kind == EFFECT_SEND && effect->request->tag.kind == REQUEST_RENEW)
        asked = effect->request->renew;
    if (effect->kind == EFFECT_SEND && effect->request->tag.kind == REQUEST_ANNOUNCE)
        announced = effect->request->announce;
}

static void begins(struct fake *its, const struct event *event)
{
    (void)its, (void)event;
}

static void ends(struct fake *its)
{
    (void)its;
}

static const struct watcher watcher = {begins, note_request, ends};

static int set_up(void **state)
{
    struct engine_config config = {.masters = OTHERS,
                                   .drift_ppm = 10000,
                                   .max_ttl_ms = 30000,
                                   .skew_ms = 1000,
                                   .connect_timeout = MS(1000)};
    if (core_set_up_greeted(state) != 0)
        return -1;
    fake_init(&other);
    other.silent = true;
    other.telling = false;
    other.watcher = &watcher;
    if (!fake_start(&other, &config))
        return -1;
    for (unsigned i = 0; i < OTHERS; i++) {
        fake_connected(&other, i);
        fake_answer_hello(&other, i);
    }
    return 0;
}

static int tear_down(void **state)
{
    fake_finish(&other);
    fake_drop(&other);
    if (other.broken[0])
        print_error("%s\n", other.broken);
    return core_tear_down(state) == 0 && !other.broken[0] ? 0 : -1;
}

#define MOVING_TEST(name) CASE_WITH(name, set_up, tear_down)

static void hold(struct terms terms)
{
    terms.ttl = MS(10000);
    terms.renew = true;
    held = core_ask("held", "name", &terms, EVENT_ACQUIRE);
    answer_all(ANSWER_YES);
    assert_true(held->acquired);
    fake.now += MS(100);
    other.now = fake.now;
}

/* The shadow asks each of the other masters. */
static void begin(void)
{
    char token[TOKEN_MAX + 1];
    struct terms terms = lease_begin_move(&fake.engine, &held->core);
    lease_token(&fake.engine, &held->core, token);
    assert_true(fake_new(&other, "shadow", "name", &terms, token));
    shadow = fake_actor(&other, "shadow");
    fake_call(&other, shadow, EVENT_ACQUIRE, 0);
    for (unsigned i = 0; i < OTHERS; i++) {
        assert_int_equal(other.masters[i].count, 1);
        assert_int_equal(other.masters[i].waiting[0].kind, REQUEST_RENEW);
    }
}

static void answer(unsigned master, enum answer how)
{
    fake_answer(&other, master, &(struct reply){.answer = how});
}

/* Takes out the shadow's outcome. */
static enum outcome_kind hear(void)
{
    assert_true(engine_tell(&other.engine, other.now, &shadow->core, &outcome));
    shadow->untold = false;
    return outcome.kind;
}

static void move(void)
{
    assert_int_equal(hear(), OUTCOME_ACQUIRED);
    engine_move(&fake.engine, &held->core, &other.engine, &shadow->core, other.now);
    held->used = shadow->used = false;
}

static void step(struct fake *its, enum event_kind kind)
{
    fake_step(its, &(struct event){.kind = kind, .lease = &held->core});
}

/* Each master is asked to release it. */
static void assert_released(const struct fake *its, unsigned masters, bool marked)
{
    for (unsigned i = 0; i < masters; i++) {
        const struct fake_master *master = &its->masters[i];
        assert_true(master->count > 0);
        const struct tag *last = &master->waiting[master->count - 1];
        assert_int_equal(last->kind, REQUEST_RELEASE);
        assert_int_equal(last->ttl > 0, marked);
    }
}

/* ---- It moves ---- */

MOVING_TEST(test_it_rests_on_the_other_promises)
{
    hold((struct terms){.fence = false});
    usec former = held->core.valid_until;
    begin();
    for (unsigned i = 0; i < OTHERS; i++)
        answer(i, i < MASTERS ? ANSWER_YES : ANSWER_HEALED);
    move();
    assert_true(held->core.valid_until > former);
    assert_int_equal(held->core.valid_until, claim_valid_until(&other.engine, held->core.claim));
    assert_int_equal(fake.engine.held.count, 0);
    assert_int_equal(other.engine.held.count, 1);
    assert_int_equal(other.engine.at_risk, 0);
    assert_int_equal(lease_held_for(&held->core, other.now), MS(100));
    step(&other, EVENT_ABANDON);
    assert_released(&other, OTHERS, true);
}

MOVING_TEST(test_free_names_are_taken_while_it_is_valid)
{
    hold((struct terms){.fence = false});
    begin();
    assert_true(asked.heal);
    assert_int_equal(asked.not_after,
                     held->core.valid_until + other.engine.masters[MASTERS].offset);
    fake_call(&other, shadow, EVENT_ABANDON, 0);
}

/* The lease may be over by now, and the limit of the heal with it. */
MOVING_TEST(test_nothing_is_asked_again_before_it_moves)
{
    hold((struct terms){.fence = false});
    begin();
    for (unsigned i = 0; i < MASTERS; i++)
        answer(i, ANSWER_YES);
    unsigned sent = other.sent;
    answer(MASTERS, ANSWER_NOSCRIPT);
    assert_int_equal(other.sent, sent);
    move();
    step(&other, EVENT_ABANDON);
}

MOVING_TEST(test_the_former_masters_are_asked_nothing_more)
{
    hold((struct terms){.fence = false});
    begin();
    for (unsigned i = 0; i < OTHERS; i++)
        answer(i, ANSWER_YES);
    move();
    unsigned sent = fake.sent;
    fake_advance(&fake, MS(9000));
    assert_int_equal(fake.sent, sent);
    assert_true(fake_until(&other, other.now + MS(9000), &other.sent));
    for (unsigned i = 0; i < OTHERS; i++)
        answer(i, ANSWER_YES);
    assert_int_equal(other.engine.counters.renewals, 1);
    step(&other, EVENT_ABANDON);
}

/* Its last answer counts there as before. */
MOVING_TEST(test_a_bare_quorum_goes_with_it)
{
    hold((struct terms){.fence = false});
    begin();
    for (unsigned i = 0; i < MASTERS; i++)
        answer(i, ANSWER_YES);
    answer(MASTERS, ANSWER_HELD);
    move();
    assert_int_equal(other.engine.at_risk, 1);
    assert_true(held->core.untold & 1U << OUTCOME_AT_RISK);
    step(&other, EVENT_ABANDON);
    assert_int_equal(other.engine.at_risk, 0);
}

MOVING_TEST(test_an_answer_that_comes_after_the_move)
{
    hold((struct terms){.fence = false});
    begin();
    for (unsigned i = 0; i < MASTERS; i++)
        answer(i, ANSWER_YES);
    move();
    assert_int_equal(claim_health(&other.engine, held->core.claim), MASTERS);
    answer(MASTERS, ANSWER_HEALED);
    assert_int_equal(claim_health(&other.engine, held->core.claim), OTHERS);
    step(&other, EVENT_ABANDON);
}

MOVING_TEST(test_max_hold_goes_with_it)
{
    hold((struct terms){.max_hold = MS(5000)});
    begin();
    for (unsigned i = 0; i < OTHERS; i++)
        answer(i, ANSWER_YES);
    move();
    assert_true(lease_may_move(&held->core, other.now));
    assert_false(lease_may_move(&held->core, EPOCH + MS(5000)));
    step(&other, EVENT_ABANDON);
}

/* ---- It goes on with what it announces ---- */

static struct fake_task *former_task, *task;

static void hold_with_fence(void)
{
    struct terms terms = {.ttl = MS(10000), .renew = true, .fence = true};
    held = core_ask("held", "name", &terms, EVENT_ACQUIRE);
    for (unsigned i = 0; i < MASTERS; i++)
        while (fake.masters[i].count)
            fake_answer(&fake, i, &(struct reply){.answer = ANSWER_YES, .clock = MS(1000)});
    assert_true(held->acquired);
    assert_true(fake_tasks_announce(&fake, held, "a"));
    former_task = &fake.tasks[0];
    fake.now += MS(100);
    other.now = fake.now;
}

static struct task *copy(void)
{
    task = &other.tasks[0];
    *task = (struct fake_task){.lease = held};
    return announcer_copy(&other.engine, former_task->core, lease_names(&shadow->core), task);
}

static void begin_with_task(void)
{
    begin();
    struct task *core = copy();
    assert_non_null(core);
    task->core = core;
}

static void move_with_task(void)
{
    move();
    engine_move_announcement(&fake.engine, former_task->core, &other.engine, task->core, other.now);
    former_task->core = NULL;
}

/* The last request that the master has not answered. */
static enum request_kind last_asked(const struct fake *its, unsigned master)
{
    const struct fake_master *it = &its->masters[master];
    assert_true(it->count > 0);
    return it->waiting[it->count - 1].kind;
}

static unsigned count_announced(void)
{
    unsigned before = other.told;
    for (unsigned i = 0; i < OTHERS; i++)
        while (other.masters[i].count)
            answer(i, ANSWER_YES);
    fake_tell_all(&other);
    return other.told - before;
}

MOVING_TEST(test_it_says_the_same_there_and_takes_nothing_back)
{
    hold_with_fence();
    answer_all(ANSWER_YES);
    begin_with_task();
    for (unsigned i = 0; i < OTHERS; i++)
        answer(i, ANSWER_YES);
    move_with_task();
    for (unsigned i = 0; i < OTHERS; i++)
        assert_int_equal(last_asked(&other, i), REQUEST_ANNOUNCE);
    assert_int_equal(announced.term, lease_fence(&held->core));
    assert_int_equal(announced.number, 1);
    assert_true(slices_are_same(announced.value, slice_of("a")));
    for (unsigned i = 0; i < MASTERS; i++)
        assert_int_equal(fake.masters[i].count, 0);
    assert_int_equal(count_announced(), 0); /* the user has heard of it before */
    assert_true(fake_tasks_announce(&other, held, "b"));
    assert_int_equal(announced.number, 2);
    assert_int_equal(count_announced(), 1);
    fake_tasks_end_of(&other, held);
    step(&other, EVENT_ABANDON);
}

MOVING_TEST(test_news_that_were_not_told_come_from_there)
{
    hold_with_fence();
    fake.telling = false;
    answer_all(ANSWER_YES);
    begin_with_task();
    for (unsigned i = 0; i < OTHERS; i++)
        answer(i, ANSWER_YES);
    move_with_task();
    assert_int_equal(count_announced(), 1);
    fake_tasks_end_of(&other, held);
    step(&other, EVENT_ABANDON);
}

/* Requests of the former announcer point into its memory. */
MOVING_TEST(test_it_moves_before_its_masters_have_answered)
{
    hold_with_fence();
    begin_with_task();
    for (unsigned i = 0; i < OTHERS; i++)
        answer(i, ANSWER_YES);
    move_with_task();
    for (unsigned i = 0; i < MASTERS; i++)
        assert_int_equal(last_asked(&fake, i), REQUEST_ANNOUNCE);
    answer_all(ANSWER_YES);
    assert_null(fake.engine.tasks);
    assert_int_equal(count_announced(), 1);
    fake_tasks_end_of(&other, held);
    step(&other, EVENT_ABANDON);
}

/* The former client has announced there. */
MOVING_TEST(test_it_takes_back_what_another_client_said)
{
    hold_with_fence();
    answer_all(ANSWER_YES);
    begin_with_task();
    for (unsigned i = 1; i < OTHERS; i++)
        answer(i, ANSWER_YES);
    fake_lose(&other, 0, "gone");
    move_with_task();
    fake_advance(&other, held->core.valid_until - other.now);
    fake_lose(&other, 0, NULL); /* it was tried in vain meanwhile */
    assert_true(fake_until(&other, other.now + MS(20000), &other.connects));
    fake_connected(&other, 0);
    fake_answer_hello(&other, 0);
    fake_tasks_end_of(&other, held);
    assert_int_equal(last_asked(&other, 0), REQUEST_UNSAY);
    step(&other, EVENT_ABANDON);
}

MOVING_TEST(test_a_copy_that_is_not_needed_says_nothing)
{
    hold_with_fence();
    answer_all(ANSWER_YES);
    begin_with_task();
    for (unsigned i = 0; i < OTHERS; i++)
        answer(i, ANSWER_HELD);
    fake_tasks_end_of(&other, held);
    for (unsigned i = 0; i < OTHERS; i++)
        assert_int_equal(other.masters[i].count, 0);
    assert_int_equal(hear(), OUTCOME_NOT_ACQUIRED);
    fake_call(&other, shadow, EVENT_ABANDON, 0);
    assert_true(fake_tasks_announce(&fake, held, "b"));
    assert_int_equal(last_asked(&fake, 0), REQUEST_ANNOUNCE);
}

MOVING_TEST(test_memory_is_out_for_a_copy)
{
    unsigned failed = 0;
    hold_with_fence();
    answer_all(ANSWER_YES);
    begin();
    for (other.countdown = 1; !copy(); other.countdown = ++failed + 1)
        assert_null(other.engine.tasks);
    other.countdown = 0;
    assert_true(failed >= 2);
    assert_non_null(other.engine.tasks);
    task->core = other.engine.tasks;
    fake_call(&other, shadow, EVENT_ABANDON, 0);
}

/* Memory was out for its first value. */
MOVING_TEST(test_what_has_nothing_to_say_yet_says_nothing_there)
{
    hold_with_fence();
    answer_all(ANSWER_YES);
    fake_tasks_end_of(&fake, held);
    answer_all(ANSWER_YES);
    former_task->core =
        announcer_new(&fake.engine, lease_names(&held->core), &held->core, former_task);
    begin_with_task();
    for (unsigned i = 0; i < OTHERS; i++)
        answer(i, ANSWER_YES);
    move_with_task();
    for (unsigned i = 0; i < OTHERS; i++)
        assert_int_equal(other.masters[i].count, 0);
    assert_true(fake_tasks_announce(&other, held, "a"));
    assert_int_equal(announced.number, 1);
    fake_tasks_end_of(&other, held);
    step(&other, EVENT_ABANDON);
}

/* ---- It stays ---- */

/* As of a name that others have, and not of a lease that is gone. */
MOVING_TEST(test_a_name_that_others_have)
{
    hold((struct terms){.fence = false});
    begin();
    answer(0, ANSWER_HELD);
    answer(1, ANSWER_HELD);
    answer(2, ANSWER_YES);
    answer(3, ANSWER_YES);
    assert_int_equal(hear(), OUTCOME_NOT_ACQUIRED);
    assert_int_equal(outcome.cause, CAUSE_HELD);
    for (unsigned i = 0; i < OTHERS; i++)
        assert_int_equal(other.masters[i].count, 0); /* no release */
    fake_call(&other, shadow, EVENT_ABANDON, 0);
}

MOVING_TEST(test_a_shadow_that_was_told_nothing_gives_nothing_back)
{
    hold((struct terms){.fence = false});
    begin();
    for (unsigned i = 0; i < OTHERS; i++)
        answer(i, ANSWER_HEALED);
    fake_call(&other, shadow, EVENT_ABANDON, 0);
    for (unsigned i = 0; i < OTHERS; i++)
        assert_int_equal(other.masters[i].count, 0);
}

MOVING_TEST(test_a_release_meanwhile_leaves_marks)
{
    hold((struct terms){.fence = false});
    begin();
    fake_call(&fake, held, EVENT_ABANDON, 0);
    assert_released(&fake, MASTERS, true);
    fake_call(&other, shadow, EVENT_ABANDON, 0);
}

/* ---- It may not ---- */

MOVING_TEST(test_only_what_is_held_may_move)
{
    hold((struct terms){.fence = false});
    usec end = held->core.valid_until;
    assert_true(lease_may_move(&held->core, end - 1));
    assert_false(lease_may_move(&held->core, end));
    fake_call(&fake, held, EVENT_DOWNGRADE, 0);
    assert_false(lease_may_move(&held->core, fake.now));
}

PROGRAM_OF_CASES(NULL, NULL)
