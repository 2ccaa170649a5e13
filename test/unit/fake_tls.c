#include "fake_tls.h"

#include <openssl/err.h>

#include "unit.h"

void fake_tls_begin(struct fake_tls *tls, struct fake_master *fake, SSL_CTX *context)
{
    *tls = (struct fake_tls){
        .fake = fake, .ssl = SSL_new(context), .piece = tls->piece, .greeting = tls->greeting};
    SSL_set_bio(tls->ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_accept_state(tls->ssl);
}

static void keep(struct fake_tls *tls, const char *bytes, size_t length)
{
    if (tls->heard_capacity - tls->heard_length < length) {
        tls->heard_capacity = 2 * tls->heard_capacity + length;
        tls->heard = realloc(tls->heard, tls->heard_capacity);
    }
    memcpy(tls->heard + tls->heard_length, bytes, length);
    tls->heard_length += length;
}

static void take_in(struct fake_tls *tls)
{
    struct fake_master *fake = tls->fake;
    size_t length = fake->heard_length - tls->taken;
    if (length)
        BIO_write(SSL_get_rbio(tls->ssl), fake->heard + tls->taken, (int)length);
    tls->taken = fake->heard_length;
}

static void note(struct fake_tls *tls, int result)
{
    int error = SSL_get_error(tls->ssl, result);
    if (error != SSL_ERROR_WANT_READ && !tls->error)
        tls->error = ERR_peek_error();
}

void fake_tls_turn(struct fake_tls *tls)
{
    static char bytes[1 << 14];
    int length;
    take_in(tls);
    ERR_clear_error();
    while ((length = SSL_read(tls->ssl, bytes, sizeof bytes)) > 0)
        keep(tls, bytes, (size_t)length);
    note(tls, length);
    bool was_up = tls->up;
    tls->up = SSL_is_init_finished(tls->ssl);
    if (tls->up && !was_up && tls->greeting)
        fake_tls_put(tls, tls->greeting, strlen(tls->greeting));
    fake_tls_send(tls);
}

void fake_tls_put(struct fake_tls *tls, const char *bytes, size_t length)
{
    ERR_clear_error();
    assert_int_equal(SSL_write(tls->ssl, bytes, (int)length), length);
}

/* The bytes may be more than the socket holds, and nobody else runs the loop. */
void fake_tls_send(struct fake_tls *tls)
{
    size_t piece = tls->piece ? tls->piece : 1 << 15;
    char *bytes;
    size_t length = (size_t)BIO_get_mem_data(SSL_get_wbio(tls->ssl), &bytes);
    while (length > 0 && tls->fake->connection >= 0) {
        size_t part = length < piece ? length : piece;
        fake_say_bytes(tls->fake, bytes, part);
        bytes += part;
        length -= part;
        if (length)
            ev_run(tls->fake->loop, EVRUN_NOWAIT);
    }
    BIO_reset(SSL_get_wbio(tls->ssl));
}

void fake_tls_say(struct fake_tls *tls, const char *text)
{
    fake_tls_put(tls, text, strlen(text));
    fake_tls_send(tls);
}

void fake_tls_free(struct fake_tls *tls)
{
    SSL_free(tls->ssl);
    free(tls->heard);
    *tls = (struct fake_tls){0};
}
