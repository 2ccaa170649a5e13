/* Sentences about many masters that do not fit: cut between two words, and it shows. */
#include "unit.h"

#include <ev.h>
#include <redlock.h>
#include <stdio.h>

static char ready[2000], outcome[2000];

static void on_ready(redlock *client, redlock_code code, const char *text, void *data)
{
    (void)client, (void)code, (void)data;
    snprintf(ready, sizeof ready, "%s", text);
}

static void on_event(redlock_lease *lease, const redlock_event *event, void *data)
{
    (void)lease;
    snprintf(outcome, sizeof outcome, "%s", event->text);
    ev_break(data, EVBREAK_ALL);
}

/* The word before the "..." is one that was said. */
static void is_cut_between_words(char *text)
{
    static const char *const words[] = {"cannot", "connect:", "No",        "such",
                                        "file",   "or",       "directory", "directory;"};
    size_t length = strlen(text);
    assert_true(length > 400);
    assert_string_equal(text + length - 3, "...");
    text[length - 3] = '\0';
    char *space = strrchr(text, ' '), *line = strrchr(text, '\n');
    const char *word = (line > space ? line : space) + 1;
    bool known = strncmp(word, "unix:/nowhere/", 14) == 0 && word[strlen(word) - 1] == ':';
    for (unsigned i = 0; i < COUNT(words); i++)
        known |= strcmp(word, words[i]) == 0;
    if (!known)
        fail_msg("\"%s\" is no whole word", word);
}

CASE(long_news_are_cut_between_words)
{
    struct ev_loop *loop = ev_loop_new(0);
    redlock *client;
    redlock_lease *lease;
    redlock_options options = {.size = sizeof(redlock_options)};
    char nodes[REDLOCK_MASTERS_MAX * 80];
    size_t used = 0;
    for (unsigned i = 0; i < REDLOCK_MASTERS_MAX; i++)
        used +=
            (size_t)snprintf(nodes + used, sizeof nodes - used,
                             "unix:///nowhere/a-long-name-of-a-master-that-is-not-there-%u ", i);
    options.nodes = nodes;
    options.on_ready = on_ready;
    assert_int_equal(redlock_open(&client, loop, &options, NULL, 0), REDLOCK_OK);
    assert_int_equal(redlock_acquire(client, &lease, "name", NULL, on_event, loop), REDLOCK_OK);
    ev_run(loop, 0);
    is_cut_between_words(ready);
    is_cut_between_words(outcome);
    redlock_free(client);
    ev_loop_destroy(loop);
}

PROGRAM_OF_CASES(NULL, NULL)
