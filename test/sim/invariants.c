#include "invariants.h"

#include <string.h>

#include "client_rules.h"
#include "fences.h"
#include "foreign.h"
#include "lasting.h"
#include "liar.h"
#include "order.h"
#include "trace.h"
#include "wrong.h"

#define PUNCTUAL     MS(4)    /* how late a loop may be without having been stopped */
#define ORPHAN_GRACE MS(2500) /* in peace, to reconnect and to pay what is owed */
#define STRAY        MS(480)  /* a request that is carried out later leaves its key to its ttl */
#define WAIT_GRACE   MS(3000) /* at least, for the last round, and for asking who has it */
#define FLOOD        150      /* requests of one lease to one master in a second */
#define HEAL_GRACE   MS(3)    /* in the granularity of clocks */

#define CLIENT(lease) ((lease)->shell->index + 1)

static struct token *token_of(const struct user_lease *lease)
{
    return &lease->shell->world->tokens[lease->token];
}

/* ---- mutual exclusion ------------------------------------------------------------ */

/* By its own arithmetic, on its own clock. */
static bool counts_itself_holder(const struct user_lease *lease)
{
    if (lease->known == KNOWN_HELD)
        return user_lease_is_held(lease);
    return lease->known == KNOWN_LOST && !lease->released && !lease->shell->client->closing &&
           !lease->let_go && lease->stop_by > shell_now(lease->shell);
}

bool share_a_name(const struct user_lease *a, const struct user_lease *b)
{
    for (unsigned i = 0; i < a->count; i++)
        for (unsigned j = 0; j < b->count; j++)
            if (a->names[i] == b->names[j])
                return true;
    return false;
}

/* Somebody has just become the holder: is there another one? */
static void one_holder(const struct user_lease *new)
{
    struct world *w = new->shell->world;
    if (w->faults & 1U << FAULT_EVICT)
        return;
    for (unsigned c = 0; c < w->clients; c++)
        for (const struct user_lease *old = w->shells[c]->all; old; old = old->next_all)
            if (old != new && old->token != new->token && counts_itself_holder(old) &&
                share_a_name(old, new) &&
                wrong_pair_stands(w, old->shell->quorum, new->shell->quorum))
                world_violated(
                    w, "exclusion", "client %u holds lease %u (t%u), and client %u lease %u (t%u)",
                    CLIENT(old), old->number, old->token, CLIENT(new), new->number, new->token);
}

/* Other libraries do not abstain with a restarted master, so only where nothing is
 * ever forgotten can they be expected to exclude and to be excluded. */
static bool foreigners_matter(const struct world *w)
{
    uint32_t forgetful = 1U << FAULT_CRASH_EMPTY | 1U << FAULT_CRASH_OLD | 1U << FAULT_EVICT;
    return !(w->faults & forgetful);
}

static void no_foreign_holder(const struct user_lease *new)
{
    struct world *w = new->shell->world;
    for (unsigned f = 0; f < w->foreigners && foreigners_matter(w); f++)
        for (unsigned i = 0; i < new->count; i++)
            if (foreigner_holds(w, f) && w->foreign[f]->name == new->names[i])
                world_violated(w, "exclusion",
                               "another library's client (t%u) and client %u hold %c",
                               w->foreign[f]->token, CLIENT(new), 'a' + new->names[i]);
}

void check_foreigner(struct world *w, unsigned number)
{
    const struct foreigner *it = w->foreign[number];
    if (!foreigners_matter(w))
        return;
    for (unsigned c = 0; c < w->clients; c++)
        for (const struct user_lease *lease = w->shells[c]->all; lease; lease = lease->next_all)
            for (unsigned i = 0; i < lease->count; i++)
                if (lease->names[i] == it->name && counts_itself_holder(lease))
                    world_violated(w, "exclusion",
                                   "client %u and another library's client (t%u) hold %c",
                                   CLIENT(lease), it->token, 'a' + it->name);
    for (unsigned f = 0; f < w->foreigners; f++)
        if (f != number && foreigner_holds(w, f) && w->foreign[f]->name == it->name)
            world_violated(w, "model", "two clients of another library hold %c", 'a' + it->name);
}

