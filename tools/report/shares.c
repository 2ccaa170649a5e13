#include "shares.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "permits.h"
#include "readers.h"

static struct share *add(struct shares *shares, enum share_kind kind, const char *value,
                         size_t length)
{
    if (shares->count == shares->room) {
        shares->room = shares->room ? 2 * shares->room : 64;
        shares->all = memory_or_end(realloc(shares->all, shares->room * sizeof *shares->all));
    }
    struct share *share = &shares->all[shares->count++];
    *share = (struct share){.kind = kind, .value = memory_or_end(strndup(value, length))};
    struct holder holder = holder_split(share->value);
    share->foreign = !holder_is_ours(share->value);
    share->who = holder.label ? holder.label : share->value;
    share->token_length = holder.token_length;
    return share;
}

/* ---- those that are named in a crowd ------------------------------------------ */

struct crowd {
    struct shares *shares;
    const redlock_event *event;
    enum share_kind kind;
    size_t first; /* the first share of this name */
    unsigned place;
};

static bool is_named(const char *tokens, const char *token, size_t length)
{
    for (const char *line = tokens; *line;) {
        size_t ends = strcspn(line, "\n");
        if (ends == length && memcmp(line, token, length) == 0)
            return true;
        line += ends + (line[ends] == '\n');
    }
    return false;
}

static unsigned count_naming(const redlock_event *event, const char *token, size_t length)
{
    unsigned count = 0;
    for (unsigned i = 0; i < event->masters; i++)
        count += event->votes[i].kind == REDLOCK_VOTE_HELD &&
                 is_named(event->votes[i].reader_tokens, token, length);
    return count;
}

static bool is_noted(const struct crowd *crowd, const char *token, size_t length)
{
    for (size_t i = crowd->first; i < crowd->shares->count; i++) {
        const struct share *share = &crowd->shares->all[i];
        if (share->kind == crowd->kind && strlen(share->value) == length &&
            memcmp(share->value, token, length) == 0)
            return true;
    }
    return false;
}

static void note_member(void *data, const char *token, size_t length)
{
    struct crowd *crowd = data;
    if (is_noted(crowd, token, length))
        return;
    struct share *share = add(crowd->shares, crowd->kind, token, length);
    share->on = count_naming(crowd->event, token, length);
    share->remaining_ms = -1; /* the key's is that of another */
    share->foreign = false;
}

/* All that any master names: each may have a reader that others lack. */
static void note_members(struct shares *shares, const redlock_event *event, enum share_kind kind,
                         size_t first)
{
    struct crowd crowd = {shares, event, kind, first, 0};
    for (unsigned i = 0; i < event->masters; i++) {
        const redlock_vote *vote = &event->votes[i];
        bool is_of_kind = (kind == SHARE_HAS_PERMIT) == (vote->permits > 0);
        if (vote->kind == REDLOCK_VOTE_HELD && is_of_kind)
            waiters_each(&(struct waiters){vote->readers, vote->reader_tokens}, note_member,
                         &crowd);
    }
}

static void note_waiter(void *data, const char *token, size_t length)
{
    struct crowd *crowd = data;
    struct share *share = add(crowd->shares, SHARE_WAITS, token, length);
    share->place = ++crowd->place;
    share->remaining_ms = -1;
}

/* ---- all of a name --------------------------------------------------------------- */

static void note_holding(struct shares *shares, const redlock_event *event,
                         const struct holding *holding, size_t first)
{
    const char *value = holding->holder ? holding->holder : "?";
    bool is_shared = is_marker(value) && votes_readers(event).count > 0;
    if (is_of_permits(value) && votes_permits(event).count > 0) {
        note_members(shares, event, SHARE_HAS_PERMIT, first);
    } else if (is_shared) {
        note_members(shares, event, SHARE_READS, first);
    } else {
        struct share *share = add(shares, SHARE_HOLDS, value, strlen(value));
        share->on = holding->masters;
        share->remaining_ms = holding->remaining_ms;
    }
}

static struct crowds count_crowds(const redlock_event *event)
{
    struct permits permits = votes_permits(event);
    return (struct crowds){votes_readers(event).count, permits.count, permits.holders.count,
                           votes_waiters(event).count};
}

void shares_note(struct shares *shares, const redlock_name *name, const redlock_event *event)
{
    struct answer answer = answer_judge(event);
    struct waiters waiters = votes_waiters(event);
    size_t first = shares->count;
    for (unsigned i = 0; i < answer.count; i++)
        note_holding(shares, event, &answer.holdings[i], first);
    waiters_each(&waiters, note_waiter, &(struct crowd){.shares = shares});
    for (size_t i = first; i < shares->count; i++) {
        struct share *share = &shares->all[i];
        share->name = *name;
        share->state = answer.state;
        share->crowds = count_crowds(event);
        share->masters = event->masters;
        share->quorum = event->quorum;
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
