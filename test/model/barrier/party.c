/*
 * A master's word counts for `lasts` ticks after it was asked.  A party decides when enough parties
 * are each on a quorum of open masters, or one word says that it was passed.  It hears so when a
 * quorum has stored it.  A leaving party has not passed if a quorum does not count it, and never
 * will, unless it is uncertain.  That is so if a master once said that it is open, if the party has
 * heard of no quorum for too long, or if it comes back.  Such a party hears only that it has
 * passed, or may have; when it leaves does not matter then.  A master that knows of the barrier
 * only that it was passed says that it was, to a party that was there; to a new one, that it is
 * over.
 */
#include "world.h"

bool party_counts(const struct rules *rules, const struct world *world, int c, int i)
{
    const struct master *master = &world->master[i];
    return master->link[c].stale || !master->abstains || broken(rules, QUARANTINED_COUNTS);
}

enum errand party_errand(const struct party *party)
{
    return party->decided ? TELL_PASSED : party->phase == LEAVES ? DEPART : ARRIVE;
}

/* ---- what it heard ------------------------------------------------------------------- */

/* NULL: nothing that counts. */
static const struct word *word_of(const struct rules *rules, const struct world *world, int c,
                                  int i)
{
    const struct word *word = &world->master[i].link[c].known;
    bool stands = word->age <= rules->lasts || broken(rules, ANSWERS_KEPT_FOR_EVER);
    return stands && party_counts(rules, world, c, i) ? word : NULL;
}

static int count(const struct rules *rules, const struct world *world, int c, enum stand stand)
{
    int number = 0;
    for (int i = 0; i < rules->masters; i++) {
        const struct word *word = word_of(rules, world, c, i);
        number += word && word->stand == stand;
    }
    return number;
}

/* The parties that are on a quorum of open masters. */
static uint8_t all_there(const struct rules *rules, const struct world *world, int c)
{
    uint8_t there = 0;
    for (int x = 0; x < rules->parties; x++) {
        int on = 0;
        for (int i = 0; i < rules->masters; i++) {
            const struct word *word = word_of(rules, world, c, i);
            on += word && word->stand == OPEN && (word->tokens & 1 << x);
        }
        there |= (on >= (broken(rules, OPEN_ON_ONE) ? 1 : quorum(rules))) << x;
    }
    return there;
}

/* The ticks + 1 for which the hearing of a quorum counts; 0: of none. */
static uint8_t heard_for(const struct rules *rules, const struct world *world, int c)
{
    for (int age = 0; age <= rules->lasts; age++) {
        int heard = 0;
        for (int i = 0; i < rules->masters; i++)
            heard += world->master[i].link[c].known.age <= age && party_counts(rules, world, c, i);
        if (heard >= quorum(rules))
            return rules->lasts - age + 1;
    }
    return 0;
}

static int touched(const struct rules *rules, const struct world *world, int c)
{
    int number = 0;
    for (int i = 0; i < rules->masters; i++)
        number += world->master[i].link[c].touched;
    return number;
}

static bool is_left(const struct rules *rules, const struct world *world, int c)
{
    int left = rules->masters - touched(rules, world, c) + count(rules, world, c, GONE);
    for (int i = 0; i < rules->masters; i++) {
        const struct word *word = word_of(rules, world, c, i);
        const struct link *link = &world->master[i].link[c];
        bool asks = link->stage != IDLE && !broken(rules, BARRED_WHILE_ASKING);
        left += word && (word->stand == OTHER || word->stand == OVER) && !asks;
    }
    if (world->party[c].uncertain)
        return false;
    return left >= quorum(rules) - broken(rules, LEFT_BY_FEWER) || broken(rules, LEFT_UNASKED);
}

/* ---- asking and hearing ----------------------------------------------------------------- */

void party_asks(const struct rules *rules, struct world *world, int c, int i)
{
    struct party *party = &world->party[c];
    struct link *link = &world->master[i].link[c];
    if (party->phase == AWAY)
        party->phase = WAITS;
    link->stage = SENT;
    link->errand = party_errand(party);
    link->flight = (struct word){0};
    link->touched = true;
    if (!party->heard && !party->uncertain && touched(rules, world, c) >= quorum(rules))
        party->heard = rules->lasts + 1;
}

