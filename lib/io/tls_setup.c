#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier) */

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tls_parts.h"

#define PATH_SHOWN 40

struct complaint {
    char *why;
    size_t size;
};

/* The end of a path says most. */
static bool complain(const struct complaint *to, const char *what, const char *path,
                     const char *reason)
{
    size_t length = strlen(path);
    bool cut = length > PATH_SHOWN;
    snprintf(to->why, to->size, "TLS: cannot use the %s %s%s: %s", what, cut ? "..." : "",
             cut ? path + length - PATH_SHOWN : path, reason);
    return false;
}

/* ---- files ------------------------------------------------------------------------------ */

static bool is_folder(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* To read a pipe or a device might keep the loop for ever.  If stat() fails, OpenSSL fails too, and
 * has the reason. */
static bool is_safe_to_read(const char *what, const char *path, const struct complaint *to)
{
    struct stat about;
    if (stat(path, &about) != 0 || S_ISREG(about.st_mode))
        return true;
    return complain(to, what, path, "it is no file");
}

static bool trust_file(SSL_CTX *context, const char *ca, const struct complaint *to)
{
    if (ca && !is_safe_to_read("ca", ca, to))
        return false;
    X509_STORE *store = tls_trust(ca);
    if (!store)
        return ca && complain(to, "ca", ca, tls_reason());
    SSL_CTX_set1_cert_store(context, store);
    X509_STORE_free(store);
    return true;
}

/* A certificate that is named is trusted, though it may be no root. */
static bool trust(SSL_CTX *context, const char *ca, const struct complaint *to)
{
    if (ca)
        X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), X509_V_FLAG_PARTIAL_CHAIN);
    if (!ca || !is_folder(ca))
        return trust_file(context, ca, to);
    if (!SSL_CTX_load_verify_locations(context, NULL, ca))
        return complain(to, "ca", ca, tls_reason());
    return true;
}

/* OpenSSL would ask the terminal. */
static int no_passphrase(char *text, int size, int writes, void *wanted)
{
    (void)text, (void)size, (void)writes;
    *(bool *)wanted = true;
    return -1;
}

static bool use_key(SSL_CTX *context, const char *key, const struct complaint *to)
{
    bool wanted = false;
    if (!is_safe_to_read("key", key, to))
        return false;
    SSL_CTX_set_default_passwd_cb(context, no_passphrase);
    SSL_CTX_set_default_passwd_cb_userdata(context, &wanted);
    if (SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) == 1)
        return true;
    return complain(to, "key", key, wanted ? "it has a passphrase" : tls_reason());
}

static bool present(SSL_CTX *context, const char *cert, const char *key, const struct complaint *to)
{
    if (!cert)
        return true;
    if (!is_safe_to_read("cert", cert, to))
        return false;
    if (SSL_CTX_use_certificate_chain_file(context, cert) != 1)
        return complain(to, "cert", cert, tls_reason());
    return use_key(context, key ? key : cert, to);
}

/* Called when the master asks for a certificate, and there is none. */
static int note_lack(SSL *ssl, X509 **cert, EVP_PKEY **key)
{
    (void)cert, (void)key;
    tls_of(ssl)->lacks_cert = true;
    return 0;
}

/* ---- names ------------------------------------------------------------------------------- */

/* An address of the internet, without the zone behind its '%'. */
static bool read_ip(const char *name, char *ip, size_t size)
{
    unsigned char bytes[sizeof(struct in6_addr)];
    snprintf(ip, size, "%.*s", (int)strcspn(name, "%"), name);
    return inet_pton(AF_INET, ip, bytes) == 1 || inet_pton(AF_INET6, ip, bytes) == 1;
}

static bool demand_name(SSL *ssl, const char *name)
{
    char ip[64];
    if (read_ip(name, ip, sizeof ip))
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), ip);
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set1_host(ssl, name);
}

static bool ask_for_name(SSL *ssl, const char *sni, const char *name)
{
    char ip[64];
    if (!sni && !read_ip(name, ip, sizeof ip))
        sni = name;
    return !sni || !*sni || SSL_set_tlsext_host_name(ssl, sni);
}

static bool set_names(SSL *ssl, const struct tls *tls)
{
    const char *name = tls_wanted_name(tls);
    if (tls_terms_verify(tls->terms)) {
        SSL_set_verify(ssl, SSL_VERIFY_PEER, tls_verify);
        if (!demand_name(ssl, name))
            return false;
    }
    return ask_for_name(ssl, tls->terms->said[TLS_SNI], name);
}

/* ---- */

static bool use_files(SSL_CTX *context, const struct tls_terms *terms, const struct complaint *to)
{
    char *const *said = terms->said;
    bool trusts = !tls_terms_verify(terms) || trust(context, said[TLS_CA], to);
    return trusts && present(context, said[TLS_CERT], said[TLS_KEY], to);
}

static bool set_context(SSL_CTX *context, const struct tls_terms *terms, const struct complaint *to)
{
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_client_cert_cb(context, note_lack);
    return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) && use_files(context, terms, to);
}

SSL *tls_setup(struct tls *tls, char *why, size_t why_size)
{
    struct complaint to = {why, why_size};
    ERR_clear_error();
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    bool good = context && set_context(context, tls->terms, &to);
    SSL *ssl = good ? SSL_new(context) : NULL;
    SSL_CTX_free(context);
    ERR_clear_error(); /* the application may use OpenSSL on this thread, too */
    if (ssl && tls_note_owner(tls, ssl) && set_names(ssl, tls))
        return ssl;
    SSL_free(ssl);
    return NULL;
}
