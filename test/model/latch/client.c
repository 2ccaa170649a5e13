/*
 * A client asks masters, one by one and again and again, draws its conclusions, and tells them.
 * A client arrives, or makes a latch, once.  A reader begins anew after that.
 */
#include "world.h"

void client_begin(const struct rules *rules, struct world *world, int c)
{
    struct client *client = &world->client[c];
    bool knows = !rules->any || !is_reader(rules, c);
    *client = (struct client){.phase = ASKING,
                              .id = !knows                 ? NOBODYS
                                    : is_creator(rules, c) ? X + c
                                                           : X,
                              .bound = !is_reader(rules, c),
                              .left = is_creator(rules, c) ? rules->quarantine : 0,
                              .after_open = is_reader(rules, c) && world->told_open,
                              .after = is_reader(rules, c) ? world->told_counted : 0};
}

/* ---- asking ------------------------------------------------------------------------- */

static bool may_create(const struct rules *rules, const struct world *world, int c, int i)
{
    const struct link *link = &world->master[i].link[c];
    return !known_has(rules, world, c, i) && (!link->other || broken(rules, MADE_FOR_YOUNGER)) &&
           world->client[c].left;
}

/* Where it is asked whether readers get on, they come last: there are fewer worlds then. */
static bool may_begin(const struct rules *rules, const struct world *world, int c)
{
    for (int k = 0; k < clients(rules) && rules->question == FULL && is_reader(rules, c); k++)
        if (is_arriver(rules, k) && world->client[k].phase < TOLD)
            return false;
    return true;
}

bool client_may_ask(const struct rules *rules, const struct world *world, int c, int i)
{
    const struct link *link = &world->master[i].link[c];
    bool counts = known_counts(rules, world, c, i) || broken(rules, MENDED_IN_QUARANTINE);
    if (!counts || link->stale || link->message.kind || i >= rules->masters - rules->down)
        return false;
    if (world->client[c].phase != ASKING)
        return may_begin(rules, world, c);
    return !is_creator(rules, c) || may_create(rules, world, c, i);
}

/* As many as are needed, in order. */
static uint8_t list(const struct rules *rules, const struct world *world, int c)
{
    int least = broken(rules, MENDS_LIES) ? 1 : rules->spare + 1;
    uint8_t arrived = known_arrived(rules, world, c, least);
    while (count_bits(arrived) > rules->of)
        arrived &= ~(1 << (31 - __builtin_clz(arrived)));
    return arrived;
}

void client_send(const struct rules *rules, struct world *world, int c, int i)
{
    const struct client *client = &world->client[c];
    struct link *link = &world->master[i].link[c];
    bool mends = known_can_mend(rules, world, c, i);
    bool clears = mends && link->stands == SHUT;
    struct message message = {.kind = clears                          ? DROP
                                      : mends || is_creator(rules, c) ? PUT
                                                                      : TALLY,
                              .id = clears ? link->id : client->id,
                              .of_other = clears && link->old,
                              .verified = client->verifies,
                              .open = client->decided && !(mends && broken(rules, MENDED_UNOPENED)),
                              .arrived = mends ? list(rules, world, c) : arrival_of(rules, c)};
    for (int k = 0; k < rules->masters; k++)
        message.rank += world->master[k].link[c].missing;
    link->message = message;
    link->touched = is_creator(rules, c);
}

/* ---- conclusions ------------------------------------------------------------------------ */

static bool counts_arrival(const struct rules *rules, const struct world *world, int c)
{
    int count = 0;
    for (int i = 0; i < rules->masters; i++)
        count += known_counts_as_stored(rules, world, c, i);
    return count >= quorum_of(rules) - broken(rules, ARRIVED_ON_FEWER);
}

static bool knows_open(const struct rules *rules, const struct world *world, int c)
{
    int count = 0;
    for (int i = 0; i < rules->masters; i++)
        count +=
            known_counts_as_stored(rules, world, c, i) && world->master[i].link[c].stands == OPEN;
    return broken(rules, OPEN_UNSTORED) ||
           count >= (broken(rules, OPEN_ON_ONE) ? 1 : quorum_of(rules));
}

/* From then on each master is to say again what it has. */
static void verify(const struct rules *rules, struct world *world, int c)
{
    struct client *client = &world->client[c];
    bool verifies = known_is_gone(rules, world, c, false);
    for (int i = 0; i < rules->masters && verifies && !client->verifies; i++)
        world->master[i].link[c].verified = world->master[i].link[c].message.verified = false;
    client->verifies = verifies;
}

static void look_whether_none(const struct rules *rules, struct world *world, int c)
{
    struct client *client = &world->client[c];
    bool any = false;
    for (int id = X; id <= Z; id++)
        if (client->id == id || !client->id)
            any |= master_quorum_has(rules, world, id);
    client->was_none |= !any;
}

static void conclude(const struct rules *rules, struct world *world, int c)
{
    struct client *client = &world->client[c];
    if (has_gone(rules) && is_reader(rules, c))
        look_whether_none(rules, world, c);
    if (!client->bound) {
        int found = known_found(rules, world, c);
        client->bound = found;
        client->id = found ? found : client->id;
    }
    if (client->bound && is_reader(rules, c)) {
        client->decided |= known_is_open(rules, world, c);
        client->open |= client->decided && knows_open(rules, world, c);
    }
    if (has_gone(rules) && is_reader(rules, c))
        verify(rules, world, c);
}