void party_hears(const struct rules *rules, struct world *world, int c, int i, struct word word)
{
    struct party *party = &world->party[c];
    struct link *link = &world->master[i].link[c];
    link->stage = IDLE;
    link->has_counted |= word.stand == SHUT || word.stand == OPEN;
    bool is_of_ours = word.stand == OVER || broken(rules, OVER_OF_ANY);
    if (word.stand == OVER_OF_OTHERS)
        word.stand = OVER;
    if (word.stand == OVER && is_of_ours && (party->uncertain || link->has_counted) &&
        !broken(rules, OVER_STAYS_OVER))
        word.stand = PASSED;
    link->known = word;
    party->uncertain |=
        (word.stand == OPEN || word.stand == PASSED) && !broken(rules, NOT_PASSED_THOUGH_OPEN);
    uint8_t heard = heard_for(rules, world, c);
    if (party->heard && heard > party->heard)
        party->heard = heard;
}

/* ---- what follows ------------------------------------------------------------------------- */

void party_ends(const struct rules *rules, struct world *world, int c, enum phase phase)
{
    world->party[c].phase = phase;
    world->party[c].gone = rules->ttl + rules->lasts + 1;
    world->any_told |= phase == HAS_PASSED;
}

void party_comes_back(const struct rules *rules, struct world *world, int c)
{
    world->party[c] =
        (struct party){.phase = WAITS, .uncertain = !broken(rules, COMES_BACK_NOT_PASSED)};
    for (int i = 0; i < rules->masters; i++) {
        struct link *link = &world->master[i].link[c];
        bool is_late = link->stage == SENT && link->errand != DEPART;
        *link = (struct link){.orphan = link->orphan || is_late, .known.age = rules->lasts + 1};
    }
}

/* It may still be counted, or what was heard of it may count. */
static bool may_count(const struct rules *rules, const struct party *party)
{
    bool has_ended = party->phase == DEAD || party->phase == UNDECIDED;
    return party->phase != AWAY && party->phase != HAS_NOT &&
           (!has_ended || party->gone || !rules->ttl);
}

static void decide(const struct rules *rules, struct world *world, int c)
{
    uint8_t there = all_there(rules, world, c);
    bool enough = __builtin_popcount(there) >= rules->wanted ||
                  (broken(rules, OF_OTHERS) && count(rules, world, c, OPEN) >= quorum(rules));
    world->party[c].decided = enough || count(rules, world, c, PASSED);
    if (!enough)
        return;
    world->with |= there;
    for (int x = 0; x < rules->parties && !world->any_decided; x++)
        world->may |= may_count(rules, &world->party[x]) << x;
    world->any_decided = true;
}

void party_settle(const struct rules *rules, struct world *world, int c)
{
    struct party *party = &world->party[c];
    if (party->phase != WAITS && party->phase != LEAVES)
        return;
    bool is_barred = count(rules, world, c, OTHER) > rules->masters - quorum(rules);
    if ((is_barred || count(rules, world, c, OVER)) && !party->uncertain)
        party->phase = LEAVES;
    if (!party->decided)
        decide(rules, world, c);
    if (party->decided)
        party->uncertain = true;
    if (party->uncertain)
        party->heard = 0;
    bool is_known = count(rules, world, c, PASSED) >= quorum(rules);
    if (party->decided && (is_known || broken(rules, PASSED_NOT_STORED)))
        party_ends(rules, world, c, HAS_PASSED);
    else if (party->phase == LEAVES && !party->decided && is_left(rules, world, c))
        party_ends(rules, world, c, HAS_NOT);
}

/* ---- time ------------------------------------------------------------------------------------ */

static void grow_old(const struct rules *rules, struct word *word)
{
    word->age += word->age <= rules->lasts;
    if (word->age > rules->lasts && !broken(rules, ANSWERS_KEPT_FOR_EVER))
        *word = (struct word){.age = word->age};
}

static void is_unheard(const struct rules *rules, struct party *party)
{
    if (broken(rules, UNHEARD_WAITS_ON))
        return;
    party->uncertain = true;
    party->phase = LEAVES;
}

void party_tick(const struct rules *rules, struct world *world, int c)
{
    struct party *party = &world->party[c];
    for (int i = 0; i < rules->masters; i++) {
        struct link *link = &world->master[i].link[c];
        grow_old(rules, &link->known);
        link->flight.age += link->flight.age <= rules->lasts;
    }
    party->gone -= party->gone && rules->ttl;
    if (party->heard && --party->heard == 0 && (party->phase == WAITS || party->phase == LEAVES))
        is_unheard(rules, party);
}

/* ---- what must not be ---------------------------------------------------------------------- */

void party_judge(const struct rules *rules, struct world *world)
{
    int together = 0;
    for (int c = 0; c < rules->parties; c++) {
        bool has_left = world->party[c].phase == HAS_NOT;
        together += (world->may & 1 << c) && !has_left;
        if (has_left && (world->with & 1 << c))
            world->wrong = LEFT_AND_COUNTED;
    }
    if (world->any_decided ? together < rules->wanted : world->any_told)
        world->wrong = TOO_FEW;
}
