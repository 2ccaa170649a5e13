/*
 * Threads whose client gets another list of masters: what they hold moves.  They go on to wait, on
 * the new masters.
 * rule: D5, D6, D7, D8, D9, D10, D11
 */
#include <dirent.h>

#include "fixture.h"
#include "sync_user.h"

#define PATIENCE_MS 10000

static unsigned cases_ended; /* each case has a fleet of its own */

static redlock_options options_of(unsigned first, unsigned count)
{
    static char nodes[CLUSTER_MAX * URI_SIZE], fleet[16];
    redlock_options options = {.size = sizeof options};
    nodes[0] = '\0';
    for (unsigned i = first; i < first + count; i++)
        snprintf(nodes + strlen(nodes), URI_SIZE, URI_FORMAT, cluster_scheme(),
                 cluster.passwords[i], cluster.ports[i]);
    options.nodes = nodes;
    snprintf(fleet, sizeof fleet, "fleet-%u", cases_ended);
    options.fleet = fleet;
    options.connect_timeout_ms = options.request_timeout_ms = 5000;
    return options;
}

/* With that many masters. */
static redlock_sync *open_with(unsigned first, unsigned count)
{
    redlock_sync *client;
    redlock_options options = options_of(first, count);
    assert_code(redlock_sync_open(&client, &options, NULL, 0), REDLOCK_OK);
    assert_code(redlock_sync_ready(client, PATIENCE_MS, NULL, 0), REDLOCK_OK);
    return client;
}

static redlock_code relist(redlock_sync *client, unsigned first, unsigned count, int64_t timeout_ms)
{
    char why[256];
    redlock_options options = options_of(first, count);
    redlock_code code = redlock_sync_relist(client, &options, timeout_ms, why, sizeof why);
    assert_int_equal(code == REDLOCK_OK, why[0] == '\0');
    return code;
}

static unsigned holders(const redlock_sync_lease *lease, const char *name)
{
    return cluster_holders(&cluster, name, redlock_sync_lease_token(lease));
}

static void end(redlock_sync *client)
{
    cases_ended++;
    close_clean(client, &cluster);
}

/* ---- What is held ---- */

static atomic_int moves, losses;

static void on_event(const redlock_event *event, void *data)
{
    (void)data;
    moves += event->kind == REDLOCK_MOVED;
    losses += event->kind == REDLOCK_LOST;
}

CASE(held_leases_move)
{
    redlock_sync *client = open_with(0, 5);
    redlock_lease_options options = terms(10000, 1000);
    moves = losses = 0;
    options.on_event = on_event;
    redlock_sync_lease *plain = take(client, "plain", &options);
    options.permits = 2;
    redlock_sync_lease *permit = take(client, "permit", &options);
    options.permits = 0;
    options.fence = true;
    redlock_sync_lease *fenced = take(client, "fenced", &options);
    int64_t fence = redlock_sync_lease_fence(fenced);
    int slot = redlock_sync_lease_slot(permit);
    assert_code(relist(client, 0, 6, PATIENCE_MS), REDLOCK_OK);
    assert_code(relist(client, 1, 5, PATIENCE_MS), REDLOCK_OK);
    assert_code(relist(client, 0, 6, PATIENCE_MS), REDLOCK_OK); /* what is on the first is theirs */
    assert_int_equal(moves, 9);
    assert_int_equal(losses, 0);
    assert_true(redlock_sync_lease_valid_for(plain) > 0);
    assert_true(fence == redlock_sync_lease_fence(fenced));
    assert_int_equal(redlock_sync_lease_slot(permit), slot);
    AWAIT(holders(plain, "plain") == 6);
    give_back(plain);
    give_back(fenced);
    give_back(permit);
    cluster_tell_all(&cluster, "DEL redlock:permits:permit"); /* it ends with the longest ttl */
    end(client);
}

CASE(a_lease_that_a_thread_holds_twice_moves_once)
{
    redlock_sync *client = open_with(0, 5);
    redlock_lease_options options = terms(10000, 1000);
    options.reentrant = true;
    redlock_sync_lease *one = take(client, "name", &options), *two = take(client, "name", &options);
    assert_code(relist(client, 0, 6, PATIENCE_MS), REDLOCK_OK);
    redlock_sync_lease *three = take(client, "name", &options);
    assert_ptr_equal(one, two);
    assert_ptr_equal(one, three);
    AWAIT(holders(one, "name") == 6);
    give_back(one);
    give_back(two);
    assert_true(redlock_sync_lease_valid_for(three) > 0);
    give_back(three);
    end(client);
}

