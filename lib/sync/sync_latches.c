/*
 * sync_latches.c - latches, for threads that wait.
 */
#include "redlock/recipes.h"
#include "sync_recipe.h"

static const struct recipe_kinds kinds = {SIZED(redlock_latch_options, arrival),
                                          SIZED(redlock_latch_result, who)};

typedef redlock_code latch_function(redlock *client, redlock_latch **latch, const char *name,
                                    const redlock_latch_options *options,
                                    redlock_latch_callback *callback, void *data);

struct latch_call {
    struct recipe_call recipe;
    latch_function *function;
    redlock_latch *latch;
    redlock_latch_options rest;
    char id[REDLOCK_LATCH_ID_SIZE], arrival[REDLOCK_LATCH_ID_SIZE]; /* once they are known */
    redlock_latch_result tally;
};

static const char *keep_id(char *to, const char *id)
{
    return memcpy(to, id, REDLOCK_LATCH_ID_SIZE);
}

static const char *text_of(redlock_code code)
{
    return code == REDLOCK_E_HELD ? "the name has another latch"
           : code == REDLOCK_E_GONE
               ? "the name has no such latch: its life is over, or masters lost it"
               : redlock_code_text(code);
}

/* If it is called anew, then about the latch that it has found, and with its arrival, which counts
 * once.  Another creation would find the latch of the first one, and take it for another's. */
static void on_tally(redlock_latch *latch, const redlock_latch_result *tally, void *data)
{
    struct latch_call *latch_call = data;
    bool creates = latch_call->function == redlock_latch_create;
    latch_call->tally = *tally;
    if (tally->id[0] && !creates)
        latch_call->rest.id = keep_id(latch_call->id, tally->id);
    if (tally->arrival[0])
        latch_call->rest.arrival = keep_id(latch_call->arrival, tally->arrival);
    redlock_latch_free(latch);
    sync_recipe_end(&latch_call->recipe, !creates || !tally->undecided, tally->code,
                    text_of(tally->code));
}

static redlock_code ask(redlock *redlock, struct recipe_call *recipe)
{
    struct latch_call *latch_call = LIST_OWNER(recipe, struct latch_call, recipe);
    return latch_call->function(redlock, &latch_call->latch, recipe->name, recipe->options,
                                on_tally, latch_call);
}

static redlock_code carry_out_latch_call(redlock_sync *client, latch_function *function,
                                         const char *name, const redlock_latch_options *options,
                                         redlock_latch_result *tally, redlock_sync_result *result)
{
    struct latch_call latch_call = {
        .recipe = {.call = {.result = result}, .name = name, .ask = ask}, .function = function};
    latch_call.recipe.rest = &latch_call.rest;
    latch_call.recipe.timeout_ms = &latch_call.rest.timeout_ms;
    return sync_recipe(client, &latch_call.recipe, &kinds, options, tally, &latch_call.tally);
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
