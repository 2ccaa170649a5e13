#include "why.h"

#include <stdio.h>
#include <string.h>

/* ---- What happened ---------------------------------------------------------- */

static const struct actor *actor_of(const struct fake *fake, const struct lease *lease)
{
    for (unsigned i = 0; i < ACTORS_MAX; i++)
        if (&fake->actors[i].core == lease)
            return &fake->actors[i];
    return NULL;
}

static void say_reply(char *to, size_t size, unsigned master, const struct reply *reply)
{
    snprintf(to, size, "master %u answers %s to %s%s%s", master, fake_answer_name(reply->answer),
             request_name(reply->tag.kind), reply->text.length ? ": " : "",
             reply->text.length ? reply->text.bytes : "");
}

/* The owner of the first deadline. */
static void say_timer(char *to, size_t size, const struct fake *fake)
{
    static const char *const owners[] = {"the engine", "a master", "a lease",
                                         "what is still to be given back", "a task"};
    const struct deadline *first = fake->engine.deadlines.heap[0].deadline;
    const char *owner = owners[first->owner];
    for (unsigned i = 0; i < ACTORS_MAX; i++)
        if (fake->actors[i].used && &fake->actors[i].core.deadline == first)
            owner = fake->actors[i].name;
    snprintf(to, size, "the deadline of %s has come", owner);
}

/* The calls of the user. */
static const char *call_name(enum event_kind kind)
{
    static const char *const names[] = {[EVENT_ACQUIRE] = "acquire",
                                        [EVENT_ATTACH] = "attach",
                                        [EVENT_RELEASE] = "release",
                                        [EVENT_EXTEND] = "extend",
                                        [EVENT_INSPECT] = "inspect",
                                        [EVENT_ABANDON] = "free",
                                        [EVENT_DETACH] = "detach",
                                        [EVENT_ADOPT] = "adopt",
                                        [EVENT_CLOSE] = "close",
                                        [EVENT_GIVE_UP] = "give up",
                                        [EVENT_DOWNGRADE] = "downgrade",
                                        [EVENT_UPGRADE] = "upgrade",
                                        [EVENT_TASK_BEGIN] = "begin of a task",
                                        [EVENT_TASK_LEAVE] = "leave a barrier",
                                        [EVENT_TASK_END] = "end of a task"};
    return names[kind];
}

static void say_call(char *to, size_t size, const struct fake *fake, const struct event *event)
{
    const struct actor *actor = event->lease ? actor_of(fake, event->lease) : NULL;
    int used = snprintf(to, size, "the user calls %s", call_name(event->kind));
    if (actor)
        snprintf(to + used, size - (size_t)used, " of %s", actor->name);
    else if (event->kind == EVENT_ADOPT)
        snprintf(to + used, size - (size_t)used, " of master %u", event->master + 1);
}

static void say_event(char *to, size_t size, struct fake *fake, const struct event *event)
{
    unsigned master = event->master + 1;
    switch (event->kind) {
    case EVENT_TIMER:
        say_timer(to, size, fake);
        break;
    case EVENT_CONNECTED:
        snprintf(to, size, "master %u is connected", master);
        break;
    case EVENT_CLOSED:
        snprintf(to, size, "the connection to master %u has ended: %s", master,
                 event->text ? event->text : "as the core wished");
        break;
    case EVENT_REPLY:
        say_reply(to, size, master, event->reply);
        break;
    case EVENT_SUBSCRIBED:
        snprintf(to, size, "master %u notifies from now on", master);
        break;
    case EVENT_ALIVE:
        snprintf(to, size, "the notification connection to master %u is alive", master);
        break;
    case EVENT_UNSUBSCRIBED:
        snprintf(to, size, "the notification connection to master %u has ended", master);
        break;
    case EVENT_PUSH:
        snprintf(to, size, "master %u has given the names to %s", master,
                 fake_token(fake, event->push->token.bytes, event->push->token.length));
        break;
    default:
        say_call(to, size, fake, event);
    }
}

/* ---- The leases that the core acts for --------------------------------------------------- */

static const char *state_name(const struct lease *lease)
{
    static const char *const names[LEASE_STATES] = {[LEASE_IDLE] = "idle",
                                                    [LEASE_BEHIND] = "behind others of this client",
                                                    [LEASE_PAUSING] = "pausing",
                                                    [LEASE_QUEUED] = "queued",
                                                    [LEASE_ASKING] = "asking",
                                                    [LEASE_ATTACHING] = "attaching",
                                                    [LEASE_GATHERING] = "gathering the last grants",
                                                    [LEASE_STORING] = "storing its fence",
                                                    [LEASE_CONFIRMING] =
                                                        "confirming what was handed over",
                                                    [LEASE_FAILING] = "failing",
                                                    [LEASE_HELD] = "held",
                                                    [LEASE_RENEWING] = "renewing",
                                                    [LEASE_UPGRADING] = "upgrading",
                                                    [LEASE_LOST] = "lost",
                                                    [LEASE_RELEASING] = "releasing",
                                                    [LEASE_INSPECTING] = "inspecting"};
    return names[lease->state];
}

/* The step under way. */
static struct {
    char event[VOTE_TEXT_MAX + 120];
    char leases[1024];
    bool acted;
    bool seen[ACTORS_MAX];
} step;

static void look_at(struct fake *fake, const struct actor *actor)
{
    char votes[400];
    size_t used = strlen(step.leases), index = (size_t)(actor - fake->actors);
    if (step.seen[index])
        return;
    step.seen[index] = true;
    fake_votes(fake, &actor->core, votes, sizeof votes);
    snprintf(step.leases + used, sizeof step.leases - used, "; %s is %s", actor->name,
             state_name(&actor->core));
    used += strlen(step.leases + used);
    if (votes[strspn(votes, "-, ")]) /* a master has answered */
        snprintf(step.leases + used, sizeof step.leases - used, ": %s (%u needed)", votes,
                 fake->engine.quorum);
}

static const struct actor *asker(const struct fake *fake, const struct claim *claim)
{
    for (unsigned i = 0; i < ACTORS_MAX; i++)
        if (fake->actors[i].used && fake->actors[i].core.claim == claim)
            return &fake->actors[i];
    return NULL;
}

static void before(struct fake *fake, const struct event *event)
{
    memset(&step, 0, sizeof step);
    say_event(step.event, sizeof step.event, fake, event);
}

/* Connecting and hello are no decisions. */
static void acts(struct fake *fake, const struct effect *effect)
{
    const struct actor *actor = NULL;
    if (effect->kind == EFFECT_TELL)
        actor = actor_of(fake, effect->lease);
    else if (effect->kind == EFFECT_SEND && effect->request->tag.claim)
        actor = asker(fake, effect->request->tag.claim);
    else if (effect->kind != EFFECT_DISCONNECT && effect->kind != EFFECT_UNSUBSCRIBE &&
             effect->kind != EFFECT_NOTICE && effect->kind != EFFECT_LISTS &&
             effect->kind != EFFECT_READY && effect->kind != EFFECT_CLOSED)
        return;
    step.acted = true;
    if (actor)
        look_at(fake, actor);
}

static void after(struct fake *fake)
{
    if (step.acted)
        fake_reason(fake, WHY " %s%s", step.event, step.leases);
}

const struct watcher why_watcher = {before, acts, after};
