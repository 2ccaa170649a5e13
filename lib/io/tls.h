/*
 * tls.h - TLS on one connected socket, as a client.  Nothing here waits.
 *
 * A build without OpenSSL has tls_none.c in the place of tls.c, and tls_new() is not called there.
 */
#ifndef REDLOCK_IO_TLS_H
#define REDLOCK_IO_TLS_H

#include <sys/types.h>

#include "tls_facts.h"
#include "tls_terms.h"

struct tls;

extern const bool tls_is_built;

enum tls_state {
    TLS_DONE,
    TLS_READS,  /* goes on when the socket is readable */
    TLS_WRITES, /* goes on when it is writable */
    TLS_FAILED  /* tls_why() has the reason */
};

/* Reads the files that the terms name.  `terms` and `host` must outlive it.  NULL: a sentence is in
 * `why`. */
struct tls *tls_new(int fd, const struct tls_terms *terms, const char *host, char *why,
                    size_t why_size);
enum tls_state tls_handshake(struct tls *tls);

/* Lets tls_read() read from the socket once more.  Call tls_read() until EAGAIN: no loop reports
 * the bytes that stay inside of TLS. */
void tls_begin_reading(struct tls *tls);

/* As recv() and send(): 0 is the end, -1 an error in errno; with EPROTO tls_why() has the reason.
 * Bytes that were not sent must stand first when tls_write() is called again. */
ssize_t tls_read(struct tls *tls, char *bytes, size_t size);
ssize_t tls_write(struct tls *tls, const char *bytes, size_t size);

/* True if reading or writing goes on when the socket is writable; `unsent`: something is left to be
 * written. */
bool tls_waits_to_write(const struct tls *tls, bool unsent);

const char *tls_why(const struct tls *tls);
const struct tls_facts *tls_facts(const struct tls *tls);

/* Sends nothing, for it may be a forked child's copy.  Each command is whole by itself, so the
 * master needs no notice of the end.  NULL is allowed. */
void tls_free(struct tls *tls);

#endif
