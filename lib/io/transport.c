#include "transport.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <string.h>
#include <sys/socket.h>

#include "double.h"
#include "tls.h"

#define READ_SIZE 16384 /* as much as a record of TLS has at the most, and as hiredis reads */

static bool end_connection(redisContext *context, int error, const char *text)
{
    context->err = error;
    snprintf(context->errstr, sizeof context->errstr, "%s", text);
    return false;
}

static bool end_of_tls(redisContext *context, const struct tls *tls, ssize_t length)
{
    if (length == 0)
        return end_connection(context, REDIS_ERR_EOF, "closed");
    if (errno == EAGAIN)
        return true;
    return end_connection(context, REDIS_ERR_OTHER,
                          errno == EPROTO ? tls_why(tls) : strerror(errno));
}

static bool read_tls(redisContext *context, struct tls *tls)
{
    char bytes[READ_SIZE];
    ssize_t length;
    tls_begin_reading(tls);
    while ((length = tls_read(tls, bytes, sizeof bytes)) > 0)
        if (redisReaderFeed(context->reader, bytes, (size_t)length) != REDIS_OK)
            return end_connection(context, context->reader->err, context->reader->errstr);
    return end_of_tls(context, tls, length);
}

static bool read_double(redisContext *context)
{
    char bytes[READ_SIZE];
    ssize_t length = double_read(context->fd, bytes, sizeof bytes);
    if (length == 0)
        return end_connection(context, REDIS_ERR_EOF, "Server closed the connection");
    if (length < 0 && errno != EAGAIN)
        return end_connection(context, REDIS_ERR_IO, strerror(errno));
    if (length > 0 && redisReaderFeed(context->reader, bytes, (size_t)length) != REDIS_OK)
        return end_connection(context, context->reader->err, context->reader->errstr);
    return true;
}

bool transport_read(redisContext *context, struct tls *tls)
{
    if (double_has(context->fd))
        return read_double(context);
    return tls ? read_tls(context, tls) : redisBufferRead(context) == REDIS_OK;
}

ssize_t transport_write(int fd, struct tls *tls, const char *bytes, size_t size)
{
    if (double_has(fd))
        return double_write(fd, bytes, size);
    return tls ? tls_write(tls, bytes, size) : send(fd, bytes, size, MSG_NOSIGNAL);
}

bool transport_waits_to_write(const struct tls *tls, bool unsent)
{
    return tls ? tls_waits_to_write(tls, unsent) : unsent;
}
