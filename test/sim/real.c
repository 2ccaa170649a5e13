#include "checks.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void real_die(const char *what)
{
    fprintf(stderr, "differential: %s\n", what);
    exit(2);
}

static redisReply *ask(redisContext *context, const char *format, va_list arguments)
{
    redisReply *reply = redisvCommand(context, format, arguments);
    if (!reply)
        real_die(format);
    return reply;
}

redisReply *real_ask(redisContext *context, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    redisReply *reply = ask(context, format, arguments);
    va_end(arguments);
    return reply;
}

int64_t real_integer(redisContext *context, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    redisReply *reply = ask(context, format, arguments);
    va_end(arguments);
    if (reply->type != REDIS_REPLY_INTEGER)
        real_die(format);
    int64_t integer = reply->integer;
    freeReplyObject(reply);
    return integer;
}

int64_t real_ms(redisContext *context)
{
    redisReply *reply = real_ask(context, "TIME");
    int64_t ms = strtoll(reply->element[0]->str, NULL, 10) * 1000 +
                 strtoll(reply->element[1]->str, NULL, 10) / 1000;
    freeReplyObject(reply);
    return ms;
}

uint32_t number_in(const char *text)
{
    return (uint32_t)strtoul(text + strcspn(text, "0123456789"), NULL, 10);
}

bool numbers_in(struct slice lines, uint32_t *numbers)
{
    const char *at = lines.bytes, *end = at + lines.length;
    uint32_t last = 0;
    bool ascend = true;
    *numbers = 0;
    while (at < end) {
        const char *line = memchr(at, '\n', (size_t)(end - at));
        uint32_t number = number_in(at);
        ascend &= number > last;
        last = number;
        *numbers |= 1U << number;
        at = line ? line + 1 : end;
    }
    return ascend;
}
