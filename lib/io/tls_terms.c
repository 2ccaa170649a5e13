#include "tls_terms.h"

#include <stdlib.h>
#include <string.h>

#define NAME_MAX_LENGTH 253

const char *const tls_setting_names[TLS_SETTINGS] = {
    [TLS_CA] = "ca",     [TLS_CERT] = "cert", [TLS_KEY] = "key",
    [TLS_NAME] = "name", [TLS_SNI] = "sni",   [TLS_VERIFY] = "verify",
};

bool tls_terms_complete(struct tls_terms *terms, const char *const usual[TLS_SETTINGS])
{
    /* A key belongs to the certificate that is named beside it. */
    bool has_own = terms->said[TLS_CERT];
    for (int i = 0; i < TLS_SETTINGS; i++) {
        if (terms->said[i] || !usual[i] || (i == TLS_KEY && has_own))
            continue;
        terms->said[i] = strdup(usual[i]);
        if (!terms->said[i])
            return false;
    }
    return true;
}

static bool is_too_long(const char *name)
{
    return name && strlen(name) > NAME_MAX_LENGTH;
}

/* To OpenSSL such a name is all hosts of that domain. */
static bool is_domain(const char *name)
{
    return name && name[0] == '.';
}

static bool is_known_verify(const char *verify)
{
    return !verify || strcmp(verify, "none") == 0 || strcmp(verify, "full") == 0;
}

const char *tls_terms_wrong(const struct tls_terms *terms)
{
    char *const *said = terms->said;
    for (int i = TLS_CA; i <= TLS_NAME; i++)
        if (said[i] && !said[i][0])
            return "ca, cert, key and name of TLS may be left out, but not be empty";
    if (said[TLS_KEY] && !said[TLS_CERT])
        return "TLS has a key, but no cert: give its certificate too";
    if (is_too_long(said[TLS_NAME]) || is_too_long(said[TLS_SNI]))
        return "name and sni of TLS have at most 253 bytes";
    if (is_domain(said[TLS_NAME]))
        return "name of TLS is a host or an address, and does not begin with a dot";
    if (!is_known_verify(said[TLS_VERIFY]))
        return "verify of TLS is none or full";
    return NULL;
}

bool tls_terms_verify(const struct tls_terms *terms)
{
    const char *verify = terms->said[TLS_VERIFY];
    return !verify || strcmp(verify, "none") != 0;
}

void tls_terms_clear(struct tls_terms *terms)
{
    for (int i = 0; i < TLS_SETTINGS; i++)
        free(terms->said[i]);
    *terms = (struct tls_terms){0};
}
