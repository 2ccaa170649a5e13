#include "trace.h"

#include <stdarg.h>
#include <stdio.h>

void trace_line(const struct world *world, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    printf("%10.3f ms  ", (double)world->now / 1000);
    vprintf(format, arguments);
    putchar('\n');
    va_end(arguments);
}

const char *answer_name(enum answer answer)
{
    static const char *const names[] = {"yes",      "healed", "ahead", "queued", "read",
                                        "held",     "absent", "late",  "hello",  "noscript",
                                        "no clock", "error",  "lost"};
    return names[answer];
}

const char *names_text(const uint8_t *names, unsigned count)
{
    static char text[5 * MODEL_NAMES + 1];
    char *to = text;
    for (unsigned i = 0; i < count; i++) {
        if (i)
            *to++ = '+';
        to += sprintf(to, names[i] < MODEL_NAMES ? "%c" : "#%d",
                      names[i] < MODEL_NAMES ? 'a' + names[i] : names[i]);
    }
    *to = '\0';
    return text;
}

const char *modes_text(unsigned shared, unsigned count)
{
    static char text[MODEL_NAMES + 2];
    char *to = text;
    if (shared)
        *to++ = '/';
    for (unsigned i = 0; shared && i < count; i++)
        *to++ = shared >> i & 1 ? 's' : 'x';
    *to = '\0';
    return text;
}

const char *clock_text(usec clock)
{
    static char text[40];
    snprintf(text, sizeof text, ", clock %lld", (long long)clock);
    return clock ? text : "";
}
