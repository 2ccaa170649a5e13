/*
 * once.c - whether work was done, and the record that it was: a latch of one arrival, which only
 * the holder of the work's name makes.
 *
 *   look ──► count                 record ──► create ──► arrive ──► is the lease still valid?
 *                                                ▲          │
 *                                                └── gone ──┘
 *
 * A latch without its arrival is no record: its writer died, or could not go on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "owner.h"
#include "redlock/recipes.h"
#include "sized.h"

#define WORD_COMPLAINT "%s has 1 to %d bytes of printable ASCII without spaces"

#define BETWEEN    " once " /* a key has no spaces, so its beginning can be found */
#define TRIES_MOST 3
#define ARRIVES_MS 10000

static const struct sized options_kind = SIZED(redlock_once_options, life_ms);

struct redlock_once {
    redlock_lease *lease;
    redlock *client; /* that was asked last */
    redlock_latch *latch;
    redlock_once_callback *callback;
    void *data;
    bool records;
    unsigned tries; /* to make the latch */
    int64_t life_ms;
    char id[REDLOCK_LATCH_ID_SIZE], note[REDLOCK_LATCH_ID_SIZE];
    bool undecided; /* an arrival of an earlier try may count */
    bool telling, freed;
    char name[]; /* of the latch */
};

static redlock_code ask_to_make(redlock_once *once);

/* ---- telling ------------------------------------------------------------------------ */

static void tell_once(redlock_once *once, const redlock_latch_result *record)
{
    once->telling = true;
    once->callback(once, record, once->data);
    once->telling = false;
    if (once->freed)
        free(once);
}

/* The code, with what else is known. */
static void tell_code(redlock_once *once, const redlock_latch_result *tally, redlock_code code)
{
    redlock_latch_result record = *tally;
    record.code = code;
    record.undecided = code && once->undecided;
    tell_once(once, &record);
}

/* ---- whom it asks ------------------------------------------------------------------- */

/* Its lease may have moved since. */
static redlock *client_of_once(redlock_once *once)
{
    once->client = client_of_lease(once->lease);
    return once->client;
}

/* The lease went on with another list.  Its former client is closed, or has asked masters that the
 * next holder may not ask. */
static bool is_left_behind(const redlock_once *once, redlock_code code)
{
    bool is_elsewhere = code == REDLOCK_E_CLOSED || code == REDLOCK_OK;
    return is_elsewhere && client_of_lease(once->lease) != once->client;
}

static bool once_is_held(const redlock_once *once)
{
    size_t length;
    return name_of_lease(once->lease, &length);
}

/* Somebody has made a latch of that name by hand. */
static bool is_of_others(const redlock_latch_result *tally)
{
    return tally->arrivals > 1;
}

/* ---- looking ------------------------------------------------------------------------ */

static void on_counted(redlock_latch *latch, const redlock_latch_result *tally, void *data);

static redlock_code ask_to_count(redlock_once *once)
{
    return redlock_latch_count(client_of_once(once), &once->latch, once->name, NULL, on_counted,
                               once);
}

static void end_latch(redlock_once *once)
{
    redlock_latch_free(once->latch);
    once->latch = NULL;
}

static void on_counted(redlock_latch *latch, const redlock_latch_result *tally, void *data)
{
    redlock_once *once = data;
    redlock_code code = tally->code == REDLOCK_E_GONE ? REDLOCK_OK : tally->code;
    redlock_latch_result told = *tally;
    (void)latch;
    end_latch(once);
    if (is_left_behind(once, code)) {
        code = ask_to_count(once);
        if (!code)
            return;
    }
    tell_code(once, &told, is_of_others(&told) ? REDLOCK_E_HELD : code);
}

/* ---- recording ---------------------------------------------------------------------- */

/* False: the user hears of the failure. */
static bool try_to_make_again(redlock_once *once)
{
    return once_is_held(once) && once->tries < TRIES_MOST && ask_to_make(once) == REDLOCK_OK;
}

/* Nobody else may have begun before a quorum had the record, and the next one must find it. */
static redlock_code code_of_arrival(const redlock_once *once, redlock_code code)
{
    if (code == REDLOCK_OK && !once_is_held(once))
        return REDLOCK_E_EXPIRED;
    return code == REDLOCK_OK && is_left_behind(once, code) ? REDLOCK_E_CLOSED : code;
}

static void on_arrived(redlock_latch *latch, const redlock_latch_result *tally, void *data)
{
    redlock_once *once = data;
    redlock_latch_result told = *tally;
    bool is_left = is_left_behind(once, told.code);
    bool again = told.code == REDLOCK_E_GONE || is_left;
    (void)latch;
    end_latch(once);
    once->undecided |= told.undecided || (is_left && told.code == REDLOCK_OK);
    if (!again || !try_to_make_again(once))
        tell_code(once, &told, code_of_arrival(once, told.code));
}

static redlock_code ask_to_arrive(redlock_once *once)
{
    redlock_latch_options options = {.size = sizeof options};
    options.timeout_ms = ARRIVES_MS;
    options.id = once->id;
    options.arrival = once->note;
    return redlock_latch_arrive(client_of_once(once), &once->latch, once->name, &options,
                                on_arrived, once);
}

