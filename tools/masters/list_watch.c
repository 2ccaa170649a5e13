#include "list_watch.h"

#include <string.h>

#include "duration.h"
#include "failure.h"
#include "list_text.h"

#define SETTLE_MS  2000
#define TOLD_MOST  8 /* lists, by one master */
#define NEVER_TOLD (-1)

unsigned masters_in(unsigned bits)
{
    return (unsigned)__builtin_popcount(bits);
}

bool fleet_is_named(const struct options *options, const redlock *client)
{
    struct lists_used used;
    redlock_lists_used(client, &used);
    if (!used.fleet)
        failure_tell(options, "cannot tell of", REDLOCK_E_ARGUMENT,
                     "clients of no fleet say no list: give --fleet a name", NULL);
    return used.fleet;
}

/* ---- One client -------------------------------------------------------------------- */

void list_watch_take(struct list_watch *watch, redlock *client, const struct options *options)
{
    watch->client = client;
    watch->masters = redlock_node_count(client);
    watch->spare = (unsigned)options->spare;
    watch->quorum = redlock_quorum(watch->masters, watch->spare);
    watch->until = boot_ms() + SETTLE_MS;
}

bool list_watch_open(struct list_watch *watch, struct ev_loop *loop, const struct options *options,
                     bool says)
{
    redlock_options settings = options_of_client(options);
    char why[500] = "";
    redlock_free(watch->client);
    watch->client = NULL;
    settings.looks_only = true;
    settings.nodes = watch->entries.bytes;
    redlock *client = NULL;
    redlock_code code = redlock_open(&client, loop, &settings, why, sizeof why);
    if (code != REDLOCK_OK) {
        failure_tell(options, "cannot go on", code, why, NULL);
        return false;
    }
    if (says && watch->revives)
        redlock_list_revive(client, watch->changes);
    else if (says)
        redlock_list_end(client, watch->successor.bytes, UINT16_MAX);
    list_watch_take(watch, client, options);
    return true;
}

static bool are_one_master(const redlock_node *one, const redlock_node *other)
{
    return strcmp(one->node, other->node) == 0 ||
           (one->run_id[0] && strcmp(one->run_id, other->run_id) == 0);
}

static bool is_shared(const struct list_watch *watch, unsigned index,
                      const struct list_watch *other, unsigned its)
{
    redlock_node one = {.size = sizeof one}, two = {.size = sizeof two};
    redlock_node_get(watch->client, index, &one);
    redlock_node_get(other->client, its, &two);
    return are_one_master(&one, &two);
}

unsigned list_watch_shared(const struct list_watch *watch, const struct list_watch *other,
                           unsigned bits)
{
    unsigned shared = 0;
    for (unsigned i = 0; i < watch->masters; i++)
        for (unsigned j = 0; j < other->masters; j++)
            if (bits >> j & 1 && is_shared(watch, i, other, j))
                shared |= 1U << i;
    return shared;
}

static unsigned all_of(const struct list_watch *watch)
{
    return (1U << watch->masters) - 1;
}

unsigned list_seen_others(const struct list_seen *seen)
{
    return seen->over & ~seen->ours;
}

unsigned list_seen_free(const struct list_seen *seen)
{
    return seen->told & ~list_seen_others(seen);
}

unsigned list_watch_behind(const struct list_watch *watch, const struct list_watch *other,
                           const struct list_seen *others)
{
    unsigned free = list_seen_free(others);
    unsigned shared = list_watch_shared(watch, other, all_of(other));
    unsigned known = others->told | list_watch_shared(other, watch, all_of(watch));
    unsigned alone = known == all_of(other) ? all_of(watch) & ~shared : 0;
    return alone | (list_watch_shared(watch, other, free) &
                    ~list_watch_shared(watch, other, all_of(other) & ~free));
}