/* Two of four masters have another's value: no quorum of three is left. */
CASE(a_lease_that_cannot_move_yet_moves_later)
{
    redlock_sync *client = open_with(0, 3);
    redlock_sync_lease *lease = take(client, "name", NULL);
    cluster_tell(&cluster, 2, "SET name another");
    cluster_tell(&cluster, 3, "SET name another");
    assert_code(relist(client, 0, 4, 300), REDLOCK_E_UNAVAILABLE);
    assert_true(redlock_sync_lease_valid_for(lease) > 0);
    cluster_tell(&cluster, 2, "DEL name");
    cluster_tell(&cluster, 3, "DEL name");
    AWAIT(holders(lease, "name") == 4);
    assert_code(relist(client, 0, 4, PATIENCE_MS), REDLOCK_OK);
    give_back(lease);
    end(client);
}

CASE(a_lease_that_cannot_move_stays_until_it_is_released)
{
    redlock_sync *client = open_with(0, 5);
    redlock_sync_lease *reader = take(client, "book", NULL);
    assert_code(redlock_sync_lease_downgrade(reader, NULL), REDLOCK_OK);
    assert_code(relist(client, 0, 6, 0), REDLOCK_E_UNAVAILABLE);
    assert_true(redlock_sync_lease_valid_for(reader) > 0);
    give_back(reader);
    assert_code(relist(client, 0, 6, PATIENCE_MS), REDLOCK_OK);
    end(client);
}

CASE(a_lost_lease_stays_until_it_is_freed)
{
    redlock_sync *client = open_with(0, 3);
    redlock_sync_lease *lease = take(client, "name", NULL);
    cluster_tell_all(&cluster, "SET name another");
    assert_code(redlock_sync_lease_extend(lease, 0, NULL), REDLOCK_E_GONE);
    cluster_tell_all(&cluster, "DEL name");
    assert_code(relist(client, 0, 4, 0), REDLOCK_E_UNAVAILABLE);
    assert_code(redlock_sync_lease_extend(lease, 0, NULL), REDLOCK_E_STATE);
    redlock_sync_lease_free(lease);
    assert_code(relist(client, 0, 4, PATIENCE_MS), REDLOCK_OK);
    end(client);
}

/* ---- What is waited for ---- */

/* Somebody waits on a quorum of the first list. */
static bool is_enqueued(void)
{
    unsigned waiting = 0;
    for (unsigned i = 0; i < cluster.count; i++) {
        redisReply *reply = cluster_ask(&cluster, i, "KEYS redlock:waiter:*");
        waiting += reply && reply->elements > 0;
        freeReplyObject(reply);
    }
    return waiting >= 3;
}

CASE(a_thread_that_waits_waits_on_the_new_masters)
{
    redlock_sync *client = open_with(0, 5), *holder = open_with(0, 5);
    redlock_sync_lease *held = take(holder, "name", NULL);
    struct call waiter = {.act = take_it, .client = client, .name = "name", .timeout_ms = 20000};
    cluster_tell(&cluster, 5, "SET name another"); /* else it may give back what it gets there */
    call_begin(&waiter);
    AWAIT(is_enqueued());
    assert_code(relist(client, 0, 6, PATIENCE_MS), REDLOCK_OK);
    AWAIT(cluster_count(&cluster, 5, "ZCARD redlock:queue:name") == 1);
    assert_false(atomic_load(&waiter.done));
    give_back(held);
    assert_code(call_end(&waiter), REDLOCK_OK);
    assert_int_equal(waiter.result.masters, 6);
    cluster_tell(&cluster, 5, "DEL name");
    give_back(waiter.lease);
    close_and_free(holder);
    end(client);
}

CASE(it_waits_for_the_rest_of_its_time)
{
    redlock_sync *client = open_with(0, 5), *holder = open_with(0, 5);
    redlock_sync_lease *held = take(holder, "name", NULL);
    struct call waiter = {.act = take_it, .client = client, .name = "name", .timeout_ms = 6000};
    int64_t begun = now_us();
    call_begin(&waiter);
    AWAIT(is_enqueued());
    while (now_us() - begun < 4000 * MS_US) {
        relist(client, 0, 6, 100);
        relist(client, 0, 5, 100);
    }
    assert_code(call_end(&waiter), REDLOCK_E_HELD);
    assert_in_range(now_us() - begun, 5900 * MS_US, 9500 * MS_US);
    give_back(held);
    close_and_free(holder);
    end(client);
}

