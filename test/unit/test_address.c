/* The list of masters, as people write it. */
#include "address.h"

#include "tls.h"
#include "unit.h"

#define MAX 5

static struct address addresses[MAX];
static char why[400];

static int parse(const char *list)
{
    return addresses_parse(addresses, MAX, list, why, sizeof why);
}

static void assert_same(const char *is, const char *wanted)
{
    if (wanted)
        assert_non_null(is);
    else
        assert_null(is);
    if (wanted)
        assert_string_equal(is, wanted);
}

struct wanted {
    const char *text, *host, *path, *user, *password, *shown;
    int port, db;
};

static void assert_address(const struct address *is, const struct wanted *wanted)
{
    assert_same(is->host, wanted->host);
    assert_same(is->path, wanted->path);
    assert_same(is->user, wanted->user);
    assert_same(is->password, wanted->password);
    assert_same(is->shown, wanted->shown);
    assert_int_equal(is->db, wanted->db);
    if (is->host)
        assert_int_equal(is->port, wanted->port);
}

CASE(every_form_of_an_entry)
{
    static const struct wanted forms[] = {
        {"redis://localhost", "localhost", NULL, NULL, NULL, "localhost:6379", 6379, 0},
        {"REDIS://localhost/", "localhost", NULL, NULL, NULL, "localhost:6379", 6379, 0},
        {"redis://10.0.0.1:7101", "10.0.0.1", NULL, NULL, NULL, "10.0.0.1:7101", 7101, 0},
        {"10.0.0.1:7101", "10.0.0.1", NULL, NULL, NULL, "10.0.0.1:7101", 7101, 0},
        {"[::1]:7101", "::1", NULL, NULL, NULL, "[::1]:7101", 7101, 0},
        {"redis://h:1/0", "h", NULL, NULL, NULL, "h:1", 1, 0},
        {"redis://h:65535/65535", "h", NULL, NULL, NULL, "h:65535/65535", 65535, 65535},
        {"redis://[::1]", "::1", NULL, NULL, NULL, "[::1]:6379", 6379, 0},
        {"redis://[fe80::1%eth0]:7101/3", "fe80::1%eth0", NULL, NULL, NULL, "[fe80::1%eth0]:7101/3",
         7101, 3},
        {"redis://ann:pw@h", "h", NULL, "ann", "pw", "h:6379", 6379, 0},
        {"redis://ann@h", "h", NULL, "ann", NULL, "h:6379", 6379, 0},
        {"redis://ann:@h", "h", NULL, "ann", "", "h:6379", 6379, 0},
        {"redis://:pw@h:7/2", "h", NULL, NULL, "pw", "h:7/2", 7, 2},
        {"redis://@h", "h", NULL, NULL, NULL, "h:6379", 6379, 0},
        {"redis://a%3Ab:p%40%2f%25%C3%a9@h", "h", NULL, "a:b", "p@/%\xc3\xa9", "h:6379", 6379, 0},
        {"redis://ann:p:w@x@h", "h", NULL, "ann", "p:w@x", "h:6379", 6379, 0},
        {"redis://ann:p/w@h:1", "h", NULL, "ann", "p/w", "h:1", 1, 0},
        {"unix:///run/redis.sock", NULL, "/run/redis.sock", NULL, NULL, "unix:/run/redis.sock", 0,
         0},
        {"unix:///a%20b%3f%01?db=4", NULL, "/a b?\x01", NULL, NULL,
         "unix:/a b??"
         "?db=4",
         0, 4},
        {"unix://ann:pw@/r@s.sock", NULL, "/r@s.sock", "ann", "pw", "unix:/r@s.sock", 0, 0},
        {"unix://:pw@/s", NULL, "/s", NULL, "pw", "unix:/s", 0, 0},
    };
    for (unsigned i = 0; i < COUNT(forms); i++) {
        if (parse(forms[i].text) != 1)
            fail_msg("%s: %s", forms[i].text, why);
        assert_address(&addresses[0], &forms[i]);
        addresses_clear(addresses, 1);
        assert_null(addresses[0].shown);
    }
}

