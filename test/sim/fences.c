#include "rules.h"

#include "invariants.h"
#include "liar.h"
#include "wrong.h"

void fences_sent(struct world *w, uint32_t number)
{
    struct token *token = &w->tokens[number];
    if (!token->first_sent)
        token->first_sent = w->now;
}

void fences_granted(struct world *w, unsigned master, uint32_t number, usec clock)
{
    struct token *token = &w->tokens[number];
    /* A restarted master may give again what its former process still vouches for. */
    if (!token->granted[master] || token->backed[master] <= w->now)
        token->granted[master] = clock;
    token->stored[master] =
        w->servers[master].model.data.clock.h; /* of later grants beside it too */
}

void fences_confirmed(struct world *w, uint32_t number)
{
    struct token *token = &w->tokens[number];
    if (!token->confirmed)
        token->confirmed = w->now;
}

static bool owns_all(struct world *w, unsigned master, const struct model_call *call)
{
    for (unsigned i = 0; i < call->count; i++)
        if (!model_has(&w->servers[master].model, server_wall(w, master), call->names[i],
                       call->value))
            return false;
    return true;
}

/* The longest max_ttl of a client: one list may have a longer one than the other. */
static int64_t longest_ttl_ms(const struct world *w)
{
    int64_t more = w->faults & 1U << FAULT_MIXED_TTL ? 1500 : 0;
    for (unsigned k = 0; k < KINDS_ALL; k++)
        if (w->kinds[k].more_ttl_ms > more)
            more = w->kinds[k].more_ttl_ms;
    return w->max_ttl_ms + more;
}

/* So far may a clock be ahead of all walls: a restarted master begins a window after the quarantine
 * that it works out by its own wall.  Walls differ, and may have been set back. */
static usec farthest_ahead(const struct world *w)
{
    usec ttl = MS(longest_ttl_ms(w));
    usec lease = ttl + ttl / 100, skew = MS(w->skew_ms);
    return CLOCK_WINDOW + skew + (lease > skew ? lease : skew);
}

static usec is_ahead(const struct world *w, unsigned master)
{
    usec farthest = 0;
    for (unsigned i = 0; i < w->masters; i++)
        if (!is_liar(w, i) && server_wall(w, i) - w->servers[i].jumped > farthest)
            farthest = server_wall(w, i) - w->servers[i].jumped;
    return w->servers[master].model.data.clock.h - farthest;
}

bool fences_clock_is_ahead(const struct world *w, unsigned master)
{
    return is_ahead(w, master) > farthest_ahead(w) + MS(w->skew_ms) / 4 + MS(10);
}

/* No honest clock goes where a restarted master would not begin above it. */
static void stays_near_the_wall(struct world *w, unsigned master)
{
    if (!is_wrong(w, master) && fences_clock_is_ahead(w, master))
        world_violated(w, "clock",
                       "the logical clock of master %u is %lld ms ahead of all walls, and a "
                       "restarted one would begin at %lld",
                       master + 1, (long long)is_ahead(w, master) / 1000,
                       (long long)farthest_ahead(w) / 1000);
}

void fences_executed(struct world *w, unsigned master, const struct message *message)
{
    enum request_kind kind = message->call.kind;
    struct token *token = &w->tokens[message->call.value];
    enum answer answer = message->answer.answer;
    bool moves = kind == REQUEST_GRANT || kind == REQUEST_RAISE || kind == REQUEST_QUEUE ||
                 kind == REQUEST_UPGRADE;
    usec clock = w->servers[master].model.data.clock.h;
    if (clock > w->servers[master].highest_clock)
        w->servers[master].highest_clock = clock;
    if (moves)
        stays_near_the_wall(w, master);
    if (!moves || (answer != ANSWER_YES && answer != ANSWER_AHEAD))
        return;
    if (kind == REQUEST_GRANT)
        fences_granted(w, master, message->call.value, clock);
    else if (kind == REQUEST_UPGRADE)
        token->granted[master] = token->stored[master] = clock;
    else if (owns_all(w, master, &message->call))
        token->stored[master] = clock;
}

static void is_stored(const struct user_lease *lease, usec fence)
{
    struct world *w = lease->shell->world;
    const struct token *token = &w->tokens[lease->token];
    unsigned stored = 0;
    for (unsigned i = 0; i < w->masters; i++)
        stored += token->stored[i] >= fence || is_wrong(w, i);
    if (stored < lease->shell->quorum)
        world_violated(w, "stored", "lease %u of client %u hears fence %lld, stored on %u masters",
                       lease->number, CLIENT(lease), (long long)fence, stored);
}

/* A quorum has kept it since it granted it with a number at or below the fence, or did when the
 * confirmation began.  Otherwise another holder, gone by now, may have had a larger fence from a
 * master that granted it only later. */
