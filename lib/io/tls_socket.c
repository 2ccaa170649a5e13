/*
 * tls_socket.c - a BIO of our own: OpenSSL's raises SIGPIPE, and reads on as long as the master
 * talks.
 */
#include <errno.h>
#include <openssl/bio.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "tls_parts.h"

static void note_first(struct tls *tls, const char *bytes)
{
    if (!tls->heard)
        tls->first = (unsigned char)bytes[0];
    tls->heard = true;
}

static bool is_socket_blocked(void)
{
    return errno == EAGAIN || errno == EINTR;
}

static ssize_t receive(struct tls *tls, char *bytes, int size)
{
    errno = EAGAIN;
    if (!tls->reads || size <= 0)
        return -1;
    tls->reads--;
    return recv(tls->fd, bytes, (size_t)size, 0);
}

static int read_socket(BIO *bio, char *bytes, int size)
{
    struct tls *tls = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    ssize_t length = receive(tls, bytes, size);
    if (length > 0)
        note_first(tls, bytes);
    else if (length == 0)
        tls->ended = true;
    else if (is_socket_blocked())
        BIO_set_retry_read(bio);
    else
        tls->read_error = errno;
    return (int)length;
}

/* To OpenSSL an error looks as if the socket were full: it still has to read, for the master's
 * reason is often on its way. */
static int write_socket(BIO *bio, const char *bytes, int size)
{
    struct tls *tls = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    ssize_t length = send(tls->fd, bytes, (size_t)size, MSG_NOSIGNAL);
    if (length < 0)
        BIO_set_retry_write(bio);
    if (length < 0 && !is_socket_blocked())
        tls->send_error = errno;
    return (int)length;
}

static long control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio, (void)number, (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static BIO_METHOD *make_method(void)
{
    BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "redlock");
    if (!method)
        return NULL;
    BIO_meth_set_read(method, read_socket);
    BIO_meth_set_write(method, write_socket);
    BIO_meth_set_ctrl(method, control);
    return method;
}

/* Made once for all threads; if memory is out, the next connection tries again. */
static BIO_METHOD *method(void)
{
    static _Atomic(BIO_METHOD *) kept;
    BIO_METHOD *known = atomic_load(&kept);
    BIO_METHOD *mine = known ? NULL : make_method();
    if (!mine || atomic_compare_exchange_strong(&kept, &known, mine))
        return known ? known : mine;
    BIO_meth_free(mine);
    return known;
}

bool tls_socket_use(struct tls *tls)
{
    BIO_METHOD *ours = method();
    BIO *bio = ours ? BIO_new(ours) : NULL;
    if (!bio)
        return false;
    BIO_set_data(bio, tls);
    BIO_set_init(bio, 1);
    SSL_set_bio(tls->ssl, bio, bio);
    return true;
}
