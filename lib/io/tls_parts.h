/*
 * tls_parts.h - one connection under TLS; the files behind tls.h share it.
 *
 *   tls.c         handshake, reading, writing
 *   tls_setup.c   files and terms → what OpenSSL is to ask for and to verify
 *   tls_why.c     what went wrong → a sentence
 *   tls_names.c   what a certificate says of itself
 *   tls_socket.c  OpenSSL's way to the socket
 *   tls_trust.c   the CAs of a file
 *
 * Each calls only files below it.
 */
#ifndef REDLOCK_IO_TLS_PARTS_H
#define REDLOCK_IO_TLS_PARTS_H

#include <openssl/ssl.h>

#include "tls_facts.h"
#include "tls_terms.h"

struct tls {
    SSL *ssl;
    const struct tls_terms *terms;
    const char *host;
    int fd;
    unsigned reads;             /* of the socket, that are still allowed */
    int read_error, send_error; /* errno of the socket; 0: none */
    unsigned char first;        /* the first byte of the master */
    bool heard;                 /* there was one */
    bool ended;                 /* the master has closed the socket */
    bool up;                    /* the handshake is done */
    bool lacks_cert;            /* the master asked for a certificate, and we have none */
    bool reading_writes;        /* reading goes on when something can be written */
    bool writing_reads;         /* and the other way round */
    struct tls_facts facts;
    char why[120];
};

/* An SSL of its own, which is not yet on a socket; NULL: a sentence is in `why`. */
SSL *tls_setup(struct tls *tls, char *why, size_t why_size);

/* The CAs of a file, or of the system (NULL), to be freed.  They are those of the last call unless
 * files have changed: to read some hundred CAs may take 50 ms, and the loop waits.  NULL: OpenSSL
 * has queued an error. */
X509_STORE *tls_trust(const char *ca);

/* For SSL_set_verify(): makes a sentence of what is wrong with a certificate. */
int tls_verify(int good, X509_STORE_CTX *context);

/* The struct tls of an SSL. */
bool tls_note_owner(struct tls *tls, SSL *ssl);
struct tls *tls_of(const SSL *ssl);

/* Makes tls->why of the errors that OpenSSL has queued, and empties the queue. */
void tls_explain(struct tls *tls);

/* The reason of the error that is queued. */
const char *tls_reason(void);

/* The name that the master's certificate must be for. */
const char *tls_wanted_name(const struct tls *tls);

/* The subject of a certificate and its issuer, as people should read them; cut to `size`. */
void tls_name_of(X509 *certificate, char *name, size_t size);
void tls_issuer_of(X509 *certificate, char *name, size_t size);

/* Puts tls->ssl on the socket; false if memory is out.  Nothing that it sends raises SIGPIPE. */
bool tls_socket_use(struct tls *tls);

#endif
