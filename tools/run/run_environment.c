#include "run_environment.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"

/* Of NOTIFY_SOCKET, too: the service manager hears of us, and would take what the command says as
 * our word, or warn of it. */
static bool is_ours(const char *variable)
{
    return strncmp(variable, "NOTIFY_SOCKET=", 14) == 0 ||
           strncmp(variable, "REDLOCK_NAME=", 13) == 0 ||
           strncmp(variable, "REDLOCK_NAMES=", 14) == 0 ||
           strncmp(variable, "REDLOCK_TOKEN=", 14) == 0 ||
           strncmp(variable, "REDLOCK_FENCE=", 14) == 0 ||
           strncmp(variable, "REDLOCK_SLOT=", 13) == 0 ||
           strncmp(variable, "REDLOCK_TERM=", 13) == 0 ||
           strncmp(variable, "REDLOCK_NODES=", 14) == 0 ||
           strncmp(variable, "REDLOCK_NODES_FILE=", 19) == 0 ||
           strncmp(variable, "REDLOCK_TLS_", 12) == 0 ||
           strncmp(variable, "REDLOCK_CONFIG=", 15) == 0 ||
           strncmp(variable, "REDLOCK_PREFIX=", 15) == 0 ||
           strncmp(variable, "REDLOCK_LABEL=", 14) == 0 ||
           strncmp(variable, "REDLOCK_SPARE=", 14) == 0 ||
           strncmp(variable, "REDLOCK_MAX_TTL=", 16) == 0;
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
static void fill_nodes(struct text *out, const struct options *options)
{
    const char *path = options->nodes_file;
    if (path && can_be_read_again(path))
        fill_path(out, "REDLOCK_NODES_FILE", path);
    else if (!path && !strchr(options->nodes, '@'))
        text_format(out, "REDLOCK_NODES=%s", options->nodes);
}

/* The file has what may not stand in an environment: masters with a login.  If we have such masters
 * from elsewhere, those of the file must not take their place. */
static void fill_config(struct text *out, const struct options *options, bool has_nodes)
{
    if (!has_nodes && options->origin[SETTING_MASTER] != ORIGIN_FILE)
        text_format(out, "REDLOCK_CONFIG=" SETTINGS_NONE);
    else if (options->config)
        fill_path(out, "REDLOCK_CONFIG", options->config);
}

/* For the list that is passed on: what an option, our environment or the file told us. */
static void fill_tls(struct text variables[], const struct options *options)
{
    for (int i = SETTING_TLS_CA; i <= SETTING_TLS_VERIFY; i++) {
        const char *value = options_text(options, (enum setting)i);
        const char *variable = settings_variable((enum setting)i);
        if (value && i <= SETTING_TLS_KEY && value[0])
            fill_path(variables++, variable, value);
        else if (value)
            text_format(variables++, "%s=%s", variable, value);
    }
}

/* All clients of the same masters need these equal, so a `redlock` in the command does too. */
static void fill_shared_settings(struct text variables[], const struct options *options)
{
    text_format(&variables[5], "REDLOCK_SPARE=%d", options->spare);
    if (options->max_ttl_ms > 0)
        text_format(&variables[6], "REDLOCK_MAX_TTL=%" PRId64 "ms", options->max_ttl_ms);
    if (options->prefix)
        text_format(&variables[16], "REDLOCK_PREFIX=%s", options->prefix);
    if (options->label)
        text_format(&variables[17], "REDLOCK_LABEL=%s", options->label);
}

static void fill_variables(struct text variables[], const struct options *options,
                           redlock_lease *lease)
{
    text_format(&variables[0], "REDLOCK_NAME=%s", (const char *)options->names[0].bytes);
    text_format(&variables[1], "REDLOCK_NAMES=");
    for (size_t i = 0; i < options->names_count; i++) {
        text_format(&variables[1], "%s%s", i > 0 ? "\n" : "",
                    (const char *)options->names[i].bytes);
    }
    text_format(&variables[2], "REDLOCK_TOKEN=%s", redlock_lease_token(lease));
    fill_nodes(&variables[3], options);
    fill_config(&variables[15], options, variables[3].bytes);
    fill_shared_settings(variables, options);
    fill_tls(&variables[9], options);
    if (options->fence)
        text_format(&variables[4], "REDLOCK_FENCE=%" PRId64, redlock_lease_fence(lease));
    if (options->command->bit == FOR_ELECT)
        text_format(&variables[8], "REDLOCK_TERM=%" PRId64, redlock_lease_fence(lease));
    if (options->permits)
        text_format(&variables[7], "REDLOCK_SLOT=%d", redlock_lease_slot(lease));
}

bool environment_make(struct environment *environment, const struct options *options,
                      redlock_lease *lease)
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
    fill_variables(environment->ours, options, lease);
    for (int i = 0; i < ENVIRONMENT_OURS; i++)
        if (environment->ours[i].bytes)
            *next++ = environment->ours[i].bytes;
    return true;
}

void environment_free(struct environment *environment)
{
    for (int i = 0; i < ENVIRONMENT_OURS; i++)
        text_free(&environment->ours[i]);
    free(environment->list);
}
