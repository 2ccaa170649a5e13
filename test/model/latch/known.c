/*
 * A master counts if it votes, and has said that its process has the latch.  A record that was read
 * of a master is good for a mend if that master was asked after the other one was found to have
 * none.
 */
#include "world.h"

/* A process that has stored something may have ended since, if it did so not long ago: if it
 * abstains it will do so for longer.  While it is there it is asked again: that counts without end.
 */
bool known_counts_as_stored(const struct rules *rules, const struct world *world, int c, int i)
{
    const struct link *link = &world->master[i].link[c];
    return known_has(rules, world, c, i) && (!link->stale || link->left);
}

/* The client believes that the process which it knows is still there. */
bool known_counts(const struct rules *rules, const struct world *world, int c, int i)
{
    const struct master *master = &world->master[i];
    return master->link[c].stale || !master->quarantine || broken(rules, QUARANTINED_COUNTS);
}

static bool has_some(const struct link *link)
{
    return link->stands == SHUT || link->stands == OPEN;
}

static bool says(const struct rules *rules, const struct world *world, int c, int i, int id)
{
    const struct link *link = &world->master[i].link[c];
    return known_counts(rules, world, c, i) && has_some(link) && link->id == id;
}

bool known_has(const struct rules *rules, const struct world *world, int c, int i)
{
    return world->client[c].id && says(rules, world, c, i, world->client[c].id);
}

int known_readers(const struct rules *rules, const struct world *world, int c, int rank)
{
    int readers = 0;
    for (int i = 0; i < rules->masters; i++)
        readers += known_has(rules, world, c, i) && world->master[i].link[c].rank >= rank;
    return readers;
}

int known_found(const struct rules *rules, const struct world *world, int c)
{
    for (int id = X; id <= Z; id++) {
        int same = 0;
        for (int i = 0; i < rules->masters; i++)
            same += says(rules, world, c, i, id);
        if (same >= quorum_of(rules) && (rules->any || id == world->client[c].id))
            return id;
    }
    return NOBODYS;
}

/* ---- who has arrived ------------------------------------------------------------------ */

/* A master that has taken in enough others has no room for this one: it says no less. */
static int count_said(const struct rules *rules, const struct world *world, int c, int arrival)
{
    int listed = 0, full = 0;
    for (int i = 0; i < rules->masters; i++) {
        const struct link *link = &world->master[i].link[c];
        if (!known_has(rules, world, c, i))
            continue;
        bool lists = link->arrived & arrival;
        listed += lists;
        full += !lists && count_bits(link->arrived) >= rules->of;
    }
    return listed && !broken(rules, FULL_OF_OTHERS) ? listed + full : listed;
}

uint8_t known_arrived(const struct rules *rules, const struct world *world, int c, int least)
{
    uint8_t arrived = 0;
    for (int a = 0; a < rules->arrivers; a++)
        if (count_said(rules, world, c, 1 << a) >= least)
            arrived |= 1 << a;
    return arrived;
}

static int count_open(const struct rules *rules, const struct world *world, int c)
{
    int open = 0;
    for (int i = 0; i < rules->masters; i++)
        open += known_has(rules, world, c, i) && world->master[i].link[c].stands == OPEN;
    return open;
}

bool known_is_open(const struct rules *rules, const struct world *world, int c)
{
    int least = broken(rules, OPENED_BY_A_LIAR) ? 1 : rules->spare + 1;
    return count_open(rules, world, c) >= least ||
           count_bits(known_arrived(rules, world, c, least)) >= rules->of;
}

bool known_is_shut(const struct rules *rules, const struct world *world, int c)
{
    return known_readers(rules, world, c, 0) >= quorum_of(rules) - broken(rules, SHUT_ON_FEWER) &&
           !count_open(rules, world, c) &&
           count_bits(known_arrived(rules, world, c, 1)) < rules->of;
}

/* ---- whether any quorum can have it ------------------------------------------------------ */

static bool is_known(const struct rules *rules, const struct world *world, int c, int i,
                     bool verified)
{
    const struct link *link = &world->master[i].link[c];
    return known_counts(rules, world, c, i) && link->stands != UNKNOWN &&
           (link->verified || !verified);
}

static bool can_have(const struct rules *rules, const struct world *world, int c, int id,
                     bool verified)
{
    int may = rules->spare - broken(rules, GONE_BY_FEWER);
    for (int i = 0; i < rules->masters; i++)
        may += (id && says(rules, world, c, i, id)) || !is_known(rules, world, c, i, verified);
    return may >= quorum_of(rules);
}

bool known_is_gone(const struct rules *rules, const struct world *world, int c, bool verified)
{
    const struct client *client = &world->client[c];
    for (int id = X; id <= Z; id++) {
        bool is_asked_for = client->id == id || (!client->bound && rules->any);
        if (is_asked_for && can_have(rules, world, c, id, verified))
            return false;
    }
    return !can_have(rules, world, c, NOBODYS, verified);
}

bool known_is_held(const struct rules *rules, const struct world *world, int c)
{
    for (int i = 0; i < rules->masters; i++) {
        const struct link *link = &world->master[i].link[c];
        if (has_some(link) && link->id != world->client[c].id)
            return known_is_gone(rules, world, c, false);
    }
    return false;
}

static bool has_other(const struct world *world, int c, const struct link *link)
{
    return has_some(link) && link->id != world->client[c].id;
}

