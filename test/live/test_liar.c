/*
 * One master of five misbehaves: the lock is acquired at once, and a text names that master's
 * fault.  Three of five do: the lock is refused in bounded time, with a reason for each, and no key
 * stays behind on the two sound ones.
 */
#include "fixture.h"
#include "user.h"

#include "liar.h"

#define CONNECT_MS 1000
#define ENOUGH     "+OK\r\n+OK\r\n"

struct trouble {
    const char *name;
    struct lie lie;
    redlock_vote_kind vote; /* of the liar, when asked for the holder */
    const char *says;
    bool grants; /* it is taken for a grant, and has to be */
};

/* clang-format off */
static const struct trouble troubles[] = {
    {"answers no request", {AT_REQUEST, NULL, 0, THEN_SILENCE}, REDLOCK_VOTE_TIMEOUT, "", false},
    {"half a reply, then silence", {AT_REQUEST, "+O", 0, THEN_SILENCE}, REDLOCK_VOTE_TIMEOUT, "",
     false},
    {"half a bulk string", {AT_REQUEST, "$20\r\nabc", 0, THEN_SILENCE}, REDLOCK_VOTE_TIMEOUT, "",
     false},
    {"garbage", {AT_REQUEST, "HTTP/1.1 400 Bad Request\r\n\r\n", 0, THEN_SERVE},
     REDLOCK_VOTE_UNREACHABLE, "malformed reply", false},
    {"binary garbage", {AT_REQUEST, "\0\xff\x01\r\n", 5, THEN_SERVE}, REDLOCK_VOTE_UNREACHABLE,
     "malformed reply", false},
    {"giant bulk length", {AT_REQUEST, "$2000000000\r\n", 0, THEN_FLOOD},
     REDLOCK_VOTE_UNREACHABLE, "malformed reply: longer than", false},
    {"endless line", {AT_REQUEST, "+", 0, THEN_FLOOD}, REDLOCK_VOTE_UNREACHABLE,
     "malformed reply", false},
    {"giant array", {AT_REQUEST, "*2000000000\r\n", 0, THEN_SERVE}, REDLOCK_VOTE_UNREACHABLE,
     "malformed reply", false},
    {"negative length", {AT_REQUEST, "$-2000000000\r\n", 0, THEN_SERVE},
     REDLOCK_VOTE_UNREACHABLE, "malformed reply", false},
    {"deep arrays", {AT_REQUEST, "*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n", 0, THEN_SERVE},
     REDLOCK_VOTE_UNREACHABLE, "malformed reply", false},
    {"wrong number of elements", {AT_REQUEST, "*3\r\n:1\r\n:2\r\n:3\r\n", 0, THEN_SERVE},
     REDLOCK_VOTE_UNREACHABLE, "a reply that the request cannot have", false},
    {"a number out of nowhere", {AT_REQUEST, ":42\r\n", 0, THEN_SERVE}, REDLOCK_VOTE_UNREACHABLE,
     "a reply that the request cannot have", false},
    {"two replies to one request", {AT_REQUEST, "-ERR x\r\n-ERR x\r\n", 0, THEN_SERVE},
     REDLOCK_VOTE_REFUSED, "ERR x", false},
    {"closes after the request", {AT_REQUEST, NULL, 0, THEN_CLOSE}, REDLOCK_VOTE_UNREACHABLE,
     "closed by the master", false},
    {"closes after half a reply", {AT_REQUEST, "$5\r\nab", 0, THEN_CLOSE},
     REDLOCK_VOTE_UNREACHABLE, "closed by the master", false},
    {"is loading", {AT_REQUEST, "-LOADING Redis is loading the dataset in memory\r\n", 0,
     THEN_SERVE}, REDLOCK_VOTE_REFUSED, "LOADING Redis is loading", false},
    {"is read-only", {AT_REQUEST, "-READONLY You can't write against a read only replica.\r\n", 0,
     THEN_SERVE}, REDLOCK_VOTE_REFUSED, "READONLY You can't write", false},
    {"out of memory", {AT_REQUEST, "-OOM command not allowed when used memory > 'maxmemory'.\r\n",
     0, THEN_SERVE}, REDLOCK_VOTE_REFUSED, "OOM command not allowed", false},
    {"any error", {AT_REQUEST, "-ERR x\r\n", 0, THEN_SERVE}, REDLOCK_VOTE_REFUSED, "ERR x", false},
    {"never knows a script", {AT_REQUEST, "-NOSCRIPT No matching script.\r\n", 0, THEN_SERVE},
     REDLOCK_VOTE_REFUSED, "NOSCRIPT", false},
    {"answers no login", {AT_LOGIN, NULL, 0, THEN_SILENCE}, REDLOCK_VOTE_UNREACHABLE,
     "connected, but no answer within", false},
    {"answers no hello", {AT_HELLO, NULL, 0, THEN_SILENCE}, REDLOCK_VOTE_UNREACHABLE,
     "connected, but no answer within", false},
    {"closes at once", {AT_CONNECT, NULL, 0, THEN_CLOSE}, REDLOCK_VOTE_UNREACHABLE, "", false},
    {"speaks first", {AT_CONNECT, "-ERR max number of clients reached\r\n", 0, THEN_CLOSE},
     REDLOCK_VOTE_UNREACHABLE, "max number of clients", false},
    {"garbage at login", {AT_LOGIN, "SSH-2.0-OpenSSH_9.2\r\n", 0, THEN_SERVE},
     REDLOCK_VOTE_UNREACHABLE, "malformed reply", false},
    {"a hello too short", {AT_HELLO, "*2\r\n$1\r\na\r\n$1\r\nb\r\n", 0, THEN_SERVE},
     REDLOCK_VOTE_UNREACHABLE, "a reply that the request cannot have", false},
    {"an error for a hello", {AT_HELLO, "-ERR no such thing\r\n", 0, THEN_SERVE},
     REDLOCK_VOTE_UNREACHABLE, "ERR no such thing", false},
    {"is loading since the hello", {AT_HELLO, "-LOADING Redis is loading\r\n", 0, THEN_SERVE},
     REDLOCK_VOTE_UNREACHABLE, "LOADING Redis is loading", false},
    {"wants a password", {AT_HELLO, "-NOAUTH Authentication required.\r\n", 0, THEN_SERVE},
     REDLOCK_VOTE_UNREACHABLE, "NOAUTH Authentication required", false},
    {"an unsolicited reply", {AT_IDLE, "+HELLO\r\n", 0, THEN_SERVE}, REDLOCK_VOTE_UNREACHABLE,
     "the master sent a reply", false},
    {"grants, and grants again", {AT_REQUEST, ENOUGH, 0, THEN_SERVE}, REDLOCK_VOTE_UNREACHABLE,
     "", true},
};
/* clang-format on */