static redlock_code relist_it(struct call *call)
{
    redlock_options options = options_of(0, 6);
    return redlock_sync_relist(call->client, &options, 0, NULL, 0);
}

static redlock_code cancel_all(struct call *call)
{
    unsigned count = redlock_sync_cancel(call->client, NULL);
    return count == 1 ? REDLOCK_OK : REDLOCK_E_STATE;
}

/* The waiter is cancelled twice in one turn, for the new list and for good. */
CASE(a_cancel_ends_it)
{
    redlock_sync *client = open_with(0, 5), *holder = open_with(0, 5);
    redlock_sync_lease *held = take(holder, "name", NULL);
    struct call waiter = {.act = take_it, .client = client, .name = "name", .timeout_ms = 20000};
    struct call relists = {.act = relist_it, .client = client};
    struct call cancels = {.act = cancel_all, .client = client};
    struct pause pause;
    call_begin(&waiter);
    AWAIT(is_enqueued());
    pause_begin(&pause, client);
    call_begin(&relists);
    AWAIT(call_is_asleep(&relists));
    call_begin(&cancels);
    AWAIT(call_is_asleep(&cancels));
    pause_end(&pause);
    call_end(&relists);
    assert_code(call_end(&cancels), REDLOCK_OK);
    assert_code(call_end(&waiter), REDLOCK_E_CANCELLED);
    give_back(held);
    close_and_free(holder);
    end(client);
}

/* ---- What is refused ---- */

struct inside {
    redlock_sync *client;
    redlock_code code;
};

static void relist_inside(redlock *redlock, void *data)
{
    struct inside *inside = data;
    (void)redlock;
    inside->code = redlock_sync_relist(inside->client, NULL, 0, NULL, 0);
}

CASE(a_list_that_cannot_be_used_changes_nothing)
{
    redlock_sync *client = open_with(0, 5);
    redlock_sync_lease *lease = take(client, "name", NULL);
    struct inside inside = {.client = client};
    redlock_options bad = {.size = sizeof bad};
    assert_code(relist(client, 1, 5, PATIENCE_MS), REDLOCK_E_DIFFERS);
    bad.nodes = "redis://host:port";
    assert_code(redlock_sync_relist(client, &bad, 0, NULL, 0), REDLOCK_E_NODES);
    bad.size = 1;
    assert_code(redlock_sync_relist(client, &bad, 0, NULL, 0), REDLOCK_E_ARGUMENT);
    assert_code(redlock_sync_relist(client, NULL, -1, NULL, 0), REDLOCK_E_ARGUMENT);
    assert_code(redlock_sync_relist(NULL, NULL, 0, NULL, 0), REDLOCK_E_ARGUMENT);
    assert_code(redlock_sync_run(client, relist_inside, &inside), REDLOCK_OK);
    assert_code(inside.code, REDLOCK_E_STATE);
    assert_true(redlock_sync_lease_valid_for(lease) > 0);
    AWAIT(holders(lease, "name") == 5);
    give_back(lease);
    assert_int_equal(redlock_sync_close(client, PATIENCE_MS), 0);
    assert_code(relist(client, 0, 6, 0), REDLOCK_E_CLOSED);
    redlock_sync_free(client);
    cases_ended++;
}

CASE(seven_former_lists_are_the_most)
{
    redlock_sync *client = open_with(0, 5);
    redlock_sync_lease *readers[7];
    for (unsigned i = 0; i < 7; i++) {
        char name[8];
        snprintf(name, sizeof name, "book-%u", i);
        readers[i] = take(client, name, NULL);
        assert_code(redlock_sync_lease_downgrade(readers[i], NULL), REDLOCK_OK);
        assert_code(relist(client, 0, 6 - i % 2, 0), REDLOCK_E_UNAVAILABLE);
    }
    assert_code(relist(client, 0, 5, 0), REDLOCK_E_STATE);
    for (unsigned i = 0; i < 7; i++)
        give_back(readers[i]);
    assert_code(relist(client, 0, 5, PATIENCE_MS), REDLOCK_OK);
    end(client);
}

