#include "forge.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ASKED_MOST 4096 /* requests of one connection that are not yet answered */

struct bytes {
    char *at;
    size_t length;
};

struct forger {
    forge *forge;
    void *data;
    struct bytes requests, replies; /* not yet whole */
    unsigned first, count;
    enum asked asked[ASKED_MOST];
};

/* ---- RESP ---- */

/* The length of a value; 0 if it is not yet whole. */
static size_t size_of(const char *at, size_t length)
{
    const char *line = length ? memchr(at, '\n', length) : NULL;
    if (!line)
        return 0;
    size_t size = (size_t)(line + 1 - at);
    long number = *at == '$' || *at == '*' ? strtol(at + 1, NULL, 10) : -1;
    if (*at == '$' && number >= 0)
        size += (size_t)number + 2;
    for (long i = 0; *at == '*' && i < number; i++) {
        size_t item = size < length ? size_of(at + size, length - size) : 0;
        if (!item)
            return 0;
        size += item;
    }
    return size <= length ? size : 0;
}

/* One item of a whole array; NULL beyond its end. */
static const char *item_of(const char *at, size_t length, unsigned index)
{
    const char *end = at + length;
    if (*at != '*' || strtol(at + 1, NULL, 10) <= (long)index)
        return NULL;
    at = (const char *)memchr(at, '\n', length) + 1;
    for (; index > 0; index--)
        at += size_of(at, (size_t)(end - at));
    return at;
}

static void append(struct bytes *bytes, const char *more, size_t length)
{
    bytes->at = realloc(bytes->at, bytes->length + length + 1);
    if (!bytes->at)
        abort();
    memcpy(bytes->at + bytes->length, more, length);
    bytes->length += length;
}

static void drop(struct bytes *bytes, size_t length)
{
    memmove(bytes->at, bytes->at + length, bytes->length - length);
    bytes->length -= length;
}

/* ---- Answers ---- */

int64_t answer_number(const struct answer *answer, unsigned index)
{
    const char *item = item_of(answer->bytes, answer->length, index);
    return item && *item == ':' ? strtoll(item + 1, NULL, 10) : INT64_MIN;
}

void answer_set_number(struct answer *answer, unsigned index, int64_t number)
{
    const char *item = item_of(answer->bytes, answer->length, index);
    if (!item || *item != ':')
        return;
    size_t before = (size_t)(item - answer->bytes);
    size_t size = size_of(item, answer->length - before);
    struct answer old = *answer;
    answer_set(answer, "%.*s:%lld\r\n%.*s", (int)before, old.bytes, (long long)number,
               (int)(old.length - before - size), old.bytes + before + size);
}

void answer_set(struct answer *answer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    answer->length = (size_t)vsnprintf(answer->bytes, sizeof answer->bytes, format, arguments);
    va_end(arguments);
    if (answer->length >= sizeof answer->bytes)
        abort();
}

/* ---- Requests ---- */

static bool is_word(const char *item, const char *word)
{
    size_t length = strlen(word);
    return item && strtoul(item + 1, NULL, 10) == length &&
           strncasecmp(strchr(item, '\n') + 1, word, length) == 0;
}

/* Scripts that move the logical clock have its key behind the names; a waiter's last argument is
 * its channel. */
static enum asked kind_of(const char *request, size_t length)
{
    const char *command = item_of(request, length, 0), *keys = item_of(request, length, 2);
    if (!keys || !(is_word(command, "EVAL") || is_word(command, "EVALSHA")))
        return ASKED_OTHER;
    unsigned names = (unsigned)strtoul(strchr(keys, '\n') + 1, NULL, 10);
    if (!is_word(item_of(request, length, 2 + names), "redlock:clock"))
        return ASKED_OTHER;
    unsigned words = (unsigned)strtoul(request + 1, NULL, 10);
    const char *last = strchr(item_of(request, length, words - 1), '\n') + 1;
    if (names == 1)
        return ASKED_HELLO;
    return strncmp(last, "redlock:", 8) == 0 ? ASKED_QUEUE : ASKED_GRANT;
}

void forger_ask(struct forger *forger, const char *bytes, size_t length)
{
    size_t size;
    append(&forger->requests, bytes, length);
    while ((size = size_of(forger->requests.at, forger->requests.length))) {
        if (forger->count == ASKED_MOST)
            abort();
        forger->asked[(forger->first + forger->count++) % ASKED_MOST] =
            kind_of(forger->requests.at, size);
        drop(&forger->requests, size);
    }
}

/* ---- Replies ---- */

static enum asked next_asked(struct forger *forger)
{
    if (!forger->count)
        return ASKED_OTHER; /* it came unasked */
    enum asked asked = forger->asked[forger->first];
    forger->first = (forger->first + 1) % ASKED_MOST;
    forger->count--;
    return asked;
}

void forger_answer(struct forger *forger, const char *bytes, size_t length,
                   void (*say)(void *to, const char *bytes, size_t length), void *to)
{
    size_t size;
    append(&forger->replies, bytes, length);
    while ((size = size_of(forger->replies.at, forger->replies.length))) {
        enum asked asked = next_asked(forger);
        struct answer answer = {.length = size};
        if (size < sizeof answer.bytes) {
            memcpy(answer.bytes, forger->replies.at, size);
            forger->forge(forger->data, asked, &answer);
            say(to, answer.bytes, answer.length);
        } else {
            say(to, forger->replies.at, size);
        }
        drop(&forger->replies, size);
    }
}

struct forger *forger_new(forge *forge, void *data)
{
    struct forger *forger = calloc(1, sizeof *forger);
    if (!forger)
        abort();
    forger->forge = forge;
    forger->data = data;
    return forger;
}

void forger_free(struct forger *forger)
{
    if (!forger)
        return;
    free(forger->requests.at);
    free(forger->replies.at);
    free(forger);
}
