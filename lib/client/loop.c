#include "loop.h"

#include <errno.h>

#include "double.h"
#include "fd_loop.h"
#include "forks.h"
#include "libev_loop.h"
#include "parts.h"
#include "pump.h"

void loop_hold(redlock *client)
{
    bool hold = pump_holds_loop(client);
    io_loop_hold(client->io, hold);
    if (hold && !client->pumping)
        io_loop_stir(client->io);
}

/* The parts first, as they watch descriptors. */
void loop_drop(redlock *client)
{
    struct io_loop *io = client->io;
    if (io && client->process == forks_process())
        double_note_client(false);
    parts_free(client);
    io_loop_free(io);
}

void loop_turn(redlock *client)
{
    if (client->pumping || client->logging)
        return;
    if (!client_is_stopped(client)) {
        client->pumping = true;
        while (pump_step(client))
            ;
        client->pumping = false;
    }
    if (client->dying) {
        loop_drop(client);
        return;
    }
    if (!client_is_usable(client))
        return;
    io_loop_wake_at(client->io, pump_next_wake(client));
    io_loop_hold(client->io, pump_holds_loop(client));
}

static void on_turn(void *owner)
{
    loop_turn(owner);
}

static struct io_loop *make_io(redlock *client, struct ev_loop *ev_loop)
{
    if (double_is_virtual())
        return double_loop_new(on_turn, client);
    return ev_loop ? libev_loop_new(ev_loop, on_turn, client) : fd_loop_new();
}

redlock_code loop_make(redlock *client, struct ev_loop *ev_loop)
{
    client->io = make_io(client, ev_loop);
    client->shows_fd = !ev_loop && !double_is_virtual();
    if (client->io) {
        double_note_client(true);
        return REDLOCK_OK;
    }
    return !client->shows_fd || errno == ENOMEM ? REDLOCK_E_MEMORY : REDLOCK_E_SYSTEM;
}

void loop_start(redlock *client)
{
    io_loop_start(client->io);
    loop_hold(client);
}

void loop_end(redlock *client)
{
    loop_hold(client); /* the loop lives until loop_turn() frees the client, if not now */
    if (!client->pumping && !client->logging)
        loop_drop(client);
}
