#include "lease/lease_parts.h"
#include "ground/quorum.h"
#include "masters/logical.h"

bool lease_make_room(struct engine *e, struct lease *lease)
{
    if (lease->attempt)
        return attempt_make_room(e, lease->attempt);
    lease->attempt = attempt_take(e);
    return lease->attempt != NULL;
}

/* A renewal would keep what a master that abstains has of a token which others gave back. */
static inline __attribute__((always_inline)) bool
may_ask(const struct engine *e, const struct lease *lease, unsigned master)
{
    enum request_kind kind = lease->attempt->round->kind;
    if (request_takes(kind) || (kind == REQUEST_RENEW && claim_may_be_given_back(lease->claim)))
        return master_may_grant(e, &e->masters[master]);
    return master_is_up(&e->masters[master]);
}

bool lease_may_ask(const struct engine *e, const struct lease *lease, unsigned master)
{
    return may_ask(e, lease, master);
}

/* The rest of at_least, as a ttl. */
static __attribute__((cold, noinline)) usec rest_to_keep(const struct engine *e,
                                                         const struct lease *lease)
{
    usec rest = lease_keep_until(lease) - e->now;
    return quorum_ttl_for(rest > 0 ? rest : 0, e->config.drift_ppm);
}

/* How long the master is to keep the names from now on. */
static usec ttl_asked(const struct engine *e, const struct lease *lease)
{
    const struct attempt *attempt = lease->attempt;
    if (attempt->round->kind == REQUEST_QUEUE)
        return attempt->place.life;
    bool leaves = attempt->round->kind == REQUEST_RENEW && releasing_is_leaving(lease);
    return leaves ? rest_to_keep(e, lease) : lease->terms.ttl;
}

void lease_ask(struct engine *e, struct lease *lease, unsigned master, bool whole)
{
    struct round *round = lease->attempt->round;
    bool is_rare = lease->left | lease->shadow;
    if (is_rare && (lease->left || lease_is_held(lease)))
        return; /* another process may have given it back, or a shadow's lease may be over */
    bool renews = round->kind == REQUEST_RENEW &&
                  (lease_is_held(lease) || lease->state == LEASE_RELEASING || lease->shadow);
    if (!round->begun)
        round->asked_at = e->now;
    round_ask(round, master, e->now);
    claim_ask(
        e, lease->claim, master,
        &(struct question){.kind = round->kind,
                           .round = round->number,
                           .ttl = ttl_asked(e, lease),
                           .ticket = lease->attempt->place.ticket,
                           .proposal = round->proposal,
                           .fence = lease->attempt->fence,
                           .permits = lease->attempt->permit ? lease->attempt->permit->count : 0,
                           .tokens_told = lease->attempt->tokens_told,
                           .heal = renews && !round->ballots[master].late &&
                                   master_may_grant(e, &e->masters[master]),
                           .not_after = renews ? lease->valid_until : 0,
                           .whole = whole});
}

void lease_vote_text(struct engine *e, struct lease *lease, unsigned master, enum vote vote,
                     const char *text, size_t length)
{
    round_vote_text(lease->attempt->round, &e->memory, lease_masters(e), master, vote,
                    (struct slice){text, length});
}

void lease_vote_unasked(struct engine *e, struct lease *lease, unsigned master)
{
    static const char over[] = "this list of masters is over";
    const struct master *it = &e->masters[master];
    if (it->over) {
        lease_vote_text(e, lease, master, VOTE_REFUSED, over, sizeof over - 1);
    } else if (master_abstains(e, it)) {
        round_vote(lease->attempt->round, master, VOTE_ABSTAINS);
        lease->attempt->round->ballots[master].remaining_ms = master_abstains_ms(e, it);
    } else {
        round_vote(lease->attempt->round, master, VOTE_UNREACHABLE);
    }
}

void lease_vote_uncounted(struct engine *e, struct lease *lease, unsigned master)
{
    static const char why[] = "a change of this lease was lost on the way there";
    if (lease->claim->at[master].doubtful)
        lease_vote_text(e, lease, master, VOTE_REFUSED, why, sizeof why - 1);
    else
        lease_vote_unasked(e, lease, master);
}

static inline __attribute__((always_inline)) void
await_connection(struct engine *e, struct lease *lease, unsigned master)
{
    if (may_ask(e, lease, master) || master_is_connecting(&e->masters[master]))
        lease->attempt->round->ballots[master].state = BALLOT_CONNECTING;
    else
        lease_vote_unasked(e, lease, master);
}

void lease_await_connection(struct engine *e, struct lease *lease, unsigned master)
{
    await_connection(e, lease, master);
}

usec lease_connect_time(const struct engine *e, const struct lease *lease)
{
    usec most = lease->terms.ttl ? lease->terms.ttl / 4 : NEVER;
    return e->config.connect_timeout < most ? e->config.connect_timeout : most;
}

void lease_await_masters(struct engine *e, struct lease *lease)
{
    for (unsigned i = 0; i < lease_masters(e); i++)
        await_connection(e, lease, i);
}

void lease_open_round(struct engine *e, struct lease *lease, enum request_kind kind)
{
    attempt_open(lease->attempt, lease_masters(e), kind, engine_next_round(e),
                 e->now + lease_connect_time(e, lease));
    lease_await_masters(e, lease);
}

/* Masters that answer too late would grant what is not used.  So the lease waits here: as long as
 * its user waits, and a quarter of its ttl, in which an answer is still of use. */
static __attribute__((cold, noinline)) void throttle(struct engine *e, struct lease *lease)
{
    usec wait = lease_wait_until(lease);
    lease->attempt->round->give_up = wait == NEVER ? NEVER : wait + lease->terms.ttl / 4;
    engine_list(e, &e->throttled, lease);
}

/* `ready`: the masters that may grant, and have room.  Nobody passes those that wait already; the
 * first of them is about to be admitted. */
static bool must_wait(const struct engine *e, const struct lease *lease, unsigned ready)
{
    bool has_others_ahead = e->throttled.count && lease->place != PLACE_THROTTLED;
    return lease->state == LEASE_ASKING &&
           (ready < e->quorum || e->now < e->renewals_first || has_others_ahead);
}

/* Nothing is sent before a quorum can be asked, and it is decided whether others refuse our list.
 * A minority that is held meanwhile would only be in the way of others. */
void lease_ask_those_up(struct engine *e, struct lease *lease)
{
    unsigned can = 0, ready = 0, least = lease_is_acquiring(lease) ? e->quorum : 1;
    uint16_t those = 0;
    for (unsigned i = 0; i < lease_masters(e); i++)
        if (lease->attempt->round->ballots[i].state == BALLOT_CONNECTING && may_ask(e, lease, i)) {
            those |= BIT(i);
            can++;
            ready += master_has_room(&e->masters[i], e->config.backlog);
        }
    bool may_count = can >= least && !(e->undecided && lease_is_acquiring(lease));
    bool begun = lease->attempt->round->begun;
    if (!begun && !may_count)
        return;
    if (!begun && must_wait(e, lease, ready)) {
        throttle(e, lease);
        return;
    }
    if (!begun && lease->terms.fence && lease->attempt->round->kind == REQUEST_GRANT)
        lease->attempt->round->proposal = logical_propose(e);
    for (unsigned i = 0; i < lease_masters(e); i++)
        if (those & BIT(i))
            lease_ask(e, lease, i, false);
}
