#include "queues.h"

#include <stdlib.h>

#include "moves.h"
#include "views.h"

static struct lease_queue *queue_for(redlock *client, const redlock_lease *lease)
{
    bool needs_nothing_more = lease->ended || lease->inspects;
    if (lease->operations & OP_DETACH || (needs_nothing_more && lease->operations & OP_FREE))
        return &client->left;
    if (lease->inspects)
        return &client->looks;
    return lease->operations & OP_RELEASE ? &client->releases : &client->asked;
}

void queue_asked(redlock *client, redlock_lease *lease)
{
    struct lease_queue *queue = queue_for(client, lease);
    bool ahead = queue == &client->left || queue == &client->releases;
    if (lease->asked) {
        client->misplaced |= ahead && !lease->ahead;
        return;
    }
    lease->asked = true;
    lease->ahead = ahead;
    lease->next_asked = NULL;
    if (queue->first)
        queue->last->next_asked = lease;
    else
        queue->first = lease;
    queue->last = lease;
}

void queues_sort(redlock *client)
{
    if (!client->misplaced)
        return;
    struct lease_queue all[] = {client->asked, client->looks};
    client->asked = client->looks = (struct lease_queue){0};
    client->misplaced = false;
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        for (redlock_lease *lease; (lease = queue_take_asked(&all[i]));)
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

/* Those that are under way end first. */
static void look_alone(redlock *client)
{
    client->looks_room = 0;
    client->look_was_dear = true;
}

void queues_note_look(redlock *client, unsigned master, usec took)
{
    usec *quickest = &client->quickest_look[master];
    if (!*quickest || took < *quickest)
        *quickest = took;
    if (took > *quickest + LOOK_DEAR)
        look_alone(client);
}

void queues_begin_look(redlock *client)
{
    if (client->looking++ > 0)
        client->looks_forgiven = LOOKS_FORGIVEN;
    else if (client->looks_forgiven)
        client->looks_forgiven--;
    client->look_was_dear = false;
}

void queues_end_look(redlock *client, bool answered)
{
    client->looking--;
    if (!answered)
        look_alone(client);
    else if (!client->look_was_dear && client->looks_room < LOOKS_MOST - 1)
        client->looks_room++;
}

/* Of a client that closes each ends at once. */
bool queues_may_look(const redlock *client)
{
    return client->looks.first && (client->looking <= client->looks_room || client->closing);
}

bool queues_have_calls(const redlock *client)
{
    return client->left.first || client->releases.first || client->asked.first ||
           queues_may_look(client);
}

static void append_untold(struct lease_queue *queue, redlock_lease *lease)
{
    lease->untold = true;
    lease->next_untold = NULL;
    if (queue->first)
        queue->last->next_untold = lease;
    else
        queue->first = lease;
    queue->last = lease;
}

void queue_untold(redlock *client, redlock_lease *lease)
{
    if (!lease->untold)
        append_untold(&client->untold, lease);
}

void queue_cancelled(redlock *client, redlock_lease *lease)
{
    append_untold(&client->cancelled, lease);
}

void queues_begin_round(redlock *client)
{
    if (!client->cancelled.first)
        return;
    if (client->untold.first)
        client->untold.last->next_untold = client->cancelled.first;
    else
        client->untold.first = client->cancelled.first;
    client->untold.last = client->cancelled.last;
    client->cancelled = (struct lease_queue){0};
}

static void free_lease(redlock_lease *lease)
{
    views_forget(lease);
    moves_end(lease);
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
