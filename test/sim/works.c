/*
 * works.c - work that is done once: under a lease a user looks whether it was done, does it, and
 * records that.  It may fail, or its process may be killed, and then another one tries.
 *
 * - done: a record that was reported is on a quorum of masters, and its lease still counts itself
 *   held.  While it lives no later look says that the work was not done, and no other run reports
 *   one, unless restarts have left it to fewer masters than a quorum.  No look says that it was
 *   done before anybody has recorded it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "invariants.h"
#include "model_tasks.h"
#include "recipe_users.h"
#include "redlock/recipes.h"
#include "trace.h"
#include "wrong.h"

#define FAILS 250 /* per mille of what is done */

enum work_phase { WORK_LOOKS, WORK_RUNS, WORK_RECORDS };

struct user_work {
    struct user_work *next;
    struct user_lease *lease;
    redlock_once *handle; /* NULL: it runs */
    enum work_phase phase;
    uint32_t epochs[MASTERS_MAX]; /* of the masters, when the call began */
    uint16_t had;                 /* a bit for each that had a record which was reported by then */
};

static bool chance(struct world *w, unsigned permille)
{
    return chance_permille(&w->working, permille);
}

/* ---- what the masters have ---------------------------------------------------------------- */

/* The id of the latch if it is a record; 0: it is none, or the master is down. */
static uint32_t record_on(struct world *w, unsigned master, unsigned name)
{
    struct server *server = &w->servers[master];
    const struct model_latch *latch =
        model_latch(&server->model, server_wall(w, master), works_of(name));
    return server->up && latch && latch->arrived[0] ? latch->id : 0;
}

static bool has_record(struct world *w, unsigned master, unsigned name, uint32_t id)
{
    return id && record_on(w, master, name) == id;
}

/* The one that most masters have; 0: none has any. */
static uint32_t record_of(struct world *w, unsigned name)
{
    uint32_t best = 0;
    unsigned most = 0;
    for (unsigned i = 0; i < w->masters; i++) {
        uint32_t id = record_on(w, i, name);
        unsigned same = 0;
        for (unsigned j = 0; j < w->masters; j++)
            same += has_record(w, j, name, id);
        if (same > most) {
            most = same;
            best = id;
        }
    }
    return best;
}

/* It lives for long enough on each clock. */
static bool lives(struct world *w, const struct work_done *done)
{
    bool all = done->id != 0;
    for (unsigned i = 0; i < w->masters; i++)
        all &= done->ends_ms - server_wall(w, i) / 1000 > 2 * w->skew_ms;
    return all;
}

static bool may_be_deceived(struct world *w)
{
    for (unsigned i = 0; i < w->masters; i++)
        if (is_wrong(w, i) || w->servers[i].farthest || w->servers[i].jumped)
            w->ever_wrong |= (uint16_t)(1U << i);
    return w->options.beyond || w->mixed || (unsigned)__builtin_popcount(w->ever_wrong) > w->spare;
}

static unsigned name_of(const struct user_work *it)
{
    return it->lease->names[0];
}

/* ---- the rules ---------------------------------------------------------------------------- */

static void note_begin(struct user_work *it)
{
    struct world *w = it->lease->shell->world;
    const struct work_done *done = &w->works_done[name_of(it)];
    it->had = 0;
    for (unsigned i = 0; i < w->masters; i++) {
        it->epochs[i] = w->servers[i].epoch;
        it->had |= (uint16_t)(has_record(w, i, name_of(it), done->id) << i);
    }
}

/* A quorum has had the record since the look began. */
static void was_looked_at_well(struct user_work *it)
{
    struct world *w = it->lease->shell->world;
    const struct work_done *done = &w->works_done[name_of(it)];
    unsigned have = 0;
    for (unsigned i = 0; i < w->masters; i++)
        have += it->had >> i & 1 && w->servers[i].epoch == it->epochs[i] &&
                has_record(w, i, name_of(it), done->id);
    if (lives(w, done) && have >= it->lease->shell->quorum)
        world_violated(w, "done", "lease %u hears that what %u masters have was not done",
                       it->lease->number, have);
}

