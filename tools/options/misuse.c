#include "misuse.h"

#include "commands.h"
#include "exits.h"
#include "failure.h"
#include "say.h"

int misuse(const struct options *options, const char *format, ...)
{
    struct text line = {0};
    va_list values;
    va_start(values, format);
    text_vformat(&line, format, values);
    va_end(values);
    if (options->command)
        text_format(&line, "; see `redlock %s --help`", options->command->name);
    else
        text_format(&line, "; see `redlock --help`");
    if (options->json)
        failure_tell(options, "", REDLOCK_E_ARGUMENT, line.bytes, NULL);
    else
        say("%s", line.bytes);
    text_free(&line);
    return EXIT_USAGE;
}