/* ---- The end ---- */

CASE(a_close_releases_what_has_not_moved)
{
    redlock_sync *client = open_with(0, 5);
    redlock_lease_options brief = terms(3000, 0);
    redlock_sync_lease *reader = take(client, "book", NULL), *held = take(client, "name", &brief);
    assert_code(redlock_sync_lease_downgrade(reader, NULL), REDLOCK_OK);
    assert_code(relist(client, 0, 6, 0), REDLOCK_E_UNAVAILABLE);
    assert_int_equal(redlock_sync_close(client, PATIENCE_MS), 0);
    assert_int_equal(redlock_sync_lease_valid_for(reader), 0);
    assert_int_equal(redlock_sync_lease_valid_for(held), 0);
    redlock_sync_lease_free(reader);
    redlock_sync_lease_free(held);
    redlock_sync_free(client);
    cases_ended++;
    AWAIT(cluster_keys(&cluster) == 0); /* a move in vain leaves what it took to its ttl */
}

static atomic_bool is_over;
static atomic_uint inside_now, turns;

static redlock_code work(struct call *call)
{
    while (!atomic_load(&is_over)) {
        redlock_sync_lease *lease;
        redlock_lease_options options = terms(5000, 20000);
        if (redlock_sync_acquire(call->client, &lease, call->name, &options, &call->result))
            return call->result.code;
        if (atomic_fetch_add(&inside_now, 1) || redlock_sync_lease_valid_for(lease) <= 0)
            return REDLOCK_E_GONE;
        atomic_fetch_add(&turns, 1);
        atomic_fetch_sub(&inside_now, 1);
        redlock_sync_lease_release(lease, NULL);
        redlock_sync_lease_free(lease);
    }
    return REDLOCK_OK;
}

CASE(threads_go_on_while_lists_change)
{
    struct call workers[6];
    redlock_sync *client = open_with(0, 5);
    is_over = false;
    calls_begin(workers, 6, &(struct call){.act = work, .client = client, .name = "work"});
    for (unsigned i = 0; i < 10; i++) {
        unsigned before = turns;
        relist(client, 0, 6 - i % 2, PATIENCE_MS);
        AWAIT(turns > before);
    }
    is_over = true;
    calls_end(workers, 6);
    cases_ended++;
    assert_int_equal(close_and_free(client), 0);
    AWAIT(cluster_keys(&cluster) == 0); /* a master that left has what moved away, for a ttl */
}

/* ---- Beside a close ---- */

CASE(a_relist_behind_a_close_is_refused)
{
    redlock_sync *client = open_with(0, 5);
    struct call closes = {.act = close_it, .client = client};
    struct call relists = {.act = relist_it, .client = client};
    struct pause pause;
    pause_begin(&pause, client);
    call_begin(&closes);
    AWAIT(call_is_asleep(&closes));
    call_begin(&relists);
    AWAIT(call_is_asleep(&relists));
    pause_end(&pause);
    AWAIT(atomic_load(&closes.done));
    call_end(&closes);
    assert_code(call_end(&relists), REDLOCK_E_CLOSED);
    redlock_sync_free(client);
    cases_ended++;
}

static void count_masters(redlock *redlock, void *data)
{
    *(unsigned *)data = redlock_node_count(redlock);
}

static unsigned masters_now(redlock_sync *client)
{
    unsigned masters = 0;
    assert_code(redlock_sync_run(client, count_masters, &masters), REDLOCK_OK);
    return masters;
}

static redlock_code relist_for_ever(struct call *call)
{
    redlock_options options = options_of(0, 6);
    return redlock_sync_relist(call->client, &options, REDLOCK_FOREVER, NULL, 0);
}

CASE(a_close_ends_a_relist_that_waits)
{
    redlock_sync *client = open_with(0, 5);
    redlock_sync_lease *reader = take(client, "book", NULL);
    struct call relists = {.act = relist_for_ever, .client = client};
    assert_code(redlock_sync_lease_downgrade(reader, NULL), REDLOCK_OK);
    call_begin(&relists);
    AWAIT(masters_now(client) == 6);
    assert_int_equal(redlock_sync_close(client, PATIENCE_MS), 0);
    assert_code(call_end(&relists), REDLOCK_E_CLOSED);
    redlock_sync_lease_free(reader);
    redlock_sync_free(client);
    cases_ended++;
    AWAIT(cluster_keys(&cluster) == 0);
}

