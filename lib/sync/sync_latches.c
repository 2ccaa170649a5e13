/*
 * sync_latches.c - latches, for threads that wait.
 */
#include "redlock/recipes.h"
#include "sized.h"
#include "sync_client.h"
#include "sync_report.h"

static const struct sized tally_kind = SIZED(redlock_latch_result, masters);

typedef redlock_code latch_function(redlock *client, redlock_latch **latch, const char *name,
                                    const redlock_latch_options *options,
                                    redlock_latch_callback *callback, void *data);

struct latch_call {
    struct call call;
    redlock_sync *client;
    latch_function *function;
    redlock_latch *latch;
    const char *name;
    const redlock_latch_options *options;
    redlock_latch_result tally;
};

static void on_tally(redlock_latch *latch, const redlock_latch_result *tally, void *data)
{
    struct latch_call *latch_call = data;
    latch_call->tally = *tally;
    redlock_latch_free(latch);
    sync_finish(latch_call->client, &latch_call->call,
                sync_report(latch_call->call.result, tally->code, redlock_code_text(tally->code)));
}

static void start_latch_call(redlock_sync *client, struct call *call)
{
    struct latch_call *latch_call = LIST_OWNER(call, struct latch_call, call);
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
                                    .options = options};
    if (!sync_report_is_usable(result))
        return REDLOCK_E_ARGUMENT;
    if (tally && !sized_is_known(&tally_kind, tally->size))
        return sync_report_size(result, &tally_kind, tally->size);
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
