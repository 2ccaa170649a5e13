/*
 * waiters.c - the waiters for a name, as each master told them to redlock_inspect().
 * They decide nothing, so the core does not keep them.
 */
#include "waiters.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 1600 /* room for 16 tokens, a newline behind each */

struct waiters {
    unsigned count;
    char text[TEXT_MAX];
};

void waiters_note(redlock *client, const struct event *event)
{
    const struct reply *reply = event->reply;
    if (reply->waiters_length == 0)
        return;
    struct lease *core = lease_inspecting(&reply->tag);
    redlock_lease *lease = core ? lease_of_core(core) : NULL;
    if (lease && !lease->waiters)
        lease->waiters = calloc(client->masters, sizeof *lease->waiters);
    if (!lease || !lease->waiters)
        return;
    struct waiters *waiters = &lease->waiters[event->master];
    size_t length = reply->waiters_length < TEXT_MAX ? reply->waiters_length : TEXT_MAX - 1;
    waiters->count = reply->waiting;
    memcpy(waiters->text, reply->waiters, length);
    waiters->text[length] = '\0';
}

void waiters_tell(redlock *client, const redlock_lease *lease)
{
    for (unsigned i = 0; i < client->masters; i++)
        if (client->votes[i].kind == REDLOCK_VOTE_HELD) {
            client->votes[i].waiting = lease->waiters[i].count;
            client->votes[i].waiters = lease->waiters[i].text;
        }
}
