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

/* Of prefix, fleet and label, the empty one says "none"; of others it says nothing. */
static const char *variable_of(enum setting setting)
{
    const char *value = secure_getenv(settings_variable(setting));
    bool may_be_empty = setting >= SETTING_PREFIX && setting < SETTING_TLS_CA;
    return value && (value[0] || may_be_empty) ? value : NULL;
}

/* Without options.config the settings of TLS alone may come from elsewhere. */
static void complete_texts(struct configured *configured, redlock_options *options)
{
    const char **const texts[] = {
#define ROW(name, key, ...) [SETTING_##name] = &options->key,
        TEXT_SETTINGS(ROW)
#undef ROW
    };
    for (int i = options->config ? SETTING_PREFIX : SETTING_TLS_CA; i < SETTINGS; i++) {
        configured->says_tls |= i >= SETTING_TLS_CA && *texts[i];
        if (!*texts[i])
            *texts[i] = variable_of((enum setting)i);
        if (!*texts[i])
            *texts[i] = configured->file.value[i];
    }
}

/* *option, if it is 0. */
static redlock_code read_number(const struct configured *configured, enum setting setting,
                                int64_t *option, char *why, size_t size)
{
    const char *variable = variable_of(setting);
    char wrong[160];
    if (*option)
        return REDLOCK_OK;
    *option = configured->file.number[setting];
    if (!variable || settings_number(setting, variable, option, wrong, sizeof wrong))
        return REDLOCK_OK;
    if (why && size)
        snprintf(why, size, "%s %s", settings_variable(setting), wrong);
    return REDLOCK_E_ARGUMENT;
}

redlock_code configured_read(struct configured *configured, redlock_options *options, char *why,
                             size_t why_size)
{
    redlock_code code = REDLOCK_OK;
    int64_t spare = options->spare;
    *configured = (struct configured){0};
    if (options->config)
        code = read_file(configured, options->config, why, why_size);
    if (options->config && !code)
        code = read_number(configured, SETTING_SPARE, &spare, why, why_size);
    if (options->config && !code)
        code = read_number(configured, SETTING_MAX_TTL, &options->max_ttl_ms, why, why_size);
    options->spare = (int)spare;
    complete_texts(configured, options);
    return code;
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
