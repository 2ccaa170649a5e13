/*
 * A master counts a party until its ttl is over, and opens when it counts enough at one time.
 * From then on it takes nobody off, and adds each newcomer; it tells those that it counts now.
 * When the barrier is forgotten the record stays that it was passed, and nobody is counted.
 * A restarted master has nothing, what it had, or what it had when it was saved, and abstains.
 */
#include "world.h"

uint8_t master_counts(const struct rules *rules, const struct master *master)
{
    uint8_t who = 0;
    for (int c = 0; c < rules->parties; c++)
        who |= (master->data.live[c] > 0) << c;
    return broken(rules, EXPIRED_COUNTS) ? master->data.there : who;
}

static int size_of(uint8_t set)
{
    return __builtin_popcount(set);
}

/* A party that is not counted any more is forgotten, unless the master is open. */
static void sweep(const struct rules *rules, struct data *data)
{
    for (int c = 0; c < rules->parties; c++)
        if (!data->live[c] && !broken(rules, EXPIRED_COUNTS))
            data->there &= ~(1 << c);
}

static struct word stand(const struct rules *rules, const struct master *master, enum stand shut)
{
    const struct data *data = &master->data;
    if (master->barred)
        return (struct word){.stand = OTHER};
    if (data->passed)
        return (struct word){.stand = PASSED};
    if (data->record && !data->open)
        return (struct word){.stand = data->of_others ? OVER_OF_OTHERS : OVER};
    if (data->open)
        return (struct word){.stand = OPEN, .tokens = master_counts(rules, master)};
    return (struct word){.stand = shut};
}

static struct word arrive(const struct rules *rules, struct master *master, int c, bool passed)
{
    struct data *data = &master->data;
    if (master->barred || (data->record && !data->open && !data->passed))
        return stand(rules, master, SHUT);
    data->there |= 1 << c;
    data->live[c] = rules->ttl + 1;
    data->passed |= passed;
    data->open |= size_of(master_counts(rules, master)) >= rules->wanted;
    data->record |= data->passed || (data->open && broken(rules, RECORD_WHEN_OPEN));
    if (data->open || data->passed)
        master->kept = rules->kept;
    return stand(rules, master, SHUT);
}

static struct word depart(const struct rules *rules, struct master *master, int c)
{
    struct data *data = &master->data;
    uint8_t bit = 1 << c;
    if (!data->open || broken(rules, OPEN_TAKES_OFF)) {
        data->there &= ~bit;
        data->live[c] = 0;
    }
    bool is_there = broken(rules, GONE_WHEN_EXPIRED) ? data->live[c] : (data->there & bit) != 0;
    if (data->open && !data->passed && !is_there)
        return (struct word){.stand = GONE};
    return stand(rules, master, GONE);
}

struct word master_carry_out(const struct rules *rules, struct master *master, int c,
                             enum errand errand)
{
    if (!master->data.open)
        sweep(rules, &master->data);
    if (errand == DEPART)
        return depart(rules, master, c);
    return arrive(rules, master, c, errand == TELL_PASSED);
}

bool master_lets_others_in(const struct rules *rules, const struct master *master)
{
    return !master->barred && !master->abstains && !master->data.open && !master->data.passed &&
           !master->data.record && !master_counts(rules, master);
}

/* Their barrier is forgotten at once, which may be much later. */
void master_others_pass(struct master *master)
{
    master->barred = false;
    master->data.record = master->data.of_others = true;
}

/* ---- restarts -------------------------------------------------------------------- */

void master_save(const struct rules *rules, struct master *master)
{
    master->has_saved = true;
    master->saved_there = master_counts(rules, master);
    master->saved_open = master->data.open;
    master->saved_passed = master->data.passed;
    master->saved_record = master->data.record;
    master->saved_of_others = master->data.of_others;
}

static struct data saved(const struct rules *rules, const struct master *master)
{
    struct data data = {.open = master->saved_open,
                        .passed = master->saved_passed,
                        .record = master->saved_record,
                        .of_others = master->saved_of_others,
                        .there = master->saved_there};
    for (int c = 0; c < rules->parties; c++)
        data.live[c] = data.there & 1 << c ? rules->ttl + 1 : 0;
    return data;
}

void master_restart(const struct rules *rules, struct master *master, enum memory memory)
{
    if (memory == EMPTY)
        master->data = (struct data){0};
    else if (memory == AS_SAVED)
        master->data = saved(rules, master);
    master->barred = false;
    master->has_saved = master->saved_open = master->saved_passed = master->saved_record = false;
    master->saved_of_others = false;
    master->saved_there = 0;
    master->abstains = rules->abstain;
    for (int c = 0; c < rules->parties; c++) {
        struct link *link = &master->link[c];
        link->orphan = false;
        if (link->stage == SENT)
            link->stage = IDLE;
    }
}

/* ---- time -------------------------------------------------------------------------- */

static void expire(const struct rules *rules, struct data *data, bool all)
{
    for (int c = 0; c < rules->parties; c++)
        if (all)
            data->live[c] = 0;
        else if (rules->ttl && data->live[c])
            data->live[c]--;
}

/* A party that was counted before the restart no longer is when the quarantine ends: no ttl is
 * longer. */
void master_tick(const struct rules *rules, struct master *master)
{
    bool votes_again = master->abstains == 1;
    pass(&master->abstains);
    expire(rules, &master->data, votes_again);
    if (master->kept && --master->kept == 0)
        master->data =
            (struct data){.record = master->data.record && !broken(rules, RECORD_NOT_KEPT),
                          .of_others = master->data.of_others};
    if (!master->data.open)
        sweep(rules, &master->data);
}
