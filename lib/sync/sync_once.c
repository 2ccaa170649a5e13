/*
 * sync_once.c - whether work was done, and the record that it was, for threads that wait.
 */
#include "redlock/recipes.h"
#include "sized.h"
#include "sync_client.h"
#include "sync_report.h"

typedef redlock_code once_function(redlock_lease *lease, redlock_once **once,
                                   const redlock_once_options *options,
                                   redlock_once_callback *callback, void *data);

static const struct sized record_kind = SIZED(redlock_latch_result, who);

struct once_call {
    struct call call;
    redlock_sync *client;
    once_function *function;
    redlock_once *once;
    const redlock_once_options *options;
    redlock_latch_result record;
};

static void on_record(redlock_once *once, const redlock_latch_result *record, void *data)
{
    struct once_call *once_call = data;
    once_call->record = *record;
    redlock_once_free(once);
    sync_finish(once_call->client, &once_call->call,
                sync_report(once_call->call.result, record->code, redlock_code_text(record->code)));
}

/* Once begun, it goes along by itself if the lease moves. */
static void start_once(redlock_sync *client, struct call *call)
{
    struct once_call *once_call = LIST_OWNER(call, struct once_call, call);
    if (sync_postpone(client, call))
        return;
    redlock_code code = once_call->function(call->lease->handle, &once_call->once,
                                            once_call->options, on_record, once_call);
    if (code)
        sync_refuse(client, call, code);
    else
        sync_set_pending(client, call);
}

/* The options may point into the record: it is written when they are read no more. */
static redlock_code carry_out_once(redlock_sync_lease *lease, once_function *function,
                                   const redlock_once_options *options,
                                   redlock_latch_result *record, redlock_sync_result *result)
{
    struct once_call once_call = {
        .call = {.start = start_once, .result = result}, .function = function, .options = options};
    if (!lease || !sync_report_is_usable(result))
        return REDLOCK_E_ARGUMENT;
    if (record && !sized_is_known(&record_kind, record->size))
        return sync_report_size(result, &record_kind, record->size);
    once_call.client = lease->client;
    redlock_code code = sync_ask_about(lease, &once_call.call);
    if (record)
        sized_give(record, &once_call.record);
    return code;
}

redlock_code redlock_sync_once_look(redlock_sync_lease *lease, const redlock_once_options *options,
                                    redlock_latch_result *record, redlock_sync_result *result)
{
    return carry_out_once(lease, redlock_once_look, options, record, result);
}

redlock_code redlock_sync_once_record(redlock_sync_lease *lease,
                                      const redlock_once_options *options,
                                      redlock_latch_result *record, redlock_sync_result *result)
{
    return carry_out_once(lease, redlock_once_record, options, record, result);
}
