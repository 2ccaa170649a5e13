/*
 * Work that is done once per key: looks and records under leases, and what is left by writers that
 * died.
 */
#include "pair.h"
#include "recipe_user.h"
#include "scene.h"

#define MASTERS 5
#define TTL     6000
#define LATCH   "work once today"

struct call {
    redlock_once *once;
    unsigned times;
    bool frees;
    redlock_latch_result record;
};

static void hear(redlock_once *once, const redlock_latch_result *record, void *data)
{
    struct call *call = data;
    assert_ptr_equal(once, call->once);
    call->times++;
    call->record = *record;
    if (call->frees)
        redlock_once_free(once);
}

static redlock_once_options look_options(void)
{
    return (redlock_once_options){.size = sizeof(redlock_once_options), .key = "today"};
}

static redlock_once_options record_options(const char *note)
{
    redlock_once_options options = look_options();
    options.note = note;
    return options;
}

typedef redlock_code once_function(redlock_lease *lease, redlock_once **once,
                                   const redlock_once_options *options,
                                   redlock_once_callback *callback, void *data);

static redlock_code try_it(struct call *call, struct take *take, once_function *function,
                           const redlock_once_options *options)
{
    *call = (struct call){0};
    return function(take->lease, &call->once, options, hear, call);
}

static void begin(struct call *call, struct take *take, once_function *function,
                  const redlock_once_options *options)
{
    assert_code(try_it(call, take, function, options), REDLOCK_OK);
    assert_int_equal(call->times, 0);
}

static redlock_latch_result await_told(struct call *call, struct user *user, redlock_code code)
{
    AWAIT_MS(user, call->times, 20000);
    assert_int_equal(call->times, 1);
    assert_code(call->record.code, code);
    redlock_once_free(call->once);
    return call->record;
}

static void hold(struct take *take, struct user *user)
{
    redlock_lease_options terms = lease_terms(TTL, 0);
    assert_code(take_lock(take, user, "work", &terms), REDLOCK_OK);
}

static void let_go(struct take *take)
{
    assert_code(take_release(take), REDLOCK_OK);
}

static redlock_latch_result look(struct take *take, redlock_code code)
{
    struct call call;
    redlock_once_options options = look_options();
    begin(&call, take, redlock_once_look, &options);
    return await_told(&call, take->user, code);
}

static redlock_latch_result put_record(struct take *take, const char *note, redlock_code code)
{
    struct call call;
    redlock_once_options options = record_options(note);
    begin(&call, take, redlock_once_record, &options);
    return await_told(&call, take->user, code);
}

static int join_anew(void **state)
{
    cluster_tell_all(&cluster, "DEL redlock:latch:%s", LATCH);
    return pair_join(state);
}

#define WITH_BOTH(name) CASE_WITH(name, join_anew, pair_leave)

/* ---- one after the other ---------------------------------------------------------------- */

WITH_BOTH(what_was_recorded_is_found)
{
    struct take first, second;
    hold(&first, &ours);
    assert_false(look(&first, REDLOCK_OK).open);
    redlock_latch_result record = put_record(&first, "host-1@noon", REDLOCK_OK);
    assert_true(record.open);
    assert_string_equal(record.who, "host-1@noon");
    assert_true(redlock_lease_valid_for(first.lease) > 0);
    let_go(&first);
    hold(&second, &theirs);
    record = look(&second, REDLOCK_OK);
    assert_true(record.open);
    assert_string_equal(record.who, "host-1@noon");
    let_go(&second);
}

