/*
 * master_end.c - the master's side of a connection: reads the commands that the link wrote, sends
 * them on their way through the modelled network, and says what is answered, in bytes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "answer_writer.h"
#include "command_reader.h"
#include "exchange.h"
#include "malformed.h"
#include "peer.h"
#include "subscription.h"
#include "trace.h"

#define BAD     4   /* per mille of the answers that are malformed, or end the connection */
#define REFUSED 500 /* per mille of the failed logins of which the password is the reason */
#define NOPERM  20  /* per mille of the subscriptions that are refused */

/* ---- commands ------------------------------------------------------------------------------- */

static bool same_names(const struct model_call *a, const struct model_call *b)
{
    return a->count == b->count && memcmp(a->names, b->names, a->count) == 0;
}

static bool same_terms(const struct quarantine_terms *a, const struct quarantine_terms *b)
{
    return a->max_ttl_ms == b->max_ttl_ms && a->drift_ppm == b->drift_ppm &&
           a->skew_ms == b->skew_ms && a->trust == b->trust;
}

/* What was read is what the core asked for, in all that its kind has. */
static bool same_call(const struct model_call *read, const struct model_call *meant)
{
    enum request_kind kind = meant->kind;
    if (read->kind != kind || !same_names(read, meant) ||
        (request_carries_token(kind) && read->value != meant->value))
        return false;
    switch (kind) {
    case REQUEST_HELLO:
    case REQUEST_ADOPT:
        return same_terms(&read->terms, &meant->terms);
    case REQUEST_ACQUIRE:
        return read->ttl_ms == meant->ttl_ms;
    case REQUEST_GRANT:
        return read->ttl_ms == meant->ttl_ms && read->proposal == meant->proposal;
    case REQUEST_RAISE:
        return read->fence == meant->fence;
    case REQUEST_QUEUE:
        return read->ttl_ms == meant->ttl_ms && read->ticket == meant->ticket &&
               read->channel == meant->channel;
    case REQUEST_RENEW:
        return read->ttl_ms == meant->ttl_ms && read->heal == meant->heal &&
               read->not_after == meant->not_after;
    default:
        return true;
    }
}

/* A master that forgot a script needs its text.  (Whole batches are the link's own matter.) */
static bool brings_its_script(const struct model_call *read, const struct model_call *meant)
{
    bool has_none = meant->kind == REQUEST_ACQUIRE && meant->count == 1;
    return read->whole || !meant->whole || has_none || !request_is_about_names(meant->kind);
}

static struct message *next_flushed(struct peer *peer)
{
    struct message *message = queue_take(&peer->flushed);
    return message ? message : queue_take(&peer->shell->links[peer->master].output);
}

static struct message *carry(struct peer *peer, const struct asked *asked, unsigned index)
{
    const struct model_call *call = &asked->calls[index];
    struct message *message = next_flushed(peer);
    if (!message) {
        peer_violated(peer, "writes a command that nobody asked for");
        return NULL;
    }
    if (!same_call(call, &message->call) || !brings_its_script(call, &message->call) ||
        (call->kind == REQUEST_KILL && message->kill_id != asked->kill_id))
        peer_violated(peer, "writes something else than was asked for");
    uint32_t token = message->call.value;
    message->call = *call;
    if (!request_carries_token(call->kind)) /* a request may be about one all the same */
        message->call.value = token;
    message->kill_id = asked->kill_id;
    return message;
}

/* As its URI has it: every other master, from the first on, has a password. */
static bool has_login(const struct peer *peer)
{
    return peer->greeting.logins == (peer->master % 2 ? 0 : 1);
}

/* The login comes before the first hello, and nowhere else. */
static void check_login(const struct peer *peer, const struct message *message)
{
    const struct greeting *greeting = &peer->greeting;
    bool whole = has_login(peer) && greeting->databases == greeting->logins &&
                 greeting->names == 1 && greeting->ids == 1 && greeting->loads == SCRIPTS_LOADED;
    bool none = !greeting->logins && !greeting->databases && !greeting->names && !greeting->ids &&
                !greeting->loads;
    if (message->login ? !whole : !none)
        peer_violated(peer, "does not log in as it should");
}

