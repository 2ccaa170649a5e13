#include "model_link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client_rules.h"
#include "invariants.h"
#include "mutants.h"
#include "trace.h"
#include "user_lease.h"

struct link {
    struct link *next; /* of this client */
    struct shell *shell;
    struct link_owner owner;
    bool listens;
    enum link_phase heard; /* as a listener: UP, ENDING or CLOSED */
    bool asked;            /* likewise: told to end */
};

static struct shell_link *requests_of(const struct link *link)
{
    return &link->shell->links[link->owner.master];
}

static void deliver(struct link *link, const struct event *event)
{
    link->shell->world->events++;
    link->owner.deliver(link->owner.owner, event);
    check_step(link->shell);
}

/* ---- beginning ------------------------------------------------------------------- */

struct link *link_new(struct ev_loop *loop, const struct address *address, const char *client_name,
                      struct link_owner owner)
{
    (void)client_name;
    struct shell *s = (struct shell *)(void *)loop; /* what redlock_open() was given */
    struct link *link = calloc(1, sizeof *link);
    *link = (struct link){.next = s->links_made, .shell = s, .owner = owner};
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
    it->conn = conn_new(s, s->index, link->owner.master);
}

void link_listen(struct link *link, const char *channel)
{
    struct shell *s = link->shell;
    link->listens = true;
    link->heard = LINK_UP;
    link->asked = false;
    s->listens |= 1U << link->owner.master;
    check_may_come(s, link->owner.master, true);
    if (strcmp(channel, s->client->engine->config.channel) != 0)
        world_violated(s->world, "notify", "client %u listens to another channel", s->index + 1);
    subscription_open(s, link->owner.master);
}

void link_probe(struct link *link)
{
    subscription_probe(link->shell, link->owner.master);
}

/* ---- requests ----------------------------------------------------------------------- */

static void expect(struct shell *s, struct shell_link *link, const struct tag *tag)
{
    struct pending *pending = s->spare;
    if (pending)
        s->spare = pending->next;
    else
        pending = malloc(sizeof *pending);
    *pending = (struct pending){.tag = *tag};
    if (link->first)
        link->last->next = pending;
    else
        link->first = pending;
    link->last = pending;
    link->expected++;
}

static struct tag expected(struct shell *s, struct shell_link *link)
{
    struct pending *pending = link->first;
    struct tag tag = pending->tag;
    link->first = pending->next;
    link->expected--;
    pending->next = s->spare;
    s->spare = pending;
    return tag;
}

static void fill_call(struct shell *s, struct message *message, const struct request *request)
{
    message->login = false;
    message->kill_id = request->kill_id;
    message->sent_local = request->tag.sent_at;
    message->longest_ttl_ms = s->client->engine->max_ttl_ms;
    message->call = (struct model_call){
        .kind = request->tag.kind,
        .whole = request->whole,
        .heal = request->heal,
        .ttl_ms = request->ttl_ms,
        .not_after = request->not_after,
        .proposal = request->proposal ? request->proposal + s->proposals_off : 0,
        .fence = request->fence,
        .ticket = request->ticket,
        .channel = s->channel,
        .terms = request->terms};
    struct model_call *call = &message->call;
    if (request->names) {
        call->count = (uint8_t)request->names->count;
        for (unsigned i = 0; i < call->count; i++)
            call->names[i] = check_name(s, names_at(request->names, i));
    }
    if (request->token_length && request->token[0])
        call->value = world_token(s->world, request->token, request->token_length);
}

/* The mutant that sends a release on a connection of its own. */
static void send_aside(struct shell *s, unsigned master, struct message *message)
{
    struct model_answer answer;
    net_execute(s->world, master, &message->call, &answer);
    message->call.value = UINT32_MAX; /* nothing is left for this one to do */
}

