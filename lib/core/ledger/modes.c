#include "ground/sanity.h"
#include "ground/shared.h"
#include "ledger/claim.h"

void claim_downgrade(struct claim *claim)
{
    ASSERT(!claim->abandoned);
    claim->mode = MODE_SHARED;
    claim->converts = true;
}

void claim_end_vain_upgrade(struct claim *claim)
{
    claim->converts = true;
}

void claim_end_upgrade(const struct engine *e, struct claim *claim, uint16_t masters, usec asked_at)
{
    ASSERT(!claim->abandoned);
    claim->taken_at = asked_at;
    claim->mode = MODE_EXCLUSIVE;
    claim->converts = false;
    for (unsigned i = 0; i < e->config.masters; i++)
        if (!(masters & 1U << i))
            claim->at[i].promise = 0;
}

bool claim_is_shared(const struct claim *claim)
{
    return claim->mode == MODE_SHARED ||
           (claim->mode == MODE_AS_NAMED && names_any_shared(claim->names));
}

bool claim_is_all_shared(const struct claim *claim)
{
    bool all = true;
    for (unsigned i = 0; i < claim->names->count; i++)
        all &= names_is_shared(claim->names, i);
    return claim->mode == MODE_SHARED || (claim->mode == MODE_AS_NAMED && all);
}

/* A promise to a reader is none to a writer, and a promise to a writer that has been a reader since
 * is void.  A master's word does not count while it may still carry out a request that makes a
 * reader of the writer, or after it has come up with older data.  There the name may be the token's
 * again as it was before another reader came. */
static bool counts_for_writer(const struct engine *e, const struct claim *claim, unsigned master,
                              const struct reply *reply)
{
    enum request_kind kind = reply->tag.kind;
    if (!request_sets_token(kind))
        return true;
    bool asks_as_writer = reply->tag.mode == MODE_EXCLUSIVE || kind == REQUEST_UPGRADE;
    bool is_old = reply->tag.sent_at < claim->taken_at;
    return asks_as_writer && !is_old && !claim->at[master].doubtful &&
           e->now >= e->masters[master].abstains_until;
}

bool claim_weighs(const struct engine *e, const struct claim *claim, unsigned master,
                  const struct reply *reply)
{
    bool abstains = e->now < e->masters[master].abstains_until;
    if (abstains && claim_may_be_given_back(claim))
        return false;
    return claim->mode != MODE_EXCLUSIVE || counts_for_writer(e, claim, master, reply);
}
