/*
 * sync_wishes.c - asking the holder of a name, for threads that wait.
 */
#include "redlock/recipes.h"
#include "sync_recipe.h"

static const struct recipe_kinds kinds = {SIZED(redlock_ask_options, again),
                                          SIZED(redlock_asked, masters)};

struct ask_call {
    struct recipe_call recipe;
    redlock_asker *asker;
    redlock_ask_options rest;
    redlock_asked asked;
};

static void on_asked(redlock_asker *asker, const redlock_asked *asked, void *data)
{
    struct ask_call *ask_call = data;
    ask_call->asked = *asked;
    redlock_asker_free(asker);
    sync_recipe_end(&ask_call->recipe, true, ask_call->asked.code,
                    redlock_code_text(ask_call->asked.code));
}

static redlock_code ask(redlock *redlock, struct recipe_call *recipe)
{
    struct ask_call *ask_call = LIST_OWNER(recipe, struct ask_call, recipe);
    return redlock_ask(redlock, &ask_call->asker, recipe->name, recipe->options, on_asked,
                       ask_call);
}

redlock_code redlock_sync_ask(redlock_sync *client, const char *name,
                              const redlock_ask_options *options, redlock_asked *asked,
                              redlock_sync_result *result)
{
    struct ask_call ask_call = {.recipe = {.call = {.result = result}, .name = name, .ask = ask}};
    ask_call.recipe.rest = &ask_call.rest;
    ask_call.recipe.timeout_ms = &ask_call.rest.timeout_ms;
    return sync_recipe(client, &ask_call.recipe, &kinds, options, asked, &ask_call.asked);
}