CASE(commas_or_white_space_separate)
{
    const char *lists[] = {
        "redis://a,redis://b,redis://c",          "redis://a redis://b\tredis://c",
        "  redis://a , redis://b\n redis://c \n", "redis://a ,redis://b, redis://c",
        "redis://a,redis://b,redis://c,",         "redis://a redis://b redis://c ,\n"};
    for (unsigned i = 0; i < COUNT(lists); i++) {
        assert_int_equal(parse(lists[i]), 3);
        assert_string_equal(addresses[0].host, "a");
        assert_string_equal(addresses[1].host, "b");
        assert_string_equal(addresses[2].host, "c");
        addresses_clear(addresses, 3);
    }
}

CASE(wrong_lists_say_what_is_wrong)
{
    static const struct {
        const char *list, *complaint, *entry;
    } wrong[] = {
        {"", "no masters are given", "redis://"},
        {" \n ", "no masters are given", "unix://"},
        {"redis://a,,redis://b", "an empty entry", "master 2"},
        {"redis://a, ,redis://b", "an empty entry", "master 2"},
        {",redis://a", "an empty entry", "master 1"},
        {"redis://a,,", "an empty entry", "master 2"},
        {",", "an empty entry", "master 1"},
        {"memory://5", "link libredlock-testing", "master 1, \"memory://5\""},
        {"localhost", "expected redis://", "master 1, \"localhost\""},
        {"localhost:", "expected redis://", "master 1, \"localhost:\""},
        {"localhost:6379/1", "expected redis://", "master 1, \"localhost:6379/1\""},
        {"localhost:65536", "port must be a number from 1 to 65535", "\"localhost:65536\""},
        {":6379", "host is missing", "\":6379\""},
        {"::1:6379", "goes into brackets", "master 1"},
        {"u:hunter2@h:6379", "expected redis://", "\"***@h:6379\""},
        {"h:1,redis://h:1", "the same place as master 1", "master 2, \"redis://h:1\""},
        {"http://h", "expected redis://", "\"http://h\""},
        {"redis:/h", "expected redis://", "master 1"},
        {"redis://", "host is missing", "\"redis://\""},
        {"redis://:7101", "host is missing", "\"redis://:7101\""},
        {"redis:///1", "host is missing", "\"redis:///1\""},
        {"redis://h_o!st", "character that no host name has", "\"redis://h_o!st\""},
        {"redis://%6c:1", "character that no host name has", "\"redis://%6c:1\""},
        {"redis://::1:6379", "goes into brackets", "master 1"},
        {"redis://[::1", "goes into brackets", "master 1"},
        {"redis://[::1]x", "character that no host name has", "\"redis://[::1]x\""},
        {"redis://[localhost]", "character that no host name has", "\"redis://[localhost]\""},
        {"redis://[]:1", "host is missing", "master 1"},
        {"redis://h:0", "port must be a number from 1 to 65535", "\"redis://h:0\""},
        {"redis://h:65536", "port must be a number from 1 to 65535", "\"redis://h:65536\""},
        {"redis://h:999999999999", "port must be a number from 1 to 65535", "999999999999"},
        {"redis://h:", "port must be a number from 1 to 65535", "\"redis://h:\""},
        {"redis://h:-1", "port must be a number from 1 to 65535", "\"redis://h:***\""},
        {"redis://h/x", "database must be a number from 0 to 65535", "\"redis://h/x\""},
        {"redis://h/65536", "database must be a number from 0 to 65535", "master 1"},
        {"redis://h/-1", "database must be a number from 0 to 65535", "master 1"},
        {"redis://h/1/2", "database must be a number from 0 to 65535", "master 1"},
        {"redis://:@h", "no password after the ':'", "\"redis://***@h\""},
        {"redis://a%:b@h", "the user has a '%'", "\"redis://***@h\""},
        {"redis://a:%4@h", "the password has a '%'", "\"redis://***@h\""},
        {"redis://a:%00@h", "the password has a '%'", "\"redis://***@h\""},
        {"redis://a:%zz@h", "the password has a '%'", "\"redis://***@h\""},
        {"unix:///a%0gb", "the path has a '%'", "\"unix:///a%0gb\""},
        {"unix:///a%00b", "the path has a '%'", "master 1"},
        {"unix:///a%", "the path has a '%'", "master 1"},
        {"unix://", "path must be absolute", "\"unix://\""},
        {"unix://run/redis.sock", "path must be absolute", "\"unix://run/redis.sock\""},
        {"unix:///s?dB=1", "only ?db=N may follow", "master 1"},
        {"unix:///s?", "only ?db=N may follow", "master 1"},
        {"unix:///s?db=", "database must be a number", "master 1"},
        {"unix:///s?db=1x", "database must be a number", "master 1"},
        {"redis://a redis://b redis://c redis://d redis://e redis://f",
         "too many masters, at most 5", "master 6"},
        {"redis://Host:6379 redis://b redis://hOST", "same place as master 1, \"Host:6379\"",
         "master 3, \"redis://hOST\""},
        {"redis://a/1,redis://x:y@a:6379/2", "same place as master 1, \"a:6379/1\"",
         "\"redis://***@a:6379/2\""},
        {"unix:///s unix://:p@/%73?db=3", "same place as master 1, \"unix:/s\"", "master 2"},
        {"redis://a\x01"
         "b",
         "character that no host name has", "\"redis://a?b\""},
    };
    for (unsigned i = 0; i < COUNT(wrong); i++) {
        if (parse(wrong[i].list) != -1)
            fail_msg("taken: %s", wrong[i].list);
        if (!strstr(why, wrong[i].complaint) || !strstr(why, wrong[i].entry))
            fail_msg("%s: %s", wrong[i].list, why);
        assert_null(addresses[0].shown);
    }
}