void link_send(struct link *link, const struct request *request)
{
    struct shell *s = link->shell;
    struct shell_link *it = requests_of(link);
    unsigned master = link->owner.master;
    expect(s, it, &request->tag);
    if (request->tag.kind == REQUEST_QUEUE)
        check_may_come(s, master, false);
    if (it->phase != LINK_UP)
        return;
    struct message *message = message_new(s->world);
    fill_call(s, message, request);
    if (request->tag.kind == REQUEST_HELLO && !it->greeted)
        it->greeted = message->login = true;
    check_sent(s, master, message, request);
    TRACE(s->world, "  client %u sends %s %s t%u%s%s to master %u", s->index + 1,
          request_name(request->tag.kind), names_text(message->call.names, message->call.count),
          message->call.value, request->heal ? " (heal)" : "", request->whole ? " (whole)" : "",
          master + 1);
    if (MUTANT(RELEASE_OVERTAKES) && request->tag.kind == REQUEST_RELEASE)
        send_aside(s, master, message);
    queue_add(&it->output, message);
}

void link_flush(struct link *link)
{
    if (link->listens)
        return;
    struct shell_link *it = requests_of(link);
    struct message *message;
    if (it->phase == LINK_UP && it->output.first)
        check_flushed(link->shell, link->owner.master);
    while (it->phase == LINK_UP && (message = queue_take(&it->output)))
        conn_send(it->conn, message);
}

/* ---- replies -------------------------------------------------------------------------- */

#define RUN_ID_TEXT 20

static void spell_run_id(char text[RUN_ID_TEXT], uint64_t run_id)
{
    snprintf(text, RUN_ID_TEXT, "%016llx", (unsigned long long)run_id);
}

static int64_t remaining(int64_t pttl)
{
    return pttl == -1 ? -2 : pttl == -2 ? -1 : pttl;
}

static void fill_hello(const struct model_answer *answer, struct hello *hello)
{
    *hello = (struct hello){.role = "master",
                            .version = "7.0.15",
                            .uptime_s = answer->uptime_s,
                            .time = answer->time,
                            .abstains = answer->abstains,
                            .max_ttl_ms = answer->max_ttl_ms,
                            .age = answer->age,
                            .clock = answer->clock};
    spell_run_id(hello->run_id, answer->run_id);
}

static bool are_all_foreign(const struct world *w, const struct model_answer *answer)
{
    bool all = answer->holder_count > 0;
    for (unsigned i = 0; i < answer->holder_count; i++)
        all &= w->tokens[answer->holders[i]].foreign;
    return all;
}

static void fill_reply(const struct world *w, const struct message *message, const struct tag *tag,
                       struct hello *hello, struct reply *reply)
{
    const struct model_answer *answer = &message->answer;
    *reply = (struct reply){.tag = *tag,
                            .answer = answer->answer,
                            .remaining_ms = -1,
                            .master_time = answer->time,
                            .clock = tag->kind == REQUEST_HELLO ? 0 : answer->clock,
                            .position = answer->position,
                            .text = answer->error};
    if (answer->error)
        reply->text_length = strlen(answer->error);
    if (answer->answer == ANSWER_HELD && tag->kind == REQUEST_PEEK) {
        reply->remaining_ms = answer->remaining_ms == -1 ? -2 : answer->remaining_ms;
        reply->text = w->tokens[answer->value].text;
        reply->text_length = strlen(reply->text);
    }
    if (answer->answer == ANSWER_QUEUED) {
        reply->foreign = are_all_foreign(w, answer) != answer->belies_holder;
        reply->remaining_ms = remaining(answer->remaining_ms);
    }
    if (answer->answer == ANSWER_HELLO) {
        fill_hello(answer, hello);
        reply->hello = hello;
    }
}

