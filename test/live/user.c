#include "user.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 1000
#define STEP_US     5000

/* ---- The loop ---- */

static void on_deadline(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop, (void)timer, (void)events;
}

/* After the library has done all that was due. */
static void on_rest(struct ev_loop *loop, ev_prepare *prepare, int events)
{
    struct user *user = prepare->data;
    (void)loop, (void)events;
    user->rested_us = now_us();
}

/* By which its loop goes on later than it meant to. */
static int64_t held_up_us(const struct user *user)
{
    int64_t late = now_us() - user->rested_us - 2 * STEP_US;
    return late > 0 ? late : 0;
}

/* Wakes at least every few ms, as the condition may depend on no event of the loop. */
bool user_step(struct user *user, int64_t end_us)
{
    if (now_us() >= end_us)
        return false;
    ev_timer timer;
    ev_prepare rest;
    ev_timer_init(&timer, on_deadline, STEP_US / 1e6, 0.);
    ev_prepare_init(&rest, on_rest);
    ev_set_priority(&rest, EV_MINPRI);
    rest.data = user;
    ev_timer_start(user->loop, &timer);
    ev_prepare_start(user->loop, &rest);
    ev_run(user->loop, EVRUN_ONCE);
    user->held_up_us += held_up_us(user);
    ev_prepare_stop(user->loop, &rest);
    ev_timer_stop(user->loop, &timer);
    return true;
}

void user_meanwhile(struct user *user, const struct cluster *cluster, const char *command)
{
    int status;
    int64_t end = now_us() + 30000000;
    pid_t child = cluster_begin(cluster, command);
    while (waitpid(child, &status, WNOHANG) == 0)
        assert_true(user_step(user, end));
    if (status)
        fail_msg("cluster %s failed", command);
}

static void look_up(struct user *user)
{
    ev_break(user->loop, EVBREAK_ONE);
}

/* ---- The client ---- */

static void on_ready(redlock *client, redlock_code code, const char *text, void *data)
{
    struct user *user = data;
    (void)client;
    user->ready++;
    user->ready_code = code;
    snprintf(user->ready_text, sizeof user->ready_text, "%s", text);
    look_up(user);
}

static void on_log(redlock_level level, const char *text, void *data)
{
    struct user *user = data;
    size_t used = strlen(user->log);
    user->warnings += level <= REDLOCK_LOG_WARNING;
    snprintf(user->log + used, sizeof user->log - used, "%s\n", text);
}

static void on_closed(redlock *client, unsigned left, void *data)
{
    struct user *user = data;
    (void)client;
    user->closed++;
    user->left = left;
    look_up(user);
}

const char *fleet_of_its_own(void)
{
    static char name[40];
    static unsigned count;
    snprintf(name, sizeof name, "fleet-%d-%u", (int)getpid(), count++);
    return name;
}

void user_begin(struct user *user, struct ev_loop *loop, const char *nodes,
                const redlock_options *options)
{
    redlock_options all = {.size = sizeof(redlock_options)};
    char why[256] = "";
    *user = (struct user){.loop = loop};
    all.connect_timeout_ms = 5 * PATIENCE_MS;
    all.request_timeout_ms = PATIENCE_MS;
    if (options)
        all = *options;
    if (all.nodes && !all.fleet)
        all.fleet = fleet_of_its_own();
    if (!all.nodes)
        all.nodes = nodes;
    all.on_ready = on_ready;
    all.on_log = on_log;
    all.data = user;
    redlock_code code = redlock_open(&user->client, loop, &all, why, sizeof why);
    if (code)
        fail_msg("redlock_open: %s: %s", redlock_code_name(code), why);
}

redlock_options impatient(void)
{
    redlock_options options = {.size = sizeof(redlock_options)};
    options.request_timeout_ms = 50;
    return options;
}

void user_open(struct user *user, const struct cluster *cluster, const redlock_options *options)
{
    user_begin(user, ev_loop_new(0), cluster ? cluster->nodes : NULL, options);
    AWAIT(user, user->ready);
}

void user_join(struct user *user, struct ev_loop *loop, const struct cluster *cluster)
{
    user_begin(user, loop, cluster->nodes, NULL);
    AWAIT(user, user->ready);
}

unsigned user_end_early(struct user *user, int64_t patience_ms)
{
    redlock_close(user->client, patience_ms, on_closed, user);
    AWAIT_MS(user, user->closed, patience_ms + 5000);
    redlock_free(user->client);
    user->client = NULL;
    assert_int_equal(user->closed, 1);
    return user->left;
}

unsigned user_end(struct user *user, int64_t patience_ms)
{
    unsigned left = user_end_early(user, patience_ms);
    assert_int_equal(user->ready, 1);
    return left;
}

unsigned user_close(struct user *user, int64_t patience_ms)
{
    unsigned left = user_end(user, patience_ms);
    ev_run(user->loop, 0);
    ev_loop_destroy(user->loop);
    return left;
}

