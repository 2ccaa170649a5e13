/*
 * Faults in the options: the library refuses them at once, with a sentence; or allows them, and
 * then they work.
 */
#include "fixture.h"
#include "user.h"

#include <float.h>
#include <math.h>
#include <sys/resource.h>
#include <unistd.h>

/* Room after a client's list must not be needed: the client is NULL. */
static void refuse(const redlock_options *options, redlock_code code, const char *says)
{
    struct ev_loop *loop = ev_loop_new(0);
    redlock *client = (void *)loop;
    char why[200] = "", little[5] = "####";
    assert_code(redlock_open(&client, loop, options, why, sizeof why), code);
    assert_null(client);
    assert_true(strlen(why) > 5);
    assert_says(why, says);
    assert_code(redlock_open(&client, loop, options, NULL, 0), code);
    assert_code(redlock_open(&client, loop, options, little, sizeof little), code);
    assert_int_equal(little[4], '\0');
    ev_run(loop, 0);
    ev_loop_destroy(loop);
}

static void refuse_nodes(const char *nodes, const char *says)
{
    redlock_options options = {.size = sizeof(redlock_options)};
    options.nodes = nodes;
    refuse(&options, REDLOCK_E_NODES, says);
}

/* The forms of an entry are those of unit/test_address. */
CASE(test_no_list)
{
    refuse_nodes("", "REDLOCK_NODES");
    refuse_nodes(NULL, "REDLOCK_NODES");
    refuse_nodes("redis://127.0.0.1:7001,rubbish://x", "rubbish");
}

static void works_with(const char *nodes, int spare, unsigned masters, unsigned quorum, bool warns)
{
    struct user user;
    struct take take;
    redlock_options options = {.size = sizeof(redlock_options)};
    options.nodes = nodes;
    options.spare = spare;
    options.request_timeout_ms = 1000;
    user_open(&user, NULL, &options);
    assert_code(user.ready_code, REDLOCK_OK);
    assert_int_equal(strstr(user.log, "odd") != NULL, warns);
    assert_code(take_lock(&take, &user, "works", NULL), REDLOCK_OK);
    assert_int_equal(take.told[REDLOCK_ACQUIRED].event.masters, masters);
    assert_int_equal(take.told[REDLOCK_ACQUIRED].event.quorum, quorum);
    AWAIT(&user, cluster_holders(&cluster, "works", redlock_lease_token(take.lease)) == masters);
    assert_code(take_release(&take), REDLOCK_OK);
    user_close_clean(&user, &cluster);
}

static void works(const char *nodes, unsigned masters, unsigned quorum, bool warns)
{
    works_with(nodes, 0, masters, quorum, warns);
}

CASE(test_numbers_of_masters)
{
    NEEDS_SERVERS();
    char *nodes = strdup(cluster.nodes);
    works_with(nodes, 1, 4, 3, false);
    works(nodes, 4, 3, true);
    *strrchr(nodes, ',') = '\0';
    works(nodes, 3, 2, false);
    *strrchr(nodes, ',') = '\0';
    works(nodes, 2, 2, true);
    *strrchr(nodes, ',') = '\0';
    works(nodes, 1, 1, false);
    setenv("REDLOCK_NODES", nodes, 1);
    works(NULL, 1, 1, false);
    unsetenv("REDLOCK_NODES");
    free(nodes);
}

static void works_with_file(const redlock_options *options)
{
    struct user user;
    user_open(&user, NULL, options);
    assert_code(user.ready_code, REDLOCK_OK);
    user_close_clean(&user, &cluster);
}

/* The environment's list comes before its file, the options before both. */
CASE(test_list_from_a_file)
{
    char path[] = "redlock-nodes-XXXXXX", why[256];
    redlock_options options = {.size = sizeof(redlock_options)};
    redlock *client;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, cluster.nodes, strlen(cluster.nodes)), strlen(cluster.nodes));
    close(fd);
    options.nodes_file = path;
    setenv("REDLOCK_NODES_FILE", "/nowhere", 1);
    works_with_file(&options);
    setenv("REDLOCK_NODES_FILE", path, 1);
    options.nodes_file = NULL;
    works_with_file(&options);
    unlink(path);
    assert_code(redlock_open(&client, EV_DEFAULT, &options, why, sizeof why), REDLOCK_E_NODES);
    assert_non_null(strstr(why, "cannot be read from"));
    setenv("REDLOCK_NODES", cluster.nodes, 1);
    works_with_file(&options);
    unsetenv("REDLOCK_NODES");
    unsetenv("REDLOCK_NODES_FILE");
}