/* ---- validity ------------------------------------------------------------------------ */

/* A quorum of masters has promised to keep the key until then, in true time; what a
 * restart makes them forget is the quarantine's affair. */
static void validity_is_backed(struct user_lease *lease)
{
    const struct shell *s = lease->shell;
    const struct token *token = token_of(lease);
    usec end = clock_when(&s->clock, lease->end);
    unsigned backing = 0;
    for (unsigned i = 0; i < s->world->masters; i++)
        backing += token->backed[i] >= end || is_wrong(s->world, i);
    if (backing < s->quorum)
        world_violated(
            s->world, "backing",
            "lease %u of client %u counts on more than the %u masters that keep t%u so long",
            lease->number, CLIENT(lease), backing, lease->token);
}

/* Once it has passed it never comes back. */
static void never_resurrected(struct user_lease *lease, usec now)
{
    if (lease->known != KNOWN_HELD || lease->let_go)
        return;
    usec end = lease_valid_until(core_of(lease->handle));
    if (end > now && lease->end && lease->end <= now)
        world_violated(lease->shell->world, "resurrection",
                       "lease %u of client %u ended %lld us ago and is valid again", lease->number,
                       CLIENT(lease), (long long)(now - lease->end));
    if (end && end != lease->end) {
        lease->end = end;
        lease->end_known_at = now;
        if (end > lease->farthest_end)
            lease->farthest_end = end;
        validity_is_backed(lease);
    }
}

/* Tested last: what is left when it is told is more than the margin, and less than was asked
 * for. */
static void acquired_in_time(struct user_lease *lease)
{
    usec valid = lease_valid_until(core_of(lease->handle)) - shell_now(lease->shell);
    if (valid >= lease->terms.ttl)
        world_violated(lease->shell->world, "validity",
                       "lease %u of client %u is told with %lld us left, and a ttl of %lld",
                       lease->number, CLIENT(lease), (long long)valid, (long long)lease->terms.ttl);
    if (valid <= lease->terms.margin)
        world_violated(lease->shell->world, "validity",
                       "lease %u of client %u is told with %lld us left, and a margin of %lld",
                       lease->number, CLIENT(lease), (long long)valid,
                       (long long)lease->terms.margin);
}

/* It reaches at least as far as one ttl from the call. */
static void extended_far_enough(struct user_lease *lease)
{
    usec end = lease_valid_until(core_of(lease->handle));
    if (end < lease->extend_until)
        world_violated(lease->shell->world, "extension",
                       "lease %u of client %u is extended, but ends %lld us too early",
                       lease->number, CLIENT(lease), (long long)(lease->extend_until - end));
}

/* LOST comes a margin before the end, unless the process was not running then. */
static void lost_in_time(struct user_lease *lease, const redlock_event *event)
{
    struct shell *s = lease->shell;
    if (event->code == REDLOCK_E_GONE)
        return;
    usec due = lease->end - lease->terms.margin;
    if (due < lease->end_known_at)
        due = lease->end_known_at;
    if (s->ran_again_local > due - PUNCTUAL || shell_now(s) <= due + PUNCTUAL)
        return;
    world_violated(s->world, "punctuality", "lease %u of client %u is told LOST %lld us late",
                   lease->number, CLIENT(lease), (long long)(shell_now(s) - due));
}

/* ---- outcomes ---------------------------------------------------------------------------- */

static bool may_be_told(const struct user_lease *lease, redlock_event_kind kind)
{
    switch (kind) {
    case REDLOCK_ACQUIRED:
    case REDLOCK_NOT_ACQUIRED:
        return lease->known == KNOWN_ASKED;
    case REDLOCK_EXTENDED:
    case REDLOCK_NOT_EXTENDED:
        return lease->known == KNOWN_HELD && lease->extends;
    case REDLOCK_AT_RISK:
    case REDLOCK_HEALTHY:
    case REDLOCK_LOST:
        return lease->known == KNOWN_HELD;
    case REDLOCK_RELEASED:
        return (lease->released || lease->shell->client->closing) &&
               (lease->known == KNOWN_HELD || lease->known == KNOWN_LOST ||
                lease->known == KNOWN_ASKED_BACK);
    case REDLOCK_SEEN:
        return lease->known == KNOWN_INSPECTING;
    }
    return false;
}

