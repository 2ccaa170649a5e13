#include "rules.h"

#include "liar.h"
#include "user_lease.h"

#define FLOOD 150 /* requests of one lease to one master in a second */

/* A release owed to a master that answers errors is sent again five times a second, for each round
 * whose ttl is not over.  With long ttls that adds up, and it is known. */
static bool answers_errors(const struct world *w, unsigned master)
{
    return w->now < w->servers[master].errors_until + MS(1000) ||
           (is_liar(w, master) && w->lies >> LIE_ERROR & 1);
}

static unsigned leases_of(const struct shell *s)
{
    unsigned count = 0;
    for (const struct user_lease *lease = s->all; lease; lease = lease->next_all)
        count++;
    return count;
}

/* Of leases that are gone, and are yet to be released: all at once, when a master comes back. */
static unsigned owed_by(const struct shell *s)
{
    unsigned count = 0;
    for (const struct claim *claim = s->client->engine->abandoned; claim; claim = claim->next)
        count++;
    return count;
}

/* For any answers of a master: a limit on requests a second, for each lease there is or was. */
void accounts_sent(struct shell *s, unsigned master, enum request_kind kind)
{
    struct shell_link *link = &s->links[master];
    struct world *w = s->world;
    if (kind == REQUEST_RELEASE && answers_errors(w, master))
        return;
    if (w->now - link->counted_since > MS(1000)) {
        link->counted_since = w->now;
        link->sent = 0;
        link->leases_before = s->leases_made - leases_of(s);
    }
    if (++link->sent % FLOOD)
        return;
    unsigned leases = 1 + s->leases_made - link->leases_before + owed_by(s);
    if (link->sent > FLOOD * leases)
        world_violated(w, "flood",
                       "client %u has sent master %u %u requests within a second, for %u leases",
                       s->index + 1, master + 1, link->sent, leases - 1);
}

static uint64_t count_times(const struct times *times)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < TIME_BUCKETS; i++)
        count += times->buckets[i];
    return count;
}

/* Each acquired lease is held, or was held for a time that is counted; or has moved away. */
static void check_held(struct shell *s)
{
    const struct engine *e = s->client->engine;
    uint64_t acquired = count_times(&e->counters.holding) + s->moved_away, at_risk = 0;
    for (const struct lease *lease = e->held.first; lease; lease = lease->next) {
        acquired += lease->acquired;
        at_risk += lease->risk != RISK_NONE;
    }
    if (acquired != e->counters.acquired || at_risk != e->at_risk)
        world_violated(s->world, "accounts",
                       "client %u: %llu acquired, %llu are or were held; %llu at risk, %llu are",
                       s->index + 1, (unsigned long long)e->counters.acquired,
                       (unsigned long long)acquired, (unsigned long long)e->at_risk,
                       (unsigned long long)at_risk);
}

void accounts_idle(struct shell *s)
{
    check_held(s);
    for (unsigned i = 0; i < s->masters; i++) {
        unsigned server = s->servers[i];
        if (s->client->engine->masters[i].in_flight != s->links[server].expected)
            world_violated(s->world, "accounts",
                           "client %u counts %u requests in flight to master %u, and has %u",
                           s->index + 1, s->client->engine->masters[i].in_flight, server + 1,
                           s->links[server].expected);
    }
}
