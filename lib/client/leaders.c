/*
 * leaders.c - the calls about what is said of a name: announcing it, observing it.
 */
#include <string.h>

#include "calls.h"
#include "events.h"
#include "leaders.h"
#include "moves.h"
#include "redlock/recipes.h"
#include "report.h"
#include "task_calls.h"

_Static_assert(REDLOCK_VALUE_MAX == VALUE_MOST, "said once, for both");

struct announcer {
    struct client_task task;
    redlock_lease *lease;
};

struct redlock_observer {
    struct client_task task;
    redlock_observer_callback *callback;
    void *data;
};

/* ---- announcing --------------------------------------------------------------------- */

static redlock_code check_announce(redlock_lease *lease, const void *value, size_t length)
{
    redlock *client = lease->client;
    redlock_code code = calls_check_open(client);
    if (code)
        return code;
    const struct names *names = lease_names(core_of(lease));
    if (lease->moves) /* the announcement would stay with its client */
        return client_fail(client, REDLOCK_E_STATE, "a lease cannot announce while it moves");
    if (!names || !redlock_lease_valid_for(lease))
        return client_fail(client, REDLOCK_E_STATE, "only a lease that is held can announce");
    if (!lease_fence(core_of(lease)))
        return client_fail(client, REDLOCK_E_STATE,
                           "a lease without a fence has no term: acquire it with options.fence");
    if (names->count != 1 || lease->slot >= 0)
        return client_fail(client, REDLOCK_E_STATE,
                           "a lease can announce if it has one name and is no permit");
    if (redlock_lease_is_shared(lease))
        return client_fail(client, REDLOCK_E_STATE,
                           "a shared lease cannot announce: others have the name too");
    if (length > REDLOCK_VALUE_MAX || (length && !value))
        return client_fail(client, REDLOCK_E_ARGUMENT, "a value is 0 to %d bytes long",
                           REDLOCK_VALUE_MAX);
    return REDLOCK_OK;
}

/* Reports nothing of a lease once its end was asked for. */
static bool tell_announced(redlock *client, struct client_task *task)
{
    redlock_lease *lease = ((struct announcer *)(void *)task)->lease;
    struct task_news news;
    redlock_event event;
    usec left = lease_valid_until(core_of(lease)) - system_now();
    if (lease->operations & OPS_ENDING_ANNOUNCEMENTS || left <= 0 ||
        !task_tell(client->engine, task->core, &news))
        return false;
    event_fill(client, lease,
               &(struct outcome){.kind = OUTCOME_ANNOUNCED,
                                 .granted = news.announcer.stored,
                                 .valid = left,
                                 .ends = left,
                                 .fence = lease_fence(core_of(lease))},
               &event);
    lease->callback(lease, &event, data_of(lease));
    return true;
}

static redlock_code make_announcer(redlock_lease *lease)
{
    redlock *client = lease->client;
    struct announcer *announcer = task_calls_new(client, sizeof *announcer, tell_announced);
    struct task *core = announcer ? announcer_new(client->engine, lease_names(core_of(lease)),
                                                  core_of(lease), &announcer->task)
                                  : NULL;
    if (announcer)
        announcer->task.quiet = true;
    redlock_code code = task_calls_enter(client, announcer, core);
    if (code || !announcer)
        return REDLOCK_E_MEMORY;
    announcer->lease = lease;
    rare_of(lease)->announcer = &announcer->task;
    return REDLOCK_OK;
}

bool leaders_prepare(redlock_lease *lease, const redlock_lease *shadow)
{
    const struct client_task *announcer = announcer_of(lease);
    redlock *to = shadow->client;
    if (!announcer || !announcer->core)
        return true;
    struct announcer *next = task_calls_new(to, sizeof *next, tell_announced);
    struct task *core = next ? announcer_copy(to->engine, announcer->core,
                                              lease_names(core_of(shadow)), &next->task)
                             : NULL;
    if (next)
        next->task.quiet = true;
    if (task_calls_enter(to, next, core) || !next)
        return false;
    next->lease = lease;
    move_of(shadow)->announcer = &next->task;
    return true;
}

redlock_code redlock_lease_announce(redlock_lease *lease, const void *value, size_t length)
{
    redlock *client = lease->client;
    redlock_code code = check_announce(lease, value, length);
    if (!code && !announcer_of(lease))
        code = make_announcer(lease);
    if (code)
        return code;
    if (!announcer_set(client->engine, announcer_of(lease)->core, value, length))
        return client_fail(client, REDLOCK_E_MEMORY, "out of memory");
    task_calls_ask(announcer_of(lease));
    return REDLOCK_OK;
}

/* ---- observing ----------------------------------------------------------------------- */

static bool tell_observer(redlock *client, struct client_task *task)
{
    redlock_observer *observer = (redlock_observer *)(void *)task;
    struct task_news news;
    if (!task_tell(client->engine, task->core, &news))
        return false;
    const struct observer_news *of = &news.observer;
    bool said = of->observed == OBSERVED_SAID;
    bool unknown = of->observed == OBSERVED_UNKNOWN;
    redlock_code why = of->cause ? code_of(of->cause) : REDLOCK_E_UNAVAILABLE;
    redlock_leader leader = {.size = sizeof leader,
                             .code = unknown ? why : REDLOCK_OK,
                             .text = unknown ? of->trouble : "",
                             .term = said ? of->said.term : 0,
                             .value = said ? of->said.value.bytes : "",
                             .length = of->said.value.length,
                             .masters = client->masters,
                             .said = of->masters};
    observer->callback(observer, &leader, observer->data);
    return true;
}

redlock_code redlock_observer_begin(redlock *client, redlock_observer **out, const char *name,
                                    redlock_observer_callback *callback, void *data)
{
    if (out)
        *out = NULL;
    if (!client)
        return REDLOCK_E_ARGUMENT;
    if (!out || !callback)
        return client_fail(client, REDLOCK_E_ARGUMENT, "an observer needs a callback and a handle");
    struct names *names;
    redlock_code code = task_calls_check(client, name, &names);
    if (code)
        return code;
    redlock_observer *observer = task_calls_new(client, sizeof *observer, tell_observer);
    struct task *core = observer ? observer_new(client->engine, names, &observer->task) : NULL;
    names_drop(&client->memory, names);
    code = task_calls_enter(client, observer, core);
    if (code || !observer)
        return REDLOCK_E_MEMORY;
    observer->callback = callback;
    observer->data = data;
    observer->task.go = task_calls_go_over;
    task_calls_ask(&observer->task);
    *out = observer;
    return REDLOCK_OK;
}

void redlock_observer_free(redlock_observer *observer)
{
    task_calls_drop(observer);
}
