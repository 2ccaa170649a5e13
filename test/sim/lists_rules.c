/* rule: A2, A3, A4, A5, A6, A7, A8, A9, A11 */
#include "lists.h"

#include <string.h>

#include "change.h"
#include "exchange.h"
#include "liar.h"
#include "trace.h"

#include "masters/agreement.h"
#include "masters/master_parts.h"

/* A client of the older list has said the processes by then, and the other one looks each minute.
 */
#define SETTLED MS(210000)
/* Nobody waits for a master if the others have not heard theirs for longer. */
#define HEARD_WITHIN MS(180000)

static unsigned count_of(unsigned masters)
{
    return (unsigned)__builtin_popcount(masters);
}

static unsigned larger(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

static unsigned smaller(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Any two quorums share an honest server, if the lists have this many servers. */
static bool meet_among(const struct list_kind *a, const struct list_kind *b, unsigned servers)
{
    servers = larger(servers, larger(a->masters, b->masters));
    return a->quorum + b->quorum >= servers + 1 + smaller(a->spare, b->spare);
}

bool lists_may_meet(const struct list_kind *a, const struct list_kind *b)
{
    return meet_among(a, b, count_of(a->has | b->has));
}

/* They are refused when all is known. */
static bool is_refused(const struct list_kind *a, const struct list_kind *b, unsigned spare)
{
    return !meet_among(a, b, count_of(a->has | b->has) - spare);
}

/* ---- whether a client may be refused -------------------------------------------------- */

static const struct list_kind *other_than(const struct shell *s)
{
    const struct list_kind *kinds = s->world->kinds;
    return s->kind == &kinds[0] ? &kinds[1] : &kinds[0];
}

static void refused(struct shell *s)
{
    struct world *w = s->world;
    const struct list_kind *own = s->kind;
    unsigned liars = count_of(w->liars & own->has);
    bool is_right = false;
    for (const struct list_kind *other = w->kinds; other < w->kinds + KINDS_ALL; other++)
        is_right |= other->was_used &&
                    (liars ? !lists_may_meet(own, other) : is_refused(own, other, own->spare));
    TRACE(w, "client %u is refused", s->index + 1);
    w->lists.refused += is_right;
    if (!is_right && liars <= own->spare)
        world_violated(w, "alarm", "client %u is refused, and its list may meet the other one",
                       s->index + 1);
}

void lists_step(struct shell *s)
{
    struct world *w = s->world;
    if (!s->kind || !s->client)
        return;
    const struct engine *e = s->client->engine;
    for (unsigned i = 0; i < s->masters; i++) {
        if (e->masters[i].word.sent_at > 0)
            continue;
        s->unsettled_at = w->now;
        if (other_than(s)->has >> s->servers[i] & 1)
            s->unheard_at = w->now;
    }
    change_step(s);
    if (e->differs && !s->differs && !s->is_over)
        refused(s);
    s->differs = e->differs;
}

/* ---- two holders ------------------------------------------------------------------------ */

static bool has_restarted(const struct world *w, unsigned masters, usec since)
{
    for (unsigned i = 0; i < w->masters; i++)
        if (masters >> i & 1 && w->servers[i].restarted_at &&
            w->servers[i].restarted_at + SETTLED >= since)
            return true;
    return false;
}

/* It knows what there is to know of processes. */
static bool is_settled(const struct user_lease *lease)
{
    const struct shell *s = lease->shell;
    usec calm = s->unsettled_at > s->stopped_until ? s->unsettled_at : s->stopped_until;
    return calm + SETTLED < lease->began;
}

static usec sooner(usec a, usec b)
{
    return a < b ? a : b;
}

static enum beside why_beside(const struct user_lease *old, const struct user_lease *new)
{
    const struct world *w = old->shell->world;
    const struct list_kind *a = old->shell->kind, *b = new->shell->kind;
    unsigned common = a->has & b->has, all = a->has | b->has, f = larger(a->spare, b->spare);
    bool heard = old->shell->unheard_at < old->began && new->shell->unheard_at < new->began;
    usec since =
        heard ? sooner(old->began, new->began) : sooner(old->shell->began_at, new->shell->began_at);
    if (!common)
        return BESIDE_APART;
    if (w->liars & all && !smaller(a->spare, b->spare))
        return BESIDE_LIAR;
    if (!is_refused(a, b, f))
        return BESIDE_PROTECTED;
    if (count_of(common) < 3 * f + 1)
        return BESIDE_FEW;
    if (has_restarted(w, common, since))
        return BESIDE_RESTART;
    if (!heard)
        return BESIDE_UNHEARD;
    bool by_processes = meet_among(a, b, 0);
    bool known = !by_processes || (!(w->liars & all) && is_settled(old) && is_settled(new) &&
                                   !has_restarted(w, all, sooner(old->began, new->began)));
    return known ? BESIDES : BESIDE_PROCESSES;
}

/* ---- a lease before a master is heard --------------------------------------------------- */

/* The masters that it is connecting to for the first time have answered hello now. */
static void hear_the_rest(const struct shell *s, struct engine *e)
{
    for (unsigned i = 0; i < s->masters; i++) {
        const struct server *server = &s->world->servers[s->servers[i]];
        struct master *master = &e->masters[i];
        if (!server->up || master->tried)
            continue;
        struct hello hello = {.uptime_s = server_wall(s->world, s->servers[i]) / 1000000 -
                                          server->model.started_s};
        exchange_spell_run_id(hello.run_id, server->model.run_id);
        master->facts = hello;
        usec begun_by = entries_begun_by(e, &hello), least = e->now - HEARD_WITHIN;
        master->begun_by = begun_by > least ? begun_by : least;
        master->lived_at = e->now;
        master->state = MASTER_UP;
        master->heard = true;
    }
}

/* A promise of some master counts. */
static bool goes_on(const struct engine *e)
{
    bool any = false;
    for (unsigned i = 0; i < e->config.masters; i++)
        any |= agreement_holds_on_looking(e, i);
    return any;
}

static bool has_waited(const struct user_lease *lease)
{
    usec connects = lease->shell->client->engine->config.connect_timeout;
    usec longest = connects < lease->terms.ttl / 4 ? connects : lease->terms.ttl / 4;
    return lease->shell->world->now - lease->began >= longest - longest / 100;
}

/* A master that it is yet to hear would refuse it. */
static bool is_early(const struct user_lease *lease)
{
    static struct engine copy; /* nothing is freed twice: what is called here changes nothing */
    copy = *lease->shell->client->engine;
    if (!copy.in_question || !goes_on(&copy) || lease->asked_for_place || has_waited(lease))
        return false;
    hear_the_rest(lease->shell, &copy);
    return !goes_on(&copy);
}

void lists_acquired(const struct user_lease *lease)
{
    struct world *w = lease->shell->world;
    w->lists.acquired += w->lists.runs;
    if (lease->shell->kind && is_early(lease))
        world_violated(w, "early",
                       "client %u has lease %u before it hears a master that tells "
                       "the lists apart",
                       CLIENT(lease), lease->number);
}

bool lists_exclude(const struct user_lease *old, const struct user_lease *new)
{
    struct world *w = old->shell->world;
    const struct list_kind *a = old->shell->kind, *b = new->shell->kind;
    if (!a)
        return true;
    if (is_change(w) && !lists_may_meet(a, b)) {
        change_held_at_once(old, new);
        return false;
    }
    if (lists_may_meet(a, b)) {
        unsigned liars = count_of(w->liars & (a->has | b->has));
        return smaller(a->spare, b->spare) >= liars;
    }
    enum beside why = why_beside(old, new);
    TRACE(w, "two hold, by lists that may not meet: %s", lists_why(why));
    if (why < BESIDES)
        w->lists.beside[why]++;
    else
        world_violated(w, "agree", "client %u holds lease %u, and client %u, of another list, %u",
                       CLIENT(old), old->number, CLIENT(new), new->number);
    return false;
}

const char *lists_why(enum beside why)
{
    static const char *const texts[] = {"no master is in both lists",
                                        "a client without spare votes believes a liar",
                                        "less protected than asked for, which is shown",
                                        "too few masters in both lists for a liar",
                                        "a master of both lists has restarted",
                                        "no word of a master of both lists",
                                        "the processes that tell the lists apart are not known yet",
                                        "no reason"};
    return texts[why];
}

bool lists_may_break(const struct world *w, const char *rule)
{
    static const char *const across[] = {"turn", "order", "fence", "fair", NULL};
    static const char *const lied[] = {"backing", "stored", "healing", "progress", "clock", NULL};
    bool is_lied_to = w->liars && !w->spare;
    if (strcmp(rule, "progress") == 0 && change_leaves_no_quorum(w))
        return true;
    for (unsigned i = 0; across[i]; i++)
        if (strcmp(rule, across[i]) == 0)
            return true;
    for (unsigned i = 0; lied[i] && is_lied_to; i++)
        if (strcmp(rule, lied[i]) == 0)
            return true;
    return false;
}