/* Their lease has the name "work" with the prefix of their client, and so has the record. */
WITH_BOTH(the_record_has_the_prefix)
{
    struct user prefixed;
    struct take take;
    redlock_options options = impatient();
    options.request_timeout_ms = 5000;
    options.prefix = "app:";
    user_begin(&prefixed, ours.loop, cluster.nodes, &options);
    AWAIT(&prefixed, prefixed.ready);
    hold(&take, &prefixed);
    put_record(&take, "note", REDLOCK_OK);
    assert_true(cluster_count(&cluster, 0, "EXISTS redlock:latch:app:%s", LATCH) +
                    cluster_count(&cluster, 1, "EXISTS redlock:latch:app:%s", LATCH) +
                    cluster_count(&cluster, 2, "EXISTS redlock:latch:app:%s", LATCH) >
                0);
    let_go(&take);
    cluster_tell_all(&cluster, "DEL redlock:latch:app:%s", LATCH);
    assert_int_equal(user_end(&prefixed, 10000), 0);
}

WITH_BOTH(a_second_record_keeps_the_first)
{
    struct take take;
    hold(&take, &ours);
    put_record(&take, "first", REDLOCK_OK);
    redlock_latch_result record = put_record(&take, "second", REDLOCK_OK);
    assert_true(record.open);
    assert_string_equal(record.who, "first");
    let_go(&take);
}

/* ---- latches that are there ------------------------------------------------------------- */

static void make_latch(struct user *user, int64_t arrivals)
{
    struct latching made;
    redlock_latch_options options = {.size = sizeof options, .arrivals = arrivals};
    latching_begin(&made, user, redlock_latch_create, LATCH, &options);
    latching_end(&made, user, REDLOCK_OK);
}

WITH_BOTH(a_latch_without_an_arrival_is_no_record)
{
    struct take take;
    make_latch(&theirs, 1);
    hold(&take, &ours);
    assert_false(look(&take, REDLOCK_OK).open);
    put_record(&take, "note", REDLOCK_OK);
    assert_true(look(&take, REDLOCK_OK).open);
    let_go(&take);
}

WITH_BOTH(the_latch_of_another_is_no_record)
{
    struct take take;
    make_latch(&theirs, 2);
    hold(&take, &ours);
    look(&take, REDLOCK_E_HELD);
    put_record(&take, "note", REDLOCK_E_HELD);
    let_go(&take);
}

/* Its writer died before it could report a record. */
WITH_BOTH(an_arrival_on_one_master_is_a_record)
{
    static struct take take; /* it outlives a case that is skipped */
    make_latch(&theirs, 1);
    cluster_tell_all(&cluster, "ZADD redlock:latch:%s 0 a:late", LATCH);
    for (unsigned i = 1; i < MASTERS; i++)
        cluster_tell(&cluster, i, "ZREM redlock:latch:%s a:late", LATCH);
    hold(&take, &ours);
    redlock_latch_result record = look(&take, REDLOCK_OK);
    if (record.open) /* a busy master may not have been heard */
        assert_string_equal(record.who, "late");
    let_go(&take);
}

/* ---- leases ----------------------------------------------------------------------------- */

WITH_BOTH(only_who_holds_the_name_may_ask)
{
    struct call call;
    struct take take, other;
    redlock_once_options options = look_options(), recorded = record_options("note");
    redlock_lease_options terms = lease_terms(TTL, 0);
    redlock_name names[] = {redlock_name_of("work"), redlock_name_of("more")};
    hold(&take, &ours);
    take_init(&other, &theirs);
    take_ask(&other, &theirs, "work", NULL);
    assert_code(try_it(&call, &other, redlock_once_look, &options), REDLOCK_E_STATE);
    AWAIT(&theirs, other.outcomes);
    take_free(&other);
    assert_code(redlock_lease_release(take.lease), REDLOCK_OK);
    assert_code(try_it(&call, &take, redlock_once_look, &options), REDLOCK_E_STATE);
    assert_code(try_it(&call, &take, redlock_once_record, &recorded), REDLOCK_E_STATE);
    AWAIT(&ours, take.told[REDLOCK_RELEASED].times);
    take_free(&take);
    terms.mode = REDLOCK_SHARED;
    assert_code(take_lock(&take, &ours, "work", &terms), REDLOCK_OK);
    assert_code(try_it(&call, &take, redlock_once_look, &options), REDLOCK_E_STATE);
    let_go(&take);
    terms.mode = REDLOCK_EXCLUSIVE;
    terms.permits = 2;
    assert_code(take_lock(&take, &ours, "work", &terms), REDLOCK_OK);
    assert_code(try_it(&call, &take, redlock_once_look, &options), REDLOCK_E_STATE);
    let_go(&take);
    take_init(&take, &ours);
    assert_code(redlock_acquire_names(ours.client, &take.lease, names, 2, NULL, take_hear, &take),
                REDLOCK_OK);
    AWAIT(&ours, has(&take));
    assert_code(try_it(&call, &take, redlock_once_look, &options), REDLOCK_E_STATE);
    assert_null(call.once);
    let_go(&take);
}

