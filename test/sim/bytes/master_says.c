/*
 * master_says.c - the master says what it answered, in bytes; and where anything may go wrong, what
 * is malformed, too much, or cut short.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exchange.h"
#include "malformed.h"
#include "message_writer.h"
#include "peer.h"
#include "subscription.h"
#include "trace.h"

#define BAD     4   /* per mille of the answers that are malformed, or end the connection */
#define REFUSED 500 /* per mille of the failed logins of which the password is the reason */
#define NOPERM  20  /* per mille of the subscriptions that are refused */

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

/* The login or the scripts, and the hello behind them. */
static void write_first(struct peer *peer, struct buffer *to, struct message *message)
{
    bool refuses = refuses_login(peer, message);
    if (refuses)
        write_refused_login(to, &peer->said_first);
    else
        write_login(to, &peer->said_first, peer_conn(peer)->id);
    message_write(to, peer->shell->world, message);
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
          peer->shell->index + 1, peer->subscribed ? ", in a notification" : "");
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

static void cut_short(struct peer *peer, struct buffer *said)
{
    trace_fault(peer, "no more than a part of an answer");
    peer->bad_from = peer->in.said;
    said->length = chance_below(&peer->in.chance, (unsigned)said->length);
}

/* Malformed bytes come instead of the answer, or behind it. */
static void spoil(struct peer *peer, struct buffer *said)
{
    struct stream *in = &peer->in;
    trace_fault(peer, "what is no answer");
    if (chance_permille(&in->chance, 700))
        buffer_clear(said);
    peer->bad_from = in->said + said->length;
    malformed_write(said, &in->chance);
    peer->bad_until = in->said + said->length;
}

static void say_too_much(struct peer *peer, struct buffer *said)
{
    struct stream *in = &peer->in;
    trace_fault(peer, "more than one answer");
    peer->bad_from = in->said + said->length;
    write_stray(said, &in->chance);
    peer->bad_until = in->said + said->length;
    in->splits = false;
}

/* Or a part of it, or something else. */
static void say(struct peer *peer, struct buffer *said, usec at)
{
    struct stream *in = &peer->in;
    bool is_cut = strikes(peer, FAULT_CUT_SHORT);
    if (is_cut)
        cut_short(peer, said);
    else if (strikes(peer, FAULT_MALFORMED) && is_quiet(peer, at))
        say_too_much(peer, said);
    else if (strikes(peer, FAULT_MALFORMED))
        spoil(peer, said);
    stream_say(in, said->data, said->length, at);
    if (is_cut)
        stream_end(in, chance_permille(&in->chance, 500) ? 0 : ECONNRESET);
    buffer_free(said);
}

static void say_answer(struct peer *peer, struct message *message)
{
    struct buffer said = {0};
    message_settle(message, &peer->in.chance);
    bool loads = message->call.kind == REQUEST_HELLO && message->call.whole;
    if (message->login || loads)
        write_first(peer, &said, message);
    else
        message_write(&said, peer->shell->world, message);
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
    struct utterance *said = malloc(sizeof *said);
    *said = (struct utterance){.heard = *heard, .until = until};
    if (peer->first)
        peer->last->next = said;
    else
        peer->first = said;
    peer->last = said;
}

static void write_info(struct buffer *to, uint64_t run_id)
{
    char text[RUN_ID_TEXT];
    exchange_spell_run_id(text, run_id);
    answer_write_info(to, text);
}

static void write_push(struct buffer *to, const struct peer *peer, const char *channel,
                       const struct heard *heard)
{
    const char *token = peer->shell->world->tokens[heard->token].text;
    struct push push = {
        .token = slice_of(token), .clock = heard->clock, .free_slot = heard->free_slot};
    if (heard->says)
        exchange_spell_push(peer->shell, heard, &push);
    answer_write_push(to, channel, &push);
}

static void write_heard(struct peer *peer, struct buffer *to, const struct heard *heard)
{
    const char *channel = peer->shell->client->engine->config.channel;
    if (heard->kind == EVENT_SUBSCRIBED) {
        write_login(to, &peer->said_first, 0);
        write_info(to, heard->run_id);
        answer_write_array(to, 3);
        answer_write_text(to, "subscribe");
        answer_write_text(to, channel);
        answer_write_integer(to, 1);
    } else if (heard->kind == EVENT_ALIVE) {
        answer_write_array(to, 2);
        answer_write_text(to, "pong");
        answer_write_text(to, "");
    } else {
        write_push(to, peer, channel, heard);
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
    write_push(&said, peer, "redlock:another", heard);
    say_bad(peer, &said, "what is for another channel", heard->at);
}

/* As to a user who may not. */
static void refuse_subscription(struct peer *peer, const struct heard *heard)
{
    struct buffer said = {0};
    write_login(&said, &peer->said_first, 0);
    write_info(&said, heard->run_id);
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
    else if (peer->subscribed)
        say_notifications(peer);
    peer_stirs(peer, stream_next(&peer->in, peer->shell->world->now));
}
