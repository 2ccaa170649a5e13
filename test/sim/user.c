#include "users.h"

#include <string.h>

#include "client_rules.h"
#include "invariants.h"
#include "lists.h"
#include "recipe_users.h"
#include "rules.h"
#include "trace.h"

#define LEASES_AT_ONCE 4
#define AWAITED        400 /* per mille of what is detached that another user waits for, */
#define LEFT_EXTENDED  200 /* and of extended leases that are detached at once */
#define GOES_ON        250 /* per mille of calls after which another one follows at once */
#define ENDS_AT_ONCE   3   /* per mille of callbacks in which the client is freed, */
#define ENDS_CLOSING   50  /* and while it closes */
#define CHANGES                                                                                    \
    300 /* per mille of what is done to a lease that is held, where there are readers              \
         */

static bool chance(struct shell *s, unsigned permille)
{
    return chance_permille(&s->world->chance, permille);
}

static int64_t range(struct shell *s, int64_t low, int64_t high)
{
    return chance_range(&s->world->chance, low, high);
}

/* ---- asking --------------------------------------------------------------------- */

static unsigned draw_names(struct shell *s, uint8_t *names)
{
    struct world *w = s->world;
    unsigned count = chance(s, 750) ? 1 : 1 + chance_below(&w->chance, w->names);
    unsigned first = chance_below(&w->chance, w->names);
    unsigned stride = w->names == 3 && chance(s, 500) ? 2 : 1;
    for (unsigned i = 0; i < count; i++)
        names[i] = (uint8_t)((first + i * stride) % w->names);
    return count;
}

/* From a chance of their own: a run without readers is what it was before there were any. */
static unsigned draw_modes(struct world *w, unsigned count)
{
    unsigned shared = 0;
    for (unsigned i = 0; i < count; i++)
        shared |= (unsigned)chance_permille(&w->modes, w->readers) << i;
    return shared;
}

/* Over its whole range: as many short ones as long ones. */
static usec draw_ttl(struct shell *s)
{
    int64_t longest = s->world->max_ttl_ms, least = 40;
    if (chance(s, 300))
        return MS(longest);
    while (2 * least < longest && chance(s, 700))
        least *= 2;
    return MS(range(s, least, longest));
}

/* LOST comes that much before the end. */
static usec draw_margin(struct shell *s, usec ttl)
{
    if (chance(s, 750))
        return user_lease_usual_margin(ttl);
    int64_t most = (ttl - quorum_drift(ttl, DRIFT_PPM) - MS(1)) / 1000;
    return MS(chance(s, 500) ? 0 : range(s, 0, chance(s, 500) ? ttl / 3000 : most));
}

static usec draw_wait(struct shell *s)
{
    bool waits = s->world->options.habit == HABIT_WAITING;
    if (chance(s, waits ? 50 : 300))
        return 0;
    if (chance(s, waits ? 700 : 450))
        return NEVER;
    return MS(range(s, 1, chance(s, 800) ? 2000 : s->world->max_ttl_ms));
}

/* From a chance of its own, as the modes.  Masters keep the names at least for the ttl of the last
 * renewal.  So where ttls are long the last of many waiters would wait for long in peace. */
static usec draw_at_least(struct world *w, const struct terms *terms)
{
    if (!chance_permille(&w->keeping, w->at_least) || (terms->wait && w->max_ttl_ms > 1000))
        return 0;
    bool is_short = terms->wait || chance_permille(&w->keeping, 500);
    return MS(chance_range(&w->keeping, 1, is_short ? 100 : w->max_ttl_ms));
}

static struct terms draw_terms(struct shell *s)
{
    usec ttl = draw_ttl(s);
    struct terms terms = {.ttl = ttl, .margin = draw_margin(s, ttl)};
    terms.renew = chance(s, 750);
    terms.fence = chance(s, s->world->patient ? 800 : 500);
    terms.wait = draw_wait(s);
    if (chance(s, 150))
        terms.max_hold = MS(range(s, 1, ttl / 500));
    terms.at_least = draw_at_least(s->world, &terms);
    return terms;
}

