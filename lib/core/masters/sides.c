#include "masters/agreement_parts.h"

#include "masters/master.h"
#include "ground/quorum.h"

#define CUT            MS(1000)   /* uptime is cut to seconds at both ends */
#define STRANGER_LIVED MS(180000) /* clients that hear a process say so more often: A2 */

static struct server server_of_ours(const struct engine *e, unsigned index)
{
    const struct master *master = &e->masters[index];
    return (struct server){.address = slice_of(e->config.addresses[index]),
                           .run_id = slice_of(master->facts.run_id),
                           .is_heard = master_is_up(master) && master->heard,
                           .begun_by = master->begun_by + CUT + MS(e->config.skew_ms),
                           .lived_at = master->lived_at};
}

/* A process that is none of theirs that they hear.  It may have followed one that is down. */
static struct server server_of_stranger(const struct engine *e, unsigned index)
{
    return (struct server){.address = slice_of(e->config.addresses[index]),
                           .is_heard = true,
                           .begun_by = e->now - STRANGER_LIVED,
                           .lived_at = e->now};
}

/* A negative age: the master's clock was set back. */
static struct server server_of_theirs(const struct told_process *theirs, const struct word *word)
{
    usec since = theirs->since_ago, until = theirs->until_ago;
    return (struct server){
        .address = theirs->address,
        .run_id = theirs->run_id,
        .is_heard = theirs->run_id.length,
        .begun_by = since < 0 ? NEVER : word->heard_at - since + quorum_drift(since, DRIFT_PPM),
        .lived_at = until < 0 ? -NEVER : word->sent_at - until - quorum_drift(until, DRIFT_PPM)};
}

/* Both processes were alive at one moment.  Else one may have followed the other at one server. */
static bool lived_together(const struct server *a, const struct server *b)
{
    return a->begun_by < b->lived_at && b->begun_by < a->lived_at;
}

/* The number at the end of an address, which has none if it is 0. */
static struct slice database_of(struct slice address)
{
    struct slice path = slice_of("unix:"), mark = slice_of("/");
    bool is_path = address.length > path.length &&
                   slices_are_same((struct slice){address.bytes, path.length}, path);
    if (is_path)
        mark = slice_of("?db=");
    size_t at = address.length;
    while (at && address.bytes[at - 1] >= '0' && address.bytes[at - 1] <= '9')
        at--;
    struct slice number = {address.bytes + at, address.length - at};
    if (at < mark.length ||
        !slices_are_same((struct slice){number.bytes - mark.length, mark.length}, mark))
        number.length = 0;
    return number;
}

bool sides_share_database(struct slice a, struct slice b)
{
    return slices_are_same(database_of(a), database_of(b));
}

static bool may_be_same(const struct server *a, const struct server *b)
{
    bool are_two = a->is_heard && b->is_heard && !slices_are_same(a->address, b->address) &&
                   !slices_are_same(a->run_id, b->run_id) && lived_together(a, b);
    return !are_two && sides_share_database(a->address, b->address);
}

struct side side_of_ours(const struct engine *e, bool foresees)
{
    struct side ours = {e->config.masters, e->quorum, e->config.spare, {{{0}, {0}, 0, 0, 0}}};
    for (unsigned i = 0; i < ours.masters; i++)
        ours.servers[i] =
            foresees && !e->masters[i].tried ? server_of_stranger(e, i) : server_of_ours(e, i);
    return ours;
}

struct side side_of_theirs(const struct told_list *list, const struct word *word)
{
    struct side theirs = {list->masters, list->quorum, list->spare, {{{0}, {0}, 0, 0, 0}}};
    for (unsigned i = 0; i < theirs.masters; i++)
        theirs.servers[i] = server_of_theirs(&list->processes[i], word);
    return theirs;
}

struct pairs {
    uint16_t may[MASTERS_MAX]; /* of each of ours: a bit for each of theirs that it may be */
    int taken_by[MASTERS_MAX]; /* of each of theirs; below 0: none */
};

/* An augmenting path, from one of ours that has no pair. */
static bool find_pair(struct pairs *pairs, unsigned ours, unsigned theirs_count, uint16_t *tried)
{
    for (unsigned i = 0; i < theirs_count; i++) {
        uint16_t bit = (uint16_t)(1U << i);
        if (!(pairs->may[ours] & bit) || *tried & bit)
            continue;
        *tried |= bit;
        if (pairs->taken_by[i] < 0 ||
            find_pair(pairs, (unsigned)pairs->taken_by[i], theirs_count, tried)) {
            pairs->taken_by[i] = (int)ours;
            return true;
        }
    }
    return false;
}

/* The most masters that both lists may share. */
static unsigned most_shared(const struct side *ours, const struct side *theirs)
{
    struct pairs pairs = {{0}, {0}};
    unsigned shared = 0;
    for (unsigned i = 0; i < theirs->masters; i++)
        pairs.taken_by[i] = -1;
    for (unsigned i = 0; i < ours->masters; i++)
        for (unsigned j = 0; j < theirs->masters; j++)
            if (may_be_same(&ours->servers[i], &theirs->servers[j]))
                pairs.may[i] |= (uint16_t)(1U << j);
    for (unsigned i = 0; i < ours->masters; i++) {
        uint16_t tried = 0;
        shared += find_pair(&pairs, i, theirs->masters, &tried);
    }
    return shared;
}

static unsigned larger(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

static unsigned smaller(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* As many as may be wrong may tell a false run_id: each makes one pair look different. */
bool sides_may_not_meet(const struct side *ours, const struct side *theirs)
{
    unsigned all = ours->masters + theirs->masters - most_shared(ours, theirs), f = ours->spare;
    unsigned least = larger(larger(all - smaller(f, all), ours->masters), theirs->masters);
    return ours->quorum + theirs->quorum < least + 1 + smaller(f, theirs->spare);
}
