/*
 * Threads whose list of masters is over: their client goes over to the one in place of it, and no
 * thread calls anything for that.
 * rule: D1, D3, D5
 */
#include "fixture.h"
#include "lists_in_use.h"
#include "sync_user.h"

#define PATIENCE_MS  10000
#define MASTERS      6
#define COUNT(array) (sizeof(array) / sizeof *(array))
#define GOES_ON      "this list of masters is over: goes on with the one in its place, "
#define CANNOT       "this list of masters is over, and the client cannot go on with the one in "

/* ---- Lists and clients ------------------------------------------------------------- */

/* Some masters that follow each other. */
struct list {
    unsigned first, count;
};

static unsigned cases_ended; /* each case has a fleet of its own */
static char fleet[16];
static char login[64]; /* "user:password@", or ":password@" */

/* A master that a client's list lacks gets the login of the first one. */
static void begin(void)
{
    snprintf(fleet, sizeof fleet, "fleet-%u", cases_ended++);
    snprintf(login, sizeof login, ":%s@", cluster.passwords[0]);
    cluster_tell_all(&cluster, "ACL SETUSER default >%s", cluster.passwords[0]);
}

static char *put_list(char *to, struct list list, const char *before)
{
    to[0] = '\0';
    for (unsigned i = list.first; i < list.first + list.count; i++)
        snprintf(to + strlen(to), URI_SIZE, "%s%s127.0.0.1:%d", i > list.first ? "," : "", before,
                 cluster.ports[i]);
    return to;
}

#define LIST_SIZE (MASTERS * URI_SIZE)

static const char *uris_of(struct list list)
{
    static char uris[LIST_SIZE];
    char before[URI_SIZE];
    snprintf(before, sizeof before, "%s://%s", cluster_scheme(), login);
    return put_list(uris, list, before);
}

static const char *names_of(struct list list)
{
    static char names[2][LIST_SIZE];
    static unsigned turn;
    return put_list(names[turn++ % 2], list, "");
}

/* As masters tell it. */
static const char *told_as(struct list list)
{
    static char told[LIST_SIZE];
    return put_list(told, list, cluster_mark());
}

static atomic_uint goes_on, cannot, differs; /* said in the log, twice; by on_ready */

static void hear_log(redlock_level level, const char *text, void *data)
{
    (void)data;
    goes_on += level == REDLOCK_LOG_WARNING && strncmp(text, GOES_ON, strlen(GOES_ON)) == 0;
    cannot += level == REDLOCK_LOG_WARNING && strncmp(text, CANNOT, strlen(CANNOT)) == 0;
}

static void hear_ready(redlock *redlock, redlock_code code, const char *text, void *data)
{
    (void)redlock, (void)text, (void)data;
    differs += code == REDLOCK_E_DIFFERS;
}

static redlock_options options_of(struct list list)
{
    redlock_options options = {.size = sizeof options};
    goes_on = cannot = differs = 0;
    options.nodes = uris_of(list);
    options.fleet = fleet;
    options.connect_timeout_ms = options.request_timeout_ms = 5000;
    options.on_log = hear_log;
    options.on_ready = hear_ready;
    return options;
}

static redlock_sync *open_as(const redlock_options *options)
{
    redlock_sync *client;
    assert_code(redlock_sync_open(&client, options, NULL, 0), REDLOCK_OK);
    assert_code(redlock_sync_ready(client, PATIENCE_MS, NULL, 0), REDLOCK_OK);
    return client;
}

static redlock_sync *open_with(struct list list)
{
    redlock_options options = options_of(list);
    return open_as(&options);
}

static void look_at_list(redlock *redlock, void *data)
{
    char *to = data;
    to[0] = '\0';
    for (unsigned i = 0; i < redlock_node_count(redlock); i++) {
        redlock_node node = {.size = sizeof node};
        assert_code(redlock_node_get(redlock, i, &node), REDLOCK_OK);
        snprintf(to + strlen(to), URI_SIZE, "%s%s", i ? "," : "", node.node);
    }
}

