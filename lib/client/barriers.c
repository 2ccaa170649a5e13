/*
 * barriers.c - the calls about barriers.
 */
#include <stdio.h>
#include <string.h>

#include "calls.h"
#include "events.h"
#include "margin.h"
#include "options.h"
#include "redlock/recipes.h"
#include "report.h"
#include "sized.h"
#include "task_calls.h"

_Static_assert(REDLOCK_PARTIES_MAX == PARTIES_MOST, "said once, for both");

static const struct sized options_kind = SIZED(redlock_barrier_options, token);

struct redlock_barrier {
    struct client_task task;
    redlock_barrier_callback *callback;
    void *data;
    unsigned parties;
    usec ttl;
    bool left;    /* its user wants it to leave */
    bool departs; /* it leaves, to arrive again with the client that takes the place of its own */
};

/* ---- its ttl ----------------------------------------------------------------------- */

/* As task_word_lasts() of the core. */
static redlock_code check_longest(redlock *client)
{
    usec longest = MS(client->config.max_ttl_ms);
    if (longest / 2 > quorum_drift(longest, client->config.drift_ppm))
        return REDLOCK_OK;
    return client_fail(
        client, REDLOCK_E_TTL,
        "max_ttl_ms %lld is too short for barriers: clock drift takes more than half",
        (long long)client->config.max_ttl_ms);
}

static redlock_code check_ttl(redlock *client, int64_t ttl_ms)
{
    redlock_code code = ttl_check(client, ttl_ms, 0);
    return code ? code : check_longest(client);
}

/* ---- telling ---------------------------------------------------------------------- */

static redlock_code code_of_news(const struct party_news *news)
{
    if (news->passage == PASSAGE_PASSED)
        return REDLOCK_OK;
    bool is_list = redlock_code_class(code_of(news->cause)) == REDLOCK_CLASS_MISUSE;
    if (news->passage == PASSAGE_UNKNOWN && !is_list && news->cause != CAUSE_OVER)
        return news->hears ? REDLOCK_E_UNDECIDED : REDLOCK_E_UNAVAILABLE;
    if (news->cause == CAUSE_HELD)
        return REDLOCK_E_PARTIES;
    return news->cause ? code_of(news->cause) : REDLOCK_E_NOT_PASSED;
}

/* The client may be left for another one than when the party left. */
static bool accept_party(const redlock_barrier *party, redlock *to)
{
    return to && client_takes(to) && !check_ttl(to, party->ttl / 1000);
}

/* It has left to go over, and neither passed nor heard why it cannot pass.  If the other client
 * does not take it now, it stays here. */
static bool arrive_again(redlock *client, redlock_barrier *party, const struct party_news *of)
{
    bool is_over = of->passage == PASSAGE_PASSED || of->cause != CAUSE_CANCELLED;
    if (!party->departs || is_over || party->left || client->close_asked)
        return false;
    bool goes = accept_party(party, client->heir);
    if (!task_calls_go_over(&party->task, goes ? client->heir : client))
        return false;
    party->departs = false;
    client->leave_at = goes ? 0 : client->leave_at;
    return true;
}

static enum cause cause_of_leaving(const redlock_barrier *party, enum cause cause)
{
    bool is_own = party->departs && !party->left && cause == CAUSE_CANCELLED;
    return is_own ? CAUSE_CLOSED : cause;
}

static bool tell_party(redlock *client, struct client_task *task)
{
    redlock_barrier *party = (redlock_barrier *)(void *)task;
    struct task_news news;
    if (!task->owes || !task_tell(client->engine, task->core, &news))
        return false;
    struct party_news *of = &news.party;
    if (arrive_again(client, party, of))
        return true;
    of->cause = cause_of_leaving(party, of->cause);
    redlock_barrier_result passage = {.size = sizeof passage,
                                      .code = code_of_news(of),
                                      .undecided = of->passage == PASSAGE_UNKNOWN,
                                      .parties = party->parties,
                                      .arrived = of->arrived,
                                      .others = of->others,
                                      .answered = of->answered,
                                      .masters = client->masters,
                                      .latest = of->latest};
    snprintf(passage.token, sizeof passage.token, "%s", of->token);
    event_tell_passage(client, task->core, &passage);
    task_calls_told(task);
    party->callback(party, &passage, party->data);
    return true;
}