/* Of this process alone: the other programs of this folder run beside it. */
static char path[32];

static void write_settings(const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* This prefix counts, and this label. */
static void holds_with(const redlock_options *options, const char *prefix, const char *label)
{
    struct user user;
    struct take take;
    char key[64];
    user_open(&user, NULL, options);
    assert_code(take_lock(&take, &user, "a", NULL), REDLOCK_OK);
    snprintf(key, sizeof key, "%sa", prefix);
    assert_non_null(strstr(redlock_lease_token(take.lease), label));
    AWAIT(&user, cluster_holders(&cluster, key, redlock_lease_token(take.lease)) == cluster.count);
    assert_code(take_release(&take), REDLOCK_OK);
    user_close_clean(&user, &cluster);
}

static void refuse_settings(const char *text, redlock_code code, const char *says)
{
    redlock_options options = {.size = sizeof(redlock_options)};
    options.config = path;
    write_settings(text);
    refuse(&options, code, says);
}

/* An option goes before its variable, and that before the file. */
CASE(test_settings_from_a_file)
{
    char text[sizeof cluster.nodes + 100];
    redlock_options options = {.size = sizeof(redlock_options)};
    snprintf(text, sizeof text, "# all\nmaster = %s\nprefix = file:\nlabel = of-file\n",
             cluster.nodes);
    write_settings(text);
    options.config = path;
    holds_with(&options, "file:", "of-file");
    setenv("REDLOCK_PREFIX", "environment:", 1);
    setenv("REDLOCK_LABEL", "of-environment", 1);
    holds_with(&options, "environment:", "of-environment");
    options.prefix = options.label = "option";
    holds_with(&options, "option", "option");
    unsetenv("REDLOCK_LABEL");
    setenv("REDLOCK_PREFIX", "", 1);
    options.prefix = NULL;
    holds_with(&options, "", "option");
    unsetenv("REDLOCK_PREFIX");
    char fleet[REDLOCK_NAME_MAX + 1] = "";
    setenv("REDLOCK_FLEET", memset(fleet, 'f', REDLOCK_NAME_MAX), 1);
    refuse(&options, REDLOCK_E_ARGUMENT, "fleet is longer than a name may be");
    unsetenv("REDLOCK_FLEET");
    options.config = "";
    setenv("REDLOCK_CONFIG", path, 1);
    holds_with(&options, "file:", "option");
    options.config = NULL;
    refuse(&options, REDLOCK_E_NODES, "no masters given");
    unlink(path);
    options.config = "";
    refuse(&options, REDLOCK_E_ARGUMENT, ".conf: there is no such file");
    unsetenv("REDLOCK_CONFIG");
}

CASE(test_wrong_settings_say_where)
{
    refuse_settings("max-ttl = 5s", REDLOCK_E_ARGUMENT, ".conf:1: there is");
    refuse_settings("# two\nmaster = a:1\n\nmaster = b:1, a:1", REDLOCK_E_NODES,
                    ".conf:4: master 3, \"a:1\": the same place as master 1");
    refuse_settings("spare = 0", REDLOCK_E_NODES, "no masters given");
    unlink(path);
}

/* The list may be right. */
CASE(test_no_descriptor_for_the_file)
{
    redlock_options options = {.size = sizeof(redlock_options)};
    redlock *client;
    char why[256];
    struct rlimit usual, none;
    options.nodes_file = "/dev/null";
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = usual.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    redlock_code code = redlock_open(&client, EV_DEFAULT, &options, why, sizeof why);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
    assert_code(code, REDLOCK_E_SYSTEM);
    assert_non_null(strstr(why, "Too many open files"));
    assert_code(redlock_open(&client, EV_DEFAULT, &options, why, sizeof why), REDLOCK_E_NODES);
}

CASE(test_spare_votes_that_a_refusal_stops)
{
    struct user user;
    char nodes[sizeof cluster.nodes + 40];
    redlock_options options = {.size = sizeof(redlock_options)};
    snprintf(nodes, sizeof nodes, "%s,redis://127.0.0.1:1", cluster.nodes);
    options.nodes = nodes;
    options.spare = 2;
    user_open(&user, NULL, &options);
    assert_code(user.ready_code, REDLOCK_OK);
    assert_says(user.log,
                "spare 2 of 5 masters: 2 wrong masters that refuse stop all locks; use 7 masters");
    user_close_clean(&user, &cluster);
    assert_int_equal(redlock_quorum(5, 2), 4);
}

CASE(test_bad_numbers)
{
#define REFUSE(field, value, says)                                                                 \
    do {                                                                                           \
        redlock_options options = {.size = sizeof(redlock_options)};                               \
        options.nodes = cluster.nodes;                                                             \
        options.field = (value);                                                                   \
        refuse(&options, REDLOCK_E_ARGUMENT, says);                                                \
    } while (0)
    REFUSE(spare, -2, "spare is negative");
    REFUSE(follow, 1, "follow must be");
    REFUSE(follow, -2, "follow must be");
    REFUSE(spare, 2, "spare 2 needs at least 5 masters, and 4 are listed");
    REFUSE(spare, 1000, "spare is larger than any list");
    REFUSE(drift_factor, -0.01, "drift_factor");
    REFUSE(drift_factor, 0.26, "drift_factor");
    REFUSE(drift_factor, (double)NAN, "drift_factor");
    REFUSE(drift_factor, (double)INFINITY, "drift_factor");
    REFUSE(max_ttl_ms, -1, "max_ttl_ms");
    REFUSE(max_ttl_ms, INT64_MAX, "max_ttl_ms");
    REFUSE(max_ttl_ms, INT64_MIN, "max_ttl_ms");
    REFUSE(clock_skew_ms, INT64_MAX, "clock_skew_ms");
    REFUSE(clock_skew_ms, -2, "clock_skew_ms");
    REFUSE(log_level, (redlock_level)2, "log_level");
    REFUSE(log_level, (redlock_level)-3, "log_level");
    REFUSE(connect_timeout_ms, -1, "connect_timeout_ms");
    REFUSE(connect_timeout_ms, INT64_MAX, "connect_timeout_ms");
    REFUSE(request_timeout_ms, -1, "request_timeout_ms");
    REFUSE(request_timeout_ms, INT64_MAX, "request_timeout_ms");
    REFUSE(restart_policy, (redlock_restart_policy)7, "restart_policy");
    REFUSE(label, "two words", "label");
    REFUSE(label, "new\nline", "label");
    REFUSE(label, "caf\xc3\xa9", "label");
    REFUSE(label, "0123456789012345678901234567890123456789012345678901234567890123x", "label");
    REFUSE(size, 0, "size");
    REFUSE(size, sizeof(size_t) - 1, "size");
    char *prefix = malloc(REDLOCK_NAME_MAX + 1);
    memset(prefix, 'p', REDLOCK_NAME_MAX);
    prefix[REDLOCK_NAME_MAX] = '\0';
    REFUSE(prefix, prefix, "prefix");
    free(prefix);
    struct ev_loop *loop = ev_loop_new(0);
    redlock *client;
    assert_code(redlock_open(NULL, loop, NULL, NULL, 0), REDLOCK_E_ARGUMENT);
    assert_code(redlock_open(NULL, NULL, NULL, NULL, 0), REDLOCK_E_ARGUMENT);
    assert_code(redlock_open(&client, NULL, NULL, NULL, 0), REDLOCK_E_NODES);
    assert_null(client);
    ev_loop_destroy(loop);
}

static void refuse_terms(struct user *user, const redlock_lease_options *terms, redlock_code code,
                         const char *says)
{
    struct take take;
    assert_code(redlock_acquire(user->client, &take.lease, "never", terms, take_hear, &take), code);
    assert_null(take.lease);
    assert_says(redlock_last_error(user->client), says);
}

CASE(test_local_turn)
{
    static const int64_t wrong[] = {-2, REDLOCK_LOCAL_TURN_MAX + 1, INT64_MIN, INT64_MAX},
                         right[] = {REDLOCK_ZERO, 0, 1, REDLOCK_LOCAL_TURN_MAX};
    redlock_options options = {.size = sizeof(redlock_options)};
    options.nodes = cluster.nodes;
    for (unsigned i = 0; i < COUNT(wrong); i++) {
        options.local_turn_ms = wrong[i];
        refuse(&options, REDLOCK_E_ARGUMENT, "local_turn_ms must be 1 to 500");
    }
    for (unsigned i = 0; i < COUNT(right); i++) {
        struct user user;
        options.local_turn_ms = right[i];
        user_open(&user, NULL, &options);
        user_close_clean(&user, &cluster);
    }
}

CASE(test_bad_ttls)
{
    struct user user;
    user_open(&user, &cluster, NULL);
    static const int64_t ttls[] = {-1, INT64_MIN, 1, 2, 30001, INT64_MAX, INT64_MAX / 1000};
    for (unsigned i = 0; i < COUNT(ttls); i++) {
        redlock_lease_options terms = lease_terms(ttls[i], 0);
        refuse_terms(&user, &terms, REDLOCK_E_TTL, "ttl");
    }
    redlock_lease_options terms = lease_terms(REDLOCK_ZERO, 0);
    refuse_terms(&user, &terms, REDLOCK_E_TTL, "a ttl of 0 ms is not above 0");
    terms.ttl_ms = 1000;
    terms.margin_ms = 988; /* the drift takes 12 */
    refuse_terms(&user, &terms, REDLOCK_E_TTL, "leaves no validity");
    terms.margin_ms = INT64_MAX;
    refuse_terms(&user, &terms, REDLOCK_E_TTL, "margin");
    terms.margin_ms = -2;
    refuse_terms(&user, &terms, REDLOCK_E_ARGUMENT, "margin_ms is -2");
    terms = lease_terms(1000, -1);
    refuse_terms(&user, &terms, REDLOCK_E_ARGUMENT, "wait_ms");
    terms = lease_terms(1000, INT64_MIN);
    refuse_terms(&user, &terms, REDLOCK_E_ARGUMENT, "wait_ms");
    terms = lease_terms(1000, 0);
    terms.max_hold_ms = -1;
    refuse_terms(&user, &terms, REDLOCK_E_ARGUMENT, "max_hold_ms");
    user_close_clean(&user, &cluster);
}

/* It is for threads: a program with callbacks has no outer call to come from. */
CASE(test_numbers_of_a_file_and_of_the_environment)
{
    struct user user;
    redlock_options options = {.size = sizeof(redlock_options)};
    redlock_lease_options terms = lease_terms(6000, 0);
    options.nodes = cluster.nodes;
    options.config = path;
    write_settings("max_ttl = 5s\nspare = 3\n");
    refuse(&options, REDLOCK_E_ARGUMENT, "spare 3 needs at least 6 masters");
    options.spare = REDLOCK_ZERO;
    user_open(&user, NULL, &options);
    refuse_terms(&user, &terms, REDLOCK_E_TTL, "above max_ttl_ms (5000)");
    user_close_clean(&user, &cluster);
    options.spare = 0;
    setenv("REDLOCK_SPARE", "1", 1);
    setenv("REDLOCK_MAX_TTL", "11s", 1);
    holds_with(&options, "", "");
    setenv("REDLOCK_SPARE", "-1", 1);
    refuse(&options, REDLOCK_E_ARGUMENT, "REDLOCK_SPARE is not a number of masters");
    unsetenv("REDLOCK_SPARE");
    setenv("REDLOCK_MAX_TTL", "6", 1);
    refuse(&options, REDLOCK_E_ARGUMENT, "REDLOCK_MAX_TTL is no duration with a unit");
    unsetenv("REDLOCK_MAX_TTL");
    unlink(path);
}

CASE(test_reentrant_is_for_threads)
{
    struct user user;
    struct take take;
    redlock_name name = NAME("never");
    redlock_lease_options terms = lease_terms(1000, 0);
    terms.reentrant = true;
    user_open(&user, &cluster, NULL);
    refuse_terms(&user, &terms, REDLOCK_E_ARGUMENT, "redlock/sync.h");
    assert_code(redlock_attach(user.client, &take.lease, &name, 1, "t", &terms, take_hear, &take),
                REDLOCK_E_ARGUMENT);
    assert_null(take.lease);
    assert_says(redlock_last_error(user.client), "redlock/sync.h");
    user_close_clean(&user, &cluster);
}

CASE(test_who_looks_only)
{
    NEEDS_SERVERS();
    struct user user;
    struct take take;
    struct seen seen;
    redlock_options options = {.size = sizeof(redlock_options)};
    redlock_lease_options terms = lease_terms(1000, 0);
    redlock_name name = NAME("never");
    options.looks_only = true;
    options.request_timeout_ms = 1000;
    options.max_ttl_ms = 3600000;
    user_open(&user, &cluster, &options);
    refuse_terms(&user, &terms, REDLOCK_E_ARGUMENT, "looks_only");
    assert_code(redlock_attach(user.client, &take.lease, &name, 1, "t", NULL, take_hear, &take),
                REDLOCK_E_ARGUMENT);
    assert_code(redlock_release_token(user.client, &take.lease, &name, 1, "t", take_hear, &take),
                REDLOCK_E_ARGUMENT);
    assert_code(redlock_node_adopt(user.client, 0), REDLOCK_E_ARGUMENT);
    look_at(&seen, &user, "never");
    assert_code(seen.result.code, REDLOCK_OK);
    /* No master knows of its longest ttl (rule: Q6). */
    assert_int_equal(cluster_answering(&cluster, 0, "EVAL %s 0",
                                       "local m = redis.call('hget', 'redlock:clock', 'm')"
                                       "return tonumber(m or '0') >= 3600000 and 1 or 0"),
                     cluster.count);
    user_close_clean(&user, &cluster);
}

/* Huge waits and holds are as good as for ever; a bad extend leaves the lease alone. */
CASE(test_extremes_that_work)
{
    struct user user;
    struct take take;
    user_open(&user, &cluster, NULL);
    redlock_lease_options terms = lease_terms(30000, INT64_MAX - 1);
    terms.max_hold_ms = INT64_MAX;
    assert_code(take_lock(&take, &user, "huge", &terms), REDLOCK_OK);
    static const int64_t ttls[] = {-1, 1, 30001, INT64_MAX, INT64_MIN};
    for (unsigned i = 0; i < COUNT(ttls); i++)
        assert_code(redlock_lease_extend(take.lease, ttls[i]), REDLOCK_E_TTL);
    assert_true(redlock_lease_valid_for(take.lease) > 25000);
    assert_code(redlock_lease_extend(take.lease, 5000), REDLOCK_OK);
    assert_code(redlock_lease_extend(take.lease, 5000), REDLOCK_E_STATE);
    AWAIT(&user, take.told[REDLOCK_EXTENDED].times);
    assert_true(redlock_lease_valid_for(take.lease) > 25000); /* never shortened */
    assert_code(take_release(&take), REDLOCK_OK);
    user_close_clean(&user, &cluster);
}

/* A struct that nobody has filled, or of another version: nothing behind its size is read. */
CASE(test_sizes_that_no_version_had)
{
    static const size_t wrong[] = {0,    1,       sizeof(size_t), offsetof(redlock_options, label),
                                   4096, SIZE_MAX};
    struct user user;
    redlock_options options;
    redlock_lease_options terms;
    redlock_place place;
    user_open(&user, &cluster, NULL);
    for (unsigned i = 0; i < COUNT(wrong); i++) {
        char says[96];
        memset(&options, 0xee, sizeof options);
        options.size = wrong[i];
        snprintf(says, sizeof says, "redlock_options.size is %zu, and not %zu", wrong[i],
                 sizeof options);
        refuse(&options, REDLOCK_E_ARGUMENT, says);
        memset(&terms, 0xee, sizeof terms);
        terms.size = wrong[i];
        refuse_terms(&user, &terms, REDLOCK_E_ARGUMENT, "redlock_lease_options.size is");
    }
    struct take take;
    assert_code(take_lock(&take, &user, "sized", NULL), REDLOCK_OK);
    memset(&place, 0xee, sizeof place);
    assert_code(redlock_lease_place(take.lease, &place), REDLOCK_E_ARGUMENT);
    assert_int_equal(place.position, 0xeeeeeeee);
    assert_code(take_release(&take), REDLOCK_OK);
    user_close_clean(&user, &cluster);
}

static void begin(void)
{
    snprintf(path, sizeof path, "settings-%d.conf", (int)getpid());
    unsetenv("REDLOCK_NODES");
}

PROGRAM(.masters = 4, .begun = begin)