/* From a chance of its own, as the modes: how many permits the name is said to have; 0: it is the
 * name itself that is asked for. */
static unsigned draw_permits(struct world *w)
{
    if (!chance_permille(&w->slots, w->permits))
        return 0;
    return chance_permille(&w->slots, 900) ? w->most_permits
                                           : 1 + chance_below(&w->slots, w->most_permits);
}

static void acquire(struct shell *s)
{
    uint8_t names[MODEL_NAMES];
    unsigned count = draw_names(s, names);
    struct terms terms = draw_terms(s);
    unsigned shared = draw_modes(s->world, count);
    terms.permits = draw_permits(s->world);
    if (terms.permits) {
        count = 1;
        shared = 0;
    }
    struct user_lease *lease = user_lease_acquire(s, names, count, shared, &terms);
    if (!lease)
        return;
    TRACE(s->world, "client %u asks for %s%s: lease %u, ttl %lld ms, wait %lld ms%s", s->index + 1,
          names_text(names, count), modes_text(shared, count), lease->number,
          (long long)terms.ttl / 1000, terms.wait == NEVER ? -1 : (long long)terms.wait / 1000,
          terms.renew ? "" : ", no renewal");
    if (terms.permits)
        TRACE(s->world, "    one of %u permits", terms.permits);
}

static void inspect(struct shell *s)
{
    uint8_t names[MODEL_NAMES];
    user_lease_inspect(s, names, draw_names(s, names));
}

/* ---- with a lease that there is ------------------------------------------------------- */

static struct user_lease *draw_lease(struct shell *s)
{
    unsigned count = 0;
    for (struct user_lease *lease = s->all; lease; lease = lease->next_all)
        count++;
    if (!count)
        return NULL;
    struct user_lease *lease = s->all;
    for (unsigned skip = chance_below(&s->world->chance, count); skip; skip--)
        lease = lease->next_all;
    return lease->let_go ? NULL : lease;
}

static void detach(struct shell *s, struct user_lease *lease)
{
    struct world *w = s->world;
    struct parcel parcel = {.token = lease->token, .count = lease->count, .shared = lease->shared};
    memcpy(parcel.names, lease->names, sizeof parcel.names);
    const void *claim = core_of(lease->handle)->claim;
    if (w->parcel_count == PARCELS || !user_lease_detach(lease))
        return;
    TRACE(w, "client %u detaches lease %u", s->index + 1, lease->number);
    w->tokens[parcel.token].excused = w->tokens[parcel.token].passed_on = true;
    w->tokens[parcel.token].detached = claim;
    w->parcels[w->parcel_count++] = parcel;
    if (!chance(s, AWAITED))
        return;
    struct shell *other = w->shells[chance_below(&w->chance, w->clients)];
    world_plan(w, w->now + range(s, 0, 2000), HAPPENS_TOKEN, other, 0); /* who waits for it */
}

/* One of those that were detached.  Some are kept, and used again: after a release, by two
 * processes at once. */
static const struct parcel *draw_parcel(struct shell *s)
{
    struct world *w = s->world;
    struct parcel *drawn = &w->parcels[chance_below(&w->chance, w->parcel_count)];
    struct parcel *last = &w->parcels[w->parcel_count - 1];
    bool keeps = chance_permille(&w->handing, w->hands_on ? 850 : 500);
    if (keeps)
        return drawn;
    struct parcel swapped = *drawn;
    *drawn = *last;
    *last = swapped;
    w->parcel_count--;
    return last;
}

