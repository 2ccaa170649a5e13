/* Whom a link takes for its master under TLS, and what it says where it does not. */
/* rule: K19 */
#include <openssl/err.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tls.h"
#include "tls_parts.h"
#include "tls_world.h"

/* ---- memory ---------------------------------------------------------------------------------- */

/* Before any other connection of the program, as some of it is made for the first one alone. */
TLS_TEST(no_memory_inside_of_openssl)
{
    enum { MOST = 10000 };
    struct tls *made = NULL;
    char why[200];
    int n = 0;
    while (!made && ++n < MOST) {
        openssl_memory = n;
        made = tls_new(-1, &world->address.tls, "redis.test", why, sizeof why);
        openssl_memory = -1;
        assert_true(made || *why);
    }
    assert_in_range(n, 100, MOST - 1);
    tls_free(made);
}

/* ---- certificates of the master -------------------------------------------------------------- */

TLS_TEST(a_good_certificate)
{
    come_up_by_tls(world);
    const struct tls_facts *facts = link_tls(world->link);
    assert_string_equal(facts->protocol, "TLSv1.3");
    assert_string_equal(facts->peer, "redis.test");
    assert_true(facts->verified);
    int64_t left = facts->ends_at - time(NULL);
    assert_true(left > LATER - 100 && left <= LATER);
    close_link(world);
    assert_null(link_tls(world->link));
}

/* Made for the case alone. */
static void refuse_one(struct world *world, const struct certificate *issuer, const char *names,
                       long from_s, long until_s, const char *why)
{
    struct certificate bad = certificate_make(issuer, "bad", names, from_s, until_s);
    show(&bad);
    assert_refused(world, why);
    certificate_free(&bad);
}

static const char *day_in(long seconds, char day[32])
{
    time_t when = time(NULL) + seconds;
    strftime(day, 32, "%Y-%m-%d", gmtime(&when));
    return day;
}

TLS_TEST(certificates_that_are_no_good)
{
    char day[32], says[100];
    struct certificate other = certificate_make(NULL, "another CA", NULL, BEFORE, LATER),
                       twin = certificate_make(NULL, "the test's CA", NULL, BEFORE, LATER);
    refuse_one(world, &other, NAMES, BEFORE, LATER, "a CA that is not trusted here, another CA");
    refuse_one(world, &twin, NAMES, BEFORE, LATER, "that is not trusted here, the test's CA");
    refuse_one(world, NULL, NAMES, BEFORE, LATER, "that is not trusted here, bad");
    snprintf(says, sizeof says, "its certificate expired on %s", day_in(-2 * DAY_S, day));
    refuse_one(world, &ca, NAMES, BEFORE, -2 * DAY_S, says);
    snprintf(says, sizeof says, "its certificate is not valid before %s", day_in(DAY_S, day));
    refuse_one(world, &ca, NAMES, DAY_S, LATER, says);
    refuse_one(world, &ca, "DNS:far.test,IP:127.0.0.2", BEFORE, LATER,
               "its certificate is for far.test, not for 127.0.0.1");
    refuse_one(world, &ca, NULL, BEFORE, LATER, "its certificate is for bad, not for 127.0.0.1");
    certificate_free(&other);
    certificate_free(&twin);
}

static void expect_name(struct world *world, const char *name, const char *why)
{
    say_of_tls(world, TLS_NAME, name);
    if (why)
        assert_refused(world, why);
    else
        come_up_by_tls(world);
    close_link(world);
}

TLS_TEST(the_name_is_what_the_certificate_must_say)
{
    struct certificate wild =
        certificate_make(&ca, "redis.test", "DNS:*.redis.test", BEFORE, LATER);
    expect_name(world, "redis.test", NULL);
    expect_name(world, "OTHER.test", NULL);
    expect_name(world, "127.0.0.1", NULL);
    expect_name(world, "redis", "for redis.test, not for redis");
    expect_name(world, "a.redis.test", "for redis.test, not for a.redis.test");
    expect_name(world, "127.0.0.2", "for redis.test, not for 127.0.0.2");
    expect_name(world, "::1", "for redis.test, not for ::1");
    show(&wild);
    expect_name(world, "one.redis.test", NULL);
    expect_name(world, "two.one.redis.test", "for *.redis.test, not for two.one.redis.test");
    expect_name(world, "redis.test",
                "for *.redis.test, not for redis.test"); /* nor for its subject */
    certificate_free(&wild);
    wild = certificate_make(&ca, "x", "DNS:on*.redis.test", BEFORE, LATER); /* a part of a label */
    show(&wild);
    expect_name(world, "one.redis.test", "for on*.redis.test, not for one.redis.test");
    certificate_free(&wild);
}

