/*
 * move_call.c - the call that moves a lease to another client: checked, and its shadow asked for.
 */
#include "ask.h"
#include "calls.h"
#include "leaders.h"
#include "quorums_meet.h"
#include "loop.h"
#include "moves.h"
#include "options.h"
#include "queues.h"
#include "report.h"

#include <string.h>

static bool is_under_way(const redlock_lease *lease)
{
    const struct lease *core = core_of(lease);
    return lease->moves || lease->operations || lease_is_extending(core) || lease_is_changing(core);
}

const char *moves_why_not(const redlock_lease *lease)
{
    if (is_under_way(lease))
        return "another call about the lease is under way: move it when that has ended";
    const struct lease *core = core_of(lease);
    if (lease->released || !(lease_may_go_over(core) || lease_may_move(core, system_now())))
        return "only a lease can be moved that waits, or is held, was not downgraded or upgraded, "
               "and is within its max_hold_ms";
    return NULL;
}

redlock_code redlock_may_move(redlock *from, const redlock *to)
{
    if (!to || to == from)
        return client_fail(from, REDLOCK_E_ARGUMENT, "a lease is moved to another client");
    if (strcmp(from->prefix, to->prefix) != 0)
        return client_fail(from, REDLOCK_E_ARGUMENT,
                           "the other client has another prefix: there the names are others");
    if (to->config.looks_only)
        return client_fail(from, REDLOCK_E_ARGUMENT, "the other client only looks");
    if (!quorums_meet(from, to))
        return client_fail(from, REDLOCK_E_DIFFERS,
                           "quorums of the masters of both clients need not meet: `redlock masters "
                           "change --plan` shows the lists between");
    return REDLOCK_OK;
}

static redlock_code check_other(redlock *client, redlock *to, const struct terms *terms)
{
    redlock_code code = redlock_may_move(client, to);
    if (code)
        return code;
    code = calls_check(to);
    if (!code)
        code = ttl_check(to, terms->ttl / 1000, terms->margin);
    return code ? client_fail(client, code, "of the other client: %s", to->error) : code;
}

static redlock_code begin_move(redlock_lease *lease, redlock_lease *shadow)
{
    if (shadow && moves_begin(lease, shadow) && leaders_prepare(lease, shadow))
        return REDLOCK_OK;
    moves_end(lease);
    redlock_lease_free(shadow);
    return client_fail(lease->client, REDLOCK_E_MEMORY, "out of memory");
}

/* The shadow has the token of the lease, and a name for each of the masters of its own client. */
static redlock_code move_held(redlock_lease *lease, redlock *to)
{
    struct terms terms = lease_begin_move(lease->client->engine, core_of(lease));
    redlock_code code = check_other(lease->client, to, &terms);
    if (code)
        return code;
    struct names *names = names_copy(&to->memory, lease_names(core_of(lease)));
    redlock_lease *shadow = calls_enter_lease(to, names, &terms, redlock_lease_token(lease));
    code = begin_move(lease, shadow);
    if (!code)
        client_ask(shadow, OP_ACQUIRE);
    return code;
}

/* The handle has room for tokens of the client that made it. */
static redlock_code check_room_for_token(redlock *from, const redlock *to)
{
    if (engine_token_length(to->engine) <= engine_token_length(from->engine))
        return REDLOCK_OK;
    return client_fail(from, REDLOCK_E_ARGUMENT,
                       "a lease that waits cannot go to a client with a longer label");
}

/* That is decided when the other client has its turn. */
static redlock_code move_waiter(redlock_lease *lease, redlock *to)
{
    struct terms terms = lease_terms_of_waiter(core_of(lease));
    redlock_code code = check_other(lease->client, to, &terms);
    if (!code)
        code = check_room_for_token(lease->client, to);
    if (code)
        return code;
    struct names *names = lease_names_of_waiter(&to->memory, core_of(lease));
    redlock_lease *shadow = calls_enter_lease(to, names, &terms, NULL);
    code = begin_move(lease, shadow);
    if (code)
        return code;
    queue_untold(to, shadow);
    loop_hold(to);
    return REDLOCK_OK;
}

redlock_code redlock_lease_move(redlock_lease *lease, redlock *to)
{
    if (!client_is_usable(lease->client))
        return REDLOCK_E_FORKED;
    const char *why = moves_why_not(lease);
    if (why)
        return client_fail(lease->client, REDLOCK_E_STATE, "%s", why);
    return lease_may_go_over(core_of(lease)) ? move_waiter(lease, to) : move_held(lease, to);
}
