/*
 * raw_reply.h - a reply as a master sent it.  hiredis's reader does the parsing; its builder
 * functions are ours and fill one flat, bounded struct instead of a tree.
 * So reading a reply allocates nothing, and no reply can make us allocate much.
 */
#ifndef REDLOCK_WIRE_RAW_REPLY_H
#define REDLOCK_WIRE_RAW_REPLY_H

#include <hiredis/hiredis.h>

#include "command.h"

#define REPLY_FIELDS_MAX BATCH_MAX /* elements of an array; a longer one is a protocol error */
#define REPLY_TEXT_MAX   2048      /* bytes of all strings kept; longer ones are cut */
#define REPLY_LONG_MAX   131400 /* bytes of strings beside those: a name, and what is said of it */
#define REPLY_BYTES_MAX  200000 /* unparsed bytes that a master may make us keep */

enum field_kind { FIELD_NIL, FIELD_INTEGER, FIELD_STRING, FIELD_STATUS, FIELD_ERROR };

struct field {
    enum field_kind kind;
    long long integer; /* of a string that was cut: its length */
    const char *text;  /* of a string, a status or an error; behind its length stands a NUL */
    size_t length;
};

/* One reply, flat: an array of one level, or a single field, which is no array. */
struct raw_reply {
    bool is_array;
    unsigned count;
    struct field fields[REPLY_FIELDS_MAX];
    char text[REPLY_TEXT_MAX];
    size_t used;
    char *long_text;  /* of strings that do not fit; NULL: none came yet */
    size_t long_used; /* their bytes */
    bool failed;      /* memory was out for the last one, which was cut */
};

/* Makes `reader` build into `raw`. */
void reply_attach(redisReader *reader, struct raw_reply *raw);
/* Frees what `raw` has in memory; it may be used again. */
void reply_free(struct raw_reply *raw);

#endif
