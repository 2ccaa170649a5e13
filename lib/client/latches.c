/*
 * latches.c - the calls about latches.
 */
#include <stdio.h>
#include <string.h>

#include "calls.h"
#include "events.h"
#include "options.h"
#include "redlock/recipes.h"
#include "report.h"
#include "sized.h"
#include "task_calls.h"

#define LIFE_LEAST 1000    /* ms */
#define LIFE_USUAL 3600000 /* ms */

_Static_assert(REDLOCK_ARRIVALS_MAX == LATCH_MOST, "said once, for both");
_Static_assert(REDLOCK_LATCH_ID_SIZE == LATCH_ID_MAX + 1, "likewise");
_Static_assert(LATCH_MOST *(LATCH_ID_MAX + 1) <= VALUE_MOST, "a reply can list all arrivals");

static const struct sized options_kind = SIZED(redlock_latch_options, arrival);

struct redlock_latch {
    struct client_task task;
    redlock_latch_callback *callback;
    void *data;
};

/* ---- telling ---------------------------------------------------------------------- */

static redlock_code code_of_end(const struct latch_news *news)
{
    switch (news->end) {
    case LATCH_HELD:
        return REDLOCK_E_HELD;
    case LATCH_SHUT:
        return REDLOCK_E_NOT_OPEN;
    case LATCH_GONE:
        return REDLOCK_E_GONE;
    case LATCH_UNKNOWN:
        return news->cause ? code_of(news->cause) : REDLOCK_E_UNAVAILABLE;
    default:
        return REDLOCK_OK;
    }
}

static bool tell_latch(redlock *client, struct client_task *task)
{
    redlock_latch *latch = (redlock_latch *)(void *)task;
    struct task_news news;
    if (!task->owes || !task_tell(client->engine, task->core, &news))
        return false;
    const struct latch_news *of = &news.latch;
    bool counted = of->call == LATCH_COUNT && of->end == LATCH_SHUT;
    redlock_latch_result tally = {.size = sizeof tally,
                                  .code = counted ? REDLOCK_OK : code_of_end(of),
                                  .undecided = of->undecided,
                                  .open = of->open,
                                  .arrivals = of->arrivals,
                                  .arrived = of->arrived,
                                  .answered = of->answered,
                                  .masters = client->masters};
    snprintf(tally.id, sizeof tally.id, "%s", of->id);
    snprintf(tally.arrival, sizeof tally.arrival, "%s", of->arrival);
    snprintf(tally.who, sizeof tally.who, "%s", of->who);
    task_calls_told(task);
    latch->callback(latch, &tally, latch->data);
    return true;
}

/* ---- calls ------------------------------------------------------------------------ */

/* Masters list arrivals in lines, and ids are words for people. */
static redlock_code check_id(redlock *client, const char *what, const char *id)
{
    size_t length = id ? strlen(id) : 0;
    if (id && (length < 1 || length > LATCH_ID_MAX))
        return client_fail(client, REDLOCK_E_ARGUMENT, "%s has 1 to %d bytes, not %zu", what,
                           LATCH_ID_MAX, length);
    for (size_t i = 0; i < length; i++)
        if (id[i] <= ' ' || id[i] > '~')
            return client_fail(client, REDLOCK_E_ARGUMENT, "%s is printable ASCII without spaces",
                               what);
    return REDLOCK_OK;
}

static redlock_code check_numbers(redlock *client, const redlock_latch_options *o,
                                  enum latch_call call)
{
    if (o->arrivals < (call == LATCH_CREATE) || o->arrivals > REDLOCK_ARRIVALS_MAX)
        return client_fail(client, REDLOCK_E_ARGUMENT,
                           "a latch waits for 1 to %d arrivals, not %lld", REDLOCK_ARRIVALS_MAX,
                           (long long)o->arrivals);
    if (o->life_ms < LIFE_LEAST || o->life_ms > REDLOCK_LATCH_LIFE_MAX)
        return client_fail(client, REDLOCK_E_ARGUMENT,
                           "a latch lives for 1 s to 30 days, not for %lld ms",
                           (long long)o->life_ms);
    return REDLOCK_OK;
}

static redlock_code check_ids(redlock *client, const redlock_latch_options *o, enum latch_call call)
{
    if (o->id && call == LATCH_CREATE)
        return client_fail(client, REDLOCK_E_ARGUMENT,
                           "options.id is not for redlock_latch_create(), which makes a new id");
    if (o->arrival && call != LATCH_ARRIVE)
        return client_fail(client, REDLOCK_E_ARGUMENT,
                           "options.arrival is for redlock_latch_arrive() alone");
    redlock_code code = check_id(client, "the id of a latch", o->id);
    return code ? code : check_id(client, "an arrival", o->arrival);
}