/* `sound` real masters, then `liars` that tell this lie. */
static void gather(char *nodes, size_t size, unsigned sound, struct liar **liars, unsigned count,
                   const struct lie *lie)
{
    size_t used = 0;
    for (unsigned i = 0; i < sound; i++)
        used += (size_t)snprintf(nodes + used, size - used, URI_FORMAT, cluster_scheme(),
                                 cluster.passwords[i], cluster.ports[i]);
    for (unsigned i = 0; i < count; i++) {
        liars[i] = liar_start(lie);
        used += (size_t)snprintf(nodes + used, size - used, "%s://127.0.0.1:%d ", cluster_scheme(),
                                 liar_port(liars[i]));
    }
}

static void open_with(struct user *user, char *nodes)
{
    redlock_options options = {.size = sizeof(redlock_options)};
    options.nodes = nodes;
    options.fleet = ""; /* the lies are for its requests by number */
    options.request_timeout_ms = 400;
    options.connect_timeout_ms = CONNECT_MS;
    user_open(user, NULL, &options);
}

static void one_liar(const struct trouble *trouble)
{
    char nodes[5 * URI_SIZE];
    struct liar *liar;
    struct user user;
    struct take take;
    struct seen look;
    redlock_lease_options terms = lease_terms(2000, 0);
    gather(nodes, sizeof nodes, 4, &liar, 1, &trouble->lie);
    size_t before = resident_bytes();
    open_with(&user, nodes);
    assert_code(user.ready_code, REDLOCK_OK);
    assert_code(take_lock(&take, &user, "one liar", &terms), REDLOCK_OK);
    /* At once: the liar is not waited for. */
    assert_true(take.told[REDLOCK_ACQUIRED].event.elapsed_ms < CONNECT_MS);
    assert_int_equal(take.told[REDLOCK_ACQUIRED].event.rounds, 1);
    look_at(&look, &user, "one liar");
    assert_code(look.result.code, REDLOCK_OK);
    unsigned held = 0;
    const struct said_vote *said = look.votes;
    for (unsigned i = 0; i < 4; i++)
        held += said[i].kind == REDLOCK_VOTE_HELD;
    assert_true(held >= 3);
    assert_code(take_release(&take), REDLOCK_OK);
    AWAIT_AWAKE_MS(&user, cluster_keys(&cluster) == 0, 1000); /* long before they expire */
    user_close(&user, 0);
    assert_true(liar_flooded(liar) < 64 << 20);
    assert_true(resident_bytes() < before + (32 << 20));
    liar_stop(liar);
}