bool known_is_split(const struct rules *rules, const struct world *world, int c)
{
    bool others = false;
    for (int i = 0; i < rules->masters; i++) {
        const struct link *link = &world->master[i].link[c];
        if (has_other(world, c, link) && can_have(rules, world, c, link->id, false))
            return false;
        others |= has_other(world, c, link);
    }
    return others && known_is_gone(rules, world, c, false);
}

/* ---- mending ------------------------------------------------------------------------------- */

static int readers_enough(const struct rules *rules)
{
    int vouched = rules->masters - quorum_of(rules) + 2 * rules->spare + 1;
    int enough = vouched > quorum_of(rules) ? vouched : quorum_of(rules);
    return enough - broken(rules, MENDED_FROM_FEWER);
}

/* A quorum has the latch, and somebody has arrived at it there: nobody takes that away. */
static bool is_kept(const struct rules *rules, const struct world *world, int c, int from)
{
    int keepers = broken(rules, CLEARS_BESIDE_FEWER);
    for (int i = 0; i < rules->masters; i++) {
        const struct link *link = &world->master[i].link[c];
        bool is_used = link->arrived || link->stands == OPEN || broken(rules, CLEARS_BESIDE_UNUSED);
        keepers += known_has(rules, world, c, i) && is_used && link->rank >= from;
    }
    return keepers >= quorum_of(rules);
}

static bool may_clear(const struct rules *rules, const struct world *world, int c, int i)
{
    const struct link *link = &world->master[i].link[c];
    return link->stands != SHUT || link->old || is_kept(rules, world, c, link->rank);
}

bool known_can_mend(const struct rules *rules, const struct world *world, int c, int i)
{
    const struct link *link = &world->master[i].link[c];
    int from = broken(rules, READS_NOT_AGAIN) ? 0 : link->rank;
    bool counts = known_counts(rules, world, c, i) || broken(rules, MENDED_IN_QUARANTINE);
    return !is_creator(rules, c) && world->client[c].bound && counts && link->missing &&
           !known_has(rules, world, c, i) && !broken(rules, NEVER_MENDED) &&
           known_readers(rules, world, c, from) >= readers_enough(rules) &&
           may_clear(rules, world, c, i);
}

/* ---- what a master says ---------------------------------------------------------------------- */

static int count_missing(const struct rules *rules, const struct world *world, int c)
{
    int missing = 0;
    for (int i = 0; i < rules->masters; i++)
        missing += world->master[i].link[c].missing;
    return missing;
}

/* Those that were found later move up. */
static void end_missing(const struct rules *rules, struct world *world, int c, int i)
{
    int rank = world->master[i].link[c].rank;
    if (!world->master[i].link[c].missing)
        return;
    for (int k = 0; k < rules->masters; k++) {
        struct link *link = &world->master[k].link[c];
        link->rank -= link->rank >= rank && link->rank;
        link->message.rank -= link->message.rank >= rank && link->message.rank;
    }
    world->master[i].link[c].missing = false;
    world->master[i].link[c].rank = 0;
}

static void begin_missing(const struct rules *rules, struct world *world, int c, int i)
{
    struct link *link = &world->master[i].link[c];
    int missing = count_missing(rules, world, c);
    if (link->missing || missing >= RANKS || is_creator(rules, c))
        return;
    link->missing = true;
    link->rank = missing + 1;
}

static void hear_absent(const struct rules *rules, struct world *world, int c, int i)
{
    struct link *link = &world->master[i].link[c];
    link->stands = ABSENT;
    link->id = link->arrived = 0;
    if (link->message.kind == PUT)
        end_missing(rules, world, c, i);
    else
        begin_missing(rules, world, c, i);
}

static bool lacks(const struct world *world, int c, const struct link *link)
{
    return link->stands == ABSENT || (has_some(link) && link->id != world->client[c].id);
}

/* All that have none are to say so again after the last has said it for the first time. */
static void verify_again(const struct rules *rules, struct world *world, int c)
{
    world->client[c].verifies &= broken(rules, GONE_OF_OTHERS);
}

void known_hear(const struct rules *rules, struct world *world, int c, int i,
                const struct answer *answer)
{
    struct link *link = &world->master[i].link[c];
    const struct message *message = &link->message;
    if (is_arriver(rules, c)) {
        bool has = answer->stands != ABSENT && answer->id == message->id;
        link->stands = has ? SHUT : UNKNOWN;
        link->id = has ? answer->id : NOBODYS;
        return;
    }
    if (!lacks(world, c, link) && (answer->stands == ABSENT || answer->id != world->client[c].id))
        verify_again(rules, world, c);
    link->verified = message->verified;
    if (answer->stands == ABSENT) {
        hear_absent(rules, world, c, i);
        return;
    }
    end_missing(rules, world, c, i);
    link->stands = answer->stands;
    link->id = answer->id;
    link->arrived = answer->arrived;
    link->rank = message->rank;
    link->old = answer->old || broken(rules, CLEARS_YOUNG) || broken(rules, CLEARS_WHAT_GREW);
    bool is_free = answer->stands == SHUT && !answer->arrived;
    if (clears(rules) && is_free && has_other(world, c, link))
        begin_missing(rules, world, c, i);
}

void known_forget(const struct rules *rules, struct world *world, int c, int i)
{
    struct link *link = &world->master[i].link[c];
    end_missing(rules, world, c, i);
    *link = (struct link){.touched = link->touched, .other = link->other, .message = link->message};
}
