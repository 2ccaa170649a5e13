/*
 * sync_barriers.c - barriers, for threads that wait.
 */
#include "redlock/recipes.h"
#include "sized.h"
#include "sync_client.h"
#include "sync_report.h"
#include "timeout.h"

static const struct sized options_kind = SIZED(redlock_barrier_options, token);
static const struct sized passage_kind = SIZED(redlock_barrier_result, latest);

struct arrival {
    struct call call;
    redlock_sync *client;
    redlock_barrier *party;
    const char *name;
    const redlock_barrier_options *options; /* `rest`, if they can be read */
    redlock_barrier_options rest;
    int64_t wait_ms;
    redlock_barrier_result passage;
};

static void start_arrival(redlock_sync *client, struct call *call);

/* As a party that goes over does: with its token if others may have counted it. */
static void arrive_anew(struct arrival *arrival)
{
    struct call *call = &arrival->call;
    if (arrival->passage.undecided)
        arrival->rest.token = arrival->passage.token;
    arrival->rest.timeout_ms = timeout_of_wait(sync_rest_of(arrival->wait_ms, call->begun));
    sync_set_out(call);
    start_arrival(arrival->client, call);
}

static void on_passage(redlock_barrier *party, const redlock_barrier_result *passage, void *data)
{
    struct arrival *arrival = data;
    arrival->passage = *passage;
    arrival->passage.text = "";
    redlock_barrier_free(party);
    if (sync_may_begin_anew(arrival->call.side, passage->code))
        arrive_anew(arrival);
    else
        sync_finish(arrival->client, &arrival->call,
                    sync_report(arrival->call.result, passage->code, passage->text));
}

static void start_arrival(redlock_sync *client, struct call *call)
{
    struct arrival *arrival = LIST_OWNER(call, struct arrival, call);
    call->begun = call->begun ? call->begun : sync_now_us();
    redlock_code code =
        redlock_barrier_arrive(sync_present(client)->redlock, &arrival->party, arrival->name,
                               arrival->options, on_passage, arrival);
    if (code)
        sync_refuse(client, call, code);
    else
        sync_set_pending(client, call);
}

/* The options may point into the passage: it is written when they are read no more. */
redlock_code redlock_sync_barrier_arrive(redlock_sync *client, const char *name,
                                         const redlock_barrier_options *options,
                                         redlock_barrier_result *passage,
                                         redlock_sync_result *result)
{
    struct arrival arrival = {.call = {.start = start_arrival, .result = result},
                              .client = client,
                              .name = name,
                              .options = options,
                              .passage = {.text = ""}};
    if (!sync_report_is_usable(result))
        return REDLOCK_E_ARGUMENT;
    if (passage && !sized_is_known(&passage_kind, passage->size))
        return sync_report_size(result, &passage_kind, passage->size);
    if (options && sized_take(&options_kind, &arrival.rest, options)) {
        arrival.options = &arrival.rest;
        arrival.wait_ms = timeout_wait_ms(arrival.rest.timeout_ms);
    }
    redlock_code code = sync_ask(client, &arrival.call);
    if (passage)
        sized_give(passage, &arrival.passage);
    return code;
}