static bool is_on(redlock_sync *client, struct list list)
{
    char now[LIST_SIZE];
    assert_code(redlock_sync_run(client, look_at_list, now), REDLOCK_OK);
    return strcmp(now, names_of(list)) == 0;
}

static redlock_code try_to_take(redlock_sync *client)
{
    redlock_sync_lease *lease;
    redlock_code code = redlock_sync_acquire(client, &lease, "try", NULL, NULL);
    if (!code)
        give_back(lease);
    return code;
}

/* ---- Lists that are over ------------------------------------------------------------- */

struct telling {
    struct lists_used used;
    const char *successor;
};

static void say_it_is_over(redlock *redlock, void *data)
{
    redlock_list_end(redlock, ((struct telling *)data)->successor, UINT16_MAX);
}

static void look_who_says_so(redlock *redlock, void *data)
{
    redlock_lists_used(redlock, &((struct telling *)data)->used);
}

static bool is_over(redlock_sync *tool, struct telling *telling, struct list list)
{
    assert_code(redlock_sync_run(tool, look_who_says_so, telling), REDLOCK_OK);
    return telling->used.over == (1U << list.count) - 1;
}

/* As `redlock masters change` does.  Said before the tool is connected: its next word comes five
 * seconds after the first one. */
static void tell_over(struct list list, struct list next)
{
    struct telling telling = {.successor = told_as(next)};
    redlock_options options = options_of(list);
    redlock_sync *tool;
    options.looks_only = true;
    options.on_log = NULL;
    assert_code(redlock_sync_open(&tool, &options, NULL, 0), REDLOCK_OK);
    assert_code(redlock_sync_run(tool, say_it_is_over, &telling), REDLOCK_OK);
    AWAIT_MS(is_over(tool, &telling, list), LIST_ENDS_MS);
    close_and_free(tool);
}

/* More masters than a quorum can do without. */
static void let_hear(struct list list)
{
    for (unsigned i = list.first; i < list.first + (list.count + 1) / 2; i++)
        cluster_tell(&cluster, i, "CLIENT KILL TYPE normal");
}

static void end(redlock_sync *client)
{
    close_and_free(client);
    for (unsigned i = 0; i < MASTERS; i++) /* that a list is over stays, and moves in vain */
        cluster_tell(&cluster, i, "EVAL %s 0",
                     "for _, key in ipairs(redis.call('keys', '*')) do "
                     "if key ~= 'redlock:clock' then redis.call('del', key) end end");
}

static const struct list three = {0, 3}, four = {0, 4}, others = {1, 3}, far = {3, 3};

/* ---- By the command ------------------------------------------------------------------ */

static atomic_bool stops;
static atomic_uint turns;

static redlock_code work(struct call *call)
{
    while (!atomic_load(&stops)) {
        redlock_sync_lease *lease;
        redlock_lease_options options = terms(10000, 30000);
        if (redlock_sync_acquire(call->client, &lease, "work", &options, &call->result))
            return call->result.code;
        turns++;
        redlock_sync_lease_release(lease, NULL);
        redlock_sync_lease_free(lease);
    }
    return REDLOCK_OK;
}

static redlock_code run_command(struct call *call)
{
    return system(call->name) ? REDLOCK_E_SYSTEM : REDLOCK_OK;
}

static unsigned ends_told(void)
{
    unsigned told = 0;
    for (unsigned i = 0; i < MASTERS; i++) {
        redisReply *reply = cluster_ask(&cluster, i, "HLEN redlock:lists:%s:over:ends", fleet);
        told += reply && reply->integer ? (unsigned)reply->integer - 1 : 0;
        freeReplyObject(reply);
    }
    return told;
}

static atomic_int moves, losses;