/* Takes over, or releases, a detached lease. */
static void use_token(struct shell *s)
{
    struct world *w = s->world;
    if (!w->parcel_count)
        return;
    const struct parcel *parcel = draw_parcel(s);
    bool release = chance(s, 400);
    w->tokens[parcel->token].detached = NULL; /* a new claim may have the place of the old one */
    struct terms terms = draw_terms(s);
    terms.wait = 0;
    terms.fence = false;
    struct user_lease *lease =
        release ? user_lease_release_token(s, parcel) : user_lease_attach(s, parcel, &terms);
    if (!lease)
        return;
    TRACE(w, "client %u %s t%u: lease %u", s->index + 1, release ? "releases" : "attaches",
          parcel->token, lease->number);
}

/* From the chance of the modes: see draw_modes(). */
static bool change(struct shell *s, struct user_lease *lease)
{
    struct world *w = s->world;
    bool upgrades = lease->shared;
    if (!w->readers || lease->known != KNOWN_HELD || !chance_permille(&w->modes, CHANGES))
        return false;
    if (upgrades ? !user_lease_upgrade(lease) : !user_lease_downgrade(lease))
        return false;
    TRACE(w, "client %u %s lease %u", s->index + 1, upgrades ? "upgrades" : "downgrades",
          lease->number);
    return true;
}

static void act_on(struct shell *s, struct user_lease *lease)
{
    if (change(s, lease))
        return;
    unsigned dice = chance_below(&s->world->chance, 100);
    if (lease->ended) {
        user_lease_free(lease);
    } else if (dice < 45) {
        if (user_lease_release(lease))
            TRACE(s->world, "client %u releases lease %u", s->index + 1, lease->number);
    } else if (dice < 70) {
        usec ttl = chance(s, 500) ? 0 : MS(range(s, 60, s->world->max_ttl_ms));
        if (ttl && ttl - quorum_drift(ttl, DRIFT_PPM) - lease->terms.margin <= 0)
            ttl = 0;
        if (user_lease_extend(lease, ttl))
            TRACE(s->world, "client %u extends lease %u, ttl %lld ms", s->index + 1, lease->number,
                  (long long)ttl / 1000);
        if (!change(s, lease) && chance(s, LEFT_EXTENDED)) /* while the renewal is under way */
            detach(s, lease);
    } else if (dice < 85) {
        detach(s, lease);
    } else {
        TRACE(s->world, "client %u frees lease %u", s->index + 1, lease->number);
        user_lease_free(lease);
    }
}

/* A waiting user is in no hurry, and frees nothing at random. */
static bool is_hasty(const struct shell *s)
{
    return !s->world->peace && s->world->options.habit == HABIT_ANY;
}

/* ---- the callback ------------------------------------------------------------------------ */

void user_told(struct user_lease *lease, const redlock_event *event)
{
    struct shell *s = lease->shell;
    if (crowd_told(lease, event) || lists_told(lease, event))
        return;
    leaders_user_told(lease, event);
    wishes_user_told(lease, event);
    works_user_told(lease, event);
    if (is_hasty(s) && chance(s, s->close_asked ? ENDS_CLOSING : ENDS_AT_ONCE)) {
        TRACE(s->world, "client %u is freed", s->index + 1);
        check_ended(s); /* its leases are not released */
        redlock_free(s->client);
        return;
    }
    bool over = lease->ended || event->kind == REDLOCK_LOST;
    if (over && chance(s, lease->is_probe ? 1000 : 700)) {
        /* Else it is given back only when its time is over: not in peace. */
        if (event->kind == REDLOCK_LOST && (s->world->peace || chance(s, 400)))
            user_lease_release(lease);
        else
            user_lease_free(lease);
    } else if (event->kind == REDLOCK_ACQUIRED && chance(s, lease->is_probe     ? 1000
                                                            : s->world->patient ? 800
                                                                                : 150)) {
        user_lease_release(lease);
    } else if (!over && !s->world->peace && chance(s, 60)) {
        act_on(s, lease);
    }
    if (chance(s, 30) && !s->world->peace && !s->close_asked)
        acquire(s);
    struct user_lease *other = is_hasty(s) && chance(s, 150) ? draw_lease(s) : NULL;
    if (other)
        act_on(s, other);
}