/* Else the name of the record would end in the middle. */
WITH_BOTH(a_name_with_a_nul_has_no_record)
{
    struct call call;
    struct take take;
    redlock_once_options options = look_options();
    redlock_name name = redlock_name_of("work");
    name.bytes = "work\0more";
    name.length = sizeof "work\0more" - 1;
    take_init(&take, &ours);
    assert_code(redlock_acquire_names(ours.client, &take.lease, &name, 1, NULL, take_hear, &take),
                REDLOCK_OK);
    AWAIT(&ours, has(&take));
    assert_code(try_it(&call, &take, redlock_once_look, &options), REDLOCK_E_NAME);
    assert_null(call.once);
    let_go(&take);
}

/* Another holder may have begun before a quorum had the record. */
WITH_BOTH(a_record_of_a_lease_that_ended_is_none)
{
    struct call call;
    struct take take;
    redlock_once_options options = record_options("note");
    hold(&take, &ours);
    begin(&call, &take, redlock_once_record, &options);
    assert_code(redlock_lease_release(take.lease), REDLOCK_OK);
    assert_false(await_told(&call, &ours, REDLOCK_E_EXPIRED).open);
    AWAIT(&ours, take.told[REDLOCK_RELEASED].times);
    take_free(&take);
    hold(&take, &theirs);
    assert_false(look(&take, REDLOCK_OK).open);
    let_go(&take);
}

static bool has_arrived(void)
{
    return cluster_answering(&cluster, 1, "ZCOUNT redlock:latch:%s 0 0", LATCH) > MASTERS / 2;
}

/* Runs the loop until masters have the arrival.  False: the client has heard of it already. */
static bool run_until_arrived(struct call *call, struct user *user)
{
    int64_t end = now_us() + 20000 * INT64_C(1000);
    while (!call->times && !has_arrived())
        if (!user_step(user, end))
            fail_msg("not within 20 s: the masters have the arrival");
    return !call->times;
}

WITH_BOTH(a_record_is_there_too_late)
{
    struct call call;
    static struct take take; /* it outlives a case that is skipped */
    redlock_once_options options = record_options("note");
    for (bool is_early = false; !is_early;) {
        cluster_tell_all(&cluster, "DEL redlock:latch:%s", LATCH);
        assert_false(has_arrived());
        hold(&take, &ours);
        begin(&call, &take, redlock_once_record, &options);
        is_early = run_until_arrived(&call, &ours);
        assert_code(redlock_lease_release(take.lease), REDLOCK_OK);
        redlock_latch_result record =
            await_told(&call, &ours, is_early ? REDLOCK_E_EXPIRED : REDLOCK_OK);
        assert_true(record.open);
        AWAIT(&ours, take.told[REDLOCK_RELEASED].times);
        take_free(&take);
    }
}

/* ---- ends ------------------------------------------------------------------------------- */

