/* The bytes of a link under TLS: however records are cut, coalesced, late or damaged, replies come
 * whole, in order, and at once. */
/* rule: K20, K21, K22 */
#define _GNU_SOURCE
#include <errno.h>
#include <openssl/err.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>

#include "tls_world.h"

#define RECORD  16384 /* bytes that one record has at the most */
#define CHANNEL "redlock:me"

ssize_t __real_send(int fd, const void *bytes, size_t length, int flags);
ssize_t __wrap_send(int fd, const void *bytes, size_t length, int flags);

static bool socket_is_full, socket_is_broken; /* that of the link */

ssize_t __wrap_send(int fd, const void *bytes, size_t length, int flags)
{
    if ((!socket_is_full && !socket_is_broken) || fd == tls.fake->connection)
        return __real_send(fd, bytes, length, flags);
    errno = socket_is_full ? EAGAIN : ECONNRESET;
    return -1;
}

static void ask(struct world *world, unsigned first, unsigned count)
{
    size_t heard = tls.heard_length;
    for (unsigned i = 0; i < count; i++)
        send_round(world, REQUEST_RELEASE, first + i);
    RUN_UNTIL(world, tls.heard_length == heard + count * release_length(world));
}

static void assert_answers(struct world *world, unsigned first, unsigned count)
{
    RUN_UNTIL(world, world->told_count >= count);
    assert_int_equal(world->told_count, count);
    for (unsigned i = 0; i < count; i++)
        assert_reply(&world->told[i], first + i, ANSWER_YES);
    world->told_count = 0;
}

TLS_TEST(requests_and_replies)
{
    come_up_by_tls(world);
    for (unsigned round = 1; round < 4; round++) {
        ask(world, round, 1);
        fake_tls_say(&tls, ":1\r\n");
        assert_answers(world, round, 1);
    }
    assert_true(memmem(tls.heard, tls.heard_length, "EVALSHA", 7) != NULL);
    assert_null(memmem(world->fake.heard, world->fake.heard_length, "EVALSHA", 7));
}

TLS_TEST(byte_by_byte)
{
    tls.piece = 1;
    for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++) {
        SSL_CTX_set_max_proto_version(server, version);
        come_up_by_tls(world);
        ask(world, 1, 3);
        fake_tls_say(&tls, ":1\r\n:1\r\n:1\r\n");
        assert_answers(world, 1, 3);
        close_link(world);
        world->told_count = 0;
    }
}

/* The loop tells of the socket alone: nothing may be left inside of TLS until more comes. */
TLS_TEST(many_records_at_once)
{
    come_up_by_tls(world);
    ask(world, 1, 200);
    for (unsigned i = 0; i < 200; i++)
        fake_tls_put(&tls, ":1\r\n", 4);
    fake_tls_send(&tls);
    assert_answers(world, 1, 200);
}

/* Bytes that come with the last ones of the handshake are heard, too: in TLS 1.2 the master has the
 * last word. */
TLS_TEST(what_comes_with_the_handshake)
{
    SSL_CTX_set_max_proto_version(server, TLS1_2_VERSION);
    tls.greeting = "-ERR max number of clients reached\r\n";
    try_to_come_up(world);
    assert_int_equal(world->told[0].kind, EVENT_CONNECTED);
    run_until_closed(world, 2, "a reply to nothing: ERR max number of clients reached");
}

/* ---- long ones ------------------------------------------------------------------------------- */

static char long_reply[150000];

/* An answer to PEEK: the value of a name, which is that long. */
static size_t make_long_reply(size_t length)
{
    size_t used = (size_t)sprintf(long_reply, "-ERR ");
    memset(long_reply + used, 'x', length);
    return used + length + (size_t)sprintf(long_reply + used + length, "\r\n");
}

TLS_TEST(whole_records_cut_anywhere)
{
    static const size_t pieces[] = {1,      2,          5,           1000, RECORD - 1,
                                    RECORD, RECORD + 1, RECORD + 22, 65536};
    come_up_by_tls(world);
    for (unsigned i = 0; i < COUNT(pieces); i++) {
        tls.piece = 0;
        ask(world, i, 1);
        size_t length =
            make_long_reply(pieces[i] < 5 ? RECORD + RECORD / 8 : sizeof long_reply - 20);
        tls.piece = pieces[i];
        fake_tls_put(&tls, long_reply, length);
        fake_tls_send(&tls);
        RUN_UNTIL(world, world->told_count);
        assert_reply(&world->told[0], i, ANSWER_ERROR);
        world->told_count = 0;
    }
}

enum { MANY_NAMES = 200 }; /* of 64 KiB each: more than sockets take */

