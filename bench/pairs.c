/*
 * pairs.c - acquire and release, over and over: names without contention, or a few that several
 * processes contend for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load.h"
#include "redlock.h"
#include "scenario.h"
#include "user.h"

struct pairs;

struct pair {
    struct pairs *owner;
    struct pair *next_free;
    redlock_lease *lease;
    int64_t since, asked;
};

struct pairs {
    struct load load;
    struct user user;
    const struct options *options;
    redlock_lease_options terms;
    struct pair *free;
    redlock_name names[64];
    char *bytes;
    uint64_t serial;
};

static struct pair *take_pair(struct pairs *pairs)
{
    struct pair *pair = pairs->free;
    if (!pair)
        return calloc(1, sizeof *pair);
    pairs->free = pair->next_free;
    return pair;
}

static void end_pair(struct pair *pair, bool ok)
{
    struct pairs *pairs = pair->owner;
    redlock_lease_free(pair->lease);
    pair->next_free = pairs->free;
    pairs->free = pair;
    load_ended(&pairs->load, ok);
}

static void on_event(redlock_lease *lease, const redlock_event *event, void *data)
{
    struct pair *pair = data;
    struct pairs *pairs = pair->owner;
    switch (event->kind) {
    case REDLOCK_ACQUIRED:
        load_acquired(&pairs->load, pair->since);
        pair->asked = now_ns();
        redlock_lease_release(lease);
        break;
    case REDLOCK_RELEASED:
        load_released(&pairs->load, pair->asked);
        if (event->code)
            result_note(pairs->load.result, "release: %s", event->text);
        end_pair(pair, event->code == REDLOCK_OK);
        break;
    case REDLOCK_NOT_ACQUIRED:
        result_note(pairs->load.result, "acquire: %s", event->text);
        end_pair(pair, false);
        break;
    case REDLOCK_LOST:
        result_note(pairs->load.result, "lost: %s", event->text);
        redlock_lease_release(lease);
        break;
    default:
        break;
    }
}

/* Makes a name from a padded number: a fresh one, or at random one of the shared. */
static void make_names(struct pairs *pairs)
{
    const struct options *options = pairs->options;
    uint64_t first = options->shared ? (uint64_t)random() : pairs->serial;
    pairs->serial += options->names;
    for (unsigned i = 0; i < options->names; i++) {
        char *to = pairs->bytes + (size_t)i * options->name_size;
        uint64_t serial = options->shared ? (first + i) % options->shared : first + i;
        for (unsigned digit = 0; digit < 16; digit++, serial >>= 4)
            to[3 + digit] = "0123456789abcdef"[serial & 15];
    }
}

static void begin(void *subject, int64_t since)
{
    struct pairs *pairs = subject;
    struct pair *pair = take_pair(pairs);
    *pair = (struct pair){.owner = pairs, .since = since};
    make_names(pairs);
    redlock_code code = redlock_acquire_names(pairs->user.client, &pair->lease, pairs->names,
                                              pairs->options->names, &pairs->terms, on_event, pair);
    if (code) {
        result_note(pairs->load.result, "%s", redlock_last_error(pairs->user.client));
        interrupted = 1;
        end_pair(pair, false);
    }
}

static void prepare_names(struct pairs *pairs)
{
    const struct options *options = pairs->options;
    size_t all = (size_t)options->names * options->name_size;
    pairs->bytes = malloc(all);
    memset(pairs->bytes, '.', all);
    pairs->serial = (uint64_t)now_ns() << 8;
    srandom((unsigned)now_ns());
    for (unsigned i = 0; i < options->names; i++) {
        char *bytes = pairs->bytes + (size_t)i * options->name_size;
        memcpy(bytes, "rb:", 3);
        pairs->names[i] = (redlock_name){
            .size = sizeof(redlock_name), .bytes = bytes, .length = options->name_size};
    }
}

static void *open_pairs(const struct options *options, const struct cluster *cluster,
                        struct ev_loop *loop, struct result *result)
{
    struct pairs *pairs = calloc(1, sizeof *pairs);
    pairs->options = options;
    pairs->terms = (redlock_lease_options){.size = sizeof(redlock_lease_options)};
    pairs->terms.ttl_ms = options->ttl_ms;
    pairs->terms.fence = options->fence;
    pairs->terms.mode = options->reads ? REDLOCK_SHARED : REDLOCK_EXCLUSIVE;
    pairs->terms.permits = options->permits;
    pairs->terms.wait_ms = options->shared ? REDLOCK_FOREVER : 0;
    if (!user_open(&pairs->user, options, cluster, loop, result)) {
        free(pairs);
        return NULL;
    }
    prepare_names(pairs);
    load_init(&pairs->load, options, loop, begin, pairs);
    return pairs;
}

static void run_pairs(void *self, double warm, double seconds, struct result *result)
{
    struct pairs *pairs = self;
    redlock_stats before = {.size = sizeof before}, after = {.size = sizeof after};
    redlock_stats_get(pairs->user.client, &before);
    load_run(&pairs->load, warm, seconds, result);
    redlock_stats_get(pairs->user.client, &after);
    uint64_t acquired = after.acquired - before.acquired;
    if (pairs->options->fence && acquired)
        result_fact(result, "second_rounds_per_pair",
                    (double)(after.raises - before.raises) / (double)acquired);
}

static void close_pairs(void *self)
{
    struct pairs *pairs = self;
    user_close(&pairs->user);
    for (struct pair *pair; (pair = pairs->free);) {
        pairs->free = pair->next_free;
        free(pair);
    }
    free(pairs->bytes);
    free(pairs);
}

const struct scenario pairs_scenario = {.name = "pairs",
                                        .summary =
                                            "acquire and release, on names of its own or --shared",
                                        .open = open_pairs,
                                        .run = run_pairs,
                                        .close = close_pairs,
                                        .loops = true};
