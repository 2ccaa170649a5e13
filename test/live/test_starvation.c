/*
 * Readers that come and go as fast as they can keep no writer out. It waits for the readers from
 * before its arrival, and for no later one.
 * rule: S9
 */
#include "fixture.h"
#include "user.h"

#include <time.h>

#define FOUGHT   "starvation"
#define CLIENTS  4  /* of readers */
#define READERS  16 /* of all of them */
#define TRIES    4  /* of the readers do not wait: they try again, as soon as they are refused */
#define SHORTEST 20 /* ms, of a reading */
#define LONGEST  50
#define ROUNDS   20 /* REDLOCK_ROUNDS=100 takes longer */

struct reader {
    struct user *user;
    redlock_lease *lease;
    ev_timer hold;
    int64_t since; /* us; 0: it does not read */
    unsigned readings;
    bool tries;
};

static struct ev_loop *loop;
static struct user clients[CLIENTS], writer;
static struct reader readers[READERS];
static struct take writing;
static bool written = true, over;
static int64_t longest; /* us: of the readings since the writer asked */

/* ---- Readers ---- */

static void ask(struct reader *reader);

static void end_reading(struct reader *reader)
{
    int64_t took = now_us() - reader->since;
    longest = took > longest ? took : longest;
    reader->since = 0;
    reader->readings++;
}

static void on_held(struct ev_loop *of, ev_timer *timer, int events)
{
    (void)of, (void)events;
    struct reader *reader = timer->data;
    end_reading(reader);
    redlock_lease_release(reader->lease);
}

static void on_event(redlock_lease *lease, const redlock_event *event, void *data)
{
    struct reader *reader = data;
    assert_int_not_equal(event->kind, REDLOCK_LOST);
    if (event->kind == REDLOCK_ACQUIRED) {
        assert_true(written || !has(&writing));
        reader->since = now_us();
        ev_timer_set(&reader->hold, (SHORTEST + drand48() * (LONGEST - SHORTEST)) / 1e3, 0.);
        ev_timer_start(loop, &reader->hold);
    } else if (event->kind == REDLOCK_RELEASED || event->kind == REDLOCK_NOT_ACQUIRED) {
        redlock_lease_free(lease);
        reader->lease = NULL;
        if (!over)
            ask(reader);
    }
}

static void ask(struct reader *reader)
{
    redlock_lease_options terms = lease_terms(10000, reader->tries ? 0 : REDLOCK_FOREVER);
    terms.mode = REDLOCK_SHARED;
    assert_code(
        redlock_acquire(reader->user->client, &reader->lease, FOUGHT, &terms, on_event, reader),
        REDLOCK_OK);
}

static void begin_reading(void)
{
    for (unsigned i = 0; i < READERS; i++) {
        readers[i] = (struct reader){.user = &clients[i % CLIENTS], .tries = i < TRIES};
        ev_timer_init(&readers[i].hold, on_held, 0., 0.);
        readers[i].hold.data = &readers[i];
        ask(&readers[i]);
    }
}

static unsigned reading(void)
{
    unsigned count = 0;
    for (unsigned i = 0; i < READERS; i++)
        count += readers[i].since != 0;
    return count;
}

/* Each has read so often. */
static bool have_read(unsigned times)
{
    for (unsigned i = 0; i < READERS; i++)
        if (readers[i].readings < times)
            return false;
    return true;
}

static bool all_are_gone(void)
{
    for (unsigned i = 0; i < READERS; i++)
        if (readers[i].lease)
            return false;
    return true;
}

/* ---- The writer ---- */

/* The share of twice the longest reading that it waited. */
static double write_once(void)
{
    redlock_lease_options terms = lease_terms(10000, REDLOCK_FOREVER);
    longest = 0;
    written = false;
    int64_t asked = now_us(), held_up = writer.held_up_us;
    take_ask(&writing, &writer, FOUGHT, &terms);
    AWAIT(&writer, has(&writing));
    assert_int_equal(reading(), 0);
    int64_t waited = writing.told[REDLOCK_ACQUIRED].at_us - asked - (writer.held_up_us - held_up);
    if (waited > 2 * longest)
        fail_msg("the writer waited %lld us, the longest reading took %lld us", (long long)waited,
                 (long long)longest);
    written = true;
    assert_code(take_release(&writing), REDLOCK_OK);
    return (double)waited / (2. * (double)longest);
}

static unsigned rounds(void)
{
    const char *given = getenv("REDLOCK_ROUNDS");
    return given ? (unsigned)atoi(given) : ROUNDS;
}

static void seed(void)
{
    const char *given = getenv("REDLOCK_SEED");
    long seed = given ? atol(given) : (long)time(NULL);
    print_message("    REDLOCK_SEED=%ld\n", seed);
    srand48(seed);
}

CASE(a_writer_among_readers)
{
    double most = 0, sum = 0;
    unsigned count = rounds();
    begin_reading();
    for (unsigned round = 1; round <= count; round++) {
        AWAIT(&writer, have_read(2 * round) && reading() >= READERS / 2);
        double share = write_once();
        most = share > most ? share : most;
        sum += share;
    }
    over = true;
    AWAIT(&writer, all_are_gone());
    print_message("    %u of %u: waited %.2f of twice the longest reading on the average, %.2f at "
                  "most\n",
                  count, count, sum / count, most);
}

static void open_all(void)
{
    seed();
    loop = ev_loop_new(0);
    for (unsigned i = 0; i < CLIENTS; i++)
        user_begin(&clients[i], loop, cluster.nodes, NULL);
    user_begin(&writer, loop, cluster.nodes, NULL);
    for (unsigned i = 0; i < CLIENTS; i++)
        AWAIT(&clients[i], clients[i].ready);
    AWAIT(&writer, writer.ready);
}

static void close_all(void)
{
    for (unsigned i = 0; i < CLIENTS; i++)
        assert_int_equal(user_end(&clients[i], 5000), 0);
    assert_int_equal(user_end(&writer, 5000), 0);
    ev_loop_destroy(loop);
    assert_int_equal(cluster_keys(&cluster), 0);
}

PROGRAM(.masters = 5, .begun = open_all, .ending = close_all)
