#define _GNU_SOURCE /* secure_getenv; NOLINT(bugprone-reserved-identifier) */

#include "configured.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(SETTINGS_MASTERS_MAX == REDLOCK_MASTERS_MAX, "as many masters as a client has");
_Static_assert(SETTINGS_LABEL_MAX == REDLOCK_LABEL_MAX, "as long a label as a client has");
_Static_assert(SETTINGS_PREFIX_MAX == REDLOCK_NAME_MAX - 1, "as long a prefix as a client has");
_Static_assert(SETTING_TLS_VERIFY - SETTING_TLS_CA == TLS_SETTINGS - 1, "the same about TLS");

/* ---- The file ----------------------------------------------------------- */

static redlock_code read_file(struct configured *configured, const char *asked, char *why,
                              size_t size)
{
    char own[1];
    const char *variable = asked[0] ? NULL : secure_getenv("REDLOCK_CONFIG");
    const char *named = variable && variable[0] ? variable : asked;
    configured->path = named[0] ? named : SETTINGS_PATH;
    bool has_room = why && size;
    switch (settings_read(&configured->file, configured->path, has_room ? why : own,
                          has_room ? size : sizeof own)) {
    case SETTINGS_READ:
        return REDLOCK_OK;
    case SETTINGS_SHORT:
        return REDLOCK_E_SYSTEM;
    case SETTINGS_MISSING:
        if (named[0])
            return REDLOCK_E_ARGUMENT;
        configured->path = NULL;
        return REDLOCK_OK;
    default:
        return REDLOCK_E_ARGUMENT;
    }
}

void configured_free(struct configured *configured)
{
    settings_free(&configured->file);
}

/* ---- What is left open -------------------------------------------------- */

/* Of a text, the empty one says "none"; of a number it says nothing. */
static const char *variable_of(enum setting setting, bool may_be_empty)
{
    const char *value = secure_getenv(settings_variable(setting));
    return value && (value[0] || may_be_empty) ? value : NULL;
}

static void complete_text(const struct configured *configured, enum setting setting,
                          const char **text)
{
    if (!*text)
        *text = variable_of(setting, true);
    if (!*text)
        *text = configured->file.value[setting];
}

static redlock_code refuse_variable(enum setting setting, const char *wrong, char *why, size_t size)
{
    if (why && size)
        snprintf(why, size, "%s %s", settings_variable(setting), wrong);
    return REDLOCK_E_ARGUMENT;
}

static redlock_code complete_spare(const struct configured *configured, redlock_options *options,
                                   char *why, size_t size)
{
    const char *variable = variable_of(SETTING_SPARE, false);
    int64_t spare = configured->file.spare;
    char wrong[160];
    if (options->spare)
        return REDLOCK_OK;
    if (variable && !settings_spare(variable, &spare, wrong, sizeof wrong))
        return refuse_variable(SETTING_SPARE, wrong, why, size);
    options->spare = (int)spare;
    return REDLOCK_OK;
}

static redlock_code complete_max_ttl(const struct configured *configured, redlock_options *options,
                                     char *why, size_t size)
{
    const char *variable = variable_of(SETTING_MAX_TTL, false);
    int64_t ms = configured->file.max_ttl_ms;
    char wrong[160];
    if (options->max_ttl_ms)
        return REDLOCK_OK;
    if (variable && !settings_max_ttl(variable, &ms, wrong, sizeof wrong))
        return refuse_variable(SETTING_MAX_TTL, wrong, why, size);
    options->max_ttl_ms = ms;
    return REDLOCK_OK;
}

redlock_code configured_read(struct configured *configured, redlock_options *options, char *why,
                             size_t why_size)
{
    *configured = (struct configured){0};
    if (!options->config)
        return REDLOCK_OK;
    redlock_code code = read_file(configured, options->config, why, why_size);
    if (!code)
        code = complete_spare(configured, options, why, why_size);
    if (!code)
        code = complete_max_ttl(configured, options, why, why_size);
    complete_text(configured, SETTING_PREFIX, &options->prefix);
    complete_text(configured, SETTING_LABEL, &options->label);
    return code;
}

void configured_tls(const struct configured *configured, const char *said[TLS_SETTINGS])
{
    for (int i = 0; i < TLS_SETTINGS; i++)
        said[i] = configured->file.value[SETTING_TLS_CA + i];
}

void configured_place(const struct configured *configured, char *why, size_t why_size)
{
    char what[512];
    if (!why || !why_size)
        return;
    snprintf(what, sizeof what, "%s", why);
    unsigned line = settings_line_of(&configured->file, what);
    if (line)
        snprintf(why, why_size, "%s:%u: %s", configured->path, line, what);
}
