/*
 * master_reads.c - the master reads the commands that a link wrote, and sends what they ask for on
 * its way through the modelled network.
 */
#include <string.h>

#include "client_rules.h"
#include "command_reader.h"
#include "exchange.h"
#include "peer.h"
#include "subscription.h"

/* ---- what the words of a client mean: all must be as its options have them ---------------- */

static bool is_word(struct slice word, const char *text)
{
    return slices_are_same(word, slice_of(text));
}

static unsigned name_meant(void *owner, struct slice key)
{
    return check_name(owner, key);
}

static uint32_t token_meant(void *owner, struct slice token)
{
    struct shell *s = owner;
    return world_token(s->world, token.bytes, token.length);
}

static uint32_t value_meant(void *owner, struct slice value)
{
    (void)owner;
    return exchange_said_number(value);
}

static uint32_t channel_meant(void *owner, struct slice channel)
{
    const struct shell *s = owner;
    return is_word(channel, s->client->engine->config.channel) ? s->channel : 0;
}

static bool is_login_meant(void *owner, struct slice user, struct slice password)
{
    (void)owner;
    return is_word(user, "ann") && is_word(password, "secret");
}

static bool is_database_meant(void *owner, struct slice number)
{
    (void)owner;
    return is_word(number, "2");
}

/* Key, what is said, channel, label, five numbers; each address with a process. */
static bool agrees_as_meant(void *owner, const struct words *words, unsigned at)
{
    const struct shell *s = owner;
    const struct engine_config *config = &s->client->engine->config;
    const struct slice *word = &words->each[at];
    bool good = words->count == at + 10 + 2 * config->masters && is_word(word[0], "1") &&
                is_word(word[3], config->channel) && is_word(word[4], config->label);
    for (unsigned i = 0; good && i < config->masters; i++)
        good = is_word(word[10 + 2 * i], config->addresses[i]);
    return good;
}

static struct dictionary dictionary_of(struct shell *s)
{
    return (struct dictionary){.owner = s,
                               .name = name_meant,
                               .token = token_meant,
                               .value = value_meant,
                               .channel = channel_meant,
                               .is_login = is_login_meant,
                               .is_database = is_database_meant,
                               .agree = agrees_as_meant};
}

/* ---- the commands ---------------------------------------------------------------------------- */

static bool same_names(const struct model_call *a, const struct model_call *b)
{
    return a->count == b->count && memcmp(a->names, b->names, a->count * sizeof *a->names) == 0;
}

static bool same_terms(const struct quarantine_terms *a, const struct quarantine_terms *b)
{
    return a->max_ttl_ms == b->max_ttl_ms && a->drift_ppm == b->drift_ppm &&
           a->skew_ms == b->skew_ms && a->trust == b->trust && a->other_ago == b->other_ago;
}

/* The command is what the core asked for, in all that its kind has. */
static bool same_call(const struct model_call *read, const struct model_call *meant)
{
    enum request_kind kind = meant->kind;
    bool tells_modes = request_has_modes(kind) || kind == REQUEST_QUEUE;
    if (read->kind != kind || !same_names(read, meant) ||
        (tells_modes && read->modes != meant->modes) ||
        (request_carries_token(kind) && read->value != meant->value))
        return false;
    switch (kind) {
    case REQUEST_HELLO:
    case REQUEST_ADOPT:
        return same_terms(&read->terms, &meant->terms);
    case REQUEST_ACQUIRE:
    case REQUEST_RELEASE:
        return read->ttl_ms == meant->ttl_ms;
    case REQUEST_GRANT:
    case REQUEST_UPGRADE:
        return read->ttl_ms == meant->ttl_ms && read->proposal == meant->proposal;
    case REQUEST_RAISE:
        return read->fence == meant->fence;
    case REQUEST_QUEUE:
        return read->ttl_ms == meant->ttl_ms && read->ticket == meant->ticket &&
               read->channel == meant->channel;
    case REQUEST_RENEW:
        return read->ttl_ms == meant->ttl_ms && read->heal == meant->heal &&
               read->not_after == meant->not_after && read->converts == meant->converts;
    case REQUEST_ANNOUNCE:
        return read->value == meant->value && read->ttl_ms == meant->ttl_ms &&
               read->fence == meant->fence && read->number == meant->number &&
               read->said == meant->said;
    case REQUEST_UNSAY:
        return read->value == meant->value && read->fence == meant->fence;
    case REQUEST_ASK:
        return read->ttl_ms == meant->ttl_ms && read->fence == meant->fence &&
               read->number == meant->number && read->said == meant->said;
    case REQUEST_OBSERVE:
        return read->ttl_ms == meant->ttl_ms && read->channel == meant->channel;
    case REQUEST_ARRIVE:
    case REQUEST_DEPART:
        return read->value == meant->value && read->generation == meant->generation &&
               read->parties == meant->parties && read->ttl_ms == meant->ttl_ms &&
               read->kept_ms == meant->kept_ms && read->passed == meant->passed;
    case REQUEST_TALLY:
    case REQUEST_MEND:
        return read->value == meant->value && read->open == meant->open &&
               read->run == meant->run && read->not_after == meant->not_after &&
               read->parties == meant->parties &&
               (kind == REQUEST_MEND || read->channel == meant->channel) &&
               memcmp(read->arrived, meant->arrived, sizeof read->arrived) == 0;
    case REQUEST_DROP:
        return read->value == meant->value && read->ttl_ms == meant->ttl_ms;
    default:
        return true;
    }
}

/* A master that forgot a script needs its text.  (Whole batches are the link's own matter.) */
static bool brings_its_script(const struct model_call *read, const struct model_call *meant)
{
    bool has_none = meant->kind == REQUEST_ACQUIRE && meant->count == 1;
    return read->whole || !meant->whole || has_none || !request_has_script(meant->kind);
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
    model_name heard[2] = {message->call.heard[0], message->call.heard[1]};
    message->call = *call;
    memcpy(message->call.heard, heard, sizeof heard); /* they follow from the name */
    if (!request_carries_token(call->kind))           /* a request may be about one all the same */
        message->call.value = token;
    message->kill_id = asked->kill_id;
    return message;
}

/* As its URI has it: every other master, from the first on, has a password. */
static bool has_login(const struct peer *peer)
{
    return peer->greeting.logins == (peer->master % 2 ? 0 : 1);
}

/* The login comes before the first hello, and nowhere else; the scripts come before a whole one. */
static void check_login(const struct peer *peer, const struct message *message)
{
    const struct greeting *greeting = &peer->greeting;
    bool whole = has_login(peer) && greeting->databases == greeting->logins &&
                 greeting->names == 1 && greeting->ids == 1;
    bool none = !greeting->logins && !greeting->databases && !greeting->names && !greeting->ids;
    bool loads = message->call.kind == REQUEST_HELLO && message->call.whole;
    if ((message->login ? !whole : !none) || greeting->loads != (loads ? SCRIPTS_LOADED : 0))
        peer_violated(peer, "does not log in as it should");
}

static void take_requests(struct peer *peer, const struct asked *asked)
{
    struct message *first = NULL, **last = &first;
    for (unsigned i = 0; i < asked->count; i++) {
        *last = carry(peer, asked, i);
        if (!*last)
            break;
        last = &(*last)->shares;
    }
    if (!first)
        return;
    check_login(peer, first);
    if (first->login || peer->greeting.loads)
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
    struct dictionary dictionary = dictionary_of(peer->shell);
    command_read(&dictionary, words, &asked);
    bool fits = peer->subscribed;
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