/* ---- arriving --------------------------------------------------------------------- */

/* Masters tell the tokens of parties in lines. */
static redlock_code check_party_token(redlock *client, const char *token)
{
    for (const char *c = token; *c; c++)
        if (*c <= ' ' || *c > '~')
            return client_fail(client, REDLOCK_E_ARGUMENT,
                               "the token of a party is printable ASCII without spaces");
    return calls_check_token(client, token);
}

/* The token is read when the numbers beside it were found to be in range. */
static redlock_code check_barrier_options(redlock *client, const redlock_barrier_options *o)
{
    if (o->parties < 1 || o->parties > REDLOCK_PARTIES_MAX)
        return client_fail(client, REDLOCK_E_ARGUMENT, "a barrier has 1 to %d parties, not %lld",
                           REDLOCK_PARTIES_MAX, (long long)o->parties);
    if (o->generation < 0 || o->generation > REDLOCK_GENERATION_MAX)
        return client_fail(client, REDLOCK_E_ARGUMENT, "a generation is 0 to 2^53, and not %lld",
                           (long long)o->generation);
    redlock_code code = check_ttl(client, o->ttl_ms);
    return code || !o->token ? code : check_party_token(client, o->token);
}

static redlock_code read_barrier_options(redlock *client, const redlock_barrier_options *options,
                                         redlock_barrier_options *o, usec *wait)
{
    redlock_code code = calls_check(client);
    if (!code)
        code = client_may_act(client);
    if (code)
        return code;
    if (!options)
        return client_fail(client, REDLOCK_E_ARGUMENT,
                           "redlock_barrier_options are missing: set parties");
    if (!sized_take(&options_kind, o, options))
        return client_fail_size(client, &options_kind, options->size);
    o->ttl_ms = o->ttl_ms ? o->ttl_ms : TTL_MS_USUAL;
    code = task_calls_wait(client, o->timeout_ms, wait);
    return code ? code : check_barrier_options(client, o);
}

/* It leaves here first.  Others may have counted it, so it must learn whether they pass. */
static bool depart_to(struct client_task *task, redlock *to)
{
    redlock_barrier *party = (redlock_barrier *)(void *)task;
    bool stays = party->departs || party->left || check_ttl(to, party->ttl / 1000);
    if (stays)
        return false;
    party->departs = true;
    task_calls_leave(task);
    return false;
}

redlock_code redlock_barrier_arrive(redlock *client, redlock_barrier **out, const char *name,
                                    const redlock_barrier_options *options,
                                    redlock_barrier_callback *callback, void *data)
{
    redlock_barrier_options o;
    struct names *names;
    usec wait = 0;
    if (out)
        *out = NULL;
    if (!client)
        return REDLOCK_E_ARGUMENT;
    if (!out || !callback)
        return client_fail(client, REDLOCK_E_ARGUMENT, "a party needs a callback and a handle");
    redlock_code code = read_barrier_options(client, options, &o, &wait);
    if (!code)
        code = task_calls_check(client, name, &names);
    if (code)
        return code;
    const struct barrier_terms terms = {.generation = o.generation,
                                        .parties = (unsigned)o.parties,
                                        .ttl = MS(o.ttl_ms),
                                        .wait = wait};
    redlock_barrier *party = task_calls_new(client, sizeof *party, tell_party);
    struct task *core =
        party ? party_new(client->engine, names, &terms, o.token, &party->task) : NULL;
    names_drop(&client->memory, names);
    code = task_calls_enter(client, party, core);
    if (code || !party)
        return REDLOCK_E_MEMORY;
    party->task.owes = true;
    party->task.go = depart_to;
    party->parties = terms.parties;
    party->ttl = terms.ttl;
    party->callback = callback;
    party->data = data;
    task_calls_ask(&party->task);
    *out = party;
    return REDLOCK_OK;
}

redlock_code redlock_barrier_leave(redlock_barrier *party)
{
    redlock *client = party->task.client;
    if (!client_is_usable(client))
        return REDLOCK_E_FORKED;
    if (!party->task.owes || party->left)
        return client_fail(client, REDLOCK_E_STATE,
                           "the party leaves already, or its result has come");
    party->left = true;
    task_calls_leave(&party->task);
    return REDLOCK_OK;
}

void redlock_barrier_free(redlock_barrier *party)
{
    task_calls_drop(party);
}