/* ---- TLS ---- */

#define ALL "rediss://ann:pw@h:7/2?ca=/a%20b&cert=c&key=k&name=n&sni=&verify=none"

static void assert_terms(const struct tls_terms *terms, const char *const said[TLS_SETTINGS])
{
    assert_true(terms->wanted);
    for (int i = 0; i < TLS_SETTINGS; i++)
        assert_same(terms->said[i], said[i]);
}

CASE(parameters_of_tls)
{
    static const struct {
        const char *text, *said[TLS_SETTINGS];
    } forms[] = {
        {"rediss://h", {0}},
        {"REDISS://h/", {0}},
        {"rediss://h?", {0}},
        {"rediss://h:1?ca=x", {[TLS_CA] = "x"}},
        {"rediss://h/3?name=redis.test&", {[TLS_NAME] = "redis.test"}},
        {"rediss://[::1]:7?verify=full", {[TLS_VERIFY] = "full"}},
        {"rediss://h?ca=%26%3f%40%2C%3d=", {[TLS_CA] = "&?@,=="}},
        {ALL, {"/a b", "c", "k", "n", "", "none"}},
    };
    if (!tls_is_built)
        skip();
    for (unsigned i = 0; i < COUNT(forms); i++) {
        if (parse(forms[i].text) != 1)
            fail_msg("%s: %s", forms[i].text, why);
        assert_terms(&addresses[0].tls, forms[i].said);
        assert_true(addresses_check(addresses, 1, why, sizeof why));
        addresses_clear(addresses, 1);
    }
    assert_int_equal(parse(ALL), 1);
    assert_address(
        &addresses[0],
        &(struct wanted){
            .host = "h", .user = "ann", .password = "pw", .shown = "h:7/2", .port = 7, .db = 2});
    addresses_clear(addresses, 1);
}

