#include "model_tasks.h"

/* The key's latch, also of another process. */
static struct model_latch *look_up(struct model_master *master, usec wall, unsigned name)
{
    struct model_latch *latch = &master->data.latches[name];
    if (latch->ends_ms <= wall / 1000)
        *latch = (struct model_latch){0};
    return latch;
}

struct model_latch *model_latch(struct model_master *master, usec wall, unsigned name)
{
    struct model_latch *latch = look_up(master, wall, name);
    bool counts = latch->run == master->run_id || model_flaws.latch_of_any_process;
    return latch->id && counts ? latch : NULL;
}

static unsigned counted(const struct model_latch *latch)
{
    unsigned count = 0;
    while (count < MODEL_ARRIVALS && latch->arrived[count])
        count++;
    return count;
}

static bool is_counted(const struct model_latch *latch, uint32_t arrival)
{
    for (unsigned i = 0; i < counted(latch); i++)
        if (latch->arrived[i] == arrival)
            return true;
    return false;
}

static int64_t age_ms(const struct model_latch *latch, usec wall)
{
    int64_t age = wall / 1000 - latch->put_ms;
    return age > 0 ? age : 0;
}

static enum answer stands(const struct model_latch *latch, usec wall, struct model_answer *answer)
{
    answer->latch = *latch;
    answer->remaining_ms = latch->ends_ms - wall / 1000;
    answer->clock = 1000 * age_ms(latch, wall);
    return latch->open ? ANSWER_OPEN : ANSWER_YES;
}

/* Returns whether that makes enough. */
static bool count(struct model_master *master, struct model_latch *latch, uint32_t arrival)
{
    unsigned before = counted(latch);
    if (before >= latch->of || is_counted(latch, arrival))
        return false;
    if (before == MODEL_ARRIVALS)
        master->data.is_full = true;
    else
        latch->arrived[before] = arrival;
    return before + 1 == latch->of;
}

static void take_in(struct model_master *master, usec wall, struct model_latch *latch,
                    const struct model_call *call, struct model_answer *answer)
{
    bool news = call->open && !latch->open;
    for (unsigned i = 0; i < MODEL_ARRIVALS && call->arrived[i]; i++)
        news = count(master, latch, call->arrived[i]) || news;
    latch->open |= call->open;
    if (news)
        model_tell(master, wall, call->names[0], &(struct model_said){0}, 0, answer);
}

enum answer model_tally(struct model_master *master, usec wall, const struct model_call *call,
                        struct model_answer *answer)
{
    model_listen(master, wall, call);
    struct model_latch *latch = model_latch(master, wall, call->names[0]);
    if (!latch)
        return ANSWER_ABSENT;
    if (latch->id == call->value)
        take_in(master, wall, latch, call, answer);
    return stands(latch, wall, answer);
}

static void put(struct model_master *master, usec wall, struct model_latch *latch,
                const struct model_call *call)
{
    if (latch->id != call->value)
        *latch = (struct model_latch){.id = call->value};
    latch->of = call->parties;
    latch->ends_ms = call->not_after / 1000;
    latch->put_ms = wall / 1000;
    latch->run = master->run_id;
    latch->open = false;
}

enum answer model_mend(struct model_master *master, usec wall, const struct model_call *call,
                       struct model_answer *answer)
{
    struct model_latch *latch = model_latch(master, wall, call->names[0]);
    if (latch && latch->id != call->value)
        return stands(latch, wall, answer);
    if (call->run != master->run_id || call->not_after / 1000 <= wall / 1000)
        return ANSWER_ABSENT;
    if (!latch) {
        latch = look_up(master, wall, call->names[0]);
        put(master, wall, latch, call);
    }
    take_in(master, wall, latch, call, answer);
    return stands(latch, wall, answer);
}

enum answer model_drop(struct model_master *master, usec wall, const struct model_call *call)
{
    struct model_latch *latch = look_up(master, wall, call->names[0]);
    bool is_young = age_ms(latch, wall) < call->ttl_ms && !model_flaws.drops_young;
    if (latch->id != call->value || latch->open || counted(latch) || is_young)
        return ANSWER_ABSENT;
    *latch = (struct model_latch){0};
    return ANSWER_YES;
}
