#include "lease/lease.h"
#include "ground/shared.h"
#include "ground/slots.h"
#include "masters/master.h"

struct names *lease_names(const struct lease *lease)
{
    return lease->claim ? lease->claim->names : NULL;
}

bool lease_may_move(const struct lease *lease, usec now)
{
    return lease_valid_until(lease) > now && !lease_was_changed(lease) &&
           now < lease_hold_until(lease);
}

struct terms lease_begin_move(const struct engine *e, struct lease *lease)
{
    claim_expect_other_askers(e, lease->claim);
    return (struct terms){.ttl = lease->terms.ttl,
                          .margin = lease->terms.margin,
                          .renew = lease->terms.renew,
                          .moves_by = lease->valid_until};
}

bool lease_may_go_over(const struct lease *lease)
{
    return lease_is_waiting(lease) && !lease->untold;
}

struct terms lease_terms_of_waiter(const struct lease *lease)
{
    const struct attempt *attempt = lease->attempt;
    return (struct terms){.ttl = lease->terms.ttl,
                          .margin = lease->terms.margin,
                          .renew = lease->terms.renew,
                          .fence = lease->terms.fence,
                          .wait = attempt->wait,
                          .max_hold = attempt->max_hold,
                          .at_least = attempt->at_least,
                          .permits = attempt->permit ? attempt->permit->count : 0};
}

struct names *lease_names_of_waiter(const struct memory *memory, const struct lease *lease)
{
    const struct names *names = lease->attempt->names;
    struct slice none = {"", 0}, name;
    if (!names->slot)
        return names_copy(memory, names);
    name = slot_name(names);
    return names_new(memory, none, &name, 1);
}

struct names *lease_names_of_slot(const struct memory *memory, const struct names *names,
                                  unsigned slot)
{
    return slot_new(memory, names_at(names, 0), slot);
}

usec lease_margin(const struct lease *lease)
{
    return lease->terms.margin;
}

/* As its user knows it: a downgrade counts from the call on, an upgrade from its report on. */
bool lease_is_shared(const struct lease *lease)
{
    if (!lease->claim)
        return false;
    bool untold = lease->claim->mode == MODE_EXCLUSIVE && lease->untold & 1U << OUTCOME_CHANGED;
    return untold || claim_is_shared(lease->claim);
}

bool lease_is_all_shared(const struct lease *lease)
{
    return lease->claim && claim_is_all_shared(lease->claim);
}

bool lease_was_changed(const struct lease *lease)
{
    return lease->state == LEASE_UPGRADING || (lease->claim && claim_was_changed(lease->claim));
}

int lease_slot(const struct lease *lease)
{
    bool has = lease->claim && lease->claim->names->slot && lease_valid_until(lease);
    return has ? (int)slot_number(lease->claim->names) : -1;
}

bool lease_is_foreign(const struct lease *lease)
{
    return lease->claim && lease->claim->foreign;
}

void lease_token(const struct engine *e, const struct lease *lease, char token[TOKEN_MAX + 1])
{
    token[0] = '\0';
    if (lease->claim)
        claim_token(e, lease->claim, token);
}

bool lease_leave(struct lease *lease)
{
    lease->left = true;
    return lease->claim && lease->claim->in_flight;
}

/* The votes of which a master's quarantine is the reason.  Where nobody was asked to grant, it may
 * have begun since the master was asked. */
static unsigned said_by_abstaining(const struct round *round)
{
    const unsigned answers = 1U << VOTE_FREE | 1U << VOTE_ABSTAINS;
    bool is_kept = !round || round->kind == REQUEST_RENEW || round->kind == REQUEST_RELEASE;
    return is_kept ? answers | 1U << VOTE_NOTHING | 1U << VOTE_UNREACHABLE | 1U << VOTE_TIMEOUT
                   : answers;
}

static __attribute__((cold, noinline)) void say_that_it_abstains(const struct engine *e,
                                                                 const struct round *round,
                                                                 unsigned master,
                                                                 struct vote_view *vote)
{
    if (said_by_abstaining(round) >> vote->vote & 1 && master_abstains(e, &e->masters[master]))
        *vote = (struct vote_view){VOTE_ABSTAINS, master_abstains_ms(e, &e->masters[master]), ""};
}

void lease_votes(const struct engine *e, const struct lease *lease, struct vote_view *votes)
{
    const struct round *round = lease_round(lease);
    for (unsigned i = 0; i < e->config.masters; i++) {
        if (round)
            votes[i] = (struct vote_view){(enum vote)round->ballots[i].vote,
                                          round->ballots[i].remaining_ms, round_text(round, i)};
        else
            votes[i] = (struct vote_view){VOTE_NOTHING, -1, ""};
        if (e->masters[i].abstains_until) /* seldom */
            say_that_it_abstains(e, round, i, &votes[i]);
    }
}

struct lease *lease_inspecting(const struct tag *tag)
{
    struct lease *lease = tag->claim ? lease_of_claim(tag->claim) : NULL;
    bool asks = lease && lease->state == LEASE_INSPECTING && lease_round(lease) &&
                lease_round(lease)->number == tag->round;
    return asks ? lease : NULL;
}
