/*
 * Masters tell a client which list takes the place of its own, and it gives new ones a login.
 * rule: D1, D3, D14, D15
 */
#include "lists_in_use.h"
#include "scene.h"

#define FLEET "fleet"
#define LOGIN "us%40er:p%3Aa%40ss%2F%3F%25"
#define RULES "ACL SETUSER us@er on >p:a@ss/?%% ~* &* +@all"

static struct user ours;
static unsigned told;             /* times that on_node found another list */
static char last[NODES_SIZE * 2]; /* "": none */

/* Without the terms of TLS that the environment says. */
static void look(redlock *client)
{
    const char *nodes = redlock_successor(client);
    snprintf(last, sizeof last, "%s", nodes ? nodes : "");
    for (char *terms; (terms = strstr(last, "?ca="));)
        memmove(terms, terms + strcspn(terms, ","), strlen(terms + strcspn(terms, ",")) + 1);
}

static void on_node(redlock *client, unsigned node, void *data)
{
    char before[sizeof last];
    (void)node, (void)data;
    memcpy(before, last, sizeof last);
    look(client);
    told += last[0] && strcmp(before, last) != 0;
}

static size_t put_node(char *nodes, size_t used, const char *login, unsigned master)
{
    return used + (size_t)snprintf(nodes + used, NODES_SIZE - used, "%s%s%s127.0.0.1:%d",
                                   used ? "," : "", login[0] ? cluster_scheme() : cluster_mark(),
                                   login, scene.cluster.ports[master]);
}

/* "redis://user:password@127.0.0.1:7001,…"; without a login as masters tell it. */
static const char *list_of(const char *login, unsigned first, unsigned count)
{
    static char lists[4][NODES_SIZE];
    static unsigned turn;
    char *nodes = lists[turn++ % 4];
    size_t used = 0;
    for (unsigned i = first; i < first + count; i++)
        used = put_node(nodes, used, login, i);
    return nodes;
}

#define SCHEME_LOGIN "://" LOGIN "@"

static void begin(unsigned count)
{
    redlock_options options = scene_options(&scene);
    told = 0;
    last[0] = '\0';
    cluster_tell_all(&scene.cluster, RULES);
    options.nodes = list_of(SCHEME_LOGIN, 0, count);
    options.fleet = FLEET;
    options.on_node = on_node;
    user_begin(&ours, scene.loop, NULL, &options);
    AWAIT(&ours, ours.ready && user_all_up(&ours));
}

/* As a tool does; its client has told them all when it has been answered. */
static void end_list(unsigned count, const char *successor)
{
    struct user tool;
    struct lists_used used;
    redlock_options options = scene_options(&scene);
    options.nodes = list_of(SCHEME_LOGIN, 0, count);
    options.fleet = FLEET;
    options.looks_only = true;
    user_begin(&tool, scene.loop, NULL, &options);
    redlock_list_end(tool.client, successor, UINT16_MAX);
    AWAIT_MS(&tool, (redlock_lists_used(tool.client, &used), used.over == (1U << count) - 1),
             LIST_ENDS_MS);
    assert_int_equal(user_end(&tool, 5000), 0);
}

#define ENDS "redlock:lists:" FLEET ":over:ends"

/* The field in which a master keeps that the list is over, beside that of the changes. */
static char *field_of_end(char field[160])
{
    redisReply *reply = cluster_ask(&scene.cluster, 0, "HKEYS " ENDS);
    assert_non_null(reply);
    assert_int_equal(reply->elements, 2);
    bool is_second = strcmp(reply->element[0]->str, "changes") == 0;
    snprintf(field, 160, "%s", reply->element[is_second]->str);
    freeReplyObject(reply);
    return field;
}

/* The client connects again, and asks. */
static void let_ask(unsigned master)
{
    uint64_t connects = stats_of(&ours).connects;
    cluster_tell(&scene.cluster, master, "CLIENT KILL TYPE normal");
    AWAIT(&ours, stats_of(&ours).connects > connects && user_all_up(&ours) && user_is_quiet(&ours));
}

static const char *successor_now(void)
{
    look(ours.client);
    return last;
}

static void end(void)
{
    assert_int_equal(user_end(&ours, 5000), 0);
}

/* One after the other tells it. */
SCENE(test_told_by_a_quorum, .masters = 6)
{
    char field[160];
    begin(5);
    assert_null(redlock_successor(ours.client));
    end_list(5, list_of("", 0, 6));
    field_of_end(field);
    for (unsigned i = 2; i < 5; i++)
        cluster_tell(&scene.cluster, i, "HDEL " ENDS " %s", field);
    let_ask(0);
    let_ask(1);
    assert_string_equal(successor_now(), "");
    cluster_tell(&scene.cluster, 4, "HSET " ENDS " %s %s", field, list_of("", 0, 6));
    let_ask(4);
    AWAIT(&ours, told == 1);
    assert_string_equal(last, list_of(SCHEME_LOGIN, 0, 6));
    cluster_tell(&scene.cluster, 3, "HSET " ENDS " %s %s", field, list_of("", 0, 6));
    let_ask(3);
    assert_int_equal(told, 1);
    end();
}

