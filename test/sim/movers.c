#include "movers.h"

#include "change.h"
#include "invariants.h"
#include "lists.h"
#include "trace.h"
#include "users.h"

#define RUNS          600 /* per mille of those with the profile change */
#define TRIES         200 /* at lists that fit */
#define LEADS         400 /* per mille of the runs with moves have leaders */
#define SHARED_NUMBER 0x80000000U

static bool chance(const struct shell *s, unsigned permille)
{
    return chance_permille(&s->world->moving, permille);
}

static usec range(const struct shell *s, usec low, usec high)
{
    return chance_range(&s->world->moving, low, high);
}

/* ---- the runs ------------------------------------------------------------------------- */

/* One or two masters more, one less, or both. */
static uint16_t draw_neighbour(struct world *w, uint16_t of, unsigned fresh)
{
    unsigned more = chance_below(&w->moving, 3), kept = of;
    if (!more || chance_permille(&w->moving, 400))
        kept &= ~(1U << chance_below(&w->moving, fresh));
    return (uint16_t)(kept | ((1U << more) - 1) << fresh);
}

static unsigned used(unsigned masters)
{
    return 32U - (unsigned)__builtin_clz(masters);
}

static struct list_kind draw_beside(struct world *w, const struct list_kind *kind, unsigned fresh)
{
    struct list_kind other = {.has = draw_neighbour(w, kind->has, fresh)};
    if (other.has)
        lists_finish(&other, kind->spare);
    other.renamed = chance_permille(&w->moving, 150) ? (uint16_t)chance_next(&w->moving) : 0;
    other.more_ttl_ms = chance_permille(&w->moving, 100) ? 500 : 0;
    return other;
}

static bool are_neighbours(const struct list_kind *a, const struct list_kind *b)
{
    return b->has && a->has != b->has && lists_may_meet(a, b);
}

/* False: they do not fit. */
static bool draw_chain(struct world *w)
{
    struct list_kind *first = &w->kinds[0];
    struct list_kind between = draw_beside(w, first, used(first->has));
    unsigned fresh = used(first->has | between.has);
    if (!are_neighbours(first, &between))
        return false;
    struct list_kind second = draw_beside(w, &between, fresh);
    if (!are_neighbours(&between, &second) || lists_may_meet(first, &second))
        return false;
    w->kinds[1] = second;
    w->kinds[BETWEEN] = between;
    w->masters = used(first->has | between.has | second.has);
    return true;
}

static void note_least_spare(struct world *w)
{
    for (unsigned k = 0; k < KINDS_ALL; k++)
        if (w->kinds[k].spare < w->spare)
            w->spare = w->kinds[k].spare;
}

void movers_draw_lists(struct world *w)
{
    w->moving.state = mix(w->options.seed ^ 0x30fe5);
    if (!is_change(w) || !chance_permille(&w->moving, RUNS))
        return;
    for (unsigned i = 0; i < TRIES && !w->moves; i++)
        w->moves = draw_chain(w);
    if (w->moves)
        note_least_spare(w);
    w->moved.runs = w->moves;
}

void movers_draw_clients(struct world *w)
{
    static const unsigned counts[] = {2, 3, 4, 4, 4, 6};
    if (!w->moves)
        return;
    if (!w->options.clients)
        w->clients = counts[chance_below(&w->moving, 6)];
    if (!w->options.ops)
        w->ops_left += 10;
    if (w->options.leaders < 0 && chance_permille(&w->leading, LEADS))
        w->leaders = (unsigned)chance_range(&w->leading, 200, 1000);
    if (chance_permille(&w->moving, 300) && !(w->options.without & 1U << FAULT_STUMBLE))
        w->faults |= 1U << FAULT_STUMBLE; /* between a move and what follows from it */
}

void movers_pair(struct world *w)
{
    for (unsigned c = 0; w->moves && c + 1 < w->clients; c += 2) {
        struct shell *a = w->shells[c], *b = w->shells[c + 1];
        a->mate = b;
        b->mate = a;
        b->clock = a->clock;
    }
}

uint32_t movers_process(const struct shell *s)
{
    return s->mate ? SHARED_NUMBER + s->index / 2 : s->channel;
}

/* Mostly the two of a process have two lists. */
const struct list_kind *movers_choose(const struct shell *s)
{
    struct world *w = s->world;
    const struct list_kind *kinds = w->kinds;
    unsigned dice = chance_below(&w->moving, 1000);
    bool stays = s->kind && chance(s, 600);
    const struct list_kind *later = dice < 500 ? &kinds[1] : &kinds[dice < 850 ? BETWEEN : 0];
    const struct list_kind *kind = stays                 ? s->kind
                                   : w->change.opened_at ? later
                                                         : &kinds[dice < 500 ? 0 : BETWEEN];
    if (s->mate && s->mate->kind == kind && !stays && chance(s, 800))
        kind = kind != &kinds[BETWEEN] ? &kinds[BETWEEN] : &kinds[w->change.opened_at ? 1 : 0];
    return kind;
}

