/*
 * sync_barriers.c - barriers, for threads that wait.
 */
#include "redlock/recipes.h"
#include "sized.h"
#include "sync_client.h"
#include "sync_report.h"

static const struct sized passage_kind = SIZED(redlock_barrier_result, latest);

struct arrival {
    struct call call;
    redlock_sync *client;
    redlock_barrier *party;
    const char *name;
    const redlock_barrier_options *options;
    redlock_barrier_result passage;
};

static void on_passage(redlock_barrier *party, const redlock_barrier_result *passage, void *data)
{
    struct arrival *arrival = data;
    redlock_code code = sync_report(arrival->call.result, passage->code, passage->text);
    arrival->passage = *passage;
    arrival->passage.text = "";
    redlock_barrier_free(party);
    sync_finish(arrival->client, &arrival->call, code);
}

static void start_arrival(redlock_sync *client, struct call *call)
{
    struct arrival *arrival = LIST_OWNER(call, struct arrival, call);
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
    redlock_code code = sync_ask(client, &arrival.call);
    if (passage)
        sized_give(passage, &arrival.passage);
    return code;
}
