#include "option_values.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redlock/recipes.h"
#include "span.h"

static void *place_of(struct options *options, const struct option_row *row)
{
    return (char *)options + row->at;
}

/* ---- spans of time ------------------------------------------------------ */

/* Where 0 would silently mean "the default" it is refused. */
static int take_span(struct options *options, const struct option_row *row, const char *text)
{
    char why[200];
    int64_t *ms = place_of(options, row);
    if (!span_parse(text, ms, why, sizeof(why)))
        return misuse(options, "--%s: '%s' %s", row->name, text, why);
    if (*ms == INT64_MAX && row->kind != OPTION_SPAN_OR_FOREVER &&
        row->kind != OPTION_SECONDS_OR_SPAN)
        return misuse(options, "--%s: cannot be forever", row->name);
    if (*ms == 0 && row->kind == OPTION_SPAN_ABOVE_0)
        return misuse(options, "--%s: must be more than 0", row->name);
    return GO_ON;
}

/* As flock(1) has it, which knows no units. */
static int take_seconds_or_span(struct options *options, const struct option_row *row,
                                const char *text)
{
    char with_unit[64];
    bool is_plain = text[0] && strspn(text, "0123456789.") == strlen(text);
    snprintf(with_unit, sizeof with_unit, "%ss", text);
    return take_span(options, row, is_plain ? with_unit : text);
}

/* ---- numbers ------------------------------------------------------------ */

static bool read_number(const char *text, int64_t least, int64_t most, int64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoll(text, &end, 10);
    return end != text && !*end && !errno && *number >= least && *number <= most;
}

static int take_number(struct options *options, const struct option_row *row, const char *text)
{
    if (!read_number(text, row->least, row->most, place_of(options, row)))
        return misuse(options, "--%s: '%s' is not a number from %lld to %lld", row->name, text,
                      (long long)row->least, (long long)row->most);
    return GO_ON;
}

static int take_spare(struct options *options, const char *text)
{
    int64_t spare;
    char why[160];
    if (!settings_number(SETTING_SPARE, text, &spare, why, sizeof why))
        return misuse(options, "--spare: '%s' %s", text, why);
    options->spare = (int)spare;
    return GO_ON;
}

static int take_permits(struct options *options, const char *text)
{
    int64_t permits;
    if (!read_number(text, 1, REDLOCK_PERMITS_MAX, &permits))
        return misuse(options, "--permits: '%s' is not a number of permits from 1 to %d", text,
                      REDLOCK_PERMITS_MAX);
    options->permits = (unsigned)permits;
    return GO_ON;
}

/* ---- texts -------------------------------------------------------------- */

static int take_value(struct options *options, const char *text)
{
    if (strlen(text) > REDLOCK_VALUE_MAX)
        return misuse(options, "--value: %zu bytes are too long; at most %d", strlen(text),
                      REDLOCK_VALUE_MAX);
    options->value = text;
    return GO_ON;
}

static int take_metrics_file(struct options *options, const char *text)
{
    if (!text[0])
        return misuse(options, "--metrics-file: the path is empty");
    options->metrics_file = text;
    return GO_ON;
}

/* Without a value it is about all names; with one it gives another name. */
static int take_shared(struct options *options, const char *text)
{
    if (!text)
        options->shared = true;
    else if (!text[0])
        return misuse(options, "--shared=: give a name behind it, or none for all names");
    else
        options->shared_names[options->shared_names_count++] = text;
    return GO_ON;
}

/* ---- any ---------------------------------------------------------------- */

int option_take(struct options *options, const struct option_row *row, const char *text)
{
    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)place_of(options, row) = true;
        return GO_ON;
    case OPTION_TEXT:
        *(const char **)place_of(options, row) = text;
        return GO_ON;
    case OPTION_SPAN:
    case OPTION_SPAN_ABOVE_0:
    case OPTION_SPAN_OR_FOREVER:
        return take_span(options, row, text);
    case OPTION_SECONDS_OR_SPAN:
        return take_seconds_or_span(options, row, text);
    case OPTION_NONBLOCK:
        options->wait_ms = 0;
        return GO_ON;
    case OPTION_NUMBER:
        return take_number(options, row, text);
    case OPTION_SPARE:
        return take_spare(options, text);
    case OPTION_SHARED:
        return take_shared(options, text);
    case OPTION_PERMITS:
        return take_permits(options, text);
    case OPTION_VALUE:
        return take_value(options, text);
    case OPTION_METRICS_FILE:
        return take_metrics_file(options, text);
    case OPTION_VERSION:
    case OPTION_HELP:
        break; /* they have no value, and end the command */
    }
    return GO_ON;
}
