/*
 * The contract of the loop. Callbacks come only from it and may do anything, even free their own
 * lease or client. The loop ends by itself, and sends no SIGPIPE.
 * rule: C1, C13
 */
#include <redlock/recipes.h>

#include "fixture.h"
#include "user.h"

#include <signal.h>

static volatile sig_atomic_t pipes;

static void count_pipe(int number)
{
    (void)number;
    pipes++;
}

static void count_pipes(void)
{
    signal(SIGPIPE, count_pipe);
}

static void no_pipe_broke(void)
{
    assert_int_equal(pipes, 0);
}

/* ---- Anything inside every callback ---- */

#define A_LOOK ((redlock_event_kind)KINDS) /* a report, but no event */

enum deed { FREE_LEASE, FREE_CLIENT, CLOSE_CLIENT, ASK_AGAIN, DEEDS };

struct stage {
    struct user user;
    redlock_event_kind kind; /* the outcome in which the deed is done */
    enum deed deed;
    redlock_lease *lease;
    redlock_look *look;
    unsigned at_risk, done, told_after;
    unsigned closed;
    struct take second;
    struct user next; /* MOVED, NOT_MOVED: of the client that it moves to, or not */
};

static void note_closed(redlock *client, unsigned left, void *data)
{
    struct stage *stage = data;
    assert_int_equal(left, 0);
    assert_ptr_equal(client, stage->user.client);
    stage->closed++;
    redlock_free(client); /* in its own last callback */
    ev_break(stage->user.loop, EVBREAK_ONE);
}

static void act_on_client(struct stage *stage)
{
    redlock_lease_options waits = lease_terms(10000, 5000);
    if (stage->deed == FREE_CLIENT)
        redlock_free(stage->user.client);
    else if (stage->deed == CLOSE_CLIENT)
        redlock_close(stage->user.client, 5000, note_closed, stage);
    else
        take_ask(&stage->second, &stage->user, "second", &waits);
}

static void act(redlock_lease *lease, const redlock_event *event, void *data)
{
    struct stage *stage = data;
    assert_ptr_equal(lease, stage->lease);
    assert_string_not_equal(redlock_event_name(event->kind), "");
    ev_break(stage->user.loop, EVBREAK_ONE);
    stage->at_risk += event->kind == REDLOCK_AT_RISK;
    if (stage->done) {
        stage->told_after++;
        assert_true(stage->deed == CLOSE_CLIENT || stage->deed == ASK_AGAIN);
        return;
    }
    if (event->kind != stage->kind)
        return;
    stage->done = 1;
    if (stage->deed == FREE_LEASE)
        redlock_lease_free(lease);
    else
        act_on_client(stage);
    if (stage->deed == ASK_AGAIN) {
        redlock_lease_extend(lease, 0);
        redlock_lease_release(lease);
    }
}

static void act_on_look(redlock_look *look, const redlock_look_result *result, void *data)
{
    struct stage *stage = data;
    assert_ptr_equal(look, stage->look);
    assert_code(result->code, REDLOCK_OK);
    ev_break(stage->user.loop, EVBREAK_ONE);
    stage->done++;
    if (stage->deed == FREE_LEASE)
        redlock_look_free(look);
    else
        act_on_client(stage);
}

/* Until go_on(). */
static void stall(unsigned masters)
{
    for (unsigned i = 0; i < masters; i++)
        cluster_tell(&cluster, i, "CLIENT PAUSE 60000 WRITE");
}

static void go_on(void)
{
    cluster_tell_all(&cluster, "CLIENT UNPAUSE");
}

/* One that closes takes no lease over. */
static void provoke_move(struct stage *stage)
{
    user_join(&stage->next, stage->user.loop, &cluster);
    assert_code(redlock_lease_move(stage->lease, stage->next.client), REDLOCK_OK);
    if (stage->kind == REDLOCK_NOT_MOVED)
        redlock_close(stage->next.client, 5000, NULL, NULL);
}

