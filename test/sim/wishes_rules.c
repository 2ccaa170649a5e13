#include "wishes.h"

#include "exchange.h"
#include "invariants.h"
#include "liar.h"
#include "model_tasks.h"
#include "recipe_users.h"
#include "trace.h"
#include "wrong.h"

#define CLOCKS_APART MS(250)  /* in the life of a wish, and what is rounded */
#define HEARD_WITHIN MS(6500) /* a heeder asks every 5 s */

/* ---- which masters were wrong ------------------------------------------------------------ */

static void note_wrong(struct world *w)
{
    for (unsigned i = 0; i < w->masters; i++)
        if (is_wrong(w, i))
            w->ever_wrong |= (uint16_t)(1U << i);
}

static unsigned count_bits(unsigned bits)
{
    return (unsigned)__builtin_popcount(bits);
}

/* Nothing is promised. */
static bool may_be_deceived(struct world *w)
{
    note_wrong(w);
    return w->options.beyond || w->mixed || count_bits(w->ever_wrong) > w->spare;
}

/* These masters and the wrong ones. */
static unsigned count_with_wrong(const struct world *w, unsigned masters)
{
    return count_bits(masters | w->ever_wrong);
}

/* ---- what is said --------------------------------------------------------------------------- */

static struct wish_made *wish_of(struct world *w, uint32_t said)
{
    uint32_t number = said & ~SAID_AS_WISH;
    return said & SAID_AS_WISH && number && number <= w->wish_count ? &w->wishes_made[number]
                                                                    : NULL;
}

static bool is_id_of_another(const struct world *w, const struct wish_made *wish, usec id)
{
    for (uint32_t i = 1; i <= w->wish_count; i++)
        if (w->wishes_made[i].id == id && &w->wishes_made[i] != wish)
            return true;
    return false;
}

/* A wish has one id on all masters, however often it is said, and no other wish has it. */
void wishes_sent(struct shell *s, const struct message *message)
{
    const struct model_call *call = &message->call;
    struct wish_made *wish = wish_of(s->world, call->said);
    if (call->kind != REQUEST_ASK)
        return;
    if (!wish || wish->channel != s->channel || call->names[0] != wish->name ||
        call->names[1] != wishes_of(wish->name))
        world_violated(s->world, "wish", "client %u says what none of its users wishes",
                       s->index + 1);
    else if (is_id_of_another(s->world, wish, call->fence) || (wish->id && wish->id != call->fence))
        world_violated(s->world, "wish", "client %u says a wish with more ids than one",
                       s->index + 1);
    else
        wish->id = call->fence;
}

static void note(struct world *w, uint32_t said, uint32_t token, unsigned master, unsigned client)
{
    w->tellings[w->tellings_made++ % TELLINGS] = (struct telling){.wish = said & ~SAID_AS_WISH,
                                                                  .token = token,
                                                                  .master = master,
                                                                  .client = client,
                                                                  .at = w->now};
}

static void note_there(struct world *w, unsigned master, const struct message *message)
{
    uint32_t number = message->call.said & ~SAID_AS_WISH, token = message->answer.value;
    struct wish_there *there = &w->wishes_there[master][message->call.names[0]];
    if (there->wish != number || there->token != token)
        *there = (struct wish_there){.wish = number, .token = token, .since = w->now};
}

/* The holder still has the name, and for as long. */
static void takes_nothing(struct world *w, unsigned master, const struct message *message)
{
    unsigned name = message->call.names[0];
    usec wall = server_wall(w, master);
    uint32_t value = model_value(&w->servers[master].model, wall, name);
    int64_t expires_ms = w->servers[master].model.data.keys[name].expires_ms;
    int64_t left_ms = expires_ms ? expires_ms - wall / 1000 : -1;
    if (value != message->answer.value || left_ms != message->answer.remaining_ms)
        world_violated(w, "wish", "master %u takes %c from its holder, as somebody wishes it",
                       master + 1, 'a' + (int)name);
}

