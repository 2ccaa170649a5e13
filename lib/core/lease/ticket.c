#include "lease/lease_parts.h"
#include "ground/mutant.h"

/* Refusals and grants tell the logical clock, each a new number.  The largest of a quorum is above
 * the ticket of every waiter that was enqueued on a quorum before we asked. */
usec ticket_of(const struct engine *e, const struct round *round)
{
    unsigned told = 0;
    usec ticket = 0;
    for (unsigned i = 0; i < lease_masters(e); i++) {
        usec clock = round->ballots[i].clock;
        told += clock != 0;
        if (clock > ticket && !(MUTANT(TICKET_OF_ONE) && ticket))
            ticket = clock;
        if (MUTANT(TICKET_MINIMUM) && clock && clock < ticket)
            ticket = clock;
    }
    return told >= e->quorum ? ticket : 0;
}

bool ticket_may_come(const struct engine *e, const struct attempt *attempt)
{
    const struct round *round = attempt->round;
    unsigned may_tell = round_undecided(round, lease_masters(e));
    for (unsigned i = 0; i < lease_masters(e); i++)
        may_tell += round->ballots[i].clock != 0;
    return round->kind == REQUEST_GRANT && attempt->wait && !attempt->place.ticket &&
           !ticket_of(e, round) && may_tell >= e->quorum;
}