/* Brings about the outcome `kind`. */
static void provoke(struct stage *stage)
{
    redlock *client = stage->user.client;
    redlock_name name = NAME("first");
    redlock_lease_options terms = lease_terms(1500, 0);
    terms.no_renew = stage->kind == REDLOCK_LOST;
    if (stage->kind == REDLOCK_NOT_CHANGED)
        terms.mode = REDLOCK_SHARED;
    terms.fence = stage->kind == REDLOCK_ANNOUNCED;
    if (stage->kind == A_LOOK) {
        assert_code(redlock_look_begin(client, &stage->look, &name, 1, NULL, act_on_look, stage),
                    REDLOCK_OK);
        return;
    }
    if (stage->kind == REDLOCK_NOT_ACQUIRED)
        cluster_tell_all(&cluster, "SET first other PX 60000");
    assert_code(redlock_acquire(client, &stage->lease, "first", &terms, act, stage), REDLOCK_OK);
    if (stage->kind <= REDLOCK_NOT_ACQUIRED)
        return;
    AWAIT(&stage->user, redlock_lease_valid_for(stage->lease) > 0);
    AWAIT(&stage->user, cluster_holders(&cluster, "first", NULL) == 5);
    if (stage->kind == REDLOCK_AT_RISK || stage->kind == REDLOCK_HEALTHY)
        stall(2);
    else if (stage->kind == REDLOCK_NOT_EXTENDED || stage->kind == REDLOCK_NOT_CHANGED)
        stall(3);
    if (stage->kind == REDLOCK_EXTENDED || stage->kind == REDLOCK_NOT_EXTENDED)
        assert_code(redlock_lease_extend(stage->lease, 0), REDLOCK_OK);
    if (stage->kind == REDLOCK_CHANGED)
        assert_code(redlock_lease_downgrade(stage->lease), REDLOCK_OK);
    if (stage->kind == REDLOCK_NOT_CHANGED)
        assert_code(redlock_lease_upgrade(stage->lease), REDLOCK_OK);
    if (stage->kind == REDLOCK_ANNOUNCED)
        assert_code(redlock_lease_announce(stage->lease, "x", 1), REDLOCK_OK);
    if (stage->kind == REDLOCK_RELEASED)
        assert_code(redlock_lease_release(stage->lease), REDLOCK_OK);
    if (stage->kind == REDLOCK_MOVED || stage->kind == REDLOCK_NOT_MOVED)
        provoke_move(stage);
}

/* The lease is not that of the client which was closed or freed. */
static void leave_next(struct stage *stage)
{
    bool has_lease = stage->deed == FREE_CLIENT || stage->deed == CLOSE_CLIENT;
    if (stage->kind == REDLOCK_MOVED && has_lease)
        redlock_lease_free(stage->lease);
    ev_run(stage->user.loop, 0);
    redlock_free(stage->next.client);
}

static void play(redlock_event_kind kind, enum deed deed)
{
    static struct stage stage;
    memset(&stage, 0, sizeof stage);
    stage.kind = kind;
    stage.deed = deed;
    redlock_options options = {.size = sizeof(redlock_options)};
    options.request_timeout_ms = 300;
    user_open(&stage.user, &cluster, &options);
    struct ev_loop *loop = stage.user.loop;
    provoke(&stage);
    assert_int_equal(stage.done, 0); /* never from inside a call */
    if (kind == REDLOCK_HEALTHY) {
        AWAIT(&stage.user, stage.at_risk);
        go_on();
    }
    AWAIT(&stage.user, stage.done);
    go_on();
    if (deed == CLOSE_CLIENT) {
        AWAIT(&stage.user, stage.closed);
    } else if (deed == ASK_AGAIN) {
        AWAIT(&stage.user, stage.second.told[REDLOCK_ACQUIRED].times);
        redlock_lease_free(stage.second.lease);
        redlock_lease_free(stage.lease);
        redlock_look_free(stage.look);
        ev_run(loop, 0); /* until everything is given back */
        redlock_free(stage.user.client);
    } else if (deed == FREE_LEASE) {
        ev_run(loop, 0);
        redlock_free(stage.user.client);
    }
    if (stage.next.client)
        leave_next(&stage);
    ev_run(loop, 0);
    ev_loop_destroy(loop);
    if (deed == FREE_CLIENT || kind == REDLOCK_NOT_ACQUIRED)
        for (unsigned i = 0; i < 5; i++)
            cluster_tell(
                &cluster, i,
                "DEL first redlock:holders:first redlock:leader:first"); /* nothing is sent any
                                                                            more: allowed to stay */
    assert_int_equal(cluster_keys(&cluster), 0);
}