/* ---- Callbacks ---- */

static void on_node(redlock *redlock, unsigned node, void *data)
{
    (void)redlock, (void)node;
    atomic_fetch_add((atomic_int *)data, 1);
}

static void on_log(redlock_level level, const char *text, void *data)
{
    (void)level, (void)text;
    atomic_fetch_add((atomic_int *)data, 1);
}

static redlock_options options_with(unsigned first, unsigned count, atomic_int *told)
{
    redlock_options options = options_of(first, count);
    options.on_node = on_node;
    options.on_log = on_log;
    options.log_level = REDLOCK_LOG_DEBUG;
    options.data = told;
    return options;
}

CASE(callbacks_for_a_former_list_end)
{
    redlock_sync *client;
    atomic_int former = 0, present = 0;
    redlock_options options = options_with(0, 5, &former);
    assert_code(redlock_sync_open(&client, &options, NULL, 0), REDLOCK_OK);
    redlock_sync_lease *reader = take(client, "book", NULL);
    assert_code(redlock_sync_lease_downgrade(reader, NULL), REDLOCK_OK);
    options = options_with(0, 6, &present);
    assert_code(redlock_sync_relist(client, &options, 0, NULL, 0), REDLOCK_E_UNAVAILABLE);
    assert_code(redlock_sync_ready(client, PATIENCE_MS, NULL, 0), REDLOCK_OK);
    int before = former, present_before = present;
    cluster_tell_all(&cluster, "CLIENT KILL TYPE normal");
    AWAIT(present > present_before);
    AWAIT(redlock_sync_lease_extend(reader, 0, NULL) == REDLOCK_OK);
    assert_int_equal(former, before);
    give_back(reader);
    end(client);
}

CASE(a_lease_follows_lists_that_change_before_it_moved)
{
    redlock_sync *client = open_with(0, 5);
    redlock_lease_options options = terms(10000, 1000);
    moves = losses = 0;
    options.on_event = on_event;
    options.mode = REDLOCK_SHARED;
    redlock_sync_lease *shared = take(client, "shared", &options);
    options.mode = REDLOCK_EXCLUSIVE;
    redlock_sync_lease *lease = take(client, "name", &options);
    for (unsigned i = 0; i < 6; i++)
        relist(client, 0, 6 - i % 2, 0);
    assert_code(relist(client, 0, 6, PATIENCE_MS), REDLOCK_OK);
    assert_int_equal(losses, 0);
    AWAIT(holders(lease, "name") == 6);
    assert_true(redlock_sync_lease_valid_for(shared) > 0);
    give_back(lease);
    give_back(shared);
    end(client);
}

/* Two of four do not answer, so a move that begins within that time takes long. */
static void go_over_slowly(redlock_sync *client, unsigned pause_ms)
{
    assert_code(relist(client, 0, 4, 0), REDLOCK_E_UNAVAILABLE);
    assert_code(redlock_sync_ready(client, PATIENCE_MS, NULL, 0), REDLOCK_OK);
    cluster_tell(&cluster, 2, "CLIENT PAUSE %u", pause_ms);
    cluster_tell(&cluster, 3, "CLIENT PAUSE %u", pause_ms);
}

/* Until one of them has waited for the move, which begins between two of them. */
static void extend_often(redlock_sync_lease *lease)
{
    for (int64_t end = now_us() + 700 * MS_US; now_us() < end; usleep(20 * MS_US))
        assert_code(redlock_sync_lease_extend(lease, 0, NULL), REDLOCK_OK);
}

CASE(calls_about_a_lease_that_moves_wait)
{
    redlock_sync *client = open_with(0, 3);
    redlock_lease_options options = terms(10000, 0);
    options.fence = true;
    redlock_sync_lease *lease = take(client, "name", &options);
    go_over_slowly(client, 1000);
    extend_often(lease);
    go_over_slowly(client, 1000);
    for (int64_t end = now_us() + 700 * MS_US; now_us() < end; usleep(20 * MS_US))
        assert_code(redlock_sync_lease_announce(lease, "me", 2, NULL), REDLOCK_OK);
    go_over_slowly(client, 1000);
    give_back(lease);
    assert_code(relist(client, 0, 4, PATIENCE_MS), REDLOCK_OK);
    lease = take(client, "name", &options);
    go_over_slowly(client, 1000);
    assert_code(redlock_sync_lease_downgrade(lease, NULL), REDLOCK_OK);
    give_back(lease);
    end(client);
}