static void note_absent(struct world *w, unsigned master, struct wish_made *wish)
{
    usec abstains = w->servers[master].abstains_until;
    usec from = abstains > w->now ? abstains : w->now;
    if (!wish->absent[master] || from < wish->absent[master])
        wish->absent[master] = from;
}

/* A master that may not lie. */
void wishes_executed(struct world *w, unsigned master, const struct message *message)
{
    struct wish_made *wish = wish_of(w, message->call.said);
    if (message->call.kind != REQUEST_ASK || !wish)
        return;
    if (message->answer.answer == ANSWER_ABSENT)
        note_absent(w, master, wish);
    if (message->answer.answer != ANSWER_HELD)
        return;
    wish->held |= (uint16_t)(1U << master);
    takes_nothing(w, master, message);
    note(w, message->call.said, message->answer.value, master, CLIENTS_MAX);
    note_there(w, master, message);
}

void wishes_pushed(const struct shell *s, unsigned master, const struct heard *heard)
{
    if (wishes_are(heard->name) && heard->said.value != MODEL_TAKEN)
        note(s->world, heard->said.value, heard->said.token, master, s->index);
}

bool wishes_lose(struct world *w, const struct model_push *push)
{
    return w->deaf && push->says && (wishes_are(push->names[0]) || takens_are(push->names[0])) &&
           chance_permille(&w->asking, w->deaf);
}

/* ---- what a holder hears ------------------------------------------------------------------ */

static bool is_told_to(const struct telling *it, const struct user_heeder *heeder, uint32_t number)
{
    bool is_in_time = it->client == CLIENTS_MAX
                          ? it->at >= heeder->began - CLOCKS_APART
                          : it->client == heeder->shell->index && it->at >= heeder->began;
    return it->wish == number && it->token == heeder->token && is_in_time;
}

static unsigned tellers(const struct world *w, const struct user_heeder *heeder, uint32_t number)
{
    unsigned masters = 0;
    for (unsigned i = 0; i < w->tellings_made && i < TELLINGS; i++)
        if (is_told_to(&w->tellings[i], heeder, number))
            masters |= 1U << w->tellings[i].master;
    return masters;
}

static void is_said_to_it(struct user_heeder *heeder, uint32_t number)
{
    struct world *w = heeder->shell->world;
    unsigned masters = tellers(w, heeder, number);
    if (count_with_wrong(w, masters) <= w->spare)
        world_violated(w, "wish", "lease %u hears of wish %u, which masters %#x say to it",
                       heeder->lease, number, masters);
}

/* Said by another process, and about this name. */
static void is_wish_of_others(struct user_heeder *heeder, uint32_t number)
{
    struct world *w = heeder->shell->world;
    const struct wish_made *wish = wish_of(w, number | SAID_AS_WISH);
    if (!wish || wish->name != heeder->name)
        world_violated(w, "wish", "lease %u hears of wish %u, which nobody has", heeder->lease,
                       number);
    else if (wish->channel == heeder->shell->channel)
        world_violated(w, "wish", "lease %u hears of wish %u of its own client", heeder->lease,
                       number);
}

void wishes_heard(struct user_heeder *heeder, uint32_t number)
{
    struct world *w = heeder->shell->world;
    if (number >= WISHES_MOST || heeder->heard[number]) {
        world_violated(w, "wish", "lease %u hears of wish %u again", heeder->lease, number);
        return;
    }
    heeder->heard[number] = true;
    if (may_be_deceived(w))
        return;
    is_wish_of_others(heeder, number);
    is_said_to_it(heeder, number);
}

/* ---- what it must hear -------------------------------------------------------------------- */

/* Nothing goes wrong from then on. */
static usec calm_since(const struct world *w)
{
    if (w->faults & 1U << FAULT_LASTING)
        return NEVER;
    return !w->faults ? 0 : w->peace ? w->peace_at : NEVER;
}

/* The master has this wish for it now, and has had it for long.  By clocks that run apart it may
 * seem to be from before the heeder began. */
