/*
 * A master says of a name what the token announced that has it, unless something later is said:
 * of a larger term, or of the same with a larger number.  It takes back what a token said in one
 * term, and frees the name.  Its words expire.  A restarted master abstains until all that was said
 * before is over.
 */
#include "world.h"

static void note_quorum(const struct rules *rules, struct world *world, uint8_t saying)
{
    int says = 0;
    for (int i = 0; i < rules->masters; i++)
        says += world->master[i].record == saying && !world->master[i].is_old;
    if (!world->observer.begun && says >= quorum(rules) && saying > world->highest)
        world->highest = saying;
}

void master_change(struct world *world, int i, uint8_t record, uint8_t left)
{
    struct master *master = &world->master[i];
    if (record != master->record)
        master->steady = false;
    master->record = record;
    master->record_left = left;
    master->is_old = master->has_expired = false;
}

static bool announce(const struct rules *rules, struct world *world, int i,
                     const struct message *message)
{
    struct master *master = &world->master[i];
    uint8_t was = master->record;
    bool is_owner = master->name == token_of(rules, term_of(message->what));
    if (!is_owner && !broken(rules, ANNOUNCE_UNOWNED))
        return false;
    if (was > message->what && !broken(rules, MASTER_TAKES_OLDER))
        return false;
    master_change(world, i, message->what, message->left);
    master->history |= is_owner << message->what;
    note_quorum(rules, world, message->what);
    return was != message->what;
}

/* It should have left alone the word of another term, whose leader leads. */
static bool unsay(const struct rules *rules, struct world *world, int i, int term)
{
    struct master *master = &world->master[i];
    int says = term_of(master->record);
    if (master->record == NOTHING || token_of(rules, says) != token_of(rules, term))
        return false;
    if (says != term && !(says < term && broken(rules, UNSAY_TOUCHES_EARLIER_TERM)) &&
        !(says > term && broken(rules, UNSAY_TOUCHES_LATER_TERM)))
        return false;
    if (says != term && world->leader[says].phase == LEADS)
        world->wrong = TAKEN_BACK;
    master_change(world, i, NOTHING, 0);
    return true;
}

bool master_carry_out(const struct rules *rules, struct world *world, int i,
                      const struct message *message)
{
    struct master *master = &world->master[i];
    if (message->what < UNSAY)
        return announce(rules, world, i, message);
    int term = message->what - UNSAY;
    bool has_changed = unsay(rules, world, i, term);
    bool is_handed_on = rules->handed && world->leader[term + 1 < TERMS].phase == LEADS;
    if (master->name == token_of(rules, term) && !is_handed_on)
        master->name = master->name_left = 0;
    return has_changed;
}

/* Its clients are cut off.  They find out later; their messages are gone. */
void master_restart(struct world *world, int i, uint8_t record, uint8_t name)
{
    struct master *master = &world->master[i];
    master_change(world, i, record, 0);
    master->steady = false;
    master->is_old = record != NOTHING;
    master->name = name;
    master->restarted = master->abstains = true;
    master->listens = false;
    for (int term = 0; term < TERMS; term++)
        master->link[term] = (struct link){0};
    master->view.is_former = true;
    master->view.is_sub_former = master->view.subscribed;
    world->observer.well = false;
}

void master_tick(struct master *master)
{
    if (master->name_left && --master->name_left == 0)
        master->name = FREE;
    if (master->record_left == FOR_EVER || !master->record_left)
        return;
    if (--master->record_left == 0)
        master->record = NOTHING;
}