/* The masters of the former list alone would have answered by then. */
static bool has_waited(struct call *extends)
{
    usleep(20 * MS_US); /* a move does not begin while it is extended */
    *extends = (struct call){.act = extend_it, .client = extends->client, .lease = extends->lease};
    int64_t begun = now_us();
    call_begin(extends);
    AWAIT(atomic_load(&extends->done) || now_us() - begun > 500 * MS_US);
    if (!atomic_load(&extends->done))
        return true;
    assert_code(call_end(extends), REDLOCK_OK);
    return false;
}

CASE(a_release_ends_a_call_that_waits_for_a_move)
{
    redlock_sync *client = open_with(0, 3);
    redlock_lease_options options = terms(5000, 0);
    redlock_sync_lease *lease = take(client, "name", &options);
    struct call extends = {.client = client, .lease = lease};
    go_over_slowly(client, 3000);
    AWAIT(has_waited(&extends));
    assert_code(redlock_sync_lease_release(lease, NULL), REDLOCK_OK);
    AWAIT(atomic_load(&extends.done));
    assert_code(call_end(&extends), REDLOCK_E_CANCELLED);
    redlock_sync_lease_free(lease);
    close_and_free(client);
    cases_ended++;
    AWAIT(cluster_keys(&cluster) == 0); /* a move in vain leaves what it took to its ttl */
}

static unsigned open_files(void)
{
    unsigned count = 0;
    DIR *files = opendir("/proc/self/fd");
    assert_non_null(files);
    while (readdir(files))
        count++;
    closedir(files);
    return count;
}

CASE(former_clients_leave_no_descriptor)
{
    redlock_sync *client = open_with(0, 5);
    redlock_lease_options options = terms(5000, 0);
    redlock_sync_lease *lease = take(client, "name", &options);
    assert_code(relist(client, 0, 5, PATIENCE_MS), REDLOCK_OK);
    unsigned before = open_files();
    for (unsigned i = 0; i < 20; i++)
        assert_code(relist(client, 0, 6 - i % 2, PATIENCE_MS), REDLOCK_OK);
    AWAIT(open_files() <= before);
    give_back(lease);
    assert_int_equal(close_and_free(client), 0);
    cases_ended++;
    AWAIT(cluster_keys(&cluster) == 0); /* a master that left has what moved away, for a ttl */
}

/* ---- Barriers, latches and observers.  They leave keys until their ttl is over. ---- */

static void close_both(redlock_sync *client, redlock_sync *other)
{
    cases_ended++;
    close_and_free(other);
    close_and_free(client);
}

static bool counts(const char *key, long long count)
{
    return cluster_answering(&cluster, count, "ZCOUNT redlock:%s 1 (+inf", key) >= 3;
}

CASE(a_party_goes_over)
{
    redlock_sync *client = open_with(0, 5), *other = open_with(0, 6);
    struct call first = {.act = arrive, .client = client, .name = "goes"};
    struct call last = {.act = arrive, .client = other, .name = "goes"};
    call_begin(&first);
    AWAIT(counts("barrier:0:goes", 1));
    assert_code(relist(client, 0, 6, PATIENCE_MS), REDLOCK_OK);
    assert_false(atomic_load(&first.done));
    call_begin(&last);
    assert_code(call_end(&last), REDLOCK_OK);
    assert_code(call_end(&first), REDLOCK_OK);
    assert_int_equal(first.passage.masters, 6);
    close_both(client, other);
}

/* A count brings it to the masters that lack it. */
static bool all_have_latch(redlock_sync *client, const char *name)
{
    return redlock_sync_latch_count(client, name, NULL, NULL, NULL) == REDLOCK_OK &&
           cluster_answering(&cluster, 1, "EXISTS redlock:latch:%s", name) >= 5;
}

/* It is made once a quorum of the five has it, which may be none of the six. */
static void make_latch(redlock_sync *client, const char *name)
{
    redlock_latch_options options = {.size = sizeof options, .arrivals = 1, .life_ms = 60000};
    assert_code(redlock_sync_latch_create(client, name, &options, NULL, NULL), REDLOCK_OK);
    AWAIT(all_have_latch(client, name));
}