static bool is_overdue_on(struct user_heeder *heeder, unsigned master, usec since)
{
    const struct shell *s = heeder->shell;
    struct world *w = s->world;
    struct server *server = &w->servers[master];
    const struct wish_there *there = &w->wishes_there[master][heeder->name];
    const struct master *known = shell_master(s, master);
    if (!server->up || w->ever_wrong >> master & 1 || !known || !master_is_up(known) ||
        there->token != heeder->token || there->since < since + CLOCKS_APART ||
        there->since > w->now - HEARD_WITHIN)
        return false;
    const struct model_said *said =
        model_said(&server->model, server_wall(w, master), wishes_of(heeder->name));
    return said->token == there->token && said->value == (there->wish | SAID_AS_WISH) &&
           w->wishes_made[there->wish].channel != s->channel && !heeder->heard[there->wish];
}

static void is_heard_soon(struct user_heeder *heeder)
{
    const struct shell *s = heeder->shell;
    struct world *w = s->world;
    usec calm = calm_since(w);
    usec since = calm == NEVER || calm < heeder->began ? heeder->began : calm;
    unsigned masters = 0;
    uint32_t wish = 0;
    if (calm == NEVER || heeder->watches)
        return;
    for (unsigned i = 0; i < w->masters; i++)
        if (is_overdue_on(heeder, i, since) &&
            (!wish || w->wishes_there[i][heeder->name].wish == wish)) {
            wish = w->wishes_there[i][heeder->name].wish;
            masters |= 1U << i;
        }
    if (count_bits(masters) > w->spare)
        world_violated(w, "unheard", "lease %u does not hear of wish %u, which masters %#x have",
                       heeder->lease, wish, masters);
}

void wishes_due(struct world *w)
{
    if (!w->asks || may_be_deceived(w))
        return;
    for (unsigned c = 0; c < w->clients; c++) {
        const struct shell *s = w->shells[c];
        bool hears = s->client && !s->close_asked && !shell_is_stopped(s);
        for (struct user_heeder *it = s->heeders; it && hears; it = it->next) {
            is_heard_soon(it);
            breaks_due(it);
        }
    }
}

/* ---- what an asker hears ------------------------------------------------------------------ */

/* A master that abstained then had forgotten who held it, perhaps. */
static unsigned absent_on(const struct world *w, const struct wish_made *wish)
{
    unsigned masters = 0;
    for (unsigned i = 0; i < w->masters; i++)
        masters |= (unsigned)(wish->absent[i] && wish->absent[i] <= w->now) << i;
    return masters;
}

static void is_held_well(struct user_asker *asker, const struct wish_made *wish,
                         const redlock_asked *asked)
{
    const struct shell *s = asker->shell;
    const struct world *w = s->world;
    bool is_held = count_with_wrong(w, wish->held) >= s->quorum;
    bool has_let_go = asked->heard && count_with_wrong(w, wish->held) > w->spare &&
                      count_with_wrong(w, absent_on(w, wish)) >= s->quorum;
    if (!is_held && !has_let_go)
        world_violated(s->world, "asked", "wish %u: it is held, say masters %#x", asker->number,
                       wish->held);
}

static void is_free_well(struct user_asker *asker, const struct wish_made *wish)
{
    const struct shell *s = asker->shell;
    unsigned masters = absent_on(s->world, wish);
    if (count_with_wrong(s->world, masters) < s->quorum)
        world_violated(s->world, "asked", "wish %u: nobody holds it, say masters %#x",
                       asker->number, masters);
}

void wishes_told(struct user_asker *asker, const redlock_asked *asked)
{
    struct world *w = asker->shell->world;
    const struct wish_made *wish = &w->wishes_made[asker->number];
    if (asker->told)
        world_violated(w, "once", "wish %u: its asker hears twice how it went", asker->number);
    asker->told = true;
    if (may_be_deceived(w))
        return;
    if (asked->code == REDLOCK_OK)
        is_held_well(asker, wish, asked);
    if (asked->code == REDLOCK_E_GONE)
        is_free_well(asker, wish);
    if (asked->code == REDLOCK_E_GONE && asker->again)
        world_violated(w, "asked", "wish %u is said again, and hears that it is free",
                       asker->number);
}
