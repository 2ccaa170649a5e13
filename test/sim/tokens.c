#include "rules.h"

#include <string.h>

#include "lease/further.h"
#include "movers.h"

#define STRAY MS(480) /* a request that is carried out later leaves its key to its ttl */

/* It may have taken over a claim of another lease of its client, or of a further place of its
 * own. */
void tokens_acquired(struct user_lease *lease)
{
    struct shell *s = lease->shell;
    if (lease->by_token)
        return;
    lease->token = world_token(s->world, redlock_lease_token(lease->handle), TOKEN_TEXT);
    s->world->tokens[lease->token].holder = lease;
    s->world->tokens[lease->token].dead_since = 0;
    lease->undermined |= s->world->tokens[lease->token].given_back;
}

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

static bool is_of_claim(const struct user_lease *lease, const struct claim *claim,
                        const struct token *token)
{
    char text[TOKEN_MAX + 1];
    if (!claim || claim->abandoned)
        return false;
    claim_token(lease->shell->client->engine, claim, text);
    return strncmp(text, token->text, TOKEN_TEXT) == 0;
}

bool tokens_has_in_hand(const struct user_lease *lease, const struct token *token)
{
    const struct lease *core = core_of(lease->handle);
    const struct permit *permit = core->attempt ? core->attempt->permit : NULL;
    if (is_of_claim(lease, core->claim, token))
        return true;
    for (const struct further_place *it = permit ? permit->places : NULL; it; it = it->next)
        if (is_of_claim(lease, it->lease.claim, token))
            return true;
    return false;
}

/* The next lease of the local queue takes over a place, perhaps without a request. */
const struct user_lease *tokens_owner(const struct world *w, const struct token *token)
{
    if (token->client >= w->clients)
        return NULL;
    for (const struct user_lease *it = w->shells[token->client]->all; it; it = it->next_all)
        if (!it->let_go && tokens_has_in_hand(it, token))
            return it;
    return NULL;
}

static bool is_anothers(const struct user_lease *lease)
{
    const struct user_lease *owner = tokens_owner(lease->shell->world, token_of(lease));
    return token_of(lease)->holder != lease || (owner && owner != lease);
}

/* No retry while anything of the former round may be left without a release under way. */
static void nothing_left_behind(struct shell *s, const struct user_lease *lease)
{
    const struct token *former = token_of(lease);
    if (!lease->token || lease->went_over || is_anothers(lease) ||
        s->world->now > former->written_off)
        return;
    unsigned left = former->asked & ~(former->refused | former->released);
    for (unsigned i = 0; i < s->world->masters; i++)
        if (left & 1U << i && s->links[i].phase == LINK_UP && s->links[i].greeted &&
            master_is_up(shell_master(s, i)))
            world_violated(s->world, "rollback",
                           "lease %u of client %u tries again, and t%u is left on master %u",
                           lease->number, CLIENT(lease), lease->token, i + 1);
}

static void new_round(struct shell *s, uint32_t number, const struct request *request)
{
    struct user_lease *lease = user_lease_of(lease_of_claim(request->tag.claim));
    if (!lease || lease->token == number)
        return;
    if (!lease->terms.permits) { /* else it may stand in other queues as well */
        nothing_left_behind(s, lease);
        bury(s->world, lease->token, lease);
    }
    lease->token = number;
    lease->went_over = false;
    s->world->tokens[number].holder = lease;
    s->world->tokens[number].dead_since = 0;
}

/* A request for `ttl` is on its way from now on. */
static void lasts_until(const struct world *w, struct token *token, usec ttl)
{
    usec last = w->now + STRAY;
    if (last > token->last_set)
        token->last_set = last;
    last = w->now + ttl / 100 * 99;
    if (last > token->written_off)
        token->written_off = last;
}

