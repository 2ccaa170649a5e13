/*
 * Names are bytes: any name is the key on every master, and the token its value.
 * rule: K2
 */
#include "fixture.h"
#include "user.h"

#define BIG REDLOCK_NAME_MAX

static void lock_names(struct take *take, struct user *by, const redlock_name *names, size_t count)
{
    take_init(take, by);
    redlock_code code =
        redlock_acquire_names(by->client, &take->lease, names, count, NULL, take_hear, take);
    if (code)
        fail_msg("redlock_acquire_names: %s", redlock_last_error(by->client));
    AWAIT(by, take->outcomes);
}

/* On how many masters this key has this value, and a ttl that fits. */
static unsigned masters_with(const void *key, size_t length, const char *token)
{
    unsigned count = 0;
    for (unsigned i = 0; i < cluster.count; i++) {
        redisReply *value = cluster_ask(&cluster, i, "GET %b", key, length);
        long long pttl = cluster_count(&cluster, i, "PTTL %b", key, length);
        assert_non_null(value);
        if (value->type == REDIS_REPLY_STRING) {
            count++;
            assert_string_equal(value->str, token);
            assert_true(pttl > 8000 && pttl <= 10000);
        }
        freeReplyObject(value);
    }
    return count;
}

static void lock_one(struct user *by, const void *bytes, size_t length, const void *key,
                     size_t key_length)
{
    struct take take;
    redlock_name name = {.size = sizeof(redlock_name), .bytes = bytes, .length = length};
    lock_names(&take, by, &name, 1);
    assert_int_equal(take.told[REDLOCK_ACQUIRED].times, 1);
    AWAIT(by, masters_with(key, key_length, redlock_lease_token(take.lease)) == 5);
    assert_code(take_release(&take), REDLOCK_OK);
    AWAIT(by, cluster_keys(&cluster) == 0);
}

static void refuse(const void *bytes, size_t length, const char *says)
{
    redlock_name name = {.size = sizeof(redlock_name), .bytes = bytes, .length = length};
    redlock_lease *lease = (void *)&name;
    redlock_code code = redlock_acquire_names(user.client, &lease, &name, 1, NULL, take_hear, NULL);
    assert_code(code, REDLOCK_E_NAME);
    assert_null(lease);
    assert_says(redlock_last_error(user.client), says);
}

CASE(test_any_bytes)
{
    static const struct {
        const char *bytes;
        size_t length;
#define BYTES(literal)                                                                             \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }
    } names[] = {BYTES("a"),
                 BYTES("with spaces  in it "),
                 BYTES(" "),
                 BYTES("nul\0in\0it\0"),
                 BYTES("\0"),
                 BYTES("line\r\nbreaks\n"),
                 BYTES("*3\r\n$3\r\nDEL\r\n"),
                 BYTES("caf\xc3\xa9 \xe9\x94\x81 \xf0\x9f\x94\x92"),
                 BYTES("\xff\xfe\x80"),
                 BYTES("%s%n%b"),
                 BYTES("redlock"),
                 BYTES("Redlock:x"),
                 BYTES("{tag}")};
    for (unsigned i = 0; i < COUNT(names); i++)
        lock_one(&user, names[i].bytes, names[i].length, names[i].bytes, names[i].length);
}

CASE(test_long_names)
{
    char *name = malloc(BIG + 1);
    memset(name, 'n', BIG + 1);
    lock_one(&user, name, BIG, name, BIG);
    refuse(name, BIG + 1, "over the limit");
    free(name);
}

CASE(test_refused_names)
{
    struct take take;
    refuse("", 0, "empty");
    refuse(NULL, 3, "empty");
    refuse("redlock:", 8, "redlock:");
    refuse("redlock:clock", 13, "redlock:");
    assert_code(redlock_acquire(user.client, &take.lease, NULL, NULL, take_hear, &take),
                REDLOCK_E_NAME);
    assert_code(redlock_acquire(user.client, &take.lease, "", NULL, take_hear, &take),
                REDLOCK_E_NAME);
    assert_code(redlock_acquire(user.client, &take.lease, "x", NULL, NULL, NULL),
                REDLOCK_E_ARGUMENT);
}

