#include "queues.h"

#include <stdlib.h>

#include "client_mutant.h"
#include "waiters.h"

void queue_asked(redlock *client, redlock_lease *lease)
{
    bool releases = lease->operations & OP_RELEASE && !CLIENT_MUTANT(CALLS_IN_ORDER);
    if (lease->asked) {
        client->releases_behind |= releases && !lease->to_release;
        return;
    }
    struct lease_queue *queue = releases ? &client->releases : &client->asked;
    lease->asked = true;
    lease->to_release = releases;
    lease->next_asked = NULL;
    if (queue->first)
        queue->last->next_asked = lease;
    else
        queue->first = lease;
    queue->last = lease;
}

void queues_sort(redlock *client)
{
    if (!client->releases_behind)
        return;
    struct lease_queue all = client->asked;
    client->asked = (struct lease_queue){0};
    client->releases_behind = false;
    for (redlock_lease *lease; (lease = queue_take_asked(&all));)
        queue_asked(client, lease);
}

redlock_lease *queue_take_asked(struct lease_queue *queue)
{
    redlock_lease *lease = queue->first;
    if (lease) {
        queue->first = lease->next_asked;
        lease->asked = false;
    }
    return lease;
}

bool queues_have_calls(const redlock *client)
{
    return client->releases.first || client->asked.first;
}

void queue_untold(redlock *client, redlock_lease *lease)
{
    if (lease->untold)
        return;
    lease->untold = true;
    lease->next_untold = NULL;
    if (client->untold.first)
        client->untold.last->next_untold = lease;
    else
        client->untold.first = lease;
    client->untold.last = lease;
}

static void free_lease(redlock_lease *lease)
{
    waiters_free(lease);
    free(lease);
}

redlock_lease *queues_take_untold(redlock *client)
{
    redlock_lease *lease;
    while ((lease = client->untold.first)) {
        client->untold.first = lease->next_untold;
        lease->untold = false;
        if (!lease->freed)
            return lease;
        free_lease(lease);
    }
    return NULL;
}

void queues_drop(redlock_lease *lease)
{
    lease->freed = true;
    if (!lease->untold)
        free_lease(lease);
}

void queues_free(redlock *client)
{
    while (queues_take_untold(client))
        ; /* frees the leases that were dropped */
    for (struct lease *core; (core = engine_any_lease(client->engine));) {
        lease_drop(client->engine, core);
        free_lease(lease_of_core(core));
    }
}