/* Each once, in an order that makes sense, and none after the end. */
static void once(struct user_lease *lease, const redlock_event *event)
{
    struct shell *s = lease->shell;
    if (lease->let_go || !may_be_told(lease, event->kind))
        world_violated(s->world, "once", "lease %u of client %u is told %s (known: %d)",
                       lease->number, CLIENT(lease), redlock_event_name(event->kind), lease->known);
    if (s->closed_told)
        world_violated(s->world, "once", "client %u is told %s after it was closed", s->index + 1,
                       redlock_event_name(event->kind));
}

/* It may have taken over a claim of another lease of its client. */
static void knows_its_token(struct user_lease *lease)
{
    struct shell *s = lease->shell;
    if (lease->by_token)
        return;
    lease->token = world_token(s->world, redlock_token(lease->handle), TOKEN_TEXT);
    s->world->tokens[lease->token].holder = lease;
    s->world->tokens[lease->token].dead_since = 0;
}

static void remember(struct user_lease *lease, const redlock_event *event)
{
    usec now = shell_now(lease->shell);
    switch (event->kind) {
    case REDLOCK_ACQUIRED:
        lease->known = KNOWN_HELD;
        lease->end = lease->farthest_end = lease_valid_until(core_of(lease->handle));
        break;
    case REDLOCK_EXTENDED:
    case REDLOCK_NOT_EXTENDED:
        lease->extends--;
        break;
    case REDLOCK_LOST:
        lease->known = KNOWN_LOST;
        lease->extends = 0;
        lease->stop_by = now + MS(event->valid_ms);
        break;
    case REDLOCK_NOT_ACQUIRED:
    case REDLOCK_RELEASED:
    case REDLOCK_SEEN:
        lease->known = KNOWN_ENDED;
        lease->ended = true;
        lease->extends = 0;
        break;
    default:
        break;
    }
}

void check_told(struct user_lease *lease, const redlock_event *event)
{
    struct world *w = lease->shell->world;
    TRACE(w, "client %u is told: lease %u %s: %s", CLIENT(lease), lease->number,
          redlock_event_name(event->kind), event->text);
    world_mark(w, (uint64_t)w->now + lease->number,
               (uint64_t)event->kind << 40 | (uint64_t)event->valid_ms);
    once(lease, event);
    check_words(lease, event);
    if (event->kind == REDLOCK_LOST)
        lost_in_time(lease, event);
    if (event->kind == REDLOCK_EXTENDED)
        extended_far_enough(lease);
    remember(lease, event);
    if (event->kind == REDLOCK_ACQUIRED)
        knows_its_token(lease);
    if (event->kind == REDLOCK_ACQUIRED)
        fences_acquired(lease, event);
    else
        fences_told(lease, event);
    if (lease->is_probe && event->kind == REDLOCK_NOT_ACQUIRED && !liar_took_a_vote(w))
        world_violated(w, "progress", "in peace, with all masters up, client %u got nothing: %s",
                       CLIENT(lease), event->text);
    if (event->kind != REDLOCK_ACQUIRED)
        return;
    acquired_in_time(lease);
    order_told(lease);
    validity_is_backed(lease);
    one_holder(lease);
    no_foreign_holder(lease);
}

static bool takes(enum request_kind kind)
{
    return kind == REQUEST_ACQUIRE || kind == REQUEST_GRANT;
}

/* ---- tokens --------------------------------------------------------------------------------- */

/* A lost lease that is freed is given back when its holder need not wind down any more. */
static usec stands_for_nothing_at(const struct user_lease *lease)
{
    const struct shell *s = lease->shell;
    bool winds_down = lease->known == KNOWN_LOST && !lease->released;
    usec end = winds_down ? clock_when(&s->clock, lease->stop_by) : 0;
    return end > s->world->now ? end : s->world->now;
}

