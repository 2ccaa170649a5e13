#include "peer.h"

#include <stdlib.h>

#define FD_FIRST 3

/* ---- all of them ---------------------------------------------------------------------- */

static struct peer *peers[FD_FIRST + CLIENTS_MAX * 2 * MASTERS_MAX];
#define FD_END ((int)(sizeof peers / sizeof peers[0]))

struct peer *peer_new(struct shell *s, struct link_owner owner)
{
    int fd = FD_FIRST;
    while (peers[fd])
        fd++;
    struct peer *peer = peers[fd] = calloc(1, sizeof *peer);
    peer->shell = s;
    peer->owner = owner;
    peer->master = owner.master;
    peer->fd = fd;
    peer->next = s->peers;
    s->peers = peer;
    return peer;
}

struct peer *peer_of(const struct link *link)
{
    struct peer *peer = shell_present->peers;
    while (peer->link != link)
        peer = peer->next;
    return peer;
}

struct peer *peer_at(int fd)
{
    return peers[fd];
}

void peer_free(struct peer *peer)
{
    struct peer **at = &peer->shell->peers;
    while (*at != peer)
        at = &(*at)->next;
    *at = peer->next;
    peers[peer->fd] = NULL;
    free(peer);
}

/* ---- one connection ---------------------------------------------------------------------- */

struct conn *peer_conn(const struct peer *peer)
{
    return peer->subscribed ? NULL : peer->shell->links[peer->master].conn;
}

bool peer_has(const struct peer *peer, enum fault_kind fault)
{
    return peer->shell->world->link_faults >> fault & 1;
}

void peer_open(struct peer *peer)
{
    struct world *w = peer->shell->world;
    struct chance chance = {mix(w->options.seed) + ++w->streams};
    stream_begin(&peer->in, chance, peer_has(peer, FAULT_SPLIT_READS));
    peer->open = true;
    peer->asked = false;
    peer->greeting = (struct greeting){0};
    peer->writable_at = peer->stirs_at = 0;
    peer->bad_from = peer->bad_until = SIZE_MAX;
}

static void drop(struct world *w, struct queue *queue)
{
    struct message *message;
    while ((message = queue_take(queue)))
        message_free(w, message);
}

void peer_close(struct peer *peer)
{
    struct world *w = peer->shell->world;
    peer->open = false;
    drop(w, &peer->flushed);
    drop(w, &peer->answered);
    while (peer->first) {
        struct utterance *said = peer->first;
        peer->first = said->next;
        free(said);
    }
    stream_free(&peer->in);
    buffer_free(&peer->out);
}

void peer_stirs(struct peer *peer, usec at)
{
    struct world *w = peer->shell->world;
    if (at == NEVER || (peer->stirs_at > w->now && peer->stirs_at <= at))
        return;
    peer->stirs_at = at > w->now ? at : w->now + 1;
    world_plan(w, peer->stirs_at, HAPPENS_STIR, peer->shell, 0);
}

void peer_violated(const struct peer *peer, const char *what)
{
    world_violated(peer->shell->world, "bytes", "client %u, %s master %u: %s",
                   peer->shell->index + 1, peer->subscribed ? "notified by" : "linked to",
                   peer->master + 1, what);
}
