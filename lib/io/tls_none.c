/*
 * tls_none.c - for a build without OpenSSL: no address asks for TLS there.
 */
#include <errno.h>
#include <stdio.h>

#include "tls.h"

const bool tls_is_built = false;

struct tls *tls_new(int fd, const struct tls_terms *terms, const char *host, char *why,
                    size_t why_size)
{
    (void)fd, (void)terms, (void)host;
    snprintf(why, why_size, "this build has no TLS");
    return NULL;
}

enum tls_state tls_handshake(struct tls *tls)
{
    (void)tls;
    return TLS_FAILED;
}

void tls_begin_reading(struct tls *tls)
{
    (void)tls;
}

ssize_t tls_read(struct tls *tls, char *bytes, size_t size)
{
    (void)tls, (void)bytes, (void)size;
    errno = EPROTO;
    return -1;
}

ssize_t tls_write(struct tls *tls, const char *bytes, size_t size)
{
    (void)tls, (void)bytes, (void)size;
    errno = EPROTO;
    return -1;
}

bool tls_waits_to_write(const struct tls *tls, bool unsent)
{
    (void)tls, (void)unsent;
    return false;
}

const char *tls_why(const struct tls *tls)
{
    (void)tls;
    return "";
}

const struct tls_facts *tls_facts(const struct tls *tls)
{
    (void)tls;
    return NULL;
}

void tls_free(struct tls *tls)
{
    (void)tls;
}
