#include "run_environment.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"

static bool is_named(const char *variable, const char *name)
{
    size_t length = strlen(name);
    return strncmp(variable, name, length) == 0 && variable[length] == '=';
}

/* Of NOTIFY_SOCKET, too: the service manager hears of us, and would take what the command says as
 * our word, or warn of it. */
static bool is_ours(const char *variable)
{
    static const char *const ours[] = {
        "NOTIFY_SOCKET",      "REDLOCK_NAME",      "REDLOCK_NAMES",       "REDLOCK_TOKEN",
        "REDLOCK_FENCE",      "REDLOCK_SLOT",      "REDLOCK_TERM",        "REDLOCK_CONFIG",
        "REDLOCK_NODES_FILE", "REDLOCK_WANTED_BY", "REDLOCK_WANTED_TEXT", "REDLOCK_WANTED_WAITING"};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (is_named(variable, ours[i]))
            return true;
    for (int i = 0; i < SETTINGS; i++)
        if (is_named(variable, settings_variable((enum setting)i)))
            return true;
    return false;
}

/* The path must be right from every folder that the command changes to. */
static void fill_path(struct text *out, const char *variable, const char *path)
{
    char *here = path[0] == '/' ? NULL : get_current_dir_name();
    text_format(out, "%s=%s%s%s", variable, here ? here : "", here ? "/" : "", path);
    free(here);
}

/* A pipe can be read only once, and we have read it. */
static bool can_be_read_again(const char *path)
{
    struct stat file;
    return stat(path, &file) == 0 && S_ISREG(file.st_mode);
}

/* Our masters or none: a `redlock` in the command must not ask others.  A list with a login is
 * not passed on to every command. */
static void fill_nodes(struct text *out, const struct options *options, bool is_private)
{
    const char *path = options->nodes_file;
    if (path && can_be_read_again(path))
        fill_path(out, "REDLOCK_NODES_FILE", path);
    else if (!path && (is_private || !strchr(options->nodes, '@')))
        text_format(out, "REDLOCK_NODES=%s", options->nodes);
}

/* The file has what may not stand in an environment: masters with a login.  If we have such masters
 * from elsewhere, those of the file must not take their place. */
static void fill_config(struct text *out, const struct options *options, bool has_nodes)
{
    if (!has_nodes && options->origin[SETTING_NODES] != ORIGIN_FILE)
        text_format(out, "REDLOCK_CONFIG=" SETTINGS_NONE);
    else if (options->config)
        fill_path(out, "REDLOCK_CONFIG", options->config);
}

/* For a `redlock` in the command: what an option, our environment or the file told us. */
static void fill_settings(struct text variables[SETTINGS], const struct options *options,
                          bool is_private)
{
    fill_nodes(&variables[SETTING_NODES], options, is_private);
    text_format(&variables[SETTING_SPARE], "REDLOCK_SPARE=%d", options->spare);
    if (options->max_ttl_ms > 0)
        text_format(&variables[SETTING_MAX_TTL], "REDLOCK_MAX_TTL=%" PRId64 "ms",
                    options->max_ttl_ms);
    for (int i = SETTING_PREFIX; i < SETTINGS; i++) {
        const char *value = options->text[i], *variable = settings_variable((enum setting)i);
        bool is_path = i >= SETTING_TLS_CA && i <= SETTING_TLS_KEY;
        if (value && value[0] && is_path)
            fill_path(&variables[i], variable, value);
        else if (value)
            text_format(&variables[i], "%s=%s", variable, value);
    }
}

static void fill_variables(struct text variables[], const struct options *options,
                           redlock_lease *lease, bool is_private)
{
    struct text *next = variables + SETTINGS;
    fill_settings(variables, options, is_private);
    fill_config(next++, options, variables[SETTING_NODES].bytes);
    text_format(next++, "REDLOCK_NAME=%s", (const char *)options->names[0].bytes);
    text_format(next, "REDLOCK_NAMES=");
    for (size_t i = 0; i < options->names_count; i++)
        text_format(next, "%s%s", i > 0 ? "\n" : "", (const char *)options->names[i].bytes);
    text_format(++next, "REDLOCK_TOKEN=%s", redlock_lease_token(lease));
    if (options->fence)
        text_format(++next, "REDLOCK_FENCE=%" PRId64, redlock_lease_fence(lease));
    if (options->command->bit == FOR_ELECT)
        text_format(++next, "REDLOCK_TERM=%" PRId64, redlock_lease_fence(lease));
    if (options->permits)
        text_format(++next, "REDLOCK_SLOT=%d", redlock_lease_slot(lease));
}

static bool make(struct environment *environment, const struct options *options,
                 redlock_lease *lease, bool is_private)
{
    size_t count = 0;
    while (environ[count])
        count++;
    environment->list = calloc(count + ENVIRONMENT_OURS + 1, sizeof(*environment->list));
    if (!environment->list)
        return false;
    char **next = environment->list;
    for (size_t i = 0; i < count; i++)
        if (!is_ours(environ[i]))
            *next++ = environ[i];
    fill_variables(environment->ours, options, lease, is_private);
    for (int i = 0; i < ENVIRONMENT_OURS; i++)
        if (environment->ours[i].bytes)
            *next++ = environment->ours[i].bytes;
    return true;
}

bool environment_make(struct environment *environment, const struct options *options,
                      redlock_lease *lease)
{
    return make(environment, options, lease, false);
}

bool environment_make_private(struct environment *environment, const struct options *options,
                              redlock_lease *lease)
{
    return make(environment, options, lease, true);
}

bool environment_has_nodes(const struct options *options)
{
    return !options->nodes_file || can_be_read_again(options->nodes_file);
}

void environment_free(struct environment *environment)
{
    for (int i = 0; i < ENVIRONMENT_OURS; i++)
        text_free(&environment->ours[i]);
    free(environment->list);
}
