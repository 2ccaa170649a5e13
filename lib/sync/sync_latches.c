/*
 * sync_latches.c - latches, for threads that wait.
 */
#include "redlock/recipes.h"
#include "sized.h"
#include "sync_client.h"
#include "sync_report.h"
#include "timeout.h"

#include <string.h>

static const struct sized options_kind = SIZED(redlock_latch_options, arrival);
static const struct sized tally_kind = SIZED(redlock_latch_result, who);

typedef redlock_code latch_function(redlock *client, redlock_latch **latch, const char *name,
                                    const redlock_latch_options *options,
                                    redlock_latch_callback *callback, void *data);

struct latch_call {
    struct call call;
    redlock_sync *client;
    latch_function *function;
    redlock_latch *latch;
    const char *name;
    const redlock_latch_options *options; /* `rest`, if they can be read */
    redlock_latch_options rest;
    int64_t wait_ms;
    char id[REDLOCK_LATCH_ID_SIZE], arrival[REDLOCK_LATCH_ID_SIZE]; /* once they are known, or "" */
    redlock_latch_result tally;
};

static void start_latch_call(redlock_sync *client, struct call *call);

/* Another creation would find the latch of the first one, and take it for another's. */
static bool may_call_again(const struct latch_call *latch_call)
{
    const redlock_latch_result *tally = &latch_call->tally;
    bool may_have_made = latch_call->function == redlock_latch_create && tally->undecided;
    return !may_have_made && sync_may_begin_anew(latch_call->call.side, tally->code);
}

/* About the latch that the call has found, and with its arrival, which counts once. */
static void call_again(struct latch_call *latch_call)
{
    struct call *call = &latch_call->call;
    redlock_latch_options *rest = &latch_call->rest;
    if (latch_call->id[0] && latch_call->function != redlock_latch_create)
        rest->id = latch_call->id;
    if (latch_call->arrival[0])
        rest->arrival = latch_call->arrival;
    rest->timeout_ms = timeout_of_wait(sync_rest_of(latch_call->wait_ms, call->begun));
    latch_call->options = rest;
    sync_set_out(call);
    start_latch_call(latch_call->client, call);
}

static void keep_id(char *to, const char *id)
{
    if (id[0])
        memcpy(to, id, REDLOCK_LATCH_ID_SIZE);
}

static const char *text_of(redlock_code code)
{
    return code == REDLOCK_E_HELD ? "the name has another latch"
           : code == REDLOCK_E_GONE
               ? "the name has no such latch: its life is over, or masters lost it"
               : redlock_code_text(code);
}

static void on_tally(redlock_latch *latch, const redlock_latch_result *tally, void *data)
{
    struct latch_call *latch_call = data;
    latch_call->tally = *tally;
    keep_id(latch_call->id, tally->id);
    keep_id(latch_call->arrival, tally->arrival);
    redlock_latch_free(latch);
    if (may_call_again(latch_call))
        call_again(latch_call);
    else
        sync_finish(latch_call->client, &latch_call->call,
                    sync_report(latch_call->call.result, tally->code, text_of(tally->code)));
}

static void start_latch_call(redlock_sync *client, struct call *call)
{
    struct latch_call *latch_call = LIST_OWNER(call, struct latch_call, call);
    call->begun = call->begun ? call->begun : sync_now_us();
    redlock_code code =
        latch_call->function(sync_present(client)->redlock, &latch_call->latch, latch_call->name,
                             latch_call->options, on_tally, latch_call);
    if (code)
        sync_refuse(client, call, code);
    else
        sync_set_pending(client, call);
}

/* The options may point into the tally: it is written when they are read no more. */
static redlock_code carry_out_latch_call(redlock_sync *client, latch_function *function,
                                         const char *name, const redlock_latch_options *options,
                                         redlock_latch_result *tally, redlock_sync_result *result)
{
    struct latch_call latch_call = {.call = {.start = start_latch_call, .result = result},
                                    .client = client,
                                    .function = function,
                                    .name = name,
                                    .options = options,
                                    .rest = {.size = sizeof(redlock_latch_options)},
                                    .wait_ms = REDLOCK_FOREVER};
    if (!sync_report_is_usable(result))
        return REDLOCK_E_ARGUMENT;
    if (tally && !sized_is_known(&tally_kind, tally->size))
        return sync_report_size(result, &tally_kind, tally->size);
    if (options && sized_take(&options_kind, &latch_call.rest, options)) {
        latch_call.options = &latch_call.rest;
        latch_call.wait_ms = timeout_wait_ms(latch_call.rest.timeout_ms);
    }
    redlock_code code = sync_ask(client, &latch_call.call);
    if (tally)
        sized_give(tally, &latch_call.tally);
    return code;
}

redlock_code redlock_sync_latch_create(redlock_sync *client, const char *name,
                                       const redlock_latch_options *options,
                                       redlock_latch_result *tally, redlock_sync_result *result)
{
    return carry_out_latch_call(client, redlock_latch_create, name, options, tally, result);
}

redlock_code redlock_sync_latch_arrive(redlock_sync *client, const char *name,
                                       const redlock_latch_options *options,
                                       redlock_latch_result *tally, redlock_sync_result *result)
{
    return carry_out_latch_call(client, redlock_latch_arrive, name, options, tally, result);
}

redlock_code redlock_sync_latch_await(redlock_sync *client, const char *name,
                                      const redlock_latch_options *options,
                                      redlock_latch_result *tally, redlock_sync_result *result)
{
    return carry_out_latch_call(client, redlock_latch_await, name, options, tally, result);
}

redlock_code redlock_sync_latch_count(redlock_sync *client, const char *name,
                                      const redlock_latch_options *options,
                                      redlock_latch_result *tally, redlock_sync_result *result)
{
    return carry_out_latch_call(client, redlock_latch_count, name, options, tally, result);
}