static void queue_megabytes(struct world *world)
{
    fake_go_deaf(&world->fake);
    for (unsigned i = 0; i < MANY_NAMES; i++) {
        send_long_name(world, i);
        do_flush(world);
        ev_run(world->loop, EVRUN_NOWAIT);
    }
    assert_int_equal(world->told_count, 0);
}

static void answer_names(struct world *world, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++)
        fake_tls_put(&tls, "-ERR no\r\n", 9);
    fake_tls_send(&tls);
    RUN_UNTIL(world, world->told_count == to);
    for (unsigned i = from; i < to; i++)
        assert_reply(&world->told[i], i, ANSWER_ERROR);
}

/* The rest goes on from where it was, though the buffer has moved.  Those that were heard are
 * answered, while the last ones wait yet. */
TLS_TEST(megabytes_that_wait)
{
    come_up_by_tls(world);
    queue_megabytes(world);
    fake_hear_again(&world->fake);
    RUN_UNTIL(world, tls.heard_length > 65536 * 4);
    answer_names(world, 0, 3);
    RUN_UNTIL(world, tls.heard_length > MANY_NAMES * 65536);
    answer_names(world, 3, MANY_NAMES);
}

/* A master that never stops talking does not keep the loop. */
TLS_TEST(one_read_at_a_time)
{
    come_up_by_tls(world);
    ask(world, 0, 1);
    int size = 1 << 20;
    setsockopt(world->fake.connection, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    size_t length = make_long_reply(6 * RECORD);
    fake_tls_put(&tls, long_reply, length);
    char *bytes;
    size_t all = (size_t)BIO_get_mem_data(SSL_get_wbio(tls.ssl), &bytes);
    fake_say_bytes(&world->fake, bytes, all);
    BIO_reset(SSL_get_wbio(tls.ssl));
    unsigned turns = 0;
    while (!world->told_count) {
        link_read(world->link);
        turns++;
    }
    assert_true(turns >= 6);
}

/* ---- the end --------------------------------------------------------------------------------- */

TLS_TEST(replies_that_come_with_the_end)
{
    for (unsigned notice = 0; notice < 2; notice++) {
        come_up_by_tls(world);
        ask(world, 1, 3);
        fake_tls_put(&tls, ":1\r\n:1\r\n", 8);
        if (notice)
            SSL_shutdown(tls.ssl);
        fake_tls_send(&tls);
        if (!notice)
            fake_hang_up(&world->fake);
        RUN_UNTIL(world, world->told_count == 4);
        assert_reply(&world->told[0], 1, ANSWER_YES);
        assert_reply(&world->told[1], 2, ANSWER_YES);
        assert_end(world, 2, 3, "TLS: closed by the master");
        world->told_count = 0;
        fake_hang_up(&world->fake);
    }
}

/* Half-closed: the master says that it says no more, and leaves the socket open. */
TLS_TEST(a_notice_of_the_end_alone)
{
    come_up_by_tls(world);
    SSL_shutdown(tls.ssl);
    fake_tls_send(&tls);
    RUN_UNTIL(world, world->told_count);
    assert_closed(&world->told[0], "TLS: closed by the master");
}

TLS_TEST(a_record_that_was_changed_on_the_way)
{
    come_up_by_tls(world);
    ask(world, 1, 2);
    fake_tls_put(&tls, ":1\r\n", 4);
    fake_tls_send(&tls);
    fake_tls_put(&tls, ":1\r\n", 4);
    char *bytes;
    size_t length = (size_t)BIO_get_mem_data(SSL_get_wbio(tls.ssl), &bytes);
    bytes[length - 1] ^= 1;
    fake_tls_send(&tls);
    RUN_UNTIL(world, world->told_count == 3);
    assert_reply(&world->told[0], 1, ANSWER_YES);
    assert_end(world, 1, 2, "cannot read: TLS: ");
}

TLS_TEST(rubbish_between_records)
{
    come_up_by_tls(world);
    fake_say(&world->fake, "+OK\r\n");
    run_until_closed(world, 1, "cannot read: TLS: ");
}

/* In TLS 1.3 a master looks at our certificate when we are up already.  It says that it wants one,
 * and closes, so that the next write finds the connection broken. */
TLS_TEST(the_reason_is_told_though_sending_has_failed)
{
    SSL_CTX_set_verify(server, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    try_to_come_up(world);
    assert_int_equal(world->told[0].kind, EVENT_CONNECTED);
    while (!tls.error) {
        if (world->fake.heard_length == tls.taken)
            ev_run(world->loop, EVRUN_ONCE);
        fake_tls_turn(&tls);
    }
    assert_int_equal(world->told_count, 1);
    socket_is_broken = true;
    send_round(world, REQUEST_RELEASE, 1);
    do_flush(world);
    run_until_told(world, 3);
    socket_is_broken = false;
    assert_end(world, 1, 1, "TLS: it wants a certificate of this client: give cert and key");
}

/* A signal would end this program. */
TLS_TEST(an_end_raises_no_signal)
{
    signal(SIGPIPE, SIG_DFL);
    come_up_by_tls(world);
    fake_hang_up(&world->fake); /* to the first bytes it answers that nobody is there */
    send_round(world, REQUEST_RELEASE, 1);
    do_flush(world);
    send_round(world, REQUEST_RELEASE, 2);
    do_flush(world);
    run_until_end(world, 3, 0, 1, "");
}

/* ---- what TLS does besides ------------------------------------------------------------------- */

TLS_TEST(renegotiation_is_refused)
{
    SSL_CTX_set_max_proto_version(server, TLS1_2_VERSION);
    come_up_by_tls(world);
    assert_int_equal(SSL_renegotiate(tls.ssl), 1);
    assert_int_equal(SSL_do_handshake(tls.ssl), 1);
    fake_tls_send(&tls);
    RUN_UNTIL(world, tls.error);
    assert_int_equal(ERR_GET_REASON(tls.error), SSL_R_NO_RENEGOTIATION);
}

/* New keys, of both sides: the link has to write in order to go on reading. */
TLS_TEST(new_keys_meanwhile)
{
    come_up_by_tls(world);
    for (unsigned round = 1; round < 5; round++) {
        ask(world, round, 1);
        assert_int_equal(SSL_key_update(tls.ssl, SSL_KEY_UPDATE_REQUESTED), 1);
        assert_int_equal(SSL_do_handshake(tls.ssl), 1);
        fake_tls_say(&tls, ":1\r\n");
        assert_answers(world, round, 1);
    }
    ask(world, 5, 1);
}

/* Likewise while the socket takes nothing: the link answers when it can, though nobody asks it to
 * write. */
TLS_TEST(new_keys_while_the_socket_is_full)
{
    come_up_by_tls(world);
    ask(world, 1, 1);
    socket_is_full = true;
    assert_int_equal(SSL_key_update(tls.ssl, SSL_KEY_UPDATE_REQUESTED), 1);
    assert_int_equal(SSL_do_handshake(tls.ssl), 1);
    fake_tls_say(&tls, ":1\r\n");
    for (unsigned i = 0; i < 5; i++)
        ev_run(world->loop, EVRUN_NOWAIT);
    socket_is_full = false;
    assert_answers(world, 1, 1);
    ask(world, 2, 1);
    fake_tls_say(&tls, ":1\r\n");
    assert_answers(world, 2, 1);
    assert_int_equal(tls.error, 0);
}

/* And while megabytes wait. */
TLS_TEST(new_keys_while_megabytes_wait)
{
    come_up_by_tls(world);
    queue_megabytes(world);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(SSL_key_update(tls.ssl, SSL_KEY_UPDATE_REQUESTED), 1);
        assert_int_equal(SSL_do_handshake(tls.ssl), 1);
        fake_tls_send(&tls);
        ev_run(world->loop, EVRUN_NOWAIT);
    }
    fake_hear_again(&world->fake);
    RUN_UNTIL(world, tls.heard_length > MANY_NAMES * 65536);
    answer_names(world, 0, MANY_NAMES);
    assert_int_equal(tls.error, 0);
}

TLS_TEST(pushes)
{
    make_link_to(world, world->address);
    world->inside = true;
    link_subscribe(world->link, CHANNEL);
    world->inside = false;
    while (!world->fake.accepted)
        ev_run(world->loop, EVRUN_ONCE);
    fake_tls_begin(&tls, &world->fake, server);
    RUN_UNTIL(world, tls.heard_length && memmem(tls.heard, tls.heard_length, "SUBSCRIBE", 9));
    fake_tls_say(&tls, "+OK\r\n$24\r\n# Server\r\nrun_id:the-run\r\n"
                       "*3\r\n$9\r\nsubscribe\r\n$10\r\n" CHANNEL "\r\n:1\r\n"
                       "*3\r\n$7\r\nmessage\r\n$10\r\n" CHANNEL "\r\n$3\r\na 7\r\n");
    RUN_UNTIL(world, world->told_count == 2);
    assert_int_equal(world->told[0].kind, EVENT_SUBSCRIBED);
    assert_int_equal(world->told[1].kind, EVENT_PUSH);
    assert_string_equal(world->told[1].text, "a");
    fake_tls_say(&tls, "*3\r\n$7\r\nmessage\r\n$10\r\n" CHANNEL "\r\n$3\r\nb 8\r\n");
    assert_true(link_read(world->link)); /* without the loop */
    assert_int_equal(world->told[2].kind, EVENT_PUSH);
}

PROGRAM_OF_CASES(tls_tests_begin, tls_tests_end)