WITH_BOTH(a_handle_is_freed_at_any_time)
{
    struct call call;
    struct take take;
    redlock_once_options options = look_options();
    hold(&take, &ours);
    begin(&call, &take, redlock_once_look, &options);
    redlock_once_free(call.once);
    begin(&call, &take, redlock_once_look, &options);
    call.frees = true;
    AWAIT(&ours, call.times);
    assert_code(call.record.code, REDLOCK_OK);
    redlock_once_free(NULL);
    let_go(&take);
}

WITH_BOTH(a_close_ends_the_call)
{
    struct user brief;
    struct take take;
    struct call call;
    redlock_once_options options = look_options();
    user_join(&brief, ours.loop, &cluster);
    hold(&take, &brief);
    begin(&call, &take, redlock_once_look, &options);
    call.frees = true;
    assert_int_equal(user_end(&brief, 10000), 0);
    assert_int_equal(call.times, 1);
    assert_code(call.record.code, REDLOCK_E_CLOSED);
}

#define LONGEST "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void assert_refused(struct take *take, once_function *function,
                           const redlock_once_options *options)
{
    struct call call;
    assert_code(try_it(&call, take, function, options), REDLOCK_E_ARGUMENT);
    assert_null(call.once);
}

WITH_BOTH(what_is_refused)
{
    static const char *const words[] = {NULL, "", LONGEST "0", "two words", "a\nb", "\xc3\xa4"};
    struct take take;
    redlock_once *once;
    redlock_once_options options;
    hold(&take, &ours);
    for (unsigned i = 0; i < COUNT(words); i++) {
        options = record_options(words[i]);
        assert_refused(&take, redlock_once_record, &options);
        options = record_options("note");
        options.key = words[i];
        assert_refused(&take, redlock_once_record, &options);
    }
    options = record_options("note");
    assert_refused(&take, redlock_once_look, &options);
    options = record_options("note");
    options.life_ms = 999;
    assert_refused(&take, redlock_once_record, &options);
    options.life_ms = REDLOCK_LATCH_LIFE_MAX + 1;
    assert_refused(&take, redlock_once_record, &options);
    options = look_options();
    options.life_ms = 5000;
    assert_refused(&take, redlock_once_look, &options);
    options = look_options();
    options.size = 0;
    assert_refused(&take, redlock_once_look, &options);
    assert_refused(&take, redlock_once_look, NULL);
    options = look_options();
    assert_code(redlock_once_look(take.lease, &once, &options, NULL, NULL), REDLOCK_E_ARGUMENT);
    assert_code(redlock_once_look(NULL, &once, &options, hear, NULL), REDLOCK_E_ARGUMENT);
    let_go(&take);
    options.key = LONGEST;
}

/* ---- masters that lie, and that restart -------------------------------------------------- */

/* A quorum has a record at first.  Looks open the latch on the masters that were late, where it
 * needs no arrival any more. */
static void put_record_everywhere(struct take *take)
{
    put_record(take, "true", REDLOCK_OK);
    AWAIT_MS(take->user,
             (look(take, REDLOCK_OK),
              cluster_answering(&cluster, 1, "EXISTS redlock:latch:%s", LATCH) == MASTERS),
             20000);
    cluster_tell_all(&cluster, "ZADD redlock:latch:%s 0 a:true", LATCH);
}

/* Two name other arrivals, before and behind the true one in order. */
WITH_BOTH(the_most_masters_name_the_arrival)
{
    static struct take take; /* it outlives a case that is skipped */
    assert_false(has_arrived());
    hold(&take, &ours);
    put_record_everywhere(&take);
    let_go(&take);
    for (unsigned i = 0; i < 2; i++) {
        cluster_tell(&cluster, i, "ZREM redlock:latch:%s a:true", LATCH);
        cluster_tell(&cluster, i, "ZADD redlock:latch:%s 0 %s", LATCH, i ? "a:x-lie" : "a:lie");
    }
    hold(&take, &ours);
    assert_string_equal(look(&take, REDLOCK_OK).who, "true");
    let_go(&take);
}

