/*
 * configured.h - what the options leave open: the environment says it, or a file of settings.
 */
#ifndef REDLOCK_CLIENT_CONFIGURED_H
#define REDLOCK_CLIENT_CONFIGURED_H

#include "client.h"
#include "settings.h"

struct configured {
    struct settings file; /* says nothing without options.config */
    const char *path;     /* NULL: there is no file */
    bool says_tls;        /* the options did, before they were completed */
};

/* Reads the file that options.config asks for, and completes the options.  They point into
 * `configured`, to be freed in any case with configured_free().  A sentence in `why` on failure. */
redlock_code configured_read(struct configured *configured, redlock_options *options, char *why,
                             size_t why_size);
void configured_free(struct configured *configured);

/* Puts file and line before a complaint about a master of the file. */
void configured_place(const struct configured *configured, char *why, size_t why_size);

#endif
