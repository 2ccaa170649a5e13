#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

#include "printable.h"
#include "tls_parts.h"

static bool put_string(char *to, size_t size, const ASN1_STRING *text)
{
    int length = text ? ASN1_STRING_length(text) : 0;
    snprintf(to, size, "%.*s", length, length ? (const char *)ASN1_STRING_get0_data(text) : "");
    make_printable(to, strlen(to));
    return *to;
}

static bool put_common_name(X509_NAME *name, char *to, size_t size)
{
    int at = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
    return at >= 0 && put_string(to, size, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
}

static bool put_host(const GENERAL_NAMES *names, char *to, size_t size)
{
    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
        if (name->type == GEN_DNS && put_string(to, size, name->d.dNSName))
            return true;
    }
    return false;
}

/* Its first host, as the wanted name is looked for among the hosts; else its subject. */
void tls_name_of(X509 *certificate, char *name, size_t size)
{
    GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    bool found = names && put_host(names, name, size);
    GENERAL_NAMES_free(names);
    if (!found && !put_common_name(X509_get_subject_name(certificate), name, size))
        snprintf(name, size, "nobody");
}

void tls_issuer_of(X509 *certificate, char *name, size_t size)
{
    if (!put_common_name(X509_get_issuer_name(certificate), name, size))
        snprintf(name, size, "one without a name");
}
