#include "rules.h"

#include "movers.h"
#include "wrong.h"

#define HEAL_GRACE MS(3) /* in the granularity of clocks */

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
    /* A renewal of a lease that handed the token on may be on its way. */
    usec end =
        token->farthest_end > lease->farthest_end ? token->farthest_end : lease->farthest_end;
    usec late = shell_now(lease->shell) - end;
    const struct shell_link *link = &lease->shell->links[master];
    usec drift = (w->now - link->compared) / 100; /* since they were compared */
    if (late > HEAL_GRACE + link->vague + drift)
        world_violated(w, "healing", "master %u heals t%u %lld us after the end of lease %u",
                       master + 1, message->call.value, (long long)late, lease->number);
}

/* A master that grants has run for longer than the longest ttl that the client knows to be in use.
 * None that it may have forgotten is left.  (The record of one that was wrong may be younger than
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

/* The end is that of the fastest clock within the bound. */
static void is_kept_until(struct world *w, unsigned master, uint32_t number, usec end)
{
    if (end > w->tokens[number].backed[master])
        w->tokens[number].backed[master] = end;
}

static bool is_alone(struct world *w, unsigned master, uint32_t number, const uint8_t *names,
                     unsigned count)
{
    bool alone = true;
    for (unsigned i = 0; i < count; i++)
        alone &= model_value(&w->servers[master].model, server_wall(w, master), names[i]) == number;
    return alone;
}

/* It keeps its names from readers, too; or no more.  A master that may have forgotten a reader
 * keeps nothing from readers for one that was a reader itself. */
static void is_kept_alone(struct world *w, unsigned master, uint32_t number, const uint8_t *names,
                          unsigned count)
{
    struct token *token = &w->tokens[number];
    bool was_alone = token->alone[master] > w->now;
    bool abstains = w->now < w->servers[master].abstains_until; /* it lets nobody in */
    if (is_alone(w, master, number, names, count))
        token->alone[master] =
            token->upgraded && abstains ? token->alone[master] : token->backed[master];
    else if (!abstains)
        token->alone[master] = 0;
    if (was_alone && !token->alone[master] && token->holder)
        validity_shared(token->holder);
}

/* Likewise, as long as the key lasts, or the reader. */
static void is_kept(struct world *w, unsigned master, uint32_t number, unsigned name)
{
    usec expires = 1000 * model_expires_ms(&w->servers[master].model, name, number);
    usec left = expires - server_wall(w, master);
    is_kept_until(w, master, number, w->now + left / 10000 * 9955 + left % 10000 * 9955 / 10000);
}

/* A master has handed over by itself. */
static void given_away(struct world *w, unsigned master, const struct message *message)
{
    for (unsigned i = 0; i < message->answer.push_count; i++) {
        const struct model_push *push = &message->answer.pushes[i];
        if (push->says)
            continue;
        fences_granted(w, master, push->value, push->clock); /* did it keep it until now? */
        is_kept(w, master, push->value, push->names[0]);
        is_kept_alone(w, master, push->value, push->names, push->count);
        bool forgets = w->servers[master].abstains_until || w->servers[master].wrong_until;
        if (forgets && w->tokens[push->value].dead_since)
            w->tokens[push->value].excused = true; /* a place that it should have forgotten */
    }
}

/* A request for a token is carried out before its release, or not at all. */
static void in_order(struct world *w, unsigned master, const struct message *message)
{
    const struct token *token = &w->tokens[message->call.value];
    if (token->gone & 1U << master && !token->excused && w->now <= token->last_set)
        world_violated(w, "order", "master %u is asked for t%u after it has released it",
                       master + 1, message->call.value);
}

/* A token that is set that late after it was asked for is not given back: its ttl is the backstop.
 */
static void excuse_a_stray(const struct world *w, struct token *token)
{
    if (w->now > token->last_set)
        token->excused = true;
}

static void queued(struct world *w, unsigned master, const struct message *message)
{
    enum answer answer = message->answer.answer;
    excuse_a_stray(w,
                   &w->tokens[message->call.value]); /* it may be given what it no longer wants */
    if (answer == ANSWER_YES || answer == ANSWER_AHEAD) {
        is_kept(w, master, message->call.value, message->call.names[0]);
        is_kept_alone(w, master, message->call.value, message->call.names, message->call.count);
    }
}

/* The token was granted, renewed or healed. */
static void prolonged(struct world *w, unsigned master, const struct message *message)
{
    is_kept_until(w, master, message->call.value, w->now + message->call.ttl_ms * 9955 / 10);
    w->tokens[message->call.value].upgraded |= message->call.kind == REQUEST_UPGRADE;
    is_kept_alone(w, master, message->call.value, message->call.names, message->call.count);
    excuse_a_stray(w, &w->tokens[message->call.value]);
}

/* A token that another process has given back stays so, whatever was on its way there. */
static void is_not_given_back(struct world *w, unsigned master, const struct message *message)
{
    if (message->answer.answer == ANSWER_HEALED && !is_wrong(w, master) &&
        w->now < w->tokens[message->call.value].unhealed[master])
        world_violated(w, "healing", "master %u heals t%u, which another process has given back",
                       master + 1, message->call.value);
}

/* The token is where it was not. */
static void newly_set(struct world *w, unsigned master, const struct message *message)
{
    knows_the_terms(w, master, message);
    abstains(w, master, message);
    in_order(w, master, message);
    if (!w->tokens[message->call.value].kind)
        heals_in_time(w, master, message);
    else if (message->answer.answer == ANSWER_HEALED)
        movers_healed(w, master, message->call.value);
    is_not_given_back(w, master, message);
}

/* A master that has no script, or an error, will be asked again. */
static bool was_carried_out(const struct message *message)
{
    enum answer answer = message->answer.answer;
    return answer == ANSWER_YES || answer == ANSWER_ABSENT || answer == ANSWER_HELD;
}

static void given_back(struct world *w, unsigned master, const struct message *message)
{
    struct token *token = &w->tokens[message->call.value];
    token->gone |= (uint16_t)(1U << master);
    bool others_ask = message->is_of_another || token->kind; /* it may be moving */
    if (others_ask && was_carried_out(message))
        token->unhealed[master] = w->now + MS(w->max_ttl_ms);
}

void grants_executed(struct world *w, unsigned master, const struct message *message)
{
    enum request_kind kind = message->call.kind;
    bool yes = message->answer.answer == ANSWER_YES;
    bool sets = (takes(kind) && yes) || message->answer.answer == ANSWER_HEALED;
    given_away(w, master, message);
    if (kind == REQUEST_RELEASE)
        given_back(w, master, message);
    if (kind == REQUEST_QUEUE)
        queued(w, master, message);
    if (sets || ((kind == REQUEST_RENEW || kind == REQUEST_UPGRADE) && yes))
        prolonged(w, master, message);
    if (sets)
        newly_set(w, master, message);
}
