#include "model_tasks.h"

#define PASSED_KEPT_MS 604800000

static void drop(struct model_barrier *barrier)
{
    *barrier = (struct model_barrier){0};
}

struct model_barrier *model_barrier(struct model_master *master, usec wall, unsigned name,
                                    int64_t generation)
{
    for (unsigned i = 0; i < MODEL_BARRIERS; i++) {
        struct model_barrier *barrier = &master->data.barriers[i];
        if (!barrier->of || barrier->name != name || barrier->generation != generation)
            continue;
        if (barrier->expires_ms > wall / 1000)
            return barrier;
        drop(barrier);
    }
    return NULL;
}

static struct model_barrier *make(struct model_master *master, const struct model_call *call,
                                  usec wall)
{
    for (unsigned i = 0; i < MODEL_BARRIERS; i++) {
        struct model_barrier *barrier = &master->data.barriers[i];
        if (barrier->of && barrier->expires_ms > wall / 1000)
            continue;
        *barrier = (struct model_barrier){.name = call->names[0], .generation = call->generation};
        return barrier;
    }
    master->data.is_full = true;
    return &master->data.barriers[0];
}

static unsigned counted(struct model_barrier *barrier, usec wall)
{
    unsigned number = 0;
    for (unsigned i = 0; i < MODEL_PARTIES; i++) {
        struct model_party *party = &barrier->parties[i];
        bool counts = party->expires_ms > wall / 1000;
        if (!barrier->open && !counts)
            *party = (struct model_party){0};
        number += party->value && counts;
    }
    return number;
}

static enum answer stand(struct model_barrier *barrier, usec wall, const struct model_call *call,
                         struct model_answer *answer)
{
    answer->parties = barrier && barrier->of != call->parties ? barrier->of : call->parties;
    answer->counted = barrier ? counted(barrier, wall) : 0;
    if (barrier && barrier->of != call->parties)
        return ANSWER_HELD;
    if (barrier && barrier->passed)
        return ANSWER_YES;
    for (unsigned i = 0; barrier && barrier->open && i < MODEL_PARTIES; i++)
        if (barrier->parties[i].expires_ms > wall / 1000)
            answer->tokens[i] = barrier->parties[i].value;
    if (barrier && barrier->open)
        return ANSWER_OPEN;
    return call->kind == REQUEST_ARRIVE ? ANSWER_QUEUED : ANSWER_ABSENT;
}

int64_t model_latest(const struct model_master *master, usec wall, unsigned name)
{
    const struct model_passed *passed = &master->data.passed[name];
    return passed->expires_ms > wall / 1000 ? passed->generation : -1;
}

/* It, or a later one, was passed, of which the master knows no more. */
static bool is_over(const struct model_master *master, const struct model_barrier *barrier,
                    usec wall, const struct model_call *call)
{
    int64_t latest = model_latest(master, wall, call->names[0]);
    bool is_kept = barrier && (barrier->open || barrier->passed);
    bool has_found = call->passed && latest > call->generation;
    return latest >= call->generation && !is_kept && !has_found;
}

static void keep_passed(struct model_master *master, usec wall, const struct model_call *call)
{
    if (model_latest(master, wall, call->names[0]) < call->generation)
        master->data.passed[call->names[0]] =
            (struct model_passed){.generation = call->generation,
                                  .of = call->parties,
                                  .expires_ms = wall / 1000 + PASSED_KEPT_MS};
}

static struct model_party *find(struct model_barrier *barrier, uint32_t value)
{
    for (unsigned i = 0; i < MODEL_PARTIES; i++)
        if (barrier->parties[i].value == value)
            return &barrier->parties[i];
    return NULL;
}

static enum answer over(struct model_master *master, struct model_barrier *barrier, usec wall,
                        const struct model_call *call, struct model_answer *answer)
{
    struct model_party *party = barrier ? find(barrier, call->value) : NULL;
    if (party)
        *party = (struct model_party){0};
    answer->parties = master->data.passed[call->names[0]].of;
    answer->counted = barrier ? counted(barrier, wall) : 0;
    answer->latest = model_latest(master, wall, call->names[0]);
    return ANSWER_OVER;
}

static void enter(struct model_master *master, struct model_barrier *barrier, usec wall,
                  const struct model_call *call)
{
    int64_t until = wall / 1000 + call->ttl_ms;
    struct model_party *place = NULL;
    for (unsigned i = 0; i < MODEL_PARTIES && (!place || place->value != call->value); i++)
        if (barrier->parties[i].value == call->value || (!place && !barrier->parties[i].value))
            place = &barrier->parties[i];
    master->data.is_full |= !place;
    if (!place)
        return;
    place->value = call->value;
    place->expires_ms = until > place->expires_ms ? until : place->expires_ms;
}

static void lasts(struct model_barrier *barrier, usec wall, int64_t ms)
{
    if (barrier->expires_ms < wall / 1000 + ms)
        barrier->expires_ms = wall / 1000 + ms;
}

static bool open_now(struct model_barrier *barrier, usec wall, const struct model_call *call)
{
    bool changes = call->passed && !barrier->passed;
    barrier->passed |= call->passed;
    if (barrier->open || counted(barrier, wall) < call->parties)
        return changes;
    barrier->open = true;
    return true;
}

enum answer model_arrive(struct model_master *master, usec wall, const struct model_call *call,
                         struct model_answer *answer)
{
    struct model_barrier *barrier = model_barrier(master, wall, call->names[0], call->generation);
    if (is_over(master, barrier, wall, call))
        return over(master, barrier, wall, call, answer);
    if (barrier && barrier->of != call->parties) {
        if (barrier->open || barrier->passed || counted(barrier, wall))
            return stand(barrier, wall, call, answer);
        drop(barrier);
        barrier = NULL;
    }
    if (call->passed)
        keep_passed(master, wall, call);
    if (!barrier)
        barrier = make(master, call, wall);
    barrier->of = call->parties;
    counted(barrier, wall);
    enter(master, barrier, wall, call);
    lasts(barrier, wall, call->ttl_ms);
    bool changes = open_now(barrier, wall, call);
    int64_t longest = 2 * master->data.clock.m;
    if (barrier->open || barrier->passed)
        lasts(barrier, wall, call->kept_ms > longest ? call->kept_ms : longest);
    if (changes)
        model_tell(master, wall, call->names[0], &(struct model_said){0}, 0, answer);
    model_listen(master, wall, call);
    return stand(barrier, wall, call, answer);
}

enum answer model_depart(struct model_master *master, usec wall, const struct model_call *call,
                         struct model_answer *answer)
{
    struct model_barrier *barrier = model_barrier(master, wall, call->names[0], call->generation);
    struct model_party *party = barrier ? find(barrier, call->value) : NULL;
    if (is_over(master, barrier, wall, call))
        return over(master, barrier, wall, call, answer);
    if (barrier && barrier->open && !barrier->passed && !party) {
        answer->parties = call->parties;
        answer->counted = counted(barrier, wall);
        return ANSWER_ABSENT;
    }
    if (barrier && !barrier->open && party)
        *party = (struct model_party){0};
    if (barrier && !barrier->open && !barrier->passed && !counted(barrier, wall)) {
        drop(barrier);
        barrier = NULL;
    }
    return stand(barrier, wall, call, answer);
}