static void hear_event(const redlock_event *event, void *data)
{
    (void)data;
    moves += event->kind == REDLOCK_MOVED;
    losses += event->kind == REDLOCK_LOST;
}

static struct call workers[2];

static void begin_work(redlock_sync *client)
{
    stops = false;
    for (unsigned i = 0; i < COUNT(workers); i++) {
        workers[i] = (struct call){.act = work, .client = client};
        call_begin(&workers[i]);
    }
}

static void end_work(void)
{
    stops = true;
    for (unsigned i = 0; i < COUNT(workers); i++)
        assert_code(call_end(&workers[i]), REDLOCK_OK);
}

static void begin_change(struct call *changes, struct list from, struct list to)
{
    static char command[2 * LIST_SIZE];
    int used = snprintf(command, sizeof command,
                        "REDLOCK_NODES_FILE= REDLOCK_MAX_TTL=30s REDLOCK_NODES='%s' timeout 240 ",
                        uris_of(from));
    snprintf(command + used, sizeof command - (size_t)used,
             "%s masters change --yes --patience 0 --fleet %s '%s' >&2", REDLOCK_COMMAND, fleet,
             uris_of(to));
    *changes = (struct call){.act = run_command, .name = command};
    call_begin(changes);
}

static void go_through(redlock_sync *client, const struct list *steps, unsigned count)
{
    unsigned told = 0;
    for (unsigned i = 0; i + 1 < count; i++) {
        told += steps[i].count;
        AWAIT_MS(ends_told() == told, LIST_ENDS_MS);
        let_hear(steps[i]);
        AWAIT(is_on(client, steps[i + 1]));
        unsigned before = turns;
        AWAIT(turns > before + 2);
    }
}

/* One thread holds a lease, and two take turns. */
CASE(all_masters_are_replaced)
{
    static const struct list steps[] = {{0, 3}, {0, 4}, {0, 6}, {2, 4}, {3, 3}};
    struct call changes;
    redlock_lease_options options = terms(10000, 0);
    begin();
    redlock_sync *client = open_with(three);
    options.fence = true;
    options.on_event = hear_event;
    moves = losses = 0;
    redlock_sync_lease *held = take(client, "held", &options);
    int64_t fence = redlock_sync_lease_fence(held);
    begin_work(client);
    begin_change(&changes, three, far);
    go_through(client, steps, COUNT(steps));
    assert_code(call_end(&changes), REDLOCK_OK);
    end_work();
    assert_int_equal(losses, 0);
    assert_int_equal(moves, 4);
    assert_int_equal(goes_on, 4);
    assert_int_equal(cannot + differs, 0);
    assert_true(redlock_sync_lease_valid_for(held) > 0);
    assert_true(redlock_sync_lease_fence(held) == fence);
    assert_true(cluster_holders(&cluster, "held", redlock_sync_lease_token(held)) >= 3);
    give_back(held);
    end(client);
}

/* ---- What is asked for ---------------------------------------------------------------- */

CASE(without_it_calls_end_with_E_DIFFERS)
{
    begin();
    redlock_options options = options_of(three);
    options.follow = REDLOCK_ZERO;
    redlock_sync *client = open_as(&options);
    tell_over(three, four);
    let_hear(three);
    AWAIT(try_to_take(client) == REDLOCK_E_DIFFERS);
    assert_true(is_on(client, three));
    assert_int_equal(goes_on + cannot, 0);
    end(client);
}

/* No acquire that was asked for ends with E_DIFFERS meanwhile. */
static bool went_on(redlock_sync *client)
{
    assert_code(try_to_take(client), REDLOCK_OK);
    return is_on(client, four);
}

CASE(an_acquire_goes_on)
{
    begin();
    redlock_sync *client = open_with(three);
    tell_over(three, four);
    let_hear(three);
    AWAIT(went_on(client));
    assert_int_equal(goes_on, 1);
    end(client);
}

