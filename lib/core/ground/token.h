/*
 * token.h - the random part of a token: TOKEN_TEXT digits of base64url.
 *
 * It is in the header, for each acquire draws one.
 */
#ifndef REDLOCK_CORE_TOKEN_H
#define REDLOCK_CORE_TOKEN_H

#include "ground/sanity.h"
#include "ground/shared.h"

_Static_assert(TOKEN_RANDOM % 3 == 1, "one byte is left for the last two digits");

static inline void token_write(char *to, const uint8_t *bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (unsigned i = 0; i + 3 <= TOKEN_RANDOM; i += 3) {
        uint32_t bits = (uint32_t)bytes[i] << 16 | (uint32_t)bytes[i + 1] << 8 | bytes[i + 2];
        *to++ = digits[bits >> 18];
        *to++ = digits[bits >> 12 & 63];
        *to++ = digits[bits >> 6 & 63];
        *to++ = digits[bits & 63];
    }
    uint32_t last = bytes[TOKEN_RANDOM - 1];
    *to++ = digits[last >> 2];
    *to = digits[last << 4 & 63];
}

/* Takes the bytes from what the shell passed to this step. */
static inline void token_draw(struct engine *e, char *to)
{
    ASSERT(e->random && e->random->left >= TOKEN_RANDOM);
    token_write(to, e->random->bytes);
    e->random->bytes += TOKEN_RANDOM;
    e->random->left -= TOKEN_RANDOM;
}

#endif
