#include "lists.h"

#include "change.h"
#include "movers.h"
#include "recipe_users.h"
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
    terms.fence = chance(s, 200) || leaders_want(s);
    terms.wait = chance(s, 400) ? 0 : chance(s, 300) ? NEVER : MS(range(s, 1, 8000));
    struct user_lease *lease = user_lease_acquire(s, &name, 1, 0, &terms);
    if (lease)
        TRACE(w, "client %u asks for %c: lease %u", s->index + 1, 'a' + name, lease->number);
}

bool lists_told(struct user_lease *lease, const redlock_event *event)
{
    struct shell *s = lease->shell;
    struct world *w = s->world;
    if (!habit_has_lists(w->options.habit) || lease->is_probe)
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
    if (!lease->let_go)
        leaders_user_told(lease, event);
    if (!lease->let_go)
        movers_told(lease, event);
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
    const struct world *w = s->world;
    bool is_short = w->is_replaced && s->kind == &w->kinds[1];
    bool may_move = w->change.opened_at && s->kind == &w->kinds[0];
    return s->ready_told && chance(s, is_short ? 500 : may_move ? 200 : 40);
}

/* As `redlock acquire` does: another process relies on the lease. */
static bool leaves_behind(struct shell *s)
{
    struct world *w = s->world;
    struct user_lease *lease = s->all;
    if (!is_change(w) || !chance(s, 150))
        return false;
    while (lease && !(lease->known == KNOWN_HELD && user_lease_is_held(lease) && !lease->moves_to))
        lease = lease->next_all;
    if (!lease)
        return false;
    struct token *token = &w->tokens[lease->token];
    change_leaves_behind(lease);
    token->excused = token->passed_on = true;
    TRACE(w, "client %u leaves lease %u behind", s->index + 1, lease->number);
    return user_lease_detach(lease);
}

static void spend(struct world *w)
{
    w->ops_left -= !change_is_under_way(w);
}

void lists_act(struct shell *s)
{
    struct world *w = s->world;
    unsigned leases = give_back(s);
    leaders_user_acts(s);
    if (!w->ops_left)
        return;
    if (chance(s, w->sleepy)) {
        spend(w);
        shell_pause(s, MS(range(s, 60000, 260000)));
    } else if (movers_act(s)) {
        return;
    } else if (leaves_behind(s)) {
        spend(w);
    } else if (closes(s)) {
        spend(w);
        user_closes(s, MS(range(s, 0, 3000)));
    } else if (leases < LEASES_AT_ONCE) {
        spend(w);
        ask(s);
    }
}
