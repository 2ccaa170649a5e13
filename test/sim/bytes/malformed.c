#include "malformed.h"

#include <string.h>

#include "reply.h"

/* A string that does not end: a client must not keep more of it than it can stand. */
static void write_endless(struct buffer *to)
{
    static const char header[] = "$16777216\r\n";
    size_t length = REPLY_BYTES_MAX + sizeof header;
    buffer_append(to, header, sizeof header - 1);
    char *end = buffer_reserve(to, length);
    memset(end, 'x', length);
    buffer_advance(to, length);
}

static void write_long_array(struct buffer *to)
{
    buffer_append(to, "*33\r\n", 5);
    for (unsigned i = 0; i < 33; i++)
        buffer_append(to, ":1\r\n", 4);
}

void malformed_write(struct buffer *to, struct chance *chance)
{
    static const char *const texts[] = {
        "?\r\n",              /* a type that there is not */
        ":12a\r\n",           /* no number */
        "$-7\r\n",            /* no length */
        "*-7\r\n",            /* likewise */
        "*1\r\n*1\r\n:1\r\n", /* too deep */
        "*1\r\n$-1\r\n",      /* well formed, and answers nothing */
        "*0\r\n",             /* likewise */
        "\r\n",               /* an empty line */
    };
    unsigned kinds = sizeof texts / sizeof texts[0];
    unsigned kind = chance_below(chance, kinds + 2);
    if (kind < kinds)
        buffer_append(to, texts[kind], strlen(texts[kind]));
    else if (kind == kinds)
        write_long_array(to);
    else
        write_endless(to);
}
