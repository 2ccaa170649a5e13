/*
 * watch.c - looks at all that goes into a real link, and at all that comes out of it.  It has the
 * rules of modelled links.  Besides, a link tells what the master said, and nothing else.
 *
 * The linker's --wrap puts these functions between lib/client and lib/io/link.c.
 */
#include <stdlib.h>
#include <string.h>

#include "client_rules.h"
#include "exchange.h"
#include "invariants.h"
#include "links.h"
#include "recipe_users.h"
#include "sockets.h"
#include "trace.h"

#define REAL(result, name, ...)                                                                    \
    result __real_##name(__VA_ARGS__);                                                             \
    result __wrap_##name(__VA_ARGS__)

const struct links_kind links_kind = {.program = "redlock-sim-bytes",
                                      .login = "ann:secret@",
                                      .database = "/2",
                                      .faults = 1U << FAULT_SHORT_WRITES | 1U << FAULT_SPLIT_READS |
                                                1U << FAULT_CUT_SHORT | 1U << FAULT_MALFORMED};

static struct shell_link *requests_of(const struct peer *peer)
{
    return &peer->shell->links[peer->master];
}

/* ---- answers ------------------------------------------------------------------------------ */

static bool same_tag(const struct tag *a, const struct tag *b)
{
    return a->kind == b->kind && a->round == b->round && a->claim == b->claim &&
           a->sent_at == b->sent_at && a->ttl == b->ttl;
}

static bool same_hello(const struct hello *a, const struct hello *b)
{
    return strcmp(a->run_id, b->run_id) == 0 && strcmp(a->version, b->version) == 0 &&
           strcmp(a->role, b->role) == 0 && strcmp(a->eviction, b->eviction) == 0 &&
           a->aof == b->aof && a->uptime_s == b->uptime_s && a->client_id == b->client_id &&
           a->time == b->time && a->abstains == b->abstains && a->max_ttl_ms == b->max_ttl_ms &&
           a->age == b->age && a->clock == b->clock;
}

/* A link takes no more than this for what is left. */
#define LEFT_MOST ((INT64_C(1) << 53) / 1000)

static bool same_left(int64_t told, int64_t said)
{
    return told == (said > LEFT_MOST ? LEFT_MOST : said);
}

static bool same_said(struct said told, struct said said)
{
    return told.term == said.term && told.number == said.number &&
           told.remaining_ms == said.remaining_ms && slices_are_same(told.token, said.token) &&
           slices_are_same(told.value, said.value);
}

static bool same_heed(const struct heed_reply *told, const struct heed_reply *said)
{
    return slices_are_same(told->value, said->value) && told->remaining_ms == said->remaining_ms &&
           told->waiting == said->waiting && told->heeding == said->heeding;
}

static bool same_slots(struct slots_reply told, struct slots_reply said)
{
    return told.free_slot == said.free_slot && told.next_slot == said.next_slot;
}

static bool same_queue(const struct queue_reply *told, const struct queue_reply *said)
{
    return told->position == said->position && same_slots(told->slots, said->slots) &&
           told->foreign == said->foreign && same_left(told->remaining_ms, said->remaining_ms);
}

static bool same_peek(const struct peek_reply *told, const struct peek_reply *said)
{
    return slices_are_same(told->value, said->value) && told->reading == said->reading &&
           told->permits == said->permits && told->waiting == said->waiting &&
           same_left(told->remaining_ms, said->remaining_ms);
}

static bool same_barrier(const struct barrier_reply *told, const struct barrier_reply *said)
{
    return told->parties == said->parties && told->counted == said->counted &&
           slices_are_same(told->tokens, said->tokens) && told->latest == said->latest;
}

static bool same_latch(const struct latch_reply *told, const struct latch_reply *said)
{
    return told->ends_ms == said->ends_ms && told->remaining_ms == said->remaining_ms &&
           told->age == said->age && told->arrivals == said->arrivals &&
           slices_are_same(told->id, said->id) && slices_are_same(told->arrived, said->arrived);
}