static void three_liars(const struct trouble *trouble)
{
    char nodes[5 * URI_SIZE];
    struct liar *liars[3];
    struct user user;
    struct take take;
    redlock_lease_options terms = lease_terms(2000, 0);
    gather(nodes, sizeof nodes, 2, liars, 3, &trouble->lie);
    open_with(&user, nodes);
    assert_code(take_lock(&take, &user, "three liars", &terms), REDLOCK_E_UNAVAILABLE);
    const struct told *told = &take.told[REDLOCK_NOT_ACQUIRED];
    assert_true(told->event.elapsed_ms < 3 * CONNECT_MS);
    for (unsigned i = 2; i < 5; i++) {
        assert_vote(&told->votes[i], trouble->vote);
        assert_says(told->votes[i].text, trouble->says);
    }
    take_free(&take);
    AWAIT_AWAKE_MS(&user, cluster_keys(&cluster) == 0, 1000); /* long before they expire */
    user_close(&user, 0);
    for (unsigned i = 0; i < 3; i++)
        liar_stop(liars[i]);
}

CASE(test_one_liar_of_five)
{
    for (unsigned i = 0; i < COUNT(troubles); i++) {
        print_message("    %s\n", troubles[i].name);
        one_liar(&troubles[i]);
    }
}

CASE(test_three_liars_of_five)
{
    for (unsigned i = 0; i < COUNT(troubles); i++) {
        if (troubles[i].grants)
            continue;
        print_message("    %s\n", troubles[i].name);
        three_liars(&troubles[i]);
    }
}

enum { TOGETHER = 8 };

/* The one reply to several requests, each releases (or renewals) of another lease. */
static const struct lie batch_lies[] = {
    {NEVER_LIES, NULL, 0, THEN_SERVE},
    {AT_BATCH, ":1\r\n", 0, THEN_SERVE},
    {AT_BATCH, "*0\r\n", 0, THEN_SERVE},
    {AT_BATCH, "*7\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n", 0, THEN_SERVE},
    {AT_BATCH, "*9\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n", 0, THEN_SERVE},
    {AT_BATCH, "*8\r\n:1\r\n:1\r\n:1\r\n:1\r\n+OK\r\n:1\r\n:1\r\n:1\r\n", 0, THEN_SERVE},
    {AT_BATCH, "*8\r\n:1\r\n:1\r\n:1\r\n:1\r\n$1\r\n1\r\n:1\r\n:1\r\n:1\r\n", 0, THEN_SERVE},
    {AT_BATCH, "*8\r\n:1\r\n:1\r\n:1\r\n:9\r\n:1\r\n:1\r\n:1\r\n:1\r\n", 0, THEN_SERVE},
    {AT_BATCH, "*8\r\n:1\r\n:0\r\n:-1\r\n-ERR x\r\n:1\r\n:1\r\n:1\r\n:1\r\n", 0, THEN_SERVE},
    {AT_BATCH, "*2000000000\r\n", 0, THEN_SERVE},
    {AT_BATCH, "*8\r\n:1\r\n:1\r\n", 0, THEN_CLOSE},
    {AT_BATCH, "*8\r\n:1\r\n:1\r\n", 0, THEN_SILENCE},
    {AT_BATCH, NULL, 0, THEN_CLOSE},
    {AT_BATCH, NULL, 0, THEN_SILENCE},
    {AT_BATCH, "-ERR x\r\n", 0, THEN_SERVE},
    {AT_BATCH, "-NOSCRIPT No matching script.\r\n", 0, THEN_SERVE},
};