void tokens_undermine(struct world *w, uint32_t number, const struct user_lease *by)
{
    struct token *token = &w->tokens[number];
    if (!token->passed_on || token->settled)
        return;
    token->given_back = true;
    for (unsigned c = 0; c < w->clients; c++)
        for (struct user_lease *lease = w->shells[c]->all; lease; lease = lease->next_all)
            lease->undermined |= lease->token == number && lease != by;
}

static bool is_had(const struct world *w, uint32_t number)
{
    for (unsigned c = 0; c < w->clients; c++)
        for (const struct user_lease *lease = w->shells[c]->all; lease; lease = lease->next_all)
            if (lease->token == number && !lease->ended && !lease->let_go)
                return true;
    return false;
}

void tokens_released(const struct user_lease *lease)
{
    struct world *w = lease->shell->world;
    struct token *token = &w->tokens[lease->token];
    token->settled |= token->given_back && !is_had(w, lease->token);
}

void tokens_not_left(struct shell *s, uint32_t number, const void *claim, const char *does)
{
    const void *detached = s->world->tokens[number].detached;
    if (detached && detached == claim)
        world_violated(s->world, "token", "client %u %s t%u, which it has detached", s->index + 1,
                       does, number);
}

void tokens_sent(struct shell *s, unsigned master, uint32_t number, const struct request *request)
{
    enum request_kind kind = request->tag.kind;
    struct token *token = &s->world->tokens[number];
    bool asks = takes(kind) || kind == REQUEST_QUEUE;
    if (asks) {
        fresh_token(s, number, request);
        new_round(s, number, request);
        token->client = s->index;
        token->asked |= (uint16_t)(1U << master);
    }
    if (kind == REQUEST_RELEASE) {
        token->released |= (uint16_t)(1U << master);
        tokens_undermine(s->world, number, user_lease_of(lease_of_claim(request->tag.claim)));
        tokens_not_left(s, number, request->tag.claim, "releases");
    }
    if (kind == REQUEST_RENEW)
        tokens_not_left(s, number, request->tag.claim, "asks to renew");
    movers_sent(s, number, kind);
    if (asks || kind == REQUEST_RENEW || kind == REQUEST_UPGRADE)
        lasts_until(s->world, token, request->tag.ttl);
}

static bool says_it_is_not_there(const struct message *message)
{
    enum answer answer = message->answer.answer;
    if (message->call.kind == REQUEST_RAISE)
        return message->call.count == 1 && (answer == ANSWER_HELD || answer == ANSWER_ABSENT);
    return takes(message->call.kind) && (answer == ANSWER_HELD || answer == ANSWER_NO_CLOCK);
}

void tokens_heard(struct shell *s, unsigned master, const struct message *message)
{
    if (says_it_is_not_there(message))
        s->world->tokens[message->call.value].refused |= (uint16_t)(1U << master);
}

void tokens_freed(struct user_lease *lease)
{
    struct world *w = lease->shell->world;
    /* Its own tokens, and those of places that others have taken over. */
    for (uint32_t token = 1; token <= w->token_count; token++)
        bury(w, token, lease);
}

/* To masters that it cannot reach.  Tokens that are not owed must be gone. */
static void excuse_what_is_owed(struct shell *s)
{
    const struct engine *e = s->client ? s->client->engine : NULL;
    for (const struct claim *claim = e ? e->abandoned : NULL; claim; claim = claim->next) {
        char text[TOKEN_MAX + 1];
        claim_token(e, claim, text);
        s->world->tokens[world_token(s->world, text, TOKEN_TEXT)].excused = true;
    }
}

void tokens_ended(struct shell *s)
{
    struct world *w = s->world;
    if (s->closed) {
        excuse_what_is_owed(s);
        return;
    }
    /* Only leases of this client that are not yet cleaned up can have keys anywhere. */
    for (uint32_t i = 1; i <= w->token_count; i++)
        if (w->tokens[i].client == s->index)
            w->tokens[i].excused = true;
}