void user_close_clean(struct user *user, struct cluster *cluster)
{
    assert_int_equal(user_close(user, 10000), 0);
    assert_int_equal(cluster_keys(cluster), 0);
}

redlock_stats stats_of(const struct user *user)
{
    redlock_stats stats = {.size = sizeof stats};
    redlock_stats_get(user->client, &stats);
    return stats;
}

redlock_node node_of(const struct user *user, unsigned index)
{
    redlock_node node = {.size = sizeof node};
    assert_code(redlock_node_get(user->client, index, &node), REDLOCK_OK);
    return node;
}

bool user_all_up(const struct user *user)
{
    bool all = true;
    for (unsigned i = 0; i < redlock_node_count(user->client); i++)
        all &= node_of(user, i).state == REDLOCK_NODE_UP;
    return all;
}

bool user_is_quiet(const struct user *user)
{
    unsigned in_flight = 0;
    for (unsigned i = 0; i < redlock_node_count(user->client); i++)
        in_flight += node_of(user, i).in_flight;
    return in_flight == 0;
}

/* ---- Leases ---- */

static void keep_votes(struct told *told, const redlock_event *event)
{
    for (unsigned i = 0; i < event->masters; i++) {
        const redlock_vote *vote = event->votes[i];
        struct said_vote *said = &told->votes[i];
        *said = (struct said_vote){.kind = vote->kind, .remaining_ms = vote->remaining_ms};
        snprintf(said->holder, sizeof said->holder, "%s", vote->holder ? vote->holder : "");
        snprintf(said->text, sizeof said->text, "%s", vote->text);
    }
}

void take_hear(redlock_lease *lease, const redlock_event *event, void *data)
{
    struct take *take = data;
    struct told *told = &take->told[event->kind];
    told->at_us = now_us();
    told->held_up_us = held_up_us(take->user);
    told->valid_for = redlock_lease_valid_for(lease);
    told->times++;
    told->event = *event;
    snprintf(told->text, sizeof told->text, "%s", event->text);
    keep_votes(told, event);
    take->outcomes++;
    look_up(take->user);
}

redlock_lease_options lease_terms(int64_t ttl_ms, int64_t wait_ms)
{
    redlock_lease_options options = {.size = sizeof(redlock_lease_options)};
    options.ttl_ms = ttl_ms;
    options.wait_ms = wait_ms;
    return options;
}

void take_init(struct take *take, struct user *user)
{
    memset(take, 0, sizeof *take);
    take->user = user;
}

void take_ask(struct take *take, struct user *user, const char *name,
              const redlock_lease_options *options)
{
    take_init(take, user);
    redlock_code code = redlock_acquire(user->client, &take->lease, name, options, take_hear, take);
    if (code)
        fail_msg("redlock_acquire: %s", redlock_last_error(user->client));
}

redlock_code take_lock(struct take *take, struct user *user, const char *name,
                       const redlock_lease_options *options)
{
    take_ask(take, user, name, options);
    int64_t wait = options ? options->wait_ms : 0;
    if (wait < 0 || wait > 60000)
        wait = 0;
    AWAIT_MS(user, take->told[REDLOCK_ACQUIRED].times || take->told[REDLOCK_NOT_ACQUIRED].times,
             wait + 10000);
    return take->told[REDLOCK_NOT_ACQUIRED].event.code;
}

redlock_code take_release(struct take *take)
{
    assert_code(redlock_lease_release(take->lease), REDLOCK_OK);
    assert_int_equal(redlock_lease_valid_for(take->lease), 0);
    AWAIT(take->user, take->told[REDLOCK_RELEASED].times);
    take_free(take);
    return take->told[REDLOCK_RELEASED].event.code;
}

void take_free(struct take *take)
{
    redlock_lease_free(take->lease);
    take->lease = NULL;
}

bool has(const struct take *take)
{
    return take->told[REDLOCK_ACQUIRED].times != 0;
}

/* ---- Looks ---- */

void look_hear(redlock_look *look, const redlock_look_result *result, void *data)
{
    struct seen *seen = data;
    assert_ptr_equal(look, seen->look);
    seen->times++;
    seen->result = *result;
    snprintf(seen->text, sizeof seen->text, "%s", result->text);
    for (unsigned i = 0; i < result->masters; i++) {
        const redlock_view *view = result->views[i];
        struct said_vote *said = &seen->votes[i];
        *said = (struct said_vote){.kind = view->kind, .remaining_ms = view->remaining_ms};
        snprintf(said->holder, sizeof said->holder, "%s", view->holder ? view->holder : "");
        snprintf(said->text, sizeof said->text, "%s", view->text);
    }
    look_up(seen->user);
}

void look_at(struct seen *seen, struct user *user, const char *name)
{
    redlock_name one = redlock_name_of(name);
    *seen = (struct seen){.user = user};
    assert_code(redlock_look_begin(user->client, &seen->look, &one, 1, NULL, look_hear, seen),
                REDLOCK_OK);
    AWAIT(user, seen->times);
    assert_int_equal(seen->times, 1);
    redlock_look_free(seen->look);
}
