#include "sync_recipe.h"

#include "timeout.h"

static void start_recipe(redlock_sync *client, struct call *call)
{
    struct recipe_call *recipe = LIST_OWNER(call, struct recipe_call, call);
    call->begun = call->begun ? call->begun : sync_now_us();
    redlock_code code = recipe->ask(sync_present(client)->redlock, recipe);
    if (code)
        sync_refuse(client, call, code);
    else
        sync_set_pending(client, call);
}

static void ask_anew(struct recipe_call *recipe)
{
    struct call *call = &recipe->call;
    *recipe->timeout_ms = timeout_of_wait(sync_rest_of(recipe->wait_ms, call->begun));
    recipe->options = recipe->rest;
    sync_set_out(call);
    start_recipe(recipe->client, call);
}

void sync_recipe_end(struct recipe_call *recipe, bool may_ask_anew, redlock_code code,
                     const char *text)
{
    struct call *call = &recipe->call;
    if (may_ask_anew && sync_may_begin_anew(call->side, code))
        ask_anew(recipe);
    else
        sync_finish(recipe->client, call, sync_report(call->result, code, text));
}

/* `rest` has its size also where there are no options, for another call. */
static void take_options(struct recipe_call *recipe, const struct sized *kind, const void *options)
{
    bool are_read = options && sized_take(kind, recipe->rest, options);
    memcpy(recipe->rest, &kind->sizes[0], sizeof kind->sizes[0]);
    recipe->options = are_read ? recipe->rest : options;
    recipe->wait_ms = are_read ? timeout_wait_ms(*recipe->timeout_ms) : REDLOCK_FOREVER;
}

redlock_code sync_recipe(redlock_sync *client, struct recipe_call *recipe,
                         const struct recipe_kinds *kinds, const void *options, void *told,
                         const void *own)
{
    size_t size = kinds->told.sizes[0];
    if (!sync_report_is_usable(recipe->call.result))
        return REDLOCK_E_ARGUMENT;
    if (told)
        memcpy(&size, told, sizeof size);
    if (!sized_is_known(&kinds->told, size))
        return sync_report_size(recipe->call.result, &kinds->told, size);
    take_options(recipe, &kinds->options, options);
    recipe->call.start = start_recipe;
    recipe->client = client;
    redlock_code code = sync_ask(client, &recipe->call);
    if (told)
        sized_give(told, own);
    return code;
}
