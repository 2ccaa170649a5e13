/*
 * tell.c - an outcome of the core → the event that the user sees, in words too.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "client.h"

_Static_assert((int)OUTCOME_SEEN == (int)REDLOCK_SEEN && (int)OUTCOME_LOST == (int)REDLOCK_LOST &&
                   (int)OUTCOME_AT_RISK == (int)REDLOCK_AT_RISK,
               "outcomes and events are in one order");

redlock_code code_of(enum cause cause)
{
    static const redlock_code codes[] = {
        [CAUSE_NONE] = REDLOCK_OK,
        [CAUSE_HELD] = REDLOCK_E_HELD,
        [CAUSE_UNAVAILABLE] = REDLOCK_E_UNAVAILABLE,
        [CAUSE_TOO_SLOW] = REDLOCK_E_TOO_SLOW,
        [CAUSE_EXPIRED] = REDLOCK_E_EXPIRED,
        [CAUSE_GONE] = REDLOCK_E_GONE,
        [CAUSE_MAX_HOLD] = REDLOCK_E_MAX_HOLD,
        [CAUSE_CANCELLED] = REDLOCK_E_CANCELLED,
        [CAUSE_CLOSED] = REDLOCK_E_CLOSED,
        [CAUSE_MEMORY] = REDLOCK_E_MEMORY,
        [CAUSE_REPLICA] = REDLOCK_E_REPLICA,
        [CAUSE_SAME_MASTER] = REDLOCK_E_SAME_MASTER,
    };
    return codes[cause];
}

/* A text that grows, cut where its buffer ends. */
struct words {
    char *text;
    size_t size, used;
};

static void add(struct words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct words *words, const char *format, ...)
{
    if (words->used + 1 >= words->size)
        return;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(words->text + words->used, words->size - words->used, format, arguments);
    va_end(arguments);
    if (length > 0)
        words->used += (size_t)length;
    if (words->used >= words->size)
        words->used = words->size - 1;
}

/* The same for what every lock is told, without the cost of a format. */
static void add_plain(struct words *words, const char *text)
{
    size_t length = strlen(text), room = words->size - words->used - 1;
    if (length > room)
        length = room;
    memcpy(words->text + words->used, text, length);
    words->used += length;
    words->text[words->used] = '\0';
}

static void add_number(struct words *words, int64_t number)
{
    char digits[24], *at = digits + sizeof digits - 1;
    uint64_t rest = number < 0 ? 0 : (uint64_t)number;
    *at = '\0';
    do
        *--at = (char)('0' + rest % 10);
    while (rest /= 10);
    add_plain(words, at);
}

/* ---- votes ------------------------------------------------------------------ */

static redlock_vote_kind vote_kind(enum saying said)
{
    static const redlock_vote_kind kinds[] = {
        [SAID_NOTHING] = REDLOCK_VOTE_NONE,
        [SAID_GRANTED] = REDLOCK_VOTE_GRANTED,
        [SAID_HEALED] = REDLOCK_VOTE_HEALED,
        [SAID_HELD] = REDLOCK_VOTE_HELD,
        [SAID_FREE] = REDLOCK_VOTE_FREE,
        [SAID_RELEASED] = REDLOCK_VOTE_RELEASED,
        [SAID_REFUSED] = REDLOCK_VOTE_REFUSED,
        [SAID_TIMEOUT] = REDLOCK_VOTE_TIMEOUT,
        [SAID_UNREACHABLE] = REDLOCK_VOTE_UNREACHABLE,
        [SAID_ABSTAINS] = REDLOCK_VOTE_ABSTAINS,
    };
    return kinds[said];
}

static redlock_vote vote_of(const redlock *client, const struct round *round, unsigned master)
{
    const struct ballot *ballot = &round->ballots[master];
    redlock_vote vote = {.node = client->addresses[master].shown,
                         .kind = vote_kind((enum saying)ballot->said),
                         .remaining_ms = ballot->remaining_ms,
                         .text = ""};
    if (vote.kind == REDLOCK_VOTE_HELD && ballot->text[0])
        vote.holder = ballot->text;
    else if (vote.kind == REDLOCK_VOTE_REFUSED || vote.kind == REDLOCK_VOTE_UNREACHABLE)
        vote.text = ballot->text;
    if (vote.kind == REDLOCK_VOTE_UNREACHABLE && !ballot->text[0]) {
        const struct master *it = &client->engine.masters[master];
        vote.text = it->trouble;
        if (master_is_up(it))
            vote.kind = REDLOCK_VOTE_NONE;
    }
    return vote;
}

static void fill_votes(redlock *client, const struct round *round)
{
    for (unsigned i = 0; i < client->masters; i++)
        if (round)
            client->votes[i] = vote_of(client, round, i);
        else
            client->votes[i] =
                (redlock_vote){.node = client->addresses[i].shown, .remaining_ms = -1, .text = ""};
}

/* ---- in words ---------------------------------------------------------------- */

