/*
 * sync_wishes.c - asking the holder of a name, for threads that wait.
 */
#include "redlock/recipes.h"
#include "sized.h"
#include "sync_client.h"
#include "sync_report.h"
#include "timeout.h"

static const struct sized options_kind = SIZED(redlock_ask_options, again);
static const struct sized asked_kind = SIZED(redlock_asked, masters);

struct ask_call {
    struct call call;
    redlock_sync *client;
    redlock_asker *asker;
    const char *name;
    const redlock_ask_options *options; /* `rest`, if they can be read */
    redlock_ask_options rest;
    int64_t wait_ms;
    redlock_asked asked;
};

static void start_ask_call(redlock_sync *client, struct call *call);

static void ask_once_more(struct ask_call *ask_call)
{
    struct call *call = &ask_call->call;
    ask_call->rest.timeout_ms = timeout_of_wait(sync_rest_of(ask_call->wait_ms, call->begun));
    ask_call->options = &ask_call->rest;
    sync_set_out(call);
    start_ask_call(ask_call->client, call);
}

static void on_asked(redlock_asker *asker, const redlock_asked *asked, void *data)
{
    struct ask_call *ask_call = data;
    struct call *call = &ask_call->call;
    ask_call->asked = *asked;
    redlock_asker_free(asker);
    if (sync_may_begin_anew(call->side, asked->code))
        ask_once_more(ask_call);
    else
        sync_finish(ask_call->client, call,
                    sync_report(call->result, ask_call->asked.code,
                                redlock_code_text(ask_call->asked.code)));
}

static void start_ask_call(redlock_sync *client, struct call *call)
{
    struct ask_call *ask_call = LIST_OWNER(call, struct ask_call, call);
    call->begun = call->begun ? call->begun : sync_now_us();
    redlock_code code = redlock_ask(sync_present(client)->redlock, &ask_call->asker, ask_call->name,
                                    ask_call->options, on_asked, ask_call);
    if (code)
        sync_refuse(client, call, code);
    else
        sync_set_pending(client, call);
}

redlock_code redlock_sync_ask(redlock_sync *client, const char *name,
                              const redlock_ask_options *options, redlock_asked *asked,
                              redlock_sync_result *result)
{
    struct ask_call ask_call = {.call = {.start = start_ask_call, .result = result},
                                .client = client,
                                .name = name,
                                .options = options,
                                .wait_ms = REDLOCK_FOREVER};
    if (!sync_report_is_usable(result))
        return REDLOCK_E_ARGUMENT;
    if (asked && !sized_is_known(&asked_kind, asked->size))
        return sync_report_size(result, &asked_kind, asked->size);
    if (options && sized_take(&options_kind, &ask_call.rest, options)) {
        ask_call.options = &ask_call.rest;
        ask_call.wait_ms = timeout_wait_ms(ask_call.rest.timeout_ms);
    }
    ask_call.rest.size = sizeof ask_call.rest;
    redlock_code code = sync_ask(client, &ask_call.call);
    if (asked)
        sized_give(asked, &ask_call.asked);
    return code;
}
