#include "shares.h"

#include <stdlib.h>
#include <string.h>

#include "crowds.h"
#include "memory.h"
#include "permits.h"

static struct share *add(struct shares *shares, enum share_kind kind, const char *value)
{
    if (shares->count == shares->room) {
        shares->room = shares->room ? 2 * shares->room : 64;
        shares->all = memory_or_end(realloc(shares->all, shares->room * sizeof *shares->all));
    }
    struct share *share = &shares->all[shares->count++];
    *share = (struct share){.kind = kind, .value = memory_or_end(strdup(value))};
    struct holder holder = holder_split(share->value);
    share->foreign = !holder_is_ours(share->value);
    share->who = holder.label ? holder.label : share->value;
    share->token_length = holder.token_length;
    return share;
}

/* ---- those that are named in a crowd ------------------------------------------ */

static unsigned count_naming(const redlock_look_result *result, const char *token)
{
    unsigned count = 0;
    for (unsigned i = 0; i < result->masters; i++)
        count += crowd_names(&result->views[i]->readers, token) ||
                 crowd_names(&result->views[i]->permits_out, token);
    return count;
}

/* Among those from the first share of this name on. */
static bool is_noted(const struct shares *shares, enum share_kind kind, size_t first,
                     const char *token)
{
    for (size_t i = first; i < shares->count; i++)
        if (shares->all[i].kind == kind && strcmp(shares->all[i].value, token) == 0)
            return true;
    return false;
}

static void note_member(struct shares *shares, const redlock_look_result *result,
                        enum share_kind kind, const char *token)
{
    struct share *share = add(shares, kind, token);
    share->on = count_naming(result, token);
    share->remaining_ms = -1; /* the key's is that of another */
    share->foreign = false;
}

/* All that any master names: each may have a reader that others lack. */
static void note_members(struct shares *shares, const redlock_look_result *result,
                         enum share_kind kind, size_t first)
{
    for (unsigned i = 0; i < result->masters; i++) {
        const redlock_view *view = result->views[i];
        const redlock_crowd *crowd = kind == SHARE_HAS_PERMIT ? &view->permits_out : &view->readers;
        for (size_t j = 0; j < crowd->told; j++)
            if (!is_noted(shares, kind, first, crowd->tokens[j]))
                note_member(shares, result, kind, crowd->tokens[j]);
    }
}

static void note_waiters(struct shares *shares, const redlock_look_result *result)
{
    redlock_crowd waiters = look_waiters(result);
    for (size_t i = 0; i < waiters.told; i++) {
        struct share *share = add(shares, SHARE_WAITS, waiters.tokens[i]);
        share->place = (unsigned)i + 1;
        share->remaining_ms = -1;
    }
}

/* ---- all of a name --------------------------------------------------------------- */

static void note_holding(struct shares *shares, const redlock_look_result *result,
                         const struct holding *holding, size_t first)
{
    const char *value = holding->holder ? holding->holder : "?";
    bool is_shared = is_marker(value) && look_readers(result).count > 0;
    if (is_of_permits(value) && look_permits(result).count > 0) {
        note_members(shares, result, SHARE_HAS_PERMIT, first);
    } else if (is_shared) {
        note_members(shares, result, SHARE_READS, first);
    } else {
        struct share *share = add(shares, SHARE_HOLDS, value);
        share->on = holding->masters;
        share->remaining_ms = holding->remaining_ms;
    }
}

static struct crowds count_crowds(const redlock_look_result *result)
{
    struct permits permits = look_permits(result);
    return (struct crowds){look_readers(result).count, permits.count, permits.holders.count,
                           look_waiters(result).count};
}

void shares_note(struct shares *shares, const redlock_name *name, const redlock_look_result *result)
{
    struct answer answer = answer_judge(result);
    size_t first = shares->count;
    for (unsigned i = 0; i < answer.count; i++)
        note_holding(shares, result, &answer.holdings[i], first);
    note_waiters(shares, result);
    for (size_t i = first; i < shares->count; i++) {
        struct share *share = &shares->all[i];
        share->name = *name;
        share->state = answer.state;
        share->crowds = count_crowds(result);
        share->masters = result->masters;
        share->quorum = result->quorum;
    }
}

const char *share_mode(enum share_kind kind)
{
    static const char *const modes[] = {
        [SHARE_HOLDS] = "exclusive", [SHARE_READS] = "shared", [SHARE_HAS_PERMIT] = "permit"};
    return modes[kind];
}

bool share_is_partial(const struct share *share)
{
    return share->kind != SHARE_WAITS && share->on < share->quorum;
}

/* ---- order ------------------------------------------------------------------------ */

bool shares_are_of_one(const struct share *a, const struct share *b)
{
    return a->foreign == b->foreign && strcmp(a->who, b->who) == 0;
}

static int compare_names(const redlock_name *a, const redlock_name *b)
{
    size_t common = a->length < b->length ? a->length : b->length;
    int order = memcmp(a->bytes, b->bytes, common);
    return order ? order : (a->length > b->length) - (a->length < b->length);
}

static int compare(const void *one, const void *other)
{
    const struct share *a = one, *b = other;
    if (a->foreign != b->foreign)
        return a->foreign - b->foreign;
    int order = strcmp(a->who, b->who);
    if (!order)
        order = (a->kind == SHARE_WAITS) - (b->kind == SHARE_WAITS);
    if (!order)
        order = compare_names(&a->name, &b->name);
    return order ? order : strcmp(a->value, b->value);
}

void shares_sort(struct shares *shares)
{
    if (shares->count > 0)
        qsort(shares->all, shares->count, sizeof *shares->all, compare);
}

void shares_free(struct shares *shares)
{
    for (size_t i = 0; i < shares->count; i++)
        free(shares->all[i].value);
    free(shares->all);
}