/* It goes to terminals. */
WITH_BOTH(a_name_of_other_bytes_is_not_told)
{
    static struct take take; /* it outlives a case that is skipped */
    hold(&take, &ours);
    put_record_everywhere(&take);
    cluster_tell_all(&cluster, "ZREM redlock:latch:%s a:true", LATCH);
    cluster_tell_all(&cluster, "ZADD redlock:latch:%s 0 a:\x1b[2J", LATCH);
    redlock_latch_result record = look(&take, REDLOCK_OK);
    assert_true(record.open);
    assert_string_equal(record.who, "");
    let_go(&take);
}

static void look_with_spare(struct user *user, const char *who)
{
    struct user wary;
    struct take take;
    redlock_options options = impatient();
    options.request_timeout_ms = 5000;
    options.spare = 1;
    user_begin(&wary, user->loop, cluster.nodes, &options);
    AWAIT(&wary, user_all_up(&wary));
    hold(&take, &wary);
    redlock_latch_result record = look(&take, REDLOCK_OK);
    assert_true(record.open);
    assert_string_equal(record.who, who);
    let_go(&take);
    assert_int_equal(user_end(&wary, 10000), 0);
}

WITH_BOTH(a_name_that_only_one_master_has_is_not_told_with_a_spare_vote)
{
    struct take take;
    char name[8];
    assert_false(has_arrived());
    hold(&take, &ours);
    put_record_everywhere(&take);
    let_go(&take);
    look_with_spare(&ours, "true");
    for (unsigned i = 0; i < MASTERS; i++) {
        snprintf(name, sizeof name, "a:lie-%u", i);
        cluster_tell(&cluster, i, "ZREM redlock:latch:%s a:true", LATCH);
        cluster_tell(&cluster, i, "ZADD redlock:latch:%s 0 %s", LATCH, name);
    }
    look_with_spare(&ours, "");
}

/* The latch is open there, with or without the arrival that opened it. */
static bool is_recorded_on(unsigned master)
{
    redisReply *open = cluster_ask(&scene.cluster, master, "ZSCORE redlock:latch:%s open", LATCH);
    bool is = open && open->type == REDIS_REPLY_STRING;
    freeReplyObject(open);
    return is;
}

/* Under a lease of its own.  False: masters were too slow. */
static bool carry_out(struct user *user, once_function *function,
                      const redlock_once_options *options)
{
    struct call call;
    struct take take;
    redlock_lease_options terms = lease_terms(2000, 10000);
    assert_code(take_lock(&take, user, "work", &terms), REDLOCK_OK);
    begin(&call, &take, function, options);
    AWAIT_MS(user, call.times, 20000);
    redlock_once_free(call.once);
    take_free(&take);
    if (call.record.code == REDLOCK_OK)
        assert_true(call.record.open);
    else
        assert_true(function == redlock_once_record || call.record.code == REDLOCK_E_UNAVAILABLE);
    return call.record.code == REDLOCK_OK;
}

/* A look leaves the masters as they should be, as far as they answer in time.
 * rule: L3 */
SCENE(a_record_outlasts_restarts_in_turn, .masters = 3, .max_ttl_ms = 2000)
{
    struct user user;
    redlock_once_options looks = look_options(), records = record_options("note");
    scene_enter(&scene, &user, "once", 0);
    AWAIT_MS(&user, carry_out(&user, redlock_once_record, &records), 20000);
    for (unsigned i = 0; i < 3; i++) /* a quorum has it at first */
        AWAIT_MS(&user, is_recorded_on(i) || (carry_out(&user, redlock_once_look, &looks), false),
                 20000);
    for (unsigned i = 0; i < 3; i++) {
        cluster_do(&scene.cluster, "restart %u --empty", i + 1);
        AWAIT_MS(&user, user_all_up(&user), 20000);
        AWAIT_MS(&user, carry_out(&user, redlock_once_look, &looks) && is_recorded_on(i), 20000);
    }
    scene_leave(&user);
}