static void bury(struct world *w, uint32_t number, const struct user_lease *lease)
{
    if (!number || w->tokens[number].holder != lease)
        return;
    w->tokens[number].holder = NULL;
    w->tokens[number].dead_since = stands_for_nothing_at(lease);
}

/* A token belongs to one round of one lease, for ever. */
static void fresh_token(struct shell *s, uint32_t number, const struct request *request)
{
    struct world *w = s->world;
    struct token *token = &w->tokens[number];
    bool goes_on = request->tag.kind == REQUEST_QUEUE;
    if (token->claim &&
        (token->claim != request->tag.claim || (token->round != request->tag.round && !goes_on)))
        world_violated(w, "token", "client %u uses t%u in two rounds", s->index + 1, number);
    token->claim = request->tag.claim;
    token->round = request->tag.round;
}

static bool has_in_hand(const struct user_lease *lease, const struct token *token)
{
    char text[TOKEN_MAX + 1];
    claim_token(lease->shell->client->engine, core_of(lease->handle)->claim, text);
    return strncmp(text, token->text, TOKEN_TEXT) == 0;
}

/* Who stood behind takes over a place in line, maybe without having said so to anybody. */
static const struct user_lease *who_has(const struct world *w, const struct token *token)
{
    if (token->client >= w->clients)
        return NULL;
    for (const struct user_lease *it = w->shells[token->client]->all; it; it = it->next_all)
        if (!it->let_go && core_of(it->handle)->claim && has_in_hand(it, token))
            return it;
    return NULL;
}

static bool is_anothers(const struct user_lease *lease)
{
    const struct user_lease *owner = who_has(lease->shell->world, token_of(lease));
    return token_of(lease)->holder != lease || (owner && owner != lease);
}

/* No retry while anything of the former round may be left without a release under way. */
static void nothing_left_behind(struct shell *s, const struct user_lease *lease)
{
    const struct token *former = token_of(lease);
    if (!lease->token || is_anothers(lease) || s->world->now > former->written_off)
        return;
    unsigned left = former->asked & ~(former->refused | former->released);
    for (unsigned i = 0; i < s->world->masters; i++)
        if (left & 1U << i && s->links[i].phase == LINK_UP && s->links[i].greeted &&
            master_is_up(&s->client->engine->masters[i]))
            world_violated(s->world, "rollback",
                           "lease %u of client %u tries again, and t%u is left on master %u",
                           lease->number, CLIENT(lease), lease->token, i + 1);
}

static void new_round(struct shell *s, uint32_t number, const struct request *request)
{
    struct user_lease *lease = user_lease_of(lease_of_claim(request->tag.claim));
    if (!lease || lease->token == number)
        return;
    nothing_left_behind(s, lease);
    bury(s->world, lease->token, lease);
    lease->token = number;
    s->world->tokens[number].holder = lease;
    s->world->tokens[number].dead_since = 0;
}

/* What is owed to a master that answers errors is sent again five times a second, for each
 * round whose ttl is not over: with long ttls that adds up, and it is known. */
static bool answers_errors(const struct world *w, unsigned master)
{
    return w->now < w->servers[master].errors_until + MS(1000) ||
           (is_liar(w, master) && w->lies >> LIE_ERROR & 1);
}

/* Whatever a master says: not more than so many requests a second, for each lease there is
 * or was. */
static void no_flood(struct shell *s, unsigned master, enum request_kind kind)
{
    struct shell_link *link = &s->links[master];
    struct world *w = s->world;
    if (kind == REQUEST_RELEASE && answers_errors(w, master))
        return;
    if (w->now - link->counted_since > MS(1000)) {
        link->counted_since = w->now;
        link->sent = 0;
        link->leases_before = s->leases_made;
    }
    if (++link->sent % FLOOD)
        return;
    unsigned leases = 1 + s->leases_made - link->leases_before;
    for (const struct user_lease *lease = s->all; lease; lease = lease->next_all)
        leases++;
    if (link->sent > FLOOD * leases)
        world_violated(w, "flood",
                       "client %u has sent master %u %u requests within a second, for %u leases",
                       s->index + 1, master + 1, link->sent, leases - 1);
}

