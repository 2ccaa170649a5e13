#include "option_file.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "exits.h"
#include "failure.h"
#include "say.h"

/* ---- Whence a value came ------------------------------------------------ */

static bool is_said(const struct options *options, enum setting setting)
{
    return setting == SETTING_NODES     ? options->nodes || options->nodes_file
           : setting == SETTING_SPARE   ? options->spare >= 0
           : setting == SETTING_MAX_TTL ? options->max_ttl_ms > 0
                                        : options->text[setting] != NULL;
}

void option_note_origin(struct options *options, enum origin origin)
{
    for (int i = 0; i < SETTINGS; i++)
        if (options->origin[i] == ORIGIN_DEFAULT && is_said(options, (enum setting)i))
            options->origin[i] = origin;
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
    if (options->spare < 0 && settings->value[SETTING_SPARE])
        options->spare = (int)settings->number[SETTING_SPARE];
    if (!options->max_ttl_ms)
        options->max_ttl_ms = settings->number[SETTING_MAX_TTL];
    for (int i = SETTING_PREFIX; i < SETTINGS; i++)
        if (!options->text[i])
            options->text[i] = settings->value[i];
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
