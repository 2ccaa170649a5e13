/*
 * A master has at most one record, and it counts if this very process was given it: what a restart
 * has brought back may be older than what is forgotten.  No more arrivals are stored than are
 * needed.  A record is put where there is none, for one process by its name; where there is one,
 * who has arrived is added to it.  It is dropped where nobody has arrived; by others than its maker
 * where it is old enough.
 */
#include "world.h"

bool master_has(const struct rules *rules, const struct record *record)
{
    return record->id && (record->of_run || broken(rules, RECORD_OF_ANY_RUN));
}

bool master_quorum_has(const struct rules *rules, const struct world *world, int id)
{
    int has = 0;
    for (int i = 0; i < rules->masters; i++) {
        const struct master *master = &world->master[i];
        has += master->lies || (master->record.of_run && master->record.id == id);
    }
    return has >= quorum_of(rules);
}

static void take_in(const struct rules *rules, struct record *record, uint8_t arrived, bool open)
{
    for (int a = 0; a < rules->arrivers; a++)
        if ((arrived & 1 << a) && count_bits(record->arrived) < rules->of)
            record->arrived |= 1 << a;
    record->open |= open;
}

static struct answer stands(const struct rules *rules, const struct record *record)
{
    return (struct answer){record->open ? OPEN : SHUT, record->id, record->arrived,
                           record->age >= old_age(rules)};
}

static struct answer tally(const struct rules *rules, struct world *world, int c, int i)
{
    struct record *record = &world->master[i].record;
    const struct message *message = &world->master[i].link[c].message;
    uint8_t id = message->id;
    if (!master_has(rules, record)) {
        if (broken(rules, NO_RECORD_COUNTS_EMPTY) && id)
            return (struct answer){.stands = SHUT, .id = id};
        return (struct answer){.stands = ABSENT};
    }
    if (record->id == id)
        take_in(rules, record, message->arrived, message->open);
    return stands(rules, record);
}

static bool is_for_this_process(const struct rules *rules, int c, const struct message *message)
{
    bool unnamed = broken(rules, is_creator(rules, c) ? CREATE_UNNAMED : MEND_UNNAMED);
    return message->stage != FORMER || unnamed;
}

static struct answer put(const struct rules *rules, struct world *world, int c, int i)
{
    struct record *record = &world->master[i].record;
    const struct message *message = &world->master[i].link[c].message;
    uint8_t id = message->id;
    bool has = master_has(rules, record);
    if (has && record->id != id)
        return stands(rules, record);
    if (!is_for_this_process(rules, c, message))
        return (struct answer){.stands = ABSENT};
    world->master[i].forgot &= ~(1 << id);
    if (!has)
        *record = (struct record){
            .id = id, .of_run = true, .arrived = record->id == id ? record->arrived : 0};
    if (broken(rules, MEND_REPLACES))
        *record = (struct record){.id = id, .of_run = true};
    take_in(rules, record, message->arrived, message->open);
    return stands(rules, record);
}

static struct answer drop(const struct rules *rules, struct world *world, int c, int i)
{
    struct record *record = &world->master[i].record;
    const struct message *message = &world->master[i].link[c].message;
    bool is_used = record->open || record->arrived;
    bool is_young = message->of_other && record->age < old_age(rules);
    if (record->id == message->id && (!is_used || broken(rules, DROPPED_ANYHOW)) &&
        (!is_young || broken(rules, CLEARS_YOUNG)))
        *record = (struct record){0};
    return (struct answer){.stands = ABSENT};
}

struct answer master_carry_out(const struct rules *rules, struct world *world, int c, int i)
{
    switch (world->master[i].link[c].message.kind) {
    case TALLY:
        return tally(rules, world, c, i);
    case PUT:
        return put(rules, world, c, i);
    default:
        return drop(rules, world, c, i);
    }
}