static void take_requests(struct peer *peer, const struct asked *asked)
{
    struct message *first = NULL, **last = &first;
    for (unsigned i = 0; i < asked->count; i++) {
        *last = carry(peer, asked, i);
        if (!*last)
            return;
        last = &(*last)->shares;
    }
    check_login(peer, first);
    if (first->login)
        peer->said_first = peer->greeting;
    peer->greeting = (struct greeting){0};
    conn_send(peer_conn(peer), first);
}

static void take_subscription(struct peer *peer, const struct asked *asked)
{
    const char *channel = peer->shell->client->engine->config.channel;
    bool same = asked->word.length == strlen(channel) &&
                memcmp(asked->word.bytes, channel, asked->word.length) == 0;
    if (!same || !has_login(peer) || peer->greeting.databases || peer->greeting.names != 1 ||
        !peer->greeting.info)
        peer_violated(peer, "does not subscribe as it should");
    peer->said_first = peer->greeting;
    subscription_open(peer->shell, peer->master);
}

static void take(struct peer *peer, const struct words *words)
{
    struct asked asked;
    struct greeting *greeting = &peer->greeting;
    command_read(peer->shell, words, &asked);
    bool fits = peer->listens;
    switch (asked.asks) {
    case ASKS_NONSENSE:
        fits = false;
        break;
    case ASKS_REQUESTS:
        fits = !fits;
        if (fits)
            take_requests(peer, &asked);
        break;
    case ASKS_LOGIN:
        fits = true;
        greeting->logins++;
        break;
    case ASKS_DATABASE:
        fits = !fits;
        greeting->databases++;
        break;
    case ASKS_NAME:
        fits = true;
        greeting->names++;
        break;
    case ASKS_ID:
        fits = !fits;
        greeting->ids++;
        break;
    case ASKS_LOAD:
        fits = !fits && greeting->loads < SCRIPTS_LOADED;
        if (fits)
            greeting->hashes[greeting->loads++] = asked.hash;
        break;
    case ASKS_INFO:
        greeting->info = true;
        break;
    case ASKS_SUBSCRIBE:
        if (fits)
            take_subscription(peer, &asked);
        break;
    case ASKS_PING:
        if (fits)
            subscription_probe(peer->shell, peer->master);
    }
    if (!fits)
        peer_violated(peer, "writes what no master understands");
}

void master_reads(struct peer *peer, const char *bytes, size_t length)
{
    struct words words;
    ssize_t taken;
    size_t from = 0;
    buffer_append(&peer->out, bytes, length);
    while ((taken = words_read(&words, peer->out.data + from, peer->out.length - from)) > 0) {
        take(peer, &words);
        from += (size_t)taken;
    }
    if (taken < 0)
        peer_violated(peer, "writes bytes that are no command");
    buffer_consume(&peer->out, taken < 0 ? peer->out.length : from);
}

/* ---- answers ----------------------------------------------------------------------------------
 */

static void write_login(struct buffer *to, const struct greeting *greeting, int64_t id)
{
    for (unsigned i = 0; i < greeting->logins + greeting->databases + greeting->names; i++)
        answer_write_status(to, "OK");
    for (unsigned i = 0; i < greeting->ids; i++)
        answer_write_integer(to, id);
    for (unsigned i = 0; i < greeting->loads; i++)
        answer_write_text(to, greeting->hashes[i]);
}

static const char wrong_password[] = "WRONGPASS invalid username-password pair";

/* The first of these errors is the answer to the hello, too. */
static void write_refused_login(struct buffer *to, const struct greeting *greeting)
{
    unsigned others = greeting->databases + greeting->names + greeting->ids + greeting->loads;
    answer_write_error(to, wrong_password);
    for (unsigned i = 0; i < others; i++)
        answer_write_error(to, "NOAUTH Authentication required.");
}

