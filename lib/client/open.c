/*
 * open.c - a client, from open to free.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loop.h"
#include "options.h"
#include "parts.h"
#include "relist.h"
#include "report.h"
#include "step.h"

static void warn_of_numbers(redlock *client)
{
    unsigned masters = client->masters, spare = client->config.spare;
    if (masters < 3 * spare + 1)
        client_log(client, REDLOCK_LOG_WARNING,
                   "spare %u of %u masters: %u wrong masters that refuse stop all locks; use %u "
                   "masters",
                   spare, masters, spare, 3 * spare + 1);
    else if (masters % 2 == 0 && !spare)
        client_log(
            client, REDLOCK_LOG_WARNING,
            "%u masters: an even number survives no more deaths than %u; use an odd number%s",
            masters, masters - 1, masters > 2 ? ", or spare 1: the quorum stays the same" : "");
}

static void start_client(redlock *client)
{
    client->stir = loop_hold;
    engine_start(client->engine, client_look(client));
    loop_start(client);
    warn_of_numbers(client);
}

/* It takes no memory, as memory may be out. */
static redlock_code refuse_to_open(redlock_code code, const char *text, char *why, size_t size)
{
    if (why && size)
        snprintf(why, size, "%s", text);
    return code;
}

static redlock_code make_loop(redlock *client, struct ev_loop *ev_loop, char *why, size_t why_size)
{
    redlock_code code = loop_make(client, ev_loop);
    if (code == REDLOCK_E_SYSTEM)
        refuse_to_open(code, errno == ENOSPC ? SYSTEM_NOT_WATCHED : strerror(errno), why, why_size);
    return code;
}

static redlock_code make_client(redlock *client, struct ev_loop *ev_loop,
                                const redlock_options *options, char *why, size_t why_size)
{
    client->process = forks_process();
    redlock_code code = options_read(client, options, why, why_size);
    if (!code)
        code = make_loop(client, ev_loop, why, why_size);
    if (!code)
        code = parts_make(client);
    if (code == REDLOCK_E_MEMORY)
        refuse_to_open(code, "out of memory", why, why_size);
    return code;
}

redlock_code redlock_open(redlock **out, struct ev_loop *loop, const redlock_options *options,
                          char *why, size_t why_size)
{
    if (!out)
        return REDLOCK_E_ARGUMENT;
    *out = NULL;
    if (why && why_size)
        why[0] = '\0';
    redlock *client = calloc(1, sizeof *client + engine_size());
    if (!client)
        return refuse_to_open(REDLOCK_E_MEMORY, "out of memory", why, why_size);
    if (system_start() < 0) {
        free(client);
        return refuse_to_open(REDLOCK_E_SYSTEM, "no source of random bytes", why, why_size);
    }
    redlock_code code = make_client(client, loop, options, why, why_size);
    if (code) {
        loop_drop(client);
        return code;
    }
    start_client(client);
    *out = client;
    return REDLOCK_OK;
}

void redlock_close(redlock *client, int64_t patience_ms,
                   void (*closed)(redlock *, unsigned, void *), void *data)
{
    if (!client || !client_is_usable(client))
        return;
    usec patience = patience_ms > 0 ? in_usec(patience_ms) : 0;
    usec by = patience == NEVER ? NEVER : system_now() + patience;
    if (!client->close_asked) {
        client->close_by = by;
        client->on_closed = closed;
        client->closed_data = data;
    } else if (by < client->close_by) {
        client->close_by = by;
    }
    client->close_asked = true;
    loop_hold(client);
}

void redlock_free(redlock *client)
{
    if (!client)
        return;
    client->dying = true;
    relist_forget(client);
    loop_end(client);
}

const char *redlock_last_error(const redlock *client)
{
    return client->error;
}
