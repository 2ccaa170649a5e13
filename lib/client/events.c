/*
 * events.c - an outcome of the core → the event that the user sees, in words too.
 */
#include "events.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lists_in_use.h"
#include "nodes.h"
#include "report.h"
#include "successor.h"

/* A look has an outcome, and no event. */
static redlock_event_kind event_kind(enum outcome_kind outcome)
{
    static const redlock_event_kind kinds[] = {
        [OUTCOME_ACQUIRED] = REDLOCK_ACQUIRED,   [OUTCOME_NOT_ACQUIRED] = REDLOCK_NOT_ACQUIRED,
        [OUTCOME_EXTENDED] = REDLOCK_EXTENDED,   [OUTCOME_NOT_EXTENDED] = REDLOCK_NOT_EXTENDED,
        [OUTCOME_AT_RISK] = REDLOCK_AT_RISK,     [OUTCOME_HEALTHY] = REDLOCK_HEALTHY,
        [OUTCOME_LOST] = REDLOCK_LOST,           [OUTCOME_RELEASED] = REDLOCK_RELEASED,
        [OUTCOME_CHANGED] = REDLOCK_CHANGED,     [OUTCOME_NOT_CHANGED] = REDLOCK_NOT_CHANGED,
        [OUTCOME_ANNOUNCED] = REDLOCK_ANNOUNCED, [OUTCOME_MOVED] = REDLOCK_MOVED,
        [OUTCOME_NOT_MOVED] = REDLOCK_NOT_MOVED,
    };
    return kinds[outcome];
}

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
        [CAUSE_NO_MASTER] = REDLOCK_E_NO_MASTER,
        [CAUSE_DIFFERS] = REDLOCK_E_DIFFERS,
        [CAUSE_OVERLOAD] = REDLOCK_E_OVERLOAD,
        [CAUSE_OVER] = REDLOCK_E_OVER,
    };
    return codes[cause];
}

/* A text that grows; at the end of its buffer it is cut between two words. */
struct words {
    char *text;
    size_t size, used;
};

static bool is_full_of_words(const struct words *words)
{
    return words->used + 1 >= words->size;
}

/* Ends the text; nothing is added after that. */
static void cut(struct words *words)
{
    static const char more[] = "...";
    words->used = words->size - 1;
    size_t end = words->size - sizeof more;
    while (end > 0 && words->text[end] != ' ' && words->text[end] != '\n')
        end--;
    memcpy(words->text + end, more, sizeof more);
}