static bool refuses_login(struct peer *peer, const struct message *message)
{
    return peer->said_first.logins && message->answer.answer == ANSWER_ERROR &&
           chance_permille(&peer->in.chance, REFUSED);
}

/* The login, and the hello behind it. */
static void write_first(struct peer *peer, struct buffer *to, struct message *message)
{
    bool refuses = refuses_login(peer, message);
    if (refuses)
        write_refused_login(to, &peer->said_first);
    else
        write_login(to, &peer->said_first, peer_conn(peer)->id);
    answer_write(to, peer->shell->world, message);
    if (refuses)
        message->answer.error = wrong_password;
}

static bool strikes(struct peer *peer, enum fault_kind fault)
{
    return peer_has(peer, fault) && !peer->shell->world->peace && peer->bad_from == SIZE_MAX &&
           chance_permille(&peer->in.chance, BAD);
}

static void trace_fault(const struct peer *peer, const char *what)
{
    TRACE(peer->shell->world, "FAULT master %u says %s to client %u%s", peer->master + 1, what,
          peer->shell->index + 1, peer->listens ? ", in a notification" : "");
}

/* Nothing else is under way, and what is said now is read at once. */
static bool is_quiet(const struct peer *peer, usec at)
{
    const struct conn *conn = peer_conn(peer);
    return conn && !conn->out.first && !conn->in.first && !conn->readable.first &&
           !peer->flushed.first && !peer->shell->links[peer->master].output.first &&
           !peer->out.length && !peer->answered.first && peer->in.read == peer->in.said &&
           at <= peer->shell->world->now;
}

/* A reply to nothing, right behind the last one: what the client asks when it hears that one was
 * not written yet. */
static void write_stray(struct buffer *to, struct chance *chance)
{
    static const char *const texts[] = {"+OK\r\n", ":1\r\n", "$-1\r\n", "-NOSCRIPT\r\n"};
    const char *text = texts[chance_below(chance, sizeof texts / sizeof texts[0])];
    buffer_append(to, text, strlen(text));
}

/* The end comes in the middle of what is said, or malformed bytes instead of it, or behind it. */
static void say(struct peer *peer, struct buffer *said, usec at)
{
    struct stream *in = &peer->in;
    if (strikes(peer, FAULT_CUT_SHORT)) {
        trace_fault(peer, "no more than a part of an answer");
        peer->bad_from = in->said;
        stream_say(in, said->data, chance_below(&in->chance, (unsigned)said->length), at);
        stream_end(in, chance_permille(&in->chance, 500) ? 0 : ECONNRESET);
    } else if (strikes(peer, FAULT_MALFORMED)) {
        bool stray = is_quiet(peer, at);
        trace_fault(peer, stray ? "more than one answer" : "what is no answer");
        if (!stray && chance_permille(&in->chance, 700))
            buffer_clear(said);
        peer->bad_from = in->said + said->length;
        if (stray)
            write_stray(said, &in->chance);
        else
            malformed_write(said, &in->chance);
        peer->bad_until = in->said + said->length;
        in->splits = in->splits && !stray;
        stream_say(in, said->data, said->length, at);
    } else {
        stream_say(in, said->data, said->length, at);
    }
    buffer_free(said);
}

static void say_answer(struct peer *peer, struct message *message)
{
    struct buffer said = {0};
    answer_settle(message, &peer->in.chance);
    if (message->login)
        write_first(peer, &said, message);
    else
        answer_write(&said, peer->shell->world, message);
    size_t before = peer->in.said, length = said.length;
    say(peer, &said, message->at);
    while (message) {
        struct message *shares = message->shares;
        message->shares = NULL;
        message->said_until = before + length;
        queue_add(&peer->answered, message);
        message = shares;
    }
}

