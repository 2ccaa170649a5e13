/*
 * Each master has a clock, one for all names, and for a name at most one owner.  An attempt asks
 * all masters to grant.  A master whose name is free sets clock := max(clock + 1, proposal), is
 * owned, and answers its clock.  The attempt sorts the grants that it has heard, a quorum or more:
 * its fence is the quorum-th smallest.  (The largest of all is that of a quorum that has it.)
 * Where the grant was lower, or not heard, it sends a raise: if the name still has the same owner,
 * clock := max(clock, fence).  Once a quorum of masters is known to be at the fence or above, the
 * fence is shown, not before.
 *
 * The questions say what must be true:
 *   free    a key may vanish at any moment, nothing is assumed of time: an attempt that
 *           asks first after another has shown its fence shows a higher one;
 *   leased  a key vanishes only when its attempt is over (given up, released, or no longer
 *           valid): each fence shown is above every one shown before, overlapping or not.
 * Nothing is asked in free of attempts that overlap: those may show the same fence.
 *
 * A master that lies grants to everybody, with any number, and says that it has stored what it
 * has not; refusing is what nobody need ever hear.  A quorum is (masters + spare + 2) / 2.
 *
 * These are modelled by leaving them out:
 *   - A request or a reply that is lost: nobody need ever take the step that delivers it.
 *     A reply is heard when the attempt makes use of it, which is as late as can be.
 *   - A raise behind a grant that was lost would be refused, and so is never delivered.
 *   - A release: it can do no more than free the name behind the attempt's own requests,
 *     that is, the key vanishes and those still on their way are never delivered.
 *   - In free, that an attempt is over: it takes no more steps, and no key cares.
 *   - A client with several attempts: its links keep them in order, so it can do less than
 *     as many clients with one each.
 *   - Proposals, and their clamping to a master's own time: a grant may set the clock to
 *     anything from clock + 1 on, up to HIGHEST_PROPOSAL.  So the order does not depend on
 *     clamping, which is there to keep one wild clock from inflating all others.
 *   - Numbers: attempts are named in the order in which they ask, masters in any order.
 *
 * A restart takes a master's data, or puts back an older snapshot.  Its clock begins at
 * q + W, and it abstains until every attempt that was open is over (in free, where leases
 * mean nothing, not at all).  Time is not modelled: it is taken for granted that q + W is no lower
 * than what the master can have stored before.  The lowest such value is tried, and one more.  A
 * quarantine too short is none at all, since all messages may be late.
 */
#include "world.h"

enum { HIGHEST_START = 2, HIGHEST_PROPOSAL = 3, HIGHEST_LIE = 4 };

static int quorum_of(const struct rules *rules)
{
    int spare = rules->mutant == QUORUM_WITHOUT_SPARE ? 0 : rules->spare;
    return (rules->masters + spare + 2) / 2;
}

int fence_honest(const struct rules *rules)
{
    int tolerated = 2 * quorum_of(rules) - rules->masters - 1;
    return rules->masters - (rules->mutant == ONE_MORE_LIAR ? tolerated + 1 : rules->spare);
}

static bool is_open(const struct attempt *attempt)
{
    return attempt->phase == OPEN || attempt->phase == SHOWN;
}

static bool on_its_way(const struct world *world, const struct rules *rules, int a)
{
    for (int i = 0; i < rules->masters; i++)
        if (world->master[i].link[a] == ASKED || world->master[i].link[a] == RAISING)
            return true;
    return false;
}

/* Forgets facts that no later step looks at, so that fewer worlds differ. */
static void forget(struct world *world, const struct rules *rules, int a)
{
    struct attempt *attempt = &world->attempt[a];
    if (attempt->phase != SHOWN && attempt->phase != OVER)
        return;
    for (int i = 0; i < rules->masters; i++)
        if (world->master[i].link[a] >= STORED)
            world->master[i].link[a] = SETTLED;
    if (!on_its_way(world, rules, a))
        attempt->fence = 0;
    attempt->floor = 0;
    if (!is_leased(rules) && world->attempt[rules->attempts - 1].phase != UNSENT)
        world->top = 0;
}

static void take(const struct visit *v, struct step step, struct world *next)
{
    for (int a = 0; a < v->rules->attempts; a++)
        forget(next, v->rules, a);
    v->visit(v->visitor, &step, next);
}

/* An attempt asks all masters. */
static void ask(const struct visit *v, int a)
{
    struct world next = *v->now;
    next.attempt[a].phase = OPEN;
    next.attempt[a].floor = is_leased(v->rules) ? 0 : next.top;
    for (int i = 0; i < v->rules->masters; i++)
        next.master[i].link[a] = ASKED;
    take(v, (struct step){.act = ASK, .attempt = a}, &next);
}

static bool sends_raises(const struct visit *v)
{
    return !broken(v->rules, SECOND_ROUND_SKIPPED) && !broken(v->rules, FENCE_MAXIMUM);
}

