#include "nested.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crowds.h"
#include "commands.h"
#include "failure.h"
#include "say.h"
#include "spawn.h"
#include "votes.h"

/* ---- the `run` around us ------------------------------------------------------------ */

/* A line of the variable. */
static bool is_named(const char *names, const redlock_name *name)
{
    const char *bytes = name->bytes;
    for (const char *line = names; *line; line += *line == '\n') {
        size_t length = strcspn(line, "\n");
        if (length == name->length && memcmp(line, bytes, length) == 0)
            return true;
        line += length;
    }
    return false;
}

static void find_name(struct nested *nested, const char *names)
{
    const struct options *options = nested->session->options;
    nested->is_whole = true;
    for (size_t i = 0; i < options->names_count; i++) {
        bool is = is_named(names, &options->names[i]);
        nested->is_whole &= is;
        if (is && !nested->name)
            nested->name = &options->names[i];
    }
}

/* ---- who has the name --------------------------------------------------------------- */

static bool is_read_by(const redlock_look_result *result, const char *token)
{
    redlock_crowd readers = look_readers(result);
    for (unsigned i = 0; i < readers.told; i++)
        if (strcmp(readers.tokens[i], token) == 0)
            return true;
    return false;
}

static bool is_held(const struct nested *nested, const redlock_look_result *result)
{
    struct holding holdings[REDLOCK_MASTERS_MAX];
    unsigned count = look_holdings(result, holdings);
    for (unsigned i = 0; i < count; i++)
        if (holdings[i].holder && strcmp(holdings[i].holder, nested->token) == 0)
            return true;
    return nested->name->mode != REDLOCK_SHARED && is_read_by(result, nested->token);
}

static void on_look(redlock_look *look, const redlock_look_result *result, void *data)
{
    struct nested *nested = data;
    bool is = is_held(nested, result);
    redlock_look_free(look);
    if (!nested->session->ending)
        nested->told(nested->data, is);
}

bool nested_ask(struct nested *nested, struct session *session,
                void (*told)(void *data, bool is_held), void *data)
{
    const char *token = getenv("REDLOCK_TOKEN"), *names = getenv("REDLOCK_NAMES");
    *nested = (struct nested){.session = session, .token = token, .told = told, .data = data};
    if (!token || !names || session->options->permits)
        return false;
    find_name(nested, names);
    return nested->name && redlock_look_begin(session->client, &nested->look, nested->name, 1, NULL,
                                              on_look, nested) == REDLOCK_OK;
}

/* ---- what follows ------------------------------------------------------------------- */

static const char *why_refused(const struct options *options)
{
    if (options->command->bit == FOR_ONCE)
        return "the `redlock run` or `redlock once` that started this command has it, and it would "
               "wait for itself: use another name here or there";
    if (!options->reentrant)
        return "the `redlock run` that started this command has it, and it would wait for itself: "
               "--reentrant runs the command under that lock";
    return "--reentrant: the `redlock run` that started this command has only a part of the names";
}

void nested_refuse(const struct nested *nested)
{
    const struct options *options = nested->session->options;
    failure_tell(options, "cannot lock", REDLOCK_E_HELD, why_refused(options), NULL);
}

int nested_join(char **command)
{
    spawn_restore_signals();
    execvp(command[0], command);
    int error = errno;
    say("cannot execute %s: %s", command[0], strerror(error));
    return error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}
