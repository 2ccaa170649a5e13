/*
 * fake_tls.h - TLS for a fake master: what it hears and says is inside of it.
 *
 * The bytes pass through memory, so a test decides how they are cut.
 */
#ifndef REDLOCK_TEST_FAKE_TLS_H
#define REDLOCK_TEST_FAKE_TLS_H

#include <openssl/ssl.h>

#include "fake_master.h"

struct fake_tls {
    struct fake_master *fake;
    SSL *ssl;
    size_t taken;         /* bytes of fake->heard */
    const char *greeting; /* sent together with the end of the handshake; NULL: nothing */
    size_t piece;         /* bytes that are sent at a time, and the loop runs in between; 0: all */
    bool up;              /* the handshake is done */
    unsigned long error;  /* OpenSSL's, that ended it */
    char *heard;
    size_t heard_length, heard_capacity;
};

/* For the connection that the master has accepted. */
void fake_tls_begin(struct fake_tls *tls, struct fake_master *fake, SSL_CTX *context);
/* Takes in what the master has heard, and answers. */
void fake_tls_turn(struct fake_tls *tls);
/* Makes records, which fake_tls_send() sends. */
void fake_tls_put(struct fake_tls *tls, const char *bytes, size_t length);
void fake_tls_send(struct fake_tls *tls);
void fake_tls_say(struct fake_tls *tls, const char *text);
void fake_tls_free(struct fake_tls *tls);

#endif