CASE(test_anything_in_callbacks)
{
    NEEDS_SERVERS();
    for (int kind = 0; kind <= KINDS; kind++)
        for (int deed = 0; deed < DEEDS; deed++)
            play((redlock_event_kind)kind, (enum deed)deed);
}

/* ---- Asking again in NOT_ACQUIRED ---- */

enum { BEATS = 20, BEAT_MS = 5, SPIN_MS = 10000 };

/* A timer beats beside a lease that is asked for again as soon as it is refused. */
struct spin {
    struct user user;
    ev_timer beat;
    redlock_code code; /* of every refusal */
    unsigned tries, beats;
    int64_t end_us;
    bool over;
};

static void refuse_again(redlock_lease *lease, const redlock_event *event, void *data);

static void ask_again(struct spin *spin)
{
    redlock_lease *lease;
    spin->tries++;
    assert_code(redlock_acquire(spin->user.client, &lease, "spun", NULL, refuse_again, spin),
                REDLOCK_OK);
}

static void refuse_again(redlock_lease *lease, const redlock_event *event, void *data)
{
    struct spin *spin = data;
    assert_int_equal(event->kind, REDLOCK_NOT_ACQUIRED);
    assert_code(event->code, spin->code);
    redlock_lease_free(lease);
    spin->over = spin->beats >= BEATS || now_us() > spin->end_us;
    if (!spin->over)
        ask_again(spin);
}

static void count_beat(struct ev_loop *loop, ev_timer *beat, int events)
{
    struct spin *spin = beat->data;
    (void)loop, (void)events;
    spin->beats++;
}

static void spin_until_the_timer_has_fired(struct spin *spin)
{
    ev_timer_init(&spin->beat, count_beat, BEAT_MS / 1e3, BEAT_MS / 1e3);
    spin->beat.data = spin;
    ev_timer_start(spin->user.loop, &spin->beat);
    spin->end_us = now_us() + SPIN_MS * 1000;
    ask_again(spin);
    AWAIT_MS(&spin->user, spin->over, 2 * SPIN_MS);
    ev_timer_stop(spin->user.loop, &spin->beat);
    assert_true(spin->beats >= BEATS);
}

CASE(test_each_refusal_of_a_spin_took_a_round_trip)
{
    struct spin spin = {.code = REDLOCK_E_HELD};
    cluster_tell_all(&cluster, "SET spun other PX 60000");
    user_open(&spin.user, &cluster, NULL);
    uint64_t before = stats_of(&spin.user).requests;
    spin_until_the_timer_has_fired(&spin);
    assert_true(stats_of(&spin.user).requests - before >= 3 * (uint64_t)spin.tries);
    cluster_tell_all(&cluster, "DEL spun");
    user_close_clean(&spin.user, &cluster);
}

/* No answer is waited for, so nothing but the end of the turn lets other watchers have theirs. */
CASE(test_a_spin_without_masters_leaves_the_loop_to_others)
{
    struct spin spin = {.code = REDLOCK_E_UNAVAILABLE};
    user_begin(&spin.user, ev_loop_new(0),
               "redis://127.0.0.1:1 redis://127.0.0.2:1 redis://127.0.0.3:1", NULL);
    AWAIT(&spin.user, spin.user.ready);
    spin_until_the_timer_has_fired(&spin);
    assert_true(spin.tries > BEATS);
    assert_int_equal(stats_of(&spin.user).requests, 0);
    user_close(&spin.user, 0);
}

/* ---- on_ready and closed() ---- */

static void free_when_ready(redlock *client, redlock_code code, const char *text, void *data)
{
    (void)code, (void)text;
    ++*(unsigned *)data;
    redlock_free(client);
}