static void say_why_not(struct words *words, const redlock_vote *vote)
{
    switch (vote->kind) {
    case REDLOCK_VOTE_REFUSED:
    case REDLOCK_VOTE_UNREACHABLE:
        add(words, "; %s: %s", vote->node, vote->text[0] ? vote->text : "not connected");
        break;
    case REDLOCK_VOTE_TIMEOUT:
        add(words, "; %s: no answer in time", vote->node);
        break;
    case REDLOCK_VOTE_ABSTAINS:
        add(words, "; %s: restarted, abstains %lld s more", vote->node,
            (long long)(vote->remaining_ms + 999) / 1000);
        break;
    default:
        break;
    }
}

static void say_troubles(struct words *words, const redlock *client)
{
    for (unsigned i = 0; i < client->masters; i++)
        say_why_not(words, &client->votes[i]);
}

/* The holder that most masters name. */
static unsigned common_holder(const redlock *client, const redlock_vote **who)
{
    unsigned best = 0;
    *who = NULL;
    for (unsigned i = 0; i < client->masters; i++) {
        const redlock_vote *vote = &client->votes[i];
        unsigned same = 0;
        for (unsigned j = 0; vote->holder && j < client->masters; j++)
            same += client->votes[j].holder && strcmp(client->votes[j].holder, vote->holder) == 0;
        if (same > best) {
            best = same;
            *who = vote;
        }
    }
    return best;
}

static void say_holder(struct words *words, const redlock *client)
{
    const redlock_vote *who;
    unsigned on = common_holder(client, &who);
    if (!who) {
        add(words, "held by somebody else");
        return;
    }
    add(words, "held by %s on %u of %u masters", who->holder, on, client->masters);
    if (who->remaining_ms >= 0)
        add(words, " for %.1f s more", (double)who->remaining_ms / 1000);
    else if (who->remaining_ms == -2)
        add(words, ", which never expires");
}

static void say_not_acquired(struct words *words, const redlock *client, redlock_code code)
{
    if (code == REDLOCK_E_HELD)
        say_holder(words, client);
    else
        add(words, "%s", redlock_code_text(code));
    if (code == REDLOCK_E_HELD || code == REDLOCK_E_UNAVAILABLE || code == REDLOCK_E_TOO_SLOW)
        say_troubles(words, client);
}

static void say(struct words *words, const redlock *client, const redlock_event *event)
{
    switch (event->kind) {
    case REDLOCK_ACQUIRED:
        add_plain(words, "acquired, valid for ");
        add_number(words, event->valid_ms);
        add_plain(words, " ms");
        if (event->fence)
            add(words, ", fence %lld", (long long)event->fence);
        break;
    case REDLOCK_NOT_ACQUIRED:
        say_not_acquired(words, client, event->code);
        break;
    case REDLOCK_EXTENDED:
        add(words, "extended, valid for %lld ms", (long long)event->valid_ms);
        break;
    case REDLOCK_SEEN:
        if (event->granted || common_holder(client, &(const redlock_vote *){NULL}))
            say_holder(words, client);
        else
            add(words, "%s", event->code ? redlock_code_text(event->code) : "free");
        say_troubles(words, client);
        break;
    case REDLOCK_RELEASED:
        add_plain(words, event->code ? redlock_code_text(event->code) : "released");
        say_troubles(words, client);
        break;
    case REDLOCK_LOST:
        add(words, "lost, %lld ms before its end: %s", (long long)event->valid_ms,
            redlock_code_text(event->code));
        say_troubles(words, client);
        break;
    default:
        add(words, "on %u of %u masters, valid for %lld ms", event->granted, event->masters,
            (long long)event->valid_ms);
        say_troubles(words, client);
    }
}

/* ---- the event ---------------------------------------------------------------- */

void tell_fill(redlock *client, const redlock_lease *lease, const struct outcome *outcome,
               redlock_event *event)
{
    fill_votes(client, lease->core.round);
    *event = (redlock_event){.kind = (redlock_event_kind)outcome->kind,
                             .code = code_of(outcome->cause),
                             .masters = client->masters,
                             .quorum = client->engine.quorum,
                             .granted = outcome->granted,
                             .valid_ms = outcome->valid / 1000,
                             .rounds = outcome->rounds,
                             .elapsed_ms = outcome->elapsed / 1000,
                             .fence = outcome->fence,
                             .votes = client->votes,
                             .text = client->text};
    if (event->kind == REDLOCK_SEEN) {
        const redlock_vote *who;
        event->granted = common_holder(client, &who);
    }
    client->text[0] = '\0';
    struct words words = {client->text, sizeof client->text, 0};
    say(&words, client, event);
}

void tell_readiness(redlock *client, enum cause cause, char *text, size_t size)
{
    struct words words = {text, size, 0};
    text[0] = '\0';
    for (unsigned i = 0; i < client->masters; i++) {
        redlock_node node;
        node_fill(client, i, &node);
        if (node.state == REDLOCK_NODE_ABSTAINS)
            add(&words, "%s%s: restarted, abstains %lld s more", words.used ? "\n" : "", node.node,
                (long long)(node.abstains_ms + 999) / 1000);
        else if (node.text[0])
            add(&words, "%s%s: %s", words.used ? "\n" : "", node.node, node.text);
    }
    if (cause && !words.used)
        add(&words, "%s", redlock_code_text(code_of(cause)));
}