void check_sent(struct shell *s, unsigned master, const struct message *message,
                const struct request *request)
{
    enum request_kind kind = request->tag.kind;
    uint32_t number = message->call.value;
    struct token *token = &s->world->tokens[number];
    no_flood(s, master, kind);
    if (!number)
        return;
    struct user_lease *lease = user_lease_of(lease_of_claim(request->tag.claim));
    check_batch(s, lease, request,
                kind == REQUEST_RELEASE ? !token->released : lease && !lease->first_sent);
    if (kind == REQUEST_GRANT || kind == REQUEST_QUEUE)
        fences_sent(s->world, number);
    if (lease && (takes(kind) || kind == REQUEST_QUEUE))
        order_sent(lease, number, message->call.ticket);
    if (takes(kind) || kind == REQUEST_QUEUE) {
        fresh_token(s, number, request);
        new_round(s, number, request);
        token->client = s->index;
        token->asked |= (uint16_t)(1U << master);
    }
    if (kind == REQUEST_RELEASE)
        token->released |= (uint16_t)(1U << master);
    if (kind == REQUEST_RENEW && lease && lease_is_acquiring(core_of(lease->handle)))
        fences_confirmed(s->world, number);
    if (takes(kind) || kind == REQUEST_QUEUE || kind == REQUEST_RENEW) {
        usec last = s->world->now + STRAY;
        if (last > token->last_set)
            token->last_set = last;
        last = s->world->now + request->tag.ttl / 100 * 99;
        if (last > token->written_off)
            token->written_off = last;
    }
}

static bool says_it_is_not_there(const struct message *message)
{
    enum answer answer = message->answer.answer;
    if (message->call.kind == REQUEST_RAISE)
        return message->call.count == 1 && (answer == ANSWER_HELD || answer == ANSWER_ABSENT);
    return takes(message->call.kind) && (answer == ANSWER_HELD || answer == ANSWER_NO_CLOCK);
}

void check_heard(struct shell *s, unsigned master, const struct message *message)
{
    usec vague = (shell_now(s) - message->sent_local) / 2;
    if (message->answer.answer == ANSWER_HELLO && vague > s->links[master].vague)
        s->links[master].vague = vague;
    if (message->answer.answer == ANSWER_HELLO)
        s->links[master].compared = s->world->now;
    if (says_it_is_not_there(message))
        s->world->tokens[message->call.value].refused |= (uint16_t)(1U << master);
}

/* ---- masters -----------------------------------------------------------------------------------
 */

/* A master that may have forgotten grants nothing and heals nothing. */
static void abstains(struct world *w, unsigned master, const struct message *message)
{
    if (w->now < w->servers[master].abstains_until)
        world_violated(w, "quarantine", "master %u %s t%u, and must abstain for %lld us more",
                       master + 1, message->answer.answer == ANSWER_HEALED ? "healed" : "granted",
                       message->call.value,
                       (long long)(w->servers[master].abstains_until - w->now));
}

/* A lease heals only while it is valid, as far as is known when it is asked for. */
static void heals_in_time(struct world *w, unsigned master, const struct message *message)
{
    const struct token *token = &w->tokens[message->call.value];
    const struct user_lease *lease = token->excused ? NULL : token->holder; /* not if detached */
    if (!lease || !lease->end || is_wrong(w, master) || message->answer.answer != ANSWER_HEALED ||
        w->faults & 1U << FAULT_STEP_CLOCK)
        return;
    usec late = shell_now(lease->shell) - lease->farthest_end;
    const struct shell_link *link = &lease->shell->links[master];
    usec drift = (w->now - link->compared) / 100; /* since they were compared */
    if (late > HEAL_GRACE + link->vague + drift)
        world_violated(w, "healing", "master %u heals t%u %lld us after the end of lease %u",
                       master + 1, message->call.value, (long long)late, lease->number);
}

/* Whoever grants has run for longer than the longest ttl that the client knows to be in use:
 * none that it may have forgotten is left.  (The record of one that was wrong may be younger than
 * its process.) */
