#include "option_file.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "exits.h"
#include "failure.h"
#include "say.h"

/* ---- Whence a value came ------------------------------------------------ */

static const char **place_of_text(struct options *options, enum setting setting)
{
    switch (setting) {
    case SETTING_PREFIX:
        return &options->prefix;
    case SETTING_LABEL:
        return &options->label;
    case SETTING_TLS_CA:
        return &options->tls_ca;
    case SETTING_TLS_CERT:
        return &options->tls_cert;
    case SETTING_TLS_KEY:
        return &options->tls_key;
    case SETTING_TLS_NAME:
        return &options->tls_name;
    case SETTING_TLS_SNI:
        return &options->tls_sni;
    case SETTING_TLS_VERIFY:
        return &options->tls_verify;
    default:
        return NULL;
    }
}

/* The library reads the variables of TLS, and the file's, itself: they need no master with TLS. */
static bool is_said(struct options *options, enum setting setting, enum origin origin)
{
    const char *variable = getenv(settings_variable(setting));
    const char **text = place_of_text(options, setting);
    if (setting >= SETTING_TLS_CA && origin == ORIGIN_ENVIRONMENT)
        return variable && variable[0];
    if (setting >= SETTING_TLS_CA && origin == ORIGIN_FILE)
        return options->settings.value[setting];
    if (text)
        return *text;
    return setting == SETTING_MASTER  ? options->nodes || options->nodes_file
           : setting == SETTING_SPARE ? options->spare >= 0
                                      : options->max_ttl_ms > 0;
}

void option_note_origin(struct options *options, enum origin origin)
{
    for (int i = 0; i < SETTINGS; i++)
        if (options->origin[i] == ORIGIN_DEFAULT && is_said(options, (enum setting)i, origin))
            options->origin[i] = origin;
}

const char *options_text(const struct options *options, enum setting setting)
{
    switch (options->origin[setting]) {
    case ORIGIN_FILE:
        return options->settings.value[setting];
    case ORIGIN_ENVIRONMENT:
        return getenv(settings_variable(setting));
    case ORIGIN_OPTION:
        return *place_of_text((struct options *)options, setting);
    default:
        return NULL;
    }
}

/* ---- The file ----------------------------------------------------------- */

static int refuse_file(const struct options *options, const char *why, enum settings_result result)
{
    if (options->json)
        failure_tell(options, "", REDLOCK_E_ARGUMENT, why, NULL);
    else
        say("%s", why);
    return result == SETTINGS_SHORT ? EXIT_INTERNAL : EXIT_NODES;
}

/* Nothing that the command line or the environment says is touched. */
static void fill_open(struct options *options)
{
    const struct settings *settings = &options->settings;
    if (!options->nodes && !options->nodes_file && settings->masters)
        options->nodes = settings->list;
    if (!options->prefix)
        options->prefix = settings->value[SETTING_PREFIX];
    if (!options->label)
        options->label = settings->value[SETTING_LABEL];
    if (options->spare < 0 && settings->value[SETTING_SPARE])
        options->spare = (int)settings->spare;
    if (!options->max_ttl_ms)
        options->max_ttl_ms = settings->max_ttl_ms;
}

int option_file(struct options *options)
{
    const char *variable = getenv("REDLOCK_CONFIG");
    char why[PATH_MAX + 512];
    bool named = options->config || (variable && variable[0]);
    if (!options->config)
        options->config = named ? variable : SETTINGS_PATH;
    enum settings_result result =
        settings_read(&options->settings, options->config, why, sizeof why);
    if (result == SETTINGS_MISSING && !named) {
        options->config = NULL;
        return GO_ON;
    }
    if (result != SETTINGS_READ)
        return refuse_file(options, why, result);
    if (options->settings.others_read && !options->quiet && !options->verbose)
        say_at(REDLOCK_LOG_WARNING,
               "every user of this machine may read the passwords in %s: chmod o-r it",
               options->config);
    fill_open(options);
    option_note_origin(options, ORIGIN_FILE);
    return GO_ON;
}