/* ---- a lease that moves ------------------------------------------------------------------ */

#define ROADS 5
#define DELAY 500 /* ms, less than a request may take */

static struct user former, next;

/* From 5 masters to the same and a sixth one. */
static void begin_to_move(struct take *take)
{
    char nodes[NODES_SIZE];
    redlock_options options = scene_options(&scene);
    options.fleet = "fleet";
    scene_nodes(&scene, (1U << ROADS) - 1, nodes);
    user_begin(&next, scene.loop, nodes, &options);
    *strrchr(nodes, ' ') = '\0'; /* a space is behind each */
    *strrchr(nodes, ' ') = '\0';
    user_begin(&former, scene.loop, nodes, &options);
    AWAIT(&former, former.ready && user_all_up(&former));
    AWAIT(&next, next.ready && user_all_up(&next));
    hold(take, &former);
}

static void delay(int ms)
{
    for (unsigned i = 0; i < ROADS; i++)
        proxy_delay(scene.roads[i], ms);
}

static bool were_asked(const long long *before)
{
    bool all = true;
    for (unsigned i = 0; i < ROADS; i++)
        all &= scene_scripts(&scene, i) > before[i];
    return all;
}

static bool have_arrival(void)
{
    unsigned masters = 0;
    for (unsigned i = 0; i < ROADS; i++)
        masters += cluster_count(&scene.cluster, i, "ZCOUNT redlock:latch:%s 0 0", LATCH) == 1;
    return masters > ROADS / 2;
}

/* Goes on when the former masters have the last request.  Their answers are on the way. */
static void begin_late(struct call *call, struct take *take, once_function *function,
                       const redlock_once_options *options)
{
    long long scripts[ROADS];
    for (unsigned i = 0; i < ROADS; i++)
        scripts[i] = scene_scripts(&scene, i);
    delay(DELAY);
    begin(call, take, function, options);
    if (function == redlock_once_look)
        AWAIT(&former, call->times || were_asked(scripts));
    else
        AWAIT(&former, call->times || have_arrival());
    delay(0);
}

/* The next holder may not ask a quorum of the former list.  Where this machine is busy the answers
 * may be there before the lease has moved. */
static void move_meanwhile(once_function *function, const redlock_once_options *options,
                           bool closes)
{
    struct call call;
    struct take take;
    begin_to_move(&take);
    begin_late(&call, &take, function, options);
    assert_code(redlock_lease_move(take.lease, next.client), REDLOCK_OK);
    AWAIT(&next, take.told[REDLOCK_MOVED].times);
    bool is_late = !call.times;
    if (closes)
        user_end(&former, 0);
    redlock_latch_result record = await_told(&call, &next, REDLOCK_OK);
    assert_int_equal(record.open, function == redlock_once_record);
    assert_int_equal(record.masters, is_late ? ROADS + 1 : ROADS);
    assert_code(take_release(&take), REDLOCK_OK);
    if (!closes)
        user_end(&former, 5000);
    assert_int_equal(user_end(&next, 5000), 0);
}

SCENE(a_look_asks_again_where_its_lease_went, .masters = ROADS + 1)
{
    redlock_once_options options = look_options();
    move_meanwhile(redlock_once_look, &options, false);
}

SCENE(a_record_is_written_where_its_lease_went, .masters = ROADS + 1)
{
    redlock_once_options options = record_options("note");
    move_meanwhile(redlock_once_record, &options, false);
}

SCENE(a_look_goes_on_when_its_former_client_is_closed, .masters = ROADS + 1)
{
    redlock_once_options options = look_options();
    move_meanwhile(redlock_once_look, &options, true);
}

SCENE(a_record_goes_on_when_its_former_client_is_closed, .masters = ROADS + 1)
{
    redlock_once_options options = record_options("note");
    move_meanwhile(redlock_once_record, &options, true);
}

PROGRAM(.masters = MASTERS)
