#include "ears.h"

#include <stdlib.h>

#include "client_shell.h"
#include "trace.h"

#define UNHEARD 30 /* per mille of pushes that get lost, where anything goes wrong */

static void say(struct shell *s, unsigned master, usec at, const struct heard *what)
{
    struct ear *ear = &s->ears[master];
    struct heard *heard = malloc(sizeof *heard);
    *heard = *what;
    heard->next = NULL;
    heard->at = ear->latest = at > ear->latest ? at : ear->latest;
    if (ear->first)
        ear->last->next = heard;
    else
        ear->first = heard;
    ear->last = heard;
    world_plan(s->world, heard->at, HAPPENS_HEARD, s, master);
}

static void hear_nothing(struct ear *ear)
{
    while (ear->first) {
        struct heard *heard = ear->first;
        ear->first = heard->next;
        free(heard);
    }
}

static usec delay(struct shell *s, unsigned master)
{
    return s->world->now + path_delay(s->world, s->index, master);
}

static bool is_blocked(const struct shell *s, unsigned master)
{
    const struct path *path = &s->world->paths[s->index][master];
    return path->in_blocked > s->world->now || path->out_blocked > s->world->now;
}

void ear_open(struct shell *s, unsigned master)
{
    const struct server *server = &s->world->servers[master];
    struct ear *ear = &s->ears[master];
    bool reached = server->up && !is_blocked(s, master) && s->world->now >= server->refuses_until;
    ear->wanted = true;
    ear->up = reached;
    ear->epoch = server->epoch;
    say(s, master, delay(s, master) + path_delay(s->world, s->index, master),
        &(struct heard){.kind = reached ? EVENT_LISTENING : EVENT_DEAF,
                        .run_id = server->model.run_id});
}

void ear_probe(struct shell *s, unsigned master)
{
    const struct server *server = &s->world->servers[master];
    const struct ear *ear = &s->ears[master];
    if (!ear->up || ear->epoch != server->epoch || is_blocked(s, master))
        return;
    usec stopped = server->stopped_until > s->world->now ? server->stopped_until : s->world->now;
    say(s, master,
        stopped - s->world->now + delay(s, master) + path_delay(s->world, s->index, master),
        &(struct heard){.kind = EVENT_ALIVE});
}

void ear_break(struct shell *s, unsigned master)
{
    struct ear *ear = &s->ears[master];
    if (!ear->up)
        return;
    ear->up = false;
    hear_nothing(ear);
    say(s, master, delay(s, master), &(struct heard){.kind = EVENT_DEAF});
}

void ear_close(struct shell *s, unsigned master)
{
    struct ear *ear = &s->ears[master];
    if (ear->up)
        ear_break(s, master);
}

bool ear_read(struct shell *s, unsigned master, struct heard *heard)
{
    struct ear *ear = &s->ears[master];
    struct heard *first = ear->first;
    if (!first || first->at > s->world->now)
        return false;
    *heard = *first;
    ear->first = first->next;
    free(first);
    if (heard->kind == EVENT_DEAF)
        ear->wanted = ear->up = false;
    return true;
}

void ears_drop(struct shell *s)
{
    for (unsigned i = 0; i < s->world->masters; i++) {
        hear_nothing(&s->ears[i]);
        s->ears[i] = (struct ear){0};
    }
}

static void publish(struct shell *s, unsigned master, const struct model_push *push)
{
    struct world *w = s->world;
    struct ear *ear = &s->ears[master];
    usec blocked = w->paths[s->index][master].in_blocked;
    bool lost = (w->faults && chance_permille(&w->chance, UNHEARD)) ||
                (blocked > w->now && chance_permille(&w->chance, 500));
    if (!s->running || !ear->up || ear->epoch != w->servers[master].epoch || lost)
        return;
    usec at = delay(s, master);
    say(s, master, at > blocked ? at : blocked,
        &(struct heard){.kind = EVENT_PUSH, .token = push->value, .clock = push->clock});
}

void ears_publish(struct world *w, unsigned master, const struct model_answer *answer)
{
    for (unsigned i = 0; i < answer->push_count; i++)
        for (unsigned c = 0; c < w->clients; c++)
            if (w->shells[c]->channel == answer->pushes[i].channel)
                publish(w->shells[c], master, &answer->pushes[i]);
}

void ears_server_down(struct world *w, unsigned master)
{
    for (unsigned c = 0; c < w->clients; c++)
        ear_break(w->shells[c], master);
}
