#define _DEFAULT_SOURCE /* timegm; NOLINT(bugprone-reserved-identifier) */

#include "tls.h"

#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tls_parts.h"

/* Each record takes two, and a master's part of the handshake is some six records.  OpenSSL skips
 * some empty records: a master that sends only those must not keep the loop. */
#define READS_A_TURN 64

const bool tls_is_built = true;

/* ---- the beginning -------------------------------------------------------------------------- */

/* A client may have a thread, which must not find OpenSSL cleared away when the process ends. */
static bool start_openssl(void)
{
    return OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, NULL);
}

struct tls *tls_new(int fd, const struct tls_terms *terms, const char *host, char *why,
                    size_t why_size)
{
    struct tls *tls = calloc(1, sizeof *tls);
    snprintf(why, why_size, "out of memory for TLS");
    if (!tls)
        return NULL;
    *tls = (struct tls){.terms = terms, .host = host, .fd = fd};
    tls->ssl = start_openssl() ? tls_setup(tls, why, why_size) : NULL;
    if (tls->ssl && tls_socket_use(tls)) {
        SSL_set_connect_state(tls->ssl);
        return tls;
    }
    tls_free(tls);
    return NULL;
}

void tls_free(struct tls *tls)
{
    if (!tls)
        return;
    SSL_free(tls->ssl);
    free(tls);
}

/* ---- the handshake ----------------------------------------------------------------------------
 */

static int64_t seconds_of(const ASN1_TIME *time)
{
    struct tm when;
    return ASN1_TIME_to_tm(time, &when) == 1 ? (int64_t)timegm(&when) : 0;
}

static void learn_peer(struct tls *tls)
{
    struct tls_facts *facts = &tls->facts;
    X509 *certificate = SSL_get_peer_certificate(tls->ssl);
    snprintf(facts->protocol, sizeof facts->protocol, "%s", SSL_get_version(tls->ssl));
    facts->verified = tls_terms_verify(tls->terms);
    if (!certificate)
        return;
    tls_name_of(certificate, facts->peer, sizeof facts->peer);
    facts->ends_at = seconds_of(X509_get0_notAfter(certificate));
    X509_free(certificate);
}

/* In the handshake OpenSSL reads each record by itself, so that nothing is left inside that came
 * with its last one; from now on it reads all that there is. */
static enum tls_state finish(struct tls *tls)
{
    learn_peer(tls);
    tls->up = true;
    SSL_set_read_ahead(tls->ssl, 1);
    return TLS_DONE;
}

enum tls_state tls_handshake(struct tls *tls)
{
    ERR_clear_error();
    tls->reads = READS_A_TURN;
    int done = SSL_do_handshake(tls->ssl);
    if (done == 1)
        return finish(tls);
    int error = SSL_get_error(tls->ssl, done);
    if (error == SSL_ERROR_WANT_READ)
        return TLS_READS;
    if (error == SSL_ERROR_WANT_WRITE && !tls->send_error)
        return TLS_WRITES;
    tls_explain(tls);
    return TLS_FAILED;
}

/* ---- reading and writing -----------------------------------------------------------------------
 */

static ssize_t fail_transport(int error)
{
    errno = error;
    return -1;
}

static bool is_tls_blocked(int error)
{
    return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
}

/* The end without a notice is one too: each reply is whole by itself. */
static bool has_peer_ended(const struct tls *tls, int error)
{
    return tls->ended || error == SSL_ERROR_ZERO_RETURN;
}

static ssize_t fail_for_good(struct tls *tls)
{
    if (tls->read_error && !tls->why[0])
        return fail_transport(tls->read_error);
    tls_explain(tls);
    return fail_transport(EPROTO);
}

/* OpenSSL's verdict on a call is right only if no error of an earlier one is left. */
static void forget_errors(void)
{
    if (ERR_peek_error())
        ERR_clear_error();
}

void tls_begin_reading(struct tls *tls)
{
    forget_errors();
    tls->reads = 1;
    tls->reading_writes = false;
}

/* The socket was read in this turn, and all its bytes were handed out. */
static bool is_drained(const struct tls *tls)
{
    return !tls->reads && !SSL_has_pending(tls->ssl);
}

ssize_t tls_read(struct tls *tls, char *bytes, size_t size)
{
    if (is_drained(tls))
        return fail_transport(EAGAIN);
    int length = SSL_read(tls->ssl, bytes, size < INT_MAX ? (int)size : INT_MAX);
    if (length > 0)
        return length;
    int error = SSL_get_error(tls->ssl, length);
    tls->reading_writes = error == SSL_ERROR_WANT_WRITE && !tls->send_error;
    if (is_tls_blocked(error))
        return fail_transport(EAGAIN);
    return has_peer_ended(tls, error) ? 0 : fail_for_good(tls);
}

static ssize_t write_record(struct tls *tls, const char *bytes, size_t size)
{
    int length = SSL_write(tls->ssl, bytes, size < INT_MAX ? (int)size : INT_MAX);
    if (length > 0)
        return length;
    int error = SSL_get_error(tls->ssl, length);
    tls->writing_reads = error == SSL_ERROR_WANT_READ;
    if (is_tls_blocked(error))
        return fail_transport(tls->send_error ? tls->send_error : EAGAIN);
    return has_peer_ended(tls, error) ? fail_transport(EPIPE) : fail_for_good(tls);
}

/* An error behind what was written is met again by the next call. */
ssize_t tls_write(struct tls *tls, const char *bytes, size_t size)
{
    size_t done = 0;
    forget_errors();
    tls->writing_reads = false;
    while (done < size) {
        ssize_t length = write_record(tls, bytes + done, size - done);
        if (length < 0)
            return done ? (ssize_t)done : length;
        done += (size_t)length;
    }
    return (ssize_t)done;
}

bool tls_waits_to_write(const struct tls *tls, bool unsent)
{
    return tls->reading_writes || (unsent && !tls->writing_reads);
}

const char *tls_why(const struct tls *tls)
{
    return tls->why;
}

const struct tls_facts *tls_facts(const struct tls *tls)
{
    return tls->up ? &tls->facts : NULL;
}
