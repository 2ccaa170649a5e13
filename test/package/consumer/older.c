/* A program that was compiled before each struct of the library grew.  Every call that takes or
 * fills one works.  The bytes behind the structs as this program knows them stay untouched. */
#include <poll.h>
#include <redlock.h>
#include <redlock/recipes.h>
#include <redlock/sync.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MASTERS    3
#define DEADLINE_S 20
#define TTL_MS     10000
#define UNTOUCHED  0xa5

static redlock *client;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: not so: %s; %s\n", __LINE__, #condition,                     \
                    client ? redlock_last_error(client) : "");                                     \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* A result with bytes behind it that are not the library's. */
#define RESULT(type, name)                                                                         \
    struct {                                                                                       \
        type given;                                                                                \
        unsigned char behind[64];                                                                  \
    } name;                                                                                        \
    memset(&(name), UNTOUCHED, sizeof(name));                                                      \
    (name).given.size = sizeof(name).given

#define CHECK_RESULT(name)                                                                         \
    CHECK((name).given.size == sizeof(name).given);                                                \
    for (size_t i = 0; i < sizeof(name).behind; i++)                                               \
    CHECK((name).behind[i] == UNTOUCHED)

static void step(void)
{
    struct pollfd ready = {.fd = redlock_fd(client), .events = POLLIN};
    (void)poll(&ready, 1, 100);
    CHECK(redlock_process(client) == REDLOCK_OK);
}

#define AWAIT(condition)                                                                           \
    for (time_t end = time(NULL) + DEADLINE_S; !(condition); step())                               \
    CHECK(time(NULL) < end)

/* ---- Leases ------------------------------------------------------------- */

static unsigned told[16]; /* events by kind */

static void check_votes(const redlock_event *event)
{
    unsigned granted = 0;
    for (unsigned i = 0; i < event->masters; i++) {
        const redlock_vote *vote = event->votes[i];
        CHECK(strchr(vote->node, ':'));
        granted += vote->kind == REDLOCK_VOTE_GRANTED;
    }
    CHECK(granted >= event->quorum);
}

static void note_event(const redlock_event *event)
{
    told[event->kind]++;
    CHECK(event->code == REDLOCK_OK && event->masters == MASTERS && event->quorum == 2);
    CHECK(strlen(event->text) > 0);
}

static void on_event(redlock_lease *lease, const redlock_event *event, void *data)
{
    (void)lease, (void)data;
    note_event(event);
    if (event->kind == REDLOCK_ACQUIRED && event->granted == MASTERS)
        check_votes(event);
    CHECK(event->ends_ms == event->valid_ms);
}

static redlock_lease *take(void)
{
    redlock_lease *lease;
    redlock_lease_options options = {.size = sizeof options};
    redlock_name names[2] = {redlock_name_of("older"), redlock_name_of("program")};
    options.ttl_ms = TTL_MS;
    options.fence = true;
    CHECK(!redlock_acquire_names(client, &lease, names, 2, &options, on_event, NULL));
    AWAIT(told[REDLOCK_ACQUIRED]);
    CHECK(redlock_lease_fence(lease) > 0);
    return lease;
}

/* The second name ends where this program says, whatever size it tells. */
static void refuse_two_sizes(void)
{
    redlock_lease *lease;
    redlock_name names[2] = {redlock_name_of("older"), redlock_name_of("program")};
    names[1].size += sizeof(int64_t);
    CHECK(redlock_acquire_names(client, &lease, names, 2, NULL, on_event, NULL) ==
          REDLOCK_E_ARGUMENT);
}

static void give_back(redlock_lease *lease)
{
    CHECK(!redlock_lease_release(lease));
    AWAIT(told[REDLOCK_RELEASED]);
    redlock_lease_free(lease);
}

/* ---- What is going on --------------------------------------------------- */

static void look_at_masters(void)
{
    for (unsigned i = 0; i < redlock_node_count(client); i++) {
        RESULT(redlock_node, node);
        CHECK(!redlock_node_get(client, i, &node.given));
        CHECK_RESULT(node);
        CHECK(node.given.state == REDLOCK_NODE_UP && strcmp(node.given.role, "master") == 0);
        CHECK(strcmp(node.given.tls_protocol, "") == 0 && node.given.tls_expires_s == 0);
    }
}

