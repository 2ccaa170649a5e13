/*
 * Many inspections at once: a client asks for some at a time, for one where the masters take long,
 * and each ends once, is freed, or ends with the client.
 * rule: N1, N2
 */
#include "fixture.h"
#include "user.h"

#define LOOKS   400
#define AT_ONCE 8

struct look {
    redlock_lease *lease;
    unsigned told;
    redlock_code code;
};

static struct look looks[LOOKS];
static unsigned told, told_well;

static unsigned most_in_flight(void)
{
    unsigned most = 0;
    for (unsigned i = 0; i < cluster.count; i++)
        most = node_of(&user, i).in_flight > most ? node_of(&user, i).in_flight : most;
    return most;
}

static unsigned least_in_flight(void)
{
    unsigned least = LOOKS;
    for (unsigned i = 0; i < cluster.count; i++)
        least = node_of(&user, i).in_flight < least ? node_of(&user, i).in_flight : least;
    return least;
}

static void on_seen(redlock_lease *lease, const redlock_event *event, void *data)
{
    struct look *look = data;
    assert_ptr_equal(lease, look->lease);
    assert_int_equal(event->kind, REDLOCK_SEEN);
    look->code = event->code;
    look->told++;
    told++;
    told_well += event->code == REDLOCK_OK;
}

static void begin(struct look *look)
{
    char text[16];
    int length = snprintf(text, sizeof text, "look-%u", (unsigned)(look - looks));
    redlock_name name = {.size = sizeof(redlock_name), .bytes = text, .length = (size_t)length};
    *look = (struct look){0};
    assert_code(redlock_inspect(user.client, &look->lease, &name, 1, on_seen, look), REDLOCK_OK);
}

static void begin_all(void)
{
    told = told_well = 0;
    for (unsigned i = 0; i < LOOKS; i++)
        begin(&looks[i]);
}

static void drop(struct look *look)
{
    redlock_lease_free(look->lease);
    look->lease = NULL;
}

static void drop_all(void)
{
    for (unsigned i = 0; i < LOOKS; i++)
        drop(&looks[i]);
}

static void end_all_well(void)
{
    cluster_do(&cluster, "resume 1 2 3");
    AWAIT(&user, told == LOOKS);
    assert_int_equal(told_well, LOOKS);
    drop_all();
}

/* Returns the number of those under way, which no master answers for now. */
static unsigned begin_all_paused(void)
{
    cluster_do(&cluster, "pause 1 2 3");
    begin_all();
    AWAIT(&user, least_in_flight() > 0);
    return most_in_flight();
}

/* The same after looks that were cheap; a busy machine may have made the last ones dear. */
static unsigned begin_all_paused_together(void)
{
    int64_t end = now_us() + 10000000;
    while (now_us() < end) {
        begin_all();
        end_all_well();
        unsigned under_way = begin_all_paused();
        if (under_way > 1)
            return under_way;
        end_all_well();
    }
    fail_msg("each look goes alone");
    return 0;
}

/* How dear they are is not known before. */
CASE(test_the_first_goes_alone)
{
    assert_int_equal(begin_all_paused(), 1);
    end_all_well();
}

CASE(test_alone_after_dear_ones)
{
    unsigned under_way = begin_all_paused_together();
    assert_in_range(under_way, 2, AT_ONCE);
    int64_t dear = now_us() + 20000;
    AWAIT(&user, now_us() > dear);
    cluster_do(&cluster, "resume 1 2 3");
    AWAIT(&user, told >= under_way);
    assert_in_range(most_in_flight(), 0, 3);
    end_all_well();
}

/* That one of many was late says little. */
CASE(test_again_and_alone)
{
    redlock_options options = {.size = sizeof(redlock_options)};
    options.request_timeout_ms = 1000;
    user_end(&user, 1000);
    user_begin(&user, user.loop, cluster.nodes, &options);
    AWAIT(&user, user.ready);
    begin_all_paused_together();
    AWAIT(&user, stats_of(&user).timeouts > 0);
    end_all_well();
}

/* Of those under way none is told any more, and the next ones have their turn. */
CASE(test_freed_ones_make_room)
{
    begin_all();
    user_step(&user, now_us() + 1000000);
    for (unsigned i = 0; i < LOOKS; i++)
        if (i % 10)
            drop(&looks[i]);
    AWAIT(&user, told == LOOKS / 10);
    AWAIT(&user, user_is_quiet(&user));
    for (unsigned i = 0; i < LOOKS; i += 10)
        assert_int_equal(looks[i].told, 1);
    drop_all();
    begin_all();
    user_step(&user, now_us() + 1000000);
    drop_all();
    begin(&looks[0]);
    AWAIT(&user, looks[0].told);
    drop(&looks[0]);
}

/* Also those that still wait for their turn. */
CASE(test_closing_ends_all)
{
    begin_all();
    user_step(&user, now_us() + 1000000);
    assert_in_range(told, 0, LOOKS - 1);
    user_end(&user, 1000);
    assert_int_equal(told, LOOKS);
    for (unsigned i = 0; i < LOOKS; i++)
        assert_int_equal(looks[i].told, 1);
    assert_code(looks[LOOKS - 1].code, REDLOCK_E_CLOSED);
    user_join(&user, user.loop, &cluster);
}

PROGRAM(.masters = 3, .has_user = true)