CASE(wrong_parameters_say_what_is_wrong)
{
    static const struct {
        const char *list, *complaint;
    } wrong[] = {
        {"rediss://h?x=1", "may stand ca=, cert="},      {"rediss://h?ca", "may stand ca=, cert="},
        {"rediss://h?ca=a&&sni=b", "may stand"},         {"rediss://h?CA=a", "may stand"},
        {"rediss://h?ca=a&ca=b", "ca is given twice"},   {"rediss://h?key=%", "the key has a '%'"},
        {"rediss://h?name=%00", "the name has a '%'"},   {"rediss://p?w@h", "is written %3F"},
        {"rediss://h?ca=/a@b", "a '@' in a parameter"},  {"rediss://h?db=1", "may stand ca="},
        {"redis://h?ca=a", "for rediss://, which is"},   {"redis://h:1/2?ca=a", "for rediss://"},
        {"rediss://?ca=a", "host is missing"},           {"rediss://h:x?ca=a", "port must be"},
        {"rediss://h redis://h", "same place as master"}};
    static const char *const senseless[][2] = {{"rediss://h?key=k", "a key, but no cert"},
                                               {"rediss://h?ca=", "but not be empty"},
                                               {"rediss://h?name=.h", "does not begin with a dot"},
                                               {"rediss://h?name=", "but not be empty"},
                                               {"rediss://h?verify=no", "none or full"},
                                               {"rediss://h?verify=", "none or full"},
                                               {"rediss://h?verify=None", "none or full"}};
    if (!tls_is_built)
        skip();
    for (unsigned i = 0; i < COUNT(wrong); i++)
        if (parse(wrong[i].list) != -1 || !strstr(why, wrong[i].complaint))
            fail_msg("%s: %s", wrong[i].list, why);
    for (unsigned i = 0; i < COUNT(senseless); i++) {
        assert_int_equal(parse(senseless[i][0]), 1);
        assert_false(addresses_check(addresses, 1, why, sizeof why));
        if (!strstr(why, senseless[i][1]) || !strstr(why, "master 1, \"h:6379\""))
            fail_msg("%s: %s", senseless[i][0], why);
        addresses_clear(addresses, 1);
    }
}

/* An address's own words count, and a key belongs to the certificate beside it. */
CASE(what_is_usual_fills_the_rest)
{
    static const char *const usual[TLS_SETTINGS] = {"CA", "CERT", "KEY", NULL, "SNI", "none"};
    if (!tls_is_built)
        skip();
    assert_int_equal(parse("rediss://a?ca=x&sni= rediss://b?cert=y redis://c"), 3);
    assert_true(addresses_complete(addresses, 3, usual));
    assert_terms(&addresses[0].tls, (const char *[]){"x", "CERT", "KEY", NULL, "", "none"});
    assert_terms(&addresses[1].tls, (const char *[]){"CA", "y", NULL, NULL, "SNI", "none"});
    assert_false(tls_terms_verify(&addresses[0].tls));
    assert_null(addresses[2].tls.said[TLS_CA]);
    addresses_clear(addresses, 3);
}

CASE(without_openssl_tls_is_refused)
{
    if (tls_is_built)
        skip();
    assert_int_equal(parse("redis://a,rediss://:hunter2@h:1?ca=x"), -1);
    assert_non_null(strstr(why, "master 2, \"rediss://***@h:1?ca=x\": this build has no TLS"));
}

CASE(different_places_may_look_alike)
{
    assert_int_equal(parse("redis://a redis://a:6380 unix:///s unix:///S unix:///a"), 5);
    addresses_clear(addresses, 5);
}

/* Place, database and TLS must be the same; the login of another entry is none of its business. */
CASE(a_login_is_taken_from_the_same_entry)
{
    static const struct {
        const char *ours, *list, *user, *password;
        enum login_change change;
    } cases[] = {
        {"redis://a", "redis://b redis://:new@A:6379", NULL, "new", LOGIN_NEW},
        {"redis://:old@a", "redis://ann:new@a", "ann", "new", LOGIN_NEW},
        {"redis://ann:old@a", "redis://a", NULL, NULL, LOGIN_NEW},
        {"redis://ann:old@a", "redis://bob:old@a", "bob", "old", LOGIN_NEW},
        {"redis://ann:old@a/2", "redis://ann:new@a/2", "ann", "new", LOGIN_NEW},
        {"unix://:old@/s", "redis://:no@a unix://:new@/s", NULL, "new", LOGIN_NEW},
        {"redis://ann:old@a", "redis://ann:old@a redis://ann:no@b", "ann", "old", LOGIN_SAME},
        {"redis://a", "redis://a", NULL, NULL, LOGIN_SAME},
        {"redis://:old@a", "redis://:no@a:1 redis://:no@b", NULL, "old", LOGIN_UNKNOWN},
        {"redis://:old@a/2", "redis://:no@a", NULL, "old", LOGIN_UNKNOWN},
        {"unix://:old@/s", "unix://:no@/t", NULL, "old", LOGIN_UNKNOWN},
        {"redis://:old@a", "redis://:no@b rediss://:no@a", NULL, "old", LOGIN_UNKNOWN},
    };
    for (unsigned i = 0; i < COUNT(cases); i++) {
        struct address ours;
        if (strstr(cases[i].list, "rediss:") && !tls_is_built)
            continue;
        assert_int_equal(addresses_parse(&ours, 1, cases[i].ours, why, sizeof why), 1);
        int count = parse(cases[i].list);
        assert_true(count > 0);
        assert_int_equal(address_take_login(&ours, addresses, count), cases[i].change);
        assert_string_equal(ours.user ? ours.user : "", cases[i].user ? cases[i].user : "");
        assert_string_equal(ours.password ? ours.password : "",
                            cases[i].password ? cases[i].password : "");
        addresses_clear(addresses, count);
        addresses_clear(&ours, 1);
    }
}