static void look_at_counters(void)
{
    RESULT(redlock_stats, stats);
    uint64_t acquired = 0;
    CHECK(!redlock_stats_get(client, &stats.given));
    CHECK_RESULT(stats);
    for (unsigned i = 0; i < REDLOCK_BUCKETS; i++)
        acquired += stats.given.acquire_times[i];
    CHECK(stats.given.acquired == 1 && stats.given.held == 1 && acquired == 1);
}

static void on_page(redlock_survey *survey, const redlock_survey_page *page, void *data)
{
    unsigned *found = data;
    (void)survey;
    CHECK(page->code == REDLOCK_OK && page->node < MASTERS && page->left_out == 0);
    for (size_t i = 0; i < page->count; i++) {
        const redlock_name *name = page->names[i];
        *found += name->length == 7 && memcmp(name->bytes, "program", 7) == 0;
    }
}

/* A lease that is held has no place in a queue. */
static void look_at_place(const redlock_lease *lease)
{
    RESULT(redlock_place, place);
    CHECK(redlock_lease_place(lease, &place.given) == REDLOCK_E_STATE);
    CHECK_RESULT(place);
}

static void look_for_names(void)
{
    redlock_survey *survey;
    redlock_survey_options options = {.size = sizeof options};
    unsigned found = 0;
    CHECK(!redlock_survey_begin(client, &survey, &options, on_page, &found));
    AWAIT(found >= 2);
    redlock_survey_free(survey);
}

static void on_look(redlock_look *look, const redlock_look_result *result, void *data)
{
    (void)look;
    CHECK(result->code == REDLOCK_OK && result->masters == MASTERS && result->agreed == MASTERS);
    for (unsigned i = 0; i < result->masters; i++) {
        const redlock_view *view = result->views[i];
        CHECK(view->kind == REDLOCK_VOTE_HELD && view->holder && view->waiters.count == 0);
    }
    *(bool *)data = true;
}

static void look_at_name(void)
{
    redlock_look *look;
    redlock_look_options options = {.size = sizeof options};
    redlock_name name = redlock_name_of("program");
    bool seen = false;
    options.all_answers = true;
    CHECK(!redlock_look_begin(client, &look, &name, 1, &options, on_look, &seen));
    AWAIT(seen);
    redlock_look_free(look);
}

/* ---- Recipes ------------------------------------------------------------ */

static void on_campaign(redlock_campaign *campaign, const redlock_event *event, void *data)
{
    (void)campaign, (void)data;
    note_event(event);
}

static void lead(void)
{
    redlock_campaign *campaign;
    redlock_campaign_options options = {.size = sizeof options};
    options.ttl_ms = TTL_MS;
    options.value = "leader";
    options.length = 6;
    memset(told, 0, sizeof told);
    CHECK(!redlock_campaign_begin(client, &campaign, "older-leader", &options, on_campaign, NULL));
    AWAIT(told[REDLOCK_ACQUIRED] && told[REDLOCK_ANNOUNCED]);
    CHECK(!redlock_campaign_resign(campaign));
    AWAIT(told[REDLOCK_RELEASED]);
    redlock_campaign_free(campaign);
}

static void on_passage(redlock_barrier *party, const redlock_barrier_result *passage, void *data)
{
    (void)party;
    CHECK(passage->code == REDLOCK_OK && passage->parties == 1);
    *(bool *)data = true;
}

static void pass(void)
{
    redlock_barrier *party;
    bool passed = false;
    redlock_barrier_options options = {.size = sizeof options};
    options.parties = options.generation = 1;
    options.ttl_ms = TTL_MS;
    CHECK(!redlock_barrier_arrive(client, &party, "older", &options, on_passage, &passed));
    AWAIT(passed);
    redlock_barrier_free(party);
}

