/*
 * A world in a few words.  Facts that no later step looks at are forgotten first, so that fewer
 * worlds differ.  The common masters are alike: they are sorted.
 */
#include "world.h"

#include "../bits.h"

INLINE void master_fields(const struct rules *rules, struct bits *bits, struct master *master)
{
    field(bits, 2, &master->first);
    for (int c = 0; c < clients(rules); c++) {
        struct link *link = &master->link[c];
        field(bits, 3, &master->keeps[c]);
        field(bits, 2, &link->answer);
        field(bits, 3, &link->answer_left);
        field(bits, 2, &link->word);
        field(bits, 3, &link->word_left);
    }
}

INLINE void fact_fields(struct bits *bits, struct fact *fact)
{
    field(bits, 2, &fact->run);
    field(bits, 3, &fact->since);
    field(bits, 3, &fact->until);
}

INLINE void question_fields(struct bits *bits, struct question_sent *question)
{
    field(bits, 2, &question->stage);
    field(bits, 3, &question->sent);
    field(bits, 3, &question->at);
}

INLINE void sayer_fields(struct bits *bits, struct sayer *sayer)
{
    field(bits, 2, &sayer->run);
    flag(bits, &sayer->is_proved);
    field(bits, 3, &sayer->told);
    flag(bits, &sayer->says);
    field(bits, 2, &sayer->said);
    field(bits, 3, &sayer->echo);
}

INLINE void looker_fields(struct bits *bits, struct looker *looker)
{
    field(bits, 2, &looker->run);
    field(bits, 3, &looker->started);
    field(bits, 3, &looker->answered);
    question_fields(bits, &looker->asks);
    question_fields(bits, &looker->looks);
    field(bits, 3, &looker->begun);
    fact_fields(bits, &looker->told);
    fact_fields(bits, &looker->word);
}

INLINE void entries_fields(const struct rules *rules, struct bits *bits, struct entries *entries)
{
    field(bits, 3, &entries->now);
    for (int i = 0; i < 2; i++) {
        field(bits, 2, &entries->server[i].run);
        field(bits, 3, &entries->server[i].started);
    }
    fact_fields(bits, &entries->fact);
    fact_fields(bits, &entries->proved);
    for (int c = 0; c < rules->seconds; c++)
        sayer_fields(bits, &entries->sayer[c]);
    looker_fields(bits, &entries->looker);
}

INLINE void numbers_fields(struct bits *bits, struct numbers *numbers)
{
    field(bits, 4, &numbers->a);
    field(bits, 4, &numbers->b);
    field(bits, 4, &numbers->common);
    field(bits, 2, &numbers->spare_a);
    field(bits, 2, &numbers->spare_b);
    field(bits, 2, &numbers->lied);
}

INLINE void other_fields(const struct rules *rules, struct bits *bits, struct world *world)
{
    field(bits, 2, &world->restarts);
    if (rules->question == LISTS) {
        numbers_fields(bits, &world->numbers);
    } else if (is_about_entries(rules)) {
        entries_fields(rules, bits, &world->entries);
    } else {
        field(bits, 2, &world->elder);
        for (int c = 0; c < clients(rules); c++) {
            field(bits, 1, &world->client[c].phase);
            field(bits, 2, &world->client[c].held);
        }
    }
}

/* ---- what no later step looks at ---------------------------------------------------------- */

/* An answer that comes too late to count, and the word before it. */
static void forget_at(const struct world *world, struct master *master, int c)
{
    struct link *link = &master->link[c];
    if (!link->answer_left)
        link->answer = NO_ANSWER;
    if (!link->word_left)
        link->word = NO_ANSWER;
    if (world->client[c].phase == CLOSED)
        *link = (struct link){0};
}

static void forget_of_entries(const struct rules *rules, struct entries *entries)
{
    struct looker *looker = &entries->looker;
    if (rules->question == RENAMED)
        entries->proved = (struct fact){0};
    if (looker->asks.stage != CARRIED_OUT)
        looker->begun = 0;
    if (looker->looks.stage != CARRIED_OUT)
        looker->told = (struct fact){0};
    for (int c = 0; c < rules->seconds; c++) {
        struct sayer *sayer = &entries->sayer[c];
        sayer->said = sayer->says ? sayer->said : 0;
        sayer->echo = sayer->said ? sayer->echo : 0;
    }
}

static void forget(const struct rules *rules, struct world *world)
{
    for (int i = 0; i < honest(rules); i++)
        for (int c = 0; c < clients(rules); c++)
            forget_at(world, &world->master[i], c);
    if (!broken(rules, FIRST_IS_SELF_TOLD))
        world->elder = NO_LIST;
    forget_of_entries(rules, &world->entries);
}

PACKING(honest(rules), 1, is_about_entries(rules) ? 2 : 1)