/* A latch that was made, or may have been, without an arrival is no record. */
static void on_made(redlock_latch *latch, const redlock_latch_result *tally, void *data)
{
    redlock_once *once = data;
    redlock_latch_result told = *tally;
    redlock_code code = told.code;
    bool is_there = code == REDLOCK_OK || (code == REDLOCK_E_HELD && !is_of_others(&told));
    bool again = code == REDLOCK_E_UNAVAILABLE || is_left_behind(once, code);
    (void)latch;
    end_latch(once);
    if (again && try_to_make_again(once))
        return;
    memcpy(once->id, told.id, sizeof once->id);
    if (is_there)
        code = once_is_held(once) ? ask_to_arrive(once) : REDLOCK_E_EXPIRED;
    if (!is_there || code)
        tell_code(once, &told, code);
}

static redlock_code ask_to_make(redlock_once *once)
{
    redlock_latch_options options = {.size = sizeof options};
    options.arrivals = 1;
    options.life_ms = once->life_ms;
    once->tries++;
    return redlock_latch_create(client_of_once(once), &once->latch, once->name, &options, on_made,
                                once);
}

/* ---- calls -------------------------------------------------------------------------- */

static bool is_once_word(const char *text)
{
    size_t length = text ? strlen(text) : 0;
    for (size_t i = 0; i < length; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return false;
    return length > 0 && length < REDLOCK_LATCH_ID_SIZE;
}

static redlock_once *new_once(redlock_lease *lease, const char *name, size_t length,
                              const char *key)
{
    size_t size = length + sizeof BETWEEN + strlen(key);
    redlock_once *once = calloc(1, sizeof *once + size);
    if (!once)
        return NULL;
    once->lease = lease;
    memcpy(once->name, name, length);
    snprintf(once->name + length, size - length, BETWEEN "%s", key);
    return once;
}

/* The words are read last: by then the number beside them was found to be in range. */
static redlock_code read_once_options(redlock *client, const redlock_once_options *options,
                                      bool records, redlock_once_options *o)
{
    if (!options)
        return client_fail(client, REDLOCK_E_ARGUMENT, "options.key is missing");
    if (!sized_take(&options_kind, o, options))
        return client_fail_size(client, &options_kind, options->size);
    if (o->life_ms < 0 || o->life_ms > REDLOCK_LATCH_LIFE_MAX || (!records && o->life_ms))
        return client_fail(client, REDLOCK_E_ARGUMENT,
                           "a record lives for 1 s to 30 days, and a look sets no life");
    if (!is_once_word(o->key))
        return client_fail(client, REDLOCK_E_ARGUMENT, WORD_COMPLAINT, "options.key",
                           REDLOCK_LATCH_ID_SIZE - 1);
    if (!records && o->note)
        return client_fail(client, REDLOCK_E_ARGUMENT,
                           "options.note is for redlock_once_record() alone");
    if (records && !is_once_word(o->note))
        return client_fail(client, REDLOCK_E_ARGUMENT, WORD_COMPLAINT, "options.note",
                           REDLOCK_LATCH_ID_SIZE - 1);
    return REDLOCK_OK;
}

static redlock_code find_work(redlock_lease *lease, const char **name, size_t *length)
{
    redlock *client = client_of_lease(lease);
    *name = name_of_lease(lease, length);
    if (!*name)
        return client_fail(client, REDLOCK_E_STATE,
                           "work that is done once needs a lease that is held exclusively, on one "
                           "name and as no permit");
    if (memchr(*name, '\0', *length))
        return client_fail(client, REDLOCK_E_NAME,
                           "the name of work that is done once is a C string");
    return REDLOCK_OK;
}

static redlock_code make_once(redlock_lease *lease, const redlock_once_options *options,
                              bool records, redlock_once **once)
{
    redlock *client = client_of_lease(lease);
    redlock_once_options o;
    const char *name;
    size_t length;
    redlock_code code = read_once_options(client, options, records, &o);
    if (!code)
        code = find_work(lease, &name, &length);
    if (code)
        return code;
    *once = new_once(lease, name, length, o.key);
    if (!*once)
        return client_fail(client, REDLOCK_E_MEMORY, "out of memory");
    (*once)->records = records;
    (*once)->life_ms = o.life_ms;
    snprintf((*once)->note, sizeof(*once)->note, "%s", records ? o.note : "");
    return REDLOCK_OK;
}

static redlock_code begin_once(redlock_lease *lease, redlock_once **out,
                               const redlock_once_options *options, bool records,
                               redlock_once_callback *callback, void *data)
{
    redlock_once *once;
    if (out)
        *out = NULL;
    if (!lease)
        return REDLOCK_E_ARGUMENT;
    if (!out || !callback)
        return client_fail(client_of_lease(lease), REDLOCK_E_ARGUMENT,
                           "work that is done once needs a callback and a handle");
    redlock_code code = make_once(lease, options, records, &once);
    if (code)
        return code;
    once->callback = callback;
    once->data = data;
    code = records ? ask_to_make(once) : ask_to_count(once);
    if (code)
        free(once);
    else
        *out = once;
    return code;
}

redlock_code redlock_once_look(redlock_lease *lease, redlock_once **once,
                               const redlock_once_options *options, redlock_once_callback *callback,
                               void *data)
{
    return begin_once(lease, once, options, false, callback, data);
}

redlock_code redlock_once_record(redlock_lease *lease, redlock_once **once,
                                 const redlock_once_options *options,
                                 redlock_once_callback *callback, void *data)
{
    return begin_once(lease, once, options, true, callback, data);
}

void redlock_once_free(redlock_once *once)
{
    if (!once)
        return;
    redlock_latch_free(once->latch);
    once->latch = NULL;
    if (once->telling)
        once->freed = true;
    else
        free(once);
}