static void on_tally(redlock_latch *latch, const redlock_latch_result *tally, void *data)
{
    (void)latch;
    CHECK(tally->code == REDLOCK_OK && tally->masters == MASTERS);
    *(bool *)data = true;
}

static void make_latch(void)
{
    redlock_latch *latch;
    bool made = false;
    redlock_latch_options options = {.size = sizeof options};
    options.arrivals = 1;
    options.life_ms = TTL_MS;
    CHECK(!redlock_latch_create(client, &latch, "older", &options, on_tally, &made));
    AWAIT(made);
    redlock_latch_free(latch);
}

/* ---- The blocking client ------------------------------------------------- */

static void look_once(redlock_sync_lease *lease)
{
    redlock_once_options options = {.size = sizeof options};
    RESULT(redlock_latch_result, record);
    options.key = "older";
    CHECK(!redlock_sync_once_look(lease, &options, &record.given, NULL));
    CHECK_RESULT(record);
    CHECK(!record.given.open);
}

static void ask_holder(redlock_sync *sync)
{
    redlock_ask_options options = {.size = sizeof options};
    RESULT(redlock_asked, asked);
    options.text = "older";
    CHECK(!redlock_sync_ask(sync, "older-sync", &options, &asked.given, NULL));
    CHECK_RESULT(asked);
    CHECK(asked.given.masters == MASTERS && asked.given.heard == 0);
}

static void take_and_wait(redlock_sync *sync)
{
    redlock_sync_lease *lease;
    redlock_lease_options options = {.size = sizeof options};
    RESULT(redlock_sync_result, result);
    options.ttl_ms = TTL_MS;
    CHECK(!redlock_sync_acquire(sync, &lease, "older-sync", &options, &result.given));
    CHECK_RESULT(result);
    CHECK(result.given.masters == MASTERS && result.given.valid_ms > 0);
    look_once(lease);
    ask_holder(sync);
    CHECK(!redlock_sync_lease_release(lease, NULL));
    redlock_sync_lease_free(lease);
}

static void wait_for_recipes(redlock_sync *sync)
{
    redlock_barrier_options pass = {.size = sizeof pass};
    redlock_latch_options latch = {.size = sizeof latch};
    RESULT(redlock_leader, leader);
    RESULT(redlock_barrier_result, passage);
    RESULT(redlock_latch_result, tally);
    pass.parties = 1;
    latch.arrivals = 1;
    CHECK(!redlock_sync_leader_get(sync, "nobody", &leader.given, NULL, 0, NULL));
    CHECK(!redlock_sync_barrier_arrive(sync, "older-sync", &pass, &passage.given, NULL));
    CHECK(!redlock_sync_latch_create(sync, "older-sync", &latch, &tally.given, NULL));
    CHECK_RESULT(leader);
    CHECK_RESULT(passage);
    CHECK_RESULT(tally);
    CHECK(leader.given.masters == MASTERS && tally.given.arrivals == 1);
}

static void block(const redlock_options *options)
{
    char why[256];
    redlock_sync *sync;
    CHECK(!redlock_sync_open(&sync, options, why, sizeof why));
    take_and_wait(sync);
    wait_for_recipes(sync);
    CHECK(redlock_sync_close(sync, DEADLINE_S * 1000) == 0);
    redlock_sync_free(sync);
}

/* The masters are new: REDLOCK_NODES lists them. */
int main(void)
{
    char why[256] = "";
    redlock_options options = {.size = sizeof options};
    options.restart_policy = REDLOCK_RESTART_TRUST;
    options.log_level = REDLOCK_LOG_INFO;
    redlock_code code = redlock_open(&client, NULL, &options, why, sizeof why);
    if (code) {
        fprintf(stderr, "%s: %s\n", redlock_code_name(code), why);
        return 1;
    }
    redlock_lease *lease = take();
    look_at_masters();
    look_at_counters();
    look_for_names();
    look_at_name();
    refuse_two_sizes();
    look_at_place(lease);
    give_back(lease);
    lead();
    pass();
    make_latch();
    redlock_free(client);
    client = NULL;
    block(&options);
    return 0;
}