TLS_TEST(unless_nothing_is_verified)
{
    struct certificate bad = certificate_make(NULL, "anybody", NULL, BEFORE, -DAY_S);
    show(&bad);
    say_of_tls(world, TLS_VERIFY, "none");
    say_of_tls(world, TLS_CA, "/nowhere");
    come_up_by_tls(world);
    assert_false(link_tls(world->link)->verified);
    assert_string_equal(link_tls(world->link)->peer, "anybody");
    certificate_free(&bad);
}

/* A name can show anything. */
TLS_TEST(a_name_that_steers_the_terminal)
{
    struct certificate bad = certificate_make(&ca, "a\033[31m\nb", NULL, BEFORE, LATER);
    show(&bad);
    assert_refused(world, "is for a?[31m?b, not for");
    certificate_free(&bad);
}

/* ---- the name that is asked for ---------------------------------------------------------------
 */

static void assert_sni(struct world *world, const char *name, const char *sni, const char *asked)
{
    say_of_tls(world, TLS_NAME, name);
    say_of_tls(world, TLS_SNI, sni);
    come_up_by_tls(world);
    const char *was = SSL_get_servername(tls.ssl, TLSEXT_NAMETYPE_host_name);
    if (asked && was)
        assert_string_equal(was, asked);
    else if (asked || was)
        fail_msg("asked for %s instead of %s", was ? was : "nothing", asked ? asked : "nothing");
    close_link(world);
}

TLS_TEST(the_name_that_is_asked_for)
{
    assert_sni(world, NULL, NULL, NULL); /* the host is an address */
    assert_sni(world, "redis.test", NULL, "redis.test");
    assert_sni(world, "redis.test", "x.test", "x.test");
    assert_sni(world, NULL, "x.test", "x.test");
    assert_sni(world, "redis.test", "", NULL);
}

/* ---- certificates of the client ----------------------------------------------------------------
 */

static void want_certificates(int version)
{
    show(&master_cert);
    SSL_CTX_set_max_proto_version(server, version);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(server), ca.cert);
    SSL_CTX_set_verify(server, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
}

/* In TLS 1.3 the client is done before the master has looked at its certificate. */
static void assert_unwanted(struct world *world, const char *why)
{
    try_to_come_up(world);
    if (world->told[0].kind == EVENT_CONNECTED) {
        world->told_count = 0;
        RUN_UNTIL(world, world->told_count);
    }
    assert_closed(&world->told[0], why);
}

static void present(struct world *world, const struct certificate *issuer)
{
    struct certificate client = certificate_make(issuer, "client", NULL, BEFORE, LATER);
    certificate_write(&client, cert_path, key_path, NULL);
    say_of_tls(world, TLS_CERT, cert_path);
    say_of_tls(world, TLS_KEY, key_path);
    certificate_free(&client);
}

TLS_TEST(a_master_that_wants_a_certificate)
{
    struct certificate other = certificate_make(NULL, "another CA", NULL, BEFORE, LATER);
    for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++) {
        want_certificates(version);
        say_of_tls(world, TLS_CERT, NULL);
        say_of_tls(world, TLS_KEY, NULL);
        assert_unwanted(world, "TLS: it wants a certificate of this client: give cert and key");
        present(world, &other);
        assert_unwanted(world, "to it the certificate of this client is of a CA that it does not");
        present(world, &ca);
        come_up_by_tls(world);
        X509 *shown = SSL_get_peer_certificate(tls.ssl);
        assert_non_null(shown);
        X509_free(shown);
        close_link(world);
    }
    certificate_free(&other);
}

/* ---- files ---------------------------------------------------------------------------------- */

TLS_TEST(files_are_read_at_each_connection)
{
    struct certificate other = certificate_make(NULL, "another CA", NULL, BEFORE, LATER);
    struct certificate renewed = certificate_make(&other, "a master", NAMES, BEFORE, LATER);
    come_up_by_tls(world);
    show(&renewed);
    fake_hang_up(&world->fake);
    RUN_UNTIL(world, world->told_count);
    assert_refused(world, "is not trusted here, another CA");
    certificate_write(&other, ca_path, NULL, NULL);
    come_up_by_tls(world);
    certificate_write(&ca, ca_path, NULL, NULL);
    certificate_free(&other);
    certificate_free(&renewed);
}