static bool deliver_reply(struct link *link)
{
    struct shell *s = link->shell;
    struct shell_link *it = requests_of(link);
    unsigned master = link->owner.master;
    struct message *message = queue_take(&it->conn->readable);
    if (!message)
        return false;
    struct tag tag = expected(s, it);
    struct hello hello;
    struct reply reply;
    fill_reply(s->world, message, &tag, &hello, &reply);
    if (message->login)
        hello.client_id = it->conn->id;
    check_heard(s, master, message);
    TRACE(s->world, "  client %u hears from master %u: %s %s t%u: %s", s->index + 1, master + 1,
          request_name(tag.kind), names_text(message->call.names, message->call.count),
          message->call.value, answer_name(reply.answer));
    message_free(s->world, message);
    deliver(link, &(struct event){.kind = EVENT_REPLY, .master = master, .reply = &reply});
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
    unsigned master = link->owner.master;
    char token[TOKEN_TEXT + 1], run_id[RUN_ID_TEXT];
    struct push push = {.token = token, .token_length = TOKEN_TEXT, .clock = heard->clock};
    if (heard->kind == EVENT_PUSH) {
        memcpy(token, s->world->tokens[heard->token].text, sizeof token);
        TRACE(s->world, "  client %u is told by master %u that t%u was given it%s", s->index + 1,
              master + 1, heard->token, clock_text(heard->clock));
    }
    if (heard->kind == EVENT_SUBSCRIBED)
        deliver(link, &(struct event){.kind = EVENT_CONNECTED, .master = master});
    spell_run_id(run_id, heard->run_id);
    deliver(link,
            &(struct event){.kind = heard->kind, .master = master, .push = &push, .text = run_id});
    if (heard->kind == EVENT_PUSH)
        check_came(s, master, link->heard == LINK_UP);
}

static bool read_notifications(struct link *link)
{
    struct heard heard;
    bool any = false;
    while (link->heard == LINK_UP && subscription_read(link->shell, link->owner.master, &heard)) {
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
    return link->listens ? read_notifications(link) : read_requests(link);
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
    if (!link->listens) {
        close_requests(link->shell, requests_of(link));
    } else if (link->heard == LINK_UP) {
        subscription_close(link->shell, link->owner.master);
        link->asked = true;
        link->heard = LINK_ENDING;
    }
}

static void lose_requests(struct link *link, struct shell_link *it)
{
    while (it->first) {
        struct reply lost = {.tag = expected(link->shell, it),
                             .answer = ANSWER_LOST,
                             .remaining_ms = -1,
                             .text = broke,
                             .text_length = sizeof broke - 1};
        deliver(link,
                &(struct event){.kind = EVENT_REPLY, .master = link->owner.master, .reply = &lost});
    }
}

bool link_breaks(const struct link *link)
{
    return (link->listens ? link->heard : requests_of(link)->phase) == LINK_ENDING;
}

bool link_pump(struct link *link)
{
    struct shell_link *it = requests_of(link);
    unsigned master = link->owner.master;
    bool asked = link->listens ? link->asked : it->asked;
    if (!link_breaks(link))
        return false;
    if (link->listens) {
        link->heard = LINK_CLOSED;
        link->shell->listens &= ~(1U << master);
    } else {
        lose_requests(link, it);
        it->phase = LINK_CLOSED;
        TRACE(link->shell->world, "  client %u has lost its connection to master %u",
              link->shell->index + 1, master + 1);
    }
    deliver(link,
            &(struct event){.kind = EVENT_CLOSED, .master = master, .text = asked ? NULL : broke});
    return true;
}

const struct link_counters *link_counters(const struct link *link)
{
    static const struct link_counters none;
    (void)link;
    return &none;
}

unsigned link_in_flight(const struct link *link)
{
    return link->listens ? 0 : requests_of(link)->expected;
}

void link_free(struct link *link)
{
    struct shell *s = link->shell;
    if (link->listens) {
        subscription_close(s, link->owner.master);
        s->listens &= ~(1U << link->owner.master);
    } else {
        struct shell_link *it = requests_of(link);
        if (it->phase == LINK_UP || it->phase == LINK_CONNECTING)
            leave(s, it);
        while (it->first)
            expected(s, it);
        it->phase = LINK_CLOSED;
    }
    struct link **at = &s->links_made;
    while (*at != link)
        at = &(*at)->next;
    *at = link->next;
    free(link);
}