/* The effect of a grant, or of none, on an attempt, with and without a fence. */
static int link_with(const struct visit *v, int fence, int link)
{
    if (!fence || link == ASKED)
        return link;
    if (link >= GRANTED && link - GRANTED >= fence)
        return STORED;
    return sends_raises(v) ? RAISING : SETTLED;
}

static bool may_grant(const struct visit *v, const struct master *master)
{
    return (!master->owner || broken(v->rules, GRANTED_THOUGH_TAKEN)) && !master->awaits;
}

/* The request to grant reaches a master. */
static void grant(const struct visit *v, int a, int i)
{
    int fence = v->now->attempt[a].fence;
    struct world next = *v->now;
    struct master *master = &next.master[i];
    if (!may_grant(v, master)) {
        master->link[a] = link_with(v, fence, SETTLED);
        take(v, (struct step){.act = REFUSE, .attempt = a, .master = i}, &next);
        return;
    }
    int least = master->clock + !broken(v->rules, NO_INCREMENT);
    for (int clock = least; clock <= larger(least, HIGHEST_PROPOSAL); clock++) {
        next = *v->now;
        master->clock = clock;
        master->owner = 1 + a;
        master->link[a] = link_with(v, fence, GRANTED + clock);
        take(v, (struct step){.act = GRANT, .attempt = a, .master = i}, &next);
    }
}

/* The raise reaches a master. */
static void raise_clock(const struct visit *v, int a, int i)
{
    int fence = v->now->attempt[a].fence;
    struct world next = *v->now;
    struct master *master = &next.master[i];
    bool owned = master->owner == 1 + a || broken(v->rules, NO_OWNER_CHECK);
    master->link[a] = owned ? STORED : SETTLED;
    if (owned)
        master->clock = larger(master->clock, fence);
    take(v, (struct step){.act = owned ? RAISE : REFUSE_RAISE, .attempt = a, .master = i}, &next);
}

/* A liar grants any clock, and says that it has stored it. */
static void lie(const struct visit *v, int a, int i)
{
    int fence = v->now->attempt[a].fence, link = v->now->master[i].link[a];
    struct step step = {.act = LIE, .attempt = a, .master = i};
    struct world next = *v->now;
    next.master[i].link[a] = STORED;
    if ((link == ASKED && fence) || link == RAISING)
        take(v, step, &next);
    for (int clock = 1; link == ASKED && !fence && clock <= HIGHEST_LIE; clock++) {
        next = *v->now;
        next.master[i].link[a] = GRANTED + clock;
        take(v, step, &next);
    }
}

/* The grants heard, ascending; how many. */
static int sort_grants(const struct visit *v, int a, int heard, int grants[MASTERS])
{
    int count = 0;
    for (int i = 0; i < v->rules->masters; i++) {
        if (!(heard & 1 << i))
            continue;
        int at = count++;
        int clock = v->now->master[i].link[a] - GRANTED;
        for (; at > 0 && grants[at - 1] > clock; at--)
            grants[at] = grants[at - 1];
        grants[at] = clock;
    }
    return count;
}

static int fence_of(const struct visit *v, const int *grants, int count)
{
    int quorum = quorum_of(v->rules);
    if (broken(v->rules, FENCE_MINIMUM))
        return grants[0];
    if (broken(v->rules, FENCE_MAXIMUM))
        return grants[count - 1];
    if (broken(v->rules, FENCE_STORED_ALREADY))
        return grants[count - quorum];
    if (broken(v->rules, LARGEST_LEFT_OUT) && count - v->rules->spare < quorum)
        return grants[count - v->rules->spare - 1];
    if (broken(v->rules, SMALLEST_LEFT_OUT))
        return grants[v->rules->spare];
    return grants[quorum - 1];
}

/* An attempt that has heard a quorum of grants, or more, chooses its fence. */
static void choose(const struct visit *v, int a, int heard)
{
    int grants[MASTERS];
    for (int i = 0; i < v->rules->masters; i++)
        if ((heard & 1 << i) && v->now->master[i].link[a] < GRANTED)
            return;
    int count = sort_grants(v, a, heard, grants);
    if (count < quorum_of(v->rules))
        return;
    struct world next = *v->now;
    int fence = next.attempt[a].fence = fence_of(v, grants, count);
    for (int i = 0; i < v->rules->masters; i++)
        next.master[i].link[a] = link_with(v, fence, next.master[i].link[a]);
    take(v, (struct step){.act = CHOOSE, .attempt = a, .heard = heard}, &next);
}

static bool is_stored(const struct visit *v, int a)
{
    int stored = 0;
    for (int i = 0; i < v->rules->masters; i++)
        stored += v->now->master[i].link[a] == STORED;
    if (!sends_raises(v) || broken(v->rules, SHOWN_BEFORE_STORED))
        return true;
    return stored >= quorum_of(v->rules) - broken(v->rules, STORED_BY_FEWER);
}

