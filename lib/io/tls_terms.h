/*
 * tls_terms.h - what TLS is to be like on the connections to one master.
 */
#ifndef REDLOCK_IO_TLS_TERMS_H
#define REDLOCK_IO_TLS_TERMS_H

#include <stdbool.h>
#include <stddef.h>

enum tls_setting {
    TLS_CA,     /* a PEM file, or a folder as `openssl rehash` makes them; else the system's */
    TLS_CERT,   /* a PEM file: our certificate, with those between it and its CA */
    TLS_KEY,    /* a PEM file; else it is in that of the certificate */
    TLS_NAME,   /* what the master's certificate must be for; else the host */
    TLS_SNI,    /* the name asked for; "": none; else the one above, if it is no address */
    TLS_VERIFY, /* "none": any certificate will do; else "full" */
    TLS_SETTINGS
};

struct tls_terms {
    bool wanted;
    char *said[TLS_SETTINGS]; /* NULL: nothing */
};

/* "ca", "cert" and so on: the parameter of an address. */
extern const char *const tls_setting_names[TLS_SETTINGS];

/* Settings of which nothing is said become those of `usual`; false if memory is out. */
bool tls_terms_complete(struct tls_terms *terms, const char *const usual[TLS_SETTINGS]);

/* NULL, or what is wrong with the terms. */
const char *tls_terms_wrong(const struct tls_terms *terms);

bool tls_terms_verify(const struct tls_terms *terms);
void tls_terms_clear(struct tls_terms *terms);

#endif