/* Those that were restarted since may have had it.  An earlier try may have written it, too late
 * for the look. */
static void is_stored(struct user_work *it)
{
    struct world *w = it->lease->shell->world;
    uint32_t id = record_of(w, name_of(it));
    unsigned have = 0;
    for (unsigned i = 0; i < w->masters; i++)
        have += has_record(w, i, name_of(it), id) || !w->servers[i].up ||
                w->servers[i].epoch != it->epochs[i] || w->ever_wrong >> i & 1;
    if (have < it->lease->shell->quorum)
        world_violated(w, "done", "lease %u hears that it has recorded what %u masters have",
                       it->lease->number, have);
}

/* No restart has left it to fewer than a quorum. */
static bool is_kept(struct world *w, unsigned name, const struct work_done *done)
{
    unsigned keepers = 0;
    for (unsigned i = 0; i < w->masters; i++)
        keepers += (done->on >> i & 1 && w->servers[i].epoch == done->epochs[i]) ||
                   has_record(w, i, name, done->id);
    return keepers >= w->quorum;
}

static void remember(struct world *w, unsigned name)
{
    struct work_done *done = &w->works_done[name];
    *done = (struct work_done){.is_recorded = true, .id = record_of(w, name), .ends_ms = INT64_MAX};
    for (unsigned i = 0; i < w->masters; i++) {
        int64_t ends_ms = w->servers[i].model.data.latches[works_of(name)].ends_ms;
        done->epochs[i] = w->servers[i].epoch;
        if (!has_record(w, i, name, done->id))
            continue;
        done->on |= (uint16_t)(1U << i);
        done->ends_ms = ends_ms < done->ends_ms ? ends_ms : done->ends_ms;
    }
}

static void is_recorded_well(struct user_work *it)
{
    struct world *w = it->lease->shell->world;
    const struct work_done *done = &w->works_done[name_of(it)];
    if (!user_lease_is_held(it->lease))
        world_violated(w, "done", "lease %u hears that it has recorded, and is over",
                       it->lease->number);
    if (may_be_deceived(w))
        return;
    is_stored(it);
    if (lives(w, done) && is_kept(w, name_of(it), done))
        world_violated(w, "done", "lease %u did again what was done", it->lease->number);
    remember(w, name_of(it));
}

void works_sent(struct world *w, const struct message *message)
{
    const struct model_call *call = &message->call;
    if (call->kind == REQUEST_TALLY && call->arrived[0] && works_are(call->names[0]))
        w->works_done[call->names[0] - works_of(0)].is_recorded = true;
}

/* ---- the users ------------------------------------------------------------------------------ */

static void end_work(struct user_work *it)
{
    struct shell *s = it->lease->shell;
    struct user_work **at = &s->works;
    while (*at != it)
        at = &(*at)->next;
    *at = it->next;
    shell_present = s;
    redlock_once_free(it->handle);
    free(it);
}

static void let_go(struct user_work *it)
{
    struct user_lease *lease = it->lease;
    end_work(it);
    if (lease->known == KNOWN_HELD && !lease->released)
        user_lease_release(lease);
}