/* Unchanged CAs are not read again, for that may take long; new ones are, at once. */
TLS_TEST(cas_are_kept_until_they_change)
{
    X509_STORE *last = tls_trust(ca_path), *next;
    while ((next = tls_trust(ca_path)) != last) { /* until the file has its age */
        X509_STORE_free(last);
        last = next;
    }
    struct certificate other = certificate_make(NULL, "another CA", NULL, BEFORE, LATER);
    certificate_write(&other, ca_path, NULL, NULL);
    X509_STORE *after = tls_trust(ca_path);
    assert_ptr_not_equal(after, last);
    certificate_write(&ca, ca_path, NULL, NULL);
    X509_STORE_free(after);
    assert_ptr_not_equal(after = tls_trust(ca_path), last);
    X509_STORE_free(after);
    X509_STORE_free(last);
    X509_STORE_free(next);
    certificate_free(&other);
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");
    fputs(text, file);
    fclose(file);
}

TLS_TEST(files_that_cannot_be_used)
{
    struct certificate one = certificate_make(&ca, "one", NULL, BEFORE, LATER),
                       two = certificate_make(&ca, "two", NULL, BEFORE, LATER);
    say_of_tls(world, TLS_CA, "/nowhere/at/all/in/a/long/path/to/be/cut/ca.crt");
    assert_refused(world, "the ca ...e/at/all/in/a/long/path/to/be/cut/ca.crt: No such file or");
    say_of_tls(world, TLS_CA, ca_path);
    say_of_tls(world, TLS_CERT, cert_path);
    unlink(cert_path);
    assert_refused(world, "the cert ");
    write_text(cert_path, "rubbish\n");
    assert_refused(world, ": no start line");
    certificate_write(&one, cert_path, key_path, NULL);
    assert_refused(world, "cannot use the key "); /* it is not in that file */
    say_of_tls(world, TLS_KEY, key_path);
    come_up_by_tls(world);
    fake_hang_up(&world->fake);
    RUN_UNTIL(world, world->told_count);
    certificate_write(&two, NULL, key_path, NULL);
    assert_refused(world, ": key values mismatch");
    certificate_write(&one, NULL, key_path, "secret");
    assert_refused(world, ": it has a passphrase");
    write_text(key_path, "");
    assert_refused(world, "cannot use the key ");
    certificate_free(&one);
    certificate_free(&two);
}

/* Nobody writes into it: to open it would wait for ever. */
TLS_TEST(a_pipe_is_not_waited_for)
{
    static const enum tls_setting settings[] = {TLS_CA, TLS_CERT, TLS_KEY};
    struct certificate one = certificate_make(&ca, "one", NULL, BEFORE, LATER);
    certificate_write(&one, cert_path, NULL, NULL);
    unlink(key_path);
    assert_int_equal(mkfifo(key_path, 0600), 0);
    for (unsigned i = 0; i < COUNT(settings); i++) {
        say_of_tls(world, TLS_CA, ca_path);
        say_of_tls(world, TLS_CERT, settings[i] == TLS_CA ? NULL : cert_path);
        say_of_tls(world, settings[i], key_path);
        assert_refused(world, ": it is no file");
    }
    unlink(key_path);
    certificate_free(&one);
}

/* The application may use OpenSSL on the same thread, and would take what it finds for its own. */
TLS_TEST(no_error_stays_in_the_queue)
{
    say_of_tls(world, TLS_CA, "/nowhere");
    assert_refused(world, "the ca /nowhere: ");
    assert_int_equal(ERR_peek_error(), 0);
    say_of_tls(world, TLS_CA, ca_path);
    do_connect(world);
    run_until_heard(world, 1);
    world->told_count = 0;
    fake_say_bytes(&world->fake, "\x15\x03\x03\x00\x02\x02\x28", 7);
    run_until_closed(world, 1, "TLS: ");
    assert_int_equal(ERR_peek_error(), 0);
}

/* A folder as `openssl rehash` makes it: a certificate under the hash of its subject. */
TLS_TEST(a_folder_of_cas)
{
    char folder[80], path[100];
    snprintf(folder, sizeof folder, "%s.d", ca_path);
    snprintf(path, sizeof path, "%s/%08lx.0", folder, X509_subject_name_hash(ca.cert));
    assert_int_equal(mkdir(folder, 0700), 0);
    say_of_tls(world, TLS_CA, folder);
    assert_refused(world, "is not trusted here, the test's CA");
    certificate_write(&ca, path, NULL, NULL);
    come_up_by_tls(world);
    unlink(path);
    rmdir(folder);
}