static void knows_the_terms(struct world *w, unsigned master, const struct message *message)
{
    const struct model_master *model = &w->servers[master].model;
    usec age = server_wall(w, master) - model->data.clock.s;
    bool adopted = model->data.clock.a == model->run_id;
    bool was_wrong = w->servers[master].farthest || w->servers[master].wrong_until;
    if (!adopted && !was_wrong && !is_wrong(w, master) && age < MS(message->longest_ttl_ms))
        world_violated(w, "terms", "master %u grants t%u after %lld ms, and ttls are up to %lld ms",
                       master + 1, message->call.value, (long long)age / 1000,
                       (long long)message->longest_ttl_ms);
}

static void is_kept(struct world *w, unsigned master, uint32_t number, unsigned name)
{
    /* As the fastest clock within the bound sees it. */
    const struct model_key *key = &w->servers[master].model.data.keys[name];
    usec left = key->expires_ms * 1000 - server_wall(w, master);
    usec kept = w->now + left / 10000 * 9955 + left % 10000 * 9955 / 10000;
    if (kept > w->tokens[number].backed[master])
        w->tokens[number].backed[master] = kept;
}

/* A master has handed over by itself. */
static void given_away(struct world *w, unsigned master, const struct message *message)
{
    for (unsigned i = 0; i < message->answer.push_count; i++) {
        const struct model_push *push = &message->answer.pushes[i];
        fences_granted(w, master, push->value, push->clock); /* did it keep it until now? */
        is_kept(w, master, push->value, push->names[0]);
        bool forgets = w->servers[master].abstains_until || w->servers[master].wrong_until;
        if (forgets && w->tokens[push->value].dead_since)
            w->tokens[push->value].excused = true; /* a place that it should have forgotten */
    }
}

/* What asked for a token is carried out before its release, or not at all. */
static void in_order(struct world *w, unsigned master, const struct message *message)
{
    const struct token *token = &w->tokens[message->call.value];
    if (token->gone & 1U << master && !token->excused && w->now <= token->last_set)
        world_violated(w, "order", "master %u is asked for t%u after it has released it",
                       master + 1, message->call.value);
}

void check_executed(struct world *w, unsigned master, const struct message *message)
{
    if (message->call.value > w->token_count)
        return; /* a mutant has had it carried out on another connection */
    struct token *token = &w->tokens[message->call.value];
    bool renewed = message->call.kind == REQUEST_RENEW && message->answer.answer == ANSWER_YES;
    bool given = message->call.kind == REQUEST_QUEUE &&
                 (message->answer.answer == ANSWER_YES || message->answer.answer == ANSWER_AHEAD);
    bool granted = takes(message->call.kind) && message->answer.answer == ANSWER_YES;
    bool healed = message->answer.answer == ANSWER_HEALED;
    fences_executed(w, master, message);
    order_executed(w, master, message);
    given_away(w, master, message);
    if (message->call.kind == REQUEST_RELEASE)
        token->gone |= (uint16_t)(1U << master);
    if (message->call.kind == REQUEST_QUEUE && w->now > token->last_set)
        token->excused = true; /* likewise: it may be given what it no longer waits for */
    if (given)
        is_kept(w, master, message->call.value, message->call.names[0]);
    if (!granted && !healed && !renewed)
        return;
    /* As the fastest clock within the bound sees it. */
    usec kept = w->now + message->call.ttl_ms * 9955 / 10;
    if (kept > token->backed[master])
        token->backed[master] = kept;
    if (w->now > token->last_set)
        token->excused = true; /* it was on its way for so long that its ttl is the backstop */
    if (renewed)
        return;
    knows_the_terms(w, master, message);
    abstains(w, master, message);
    in_order(w, master, message);
    heals_in_time(w, master, message);
}

/* ---- what is owed
 * --------------------------------------------------------------------------------- */

void check_freed(struct user_lease *lease)
{
    struct world *w = lease->shell->world;
    /* Its own, and those of places in line that others have taken over. */
    for (uint32_t token = 1; token <= w->token_count; token++)
        bury(w, token, lease);
}

void check_ended(struct shell *s)
{
    struct world *w = s->world;
    if (s->closed)
        return;
    /* Only leases of this client that are not yet cleaned up can have keys anywhere. */
    for (uint32_t i = 1; i <= w->token_count; i++)
        if (w->tokens[i].client == s->index)
            w->tokens[i].excused = true;
}