/* Three say that it is over, and two of these tell of one list; then that is another one. */
SCENE(test_they_must_tell_the_same, .masters = 6)
{
    char field[160];
    begin(5);
    end_list(5, list_of("", 0, 6));
    field_of_end(field);
    for (unsigned i = 2; i < 5; i++)
        cluster_tell(&scene.cluster, i, "HSET " ENDS " %s %s", field, list_of("", 1, 5));
    cluster_tell(&scene.cluster, 2, "HDEL " ENDS " %s", field);
    for (unsigned i = 0; i < 5; i++)
        let_ask(i);
    assert_string_equal(successor_now(), "");
    cluster_tell(&scene.cluster, 2, "HSET " ENDS " %s %s", field, list_of("", 1, 5));
    let_ask(2);
    AWAIT(&ours, told == 1);
    assert_string_equal(last, list_of(SCHEME_LOGIN, 1, 5));
    cluster_tell(&scene.cluster, 2, "HSET " ENDS " %s %s", field, list_of("", 0, 6));
    let_ask(2);
    AWAIT(&ours, told == 2);
    assert_string_equal(last, list_of(SCHEME_LOGIN, 0, 6));
    for (unsigned i = 0; i < 3; i++)
        cluster_tell(&scene.cluster, i, "HDEL " ENDS " %s", field);
    let_ask(0);
    assert_string_equal(successor_now(), "");
    end();
}

/* Two commands at one moment: each has ended the list on half of its masters.  Lists of both would
 * not exclude each other.  Then a tool has taken one end back, and its master has the other one. */
SCENE(test_half_of_the_masters_lead_nowhere, .masters = 6)
{
    char field[160];
    struct take take;
    begin(4);
    end_list(4, list_of("", 0, 5));
    field_of_end(field);
    for (unsigned i = 2; i < 4; i++)
        cluster_tell(&scene.cluster, i, "HSET " ENDS " %s %s", field, list_of("", 2, 4));
    for (unsigned i = 0; i < 4; i++)
        let_ask(i);
    assert_string_equal(successor_now(), "");
    assert_int_equal(told, 0);
    assert_code(take_lock(&take, &ours, "name", NULL), REDLOCK_E_DIFFERS);
    assert_non_null(
        strstr(take.told[REDLOCK_NOT_ACQUIRED].text, "no quorum tells the one in its place"));
    cluster_tell(&scene.cluster, 1, "HSET " ENDS " %s %s", field, list_of("", 2, 4));
    let_ask(1);
    AWAIT(&ours, told == 1);
    assert_string_equal(last, list_of(SCHEME_LOGIN, 2, 4));
    cluster_tell(&scene.cluster, 0, "HSET " ENDS " %s %s", field, list_of("", 2, 4));
    cluster_tell(&scene.cluster, 3, "HSET " ENDS " %s %s", field, list_of("", 0, 5));
    let_ask(0);
    let_ask(3);
    take_free(&take);
    assert_code(take_lock(&take, &ours, "name", NULL), REDLOCK_E_DIFFERS);
    assert_non_null(strstr(take.told[REDLOCK_NOT_ACQUIRED].text, list_of("", 2, 4)));
    end();
}

/* Masters sort as they like. */
SCENE(test_the_order_is_no_matter, .masters = 4)
{
    char field[160];
    const char *one = list_of("", 0, 2), *other = list_of("", 2, 1);
    begin(3);
    end_list(3, list_of("", 0, 3));
    field_of_end(field);
    cluster_tell(&scene.cluster, 0, "HSET " ENDS " %s %s,%s", field, one, other);
    cluster_tell(&scene.cluster, 1, "HSET " ENDS " %s %s,%s", field, other, one);
    cluster_tell(&scene.cluster, 2, "HDEL " ENDS " %s", field);
    let_ask(0);
    let_ask(1);
    AWAIT(&ours, told == 1);
    end();
}

/* A client of the next list needs no more. */
SCENE(test_a_client_goes_over, .masters = 6)
{
    struct user next;
    struct take take;
    redlock_options options = scene_options(&scene);
    begin(5);
    assert_code(take_lock(&take, &ours, "name", NULL), REDLOCK_OK);
    end_list(5, list_of("", 0, 6));
    for (unsigned i = 0; i < 3; i++)
        let_ask(i);
    AWAIT(&ours, told == 1);
    options.nodes = redlock_successor(ours.client);
    options.fleet = FLEET;
    user_begin(&next, scene.loop, NULL, &options);
    assert_code(redlock_relist(ours.client, next.client, NULL, NULL), REDLOCK_OK);
    AWAIT(&next, !redlock_is_busy(ours.client));
    assert_int_equal(take.told[REDLOCK_MOVED].times, 1);
    redlock_free(ours.client);
    assert_true(user_all_up(&next));
    assert_code(take_release(&take), REDLOCK_OK);
    assert_int_equal(user_end(&next, 5000), 0);
}