static void add_words(struct words *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add_words(struct words *words, const char *format, ...)
{
    if (is_full_of_words(words))
        return;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(words->text + words->used, words->size - words->used, format, arguments);
    va_end(arguments);
    if (length > 0)
        words->used += (size_t)length;
    if (words->used >= words->size)
        cut(words);
}

/* As add_words(), without the cost of a format: each ACQUIRED comes by here. */
static void add_plain(struct words *words, const char *text)
{
    if (is_full_of_words(words))
        return;
    size_t length = strlen(text), room = words->size - words->used - 1;
    bool fits = length <= room;
    if (!fits)
        length = room;
    memcpy(words->text + words->used, text, length);
    words->used += length;
    words->text[words->used] = '\0';
    if (!fits)
        cut(words);
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

static redlock_vote_kind vote_kind(enum vote vote)
{
    static const redlock_vote_kind kinds[] = {
        [VOTE_NOTHING] = REDLOCK_VOTE_NONE,
        [VOTE_GRANTED] = REDLOCK_VOTE_GRANTED,
        [VOTE_HEALED] = REDLOCK_VOTE_HEALED,
        [VOTE_HELD] = REDLOCK_VOTE_HELD,
        [VOTE_FREE] = REDLOCK_VOTE_FREE,
        [VOTE_RELEASED] = REDLOCK_VOTE_RELEASED,
        [VOTE_REFUSED] = REDLOCK_VOTE_REFUSED,
        [VOTE_TIMEOUT] = REDLOCK_VOTE_TIMEOUT,
        [VOTE_UNREACHABLE] = REDLOCK_VOTE_UNREACHABLE,
        [VOTE_ABSTAINS] = REDLOCK_VOTE_ABSTAINS,
    };
    return kinds[vote];
}

/* In place: each ACQUIRED comes by here, and a vote is a large struct. */
static void clear_vote(redlock_vote *vote, const char *node)
{
    vote->node = node;
    vote->kind = REDLOCK_VOTE_NONE;
    vote->holder = NULL;
    vote->remaining_ms = -1;
    vote->text = "";
}

static void explain_unreachable(const redlock *client, redlock_vote *vote, unsigned master)
{
    struct master_view it = engine_master(client->engine, master);
    if (it.state == MASTER_UP)
        vote->kind = REDLOCK_VOTE_NONE;
    else
        vote->text = node_trouble(client, master, &it);
}

static void fill_vote(redlock *client, const struct vote_view *said, unsigned master)
{
    redlock_vote *vote = &client->votes[master];
    vote->kind = vote_kind(said->vote);
    vote->remaining_ms = said->remaining_ms;
    if (vote->kind == REDLOCK_VOTE_GRANTED || vote->kind == REDLOCK_VOTE_RELEASED)
        return;
    if (vote->kind == REDLOCK_VOTE_HELD && said->text[0])
        vote->holder = said->text;
    else if (vote->kind == REDLOCK_VOTE_REFUSED)
        vote->text = said->text[0] ? said->text : "answered with an error";
    else if (vote->kind == REDLOCK_VOTE_UNREACHABLE && said->text[0])
        vote->text = said->text;
    else if (vote->kind == REDLOCK_VOTE_UNREACHABLE)
        explain_unreachable(client, vote, master);
}

void event_fill_votes(redlock *client, const redlock_lease *lease)
{
    struct vote_view said[REDLOCK_MASTERS_MAX];
    lease_votes(client->engine, core_of(lease), said);
    for (unsigned i = 0; i < client->masters; i++) {
        clear_vote(&client->votes[i], client->addresses[i].shown);
        fill_vote(client, &said[i], i);
    }
}

/* ---- in words ---------------------------------------------------------------- */

static void say_why_not(struct words *words, const redlock_vote *vote)
{
    switch (vote->kind) {
    case REDLOCK_VOTE_REFUSED:
    case REDLOCK_VOTE_UNREACHABLE:
        add_words(words, "; %s: %s", vote->node, vote->text);
        break;
    case REDLOCK_VOTE_TIMEOUT:
        add_words(words, "; %s: no answer in time", vote->node);
        break;
    case REDLOCK_VOTE_ABSTAINS:
        add_words(words, "; %s: restarted, abstains %lld s more", vote->node,
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
static unsigned most_named_holder(const redlock *client, const redlock_vote **named)
{
    unsigned best = 0;
    *named = NULL;
    for (unsigned i = 0; i < client->masters; i++) {
        const redlock_vote *vote = &client->votes[i];
        unsigned same = 0;
        for (unsigned j = 0; vote->holder && j < client->masters; j++)
            same += client->votes[j].holder && strcmp(client->votes[j].holder, vote->holder) == 0;
        if (same > best) {
            best = same;
            *named = vote;
        }
    }
    return best;
}

/* The time that more masters tell than may be wrong; -1: no master tells one. */
static int64_t time_left(const redlock *client, const redlock_vote *named)
{
    usec told[REDLOCK_MASTERS_MAX];
    unsigned count = 0;
    for (unsigned i = 0; i < client->masters; i++) {
        const redlock_vote *vote = &client->votes[i];
        if (vote->holder && strcmp(vote->holder, named->holder) == 0 && vote->remaining_ms >= 0)
            told[count++] = vote->remaining_ms;
    }
    return count ? quorum_vouched(told, count, client->config.spare) : -1;
}

static void say_permits(struct words *words, const struct sharers *sharers)
{
    if (sharers->permits)
        add_words(words, "%u of %u permits are out", sharers->permits_out, sharers->permits);
    else
        add_plain(words, "permits are out");
}

static void say_who(struct words *words, const char *holder, const struct sharers *sharers)
{
    bool is_shared = strcmp(holder, REDLOCK_READERS) == 0;
    if (strcmp(holder, REDLOCK_PERMITS) == 0)
        say_permits(words, sharers);
    else if (is_shared && sharers->reading)
        add_words(words, "held by %u reader%s", sharers->reading, sharers->reading == 1 ? "" : "s");
    else if (is_shared)
        add_plain(words, sharers->readers);
    else
        add_words(words, "held by %s", holder);
}

static void say_holder(struct words *words, const redlock *client, const struct sharers *sharers)
{
    const redlock_vote *named;
    unsigned on = most_named_holder(client, &named);
    if (!named) {
        add_words(words, "held by somebody else");
        return;
    }
    int64_t left = time_left(client, named);
    say_who(words, named->holder, sharers);
    add_words(words, " on %u of %u masters", on, client->masters);
    if (on <= client->config.spare)
        add_plain(words, ", which may be wrong");
    bool is_of_many = strcmp(named->holder, REDLOCK_PERMITS) == 0;
    if (left >= 0)
        add_words(words, ", %sttl %.1f s unless renewed", is_of_many ? "the first with " : "",
                  (double)left / 1000);
    else if (named->remaining_ms == -2)
        add_plain(words, ", no ttl: it never expires");
}

static void add_slice(struct words *words, struct slice slice)
{
    add_words(words, "%.*s", (int)slice.length, slice.bytes);
}

static void say_ours(struct words *words, const redlock *client)
{
    for (unsigned i = 0; i < client->masters; i++)
        add_words(words, "%s%s", i ? "," : "", client->addresses[i].shown);
}

static void say_ended(struct words *words, const redlock *client, struct slice one_tells)
{
    struct client_text told = successor_told(client);
    add_plain(words, ": the list ");
    say_ours(words, client);
    add_plain(words, " is over; ");
    if (!told.length)
        add_plain(words, "no quorum tells the one in its place: run `redlock masters change` to "
                         "its end, or take the end back with --undo; one master tells");
    else
        add_plain(words, "give this client the one in its place");
    if (successor_gives_tls_up(client))
        add_plain(words, ", which has masters without TLS, so that it does not go there by itself");
    add_plain(words, ": ");
    add_slice(words, told.length ? (struct slice){told.bytes, told.length} : one_tells);
}

/* The list of other clients, and ours. */
static void say_lists(struct words *words, const redlock *client)
{
    struct told_list theirs;
    struct slice successor;
    unsigned teller;
    if (engine_successor(client->engine, &successor)) {
        say_ended(words, client, successor);
        return;
    }
    if (!engine_other_list(client->engine, &theirs, &teller))
        return;
    add_plain(words, ": ");
    for (unsigned i = 0; i < theirs.masters; i++) {
        add_plain(words, i ? "," : "");
        add_slice(words, theirs.processes[i].address);
    }
    add_words(words,
              " (quorum %u of %u; %u client%s since %lld s, the last %lld s ago: ", theirs.quorum,
              theirs.masters, theirs.clients, theirs.clients == 1 ? "" : "s",
              (long long)theirs.first_ago / 1000000, (long long)theirs.last_ago / 1000000);
    add_slice(words, theirs.label);
    add_words(words, "; told by %s); this client: ", client->addresses[teller].shown);
    say_ours(words, client);
    add_words(
        words,
        " (quorum %u of %u). Two such quorums need not meet. Give all clients one list "
        "(`redlock masters` shows those in use); other locks on these servers need a fleet of "
        "their own",
        quorum_of(client->masters, client->config.spare), client->masters);
}

static void say_differs(struct words *words, const redlock *client)
{
    add_plain(words, redlock_code_text(REDLOCK_E_DIFFERS));
    say_lists(words, client);
}

void event_log_refusal(redlock *client)
{
    struct told_list theirs;
    struct slice successor;
    unsigned teller;
    bool is_logged = client->refusal_logged;
    client->refusal_logged = engine_successor(client->engine, &successor) ||
                             engine_other_list(client->engine, &theirs, &teller);
    if (is_logged || !client->refusal_logged || client->closing)
        return;
    char text[sizeof client->text] = "";
    struct words words = {text, sizeof text, 0};
    say_differs(&words, client);
    client_log(client, REDLOCK_LOG_ERROR, "%s", text);
}

/* Readers keep out no reader: a writer did that, which waits, or had the name a moment ago. */
static void say_not_acquired(struct words *words, const redlock *client, const redlock_lease *lease,
                             redlock_code code)
{
    const char *readers =
        lease->reads ? "held by readers, and others came first," : "held by readers";
    if (code == REDLOCK_E_HELD)
        say_holder(words, client, &(struct sharers){.readers = readers});
    else if (code == REDLOCK_E_DIFFERS)
        say_differs(words, client);
    else
        add_words(words, "%s", redlock_code_text(code));
    if (code == REDLOCK_E_HELD || redlock_code_class(code) == REDLOCK_CLASS_UNAVAILABLE)
        say_troubles(words, client);
}

/* The end of a lease that the masters no longer have is not known. */
static void say_lost(struct words *words, const redlock *client, const redlock_event *event)
{
    if (event->code == REDLOCK_E_GONE)
        add_plain(words, "lost, not known since when: ");
    else
        add_words(words, "lost, %lld ms %s its end: ",
                  (long long)(event->ends_ms < 0 ? -event->ends_ms : event->ends_ms),
                  event->ends_ms < 0 ? "after" : "before");
    add_plain(words, redlock_code_text(event->code));
    say_troubles(words, client);
}

static void say_released(struct words *words, const redlock *client, const redlock_lease *lease,
                         const redlock_event *event)
{
    bool was_lost = event->code == REDLOCK_E_GONE && lease->lost;
    add_plain(words, was_lost      ? "released the rest; it was lost before"
                     : event->code ? redlock_code_text(event->code)
                                   : "released");
    say_troubles(words, client);
}

static void say_not_changed(struct words *words, const redlock *client, const redlock_event *event)
{
    add_plain(words, event->code == REDLOCK_E_HELD ? "others read it, so it stays shared"
                                                   : redlock_code_text(event->code));
    say_troubles(words, client);
}

static void say_event(struct words *words, const redlock *client, const redlock_lease *lease,
                      const redlock_event *event)
{
    switch (event->kind) {
    case REDLOCK_ACQUIRED:
        add_plain(words, "acquired, valid for ");
        add_number(words, event->valid_ms);
        add_plain(words, " ms");
        if (event->fence)
            add_words(words, ", fence %lld", (long long)event->fence);
        if (lease->slot >= 0)
            add_words(words, ", slot %d", lease->slot);
        break;
    case REDLOCK_NOT_ACQUIRED:
        say_not_acquired(words, client, lease, event->code);
        break;
    case REDLOCK_EXTENDED:
        add_words(words, "extended, valid for %lld ms", (long long)event->valid_ms);
        break;
    case REDLOCK_CHANGED:
        add_words(words, "%s, valid for %lld ms",
                  lease_is_shared(core_of(lease)) ? "shared from now on" : "exclusive from now on",
                  (long long)event->valid_ms);
        break;
    case REDLOCK_NOT_CHANGED:
        say_not_changed(words, client, event);
        break;
    case REDLOCK_MOVED:
        if (lease->operations & OP_ACQUIRE)
            add_plain(words, "moved, and waits there");
        else
            add_words(words, "moved, valid for %lld ms", (long long)event->valid_ms);
        break;
    case REDLOCK_NOT_MOVED:
        add_words(words, "not moved, valid for %lld ms more: %s", (long long)event->valid_ms,
                  redlock_code_text(event->code));
        say_troubles(words, client);
        break;
    case REDLOCK_ANNOUNCED:
        add_words(words, "announced on %u of %u masters", event->granted, event->masters);
        say_troubles(words, client);
        break;
    case REDLOCK_RELEASED:
        say_released(words, client, lease, event);
        break;
    case REDLOCK_LOST:
        say_lost(words, client, event);
        break;
    default:
        add_words(words, "on %u of %u masters, valid for %lld ms", event->granted, event->masters,
                  (long long)event->valid_ms);
        say_troubles(words, client);
    }
}

/* ---- the event ---------------------------------------------------------------- */

void event_fill(redlock *client, const redlock_lease *lease, const struct outcome *outcome,
                redlock_event *event)
{
    event_fill_votes(client, lease);
    *event = (redlock_event){.kind = event_kind(outcome->kind),
                             .code = code_of(outcome->cause),
                             .masters = client->masters,
                             .quorum = quorum_of(client->masters, client->config.spare),
                             .granted = outcome->granted,
                             .valid_ms = outcome->valid / 1000,
                             .rounds = outcome->rounds,
                             .elapsed_ms = outcome->elapsed / 1000,
                             .fence = outcome->fence,
                             .votes = client->each_vote,
                             .text = client->text,
                             .spare = client->config.spare,
                             .ends_ms = outcome->ends / 1000};
    client->text[0] = '\0';
    struct words words = {client->text, sizeof client->text, 0};
    say_event(&words, client, lease, event);
    if (outcome->kept)
        add_words(&words, ", and kept from others for at least %lld ms more",
                  (long long)outcome->kept / 1000);
}

/* ---- looks ------------------------------------------------------------------------ */

static bool any_abstains(const redlock *client)
{
    bool any = false;
    for (unsigned i = 0; i < client->masters; i++)
        any |= client->votes[i].kind == REDLOCK_VOTE_ABSTAINS;
    return any;
}

static void say_seen(struct words *words, const redlock *client, const struct sharers *sharers,
                     const redlock_look_result *result)
{
    if (result->agreed)
        say_holder(words, client, sharers);
    else if (!result->code)
        add_plain(words, "free");
    else if (result->code == REDLOCK_E_UNAVAILABLE && any_abstains(client))
        add_plain(words, "not known: a master that abstains may have forgotten a holder, and "
                         "the others are no quorum");
    else
        add_plain(words, redlock_code_text(result->code));
    say_troubles(words, client);
}

void event_tell_look(redlock *client, const struct sharers *sharers, redlock_look_result *result)
{
    struct words words = {client->text, sizeof client->text, 0};
    result->agreed = most_named_holder(client, &(const redlock_vote *){NULL});
    say_seen(&words, client, sharers, result);
    result->text = client->text;
}

/* ---- barriers ------------------------------------------------------------------- */

/* Why the master has not counted the party, as a vote. */
static redlock_vote refusal_of_party(const redlock *client, const struct task *party,
                                     unsigned master)
{
    redlock_node node;
    node_fill(client, master, &node);
    redlock_vote vote = {
        .node = node.node, .text = party_refusal(party, master), .remaining_ms = node.abstains_ms};
    vote.kind = vote.text[0] ? REDLOCK_VOTE_REFUSED : REDLOCK_VOTE_UNREACHABLE;
    if (node.state == REDLOCK_NODE_ABSTAINS)
        vote.kind = REDLOCK_VOTE_ABSTAINS;
    else if (!vote.text[0])
        explain_unreachable(client, &vote, master);
    return vote;
}

static bool is_about_parties(redlock_code code)
{
    return code != REDLOCK_E_UNAVAILABLE && redlock_code_class(code) != REDLOCK_CLASS_MISUSE;
}

static void say_passage(struct words *words, const redlock_barrier_result *passage, bool of_few)
{
    if (!passage->code) {
        add_plain(words, "passed");
        return;
    }
    add_plain(words, passage->undecided ? "undecided, others may have passed" : "not passed");
    if (passage->code == REDLOCK_E_OVER)
        add_words(words, ": this generation is over, %lld was passed", (long long)passage->latest);
    else if (passage->others)
        add_words(words, ": this generation is for %u parties, not for %u", passage->others,
                  passage->parties);
    else if (passage->undecided ? of_few : !is_about_parties(passage->code))
        add_words(words, ": %u of %u masters answered", passage->answered, passage->masters);
    else if (!passage->undecided)
        add_words(words, ": %u of %u parties arrived", passage->arrived, passage->parties);
}

void event_tell_passage(redlock *client, const struct task *party, redlock_barrier_result *passage)
{
    struct words words = {client->text, sizeof client->text, 0};
    bool of_few = passage->answered < quorum_of(client->masters, client->config.spare);
    say_passage(&words, passage, of_few);
    bool has_reasons = of_few || passage->undecided;
    for (unsigned i = 0; has_reasons && i < client->masters; i++) {
        redlock_vote why = refusal_of_party(client, party, i);
        say_why_not(&words, &why);
    }
    passage->text = client->text;
}

void event_readiness(redlock *client, enum cause cause, char *text, size_t size)
{
    struct words words = {text, size, 0};
    text[0] = '\0';
    for (unsigned i = 0; i < client->masters; i++) {
        redlock_node node;
        node_fill(client, i, &node);
        if (node.state == REDLOCK_NODE_ABSTAINS)
            add_words(&words, "%s%s: restarted, abstains %lld s more", words.used ? "\n" : "",
                      node.node, (long long)(node.abstains_ms + 999) / 1000);
        else if (node.text[0])
            add_words(&words, "%s%s: %s", words.used ? "\n" : "", node.node, node.text);
    }
    if (cause && (!words.used || cause == CAUSE_DIFFERS))
        add_words(&words, "%s%s", words.used ? "\n" : "", redlock_code_text(code_of(cause)));
    if (cause == CAUSE_DIFFERS)
        say_lists(&words, client);
}