static void say_answers(struct peer *peer)
{
    struct conn *conn = peer_conn(peer);
    struct message *message;
    while (!peer->in.ended && (message = queue_take(&conn->readable)))
        say_answer(peer, message);
    if (conn->broken)
        stream_end(&peer->in, chance_permille(&peer->in.chance, 500) ? 0 : ECONNRESET);
}

static void note(struct peer *peer, const struct heard *heard, size_t until)
{
    struct said *said = malloc(sizeof *said);
    *said = (struct said){.kind = heard->kind,
                          .token = heard->token,
                          .clock = heard->clock,
                          .run_id = heard->run_id,
                          .until = until};
    if (peer->first)
        peer->last->next = said;
    else
        peer->first = said;
    peer->last = said;
}

static void write_heard(struct peer *peer, struct buffer *to, const struct heard *heard)
{
    const struct world *w = peer->shell->world;
    const char *channel = peer->shell->client->engine->config.channel;
    if (heard->kind == EVENT_SUBSCRIBED) {
        write_login(to, &peer->said_first, 0);
        answer_write_info(to, heard->run_id);
        answer_write_array(to, 3);
        answer_write_text(to, "subscribe");
        answer_write_text(to, channel);
        answer_write_integer(to, 1);
    } else if (heard->kind == EVENT_ALIVE) {
        answer_write_array(to, 2);
        answer_write_text(to, "pong");
        answer_write_text(to, "");
    } else {
        answer_write_push(to, channel, w->tokens[heard->token].text, heard->clock);
    }
}

/* Nothing from here on may be believed. */
static void say_bad(struct peer *peer, struct buffer *said, const char *what, usec at)
{
    trace_fault(peer, what);
    peer->bad_from = peer->in.said;
    peer->bad_until = peer->in.said + said->length;
    stream_say(&peer->in, said->data, said->length, at);
    buffer_free(said);
}

/* A message for somebody else, which a master that is sound does not send here. */
static void say_to_another(struct peer *peer, const struct heard *heard)
{
    struct buffer said = {0};
    const char *token = peer->shell->world->tokens[heard->token].text;
    answer_write_push(&said, "redlock:another", token, heard->clock);
    say_bad(peer, &said, "what is for another channel", heard->at);
}

/* As to a user who may not. */
static void refuse_subscription(struct peer *peer, const struct heard *heard)
{
    struct buffer said = {0};
    write_login(&said, &peer->said_first, 0);
    answer_write_info(&said, heard->run_id);
    answer_write_error(&said, "NOPERM this user has no permissions to access one of the channels");
    say_bad(peer, &said, "no", heard->at);
}

static bool is_refused(struct peer *peer)
{
    return peer->shell->world->faults >> FAULT_ERRORS & 1 && !peer->shell->world->peace &&
           chance_permille(&peer->in.chance, NOPERM);
}

static void say_bad_before(struct peer *peer, const struct heard *heard)
{
    if (heard->kind == EVENT_PUSH && strikes(peer, FAULT_MALFORMED))
        say_to_another(peer, heard);
    else if (heard->kind == EVENT_SUBSCRIBED && is_refused(peer))
        refuse_subscription(peer, heard);
}

static void say_notifications(struct peer *peer)
{
    struct heard heard;
    while (!peer->in.ended && subscription_read(peer->shell, peer->master, &heard)) {
        struct buffer said = {0};
        if (heard.kind == EVENT_UNSUBSCRIBED) {
            stream_end(&peer->in, chance_permille(&peer->in.chance, 500) ? 0 : ECONNRESET);
            return;
        }
        say_bad_before(peer, &heard);
        write_heard(peer, &said, &heard);
        size_t until = peer->in.said + said.length;
        say(peer, &said, heard.at);
        note(peer, &heard, until);
    }
}

void master_says(struct peer *peer)
{
    struct conn *conn = peer_conn(peer);
    if (conn && (conn->established || conn->broken))
        say_answers(peer);
    else if (peer->listens)
        say_notifications(peer);
    peer_stirs(peer, stream_next(&peer->in, peer->shell->world->now));
}