/* The fence is shown, and must be above those that it follows. */
static void show(const struct visit *v, int a)
{
    const struct attempt *attempt = &v->now->attempt[a];
    if (!is_stored(v, a))
        return;
    struct world next = *v->now;
    next.attempt[a].phase = SHOWN;
    next.top = larger(next.top, attempt->fence);
    bool wrong = attempt->fence <= (is_leased(v->rules) ? v->now->top : attempt->floor);
    take(v, (struct step){.act = SHOW, .attempt = a, .wrong = wrong ? NOT_ABOVE : FINE}, &next);
}

/* An attempt is given up, or a lease ends; its requests stay on their way. */
static void end(const struct visit *v, int a)
{
    struct world next = *v->now;
    next.attempt[a].phase = OVER;
    for (int i = 0; i < v->rules->masters; i++)
        next.master[i].awaits &= ~(1 << a);
    take(v, (struct step){.act = END, .attempt = a}, &next);
}

/* A key is released, or expires. */
static void vanish(const struct visit *v, int i)
{
    struct world next = *v->now;
    int a = next.master[i].owner - 1;
    if (is_leased(v->rules) && is_open(&next.attempt[a]))
        return;
    next.master[i].owner = 0;
    take(v, (struct step){.act = VANISH, .attempt = a, .master = i}, &next);
}

static int clock_after_restart(const struct visit *v, int snapshot, int q_plus_w)
{
    if (broken(v->rules, SEEDED_WHEN_ABSENT) && snapshot)
        return snapshot;
    return larger(snapshot, q_plus_w - broken(v->rules, RESTARTED_LOWER));
}

static uint8_t open_attempts(const struct visit *v)
{
    uint8_t open = 0;
    for (int a = 0; a < v->rules->attempts; a++)
        open |= is_open(&v->now->attempt[a]) << a;
    return open;
}

/* A master restarts with an older clock, or none (0), and with that owner, or none (0). */
static void restart(const struct visit *v, int i, int snapshot, int owner)
{
    int stored = v->now->master[i].clock;
    for (int q_plus_w = stored; q_plus_w <= stored + 1; q_plus_w++) {
        struct world next = *v->now;
        struct master *master = &next.master[i];
        next.restarts--;
        master->clock = clock_after_restart(v, snapshot, q_plus_w);
        master->awaits =
            is_leased(v->rules) && !broken(v->rules, QUARANTINE_SHORT) ? open_attempts(v) : 0;
        master->owner = owner;
        take(v, (struct step){.act = RESTART, .master = i}, &next);
    }
}

/* Whether a snapshot may have an attempt's key; one that is open has it still, if leased. */
static bool may_have_owned(const struct visit *v, int a, int i)
{
    const struct attempt *attempt = &v->now->attempt[a];
    if (v->now->master[i].owner == 1 + a)
        return true;
    if (attempt->phase == UNSENT || v->now->master[i].link[a] == ASKED)
        return false;
    return !is_leased(v->rules) || attempt->phase == OVER;
}

static void restart_with_any(const struct visit *v, int i)
{
    for (int snapshot = 0; snapshot <= v->now->master[i].clock; snapshot++) {
        restart(v, i, snapshot, 0);
        for (int a = 0; snapshot && a < v->rules->attempts; a++)
            if (may_have_owned(v, a, i))
                restart(v, i, snapshot, 1 + a);
    }
}

static void steps_of_attempt(const struct visit *v, int a)
{
    const struct attempt *attempt = &v->now->attempt[a];
    if (attempt->phase == UNSENT && (a == 0 || v->now->attempt[a - 1].phase != UNSENT))
        ask(v, a);
    if (attempt->phase == OPEN && !attempt->fence)
        for (int heard = 1; heard < 1 << v->rules->masters; heard++)
            choose(v, a, heard);
    if (attempt->phase == OPEN && attempt->fence)
        show(v, a);
    if (is_leased(v->rules) && is_open(attempt))
        end(v, a);
}

static void steps_of_master(const struct visit *v, int i)
{
    const struct master *master = &v->now->master[i];
    for (int a = 0; a < v->rules->attempts; a++) {
        if (master->link[a] == ASKED)
            grant(v, a, i);
        if (master->link[a] == RAISING)
            raise_clock(v, a, i);
    }
    if (master->owner)
        vanish(v, i);
    if (v->now->restarts)
        restart_with_any(v, i);
}

void model_steps(const struct visit *v)
{
    int honest = fence_honest(v->rules);
    for (int a = 0; a < v->rules->attempts; a++)
        steps_of_attempt(v, a);
    for (int i = 0; i < honest; i++)
        steps_of_master(v, i);
    for (int i = honest; i < v->rules->masters; i++)
        for (int a = 0; a < v->rules->attempts; a++)
            lie(v, a, i);
}

/* Each number of honest masters begins higher than the others. */
void model_begin(const struct visit *v)
{
    const struct rules *rules = v->rules;
    struct world world = {.restarts = rules->restarts};
    int honest = fence_honest(rules);
    for (int higher = 0; higher <= honest; higher++) {
        for (int i = 0; i < honest; i++)
            world.master[i].clock = i < honest - higher ? 1 : HIGHEST_START;
        v->visit(v->visitor, NULL, &world);
    }
}