CASE(an_await_goes_over)
{
    redlock_sync *client = open_with(0, 5), *other = open_with(0, 6);
    struct call waits = {.act = await_latch, .client = client, .name = "latch"};
    make_latch(client, "latch");
    uint64_t before = stats_now(client).requests;
    call_begin(&waits);
    AWAIT(stats_now(client).requests > before);
    assert_code(relist(client, 0, 6, PATIENCE_MS), REDLOCK_OK);
    assert_false(atomic_load(&waits.done));
    assert_code(redlock_sync_latch_arrive(other, "latch", NULL, NULL, NULL), REDLOCK_OK);
    assert_code(call_end(&waits), REDLOCK_OK);
    assert_int_equal(waits.tally.masters, 6);
    close_both(client, other);
}

CASE(an_observer_goes_over)
{
    redlock_sync *client = open_with(0, 5), *other = open_with(0, 6);
    struct call waits = {.act = await_leader, .client = client, .name = "led"};
    redlock_campaign_options options = {.size = sizeof options, .value = "me", .length = 2};
    redlock_sync_lease *leader;
    call_begin(&waits);
    AWAIT(call_is_asleep(&waits));
    assert_code(relist(client, 0, 6, PATIENCE_MS), REDLOCK_OK);
    assert_false(atomic_load(&waits.done));
    assert_code(redlock_sync_campaign(other, &leader, "led", &options, NULL), REDLOCK_OK);
    assert_code(call_end(&waits), REDLOCK_OK);
    assert_int_equal(waits.leader.masters, 6);
    assert_true(waits.leader.term == redlock_sync_lease_fence(leader));
    give_back(leader);
    close_both(client, other);
}

/* They go over and back meanwhile.  A relist that is broken off may leave a party undecided. */
static redlock_code wait_for_wish(struct call *call)
{
    redlock_wish wish = {.size = sizeof wish};
    redlock_code code = redlock_sync_wanted(call->lease, &wish, REDLOCK_FOREVER, &call->result);
    if (!code)
        assert_string_equal(wish.text, "soon");
    return code;
}

CASE(a_wait_for_wishes_goes_over)
{
    redlock_sync *client = open_with(0, 5), *other = open_with(0, 6);
    redlock_ask_options options = {.size = sizeof options, .text = "soon", .timeout_ms = 10000};
    redlock_asked asked = {.size = sizeof asked};
    redlock_sync_lease *lease = take(client, "name", NULL);
    struct call waits = {.act = wait_for_wish, .lease = lease};
    waits.result.size = sizeof waits.result;
    call_begin(&waits);
    AWAIT(counts("observers:redlock:wish:name", 1));
    assert_code(relist(client, 0, 6, PATIENCE_MS), REDLOCK_OK);
    do
        assert_code(redlock_sync_ask(other, "name", &options, &asked, NULL), REDLOCK_OK);
    while (!asked.heard);
    assert_code(call_end(&waits), REDLOCK_OK);
    give_back(lease);
    close_both(client, other);
}

CASE(they_wait_for_the_rest_of_their_time)
{
    redlock_sync *client = open_with(0, 5), *other = open_with(0, 6);
    struct call waits[] = {
        {.act = arrive, .client = client, .name = "alone", .timeout_ms = 5000},
        {.act = await_latch, .client = client, .name = "shut", .timeout_ms = 5000},
        {.act = await_leader, .client = client, .name = "nobody", .timeout_ms = 5000}};
    static const redlock_code codes[] = {REDLOCK_E_NOT_PASSED, REDLOCK_E_NOT_OPEN,
                                         REDLOCK_E_UNAVAILABLE};
    make_latch(client, "shut");
    int64_t begun = now_us();
    for (unsigned i = 0; i < 3; i++)
        call_begin(&waits[i]);
    while (now_us() - begun < 3000 * MS_US) {
        assert_code(relist(client, 0, 6, PATIENCE_MS), REDLOCK_OK);
        assert_code(relist(client, 0, 5, PATIENCE_MS), REDLOCK_OK);
    }
    for (unsigned i = 0; i < 3; i++)
        assert_code(call_end(&waits[i]), codes[i]);
    assert_in_range(now_us() - begun, 4900 * MS_US, 9000 * MS_US);
    assert_code(relist(client, 0, 5, PATIENCE_MS), REDLOCK_OK);
    close_both(client, other);
}