CASE(test_prefix)
{
    struct user other;
    redlock_options options = {.size = sizeof(redlock_options)};
    options.prefix = "app one/";
    options.request_timeout_ms = 1000;
    user_open(&other, &cluster, &options);
    lock_one(&other, "job\0x", 5, "app one/job\0x", 13);
    lock_one(&other, "redlock:job", 11, "app one/redlock:job", 19);
    char *name = malloc(BIG);
    memset(name, 'n', BIG);
    redlock_name over = {.size = sizeof(redlock_name), .bytes = name, .length = BIG - 7};
    struct take take;
    assert_code(redlock_acquire_names(other.client, &take.lease, &over, 1, NULL, take_hear, &take),
                REDLOCK_E_NAME);
    free(name);
    user_close_clean(&other, &cluster);

    /* A prefix does not open the door to the library's own keys. */
    options.prefix = "red";
    user_open(&other, &cluster, &options);
    assert_code(redlock_acquire(other.client, &take.lease, "lock:clock", NULL, take_hear, &take),
                REDLOCK_E_NAME);
    lock_one(&other, "lock", 4, "redlock", 7);
    user_close_clean(&other, &cluster);
}

CASE(test_counts)
{
    struct take take;
    redlock_name names[REDLOCK_NAMES_MAX + 1];
    char texts[REDLOCK_NAMES_MAX + 1][16];
    for (unsigned i = 0; i <= REDLOCK_NAMES_MAX; i++)
        names[i] = (redlock_name){.size = sizeof(redlock_name),
                                  .bytes = texts[i],
                                  .length = (size_t)snprintf(texts[i], 16, "name %u", i)};
    lock_names(&take, &user, names, REDLOCK_NAMES_MAX);
    assert_int_equal(take.told[REDLOCK_ACQUIRED].times, 1);
    AWAIT(&user, cluster_keys(&cluster) == 5 * REDLOCK_NAMES_MAX);
    assert_code(take_release(&take), REDLOCK_OK);
    AWAIT(&user, cluster_keys(&cluster) == 0);
    assert_code(redlock_acquire_names(user.client, &take.lease, names, REDLOCK_NAMES_MAX + 1, NULL,
                                      take_hear, &take),
                REDLOCK_E_NAME);
    assert_code(redlock_acquire_names(user.client, &take.lease, names, 0, NULL, take_hear, &take),
                REDLOCK_E_NAME);
    assert_code(redlock_acquire_names(user.client, &take.lease, NULL, 1, NULL, take_hear, &take),
                REDLOCK_E_NAME);
    names[2] = names[0];
    assert_code(redlock_acquire_names(user.client, &take.lease, names, 3, NULL, take_hear, &take),
                REDLOCK_E_NAME);
    assert_says(redlock_last_error(user.client), "twice: \"name 0\"");
}

/* The longest request there is, 64 KiB to each master. */
CASE(test_many_long_names)
{
    struct take take;
    redlock_name names[REDLOCK_NAMES_MAX];
    for (unsigned i = 0; i < REDLOCK_NAMES_MAX; i++) {
        char *name = malloc(BIG);
        memset(name, 'A' + (int)i % 26, BIG);
        name[0] = (char)i;
        names[i] = (redlock_name){.size = sizeof(redlock_name), .bytes = name, .length = BIG};
    }
    take_init(&take, &user);
    redlock_lease_options terms = lease_terms(20000, 10000);
    assert_code(redlock_acquire_names(user.client, &take.lease, names, REDLOCK_NAMES_MAX, &terms,
                                      take_hear, &take),
                REDLOCK_OK);
    AWAIT_MS(&user, take.outcomes, 15000);
    assert_int_equal(take.told[REDLOCK_ACQUIRED].times, 1);
    assert_code(redlock_lease_release(take.lease), REDLOCK_OK);
    AWAIT(&user, take.told[REDLOCK_RELEASED].times);
    take_free(&take);
    AWAIT(&user, cluster_keys(&cluster) == 0);
    for (unsigned i = 0; i < REDLOCK_NAMES_MAX; i++)
        free((void *)(uintptr_t)names[i].bytes);
}

PROGRAM(.masters = 5, .has_user = true)
