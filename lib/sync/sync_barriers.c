/*
 * sync_barriers.c - barriers, for threads that wait.
 */
#include "redlock/recipes.h"
#include "sync_recipe.h"

static const struct recipe_kinds kinds = {SIZED(redlock_barrier_options, token),
                                          SIZED(redlock_barrier_result, latest)};

struct arrival {
    struct recipe_call recipe;
    redlock_barrier *party;
    redlock_barrier_options rest;
    redlock_barrier_result passage;
};

/* As a party that goes over, it arrives anew with its token if others may have counted it. */
static void on_passage(redlock_barrier *party, const redlock_barrier_result *passage, void *data)
{
    struct arrival *arrival = data;
    arrival->passage = *passage;
    arrival->passage.text = "";
    if (passage->undecided)
        arrival->rest.token = arrival->passage.token;
    redlock_barrier_free(party);
    sync_recipe_end(&arrival->recipe, true, passage->code, passage->text);
}

static redlock_code arrive(redlock *redlock, struct recipe_call *recipe)
{
    struct arrival *arrival = LIST_OWNER(recipe, struct arrival, recipe);
    return redlock_barrier_arrive(redlock, &arrival->party, recipe->name, recipe->options,
                                  on_passage, arrival);
}

redlock_code redlock_sync_barrier_arrive(redlock_sync *client, const char *name,
                                         const redlock_barrier_options *options,
                                         redlock_barrier_result *passage,
                                         redlock_sync_result *result)
{
    struct arrival arrival = {.recipe = {.call = {.result = result}, .name = name, .ask = arrive},
                              .passage = {.text = ""}};
    arrival.recipe.rest = &arrival.rest;
    arrival.recipe.timeout_ms = &arrival.rest.timeout_ms;
    return sync_recipe(client, &arrival.recipe, &kinds, options, passage, &arrival.passage);
}