/* ---- What functions asked for ---- */

struct inner {
    redlock_lease *lease;
    atomic_int acquired, moved;
};

static void hear_inner(redlock_lease *lease, const redlock_event *event, void *data)
{
    struct inner *inner = data;
    (void)lease;
    inner->acquired += event->kind == REDLOCK_ACQUIRED;
    inner->moved += event->kind == REDLOCK_MOVED;
}

static void acquire_inner(redlock *redlock, void *data)
{
    struct inner *inner = data;
    assert_code(redlock_acquire(redlock, &inner->lease, "inner", NULL, hear_inner, inner),
                REDLOCK_OK);
}

static void free_inner(redlock *redlock, void *data)
{
    (void)redlock;
    redlock_lease_free(((struct inner *)data)->lease);
}

CASE(what_functions_have_goes_over)
{
    struct inner inner = {NULL, 0, 0};
    redlock_sync *client = open_with(0, 5);
    assert_code(redlock_sync_run(client, acquire_inner, &inner), REDLOCK_OK);
    AWAIT(inner.acquired);
    assert_code(relist(client, 0, 6, PATIENCE_MS), REDLOCK_OK);
    AWAIT(inner.moved == 1 && cluster_holders(&cluster, "inner", NULL) == 6);
    assert_code(redlock_sync_run(client, free_inner, &inner), REDLOCK_OK);
    AWAIT(cluster_holders(&cluster, "inner", NULL) == 0);
    close_and_free(client);
    cases_ended++;
}

/* ---- Elections ---- */

static void assert_leads(redlock_sync *client, int64_t term, const char *announced)
{
    redlock_leader leader = {.size = sizeof leader};
    char value[16] = "";
    AWAIT(redlock_sync_leader_get(client, "name", &leader, value, sizeof value, NULL) ==
              REDLOCK_OK &&
          leader.term);
    assert_true(leader.term == term);
    assert_string_equal(value, announced);
}

static redlock_code announce_it(struct call *call)
{
    return redlock_sync_lease_announce(call->lease, "green", 6, &call->result);
}

CASE(a_leader_keeps_its_term)
{
    redlock_sync *client = open_with(0, 5), *beside = open_with(0, 6);
    redlock_sync_lease *leader;
    redlock_campaign_options options = {.size = sizeof options};
    options.value = "blue";
    options.length = 5;
    assert_code(redlock_sync_campaign(client, &leader, "name", &options, NULL), REDLOCK_OK);
    int64_t term = redlock_sync_lease_fence(leader);
    static const unsigned lists[][2] = {{0, 6}, {1, 5}, {0, 6}};
    for (unsigned i = 0; i < 3; i++) {
        assert_code(relist(client, lists[i][0], lists[i][1], PATIENCE_MS), REDLOCK_OK);
        assert_leads(client, term, "blue");
        assert_leads(beside, term, "blue");
    }
    struct call announces = {.act = announce_it, .client = client, .lease = leader};
    call_begin(&announces);
    assert_code(relist(client, 0, 5, PATIENCE_MS), REDLOCK_OK);
    assert_code(call_end(&announces), REDLOCK_OK);
    assert_leads(client, term, "green");
    assert_leads(beside, term, "green");
    assert_true(redlock_sync_lease_fence(leader) == term);
    give_back(leader);
    redlock_leader nobody = {.size = sizeof nobody};
    AWAIT(redlock_sync_leader_get(beside, "name", &nobody, NULL, 0, NULL) == REDLOCK_OK &&
          !nobody.term);
    close_and_free(client);
    close_and_free(beside);
    cases_ended++;
}

CASE(a_close_ends_what_waits_on_former_masters)
{
    redlock_sync *client = open_with(0, 5);
    struct call waits = {.act = await_leader, .client = client, .name = "name"};
    call_begin(&waits);
    AWAIT(call_is_asleep(&waits));
    assert_code(relist(client, 0, 6, 0), REDLOCK_E_UNAVAILABLE);
    redlock_sync_close(client, PATIENCE_MS);
    assert_code(call_end(&waits), REDLOCK_E_CLOSED);
    redlock_sync_free(client);
    cases_ended++;
}

PROGRAM(.masters = 6)