/* ---- the users -------------------------------------------------------------------------- */

static bool can_move(const struct user_lease *lease)
{
    const struct shell *s = lease->shell, *to = s->mate;
    return s->client && !s->client->dying && to && to->client && !to->client->dying &&
           !lease->let_go;
}

/* Its leases are not given back. */
static void free_client(struct shell *s)
{
    if (!s->client || s->client->dying)
        return;
    TRACE(s->world, "client %u is freed", s->index + 1);
    check_ended(s);
    redlock_free(s->client);
}

static struct shell *either(struct shell *s)
{
    return chance(s, 500) ? s : s->mate;
}

/* Something that comes in between. */
static void disturb(struct user_lease *lease)
{
    struct shell *s = lease->shell, *other = either(s);
    unsigned dice = chance_below(&s->world->moving, 1000);
    if (dice < 200)
        user_lease_extend(lease, 0);
    else if (dice < 300)
        user_lease_release(lease);
    else if (dice < 350)
        user_lease_free(lease);
    else if (dice < 400)
        user_closes(other, range(s, 0, MS(3000)));
    else if (dice < 420)
        free_client(other);
}

static bool is_had(const struct user_lease *lease)
{
    return lease->known == KNOWN_HELD && !lease->let_go;
}

static bool waits(const struct user_lease *lease)
{
    return lease->known == KNOWN_ASKED && !lease->let_go &&
           lease_may_go_over(core_of(lease->handle));
}

/* True: it moves, and nothing came in between, which may have ended it. */
static bool move(struct user_lease *lease)
{
    struct shell *s = lease->shell;
    if (!can_move(lease))
        return false;
    if (is_had(lease) && chance(s, 100))
        user_lease_extend(lease, 0);
    TRACE(s->world, "client %u moves lease %u to client %u", s->index + 1, lease->number,
          s->mate->index + 1);
    bool moves = user_lease_move(lease), is_disturbed = moves && chance(s, 200);
    if (is_disturbed)
        disturb(lease);
    return moves && !is_disturbed;
}

void movers_sleep(struct shell *s, usec how_long)
{
    if (!s->world->peace)
        shell_pause(s, how_long);
}

/* The process sleeps until just before the lease ends, or for a while after that. */
static void sleep_over(const struct user_lease *lease)
{
    struct shell *s = lease->shell;
    usec left = lease->end - shell_now(s), ttl = lease->terms.ttl;
    usec asleep = left - ttl / 20 + range(s, 0, chance(s, 500) ? ttl / 20 : ttl);
    if (is_had(lease) && lease->moves_to && asleep > 0)
        world_plan(s->world, s->world->now + range(s, 0, MS(3)), HAPPENS_SLEEP, s,
                   (unsigned)asleep);
}

static struct user_lease *draw_lease(struct shell *s)
{
    struct user_lease *drawn = NULL;
    for (struct user_lease *lease = s->all; lease; lease = lease->next_all)
        if ((is_had(lease) || waits(lease)) && (!drawn || chance(s, 500)))
            drawn = lease;
    return drawn;
}

bool movers_act(struct shell *s)
{
    struct user_lease *lease = s->world->moves && s->mate ? draw_lease(s) : NULL;
    if (!lease || !chance(s, 600))
        return false;
    if (lease->moves_to && chance(s, 700))
        disturb(lease);
    else if (move(lease) && chance(s, 150))
        sleep_over(lease);
    return true;
}

/* While it has the lease, and to give it back. */
static void comes_back(const struct user_lease *lease)
{
    struct shell *s = lease->shell;
    struct world *w = s->world;
    if (w->now < lease->hold_over && chance(s, lease->has_moved ? 400 : 700))
        world_plan(w, range(s, w->now, lease->hold_over), HAPPENS_USER, s, 1);
    if (lease->has_moved)
        world_plan(w, lease->hold_over, HAPPENS_USER, s, 1);
}

void movers_told(struct user_lease *lease, const redlock_event *event)
{
    struct shell *s = lease->shell;
    bool is_moved = event->kind == REDLOCK_MOVED || event->kind == REDLOCK_NOT_MOVED;
    bool has = is_had(lease);
    if (!s->world->moves || !s->mate || s->world->peace || !(has || waits(lease)))
        return;
    if (has && (is_moved || event->kind == REDLOCK_ACQUIRED))
        comes_back(lease);
    if (chance(s, event->kind == REDLOCK_MOVED ? 250 : is_moved ? 100 : 200))
        move(lease);
    else if (is_moved && chance(s, 100))
        disturb(lease);
}