static void is_founded(const struct user_lease *lease, usec fence)
{
    struct world *w = lease->shell->world;
    const struct token *token = &w->tokens[lease->token];
    usec then = token->confirmed ? token->confirmed : w->now;
    unsigned kept = 0;
    for (unsigned i = 0; i < w->masters; i++)
        kept += is_wrong(w, i) ||
                (token->granted[i] && token->granted[i] <= fence && token->backed[i] > then);
    if (kept < lease->shell->quorum && !w->options.beyond)
        world_violated(w, "fence",
                       "lease %u of client %u hears a fence, and %u that granted it below keep it",
                       lease->number, CLIENT(lease), kept);
}

/* The largest fence of a holder of the lease's i-th name that excludes us: any holder's while lease
 * timing holds.  Where a master may lose single keys, and among readers, which may hold the name
 * side by side, only fences count from before this acquire's first request was sent. */
static usec largest_told(const struct user_lease *lease, unsigned i)
{
    const struct world *w = lease->shell->world;
    const struct told_fences *told = &w->told[lease->names[i]];
    bool timing_holds = !(w->faults & 1U << FAULT_EVICT) && !w->options.beyond;
    bool is_shared = lease->shared >> i & 1;
    usec largest = 0;
    for (unsigned k = 0; k < told->count; k++) {
        bool side_by_side = is_shared && told->shared[k];
        usec before = timing_holds && !side_by_side ? NEVER : w->tokens[lease->token].first_sent;
        if (told->at[k] < before && told->fence[k] > largest &&
            wrong_pair_tolerated(w, lease->shell->quorum, told->quorum[k]))
            largest = told->fence[k];
    }
    return largest;
}

/* A master that forgets begins above what it may have forgotten by the max_ttl that clients tell
 * it. Where clients have different ones, and the one with the longest is gone, it begins lower:
 * nothing is promised then. */
static bool has_begun_lower(const struct world *w)
{
    bool lower = false;
    for (unsigned i = 0; i < w->masters; i++)
        lower |= w->servers[i].model.data.clock.h < w->servers[i].highest_clock;
    return lower && w->faults & 1U << FAULT_MIXED_TTL;
}

/* A fence is above every one told before. */
static void grows(const struct user_lease *lease, usec fence)
{
    struct world *w = lease->shell->world;
    if (has_begun_lower(w))
        return;
    for (unsigned i = 0; i < lease->count; i++) {
        usec largest = largest_told(lease, i);
        if (fence <= largest)
            world_violated(w, "fence", "lease %u of client %u on %c hears fence %lld, after %lld",
                           lease->number, CLIENT(lease), 'a' + lease->names[i], (long long)fence,
                           (long long)largest);
    }
}

static void remember(struct user_lease *lease, usec fence)
{
    struct world *w = lease->shell->world;
    lease->fence = fence;
    for (unsigned i = 0; i < lease->count; i++) {
        struct told_fences *told = &w->told[lease->names[i]];
        unsigned at = told->count < TOLD_FENCES ? told->count++ : told->next++ % TOLD_FENCES;
        told->at[at] = w->now;
        told->fence[at] = fence;
        told->quorum[at] = lease->shell->quorum;
        told->shared[at] = lease->shared >> i & 1;
    }
}

void fences_acquired(struct user_lease *lease, const redlock_event *event)
{
    struct world *w = lease->shell->world;
    usec fence = event->fence;
    if ((fence != 0) != lease->terms.fence) {
        world_violated(w, "fence", "lease %u of client %u asked for %s fence, and hears %lld",
                       lease->number, CLIENT(lease), lease->terms.fence ? "a" : "no",
                       (long long)fence);
        return;
    }
    if (!fence)
        return;
    is_stored(lease, fence);
    is_founded(lease, fence);
    grows(lease, fence);
    remember(lease, fence);
}

/* As a writer it has one that is larger than all before. */
void fences_upgraded(struct user_lease *lease, const redlock_event *event)
{
    if (!lease->terms.fence)
        return;
    is_stored(lease, event->fence);
    is_founded(lease, event->fence);
    grows(lease, event->fence);
    remember(lease, event->fence);
}

/* The end of a lease may come in place of CHANGED. */
void fences_told(struct user_lease *lease, const redlock_event *event)
{
    bool is_new = lease->upgrading && lease->fence && event->fence > lease->fence;
    if (event->kind != REDLOCK_NOT_ACQUIRED && event->fence != lease->fence && !is_new)
        world_violated(lease->shell->world, "fence",
                       "lease %u of client %u had fence %lld, and has %lld now", lease->number,
                       CLIENT(lease), (long long)lease->fence, (long long)event->fence);
}