/* ---- Whose login ------------------------------------------------------------------- */

/* Tells two of three masters, and asks the client. */
static void assert_becomes(const char *list, const char *now, const char *entries)
{
    char field[160];
    redlock_options options = scene_options(&scene);
    options.nodes = list;
    options.fleet = FLEET;
    user_begin(&ours, scene.loop, NULL, &options);
    AWAIT(&ours, ours.ready && user_all_up(&ours));
    struct user tool;
    struct lists_used used;
    options.looks_only = true;
    user_begin(&tool, scene.loop, NULL, &options);
    redlock_list_end(tool.client, now, UINT16_MAX);
    AWAIT_MS(&tool, (redlock_lists_used(tool.client, &used), used.over == 3), LIST_ENDS_MS);
    assert_int_equal(user_end(&tool, 5000), 0);
    for (unsigned i = 0; i < 2; i++)
        let_ask(i);
    assert_string_equal(successor_now(), entries);
    end();
    cluster_tell_all(&scene.cluster, "HDEL " ENDS " %s", field_of_end(field));
}

/* "~" is a master that has the scheme of all and the login of the first one, "^" one as masters
 * tell it. */
static const char *entries_of(const char *format, ...)
{
    static char texts[4][NODES_SIZE];
    static unsigned turn;
    char pattern[NODES_SIZE], *to = texts[turn++ % 4];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(pattern, sizeof pattern, format, arguments);
    va_end(arguments);
    to[0] = '\0';
    for (const char *at = pattern; *at; at++)
        snprintf(to + strlen(to), NODES_SIZE - strlen(to), "%s%.*s",
                 *at == '~'   ? cluster_scheme()
                 : *at == '^' ? cluster_mark()
                              : "",
                 *at == '~'   ? (int)sizeof SCHEME_LOGIN
                 : *at == '^' ? 0
                              : 1,
                 *at == '~' ? SCHEME_LOGIN : at);
    return to;
}

SCENE(test_whose_login, .masters = 2)
{
    int one = scene.cluster.ports[0], two = scene.cluster.ports[1];
    cluster_tell_all(&scene.cluster, RULES);
    cluster_tell_all(&scene.cluster, "ACL SETUSER default >other");
    const char *second = entries_of("%s://:other@localhost:%d", cluster_scheme(), two);
    const char *list = strdup(entries_of("~127.0.0.1:%d,%s", one, second));
    assert_becomes(list, entries_of("^127.0.0.1:%d,^localhost:%d", one, two), list);
    assert_becomes(list, entries_of("^localhost:%d,^127.0.0.1:%d", two, one),
                   entries_of("%s,~127.0.0.1:%d", second, one));
    assert_becomes(list, entries_of("^127.0.0.2:1,^LOCALHOST:2/3"),
                   entries_of("~127.0.0.2:1,%s://:other@LOCALHOST:2/3", cluster_scheme()));
    assert_becomes(list, entries_of("^[::1]:7"), entries_of("~[::1]:7"));
    assert_becomes(list, entries_of("^evil@h?verify=none"),
                   entries_of("~evil%%40h%%3Fverify%%3Dnone"));
    free((void *)list);
}

/* A list without TLS leads there, and none that has it leads away from it, except to places that
 * the client's own list has with it. */
SCENE(test_with_and_without_tls, .masters = 2)
{
    bool tls = cluster_mark()[0];
    cluster_tell_all(&scene.cluster, RULES);
    const char *list = list_of(SCHEME_LOGIN, 0, 2);
    int one = scene.cluster.ports[0];
    assert_becomes(list, "rediss://h:1", "rediss://" LOGIN "@h:1");
    assert_becomes(list, "rediss://unix:/a", "rediss://" LOGIN "@unix:/a");
    assert_becomes(list, "redis://h:1", tls ? "" : "redis://" LOGIN "@redis://h:1");
    assert_becomes(list, "h:1", tls ? "" : "redis://" LOGIN "@h:1");
    assert_becomes(list, "unix:/a%b?db=2", tls ? "" : "unix://" LOGIN "@/a%25b?db=2");
    assert_becomes(list, entries_of("127.0.0.1:%d,rediss://h:1", one),
                   entries_of("~127.0.0.1:%d,%s", one, "rediss://" LOGIN "@h:1"));
    assert_becomes(list, entries_of("^127.0.0.1:%d,h:1", one),
                   tls ? "" : entries_of("~127.0.0.1:%d,~h:1", one));
}

PROGRAM(.masters = 0)
