/*
 * model_link.c - lib/io/link.h on modelled connections.  One link of a client to a master carries
 * requests, the other one notifications.
 */
#include "link.h"

#include <stdlib.h>
#include <string.h>

#include "client_rules.h"
#include "exchange.h"
#include "invariants.h"
#include "links.h"
#include "recipe_users.h"
#include "rules.h"
#include "trace.h"

const struct links_kind links_kind = {
    .program = "redlock-sim", .login = "", .database = "", .has_lists = true};

struct link {
    struct link *next; /* of this client */
    struct shell *shell;
    struct link_owner owner; /* its master is an entry of the client's list, */
    unsigned server;         /* and this is the same one's number in the world */
    bool subscribed;
    enum link_phase heard; /* as a subscription: UP, ENDING or CLOSED */
    bool asked;            /* likewise: told to end */
};

static struct shell_link *requests_of(const struct link *link)
{
    return &link->shell->links[link->server];
}

static void deliver(struct link *link, const struct event *event)
{
    link->shell->world->events++;
    link->owner.deliver(link->owner.owner, shell_now(link->shell), event);
    check_step(link->shell);
    if (link->subscribed)
        check_heard_now(link->shell);
}

/* ---- beginning ------------------------------------------------------------------- */

struct link *link_new(struct io_loop *loop, const struct address *address, const char *client_name,
                      struct link_owner owner)
{
    (void)client_name;
    struct shell *s = (struct shell *)(void *)loop; /* what redlock_open() was given */
    struct link *link = calloc(1, sizeof *link);
    *link = (struct link){
        .next = s->links_made, .shell = s, .owner = owner, .server = s->servers[owner.master]};
    s->links_made = link;
    check_address(s, owner.master, address);
    return link;
}

void link_connect(struct link *link)
{
    struct shell *s = link->shell;
    struct shell_link *it = requests_of(link);
    it->phase = LINK_CONNECTING;
    it->asked = it->greeted = false;
    it->conn = conn_new(s, s->index, link->server);
}

void link_subscribe(struct link *link, const char *channel)
{
    struct shell *s = link->shell;
    link->subscribed = true;
    link->heard = LINK_UP;
    link->asked = false;
    s->subscribed |= 1U << link->server;
    check_may_come(s, link->server, MESSAGES_LEAST);
    if (strcmp(channel, s->client->engine->config.channel) != 0)
        world_violated(s->world, "notify", "client %u subscribes to another channel", s->index + 1);
    subscription_open(s, link->server);
}

void link_probe(struct link *link)
{
    subscription_probe(link->shell, link->server);
}

/* ---- requests ----------------------------------------------------------------------- */

void link_send(struct link *link, const struct request *request)
{
    struct shell *s = link->shell;
    struct shell_link *it = requests_of(link);
    unsigned master = link->server;
    exchange_expect(s, master, &request->tag);
    if (request_brings_pushes(request->tag.kind))
        check_may_come(s, master,
                       request->tag.kind == REQUEST_QUEUE ? 1U + request->queue.permits
                                                          : SAID_AT_MOST);
    if (it->phase != LINK_UP)
        return;
    struct message *message = exchange_ask(s, master, request);
    queue_add(&it->output, message);
}

void link_flush(struct link *link)
{
    if (link->subscribed)
        return;
    struct shell_link *it = requests_of(link);
    struct message *message;
    if (it->phase == LINK_UP && it->output.first)
        check_flushed(link->shell, link->server);
    while (it->phase == LINK_UP && (message = queue_take(&it->output))) {
        if (message->call.kind == REQUEST_RENEW)
            tokens_not_left(link->shell, message->call.value, message->claim,
                            "writes a renewal of");
        conn_send(it->conn, message);
    }
}

/* ---- replies -------------------------------------------------------------------------- */

static bool deliver_reply(struct link *link)
{
    struct shell *s = link->shell;
    struct shell_link *it = requests_of(link);
    unsigned master = link->server;
    struct message *message = queue_take(&it->conn->readable);
    if (!message)
        return false;
    struct tag tag = exchange_expected(s, master);
    struct hello hello;
    struct reply reply;
    exchange_read(s->world, message, &tag, &hello, &reply);
    if (tag.kind == REQUEST_HELLO)
        hello.client_id = it->conn->id;
    exchange_hear(s, master, message, &reply);
    message_free(s->world, message);
    deliver(link,
            &(struct event){.kind = EVENT_REPLY, .master = link->owner.master, .reply = &reply});
    return true;
}

static void leave(struct shell *s, struct shell_link *it)
{
    if (it->conn)
        conn_leave(it->conn);
    it->conn = NULL;
    struct message *message;
    while ((message = queue_take(&it->output)))
        message_free(s->world, message);
    it->phase = LINK_ENDING;
}

static bool read_requests(struct link *link)
{
    struct shell_link *it = requests_of(link);
    bool any = false;
    if (it->phase == LINK_CONNECTING && it->conn->established) {
        it->phase = LINK_UP;
        any = true;
        deliver(link, &(struct event){.kind = EVENT_CONNECTED, .master = link->owner.master});
    }
    while (it->phase == LINK_UP && deliver_reply(link))
        any = true;
    if ((it->phase == LINK_UP || it->phase == LINK_CONNECTING) && it->conn->broken)
        leave(link->shell, it);
    return any;
}

