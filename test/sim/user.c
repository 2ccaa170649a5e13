#include "user.h"

#include <string.h>

#include "crowd.h"
#include "invariants.h"
#include "trace.h"

#define LEASES_AT_ONCE 4

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

static usec usual_margin(usec ttl)
{
    usec margin = ttl / 20 < MS(10) ? MS(10) : ttl / 20;
    return margin > ttl / 4 ? ttl / 4 : margin;
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
        return usual_margin(ttl);
    usec most = ttl - quorum_drift(ttl, 10000) - MS(1);
    return chance(s, 500) ? 0 : range(s, 0, chance(s, 500) ? ttl / 3 : most);
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

static struct terms draw_terms(struct shell *s)
{
    usec ttl = draw_ttl(s);
    struct terms terms = {.ttl = ttl,
                          .margin = draw_margin(s, ttl),
                          .renew = chance(s, 750),
                          .fence = chance(s, s->world->patient ? 800 : 500)};
    terms.wait = draw_wait(s);
    if (chance(s, 150))
        terms.max_hold = range(s, 1, 2 * ttl);
    return terms;
}

static void acquire(struct shell *s)
{
    uint8_t names[MODEL_NAMES];
    unsigned count = draw_names(s, names);
    struct terms terms = draw_terms(s);
    struct user_lease *lease = shell_lease(s, names, count, &terms, NULL);
    if (!lease)
        return;
    TRACE(s->world, "client %u asks for %s: lease %u, ttl %lld ms, wait %lld ms%s", s->index + 1,
          names_text(names, count), lease->number, (long long)terms.ttl / 1000,
          terms.wait == NEVER ? -1 : (long long)terms.wait / 1000,
          terms.renew ? "" : ", no renewal");
    shell_ask(lease, OP_ACQUIRE);
}

static void inspect(struct shell *s)
{
    uint8_t names[MODEL_NAMES];
    unsigned count = draw_names(s, names);
    struct user_lease *lease = shell_lease(s, names, count, &(struct terms){0}, NULL);
    if (!lease)
        return;
    lease->known = KNOWN_INSPECTING;
    lease->released = true; /* there is nothing to release */
    shell_ask(lease, OP_INSPECT);
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
    return lease->operations & (OP_FREE | OP_DETACH) ? NULL : lease;
}

static void detach(struct shell *s, struct user_lease *lease)
{
    struct world *w = s->world;
    struct parcel parcel = {.token = lease->token, .count = lease->count};
    memcpy(parcel.names, lease->names, sizeof parcel.names);
    if (w->parcel_count == PARCELS || !shell_detach(lease))
        return;
    TRACE(w, "client %u detaches lease %u", s->index + 1, lease->number);
    w->tokens[parcel.token].excused = true;
    w->parcels[w->parcel_count++] = parcel;
}

/* Takes over, or gives back, what somebody has detached. */
static void use_token(struct shell *s)
{
    struct world *w = s->world;
    if (!w->parcel_count)
        return;
    const struct parcel *parcel = &w->parcels[--w->parcel_count];
    const char *token = w->tokens[parcel->token].text;
    bool release = chance(s, 400);
    struct terms terms = draw_terms(s);
    terms.wait = 0;
    terms.fence = false;
    if (release)
        terms = (struct terms){0};
    struct user_lease *lease = shell_lease(s, parcel->names, parcel->count, &terms, token);
    if (!lease)
        return;
    TRACE(w, "client %u %s t%u: lease %u", s->index + 1, release ? "releases" : "attaches",
          parcel->token, lease->number);
    lease->token = parcel->token;
    if (release) {
        lease->released = true;
        lease->known = KNOWN_ASKED_BACK;
    }
    shell_ask(lease, release ? OP_RELEASE : OP_ACQUIRE);
}

static void act_on(struct shell *s, struct user_lease *lease)
{
    unsigned dice = chance_below(&s->world->chance, 100);
    if (lease->ended) {
        shell_lease_free(lease);
    } else if (dice < 45) {
        if (shell_release(lease))
            TRACE(s->world, "client %u releases lease %u", s->index + 1, lease->number);
    } else if (dice < 70) {
        usec ttl = chance(s, 500) ? 0 : MS(range(s, 60, s->world->max_ttl_ms));
        usec margin = lease->core.terms.margin;
        if (ttl && ttl - quorum_drift(ttl, 10000) - margin <= 0)
            ttl = 0;
        if (shell_extend(lease, ttl))
            TRACE(s->world, "client %u extends lease %u, ttl %lld ms", s->index + 1, lease->number,
                  (long long)ttl / 1000);
    } else if (dice < 85) {
        detach(s, lease);
    } else {
        TRACE(s->world, "client %u frees lease %u", s->index + 1, lease->number);
        shell_lease_free(lease);
    }
}

/* ---- the callback ------------------------------------------------------------------------ */

void user_told(struct user_lease *lease, const struct outcome *outcome)
{
    struct shell *s = lease->shell;
    if (crowd_told(lease, outcome))
        return;
    bool over = lease->ended || outcome->kind == OUTCOME_LOST;
    if (over && chance(s, lease->is_probe ? 1000 : 700)) {
        /* Else it is given back only when its time is over: not in peace. */
        if (outcome->kind == OUTCOME_LOST && (s->world->peace || chance(s, 400)))
            shell_release(lease);
        else
            shell_lease_free(lease);
    } else if (outcome->kind == OUTCOME_ACQUIRED && chance(s, lease->is_probe     ? 1000
                                                              : s->world->patient ? 800
                                                                                  : 150)) {
        shell_release(lease);
    } else if (!over && !s->world->peace && chance(s, 60)) {
        act_on(s, lease);
    }
    if (chance(s, 30) && !s->world->peace && !s->close_asked)
        acquire(s);
}

/* ---- peace ---------------------------------------------------------------------------------- */

/* Everybody gives back what they have; who still waits goes on waiting. */
static void tidy_up(struct shell *s)
{
    for (struct user_lease *lease = s->all, *next; lease; lease = next) {
        next = lease->next_all;
        if (lease->operations & (OP_FREE | OP_DETACH) || lease->is_probe)
            continue;
        if (lease->ended)
            shell_lease_free(lease);
        else if (lease->known == KNOWN_HELD || lease->known == KNOWN_LOST)
            shell_release(lease);
    }
}

bool user_probes(struct shell *s)
{
    uint8_t names[MODEL_NAMES];
    unsigned count = s->world->names;
    for (unsigned i = 0; i < count; i++)
        names[i] = (uint8_t)i;
    usec ttl = MS(s->world->max_ttl_ms);
    struct terms terms = {.ttl = ttl, .wait = 3 * ttl + MS(3000), .renew = true, .fence = true};
    struct user_lease *lease = shell_lease(s, names, count, &terms, NULL);
    if (!lease)
        return false;
    TRACE(s->world, "client %u probes: lease %u on all names", s->index + 1, lease->number);
    lease->is_probe = true;
    shell_ask(lease, OP_ACQUIRE);
    shell_pump(s);
    return true;
}

/* ---- acting ---------------------------------------------------------------------------------- */

static unsigned leases(const struct shell *s)
{
    unsigned count = 0;
    for (const struct user_lease *lease = s->all; lease; lease = lease->next_all)
        count += !(lease->operations & (OP_FREE | OP_DETACH));
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
    s->adopt |= 1U << master;
}

static void act(struct shell *s)
{
    unsigned dice = chance_below(&s->world->chance, 100);
    struct user_lease *lease = draw_lease(s);
    if (dice < 6)
        inspect(s);
    else if (dice < 14 && s->world->parcel_count)
        use_token(s);
    else if (dice < 16 && s->ready_told)
        shell_close(s, MS(range(s, 0, 3000)));
    else if (dice == 16)
        adopt(s);
    else if (!lease || (dice < 60 && leases(s) < LEASES_AT_ONCE))
        acquire(s);
    else
        act_on(s, lease);
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
    usec tidies = MS(w->max_ttl_ms) / 150 > MS(40) ? MS(w->max_ttl_ms) / 150 : MS(40);
    usec gap = w->peace ? tidies : MS(range(s, 5, w->longest_gap_ms));
    if (goes_on)
        world_plan(w, w->now + gap, HAPPENS_USER, s, 0);
    if (s->running && s->closed_told && !w->ending)
        start_again(s);
    if (!s->running || shell_is_stopped(s) || s->stage != STAGE_IDLE || s->close_asked)
        return;
    if (w->peace) {
        tidy_up(s);
    } else if (w->options.habit == HABIT_CROWD) {
        crowd_acts(s);
    } else if (w->ops_left) {
        w->ops_left--;
        act(s);
    }
    shell_pump(s);
}