void list_watch_note(struct list_watch *watch, const struct list_seen *seen)
{
    for (unsigned i = 0; i < watch->masters; i++)
        watch->changes[i] = seen->told >> i & 1 ? seen->used.changes[i] : NEVER_TOLD;
}

bool list_watch_revive(struct list_watch *watch, struct ev_loop *loop,
                       const struct options *options, unsigned masters)
{
    for (unsigned i = 0; i < watch->masters; i++)
        if (!(masters >> i & 1))
            watch->changes[i] = NEVER_TOLD;
    watch->revives = true;
    return list_watch_open(watch, loop, options, true);
}

void list_watch_free(struct list_watch *watch)
{
    redlock_free(watch->client);
    if (watch->entries.bytes)
        explicit_bzero(watch->entries.bytes, watch->entries.length);
    text_free(&watch->entries);
    text_free(&watch->successor);
    *watch = (struct list_watch){.client = NULL};
}

/* ---- What the masters tell ----------------------------------------------------------- */

static unsigned in_state(const struct list_watch *watch, redlock_node_state state)
{
    unsigned bits = 0;
    for (unsigned i = 0; i < watch->masters; i++) {
        redlock_node node = {.size = sizeof node};
        redlock_node_get(watch->client, i, &node);
        bits |= (unsigned)(node.state == state) << i;
    }
    return bits;
}

unsigned list_watch_up(const struct list_watch *watch)
{
    return masters_in(in_state(watch, REDLOCK_NODE_UP) | in_state(watch, REDLOCK_NODE_ABSTAINS));
}

static bool is_settled(const struct list_watch *watch, unsigned asked)
{
    unsigned may_tell = in_state(watch, REDLOCK_NODE_UP) | in_state(watch, REDLOCK_NODE_ABSTAINS) |
                        in_state(watch, REDLOCK_NODE_CONNECTING);
    return !(may_tell & ~asked) || boot_ms() >= watch->until;
}

static void note_list(struct list_seen *seen, const struct list_used *list)
{
    if (!list->has_our_masters)
        return;
    seen->saying |= list->told_by;
    seen->clients += list->clients;
    if (!seen->last.masters || list->last_ms < seen->last.last_ms)
        seen->last = *list;
}

/* A client that says one list more is not remembered. */
static void note_full(struct list_seen *seen)
{
    unsigned told[REDLOCK_MASTERS_MAX] = {0};
    for (unsigned i = 0; i < seen->used.count; i++)
        for (unsigned j = 0; j < REDLOCK_MASTERS_MAX; j++)
            if (seen->used.lists[i].told_by >> j & 1 && ++told[j] == TOLD_MOST)
                seen->saying |= 1U << j;
}

void list_watch_look(const struct list_watch *watch, struct list_seen *seen)
{
    *seen = (struct list_seen){.clients = 0};
    redlock_lists_used(watch->client, &seen->used);
    seen->is_settled = is_settled(watch, seen->used.asked);
    seen->told = seen->used.tell;
    seen->vote = seen->told & in_state(watch, REDLOCK_NODE_UP);
    seen->over = seen->used.over & seen->told;
    struct client_text ours = {watch->successor.bytes, watch->successor.length};
    for (unsigned i = 0; i < watch->masters; i++)
        if (ours.length && seen->over >> i & 1 &&
            redlock_lists_are_same(seen->used.successors[i], ours))
            seen->ours |= 1U << i;
    for (unsigned i = 0; i < seen->used.count; i++)
        note_list(seen, &seen->used.lists[i]);
    note_full(seen);
    seen->saying &= seen->told;
}

unsigned list_watch_ended(const struct list_watch *watch)
{
    unsigned ended = 0;
    for (unsigned i = 0; i < watch->masters; i++)
        ended |= (unsigned)(watch->told[i] != 0) << i;
    return ended;
}

