/*
 * settings.h - reads a file of settings, such as /etc/redlock.conf: lines `key = value`.
 *
 *   # A comment begins a line, or stands behind white space.
 *   master  = redis://10.0.0.1:6379     several lines, or a list with commas between them
 *   max_ttl = 30s
 *
 * A file is right as a whole or refused, for a setting that is left out can make two holders.  Each
 * complaint has FILE:LINE, the fault, and a right line.  It never repeats the line, which may have
 * a password.
 */
#ifndef REDLOCK_SETTINGS_H
#define REDLOCK_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SETTINGS_PATH        "/etc/redlock.conf" /* where nothing names another file */
#define SETTINGS_NONE        "/dev/null"         /* the path that means: no file */
#define SETTINGS_MASTERS_MAX 15
#define SETTINGS_LABEL_MAX   64
#define SETTINGS_PREFIX_MAX  1023

/* Each setting, in one place: its name, its key, what to write, and whether it may be empty.  The
 * variable REDLOCK_NAME goes before it.  Texts are last, and of those TLS. */
#define TEXT_SETTINGS(X)                                                                           \
    X(PREFIX, prefix, "app:", true)                                                                \
    X(FLEET, fleet, "jobs", true)                                                                  \
    X(LABEL, label, "web-1", true)                                                                 \
    X(TLS_CA, tls_ca, "/etc/redlock/ca.pem", false)                                                \
    X(TLS_CERT, tls_cert, "/etc/redlock/client.pem", false)                                        \
    X(TLS_KEY, tls_key, "/etc/redlock/client.key", false)                                          \
    X(TLS_NAME, tls_name, "redis.example.org", false)                                              \
    X(TLS_SNI, tls_sni, "redis.example.org", true)                                                 \
    X(TLS_VERIFY, tls_verify, "full", false)
#define ALL_SETTINGS(X)                                                                            \
    X(NODES, master, "10.0.0.1:6379", false)                                                       \
    X(SPARE, spare, "0", false)                                                                    \
    X(MAX_TTL, max_ttl, "30s", false)                                                              \
    TEXT_SETTINGS(X)

enum setting {
#define ROW(name, ...) SETTING_##name,
    ALL_SETTINGS(ROW)
#undef ROW
        SETTINGS
};

struct settings {
    char *bytes;                 /* of the file, cut into values */
    const char *value[SETTINGS]; /* NULL: the file says nothing */
    unsigned line[SETTINGS];     /* where it stands; of the masters the first */
    char *list;                  /* the masters, as redlock_options.nodes wants them */
    unsigned masters;
    unsigned master_line[SETTINGS_MASTERS_MAX];
    int64_t number[SETTINGS]; /* spare, and max_ttl in ms; 0: the file says nothing */
    bool others_read;         /* a password is in it, and every user may read it */
};

/* SHORT: this machine lacked memory or a descriptor, and the file may be right. */
enum settings_result { SETTINGS_READ, SETTINGS_MISSING, SETTINGS_WRONG, SETTINGS_SHORT };

/* Fills `settings`, which the caller frees in any case; a sentence in `why` unless READ. */
enum settings_result settings_read(struct settings *settings, const char *path, char *why,
                                   size_t why_size);

/* Wipes what may be a password. */
void settings_free(struct settings *settings);

/* "max_ttl", and the variable that goes before it: "REDLOCK_MAX_TTL". */
const char *settings_key(enum setting setting);
const char *settings_variable(enum setting setting);

/* The line of a complaint about the list that begins "master 3, ..."; 0: it is about none. */
unsigned settings_line_of(const struct settings *settings, const char *complaint);

/* Printable ASCII without spaces, and not too long. */
bool settings_is_label(const char *text);

/* Reads spare or max_ttl, of a variable, too; false with the end of a sentence in `why`. */
bool settings_number(enum setting setting, const char *text, int64_t *number, char *why,
                     size_t why_size);

#endif
