#include "certificate.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>

#include "unit.h"

static EVP_PKEY *make_key(void)
{
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, NULL);
    assert_int_equal(EVP_PKEY_keygen_init(context), 1);
    assert_int_equal(EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1), 1);
    assert_int_equal(EVP_PKEY_keygen(context, &key), 1);
    EVP_PKEY_CTX_free(context);
    return key;
}

static void extend(X509 *cert, X509 *issuer, int kind, const char *value)
{
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, cert, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, kind, value);
    assert_non_null(extension);
    X509_add_ext(cert, extension, -1);
    X509_EXTENSION_free(extension);
}

struct certificate certificate_make(const struct certificate *issuer, const char *subject,
                                    const char *names, long from_s, long until_s)
{
    static long serial;
    struct certificate made = {make_key(), X509_new()};
    const struct certificate *by = issuer ? issuer : &made;
    X509_set_version(made.cert, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(made.cert), ++serial);
    X509_gmtime_adj(X509_getm_notBefore(made.cert), from_s);
    X509_gmtime_adj(X509_getm_notAfter(made.cert), until_s);
    X509_set_pubkey(made.cert, made.key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(made.cert), "CN", MBSTRING_UTF8,
                               (const unsigned char *)subject, -1, -1, 0);
    X509_set_issuer_name(made.cert, X509_get_subject_name(by->cert));
    if (!issuer)
        extend(made.cert, made.cert, NID_basic_constraints, "critical,CA:TRUE");
    if (names)
        extend(made.cert, by->cert, NID_subject_alt_name, names);
    assert_true(X509_sign(made.cert, by->key, EVP_sha256()) > 0);
    return made;
}

void certificate_free(struct certificate *certificate)
{
    EVP_PKEY_free(certificate->key);
    X509_free(certificate->cert);
    *certificate = (struct certificate){0};
}

void certificate_write(const struct certificate *certificate, const char *cert, const char *key,
                       const char *passphrase)
{
    const EVP_CIPHER *cipher = passphrase ? EVP_aes_128_cbc() : NULL;
    FILE *file = cert ? fopen(cert, "we") : NULL;
    if (file) {
        assert_int_equal(PEM_write_X509(file, certificate->cert), 1);
        fclose(file);
    }
    file = key ? fopen(key, "we") : NULL;
    if (file) {
        assert_int_equal(PEM_write_PrivateKey(file, certificate->key, cipher, NULL, 0, NULL,
                                              (void *)(uintptr_t)passphrase),
                         1);
        fclose(file);
    }
}

SSL_CTX *certificate_serve(const struct certificate *certificate)
{
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    assert_int_equal(SSL_CTX_use_certificate(context, certificate->cert), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(context, certificate->key), 1);
    return context;
}
