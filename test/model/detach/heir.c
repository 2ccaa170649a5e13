/*
 * It takes the lease over and renews it, or not, and gives the token back: to each master, whatever
 * that master has said, and again until the master answers.
 */
#include "world.h"

/* A first renewal does not heal. */
void heir_attach(const struct rules *rules, struct world *world)
{
    world->heir = ATTACHING;
    for (int i = 0; i < rules->masters; i++)
        world->master[i].heir.renewal = ASKED;
}

static int count_present(const struct rules *rules, const struct world *world)
{
    int present = 0;
    for (int i = 0; i < rules->masters; i++)
        present += world->master[i].heir.presence == PRESENT;
    return present;
}

/* ---- renewing ------------------------------------------------------------------------ */

bool heir_may_renew(const struct world *world, int i)
{
    return world->heir == HOLDING && !world->master[i].heir.renewal;
}

/* claim_ask(), expect_to_be_set() */
void heir_renew(struct world *world, int i)
{
    struct heir_link *link = &world->master[i].heir;
    link->renewal = ASKED;
    link->heals = true;
    if (link->presence == ABSENT)
        link->presence = UNSURE;
}

/* hear_setting() */
void heir_hear_renewal(const struct rules *rules, struct world *world, int i)
{
    struct heir_link *link = &world->master[i].heir;
    link->presence = link->renewal == SAID_YES ? PRESENT : ABSENT;
    link->owed &= link->presence == PRESENT || !broken(rules, ABSENT_PAID);
    link->renewal = NOT_ASKED;
    link->heals = false;
    if (world->heir == ATTACHING && count_present(rules, world) >= quorum(rules))
        world->heir = HOLDING;
}

/* ---- giving back ---------------------------------------------------------------------- */

bool heir_may_give_back(const struct rules *rules, const struct world *world)
{
    return world->heir == (rules->question == TAKEN ? HOLDING : WITH_TOKEN);
}

/* pay() */
static void pay(struct heir_link *link)
{
    link->release = link->owed ? SENT : NOT_SENT;
}

/* come_due() */
void heir_give_back(const struct rules *rules, struct world *world)
{
    world->heir = GAVE_BACK;
    for (int i = 0; i < rules->masters; i++) {
        struct heir_link *link = &world->master[i].heir;
        link->owed = link->presence != ABSENT || !broken(rules, ABSENT_NOT_OWED);
        pay(link);
    }
}

bool heir_may_hear_release(const struct world *world, int i)
{
    const struct heir_link *link = &world->master[i].heir;
    return link->release > SENT && !link->renewal;
}

/* hear_release() */
void heir_hear_release(const struct rules *rules, struct world *world, int i)
{
    struct heir_link *link = &world->master[i].heir;
    link->owed &= link->release != SAID_DONE && !broken(rules, RELEASE_NOT_REPEATED);
    pay(link);
}

void heir_cut(const struct rules *rules, struct world *world, int i)
{
    struct heir_link *link = &world->master[i].heir;
    link->renewal = NOT_ASKED;
    link->heals = false;
    link->owed &= !link->release || !broken(rules, RELEASE_NOT_REPEATED);
    pay(link);
}

bool heir_is_done(const struct world *world, int i)
{
    const struct heir_link *link = &world->master[i].heir;
    return world->heir == GAVE_BACK && !link->owed && link->release != SENT;
}
