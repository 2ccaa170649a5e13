#include "queues.h"

#include <stdlib.h>

#include "waiters.h"

void queue_asked(redlock *client, redlock_lease *lease)
{
    if (lease->asked)
        return;
    lease->asked = true;
    lease->next_asked = NULL;
    if (client->asked.first)
        client->asked.last->next_asked = lease;
    else
        client->asked.first = lease;
    client->asked.last = lease;
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