CASE(test_free_when_ready)
{
    unsigned ready = 0;
    redlock *client;
    struct ev_loop *loop = ev_loop_new(0);
    redlock_options options = {.size = sizeof(redlock_options)};
    options.nodes = cluster.nodes;
    options.on_ready = free_when_ready;
    options.data = &ready;
    assert_code(redlock_open(&client, loop, &options, NULL, 0), REDLOCK_OK);
    ev_run(loop, 0);
    assert_int_equal(ready, 1);
    assert_code(redlock_open(&client, loop, &options, NULL, 0), REDLOCK_OK);
    redlock_free(client); /* before the loop ever ran */
    ev_run(loop, 0);
    assert_int_equal(ready, 1);
    redlock_free(NULL);
    redlock_lease_free(NULL);
    ev_loop_destroy(loop);
}

/* ---- on_node ---- */

struct changes {
    unsigned of[5], states[5];
    bool frees;
};

static void note_change(redlock *client, unsigned index, void *data)
{
    struct changes *changes = data;
    redlock_node node = {.size = sizeof node};
    assert_code(redlock_node_get(client, index, &node), REDLOCK_OK);
    changes->of[index]++;
    changes->states[index] = node.state;
    if (changes->frees)
        redlock_free(client);
}

static unsigned count_states(const struct changes *changes, redlock_node_state state)
{
    unsigned count = 0;
    for (unsigned i = 0; i < 5; i++)
        count += changes->of[i] && changes->states[i] == state;
    return count;
}

CASE(test_changes_of_nodes_are_told)
{
    NEEDS_SERVERS();
    redlock *client;
    struct changes changes = {0};
    struct ev_loop *loop = ev_loop_new(0);
    redlock_options options = {.size = sizeof(redlock_options)};
    options.nodes = cluster.nodes;
    options.on_node = note_change;
    options.data = &changes;
    options.connect_timeout_ms = options.request_timeout_ms = 5000;
    assert_code(redlock_open(&client, loop, &options, NULL, 0), REDLOCK_OK);
    assert_int_equal(count_states(&changes, REDLOCK_NODE_UP), 0); /* not from inside the call */
    int64_t end = now_us() + 10000000;
    while (count_states(&changes, REDLOCK_NODE_UP) < 5) {
        assert_true(now_us() < end);
        ev_run(loop, EVRUN_ONCE);
    }
    cluster_tell(&cluster, 2, "CLIENT KILL TYPE normal SKIPME yes");
    while (changes.of[2] < 3 || count_states(&changes, REDLOCK_NODE_UP) < 5) { /* gone, and back */
        assert_true(now_us() < end);
        ev_run(loop, EVRUN_ONCE);
    }
    assert_int_equal(changes.of[1], 1);
    redlock_free(client);
    changes = (struct changes){.frees = true};
    assert_code(redlock_open(&client, loop, &options, NULL, 0), REDLOCK_OK);
    ev_run(loop, 0);
    assert_int_equal(changes.of[0] + changes.of[1] + changes.of[2] + changes.of[3] + changes.of[4],
                     1);
    ev_loop_destroy(loop);
}

/* ---- The loop ---- */

struct logged {
    redlock *client;
    bool armed;
    unsigned after; /* lines that came once it was freed */
};

static void free_when_logged(redlock_level level, const char *text, void *data)
{
    struct logged *logged = data;
    (void)level, (void)text;
    logged->after += logged->armed && !logged->client;
    if (logged->armed)
        redlock_free(logged->client);
    if (logged->armed)
        logged->client = NULL;
}

/* A line comes where a master is lost, which is while its link is at work. */
CASE(test_free_when_logged)
{
    NEEDS_SERVERS();
    struct user user = {.loop = ev_loop_new(0)};
    struct logged logged = {0};
    redlock_options options = {.size = sizeof(redlock_options)};
    options.nodes = cluster.nodes;
    options.on_log = free_when_logged;
    options.data = &logged;
    assert_code(redlock_open(&logged.client, user.loop, &options, NULL, 0), REDLOCK_OK);
    user.client = logged.client;
    AWAIT(&user, user_all_up(&user));
    logged.armed = true;
    cluster_tell_all(&cluster, "CLIENT KILL TYPE normal SKIPME yes");
    AWAIT(&user, !logged.client);
    ev_run(user.loop, 0);
    assert_int_equal(logged.after, 0);
    ev_loop_destroy(user.loop);
}

