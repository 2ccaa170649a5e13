/*
 * election.c - a candidate: one fenced lease after the other, and its value announced with each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "campaign.h"
#include "fail.h"
#include "owner.h"
#include "sized.h"
#include "timeout.h"

#define VALUE_COMPLAINT "a value is 0 to %d bytes long"

static const struct sized options_kind = SIZED(redlock_campaign_options, once);

struct redlock_campaign {
    redlock *client;
    redlock_lease *lease; /* NULL: it could not stand again */
    redlock_campaign_callback *callback;
    void *data;
    redlock_lease_options terms;
    char *name;
    void *value; /* NULL: nothing is announced */
    size_t length;
    bool once;
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

/* The rest of the lost lease is given back meanwhile. */
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
    if (event->kind == REDLOCK_MOVED)
        candidate->client = client_of_lease(lease);
    if (tell_candidate(candidate, event) && lost && !candidate->once && !candidate->resigned)
        stand_again(candidate, event);
}

/* ---- calls ------------------------------------------------------------------------- */

/* NULL with a length of 0 says that there is nothing to announce. */
static bool is_value(const void *value, size_t length)
{
    return length <= REDLOCK_VALUE_MAX && (value || !length);
}

redlock_code campaign_read(const redlock_campaign_options *given, redlock_campaign_options *options,
                           redlock_lease_options *terms, char *why, size_t why_size)
{
    *options = (redlock_campaign_options){.size = sizeof *options};
    if (given && !sized_take(&options_kind, options, given))
        snprintf(why, why_size, SIZED_COMPLAINT, options_kind.name, given->size,
                 options_kind.sizes[0], options_kind.name);
    else if (!timeout_is_valid(options->timeout_ms))
        snprintf(why, why_size, TIMEOUT_COMPLAINT, (long long)options->timeout_ms);
    else if (!sized_is_flag(&options->once))
        snprintf(why, why_size,
                 "once is neither true nor false: clear the struct before you fill it");
    else if (!is_value(options->value, options->length))
        snprintf(why, why_size, VALUE_COMPLAINT, REDLOCK_VALUE_MAX);
    else {
        *terms = (redlock_lease_options){.size = sizeof *terms,
                                         .ttl_ms = options->ttl_ms,
                                         .margin_ms = options->margin_ms,
                                         .wait_ms = timeout_wait_ms(options->timeout_ms),
                                         .fence = true};
        return REDLOCK_OK;
    }
    return REDLOCK_E_ARGUMENT;
}

static redlock_code copy_value(redlock_campaign *candidate, void **copy, const void *value,
                               size_t length)
{
    if (!is_value(value, length))
        return client_fail(candidate->client, REDLOCK_E_ARGUMENT, VALUE_COMPLAINT,
                           REDLOCK_VALUE_MAX);
    *copy = malloc(length + 1);
    if (!*copy)
        return client_fail(candidate->client, REDLOCK_E_MEMORY, "out of memory");
    if (length)
        memcpy(*copy, value, length);
    return REDLOCK_OK;
}

/* The value is read last: by then the numbers beside it were found to be in range. */
static redlock_code begin_campaign(redlock_campaign *candidate, const char *name,
                                   const redlock_campaign_options *options)
{
    candidate->name = strdup(name);
    if (!candidate->name)
        return client_fail(candidate->client, REDLOCK_E_MEMORY, "out of memory");
    redlock_code code = stand_candidate(candidate);
    if (code || !options->value)
        return code;
    candidate->length = options->length;
    code = copy_value(candidate, &candidate->value, options->value, options->length);
    if (code)
        redlock_lease_free(candidate->lease);
    return code;
}

redlock_code redlock_campaign_begin(redlock *client, redlock_campaign **out, const char *name,
                                    const redlock_campaign_options *given,
                                    redlock_campaign_callback *callback, void *data)
{
    redlock_campaign_options options;
    redlock_lease_options terms;
    char why[160];
    if (out)
        *out = NULL;
    if (!client)
        return REDLOCK_E_ARGUMENT;
    if (!out || !name || !callback)
        return client_fail(client, REDLOCK_E_ARGUMENT,
                           "a candidate needs a handle, a name and a callback");
    redlock_code code = campaign_read(given, &options, &terms, why, sizeof why);
    if (code)
        return client_fail(client, code, "%s", why);
    redlock_campaign *candidate = calloc(1, sizeof *candidate);
    if (!candidate)
        return client_fail(client, REDLOCK_E_MEMORY, "out of memory");
    candidate->client = client;
    candidate->callback = callback;
    candidate->data = data;
    candidate->terms = terms;
    candidate->once = options.once;
    code = begin_campaign(candidate, name, &options);
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

/* A refused value is not announced in a later term either. */
redlock_code redlock_campaign_announce(redlock_campaign *candidate, const void *value,
                                       size_t length)
{
    void *copy = NULL;
    redlock_code code = copy_value(candidate, &copy, value, length);
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
