/*
 * relist.c - a client is left for another one, of the next list: its leases move, its tasks go
 * over, then it closes.
 */
#include "relist.h"

#include "ask.h"
#include "calls.h"
#include "quorums_meet.h"
#include "loop.h"
#include "moves.h"
#include "report.h"
#include "tasks.h"

#define AGAIN_AFTER MS(200) /* a lease may be about something else, or its new masters not up */

/* ---- its leases --------------------------------------------------------------- */

/* A release goes to the masters that it is owed to.  A look counts as released, and ends with the
 * client. */
static bool is_over(const redlock_lease *lease)
{
    bool was_left = lease->operations & (OP_FREE | OP_DETACH);
    return lease->ended || lease->lost || lease->released || was_left;
}

static void send_on(struct lease *core, void *data)
{
    redlock_lease *lease = lease_of_core(core);
    unsigned *left = data;
    if (is_over(lease))
        return;
    ++*left;
    if (moves_why_not(lease) || !client_takes(lease->client->heir)) /* else it is NOT_MOVED */
        return;
    redlock_code code = redlock_lease_move(lease, lease->client->heir);
    bool can_never = code == REDLOCK_E_TTL || code == REDLOCK_E_ARGUMENT;
    if (can_never && !lease->told) /* it may wait for ever */
        client_ask(lease, OP_RELEASE);
}

/* ---- its tasks ---------------------------------------------------------------- */

/* Queued calls are carried out, and queued news told, before that. */
static bool may_go(const struct client_task *task)
{
    return task->go && task->core && !task->calls.queued && !task->news.queued;
}

/* Its user is owed a result, or it is to go.  The rest ends with the client. */
static bool is_waited_for(const struct client_task *task)
{
    return (task->go || task->owes) && !task->freed;
}

static unsigned send_tasks_on(redlock *client, bool may)
{
    unsigned left = 0;
    bool takes = may && client_takes(client->heir);
    for (struct client_task *task = client->tasks, *next; task; task = next) {
        next = task->next;
        bool goes = takes && may_go(task) && task->go(task, client->heir);
        left += !goes && is_waited_for(task);
    }
    return left;
}

/* ---- leaving ------------------------------------------------------------------ */

static bool was_tried(const redlock *client)
{
    bool tried = true;
    for (unsigned i = 0; i < client->masters; i++)
        tried &= engine_master(client->engine, i).tried;
    return tried;
}

/* Promises and words of the other masters keep nobody out here before that. */
static bool send_on_nothing(redlock *client)
{
    bool is_news = was_tried(client->heir) && !client->unmet_logged;
    if (is_news)
        client_log(client, REDLOCK_LOG_WARNING,
                   "leases wait: a master of both lists is not heard, or one of the same host is "
                   "another server");
    client->unmet_logged |= is_news;
    return false;
}

static void leave(redlock *client)
{
    bool may = quorums_meet(client, client->heir) || send_on_nothing(client);
    unsigned left = send_tasks_on(client, may);
    client->leave_at = client->now + AGAIN_AFTER;
    engine_visit_leases(client->engine, send_on, &left);
    client->close_asked = left == 0;
    client->close_by = NEVER;
}

/* ---- who goes where ------------------------------------------------------------ */

static void leave_for(redlock *client, redlock *to)
{
    client->heir = to;
    client->leave_at = 0;
    client->next_former = to->formers;
    to->formers = client;
    loop_hold(client);
}

static void forget_heir(redlock *client)
{
    redlock **at = &client->heir->formers;
    while (*at != client)
        at = &(*at)->next_former;
    *at = client->next_former;
    client->heir = NULL;
}

void relist_forget(redlock *client)
{
    if (client->heir)
        forget_heir(client);
    while (client->formers)
        forget_heir(client->formers);
}

/* Leases wait until it is known that the lists meet. */
static redlock_code may_leave_for(redlock *client, const redlock *to)
{
    redlock_code code = redlock_may_move(client, to);
    return code == REDLOCK_E_DIFFERS && quorums_may_meet(client, to) ? REDLOCK_OK : code;
}

/* Those that were left for the client are left for the other one with it, unless they close. */
static redlock_code check_formers(redlock *client, const redlock *to)
{
    for (redlock *former = client->formers; former; former = former->next_former)
        if (!former->close_asked) {
            redlock_code code = may_leave_for(former, to);
            if (code)
                return client_fail(client, code, "of a client that is left for this one: %s",
                                   former->error);
        }
    return REDLOCK_OK;
}

static redlock_code check_heir(redlock *client, redlock *to)
{
    redlock_code code = may_leave_for(client, to);
    if (!code)
        code = check_formers(client, to);
    if (code)
        return code;
    code = calls_check(to);
    return code ? client_fail(client, code, "of the other client: %s", to->error) : code;
}

static void pass_formers_on(redlock *client, redlock *to)
{
    for (redlock *former; (former = client->formers);) {
        forget_heir(former);
        leave_for(former, to);
    }
}

redlock_code redlock_relist(redlock *client, redlock *to,
                            void (*closed)(redlock *, unsigned, void *), void *data)
{
    redlock_code code = calls_check(client);
    if (!code)
        code = check_heir(client, to);
    if (code)
        return code;
    pass_formers_on(client, to);
    client->leave = leave;
    client->on_closed = closed;
    client->closed_data = data;
    leave_for(client, to);
    client_log(client, REDLOCK_LOG_INFO, "another list of masters takes the place of this one");
    return REDLOCK_OK;
}