/* ---- handshakes that come to nothing
 * ------------------------------------------------------------- */

TLS_TEST(only_tls_1_2_and_1_3)
{
    SSL_CTX_set_max_proto_version(server, TLS1_2_VERSION);
    come_up_by_tls(world);
    assert_string_equal(link_tls(world->link)->protocol, "TLSv1.2");
    close_link(world);
    show(&master_cert);
    SSL_CTX_set_cipher_list(server, "DEFAULT:@SECLEVEL=0");
    SSL_CTX_set_min_proto_version(server, TLS1_VERSION);
    SSL_CTX_set_max_proto_version(server, TLS1_1_VERSION);
    assert_refused(world, "it speaks neither TLS 1.2 nor TLS 1.3");
}

static void begin_to_connect(struct world *world)
{
    make_link_to(world, world->address);
    do_connect(world);
    run_until_heard(world, 1);
}

TLS_TEST(what_is_not_tls)
{
    static const struct {
        const char *says, *why;
    } masters[] = {
        {"-ERR unknown command\r\n", "it does not speak TLS: for a plain port write redis://"},
        {"-DENIED Redis is running in protected mode\r\n", "does not speak TLS"},
        {"HTTP/1.1 400 Bad Request\r\n\r\n", "does not speak TLS"},
        {"\x80\x80\x80\x80\x80\x80\x80\x80", "does not speak TLS"},
        {"\x15\x03\x03\x00\x02\x02\x28", "TLS: "}, /* an alert: handshake failure */
        {"\x16\x03\x03\x00\x05nonsense", "TLS: "},
    };
    begin_to_connect(world);
    for (unsigned i = 0; i < COUNT(masters); i++) {
        bool alert = masters[i].says[0] == '\x15';
        bool record = masters[i].says[0] == '\x16';
        fake_say_bytes(&world->fake, masters[i].says,
                       alert    ? 7
                       : record ? 13
                                : strlen(masters[i].says));
        run_until_closed(world, 1, masters[i].why);
        world->told_count = 0;
        world->fake.heard_length = 0;
        do_connect(world);
        run_until_heard(world, 1);
    }
}

TLS_TEST(a_master_that_goes_away_meanwhile)
{
    begin_to_connect(world);
    fake_hang_up(&world->fake);
    run_until_closed(world, 1, "TLS: it closed the connection in the handshake");
    world->told_count = world->fake.heard_length = 0;
    do_connect(world);
    run_until_heard(world, 1);
    fake_reset(&world->fake);
    run_until_closed(world, 1, "TLS: Connection reset by peer");
}

/* Requests to begin anew, which OpenSSL passes over: a master that sends nothing else does not keep
 * the loop.
 */
TLS_TEST(a_master_that_never_comes_to_the_point)
{
    enum { TIMES = 4000, LEAST_TURNS = 50 };
    unsigned turns = 0;
    begin_to_connect(world);
    for (unsigned i = 0; i < TIMES; i++)
        fake_say_bytes(&world->fake, "\x16\x03\x03\x00\x04\x00\x00\x00\x00", 9);
    fake_say_bytes(&world->fake, "\x15\x03\x03\x00\x02\x02\x28", 7);
    for (; !world->told_count; turns++)
        ev_run(world->loop, EVRUN_ONCE);
    assert_closed(&world->told[0], "TLS: ");
    assert_true(turns >= LEAST_TURNS);
}

/* The loop goes on, and a link that has waited long enough closes. */
TLS_TEST(a_master_that_does_not_answer)
{
    begin_to_connect(world);
    for (unsigned i = 0; i < 3; i++)
        ev_run(world->loop, EVRUN_NOWAIT);
    assert_int_equal(world->told_count, 0);
    assert_null(link_tls(world->link));
    do_close(world);
    assert_true(link_pump(world->link));
    assert_closed(&world->told[0], "no answer within the time to connect");
}

TLS_TEST(a_plain_link_to_a_master_with_tls)
{
    tls_terms_clear(&world->address.tls);
    make_link(world, LOCAL);
    do_connect(world);
    run_until_told(world, 1);
    assert_int_equal(world->told[0].kind, EVENT_CONNECTED);
    world->told_count = 0;
    send_round(world, REQUEST_RELEASE, 1);
    run_until_heard(world, 1);
    fake_say_bytes(&world->fake, "\x15\x03\x01\x00\x02\x02\x46", 7);
    run_until_end(world, 2, 0, 1, "it speaks TLS: write rediss://");
}

PROGRAM_OF_CASES(tls_tests_begin, tls_tests_end)
