/*
 * process.c - the calls of a client that has no loop but its own, and shows a descriptor.
 */
#include <assert.h>
#include <limits.h>

#include "fd_loop.h"
#include "loop.h"
#include "pump.h"
#include "report.h"

int redlock_fd(const redlock *client)
{
    return client->shows_fd && client_is_usable(client) ? fd_loop_descriptor(client->io) : -1;
}

bool redlock_is_busy(const redlock *client)
{
    return client_is_usable(client) && pump_holds_loop(client);
}

int redlock_next_timeout_ms(const redlock *client)
{
    if (!client->shows_fd || !client_is_usable(client))
        return -1;
    usec at = fd_loop_next_turn(client->io), now = system_now();
    if (at == NEVER)
        return -1;
    usec ms = at > now ? (at - now + 999) / 1000 : 0;
    return ms < INT_MAX ? (int)ms : INT_MAX;
}

/* REDLOCK_OK if there may be a turn now. */
static redlock_code may_turn(redlock *client)
{
    if (!client_is_usable(client))
        return REDLOCK_E_FORKED;
    if (!client->shows_fd)
        return client_fail(client, REDLOCK_E_ARGUMENT,
                           "the client runs on a loop of libev, or in virtual time");
    assert(!fd_loop_is_elsewhere(client->io));
    if (fd_loop_is_elsewhere(client->io))
        return REDLOCK_E_STATE; /* and no sentence: the other thread may read one */
    if (client->pumping || client->logging)
        return client_fail(client, REDLOCK_E_STATE,
                           "a callback cannot call redlock_process(), which has called it");
    return REDLOCK_OK;
}

/* The turn may free the client, and a callback may fork. */
redlock_code redlock_process(redlock *client)
{
    redlock_code code = may_turn(client);
    if (code)
        return code;
    unsigned process = client->process;
    if (!fd_loop_dispatch(client->io))
        code = client_fail(client, REDLOCK_E_SYSTEM,
                           "the descriptor of the client was closed: free the client");
    loop_turn(client);
    return process == forks_process() ? code : REDLOCK_E_FORKED;
}