/* All that the program gave for a moment. */
CASE(strings_are_kept)
{
    char nodes[LIST_SIZE], prefix[] = "prefix-", label[] = "label", own_fleet[sizeof fleet];
    begin();
    redlock_options options = options_of(three);
    options.nodes = strcpy(nodes, options.nodes);
    options.fleet = strcpy(own_fleet, fleet);
    options.prefix = prefix;
    options.label = label;
    redlock_sync *client = open_as(&options);
    memset(nodes, '?', sizeof nodes - 1);
    memset(prefix, '?', sizeof prefix - 1);
    memset(label, ' ', sizeof label - 1);
    memset(own_fleet, '?', sizeof own_fleet - 1);
    tell_over(three, four);
    let_hear(three);
    AWAIT(is_on(client, four));
    redlock_sync_lease *lease = take(client, "name", NULL);
    assert_true(cluster_holders(&cluster, "prefix-name", redlock_sync_lease_token(lease)) >= 3);
    assert_string_equal(strrchr(redlock_sync_lease_token(lease), ':') + 1, "label");
    give_back(lease);
    tell_over(four, others);
    let_hear(others);
    AWAIT(is_on(client, others));
    end(client);
}

/* on_ready and redlock_sync_ready() tell of the list that is used. */
CASE(it_begins_with_a_list_that_is_over)
{
    begin();
    tell_over(three, four);
    tell_over(four, others);
    redlock_sync *client = open_with(three);
    AWAIT(is_on(client, others));
    assert_code(redlock_sync_ready(client, PATIENCE_MS, NULL, 0), REDLOCK_OK);
    assert_code(try_to_take(client), REDLOCK_OK);
    assert_int_equal(goes_on, 2);
    assert_int_equal(differs, 0);
    end(client);
}

static bool is_enqueued(void)
{
    return cluster_answering(&cluster, 1, "ZCARD redlock:queue:name") >= 2;
}

CASE(a_thread_that_waits_waits_on_the_next_list)
{
    begin();
    redlock_sync *holder = open_with(three), *client = open_with(three);
    struct call waits = {.act = take_it, .client = client, .name = "name", .timeout_ms = 20000};
    redlock_sync_lease *held = take(holder, "name", NULL);
    call_begin(&waits);
    AWAIT(is_enqueued());
    tell_over(three, four);
    let_hear(three);
    AWAIT(is_on(client, four) && is_on(holder, four));
    assert_false(atomic_load(&waits.done));
    give_back(held);
    assert_code(call_end(&waits), REDLOCK_OK);
    assert_int_equal(waits.result.masters, 4);
    give_back(waits.lease);
    close_and_free(holder);
    end(client);
}

/* The fourth master is the next list's alone. */
static int in_line_on_the_fourth(void)
{
    redisReply *reply = cluster_ask(&cluster, 3, "ZCARD redlock:queue:name");
    int count = reply ? (int)reply->integer : -1;
    freeReplyObject(reply);
    return count;
}

CASE(a_thread_that_waits_keeps_its_turn)
{
    begin();
    redlock_sync *holder = open_with(four), *client = open_with(three),
                 *others_client = open_with(four);
    struct call first = {.act = take_it, .client = client, .name = "name", .timeout_ms = 20000},
                later = first;
    later.client = others_client;
    redlock_sync_lease *held = take(holder, "name", NULL);
    call_begin(&first);
    AWAIT(is_enqueued());
    call_begin(&later);
    AWAIT(in_line_on_the_fourth() == 1);
    tell_over(three, four);
    let_hear(three);
    AWAIT(in_line_on_the_fourth() == 2);
    give_back(held);
    assert_code(call_end(&first), REDLOCK_OK);
    assert_int_equal(first.result.masters, 4);
    assert_false(atomic_load(&later.done));
    give_back(first.lease);
    assert_code(call_end(&later), REDLOCK_OK);
    give_back(later.lease);
    close_and_free(holder);
    close_and_free(others_client);
    end(client);
}