CASE(test_loop_ends_by_itself)
{
    NEEDS_SERVERS();
    struct user user;
    struct take take;
    user_begin(&user, ev_loop_new(0), cluster.nodes, NULL);
    ev_run(user.loop, 0); /* until it is ready: idle connections keep no loop alive */
    ev_run(user.loop, 0);
    assert_int_equal(user.ready, 1);
    assert_code(take_lock(&take, &user, "alive", NULL), REDLOCK_OK);
    redlock_lease_free(take.lease);
    ev_run(user.loop, 0);
    assert_int_equal(cluster_keys(&cluster), 0);
    /* Also when a master comes and goes meanwhile. */
    cluster_tell(&cluster, 2, "CLIENT KILL TYPE normal SKIPME yes");
    assert_code(take_lock(&take, &user, "alive", NULL), REDLOCK_OK);
    assert_code(take_release(&take), REDLOCK_OK);
    ev_run(user.loop, 0);
    user_close_clean(&user, &cluster);
}

/* Requests are on their way to masters that die: errors of writing, never a signal. */
CASE(test_no_sigpipe)
{
    NEEDS_SERVERS();
    struct user user;
    struct take takes[50];
    redlock_lease_options terms = lease_terms(1000, 0);
    redlock_options options = impatient();
    user_open(&user, &cluster, &options);
    for (unsigned try = 0; try < 20; try++) {
        for (unsigned i = 0; i < COUNT(takes); i++) {
            take_ask(&takes[i], &user, "dying", &terms);
            if (i == 5)
                cluster_tell(&cluster, try % 5, "CLIENT KILL TYPE normal SKIPME yes");
            if (i % 7 == 0)
                ev_run(user.loop, EVRUN_NOWAIT);
        }
        for (unsigned i = 0; i < COUNT(takes); i++) {
            AWAIT(&user, takes[i].outcomes);
            take_free(&takes[i]);
        }
    }
    user_close_clean(&user, &cluster);
    assert_int_equal(pipes, 0);
}

enum { TOGETHER = 20 };

/* ---- Calls that others end or outrun ---- */

/* Stopped for longer than a hang, it reads the answers that have come before it judges anybody. */
CASE(test_answers_are_read_before_masters_are_judged)
{
    enum { TIMEOUT_MS = 100 };
    struct user user;
    struct take take;
    redlock_options options = {.size = sizeof(redlock_options)};
    options.request_timeout_ms = TIMEOUT_MS;
    options.connect_timeout_ms = 5000;
    user_open(&user, &cluster, &options);
    redlock_stats before = stats_of(&user);
    take_ask(&take, &user, "stopped", NULL);
    ev_run(user.loop, EVRUN_NOWAIT);
    assert_int_equal(stats_of(&user).requests - before.requests, 5);
    int64_t until = now_us() + 12 * TIMEOUT_MS * 1000;
    while (cluster_holders(&cluster, "stopped", NULL) < 5 || now_us() < until)
        ; /* it is stopped */
    AWAIT(&user, take.outcomes);
    assert_int_equal(take.told[REDLOCK_ACQUIRED].times, 1);
    assert_int_equal(stats_of(&user).timeouts, before.timeouts);
    assert_int_equal(stats_of(&user).disconnects, before.disconnects);
    assert_code(take_release(&take), REDLOCK_OK);
    user_close_clean(&user, &cluster);
}

enum { MANY = 2000 };

struct releases {
    unsigned told;
    bool closed;
};

/* Once a turn has written, it holds up the loop until all of that is answered. */
struct hold_up {
    ev_prepare prepare;
    struct user *user;
    uint64_t requests; /* before */
    long calls[5];
};

PROGRAM(.masters = 5, .begun = count_pipes, .ending = no_pipe_broke)
