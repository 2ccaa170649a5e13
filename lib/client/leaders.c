/*
 * leaders.c - the calls about what is said of a name: announcing it, observing it.
 */
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "loop.h"
#include "memory.h"
#include "report.h"
#include "tasks.h"

_Static_assert(REDLOCK_VALUE_MAX == VALUE_MOST, "said once, for both");

static struct redlock_observer *make(redlock *client)
{
    struct redlock_observer *task = calloc(1, sizeof *task);
    if (!task)
        client_fail(client, REDLOCK_E_MEMORY, "out of memory");
    return task;
}

/* ---- announcing --------------------------------------------------------------------- */

static redlock_code check_announce(redlock_lease *lease, const void *value, size_t length)
{
    redlock *client = lease->client;
    redlock_code code = calls_check(client);
    if (code)
        return code;
    const struct names *names = lease_names(core_of(lease));
    if (!names || !redlock_valid_for(lease))
        return client_fail(client, REDLOCK_E_STATE, "only a lease that is held can announce");
    if (!lease_fence(core_of(lease)))
        return client_fail(client, REDLOCK_E_STATE,
                           "a lease without a fence has no term: ask for it with `fence`");
    if (names->count != 1 || lease->slot >= 0)
        return client_fail(client, REDLOCK_E_STATE,
                           "a lease on one name alone can announce, and no permit");
    if (redlock_is_shared(lease))
        return client_fail(client, REDLOCK_E_STATE,
                           "a shared lease cannot announce: others have the name too");
    if (length > REDLOCK_VALUE_MAX || (length && !value))
        return client_fail(client, REDLOCK_E_ARGUMENT, "a value is 0 to %d bytes long",
                           REDLOCK_VALUE_MAX);
    return REDLOCK_OK;
}

static redlock_code make_announcer(redlock_lease *lease)
{
    redlock *client = lease->client;
    struct redlock_observer *task = make(client);
    if (!task)
        return REDLOCK_E_MEMORY;
    task->lease = lease;
    task->core = announcer_new(client->engine, lease_names(core_of(lease)), core_of(lease), task);
    if (!task->core) {
        free(task);
        return client_fail(client, REDLOCK_E_MEMORY, "out of memory");
    }
    client_tasks_enter(client, task);
    lease->announcer = task;
    return REDLOCK_OK;
}

redlock_code redlock_announce(redlock_lease *lease, const void *value, size_t length)
{
    redlock *client = lease->client;
    redlock_code code = check_announce(lease, value, length);
    if (!code && !lease->announcer)
        code = make_announcer(lease);
    if (code)
        return code;
    if (!announcer_set(client->engine, lease->announcer->core, value, length))
        return client_fail(client, REDLOCK_E_MEMORY, "out of memory");
    client_tasks_ask(lease->announcer);
    loop_hold(client);
    return REDLOCK_OK;
}

/* ---- observing ----------------------------------------------------------------------- */

redlock_code redlock_observe(redlock *client, redlock_observer **out, const char *name,
                             redlock_leader_callback *callback, void *data)
{
    redlock_name one = {.bytes = name, .length = name ? strlen(name) : 0};
    if (out)
        *out = NULL;
    if (!client)
        return REDLOCK_E_ARGUMENT;
    if (!out || !callback)
        return client_fail(client, REDLOCK_E_ARGUMENT, "an observer needs a callback and a handle");
    redlock_code code = calls_check(client);
    if (!code)
        code = calls_check_name(client, &one);
    if (code)
        return code;
    struct redlock_observer *task = make(client);
    struct names *names = task ? calls_make_name(client, &one) : NULL;
    if (names)
        task->core = observer_new(client->engine, names, task);
    if (names)
        names_drop(&client_memory, names);
    if (!task || !task->core) {
        free(task);
        return client_fail(client, REDLOCK_E_MEMORY, "out of memory");
    }
    task->callback = callback;
    task->data = data;
    client_tasks_enter(client, task);
    client_tasks_ask(task);
    loop_hold(client);
    *out = task;
    return REDLOCK_OK;
}

void redlock_observer_free(redlock_observer *observer)
{
    if (observer && client_is_usable(observer->client)) {
        client_tasks_drop(observer);
        loop_hold(observer->client);
    }
}
