/* rule: D2, D3, D4, A9 */
#include "change.h"

#include <string.h>

#include "liar.h"
#include "lists.h"
#include "rules.h"
#include "trace.h"

#define FIRST(world) (&(world)->kinds[0])

static unsigned count_of(unsigned masters)
{
    return (unsigned)__builtin_popcount(masters);
}

/* ---- the first list is done with ----------------------------------------------------- */

/* Masters that have lost the end since they were counted. */
static unsigned lost(const struct world *w)
{
    const struct change *change = &w->change;
    unsigned masters = 0;
    for (unsigned i = 0; i < w->masters; i++)
        if (change->lost_at[i] > change->counted_at[i])
            masters |= 1U << i;
    return masters & change->counted;
}

/* Any quorum of the first list has one of these masters. */
static bool are_enough(const struct world *w, unsigned masters)
{
    return count_of(masters) + FIRST(w)->quorum > FIRST(w)->masters;
}

/* The tool was right to use the second list, or wrong without an excuse: nothing was forgotten. */
static enum unpromised why_not(const struct world *w)
{
    unsigned kept = w->change.counted & ~(lost(w) | w->liars);
    if (lost(w) && !are_enough(w, kept))
        return UNPROMISED_LOST;
    return w->change.shaky && !are_enough(w, kept & ~w->change.shaky) ? UNPROMISED_CLOCK
                                                                      : UNPROMISED;
}

/* False: it is not promised, which is counted. */
static bool is_promised(const struct world *w, uint64_t *counts)
{
    enum unpromised why = why_not(w);
    if (why < UNPROMISED)
        counts[why]++;
    return why == UNPROMISED;
}

static void still_held(struct user_lease *lease)
{
    struct world *w = lease->shell->world;
    if (lease->is_late)
        return;
    lease->is_late = true;
    TRACE(w, "client %u holds lease %u of list A", CLIENT(lease), lease->number);
    if (is_promised(w, w->changes.late))
        world_violated(w, "change", "client %u holds lease %u of the list that is done with",
                       CLIENT(lease), lease->number);
}

static void look_at(struct shell *s)
{
    if (s->kind != FIRST(s->world) || !s->world->change.opened_at || !s->client)
        return;
    for (struct user_lease *lease = s->all; lease; lease = lease->next_all)
        if (exclusion_counts_holder(lease))
            still_held(lease);
}

static void look_behind(struct world *w)
{
    for (unsigned i = 0; i < LEFT_BEHIND; i++) {
        const struct left_behind *left = &w->left_behind[i];
        if (left->kind != FIRST(w) || left->until <= w->now)
            continue;
        TRACE(w, "lease %u of list A was left behind", left->lease);
        if (is_promised(w, w->changes.late))
            world_violated(w, "change", "client %u has left lease %u of the list behind",
                           left->client + 1, left->lease);
    }
}

void change_opened(struct world *w)
{
    w->changes.opened = 1;
    for (unsigned c = 0; c < w->clients; c++)
        look_at(w->shells[c]);
    look_behind(w);
}

/* ---- two holders ------------------------------------------------------------------------ */

static void held_at_once(struct world *w, uint32_t old, uint32_t new)
{
    TRACE(w, "leases %u and %u are held, by two lists", old, new);
    if (is_promised(w, w->changes.at_once))
        world_violated(w, "change", "leases %u and %u, of two lists, are held at once", old, new);
}

void change_held_at_once(const struct user_lease *old, const struct user_lease *new)
{
    held_at_once(new->shell->world, old->number, new->number);
}

void change_leaves_behind(const struct user_lease *lease)
{
    struct shell *s = lease->shell;
    struct world *w = s->world;
    usec until = clock_when(&s->clock, lease_valid_until(core_of(lease->handle)));
    w->changes.left_behind[s->kind - w->kinds]++;
    w->left_behind[w->left_behind_made++ % LEFT_BEHIND] =
        (struct left_behind){s->kind, lease->names[0], s->index, lease->number, until};
}

void change_acquired(const struct user_lease *lease)
{
    struct world *w = lease->shell->world;
    const struct list_kind *kind = lease->shell->kind;
    if (!is_change(w))
        return;
    w->changes.acquired[kind - w->kinds]++;
    for (unsigned i = 0; i < LEFT_BEHIND; i++) {
        const struct left_behind *left = &w->left_behind[i];
        bool is_other = left->kind && !lists_may_meet(left->kind, kind) && left->until > w->now;
        if (is_other && memchr(lease->names, left->name, lease->count))
            held_at_once(w, left->lease, lease->number);
    }
}

/* ---- who is refused ---------------------------------------------------------------------- */

/* Masters that may have told this process so, and those that may have lied. */
static unsigned ends_told(const struct shell *s)
{
    const struct world *w = s->world;
    unsigned told = w->liars & s->kind->has;
    for (unsigned i = 0; i < w->masters && s->kind == FIRST(w); i++)
        if (FIRST(w)->has >> i & 1 &&
            (w->change.over_until[i] > s->began_at || change_is_over_on(w, i)))
            told |= 1U << i;
    return count_of(told);
}

static unsigned count_over(const struct shell *s)
{
    const struct engine *e = s->client->engine;
    unsigned over = 0;
    for (unsigned i = 0; i < s->masters; i++)
        over += e->masters[i].over;
    return over;
}

static bool is_ended(const struct shell *s)
{
    return count_over(s) + s->quorum > s->masters;
}