static void on_done(redlock_once *handle, const redlock_latch_result *record, void *data)
{
    struct user_work *it = data;
    struct shell *s = it->lease->shell;
    struct world *w = s->world;
    bool ok = record->code == REDLOCK_OK, looks = it->phase == WORK_LOOKS;
    TRACE(w, "client %u hears of its work, lease %u: %s %s%s", s->index + 1, it->lease->number,
          looks ? "looks" : "records", redlock_code_name(record->code),
          record->open ? ", done" : "");
    world_mark(w, (uint64_t)w->now + it->lease->number, (uint64_t)record->code);
    if (handle != it->handle || s->closed_told || it->phase == WORK_RUNS)
        world_violated(w, "once", "client %u hears twice of its work", s->index + 1);
    if (ok && !looks)
        is_recorded_well(it);
    if (ok && looks && !record->open && !may_be_deceived(w))
        was_looked_at_well(it);
    if (ok && looks && record->open && !w->works_done[name_of(it)].is_recorded &&
        !may_be_deceived(w))
        world_violated(w, "done", "lease %u hears that it was done, and nobody has",
                       it->lease->number);
    if (w->violation.rule)
        return;
    if (!ok || !looks || record->open || w->peace) {
        let_go(it);
        return;
    }
    it->phase = WORK_RUNS;
    redlock_once_free(it->handle);
    it->handle = NULL;
}

static bool call(struct user_work *it, redlock_once_options *options)
{
    struct shell *s = shell_present = it->lease->shell;
    bool held = redlock_lease_valid_for(it->lease->handle) && !it->lease->shared;
    note_begin(it);
    redlock_code code =
        options->note ? redlock_once_record(it->lease->handle, &it->handle, options, on_done, it)
                      : redlock_once_look(it->lease->handle, &it->handle, options, on_done, it);
    if (code && code != REDLOCK_E_MEMORY && (held || code != REDLOCK_E_STATE))
        world_violated(s->world, "options", "lease %u may not %s: %s", it->lease->number,
                       options->note ? "record" : "look", redlock_last_error(s->client));
    s->leases_made += 3; /* as many requests */
    return code == REDLOCK_OK;
}

static void look(struct user_lease *lease)
{
    struct shell *s = lease->shell;
    struct user_work *it = calloc(1, sizeof *it);
    redlock_once_options options = {.size = sizeof options, .key = WORK_KEY};
    *it = (struct user_work){.lease = lease, .next = s->works};
    if (!call(it, &options)) {
        free(it);
        return;
    }
    TRACE(s->world, "client %u looks at its work, lease %u", s->index + 1, lease->number);
    s->works = it;
}

static void record(struct user_work *it)
{
    struct shell *s = it->lease->shell;
    struct world *w = s->world;
    char note[TOKEN_TEXT + 1];
    snprintf(note, sizeof note, "arrival-%014u", w->arrivals_made++);
    redlock_once_options options = {.size = sizeof options, .key = WORK_KEY, .note = note};
    options.life_ms =
        chance(w, 700) ? chance_range(&w->working, 1000, 4 * w->max_ttl_ms + 1000) : 3600000;
    it->phase = WORK_RECORDS;
    TRACE(w, "client %u records its work, lease %u", s->index + 1, it->lease->number);
    if (!call(it, &options))
        let_go(it);
}

/* Of two processes with one token both may do it. */
static bool may_look(const struct user_lease *lease)
{
    return !lease->by_token && lease->known == KNOWN_HELD && !lease->is_probe && !lease->let_go &&
           !lease->released && !lease->terms.permits && lease->count == 1 && !lease->shared &&
           !lease->shell->close_asked;
}

void works_user_told(struct user_lease *lease, const redlock_event *event)
{
    struct world *w = lease->shell->world;
    if (w->works && !w->peace && event->kind == REDLOCK_ACQUIRED && may_look(lease) &&
        chance(w, w->works))
        look(lease);
}

void works_user_acts(struct shell *s)
{
    struct user_work *it = s->works;
    while (it && it->phase != WORK_RUNS)
        it = it->next;
    if (!it || s->close_asked)
        return;
    if (s->world->peace || chance(s->world, FAILS))
        let_go(it);
    else
        record(it);
}

void works_end(const struct user_lease *lease)
{
    for (struct user_work *it = lease->shell->works, *next; it; it = next) {
        next = it->next;
        if (it->lease == lease)
            end_work(it);
    }
}

void works_drop(struct shell *s)
{
    while (s->works)
        end_work(s->works);
}
