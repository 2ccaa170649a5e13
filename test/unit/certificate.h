/*
 * certificate.h - certificates for tests, made on the spot, with any names and any dates.
 */
#ifndef REDLOCK_TEST_CERTIFICATE_H
#define REDLOCK_TEST_CERTIFICATE_H

#include <openssl/ssl.h>

#define DAY_S 86400L

struct certificate {
    EVP_PKEY *key;
    X509 *cert;
};

/* Signed by `issuer`, or by itself if that is NULL: then it is a CA.  `names` is a subjectAltName
 * ("DNS:a.test,IP:127.0.0.1"), or NULL; valid from `from_s` seconds from now to `until_s`. */
struct certificate certificate_make(const struct certificate *issuer, const char *subject,
                                    const char *names, long from_s, long until_s);
void certificate_free(struct certificate *certificate);

/* As PEM files; the paths may be NULL. */
void certificate_write(const struct certificate *certificate, const char *cert, const char *key,
                       const char *passphrase);

/* For a server that shows it. */
SSL_CTX *certificate_serve(const struct certificate *certificate);

#endif
