/*
 * transport.h - the bytes of one connection, to and from its socket: plain, or under TLS.
 */
#ifndef REDLOCK_IO_TRANSPORT_H
#define REDLOCK_IO_TRANSPORT_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <sys/types.h>

struct tls;

/* Reads the socket once and feeds the reader of `context`; `tls` NULL: the bytes are plain.  False:
 * the connection is over, and context->err and errstr say why. */
bool transport_read(redisContext *context, struct tls *tls);

/* As send(), without SIGPIPE. */
ssize_t transport_write(int fd, struct tls *tls, const char *bytes, size_t size);

/* True if something goes on when the socket is writable; `unsent`: bytes are left to be written. */
bool transport_waits_to_write(const struct tls *tls, bool unsent);

#endif
