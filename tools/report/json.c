#include "json.h"

#include <inttypes.h>
#include <string.h>

static void add_character(struct text *out, const unsigned char *bytes, size_t length)
{
    if (length == 0 || utf8_steers(bytes, length)) {
        text_format(out, "\\u%04x", length == 0 ? bytes[0] : utf8_point(bytes, length));
        return;
    }
    if (bytes[0] == '"' || bytes[0] == '\\')
        text_add(out, "\\", 1);
    text_add(out, bytes, length);
}

static void add_quoted(struct text *out, const void *bytes, size_t length)
{
    const unsigned char *from = bytes;
    const unsigned char *end = from + length;
    text_add(out, "\"", 1);
    while (from < end) {
        size_t step = utf8_length(from, (size_t)(end - from));
        add_character(out, from, step);
        from += step > 0 ? step : 1;
    }
    text_add(out, "\"", 1);
}

static void begin(struct json *json, const char *key)
{
    if (json->comma)
        text_add(json->out, ",", 1);
    json->comma = true;
    if (key) {
        add_quoted(json->out, key, strlen(key));
        text_add(json->out, ":", 1);
    }
}

void json_open(struct json *json, const char *key, char bracket)
{
    begin(json, key);
    text_add(json->out, &bracket, 1);
    json->comma = false;
}

void json_close(struct json *json, char bracket)
{
    text_add(json->out, &bracket, 1);
    json->comma = true;
}

void json_bytes(struct json *json, const char *key, const void *bytes, size_t length)
{
    begin(json, key);
    add_quoted(json->out, bytes, length);
}

void json_string(struct json *json, const char *key, const char *string)
{
    if (string)
        json_bytes(json, key, string, strlen(string));
    else
        json_null(json, key);
}

void json_word(struct json *json, const char *key, const char *word)
{
    begin(json, key);
    text_add(json->out, "\"", 1);
    for (; *word; word++)
        text_add(json->out, *word == ' ' ? "_" : word, 1);
    text_add(json->out, "\"", 1);
}

void json_number(struct json *json, const char *key, int64_t number)
{
    begin(json, key);
    text_format(json->out, "%" PRId64, number);
}

void json_bool(struct json *json, const char *key, bool value)
{
    begin(json, key);
    text_format(json->out, "%s", value ? "true" : "false");
}

void json_null(struct json *json, const char *key)
{
    begin(json, key);
    text_format(json->out, "null");
}

void json_known_number(struct json *json, const char *key, bool known, int64_t number)
{
    if (known)
        json_number(json, key, number);
    else
        json_null(json, key);
}

void json_known_bool(struct json *json, const char *key, bool known, bool value)
{
    if (known)
        json_bool(json, key, value);
    else
        json_null(json, key);
}

void json_filled(struct json *json, const char *key, const char *string)
{
    json_string(json, key, string && string[0] ? string : NULL);
}

void json_end(struct json *json)
{
    json_close(json, '}');
    text_add(json->out, "\n", 1);
}