/* One that was asked may soon tell that the list is over, too: a quorum tells the next one. */
static bool awaits_ends(const struct shell *s)
{
    bool awaits = false;
    for (unsigned i = 0; i < s->masters && count_over(s) < s->quorum; i++) {
        const struct master *master = &s->client->engine->masters[i];
        awaits |= !master->over && (master->agree_round || master_is_connecting(master));
    }
    return awaits;
}

static bool has_one_unasked(const struct shell *s)
{
    bool has = false;
    for (unsigned i = 0; i < s->masters && count_over(s) < s->quorum; i++) {
        const struct master *master = &s->client->engine->masters[i];
        has |= !master->over && master->state == MASTER_UP && !master->agree_round &&
               master->word.heard_at < s->ended_at;
    }
    return has;
}

static void refused_as_over(struct shell *s)
{
    struct world *w = s->world;
    TRACE(w, "client %u is refused: its list is over", s->index + 1);
    w->changes.refused++;
    if (ends_told(s) + s->kind->quorum <= s->kind->masters)
        world_violated(w, "change", "client %u is refused as its list were over, by %u masters",
                       s->index + 1, ends_told(s));
    if (!s->differs && has_one_unasked(s))
        world_violated(w, "change", "client %u is refused, and has not asked all masters",
                       s->index + 1);
    if (!s->differs && awaits_ends(s) && shell_now(s) < s->ended_at + MS(1000))
        world_violated(w, "change", "client %u is refused, and may yet hear of the next list",
                       s->index + 1);
}

void change_step(struct shell *s)
{
    struct slice successor;
    bool is_over = engine_successor(s->client->engine, &successor);
    if (!is_ended(s))
        s->ended_at = 0;
    else if (!s->ended_at)
        s->ended_at = shell_now(s);
    if (is_over && !s->is_over)
        refused_as_over(s);
    if (!is_over || s->differs != s->is_over)
        s->over_since = NEVER;
    else if (!s->is_over)
        s->over_since = shell_now(s);
    s->is_over = is_over;
    look_at(s);
}

/* ---- who waits ----------------------------------------------------------------------------- */

/* A lease that cannot be asked for, or a token that is gone, may go on by the next list. */
static void told_failure(const struct user_lease *lease)
{
    struct shell *s = lease->shell;
    const struct engine *e = s->client->engine;
    const struct lease *core = core_of(lease->handle);
    usec tries = core->terms.ttl / 4;
    tries = tries < e->config.connect_timeout ? tries : e->config.connect_timeout;
    if (e->undecided && is_ended(s) && shell_now(s) < core->asked_at + tries)
        world_violated(s->world, "change", "lease %u of client %u fails, and its list may be over",
                       lease->number, CLIENT(lease));
}

/* Its user has time to go over to the next list, and keeps its turn. */
void change_told(const struct user_lease *lease, const redlock_event *event)
{
    struct shell *s = lease->shell;
    bool is_failure =
        (event->kind == REDLOCK_NOT_ACQUIRED && event->code == REDLOCK_E_UNAVAILABLE) ||
        (event->kind == REDLOCK_RELEASED && event->code == REDLOCK_E_GONE);
    if (is_failure)
        told_failure(lease);
    const struct lease *core = core_of(lease->handle);
    bool is_refused = event->kind == REDLOCK_NOT_ACQUIRED && event->code == REDLOCK_E_DIFFERS,
         had_asked = core->asked_at < s->over_since && !lease->went_over;
    if (!is_refused || !lease->terms.wait || !s->is_over || !had_asked)
        return;
    usec until = s->over_since + 2 * s->client->engine->config.connect_timeout,
         waits = core->asked_at + lease->terms.wait;
    if (shell_now(s) < (until < waits ? until : waits))
        world_violated(s->world, "change", "lease %u of client %u waits no longer, and could go on",
                       lease->number, CLIENT(lease));
}

void change_idle(const struct shell *s)
{
    if (is_ended(s) && !s->client->engine->differs && !awaits_ends(s))
        world_violated(s->world, "change", "client %u goes on, and its list is over by %u masters",
                       s->index + 1, count_over(s));
}

bool change_takes_vote(const struct shell *s, unsigned master)
{
    const struct master *it = shell_master(s, master);
    return it && it->over;
}

bool change_is_felt(const struct world *w)
{
    bool is_felt = false;
    for (unsigned c = 0; c < w->clients; c++)
        for (unsigned i = 0; i < w->masters; i++)
            is_felt |= change_takes_vote(w->shells[c], i) && !is_liar(w, i);
    return is_felt && w->change.stage == CHANGE_WAS_TAKEN_BACK;
}

/* Clients that are not refused look once a minute.  One that has closed begins again after a gap.
 */
usec change_heard_within(const struct world *w)
{
    usec looks = w->change.stage == CHANGE_WAS_TAKEN_BACK ? MS(80000) : 0;
    return is_change(w) ? looks + MS(w->longest_gap_ms) : 0;
}

bool change_leaves_no_quorum(const struct world *w)
{
    unsigned liars = w->liars & FIRST(w)->has, over = 0;
    for (unsigned i = 0; i < w->masters; i++)
        if (FIRST(w)->has >> i & 1 && change_is_over_on(w, i))
            over |= 1U << i;
    return is_change(w) && liars && over &&
           count_of(over | liars) + FIRST(w)->quorum > FIRST(w)->masters;
}
