#include "lists.h"
#include "trace.h"
#include "users.h"

#define LEASES_AT_ONCE 2

static bool chance(struct shell *s, unsigned permille)
{
    return chance_permille(&s->world->chance, permille);
}

static int64_t range(struct shell *s, int64_t low, int64_t high)
{
    return chance_range(&s->world->chance, low, high);
}

static void ask(struct shell *s)
{
    struct world *w = s->world;
    uint8_t name = (uint8_t)chance_below(&w->chance, w->names);
    usec ttl = MS(chance(s, 700) ? w->max_ttl_ms : range(s, w->max_ttl_ms / 2, w->max_ttl_ms));
    struct terms terms = {.ttl = ttl, .margin = user_lease_usual_margin(ttl)};
    terms.renew = chance(s, 850);
    terms.fence = chance(s, 200);
    terms.wait = chance(s, 400) ? 0 : chance(s, 300) ? NEVER : MS(range(s, 1, 8000));
    struct user_lease *lease = user_lease_acquire(s, &name, 1, 0, &terms);
    if (lease)
        TRACE(w, "client %u asks for %c: lease %u", s->index + 1, 'a' + name, lease->number);
}

bool lists_told(struct user_lease *lease, const redlock_event *event)
{
    struct shell *s = lease->shell;
    struct world *w = s->world;
    if (w->options.habit != HABIT_LISTS || lease->is_probe)
        return false;
    if (lease->ended) {
        user_lease_free(lease);
    } else if (event->kind == REDLOCK_LOST) {
        user_lease_release(lease);
    } else if (event->kind == REDLOCK_ACQUIRED) {
        usec longest = MS(w->max_ttl_ms) * (chance(s, 100) ? 6 : 1);
        lease->hold_over = w->now + range(s, MS(10), longest);
        world_plan(w, lease->hold_over, HAPPENS_USER, s, 1);
    }
    return true;
}

static unsigned give_back(struct shell *s)
{
    unsigned count = 0;
    for (struct user_lease *lease = s->all; lease; lease = lease->next_all) {
        count += !lease->let_go;
        if (lease->known == KNOWN_HELD && !lease->released && lease->hold_over <= s->world->now)
            user_lease_release(lease);
    }
    return count;
}

/* It begins again later, perhaps with the other list. */
static bool closes(struct shell *s)
{
    bool is_short = s->world->is_replaced && s->kind == &s->world->kinds[1];
    return s->ready_told && chance(s, is_short ? 500 : 40);
}

void lists_act(struct shell *s)
{
    struct world *w = s->world;
    unsigned leases = give_back(s);
    if (!w->ops_left)
        return;
    if (chance(s, w->sleepy)) {
        w->ops_left--;
        shell_pause(s, MS(range(s, 60000, 260000)));
    } else if (closes(s)) {
        w->ops_left--;
        user_closes(s, MS(range(s, 0, 3000)));
    } else if (leases < LEASES_AT_ONCE) {
        w->ops_left--;
        ask(s);
    }
}
