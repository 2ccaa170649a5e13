#include "model_tasks.h"

/* The scripts take what has no ms left for nothing. */
static struct model_said *look_up(struct model_master *master, usec wall, unsigned name)
{
    struct model_said *said = &master->data.said[name];
    if (said->expires_ms <= wall / 1000)
        *said = (struct model_said){0};
    return said;
}

const struct model_said *model_said(struct model_master *master, usec wall, unsigned name)
{
    return look_up(master, wall, name);
}

void model_tell(struct model_master *master, usec wall, unsigned name,
                const struct model_said *said, int64_t left_ms, struct model_answer *answer)
{
    for (unsigned i = 0; i < MODEL_OBSERVERS; i++) {
        const struct model_observer *observer = &master->data.observers[i];
        if (!observer->channel || observer->name != name || observer->expires_ms <= wall / 1000)
            continue;
        answer->pushes[answer->push_count++] = (struct model_push){.channel = observer->channel,
                                                                   .names = {(model_name)name},
                                                                   .free_slot = -1,
                                                                   .says = true,
                                                                   .said = *said,
                                                                   .left_ms = left_ms};
    }
}

void model_tell_taken(struct model_master *master, usec wall, const struct model_call *call,
                      struct model_answer *answer)
{
    const struct model_said taken = {
        .token = call->value, .value = MODEL_TAKEN, .term = 1, .number = 1};
    for (unsigned i = 0; i < 2; i++)
        if (call->heard[i] && !model_flaws.breaks_in_silence)
            model_tell(master, wall, call->heard[i], &taken, 1, answer);
}

static bool is_later(const struct model_said *said, const struct model_call *call)
{
    return said->token &&
           (said->term > call->fence || (said->term == call->fence && said->number > call->number));
}

enum answer model_announce(struct model_master *master, usec wall, const struct model_call *call,
                           struct model_answer *answer)
{
    unsigned name = call->names[0];
    struct model_said *said = look_up(master, wall, name);
    if (model_value(master, wall, name) != call->value && !model_flaws.announces_for_anyone)
        return ANSWER_ABSENT;
    if (is_later(said, call))
        return ANSWER_HELD;
    bool is_same = said->token == call->value && said->term == call->fence &&
                   said->number == call->number && said->value == call->said;
    *said = (struct model_said){.token = call->value,
                                .value = call->said,
                                .term = call->fence,
                                .number = call->number,
                                .expires_ms = wall / 1000 + call->ttl_ms};
    if (!is_same)
        model_tell(master, wall, name, said, call->ttl_ms, answer);
    return ANSWER_YES;
}

enum answer model_unsay(struct model_master *master, usec wall, const struct model_call *call,
                        struct model_answer *answer)
{
    struct model_said *said = look_up(master, wall, call->names[0]);
    if (!said->token || said->token != call->value || said->term != call->fence)
        return ANSWER_ABSENT;
    *said = (struct model_said){0};
    model_tell(master, wall, call->names[0], said, 0, answer);
    return ANSWER_YES;
}

/* The place of the channel, of one that is past, or of none. */
static struct model_observer *place_of(struct model_master *master, usec wall,
                                       const struct model_call *call)
{
    struct model_observer *free = NULL;
    for (unsigned i = 0; i < MODEL_OBSERVERS; i++) {
        struct model_observer *observer = &master->data.observers[i];
        if (observer->channel == call->channel && observer->name == call->names[0])
            return observer;
        if (!observer->channel || observer->expires_ms <= wall / 1000)
            free = observer;
    }
    master->data.is_full |= !free;
    return free;
}

void model_listen(struct model_master *master, usec wall, const struct model_call *call)
{
    struct model_observer *place = call->channel ? place_of(master, wall, call) : NULL;
    int64_t until = wall / 1000 + call->ttl_ms;
    if (place && place->channel == call->channel && place->name == call->names[0])
        until = place->expires_ms > until ? place->expires_ms : until;
    if (place && call->ttl_ms == 0)
        *place = (struct model_observer){0};
    else if (place)
        *place = (struct model_observer){
            .channel = call->channel, .name = call->names[0], .expires_ms = until};
}

enum answer model_observe(struct model_master *master, usec wall, const struct model_call *call,
                          struct model_answer *answer)
{
    model_listen(master, wall, call);
    answer->said = *look_up(master, wall, call->names[0]);
    if (!answer->said.token)
        return ANSWER_ABSENT;
    answer->remaining_ms = answer->said.expires_ms - wall / 1000;
    return ANSWER_YES;
}

static unsigned count_observers(const struct model_master *master, usec wall, unsigned name)
{
    unsigned count = 0;
    for (unsigned i = 0; i < MODEL_OBSERVERS; i++) {
        const struct model_observer *it = &master->data.observers[i];
        count += it->channel && it->name == name && it->expires_ms > wall / 1000;
    }
    return count;
}

/* Also the dead: the script does not look at each. */
static unsigned count_enqueued(const struct model_master *master, unsigned name)
{
    unsigned count = 0;
    for (unsigned i = 0; i < master->data.waiters_used; i++) {
        const struct model_waiter *waiter = &master->data.waiters[i];
        for (unsigned k = 0; waiter->value && k < waiter->count; k++)
            count += waiter->names[k] == name;
    }
    return count;
}

/* The second name is that of the wishes about the first. */
enum answer model_ask(struct model_master *master, usec wall, const struct model_call *call,
                      struct model_answer *answer)
{
    unsigned wishes = call->names[1];
    uint32_t holder = model_value(master, wall, call->names[0]);
    if (!holder)
        return ANSWER_ABSENT;
    answer->value = holder;
    answer->position = count_enqueued(master, call->names[0]);
    if (answer->position < call->number)
        answer->position = (unsigned)call->number;
    int64_t expires_ms = master->data.keys[call->names[0]].expires_ms;
    answer->remaining_ms = expires_ms ? expires_ms - wall / 1000 : -1;
    if (holder == MODEL_MARK)
        return ANSWER_HELD;
    struct model_said *said = look_up(master, wall, wishes);
    bool is_same = said->term == call->fence &&
                   (said->token == holder || (said->token && model_flaws.tells_by_id));
    *said = (struct model_said){.token = holder,
                                .value = call->said,
                                .term = call->fence,
                                .number = answer->position + 1,
                                .expires_ms = wall / 1000 + call->ttl_ms};
    if (!is_same)
        model_tell(master, wall, wishes, said, call->ttl_ms, answer);
    answer->counted = count_observers(master, wall, wishes);
    return ANSWER_HELD;
}
