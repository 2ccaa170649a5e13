#include <openssl/err.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tls_parts.h"

#define NAME_SHOWN   36 /* so that a sentence has room for two */
#define ALERT_RECORD 21
#define FIRST_RECORD 22

__attribute__((format(printf, 2, 3))) static void say(struct tls *tls, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(tls->why, sizeof tls->why, format, arguments);
    va_end(arguments);
}

const char *tls_wanted_name(const struct tls *tls)
{
    const char *name = tls->terms->said[TLS_NAME];
    return name ? name : tls->host;
}

/* ---- whose SSL it is ------------------------------------------------------------------------ */

bool tls_note_owner(struct tls *tls, SSL *ssl)
{
    return SSL_set_app_data(ssl, tls);
}

struct tls *tls_of(const SSL *ssl)
{
    return SSL_get_app_data(ssl);
}

/* ---- a certificate that is not good ------------------------------------------------------------
 */

static void say_untrusted(struct tls *tls, X509 *certificate)
{
    char issuer[NAME_SHOWN];
    tls_issuer_of(certificate, issuer, sizeof issuer);
    say(tls, "TLS: its certificate is of a CA that is not trusted here, %s", issuer);
}

static void say_wrong_name(struct tls *tls, X509 *certificate)
{
    char name[NAME_SHOWN];
    tls_name_of(certificate, name, sizeof name);
    say(tls, "TLS: its certificate is for %s, not for %.*s", name, NAME_SHOWN,
        tls_wanted_name(tls));
}

static void say_when(struct tls *tls, const char *what, const char *how, const ASN1_TIME *time)
{
    struct tm when;
    char day[16] = "some day";
    if (ASN1_TIME_to_tm(time, &when) == 1)
        strftime(day, sizeof day, "%Y-%m-%d", &when);
    say(tls, "TLS: %s %s %s", what, how, day);
}

static void say_what_is_wrong(struct tls *tls, X509_STORE_CTX *context, X509 *certificate)
{
    int error = X509_STORE_CTX_get_error(context);
    bool of_ca = X509_STORE_CTX_get_error_depth(context) > 0;
    const char *what = of_ca ? "the certificate of its CA" : "its certificate";
    switch (error) {
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE: /* another CA of the same name */
        say_untrusted(tls, certificate);
        break;
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        say_wrong_name(tls, certificate);
        break;
    case X509_V_ERR_CERT_HAS_EXPIRED:
        say_when(tls, what, "expired on", X509_get0_notAfter(certificate));
        break;
    case X509_V_ERR_CERT_NOT_YET_VALID:
        say_when(tls, what, "is not valid before", X509_get0_notBefore(certificate));
        break;
    default:
        say(tls, "TLS: %s is no good: %s", what, X509_verify_cert_error_string(error));
    }
}

int tls_verify(int good, X509_STORE_CTX *context)
{
    const SSL *ssl = X509_STORE_CTX_get_ex_data(context, SSL_get_ex_data_X509_STORE_CTX_idx());
    X509 *certificate = X509_STORE_CTX_get_current_cert(context);
    if (!good && certificate)
        say_what_is_wrong(tls_of(ssl), context, certificate);
    return good;
}

/* ---- all else
 * ------------------------------------------------------------------------------------ */

/* The first error is the nearest to the reason: those behind it are of the layers above. */
const char *tls_reason(void)
{
    unsigned long code = ERR_peek_error();
    if (ERR_GET_LIB(code) == ERR_LIB_SYS)
        return strerror(ERR_GET_REASON(code));
    const char *reason = ERR_reason_error_string(code);
    return reason ? reason : "no reason given";
}

/* The master's complaint about our certificate; NULL: it is about something else. */
static const char *refusal_of_certificate(int reason)
{
    switch (reason) {
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
        return "bad";
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
        return "one of a kind that it does not take";
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
        return "revoked";
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
        return "expired";
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
        return "unknown";
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
        return "of a CA that it does not trust";
    default:
        return NULL;
    }
}

static bool is_about_version(int reason)
{
    return reason == SSL_R_UNSUPPORTED_PROTOCOL || reason == SSL_R_TLSV1_ALERT_PROTOCOL_VERSION ||
           reason == SSL_R_WRONG_SSL_VERSION;
}

static bool is_about_lack(int reason)
{
    return refusal_of_certificate(reason) || reason == SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED ||
           reason == SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE;
}

static void say_reason(struct tls *tls, int reason)
{
    if (tls->lacks_cert && is_about_lack(reason))
        say(tls, "TLS: it wants a certificate of this client: give cert and key");
    else if (refusal_of_certificate(reason))
        say(tls, "TLS: to it the certificate of this client is %s", refusal_of_certificate(reason));
    else if (is_about_version(reason))
        say(tls, "TLS: it speaks neither TLS 1.2 nor TLS 1.3");
    else
        say(tls, "TLS: %s", tls_reason());
}

static bool speaks_tls(const struct tls *tls)
{
    return !tls->heard || tls->first == ALERT_RECORD || tls->first == FIRST_RECORD;
}

/* An end that comes too early is queued, too, and is not the reason. */
static int reason_in_queue(void)
{
    unsigned long error = ERR_peek_error();
    bool tells = ERR_GET_LIB(error) == ERR_LIB_SSL;
#ifdef SSL_R_UNEXPECTED_EOF_WHILE_READING
    tells &= ERR_GET_REASON(error) != SSL_R_UNEXPECTED_EOF_WHILE_READING;
#endif
    return tells ? ERR_GET_REASON(error) : 0;
}

/* The master's alert goes before errors of the socket: it sends that, and closes. */
static void make_sentence(struct tls *tls)
{
    int reason = reason_in_queue();
    if (tls->why[0])
        return; /* tls_verify() has said it, or this is the consequence of an earlier error */
    if (!speaks_tls(tls))
        say(tls, "TLS: it does not speak TLS: for a plain port write redis://");
    else if (reason)
        say_reason(tls, reason);
    else if (tls->read_error || tls->send_error)
        say(tls, "TLS: %s", strerror(tls->read_error ? tls->read_error : tls->send_error));
    else if (tls->ended)
        say(tls, "TLS: it closed the connection in the handshake");
    else
        say_reason(tls, 0);
}

/* An error that stays in the queue would be taken for one of the application's own, which may use
 * OpenSSL on this thread. */
void tls_explain(struct tls *tls)
{
    make_sentence(tls);
    ERR_clear_error();
}
