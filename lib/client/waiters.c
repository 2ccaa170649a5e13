/*
 * waiters.c - the waiters for a name and its readers, as each master told them to
 * redlock_inspect().  They decide nothing, so the core does not keep them.
 */
#include "waiters.h"

#include <stdlib.h>
#include <string.h>

struct crowd {
    unsigned count;
    char *text; /* NULL: "" */
};

struct waiters {
    struct crowd waiting, readers;
    unsigned permits;
};

static void keep_tokens(struct crowd *crowd, unsigned count, struct slice tokens)
{
    free(crowd->text);
    crowd->text = tokens.length ? malloc(tokens.length + 1) : NULL;
    crowd->count = count;
    if (!crowd->text)
        return;
    memcpy(crowd->text, tokens.bytes, tokens.length);
    crowd->text[tokens.length] = '\0';
}

void waiters_note(redlock *client, const struct event *event)
{
    const struct reply *reply = event->reply;
    const struct peek_reply *peek = &reply->peek;
    if (reply->tag.kind != REQUEST_PEEK ||
        (!peek->waiters.length && !peek->reading && !peek->permits))
        return;
    struct lease *core = lease_inspecting(&reply->tag);
    redlock_lease *lease = core ? lease_of_core(core) : NULL;
    if (lease && !waiters_of(lease))
        rare_of(lease)->waiters = calloc(client->masters, sizeof(struct waiters));
    if (!lease || !waiters_of(lease))
        return;
    struct waiters *waiters = &waiters_of(lease)[event->master];
    keep_tokens(&waiters->waiting, peek->waiting, peek->waiters);
    waiters->permits = peek->permits;
    keep_tokens(&waiters->readers, peek->reading, peek->readers);
}

static const char *text_of_crowd(const struct crowd *crowd)
{
    return crowd->text ? crowd->text : "";
}

void waiters_tell(redlock *client, const redlock_lease *lease)
{
    const struct waiters *waiters = waiters_of(lease);
    for (unsigned i = 0; i < client->masters; i++)
        if (client->votes[i].kind == REDLOCK_VOTE_HELD) {
            client->votes[i].waiting = waiters[i].waiting.count;
            client->votes[i].waiters = text_of_crowd(&waiters[i].waiting);
            client->votes[i].readers = waiters[i].readers.count;
            client->votes[i].permits = waiters[i].permits;
            client->votes[i].reader_tokens = text_of_crowd(&waiters[i].readers);
        }
}

void waiters_free(redlock_lease *lease)
{
    struct waiters *waiters = waiters_of(lease);
    for (unsigned i = 0; waiters && i < lease->client->masters; i++) {
        free(waiters[i].waiting.text);
        free(waiters[i].readers.text);
    }
    free(waiters);
}