static void note_ends(struct list_watch *watch, const struct list_seen *seen)
{
    for (unsigned i = 0; i < watch->masters; i++)
        if (seen->ours >> i & 1)
            watch->told[i] = seen->used.changes[i] > 0 ? seen->used.changes[i] : 1;
}

static bool is_taken_back(const struct list_watch *watch, const struct list_seen *seen, unsigned i)
{
    bool is_valid = (seen->told & ~seen->over) >> i & 1;
    return is_valid && watch->told[i] && seen->used.changes[i] >= watch->told[i];
}

static bool has_lost_end(const struct list_watch *watch, const struct list_seen *seen, unsigned i)
{
    return seen->told >> i & 1 && seen->used.changes[i] < watch->told[i];
}

unsigned list_watch_say_on(struct list_watch *watch, bool again)
{
    struct list_seen seen;
    unsigned taken = 0, lost = 0;
    list_watch_look(watch, &seen);
    if (!seen.is_settled) /* it says what it was opened for */
        return 0;
    note_ends(watch, &seen);
    for (unsigned i = 0; i < watch->masters; i++) {
        taken |= (unsigned)is_taken_back(watch, &seen, i) << i;
        lost |= (unsigned)has_lost_end(watch, &seen, i) << i;
    }
    again |= masters_in(taken) <= watch->spare; /* liars, or an undo that was killed */
    unsigned must_hear = (all_of(watch) & ~list_watch_ended(watch)) | lost | (again ? taken : 0);
    redlock_list_end(watch->client, watch->successor.bytes, must_hear);
    return taken;
}

unsigned list_watch_tellers(const struct list_seen *seen, const struct client_text *list)
{
    unsigned tell = 0;
    for (unsigned i = 0; i < REDLOCK_MASTERS_MAX; i++)
        tell += seen->over >> i & 1 && redlock_lists_are_same(seen->used.successors[i], *list);
    return tell;
}

const struct client_text *list_watch_other(const struct list_seen *seen)
{
    const struct client_text *most = NULL;
    for (unsigned i = 0; i < REDLOCK_MASTERS_MAX; i++) {
        const struct client_text *its = &seen->used.successors[i];
        bool is_other = list_seen_others(seen) >> i & 1;
        if (is_other && (!most || list_watch_tellers(seen, its) > list_watch_tellers(seen, most)))
            most = its;
    }
    return most;
}

unsigned list_watch_enough(const struct list_watch *watch)
{
    return watch->masters - watch->quorum + 1 + watch->spare;
}

bool list_watch_is_free(const struct list_watch *watch, const struct list_seen *seen)
{
    return masters_in(list_seen_free(seen)) >= list_watch_enough(watch);
}

static bool is_text(struct client_text text, const char *word)
{
    return text.length == strlen(word) && memcmp(text.bytes, word, text.length) == 0;
}

/* By its address, or by its process at another one. */
static bool lists_node(const struct list_used *list, const redlock_node *node)
{
    bool lists = false;
    for (unsigned i = 0; i < list->masters; i++)
        lists |= is_text(list->nodes[i], node->node) ||
                 (list->run_ids[i].length && is_text(list->run_ids[i], node->run_id));
    return lists;
}

/* Each client finds out more by the ages of the processes. */
static bool may_meet(const struct list_watch *watch, const struct list_used *list)
{
    unsigned all = watch->masters + list->masters;
    for (unsigned i = 0; i < watch->masters; i++) {
        redlock_node node = {.size = sizeof node};
        redlock_node_get(watch->client, i, &node);
        all -= lists_node(list, &node);
    }
    unsigned spare = list->spare < watch->spare ? list->spare : watch->spare;
    return watch->quorum + list->quorum > all + spare;
}

const struct list_used *list_watch_unsafe(const struct list_watch *watch,
                                          const struct list_seen *seen)
{
    for (unsigned i = 0; i < seen->used.count; i++)
        if (!may_meet(watch, &seen->used.lists[i]))
            return &seen->used.lists[i];
    return NULL;
}
