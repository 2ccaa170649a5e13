#define _GNU_SOURCE /* explicit_bzero; NOLINT(bugprone-reserved-identifier) */

#include "sync_client.h"

#include <stdlib.h>
#include <string.h>

static const size_t texts[] = {
    offsetof(redlock_options, nodes),      offsetof(redlock_options, label),
    offsetof(redlock_options, prefix),     offsetof(redlock_options, fleet),
    offsetof(redlock_options, nodes_file), offsetof(redlock_options, tls_ca),
    offsetof(redlock_options, tls_cert),   offsetof(redlock_options, tls_key),
    offsetof(redlock_options, tls_name),   offsetof(redlock_options, tls_sni),
    offsetof(redlock_options, tls_verify), offsetof(redlock_options, config),
};

#define TEXTS (sizeof texts / sizeof texts[0])

static char **text_at(redlock_options *options, size_t index)
{
    return (char **)(void *)((char *)options + texts[index]);
}

bool sync_options_keep(redlock_options *options)
{
    bool kept = true;
    for (size_t i = 0; i < TEXTS; i++) {
        char **text = text_at(options, i);
        bool is_said = *text;
        *text = is_said ? strdup(*text) : NULL;
        kept &= !is_said || *text;
    }
    return kept;
}

void sync_options_drop(redlock_options *options)
{
    for (size_t i = 0; i < TEXTS; i++) {
        char **text = text_at(options, i);
        if (*text)
            explicit_bzero(*text, strlen(*text));
        free(*text);
        *text = NULL;
    }
}