/* A call begins anew when half of its time is over.  One that had all of it from then on, or twice
 * the rest, would last for 12 seconds. */
#define WAIT_MS 8000
#define HALF_MS (WAIT_MS / 2)

static void assert_lasted(int64_t us)
{
    assert_in_range(us, (WAIT_MS - 100) * MS_US, (WAIT_MS + 2900) * MS_US);
}

/* No quorum of the next list votes while the former client keeps the wait. */
CASE(a_thread_that_waits_waits_there_for_the_rest_of_its_time)
{
    redlock_lease_options longer = terms(30000, 0);
    struct call waits = {.act = take_it, .name = "name", .timeout_ms = WAIT_MS};
    begin();
    redlock_sync *holder = open_with(three);
    redlock_options options = options_of(three);
    options.connect_timeout_ms = HALF_MS / 2; /* it is kept for twice that */
    waits.client = open_as(&options);
    redlock_sync_lease *held = take(holder, "name", &longer);
    tell_over(three, four);
    int64_t begun = now_us();
    call_begin(&waits);
    AWAIT(is_enqueued());
    cluster_do(&cluster, "pause 3 4");
    let_hear(three);
    assert_code(call_end(&waits), REDLOCK_E_UNAVAILABLE);
    assert_lasted(now_us() - begun);
    assert_true(is_on(waits.client, four));
    cluster_do(&cluster, "resume 3 4");
    give_back(held);
    close_and_free(holder);
    end(waits.client);
}

/* ---- Beside a call ------------------------------------------------------------------- */

static redlock_code relist_it(struct call *call)
{
    redlock_options options = options_of(four);
    return redlock_sync_relist(call->client, &options, PATIENCE_MS, NULL, 0);
}

/* The call is carried out before the client hears that the list is over, or after it. */
CASE(a_call_beside_it)
{
    struct pause pause;
    begin();
    redlock_sync *client = open_with(three);
    redlock_sync_lease *held = take(client, "held", NULL);
    struct call relists = {.act = relist_it, .client = client};
    tell_over(three, four);
    pause_begin(&pause, client);
    let_hear(three);
    call_begin(&relists);
    pause_end(&pause);
    assert_code(call_end(&relists), REDLOCK_OK);
    assert_true(is_on(client, four));
    AWAIT(cluster_holders(&cluster, "held", redlock_sync_lease_token(held)) == 4);
    tell_over(four, others);
    let_hear(others);
    AWAIT(is_on(client, others));
    give_back(held);
    end(client);
}

/* ---- What cannot be followed --------------------------------------------------------- */

static void name_successor(struct list list, struct list next)
{
    for (unsigned i = list.first; i < list.first + list.count; i++) {
        redisReply *reply = cluster_ask(&cluster, i, "HKEYS redlock:lists:%s:over:ends", fleet);
        assert_non_null(reply);
        assert_int_equal(reply->elements, 2);
        bool is_second = strcmp(reply->element[0]->str, "changes") == 0;
        cluster_tell(&cluster, i, "HSET redlock:lists:%s:over:ends %s %s", fleet,
                     reply->element[is_second]->str, told_as(next));
        freeReplyObject(reply);
    }
}

/* It is tried and said once for each change. */
CASE(a_list_whose_quorums_need_not_meet)
{
    begin();
    redlock_sync *client = open_with(three);
    redlock_sync_lease *held = take(client, "held", NULL);
    tell_over(three, far);
    let_hear(three);
    AWAIT(try_to_take(client) == REDLOCK_E_DIFFERS && cannot);
    AWAIT(redlock_sync_ready(client, PATIENCE_MS, NULL, 0) == REDLOCK_OK);
    unsigned said = cannot;
    for (unsigned i = 0; i < 20; i++)
        assert_code(try_to_take(client), REDLOCK_E_DIFFERS);
    assert_int_equal(cannot, said);
    assert_true(is_on(client, three));
    name_successor(three, four);
    let_hear(three);
    AWAIT(is_on(client, four));
    AWAIT(cluster_holders(&cluster, "held", redlock_sync_lease_token(held)) == 4);
    give_back(held);
    end(client);
}