static void lie_to_a_batch(const struct lie *lie)
{
    char nodes[5 * URI_SIZE], name[16];
    struct liar *liar;
    struct user user;
    struct take takes[TOGETHER];
    gather(nodes, sizeof nodes, 4, &liar, 1, NULL);
    open_with(&user, nodes);
    AWAIT(&user, user_all_up(&user) &&
                     user_is_quiet(&user)); /* else it is asked for each as it comes up */
    for (unsigned i = 0; i < TOGETHER; i++) {
        snprintf(name, sizeof name, "together %u", i);
        assert_code(take_lock(&takes[i], &user, name, NULL), REDLOCK_OK);
    }
    /* Two sound grants of the quorum's three, and the lie loses the lease, rightly. */
    AWAIT(&user, user_all_up(&user) && user_is_quiet(&user));
    liar_change(liar, lie);
    for (unsigned i = 0; i < TOGETHER; i++)
        assert_code(redlock_lease_extend(takes[i].lease, 0), REDLOCK_OK);
    for (unsigned i = 0; i < TOGETHER; i++)
        AWAIT(&user, takes[i].told[REDLOCK_EXTENDED].times);
    for (unsigned i = 0; i < TOGETHER; i++)
        assert_code(redlock_lease_release(takes[i].lease), REDLOCK_OK);
    for (unsigned i = 0; i < TOGETHER; i++) {
        AWAIT(&user, takes[i].told[REDLOCK_RELEASED].times);
        assert_code(takes[i].told[REDLOCK_RELEASED].event.code, REDLOCK_OK);
        assert_int_equal(takes[i].told[REDLOCK_LOST].times, 0);
        take_free(&takes[i]);
    }
    AWAIT_AWAKE_MS(&user, cluster_keys(&cluster) == 0, 1000); /* long before they expire */
    AWAIT(&user, liar_batches(liar) > 0);                     /* it may be the last to read */
    user_close(&user, 0);
    liar_stop(liar);
}

CASE(test_lies_to_several_at_once)
{
    for (unsigned i = 0; i < COUNT(batch_lies); i++)
        lie_to_a_batch(&batch_lies[i]);
}

/* A master that grants everything to everybody does not make two holders. */
CASE(test_lying_grants)
{
    char nodes[5 * URI_SIZE];
    struct liar *liar;
    struct user first, second;
    struct take take, late;
    gather(nodes, sizeof nodes, 4, &liar, 1, NULL);
    open_with(&first, nodes);
    open_with(&second, nodes);
    assert_code(take_lock(&take, &first, "wanted", NULL), REDLOCK_OK);
    for (unsigned try = 0; try < 20; try++) {
        assert_code(take_lock(&late, &second, "wanted", NULL), REDLOCK_E_HELD);
        assert_says(late.told[REDLOCK_NOT_ACQUIRED].text, redlock_lease_token(take.lease));
        take_free(&late);
    }
    assert_true(redlock_lease_valid_for(take.lease) > 0);
    assert_code(take_release(&take), REDLOCK_OK);
    assert_code(take_lock(&late, &second, "wanted", NULL), REDLOCK_OK);
    assert_code(take_release(&late), REDLOCK_OK);
    user_close_clean(&second, &cluster);
    user_close_clean(&first, &cluster);
    liar_stop(liar);
}

/* The largest max_ttl of any client makes restarted masters abstain: no single master may
 * talk the others into abstaining for ages. */
CASE(test_lying_about_others)
{
    static const char hello[] = "*10\r\n$40\r\nffffffffffffffffffffffffffffffffffffffff\r\n"
                                "$6\r\n7.0.15\r\n$6\r\nmaster\r\n:1800000000000000\r\n:0\r\n"
                                ":9007199254740992\r\n:9\r\n:0\r\n$0\r\n\r\n"
                                ":9007199254740992\r\n";
    const struct lie lie = {AT_HELLO, hello, 0, THEN_SERVE};
    char nodes[5 * URI_SIZE];
    struct liar *liar;
    struct user user;
    struct take take;
    gather(nodes, sizeof nodes, 4, &liar, 1, &lie);
    open_with(&user, nodes);
    for (unsigned i = 0; i < 5; i++) {
        assert_code(take_lock(&take, &user, "as ever", NULL), REDLOCK_OK);
        assert_code(take_release(&take), REDLOCK_OK);
    }
    for (unsigned i = 0; i < 4; i++) {
        redisReply *longest = cluster_ask(&cluster, i, "HGET redlock:clock m");
        assert_string_equal(longest->str, "30000");
        freeReplyObject(longest);
    }
    user_close_clean(&user, &cluster);
    liar_stop(liar);
}

PROGRAM(.masters = 4)
