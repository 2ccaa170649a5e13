/*
 * eval.h - the scripts, and how a command calls one: by its hash, or with its text.
 */
#ifndef REDLOCK_WIRE_EVAL_H
#define REDLOCK_WIRE_EVAL_H

#include "ground/event.h"
#include "resp.h"

struct script {
    const char *call; /* EVALSHA and the hash */
    const char *text;
    size_t length;
};

#define EVALSHA     "$7\r\nEVALSHA\r\n$40\r\n"
#define CALL_LENGTH (sizeof EVALSHA - 1 + 40 + 2)
#define CLOCK_KEY   "$13\r\nredlock:clock\r\n"

/* The scripts of a kind: for one request, and for several if these may go in one command.  Both
 * again if shared names need others, and one for a slot if that needs another. */
/* clang-format off */
#define SCRIPTS_OF_KIND(kind, name, token, takes, sets, clock, batch, modes, slot)                 \
    ROW(kind, name)                                                                                \
    REQUEST_IF_##batch(ROW(kind##_EACH, name##_each))                                              \
    REQUEST_IF_##modes(ROW(kind##_SHARED, name##_shared))                                          \
    REQUEST_IF_##modes(REQUEST_IF_##batch(ROW(kind##_SHARED_EACH, name##_shared_each)))            \
    REQUEST_IF_##slot(ROW(kind##_SLOT, name##_slot))
#define ALL_SCRIPTS                                                                                \
    CLAIM_REQUESTS(SCRIPTS_OF_KIND) ROW(AGREE, agree) TASK_REQUESTS(ROW) ROW(HELLO, hello)
/* clang-format on */

enum script_number {
#define ROW(kind, name) SCRIPT_##kind,
    ALL_SCRIPTS
#undef ROW
        SCRIPTS
};
extern const struct script scripts[SCRIPTS];
extern const size_t scripts_room; /* for the texts of all */

/* The text of the script whose hash is at `hash`; NULL if it is none of ours. */
const char *eval_text(const char *hash);

/* The keys and arguments follow. */
static inline char *put_script(char *to, const struct script *script, bool whole, unsigned keys,
                               unsigned arguments)
{
    to = put_header(to, '*', 3 + keys + arguments);
    if (whole) {
        to = PUT(to, "$4\r\nEVAL\r\n");
        to = put_bulk(to, script->text, script->length);
    } else {
        to = put_bytes(to, script->call, CALL_LENGTH);
    }
    return put_integer(to, keys);
}

#endif