/* Leases that cannot move hold former lists up, and the client goes on when one of them ends. */
CASE(former_lists_that_are_left)
{
    redlock_sync_lease *readers[7];
    begin();
    redlock_sync *client = open_with(three);
    for (unsigned i = 0; i < COUNT(readers); i++) {
        char name[8];
        redlock_options options = options_of(i % 2 ? three : four);
        snprintf(name, sizeof name, "book-%u", i);
        readers[i] = take(client, name, NULL);
        assert_code(redlock_sync_lease_downgrade(readers[i], NULL), REDLOCK_OK);
        assert_code(redlock_sync_relist(client, &options, 0, NULL, 0), REDLOCK_E_UNAVAILABLE);
    }
    assert_code(redlock_sync_ready(client, PATIENCE_MS, NULL, 0), REDLOCK_OK);
    tell_over(four, three);
    let_hear(four);
    AWAIT(cannot);
    assert_true(is_on(client, four));
    give_back(readers[6]);
    AWAIT(is_on(client, three));
    for (unsigned i = 0; i < 6; i++)
        give_back(readers[i]);
    end(client);
}

/* Masters that lie lead it round and round: not as fast as they can. */
CASE(a_circle)
{
    begin();
    redlock_sync *client = open_with(three);
    tell_over(three, four);
    tell_over(four, three);
    goes_on = 0;
    let_hear(three);
    AWAIT(try_to_take(client) == REDLOCK_E_DIFFERS);
    assert_in_range(goes_on, 50, 75);
    end(client);
}

/* ---- Logins --------------------------------------------------------------------------- */

static void write_list(const char *path, struct list list, const char *password)
{
    snprintf(login, sizeof login, "somebody:%s@", password);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(uris_of(list), file) >= 0 && fclose(file) == 0);
}

/* The file has the former list still. */
CASE(new_logins_come_from_the_file)
{
    char path[] = "/tmp/redlock-list-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0 && close(fd) == 0);
    begin();
    cluster_tell_all(&cluster, "ACL SETUSER somebody on >one ~* &* +@all");
    write_list(path, three, "one");
    redlock_options options = options_of(three);
    options.nodes = NULL;
    options.nodes_file = path;
    redlock_sync *client = open_as(&options);
    tell_over(three, four);
    let_hear(three);
    AWAIT(is_on(client, four));
    write_list(path, three, "two");
    cluster_tell_all(&cluster, "ACL SETUSER somebody resetpass >two");
    cluster_tell_all(&cluster, "CLIENT KILL TYPE normal");
    AWAIT(try_to_take(client) == REDLOCK_OK);
    assert_true(is_on(client, four));
    end(client);
    unlink(path);
}

/* ---- Barriers, latches and leaders.  They leave keys until their ttl is over. ---- */

static char waited[16]; /* the name that they are about, of one case */

static bool has_party(void)
{
    return cluster_answering(&cluster, 1, "ZCOUNT redlock:barrier:0:%s 1 (+inf", waited) >= 2;
}

static void make_latch(redlock_sync *client)
{
    redlock_latch_options options = {.size = sizeof options, .arrivals = 1, .life_ms = 60000};
    assert_code(redlock_sync_latch_create(client, waited, &options, NULL, NULL), REDLOCK_OK);
}

/* A party at a barrier, an await of a latch, and an observer. */
static struct call waits[3];
static int64_t lasted_us[COUNT(waits)];

static redlock_code wait_for_it(struct call *call)
{
    static redlock_code (*const acts[])(struct call *) = {arrive, await_latch, await_leader};
    ptrdiff_t which = call - waits;
    int64_t begun = now_us();
    redlock_code code = acts[which](call);
    lasted_us[which] = now_us() - begun;
    return code;
}