/* ---- peace ---------------------------------------------------------------------------------- */

/* All users release their leases; waiters go on waiting. */
static void tidy_up(struct shell *s)
{
    leaders_tidy_up(s);
    barriers_tidy_up(s);
    latches_tidy_up(s);
    wishes_tidy_up(s);
    works_user_acts(s);
    for (struct user_lease *lease = s->all, *next; lease; lease = next) {
        next = lease->next_all;
        if (lease->let_go || lease->is_probe)
            continue;
        if (lease->ended)
            user_lease_free(lease);
        else if (lease->known == KNOWN_HELD || lease->known == KNOWN_LOST)
            user_lease_release(lease);
    }
}

bool user_probes(struct shell *s)
{
    uint8_t names[MODEL_NAMES];
    unsigned count = s->world->names;
    for (unsigned i = 0; i < count; i++)
        names[i] = (uint8_t)i;
    usec ttl = MS(s->world->max_ttl_ms);
    struct terms terms = {.ttl = ttl,
                          .wait = 3 * ttl + MS(3000),
                          .renew = true,
                          .fence = true,
                          .margin = user_lease_usual_margin(ttl)};
    struct user_lease *lease = user_lease_acquire(s, names, count, 0, &terms);
    if (!lease)
        return false;
    TRACE(s->world, "client %u probes: lease %u on all names", s->index + 1, lease->number);
    lease->is_probe = true;
    shell_pump(s);
    return true;
}

/* ---- acting ---------------------------------------------------------------------------------- */

static unsigned leases(const struct shell *s)
{
    unsigned count = 0;
    for (const struct user_lease *lease = s->all; lease; lease = lease->next_all)
        count += !lease->let_go;
    return count;
}

/* An operator who knows that no lease depends any more on this master's abstention.
 * Not where the process may be stopped before the call gets through. */
static void adopt(struct shell *s)
{
    struct world *w = s->world;
    unsigned master = chance_below(&w->chance, w->masters);
    /* Nor where others know of shorter ttls: its clock goes as far as the longest asks for. */
    if (w->now < w->servers[master].abstains_until ||
        w->faults & (1U << FAULT_STUMBLE | 1U << FAULT_MIXED_TTL))
        return;
    TRACE(w, "client %u adopts master %u", s->index + 1, master + 1);
    shell_present = s;
    (void)redlock_node_adopt(s->client, master);
}

/* A master that comes up in the moment of the end was given up before: it gets its releases, and
 * nobody waits for its answers. */
static bool should_have_paid(const struct engine *e, unsigned master)
{
    return master_is_up(&e->masters[master]) && e->masters[master].up_since < e->now;
}

/* It has told how much it owes. */
static void check_left(const struct shell *s, unsigned left)
{
    const struct engine *e = s->client->engine;
    for (const struct claim *claim = e->abandoned; claim; claim = claim->next) {
        unsigned owed = 0;
        for (unsigned i = 0; i < s->masters; i++) {
            owed += claim->at[i].owed;
            if (s->closed && claim->at[i].owed && should_have_paid(e, i))
                world_violated(s->world, "closing", "client %u is done, and owes master %u",
                               s->index + 1, s->servers[i] + 1U);
        }
        left -= owed;
        if (s->closed && owed > s->masters - s->quorum)
            world_violated(s->world, "closing", "client %u is done, and owes %u of a name",
                           s->index + 1, owed);
    }
    if (left)
        world_violated(s->world, "closing", "client %u owes %u releases less than it tells",
                       s->index + 1, left);
}

