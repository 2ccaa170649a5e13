#include "run_release.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "duration.h"
#include "exits.h"

#define LONGEST_S  5
#define WORDS_MOST 10 /* beside the names */

static char **add_timeout(char **next, char *option, struct text *text, int64_t ms)
{
    if (ms <= 0)
        return next;
    text_format(text, "%" PRId64 "ms", ms);
    *next++ = option;
    *next++ = text->bytes;
    return next;
}

static void fill_words(struct run_release *release, const struct options *options,
                       redlock_lease *lease)
{
    char **next = release->words;
    *next++ = "redlock";
    *next++ = "unlock";
    *next++ = "--quiet";
    next = add_timeout(next, "--request-timeout", &release->request_timeout,
                       options->request_timeout_ms);
    next = add_timeout(next, "--connect-timeout", &release->connect_timeout,
                       options->connect_timeout_ms);
    *next++ = "--token";
    *next++ = (char *)redlock_lease_token(lease);
    *next++ = "--";
    for (size_t i = 0; i < options->names_count; i++)
        *next++ = (char *)options->names[i].bytes;
}

bool run_release_make(struct run_release *release, const struct options *options,
                      redlock_lease *lease, int64_t not_before)
{
    *release = (struct run_release){.not_before = not_before};
    if (options->permits || !environment_has_nodes(options))
        return true;
    if (!environment_make_private(&release->environment, options, lease))
        return false;
    release->words = calloc(WORDS_MOST + options->names_count + 1, sizeof *release->words);
    if (release->words)
        fill_words(release, options, lease);
    return release->words;
}

void run_release_free(struct run_release *release)
{
    environment_free(&release->environment);
    text_free(&release->request_timeout);
    text_free(&release->connect_timeout);
    free(release->words);
    *release = (struct run_release){0};
}

void run_release_become(const struct run_release *release)
{
    sigset_t none;
    if (!release->words || boot_ms() < release->not_before)
        _exit(EXIT_DONE);
    alarm(LONGEST_S);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve("/proc/self/exe", release->words, release->environment.list);
    _exit(EXIT_INTERNAL);
}