/* The parts of the answer that its kind has. */
static bool same_details(const struct reply *told, const struct reply *said)
{
    switch (said->tag.kind) {
    case REQUEST_HELLO:
    case REQUEST_ADOPT:
        return said->answer != ANSWER_HELLO || same_hello(told->hello, said->hello);
    case REQUEST_GRANT:
        return same_slots(told->grant, said->grant);
    case REQUEST_QUEUE:
        return same_queue(&told->queue, &said->queue);
    case REQUEST_RENEW:
        return said->answer != ANSWER_LATE || told->master_time == said->master_time;
    case REQUEST_PEEK:
        return said->answer != ANSWER_HELD || same_peek(&told->peek, &said->peek);
    case REQUEST_ASK:
        return said->answer != ANSWER_HELD || same_heed(&told->heed, &said->heed);
    case REQUEST_OBSERVE:
        return same_said(told->said, said->said);
    case REQUEST_ARRIVE:
    case REQUEST_DEPART:
        return same_barrier(&told->barrier, &said->barrier);
    case REQUEST_TALLY:
    case REQUEST_MEND:
        return same_latch(&told->latch, &said->latch);
    default:
        return true;
    }
}

static bool same_reply(const struct reply *told, const struct reply *said)
{
    bool same_error = said->answer != ANSWER_ERROR || slices_are_same(told->text, said->text);
    return told->answer == said->answer && told->clock == said->clock && same_error &&
           same_details(told, said);
}

static void hear(struct peer *peer, const struct reply *told)
{
    struct shell *s = peer->shell;
    struct message *message = queue_take(&peer->answered);
    struct hello hello;
    struct reply said;
    if (!message || message->said_until > peer->bad_from) {
        peer_violated(peer, "hears what no master said");
        return;
    }
    exchange_read(s->world, message, &told->tag, &hello, &said);
    hello.client_id = requests_of(peer)->conn->id;
    if (message->call.kind != told->tag.kind || !same_reply(told, &said))
        peer_violated(peer, "hears something else than the master said");
    exchange_hear(s, peer->master, message, &said);
    message_free(s->world, message);
}

static void reply_comes(struct peer *peer, const struct reply *reply)
{
    if (!requests_of(peer)->first) {
        peer_violated(peer, "hears of a request that it does not wait for");
        return;
    }
    struct tag tag = exchange_expected(peer->shell, peer->master);
    if (!same_tag(&tag, &reply->tag))
        peer_violated(peer, "hears the answer to another request");
    if (requests_of(peer)->expected != link_in_flight(peer->link))
        peer_violated(peer, "counts other requests in flight than there are");
    if (reply->answer != ANSWER_LOST)
        hear(peer, reply);
    else if (peer->open)
        peer_violated(peer, "hears that a request is lost, and goes on");
}

/* ---- notifications ------------------------------------------------------------------------- */

static bool says_of_the_same(const struct peer *peer, const struct utterance *said,
                             const struct push *push)
{
    struct push meant;
    exchange_spell_push(peer->shell, &said->heard, &meant);
    return push->name.bytes && slices_are_same(push->name, meant.name) &&
           same_said(push->said, meant.said);
}

static bool says_the_same(const struct peer *peer, const struct utterance *said,
                          const struct event *event)
{
    char run_id[RUN_ID_TEXT];
    exchange_spell_run_id(run_id, said->heard.run_id);
    if (said->heard.kind != event->kind)
        return false;
    if (event->kind == EVENT_SUBSCRIBED)
        return strcmp(event->text, run_id) == 0;
    if (event->kind == EVENT_PUSH && said->heard.says)
        return says_of_the_same(peer, said, event->push);
    const char *token = peer->shell->world->tokens[said->heard.token].text;
    return event->kind != EVENT_PUSH || (event->push->clock == said->heard.clock &&
                                         event->push->free_slot == said->heard.free_slot &&
                                         slices_are_same(event->push->token, slice_of(token)));
}

static void notification_comes(struct peer *peer, const struct event *event)
{
    struct utterance *said = peer->first;
    if (!said || said->until > peer->bad_from || !says_the_same(peer, said, event)) {
        peer_violated(peer, "is notified of what no master said");
        return;
    }
    if (event->kind == EVENT_PUSH)
        TRACE(peer->shell->world, "  client %u hears from master %u that t%u was given it%s",
              peer->shell->index + 1, peer->master + 1, said->heard.token,
              clock_text(said->heard.clock));
    if (event->kind == EVENT_PUSH && said->heard.says)
        wishes_pushed(peer->shell, peer->master, &said->heard);
    peer->first = said->next;
    free(said);
}

/* ---- all events ------------------------------------------------------------------------------ */

static void connection_ends(struct peer *peer)
{
    struct shell *s = peer->shell;
    if (peer->subscribed) {
        s->subscribed &= ~(1U << peer->master);
        return;
    }
    requests_of(peer)->phase = LINK_CLOSED;
    TRACE(s->world, "  client %u has lost its connection to master %u", s->index + 1,
          peer->master + 1);
}