/* The ids are read when the numbers beside them were found to be in range. */
static redlock_code read_latch_options(redlock *client, const redlock_latch_options *options,
                                       enum latch_call call, redlock_latch_options *o, usec *wait)
{
    *o = (redlock_latch_options){.size = sizeof *o};
    if (options && !sized_take(&options_kind, o, options))
        return client_fail_size(client, &options_kind, options->size);
    o->life_ms = o->life_ms ? o->life_ms : LIFE_USUAL;
    redlock_code code = task_calls_wait(client, o->timeout_ms, wait);
    if (!code)
        code = check_numbers(client, o, call);
    return code ? code : check_ids(client, o, call);
}

static redlock_code check_latch(redlock *client, const redlock_latch_options *options,
                                enum latch_call call, redlock_latch_options *o, usec *wait)
{
    redlock_code code = calls_check(client);
    if (!code)
        code = client_may_act(client);
    return code ? code : read_latch_options(client, options, call, o, wait);
}

static redlock_code begin_latch(redlock *client, redlock_latch **out, const char *name,
                                const struct latch_terms *terms, redlock_latch_callback *callback,
                                void *data)
{
    struct names *names;
    redlock_code code = task_calls_check(client, name, &names);
    if (code)
        return code;
    redlock_latch *latch = task_calls_new(client, sizeof *latch, tell_latch);
    struct task *core = latch ? latcher_new(client->engine, names, terms, &latch->task) : NULL;
    names_drop(&client->memory, names);
    code = task_calls_enter(client, latch, core);
    if (code || !latch)
        return REDLOCK_E_MEMORY;
    latch->task.owes = true;
    if (terms->call == LATCH_ARRIVE || terms->call == LATCH_AWAIT) /* the others end soon */
        latch->task.go = task_calls_go_over;
    latch->callback = callback;
    latch->data = data;
    task_calls_ask(&latch->task);
    *out = latch;
    return REDLOCK_OK;
}

static redlock_code act(redlock *client, redlock_latch **out, const char *name,
                        const redlock_latch_options *options, enum latch_call call,
                        redlock_latch_callback *callback, void *data)
{
    redlock_latch_options o;
    usec wait = 0;
    if (out)
        *out = NULL;
    if (!client)
        return REDLOCK_E_ARGUMENT;
    if (!out || !callback)
        return client_fail(client, REDLOCK_E_ARGUMENT,
                           "a call about a latch needs a callback and a handle");
    redlock_code code = check_latch(client, options, call, &o, &wait);
    if (code)
        return code;
    const struct latch_terms terms = {.call = call,
                                      .arrivals = (unsigned)o.arrivals,
                                      .life = MS(o.life_ms),
                                      .wait = wait,
                                      .id = o.id,
                                      .arrival = o.arrival};
    return begin_latch(client, out, name, &terms, callback, data);
}

redlock_code redlock_latch_create(redlock *client, redlock_latch **latch, const char *name,
                                  const redlock_latch_options *options,
                                  redlock_latch_callback *callback, void *data)
{
    return act(client, latch, name, options, LATCH_CREATE, callback, data);
}

redlock_code redlock_latch_arrive(redlock *client, redlock_latch **latch, const char *name,
                                  const redlock_latch_options *options,
                                  redlock_latch_callback *callback, void *data)
{
    return act(client, latch, name, options, LATCH_ARRIVE, callback, data);
}

redlock_code redlock_latch_await(redlock *client, redlock_latch **latch, const char *name,
                                 const redlock_latch_options *options,
                                 redlock_latch_callback *callback, void *data)
{
    return act(client, latch, name, options, LATCH_AWAIT, callback, data);
}

redlock_code redlock_latch_count(redlock *client, redlock_latch **latch, const char *name,
                                 const redlock_latch_options *options,
                                 redlock_latch_callback *callback, void *data)
{
    return act(client, latch, name, options, LATCH_COUNT, callback, data);
}

redlock_code redlock_latch_cancel(redlock_latch *latch)
{
    redlock *client = latch->task.client;
    if (!client_is_usable(client))
        return REDLOCK_E_FORKED;
    if (!latch->task.owes || latch->task.leaves)
        return client_fail(client, REDLOCK_E_STATE,
                           "the call is cancelled already, or its result has come");
    task_calls_leave(&latch->task);
    return REDLOCK_OK;
}

void redlock_latch_free(redlock_latch *latch)
{
    task_calls_drop(latch);
}