/* ---- notifications ---------------------------------------------------------------------- */

static void deliver_heard(struct link *link, const struct heard *heard)
{
    struct shell *s = link->shell;
    unsigned master = link->server;
    char token[TOKEN_TEXT + 1], run_id[RUN_ID_TEXT];
    struct push push = {
        .token = {token, TOKEN_TEXT}, .clock = heard->clock, .free_slot = heard->free_slot};
    if (heard->kind == EVENT_PUSH && heard->says) {
        wishes_pushed(s, master, heard);
        exchange_spell_push(s, heard, &push);
    } else if (heard->kind == EVENT_PUSH) {
        memcpy(token, s->world->tokens[heard->token].text, sizeof token);
        TRACE(s->world, "  client %u hears from master %u that t%u %s%s", s->index + 1, master + 1,
              heard->token, heard->free_slot < 0 ? "was given it" : "may have another slot",
              clock_text(heard->clock));
    }
    if (heard->kind == EVENT_SUBSCRIBED)
        deliver(link, &(struct event){.kind = EVENT_CONNECTED, .master = link->owner.master});
    exchange_spell_run_id(run_id, heard->run_id);
    deliver(link,
            &(struct event){
                .kind = heard->kind, .master = link->owner.master, .push = &push, .text = run_id});
    if (heard->kind == EVENT_PUSH)
        check_came(s, master, link->heard == LINK_UP);
}

static bool read_notifications(struct link *link)
{
    struct heard heard;
    bool any = false;
    while (link->heard == LINK_UP && subscription_read(link->shell, link->server, &heard)) {
        if (heard.kind == EVENT_UNSUBSCRIBED) {
            link->heard = LINK_ENDING;
        } else {
            any = true;
            deliver_heard(link, &heard);
        }
    }
    return any;
}

bool link_read(struct link *link)
{
    return link->subscribed ? read_notifications(link) : read_requests(link);
}

void links_read(struct shell *s)
{
    struct link *lists[2 * MASTERS_MAX];
    unsigned count = 0;
    for (struct link *link = s->links_made; link; link = link->next)
        lists[count++] = link;
    while (count) /* in the order in which they were made */
        link_read(lists[--count]);
}

/* ---- ends ----------------------------------------------------------------------------------- */

static const char broke[] = "the connection broke";

static void close_requests(struct shell *s, struct shell_link *it)
{
    if (it->phase == LINK_CLOSED || it->phase == LINK_ENDING)
        return;
    it->asked = true;
    leave(s, it);
}

void link_close(struct link *link)
{
    if (!link->subscribed) {
        close_requests(link->shell, requests_of(link));
    } else if (link->heard == LINK_UP) {
        subscription_close(link->shell, link->server);
        link->asked = true;
        link->heard = LINK_ENDING;
    }
}

static void lose_requests(struct link *link, struct shell_link *it)
{
    while (it->first) {
        struct reply lost = {.tag = exchange_expected(link->shell, link->server),
                             .answer = ANSWER_LOST,
                             .text = {broke, sizeof broke - 1}};
        deliver(link,
                &(struct event){.kind = EVENT_REPLY, .master = link->owner.master, .reply = &lost});
    }
}

bool link_breaks(const struct link *link)
{
    return (link->subscribed ? link->heard : requests_of(link)->phase) == LINK_ENDING;
}

bool link_pump(struct link *link)
{
    struct shell_link *it = requests_of(link);
    unsigned master = link->server;
    bool asked = link->subscribed ? link->asked : it->asked;
    if (!link_breaks(link))
        return false;
    if (link->subscribed) {
        link->heard = LINK_CLOSED;
        link->shell->subscribed &= ~(1U << master);
    } else {
        lose_requests(link, it);
        it->phase = LINK_CLOSED;
        TRACE(link->shell->world, "  client %u has lost its connection to master %u",
              link->shell->index + 1, master + 1);
    }
    deliver(link, &(struct event){.kind = EVENT_CLOSED,
                                  .master = link->owner.master,
                                  .text = asked ? NULL : broke});
    return true;
}

const struct link_counters *link_counters(const struct link *link)
{
    static const struct link_counters none;
    (void)link;
    return &none;
}

const char *link_trouble(const struct link *link)
{
    (void)link;
    return NULL;
}

bool link_was_denied(const struct link *link)
{
    (void)link;
    return false;
}

const struct tls_facts *link_tls(const struct link *link)
{
    (void)link;
    return NULL;
}

unsigned link_in_flight(const struct link *link)
{
    return link->subscribed ? 0 : requests_of(link)->expected;
}

void link_free(struct link *link)
{
    struct shell *s = link->shell;
    if (link->subscribed) {
        subscription_close(s, link->server);
        s->subscribed &= ~(1U << link->server);
    } else {
        struct shell_link *it = requests_of(link);
        if (it->phase == LINK_UP || it->phase == LINK_CONNECTING)
            leave(s, it);
        while (it->first)
            exchange_expected(s, link->server);
        it->phase = LINK_CLOSED;
    }
    struct link **at = &s->links_made;
    while (*at != link)
        at = &(*at)->next;
    *at = link->next;
    free(link);
}