static void deliver(void *owner, usec now, const struct event *event)
{
    struct peer *peer = owner;
    struct shell *s = peer->shell;
    if (event->kind == EVENT_CONNECTED)
        requests_of(peer)->phase = LINK_UP;
    else if (event->kind == EVENT_REPLY)
        reply_comes(peer, event->reply);
    else if (event->kind == EVENT_CLOSED)
        connection_ends(peer);
    else
        notification_comes(peer, event);
    if (s->world->violation.rule)
        return;
    s->world->events++;
    peer->owner.deliver(peer->owner.owner, now, event);
    check_step(s);
    if (peer->subscribed)
        check_heard_now(s);
    if (event->kind == EVENT_PUSH)
        check_came(s, peer->master, peer->open);
}

/* The link has passed on all that was read as a whole, unless the connection has ended. */
void watch_told(struct peer *peer)
{
    const struct message *message = peer->answered.first;
    const struct utterance *said = peer->first;
    if (!peer->open)
        return;
    size_t read = peer->in.read < peer->bad_from ? peer->in.read : peer->bad_from;
    if (peer->bad_until <= peer->in.read)
        peer_violated(peer, "goes on after bytes that are no reply");
    else if ((message && message->said_until <= read) || (said && said->until <= read))
        peer_violated(peer, "has read what the master said, and does not tell it");
}

/* ---- the calls ---------------------------------------------------------------------------------
 */

REAL(struct link *, link_new, struct io_loop *loop, const struct address *address,
     const char *client_name, struct link_owner owner)
{
    struct shell *s = (struct shell *)(void *)loop; /* what redlock_open() was given */
    struct peer *peer = peer_new(s, owner);
    check_address(s, owner.master, address);
    peer->link = __real_link_new(loop, address, client_name,
                                 (struct link_owner){deliver, peer, owner.master});
    return peer->link;
}

REAL(void, link_connect, struct link *link)
{
    struct peer *peer = peer_connecting = peer_of(link);
    struct shell_link *it = requests_of(peer);
    it->phase = LINK_CONNECTING;
    it->greeted = false;
    __real_link_connect(link);
}

REAL(void, link_subscribe, struct link *link, const char *channel)
{
    struct peer *peer = peer_connecting = peer_of(link);
    struct shell *s = peer->shell;
    peer->subscribed = true;
    s->subscribed |= 1U << peer->master;
    check_may_come(s, peer->master, MESSAGES_LEAST);
    __real_link_subscribe(link, channel);
}

REAL(void, link_send, struct link *link, const struct request *request)
{
    struct peer *peer = peer_of(link);
    struct shell *s = peer->shell;
    struct shell_link *it = requests_of(peer);
    struct request sent = *request;
    exchange_expect(s, peer->master, &request->tag);
    if (request_brings_pushes(request->tag.kind))
        check_may_come(s, peer->master,
                       request->tag.kind == REQUEST_QUEUE ? 1U + request->queue.permits
                                                          : SAID_AT_MOST);
    if (it->phase == LINK_UP) {
        struct message *message = exchange_ask(s, peer->master, request);
        if (sent.tag.kind == REQUEST_GRANT || sent.tag.kind == REQUEST_UPGRADE)
            sent.grant.proposal = message->call.proposal;
        queue_add(&it->output, message);
    }
    __real_link_send(link, &sent);
}

REAL(void, link_flush, struct link *link)
{
    struct peer *peer = peer_of(link);
    struct shell_link *it = requests_of(peer);
    struct message *message;
    if (!peer->subscribed && it->phase == LINK_UP && it->output.first) {
        check_flushed(peer->shell, peer->master);
        while ((message = queue_take(&it->output)))
            queue_add(&peer->flushed, message);
    }
    __real_link_flush(link);
}

REAL(bool, link_read, struct link *link)
{
    bool any = __real_link_read(link);
    watch_told(peer_of(link));
    return any;
}

REAL(void, link_free, struct link *link)
{
    struct peer *peer = peer_of(link);
    struct shell *s = peer->shell;
    __real_link_free(link);
    if (peer->subscribed) {
        s->subscribed &= ~(1U << peer->master);
    } else {
        while (requests_of(peer)->first)
            exchange_expected(s, peer->master);
        requests_of(peer)->phase = LINK_CLOSED;
    }
    peer_free(peer);
}

void links_read(struct shell *s)
{
    struct peer *all[2 * MASTERS_MAX];
    unsigned count = 0;
    for (struct peer *peer = s->peers; peer; peer = peer->next)
        all[count++] = peer;
    while (count) /* in the order in which they were made */
        socket_serve(all[--count]);
}
