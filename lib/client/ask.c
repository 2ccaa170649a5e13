#include "ask.h"

#include "loop.h"
#include "queues.h"

void client_ask(redlock_lease *lease, enum operation operation)
{
    lease->operations |= (uint8_t)operation;
    if (operation == OP_RELEASE || operation == OP_INSPECT)
        lease->released = true; /* there is nothing left to release */
    queue_asked(lease->client, lease);
    loop_hold(lease->client);
}