/* A record that a restart forgot was not taken away. */
static bool is_taken_away(const struct rules *rules, const struct world *world, int id)
{
    int had = 0;
    for (int i = 0; i < rules->masters; i++) {
        const struct master *master = &world->master[i];
        had += master->forgot >> id & 1 || (master->record.of_run && master->record.id == id);
    }
    return (world->made >> id & 1) && had < quorum_of(rules);
}

void client_settle(const struct rules *rules, struct world *world)
{
    for (int c = 0; c < clients(rules); c++)
        if (world->client[c].phase == ASKING)
            conclude(rules, world, c);
    for (int id = X; id <= Z; id++)
        if (!master_quorum_has(rules, world, id))
            world->lost |= world->made & 1 << id;
    for (int id = X; id <= Z && clears(rules); id++)
        if (is_taken_away(rules, world, id))
            world->wrong = TAKEN_AWAY;
}

/* ---- what it tells -------------------------------------------------------------------------- */

static enum end end_of_creation(const struct rules *rules, const struct world *world, int c)
{
    if (known_readers(rules, world, c, 0) >= quorum_of(rules) - broken(rules, MADE_ON_FEWER))
        return MADE;
    return known_is_held(rules, world, c) ? HELD : PENDING;
}

static enum end end_of_known(const struct rules *rules, const struct world *world, int c)
{
    if (!is_reader(rules, c))
        return counts_arrival(rules, world, c) ? COUNTED : PENDING;
    return world->client[c].open ? IS_OPEN : known_is_shut(rules, world, c) ? IS_SHUT : PENDING;
}

enum end client_end(const struct rules *rules, const struct world *world, int c)
{
    const struct client *client = &world->client[c];
    enum end end = PENDING;
    if (is_creator(rules, c))
        return client->left || broken(rules, MADE_FOR_EVER) ? end_of_creation(rules, world, c)
                                                            : PENDING;
    if (client->bound)
        end = end_of_known(rules, world, c);
    if (!end && client->verifies && known_is_gone(rules, world, c, !broken(rules, GONE_TOLD_ONCE)))
        return IS_GONE;
    return end;
}

/* Until the end it goes on asking; after that nobody hears what is still answered. */
static void leave(const struct rules *rules, struct world *world, int c, enum phase phase)
{
    for (int i = 0; i < rules->masters; i++) {
        struct link *link = &world->master[i].link[c];
        uint8_t stage = link->message.stage == SENT ? DEAD : link->message.stage;
        *link = (struct link){.message = link->message};
        link->message.stage = link->message.kind ? stage : SENT;
        link->message.rank = link->message.verified = 0;
    }
    world->client[c] = (struct client){.phase = phase};
}

/* Where a request is under way, it comes first. */
static void withdraw(const struct rules *rules, struct world *world, int c)
{
    for (int i = 0; i < rules->masters; i++) {
        struct link *link = &world->master[i].link[c];
        bool up = link->touched && !link->stale;
        if (up && link->message.kind == PUT && link->message.stage == SENT)
            master_carry_out(rules, world, c, i);
        if (up && link->message.stage != FORMER)
            link->message = (struct message){.kind = DROP, .id = world->client[c].id};
    }
}

/* Its former answers count no more.  It takes away what is left of others, and in the way. */
void client_start_over(const struct rules *rules, struct world *world, int c)
{
    withdraw(rules, world, c);
    for (int i = 0; i < rules->masters; i++) {
        struct link *link = &world->master[i].link[c];
        bool is_other = link->stands == SHUT && link->id != world->client[c].id && link->old;
        if (is_other && !link->stale && !link->arrived)
            link->message = (struct message){.kind = DROP, .id = link->id, .of_other = true};
        link->touched = false;
        known_forget(rules, world, c, i);
    }
}

void client_give_up(const struct rules *rules, struct world *world, int c)
{
    if (is_creator(rules, c))
        withdraw(rules, world, c);
    leave(rules, world, c, is_reader(rules, c) ? NEW : FAILED);
}

/* With spare votes the number in the answer may be too low, as one master's word does not count. */
static bool misses_one(const struct rules *rules, const struct world *world, int c)
{
    return world->client[c].after & ~known_arrived(rules, world, c, 1);
}

static enum wrong judge(const struct rules *rules, const struct world *world, int c, enum end end)
{
    const struct client *client = &world->client[c];
    bool is_of_told = client->id == world->told;
    int begun = 0;
    for (int k = 0; k < clients(rules); k++)
        begun += arrival_of(rules, k) && world->client[k].phase != NEW;
    if (client->open && begun < rules->of)
        return OPEN_EARLY;
    if (end == IS_SHUT && client->after_open && is_of_told)
        return SHUT_AFTER_OPEN;
    if (end == IS_SHUT && is_of_told && misses_one(rules, world, c))
        return UNCOUNTED;
    if (end == IS_GONE && !client->was_none)
        return NOT_GONE;
    return end == MADE && (world->made & ~world->lost) ? TWO_MADE : FINE;
}

void client_tell(const struct rules *rules, struct world *world, int c, enum end end)
{
    const struct client *client = &world->client[c];
    world->wrong = judge(rules, world, c, end);
    if (end == COUNTED || end == IS_OPEN)
        world->told = client->id;
    if (end == COUNTED)
        world->told_counted |= arrival_of(rules, c);
    world->told_open |= end == IS_OPEN;
    if (end == MADE && rules->creators > 1)
        world->made |= 1 << client->id;
    if (end == HELD) {
        client_give_up(rules, world, c);
        return;
    }
    leave(rules, world, c, is_reader(rules, c) ? NEW : is_creator(rules, c) ? FAILED : TOLD);
}
