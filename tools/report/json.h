/*
 * json.h - writes JSON into a text.
 *
 * The key is NULL inside an array and for the document itself.  Strings are any bytes.  A byte that
 * belongs to no valid UTF-8 character becomes \u00XX.  A character that steers a terminal becomes
 * \uXXXX: people read JSON on terminals, too.
 */
#ifndef REDLOCK_TOOLS_JSON_H
#define REDLOCK_TOOLS_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "text.h"

struct json {
    struct text *out;
    bool comma; /* the next value stands behind another one */
};

/* bracket: '{' or '[', and its counterpart. */
void json_open(struct json *json, const char *key, char bracket);
void json_close(struct json *json, char bracket);

void json_bytes(struct json *json, const char *key, const void *bytes, size_t length);
void json_string(struct json *json, const char *key, const char *string); /* NULL: null */
/* A word of a fixed set, such as "at risk": as "at_risk", for programs. */
void json_word(struct json *json, const char *key, const char *word);
void json_number(struct json *json, const char *key, int64_t number);
void json_bool(struct json *json, const char *key, bool value);
void json_null(struct json *json, const char *key);

/* null where it is not known: a number, a truth, a string that is empty. */
void json_known_number(struct json *json, const char *key, bool known, int64_t number);
void json_known_bool(struct json *json, const char *key, bool known, bool value);
void json_filled(struct json *json, const char *key, const char *string);

/* The end of a document that stands on a line of its own. */
void json_end(struct json *json);

#endif
