#include "users.h"

#include "trace.h"

#define WAITERS_MOST 40
#define STRICT_MOST  6 /* waiters in strict order: each is in the queue of a modelled master */
#define HOLD_MOST    MS(200)
#define HOARD_LEAST  64 /* leases: from then on they are renewed together */
#define HOARD_MOST   100
_Static_assert(MODEL_NAMES + HOARD_MOST <= MODEL_SLOTS_AT, "what they hoard is no slot");

static int64_t range(struct world *w, int64_t low, int64_t high)
{
    return chance_range(&w->chance, low, high);
}

void crowd_draw(struct world *w)
{
    if (w->options.habit != HABIT_CROWD)
        return;
    static const int64_t longest[] = {50, 1000, 20000, 200000};
    w->names = chance_permille(&w->chance, 850) ? 1 : 2;
    w->clients = w->options.clients ? w->options.clients : 2 + chance_below(&w->chance, 5);
    w->ops_left = w->options.ops ? w->options.ops : (unsigned)range(w, 40, 500);
    for (unsigned c = 0; c < w->clients; c++) {
        struct wish *wish = &w->wishes[c];
        wish->waiters = (unsigned)(chance_permille(&w->chance, 600) ? range(w, 1, 4)
                                                                    : range(w, 5, WAITERS_MOST));
        wish->hold = longest[chance_below(&w->chance, 4)];
        wish->hoard =
            chance_permille(&w->chance, 60) ? (unsigned)range(w, HOARD_LEAST, HOARD_MOST) : 0;
    }
}

/* ---- asking ------------------------------------------------------------------- */

static void ask(struct shell *s)
{
    struct world *w = s->world;
    uint8_t names[2] = {(uint8_t)chance_below(&w->chance, w->names), 1};
    unsigned count = 1;
    if (w->names == 2 && chance_permille(&w->chance, 200))
        names[0] = 0, count = 2;
    usec ttl = MS(range(w, w->max_ttl_ms / 2, w->max_ttl_ms));
    struct terms terms = {.ttl = ttl, .margin = user_lease_usual_margin(ttl), .renew = true};
    terms.wait = chance_permille(&w->chance, 900) ? NEVER : MS(range(w, 1, 3000));
    terms.fence = chance_permille(&w->chance, 100);
    user_lease_acquire(s, names, count, 0, &terms);
}

/* A name of its own, kept until peace. */
static void hoard(struct shell *s, unsigned number)
{
    struct world *w = s->world;
    uint8_t name = (uint8_t)(MODEL_NAMES + number);
    usec ttl = MS(w->max_ttl_ms);
    struct terms terms = {.ttl = ttl, .margin = user_lease_usual_margin(ttl), .renew = true};
    struct user_lease *lease = user_lease_acquire(s, &name, 1, 0, &terms);
    if (lease)
        lease->is_hoarded = true;
}

/* ---- having --------------------------------------------------------------------- */

static usec draw_hold(struct world *w, unsigned client)
{
    usec longest = w->wishes[client].hold;
    return range(w, longest / 10, longest);
}

bool crowd_told(struct user_lease *lease, const redlock_event *event)
{
    struct shell *s = lease->shell;
    struct world *w = s->world;
    if (w->options.habit != HABIT_CROWD || lease->is_probe)
        return false;
    if (lease->ended) {
        user_lease_free(lease);
    } else if (event->kind == REDLOCK_LOST) {
        user_lease_release(lease);
    } else if (event->kind == REDLOCK_ACQUIRED && !lease->is_hoarded) {
        lease->hold_over = w->now + draw_hold(w, s->index);
        world_plan(w, lease->hold_over, HAPPENS_USER, s, 1);
    }
    return true;
}

static unsigned how_many_wait(const struct shell *s)
{
    unsigned wished = s->world->wishes[s->index].waiters;
    return s->strict && wished > STRICT_MOST ? STRICT_MOST : wished;
}

void crowd_acts(struct shell *s)
{
    struct world *w = s->world;
    struct wish *wish = &w->wishes[s->index];
    unsigned waiting = 0;
    for (struct user_lease *lease = s->all; lease; lease = lease->next_all) {
        bool is_held = lease->known == KNOWN_HELD && !lease->is_hoarded;
        waiting += lease->known == KNOWN_ASKED;
        if (is_held && lease->hold_over <= w->now)
            user_lease_release(lease);
    }
    for (; !w->peace && w->ops_left && waiting < how_many_wait(s); waiting++) {
        w->ops_left--;
        ask(s);
    }
    while (!w->peace && wish->hoard)
        hoard(s, --wish->hoard);
}
