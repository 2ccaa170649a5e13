/*
 * election.c - a candidate: one fenced lease after the other, and its value announced with each.
 */
#include <stdlib.h>
#include <string.h>

#include "redlock/recipes.h"

struct redlock_campaign {
    redlock *client;
    redlock_lease *lease; /* NULL: it could not stand again */
    redlock_campaign_callback *callback;
    void *data;
    redlock_lease_options terms;
    char *name;
    void *value; /* NULL: nothing is announced */
    size_t length;
    bool again;
    bool resigned; /* or it has ended by itself */
    bool telling;  /* its callback is being called */
    bool freed;    /* by its callback, after which its memory goes */
};

static void on_event(redlock_lease *lease, const redlock_event *event, void *data);

static redlock_code stand_candidate(redlock_campaign *candidate)
{
    return redlock_acquire(candidate->client, &candidate->lease, candidate->name, &candidate->terms,
                           on_event, candidate);
}

static void free_memory(redlock_campaign *candidate)
{
    free(candidate->value);
    free(candidate->name);
    free(candidate);
}

/* ---- events ------------------------------------------------------------------------ */

/* False if the callback has freed the candidate. */
static bool tell_candidate(redlock_campaign *candidate, const redlock_event *event)
{
    candidate->telling = true;
    candidate->callback(candidate, event, candidate->data);
    candidate->telling = false;
    if (!candidate->freed)
        return true;
    free_memory(candidate);
    return false;
}

/* What the masters still have of the lost lease is given back meanwhile. */
static void stand_again(redlock_campaign *candidate, const redlock_event *lost)
{
    redlock_lease_free(candidate->lease);
    redlock_code code = stand_candidate(candidate);
    if (!code)
        return;
    redlock_event event = *lost;
    event.kind = REDLOCK_NOT_ACQUIRED;
    event.code = code;
    event.text = redlock_code_text(code);
    event.fence = event.valid_ms = event.ends_ms = 0;
    candidate->resigned = true;
    tell_candidate(candidate, &event);
}

/* Where memory is out the leader says nothing, which ANNOUNCED, that does not come, tells. */
static void on_event(redlock_lease *lease, const redlock_event *event, void *data)
{
    redlock_campaign *candidate = data;
    bool lost = event->kind == REDLOCK_LOST;
    if (event->kind == REDLOCK_RELEASED || event->kind == REDLOCK_NOT_ACQUIRED)
        candidate->resigned = true;
    if (event->kind == REDLOCK_ACQUIRED && candidate->value)
        (void)!redlock_lease_announce(lease, candidate->value, candidate->length);
    if (tell_candidate(candidate, event) && lost && candidate->again && !candidate->resigned)
        stand_again(candidate, event);
}

/* ---- calls ------------------------------------------------------------------------- */

static redlock_code copy_value(void **copy, const void *value, size_t length)
{
    if (length > REDLOCK_VALUE_MAX || (length && !value))
        return REDLOCK_E_ARGUMENT;
    *copy = malloc(length + 1);
    if (!*copy)
        return REDLOCK_E_MEMORY;
    if (length)
        memcpy(*copy, value, length);
    return REDLOCK_OK;
}

/* A caller that was compiled with an older header has a shorter struct. */
static redlock_code take_options(redlock_campaign *candidate, const redlock_campaign_options *given)
{
    redlock_campaign_options options = REDLOCK_CAMPAIGN_INIT;
    if (given && given->size < sizeof given->size)
        return REDLOCK_E_ARGUMENT;
    if (given)
        memcpy(&options, given, given->size < sizeof options ? given->size : sizeof options);
    candidate->terms = (redlock_lease_options){.size = sizeof(redlock_lease_options)};
    candidate->terms.ttl_ms = options.ttl_ms;
    candidate->terms.margin_ms = options.margin_ms ? options.margin_ms : REDLOCK_ZERO;
    if (options.margin_ms < 0)
        candidate->terms.margin_ms = 0;
    candidate->terms.wait_ms = options.wait_ms;
    candidate->terms.fence = true;
    candidate->again = options.again;
    if (!options.value && !options.length)
        return REDLOCK_OK;
    candidate->length = options.length;
    return copy_value(&candidate->value, options.value, options.length);
}

static redlock_code begin_campaign(redlock_campaign *candidate, const char *name,
                                   const redlock_campaign_options *options)
{
    redlock_code code = take_options(candidate, options);
    if (code)
        return code;
    candidate->name = strdup(name);
    return candidate->name ? stand_candidate(candidate) : REDLOCK_E_MEMORY;
}

redlock_code redlock_campaign_begin(redlock *client, redlock_campaign **out, const char *name,
                                    const redlock_campaign_options *options,
                                    redlock_campaign_callback *callback, void *data)
{
    if (out)
        *out = NULL;
    if (!client || !out || !name || !callback)
        return REDLOCK_E_ARGUMENT;
    redlock_campaign *candidate = calloc(1, sizeof *candidate);
    if (!candidate)
        return REDLOCK_E_MEMORY;
    candidate->client = client;
    candidate->callback = callback;
    candidate->data = data;
    redlock_code code = begin_campaign(candidate, name, options);
    if (code)
        free_memory(candidate);
    else
        *out = candidate;
    return code;
}

redlock_lease *redlock_campaign_lease(const redlock_campaign *candidate)
{
    return candidate->lease;
}

/* What is refused is not announced in a later term either. */
redlock_code redlock_campaign_announce(redlock_campaign *candidate, const void *value,
                                       size_t length)
{
    void *copy = NULL;
    redlock_code code = copy_value(&copy, value, length);
    if (!code && redlock_lease_valid_for(candidate->lease))
        code = redlock_lease_announce(candidate->lease, value, length);
    if (code) {
        free(copy);
        return code;
    }
    free(candidate->value);
    candidate->value = copy;
    candidate->length = length;
    return REDLOCK_OK;
}

redlock_code redlock_campaign_resign(redlock_campaign *candidate)
{
    if (candidate->resigned)
        return REDLOCK_E_STATE;
    redlock_code code = redlock_lease_release(candidate->lease);
    candidate->resigned = code == REDLOCK_OK;
    return code;
}

void redlock_campaign_free(redlock_campaign *candidate)
{
    if (!candidate)
        return;
    redlock_lease_free(candidate->lease);
    if (candidate->telling)
        candidate->freed = true;
    else
        free_memory(candidate);
}