CASE(a_socket_path_has_a_limit)
{
    char list[200] = "unix://";
    memset(list + 7, '/', 107);
    assert_int_equal(parse(list), 1);
    assert_int_equal(strlen(addresses[0].path), 107);
    addresses_clear(addresses, 1);
    list[7 + 107] = 'x';
    assert_int_equal(parse(list), -1);
    assert_non_null(strstr(why, "at most 107 bytes, this has 108"));
}

CASE(passwords_never_appear)
{
    const char *lists[] = {
        "redis://ann:qwkzvj@h:x",
        "redis://ann:qwkzvj@h/x",
        "redis://:qwkzvj@",
        "redis://:qwkzvj@h:1,redis://:qwkzvj@h:1",
        "rediss://ann:qwkzvj@h?x",
        "rediss://ann:qwkzvj@h:1?ca",
        "rediss://ann:qwkzvj?ca=x@h",
        "rediss://ann:qwkzvj@h?ca=/x@y",
        "redis://ann:qwkzvj@h?ca=x",
        "ann:qwkzvj@h",
        "http://ann:qwkzvj@h",
        "ann:qwkzvj@redis://h",
        "qwkzvj@redis://h:1/x",
        "ann:qwkzvj@redis://zvj@h",
        "qwkzvj:redis://h",
        "redis://ann:qwk,zvj@h",
        "redis://ann:qwkzvj h@h",
        "redis://:qwkzvj,x@h",
        "redis://ann:qwkzvj%0@h",
        "redis://ann:qwkzvj/@h:0",
        "redis://ann:qwkzvj@qwkzvj@h:0",
        "unix://ann:qwkzvj@s",
        "unix://ann:qwkzvj@/s%",
        "unix://ann:qwkzvj/@/s",
        "unix://ann:qwkzvj@/s?x",
        "redis://[::1]:qwkzvj",
        "redis://ann:qwkzvj@h redis://::",
        "redis://ann:1qwkzvj",
    };
    for (unsigned i = 0; i < COUNT(lists); i++) {
        if (parse(lists[i]) != -1)
            fail_msg("taken: %s", lists[i]);
        if (strstr(why, "qwk") || strstr(why, "zvj"))
            fail_msg("%s: %s", lists[i], why);
    }
    assert_int_equal(parse("redis://ann:qwkzvj@h unix://:qwkzvj@/s"), 2);
    assert_null(strstr(addresses[0].shown, "qwkzvj"));
    assert_null(strstr(addresses[1].shown, "qwkzvj"));
    addresses_clear(addresses, 2);
}

CASE(complaints_fit_the_room_given)
{
    char small[10];
    memset(why, 'w', sizeof why);
    assert_int_equal(addresses_parse(addresses, MAX, "nonsense", small, sizeof small), -1);
    assert_int_equal(strlen(small), 9);

    static char list[5000] = "redis://";
    memset(list + 8, 'h', 4000);
    assert_int_equal(parse(list), -1);
    assert_non_null(strstr(why, "host is missing or has a character"));
}

PROGRAM_OF_CASES(NULL, NULL)