/* A user whose client is closed may free it at once, or go on with it for a while. */
static void on_closed(redlock *client, unsigned left, void *data)
{
    struct shell *s = data;
    s->closed_told = true;
    s->closed = client->closed;
    TRACE(s->world, "client %u is closed, %u releases are owed", s->index + 1, left);
    check_left(s, left);
    check_ended(s); /* what is still owed is left to its ttl */
    if (chance(s, 500))
        redlock_free(client);
}

void user_closes(struct shell *s, usec timeout)
{
    if (s->close_asked || !s->client)
        return;
    shell_present = s;
    s->close_asked = true;
    s->close_since = s->world->now;
    for (struct user_lease *lease = s->all; lease; lease = lease->next_all)
        period_let_go(lease);
    redlock_close(s->client, timeout / 1000, on_closed, s);
}

/* At what can be looked at without asking any master. */
static void look(struct shell *s, const struct user_lease *lease)
{
    redlock_stats stats = {.size = sizeof stats};
    redlock_place place = {.size = sizeof place};
    shell_present = s;
    redlock_stats_get(s->client, &stats);
    if (lease)
        check_place(lease, redlock_lease_place(lease->handle, &place), &place);
}

/* In runs that are about this.  Most tokens are used more often than once. */
static bool hand_on(struct shell *s, struct user_lease *lease)
{
    struct world *w = s->world;
    if (!chance_permille(&w->handing, w->hands_on))
        return false;
    bool detaches = lease && lease->known == KNOWN_HELD && !lease->ended;
    if (w->parcel_count && (!detaches || chance_permille(&w->handing, 700)))
        use_token(s);
    else if (detaches)
        detach(s, lease);
    else
        return false;
    return true;
}

static void act(struct shell *s)
{
    unsigned dice = chance_below(&s->world->chance, 100);
    struct user_lease *lease = draw_lease(s);
    look(s, lease);
    leaders_user_acts(s);
    barriers_user_acts(s);
    latches_user_acts(s);
    wishes_user_acts(s);
    works_user_acts(s);
    if (hand_on(s, lease))
        return;
    if (dice < 6)
        inspect(s);
    else if (dice < 14 && s->world->parcel_count)
        use_token(s);
    else if (dice < 16 && s->ready_told)
        user_closes(s, MS(range(s, 0, 3000)));
    else if (dice == 16)
        adopt(s);
    else if (!lease || (dice < 60 && leases(s) < LEASES_AT_ONCE))
        acquire(s);
    else
        act_on(s, lease);
}

void user_uses_token(struct shell *s)
{
    if (!shell_is_idle(s) || s->close_asked || s->world->peace)
        return;
    use_token(s);
    shell_pump(s);
}

static void start_again(struct shell *s)
{
    check_ended(s);
    shell_stop(s);
    if (!s->world->violation.rule)
        shell_start(s);
}

void user_acts(struct shell *s, bool goes_on)
{
    struct world *w = s->world;
    usec least = habit_has_lists(w->options.habit) ? MS(500) : MS(40);
    usec tidies = MS(w->max_ttl_ms) / 150 > least ? MS(w->max_ttl_ms) / 150 : least;
    usec gap = w->peace ? tidies : MS(range(s, 5, w->longest_gap_ms));
    if (goes_on)
        world_plan(w, w->now + gap, HAPPENS_USER, s, 0);
    if (s->mate && shell_is_stopped(s->mate))
        return; /* that is the same process */
    if (s->running && (s->closed_told || !s->client) && !w->ending)
        start_again(s);
    if (!s->running && lists_begins_late(s))
        shell_start(s);
    if (!shell_is_idle(s) || s->close_asked)
        return;
    if (w->peace)
        tidy_up(s);
    else if (habit_has_lists(w->options.habit))
        lists_act(s);
    else if (w->options.habit == HABIT_CROWD)
        crowd_acts(s);
    else if (w->ops_left)
        do {
            w->ops_left--;
            act(s);
        } while (w->ops_left && !s->close_asked && is_hasty(s) && chance(s, GOES_ON));
    shell_pump(s);
}
