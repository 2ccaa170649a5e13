#include "subscription.h"

#include <stdlib.h>

#include "client_shell.h"
#include "recipe_users.h"
#include "trace.h"

#define FLOOD   300
#define UNHEARD 30 /* per mille of pushes that get lost, where anything goes wrong */

static void say(struct shell *s, unsigned master, usec at, const struct heard *what)
{
    struct model_subscription *it = &s->subscriptions[master];
    struct heard *heard = malloc(sizeof *heard);
    *heard = *what;
    heard->next = NULL;
    heard->at = it->latest = at > it->latest ? at : it->latest;
    if (it->first)
        it->last->next = heard;
    else
        it->first = heard;
    it->last = heard;
    world_plan(s->world, heard->at, HAPPENS_HEARD, s, master);
}

static void hear_nothing(struct model_subscription *it)
{
    while (it->first) {
        struct heard *heard = it->first;
        it->first = heard->next;
        free(heard);
    }
}

static struct path *path_of(const struct shell *s, unsigned master)
{
    return &s->world->push_paths[s->index][master];
}

/* When it is there, one way or the other, if nothing passes until `blocked`. */
static usec after(struct shell *s, usec blocked, unsigned master, enum way way)
{
    struct world *w = s->world;
    return (blocked > w->now ? blocked : w->now) + path_delay(w, path_of(s, master), way);
}

static void call_at(struct shell *s, unsigned master, usec at)
{
    s->subscriptions[master].arrives = at;
    world_plan(s->world, at, HAPPENS_HEARD, s, master);
}

/* Connecting takes a round trip, and then the subscription travels. */
void subscription_open(struct shell *s, unsigned master)
{
    struct path *path = path_of(s, master);
    struct model_subscription *it = &s->subscriptions[master];
    hear_nothing(it);
    *it = (struct model_subscription){.phase = SUBSCRIPTION_CALLING};
    usec called = after(s, path_blocked(path), master, WAY_OUT);
    call_at(s, master, called + path_trip(s->world, path));
}

static void end(struct shell *s, unsigned master, usec at)
{
    s->subscriptions[master].phase = SUBSCRIPTION_ENDED;
    say(s, master, at, &(struct heard){.kind = EVENT_UNSUBSCRIBED});
}

/* It is subscribed by whatever process is there now. */
static void arrives(struct shell *s, unsigned master)
{
    struct world *w = s->world;
    const struct server *server = &w->servers[master];
    struct model_subscription *it = &s->subscriptions[master];
    usec blocked = path_blocked(path_of(s, master));
    if (blocked > w->now) {
        call_at(s, master, after(s, blocked, master, WAY_OUT));
    } else if (!server->up || w->now < server->refuses_until) {
        end(s, master, after(s, 0, master, WAY_IN));
    } else if (w->now < server->stopped_until) {
        call_at(s, master, server->stopped_until + 1);
    } else {
        it->phase = SUBSCRIPTION_UP;
        it->epoch = server->epoch;
        say(s, master, after(s, 0, master, WAY_IN),
            &(struct heard){.kind = EVENT_SUBSCRIBED, .run_id = server->model.run_id});
    }
}

/* There and back; nothing comes of it where the process has gone. */
void subscription_probe(struct shell *s, unsigned master)
{
    struct world *w = s->world;
    struct path *path = path_of(s, master);
    const struct server *server = &w->servers[master];
    if (s->subscriptions[master].phase != SUBSCRIPTION_UP ||
        s->subscriptions[master].epoch != server->epoch || !server->up)
        return;
    usec arrives = after(s, path->out_blocked, master, WAY_OUT);
    usec answered = arrives > server->stopped_until ? arrives : server->stopped_until;
    usec back = answered > path->in_blocked ? answered : path->in_blocked;
    say(s, master, back + path_delay(w, path, WAY_IN), &(struct heard){.kind = EVENT_ALIVE});
}

void subscription_happens(struct shell *s, unsigned master)
{
    const struct model_subscription *it = &s->subscriptions[master];
    if (it->phase == SUBSCRIPTION_CALLING && it->arrives <= s->world->now)
        arrives(s, master);
}

/* Messages from before the master's end may still arrive, or not. */
static void break_late(struct shell *s, unsigned master, usec late)
{
    struct model_subscription *it = &s->subscriptions[master];
    if (it->phase != SUBSCRIPTION_UP)
        return;
    if (chance_permille(&s->world->chance, 500))
        hear_nothing(it);
    end(s, master, after(s, path_of(s, master)->in_blocked, master, WAY_IN) + late);
}

void subscription_break(struct shell *s, unsigned master)
{
    break_late(s, master, 0);
}

/* The client's own doing: it hears nothing more. */
void subscription_close(struct shell *s, unsigned master)
{
    hear_nothing(&s->subscriptions[master]);
    s->subscriptions[master] = (struct model_subscription){0};
}

bool subscription_read(struct shell *s, unsigned master, struct heard *heard)
{
    struct model_subscription *it = &s->subscriptions[master];
    struct heard *first = it->first;
    if (!first || first->at > s->world->now)
        return false;
    *heard = *first;
    it->first = first->next;
    free(first);
    if (heard->kind == EVENT_UNSUBSCRIBED)
        it->phase = SUBSCRIPTION_NONE;
    return true;
}

static void publish(struct shell *s, unsigned master, const struct model_push *push)
{
    struct world *w = s->world;
    struct model_subscription *it = &s->subscriptions[master];
    usec blocked = path_of(s, master)->in_blocked;
    bool lost = (w->faults && chance_permille(&w->chance, UNHEARD)) ||
                (blocked > w->now && chance_permille(&w->chance, 500));
    lost |= wishes_lose(w, push);
    if (!s->running || it->phase != SUBSCRIPTION_UP || it->epoch != w->servers[master].epoch ||
        lost)
        return;
    say(s, master, after(s, blocked, master, WAY_IN),
        &(struct heard){.kind = EVENT_PUSH,
                        .token = push->value,
                        .clock = push->clock,
                        .free_slot = push->free_slot,
                        .says = push->says,
                        .name = push->names[0],
                        .said = push->said,
                        .left_ms = push->left_ms});
}

void subscription_lies(struct shell *s, unsigned master, usec at, const struct heard *heard)
{
    const struct model_subscription *it = &s->subscriptions[master];
    if (s->running && it->phase == SUBSCRIPTION_UP && it->epoch == s->world->servers[master].epoch)
        say(s, master, at, heard);
}

void subscriptions_publish(struct world *w, unsigned master, const struct model_answer *answer)
{
    for (unsigned i = 0; i < answer->push_count * (answer->floods ? FLOOD : 1); i++) {
        const struct model_push *push = &answer->pushes[i % answer->push_count];
        for (unsigned c = 0; c < w->clients; c++)
            if (w->shells[c]->channel == push->channel)
                publish(w->shells[c], master, push);
    }
}

void subscriptions_server_down(struct world *w, unsigned master)
{
    for (unsigned c = 0; c < w->clients; c++)
        break_late(w->shells[c], master, late_fin(w));
}