static bool is_live(const struct world *w, const struct token *token)
{
    const struct user_lease *lease = token->holder ? token->holder : who_has(w, token);
    if (!lease)
        return false;
    if (lease->let_go)
        return true; /* not carried out yet */
    const struct lease *core = core_of(lease->handle);
    return lease_is_acquiring(core) || lease_is_waiting(core) || lease_is_held(core) ||
           (core->state == LEASE_LOST && lease->stop_by > shell_now(lease->shell));
}

static bool refuses(const struct shell *s, unsigned master)
{
    return s->client && s->client->engine->masters[master].refused;
}

static void no_orphan(struct world *w, unsigned master, unsigned name)
{
    uint32_t number = model_value(&w->servers[master].model, server_wall(w, master), name);
    struct token *token = &w->tokens[number];
    bool out_of_reach = token->client < w->clients && (!lasting_reaches(w, token->client, master) ||
                                                       refuses(w->shells[token->client], master));
    if (!number || token->excused || out_of_reach || is_liar(w, master) || is_live(w, token))
        return;
    if (!token->dead_since)
        token->dead_since = w->now;
    usec since = token->dead_since > w->peace_at ? token->dead_since : w->peace_at;
    if (w->now - since > ORPHAN_GRACE)
        world_violated(w, "orphan", "master %u still has %c = t%u, given up %lld us ago",
                       master + 1, 'a' + name, number, (long long)(w->now - token->dead_since));
}

/* ---- what must come ---------------------------------------------------------------------------
 */

/* A master may take a quarter of the ttl over each question: to give it, to prolong it, who has it,
 * and with a fence to store that. */
static usec wait_grace(const struct user_lease *lease)
{
    usec questions = lease->terms.ttl / 4 * (3 + lease->terms.fence);
    return questions > WAIT_GRACE ? questions : WAIT_GRACE;
}

/* An acquire is answered when its wait is over, whatever the masters do. */
static void waiting_ends(const struct user_lease *lease)
{
    struct shell *s = lease->shell;
    if (lease->known != KNOWN_ASKED || user_lease_has_calls(lease) || shell_is_stopped(s))
        return;
    usec grace = wait_grace(lease);
    if (lease->terms.wait > NEVER / 2)
        return;
    /* From the pump's next turn on. */
    usec due = core_of(lease->handle)->asked_at + lease->terms.wait;
    due = (due > s->ran_again_local ? due : s->ran_again_local) + grace;
    if (shell_now(s) > due)
        world_violated(s->world, "waiting", "lease %u of client %u still waits for an answer",
                       lease->number, CLIENT(lease));
}

void check_waiting(struct world *w)
{
    for (unsigned c = 0; c < w->clients; c++)
        for (const struct user_lease *lease = w->shells[c]->all; lease; lease = lease->next_all)
            waiting_ends(lease);
}

void check_orphans(struct world *w)
{
    unsigned names = w->options.habit == HABIT_CROWD ? MODEL_KEYS : w->names;
    for (unsigned i = 0; i < w->masters; i++)
        for (unsigned name = 0; name < names; name++)
            no_orphan(w, i, name);
}

/* ---- accounts
 * --------------------------------------------------------------------------------------- */

void check_step(struct shell *s)
{
    usec now = shell_now(s);
    for (struct user_lease *lease = s->all; lease; lease = lease->next_all)
        never_resurrected(lease, now);
}

void check_idle(struct shell *s)
{
    if (s->client->pump.any)
        world_violated(s->world, "progress", "client %u: the pump does not come to rest",
                       s->index + 1);
    check_written(s);
    check_notified(s);
    check_held(s);
    for (unsigned i = 0; i < s->world->masters; i++)
        if (s->client->engine->masters[i].in_flight != s->links[i].expected)
            world_violated(s->world, "accounts",
                           "client %u counts %u requests in flight to master %u, and has %u",
                           s->index + 1, s->client->engine->masters[i].in_flight, i + 1,
                           s->links[i].expected);
}