static void prepare_waits(redlock_sync *client)
{
    snprintf(waited, sizeof waited, "waited-%u", cases_ended);
    make_latch(client);
}

static void begin_to_wait(redlock_sync *client, int64_t ms)
{
    for (unsigned i = 0; i < COUNT(waits); i++) {
        waits[i] =
            (struct call){.act = wait_for_it, .client = client, .name = waited, .timeout_ms = ms};
        call_begin(&waits[i]);
    }
}

/* No call ends meanwhile. */
CASE(what_is_waited_for_is_waited_for_on_the_next_list)
{
    redlock_campaign_options options = {.size = sizeof options, .value = "me", .length = 2};
    redlock_sync_lease *leader;
    begin();
    redlock_sync *client = open_with(three);
    prepare_waits(client);
    begin_to_wait(client, 0);
    AWAIT(has_party());
    tell_over(three, four);
    let_hear(three);
    AWAIT(is_on(client, four));
    redlock_sync *other = open_with(four);
    for (unsigned i = 0; i < COUNT(waits); i++)
        assert_false(atomic_load(&waits[i].done));
    struct call last = {.act = arrive, .client = other, .name = waited};
    call_begin(&last);
    assert_code(call_end(&last), REDLOCK_OK);
    assert_code(redlock_sync_latch_arrive(other, waited, NULL, NULL, NULL), REDLOCK_OK);
    assert_code(redlock_sync_campaign(other, &leader, waited, &options, NULL), REDLOCK_OK);
    calls_end(waits, COUNT(waits));
    give_back(leader);
    close_and_free(other);
    close_and_free(client);
}

static redlock_sync *open_while_paused(struct list list)
{
    redlock_options options = options_of(list);
    redlock_sync *client;
    cluster_do(&cluster, "pause 1 2 3");
    assert_code(redlock_sync_open(&client, &options, NULL, 0), REDLOCK_OK);
    return client;
}

CASE(it_is_waited_for_there_for_the_rest_of_the_time)
{
    static const redlock_code codes[] = {REDLOCK_E_NOT_PASSED, REDLOCK_E_NOT_OPEN,
                                         REDLOCK_E_UNAVAILABLE};
    begin();
    redlock_sync *other = open_with(four);
    prepare_waits(other);
    tell_over(three, four);
    redlock_sync *client = open_while_paused(three);
    int64_t begun = now_us();
    begin_to_wait(client, WAIT_MS);
    AWAIT(now_us() > begun + HALF_MS * MS_US);
    cluster_do(&cluster, "resume 1 2 3");
    for (unsigned i = 0; i < COUNT(waits); i++) {
        assert_code(call_end(&waits[i]), codes[i]);
        assert_lasted(lasted_us[i]);
    }
    assert_true(is_on(client, four));
    close_and_free(other);
    close_and_free(client);
}

/* The first call of a client with a list that is over. */
CASE(calls_begin_on_the_next_list)
{
    redlock_leader leader = {.size = sizeof leader};
    redlock_latch_result tally = {.size = sizeof tally};
    redlock_barrier_options one = {.size = sizeof one, .parties = 1, .generation = 1};
    begin();
    redlock_sync *client;
    redlock_options options = options_of(three);
    tell_over(three, four);
    assert_code(redlock_sync_open(&client, &options, NULL, 0), REDLOCK_OK);
    assert_code(redlock_sync_barrier_arrive(client, "one", &one, NULL, NULL), REDLOCK_OK);
    assert_code(redlock_sync_latch_count(client, "none", NULL, &tally, NULL), REDLOCK_E_GONE);
    assert_code(redlock_sync_leader_get(client, "none", &leader, NULL, 0, NULL), REDLOCK_OK);
    assert_true(is_on(client, four));
    close_and_free(client);
}

PROGRAM(.masters = MASTERS)
