/* rule: D5, D6, D7 */
#include "movers.h"

#include "liar.h"
#include "moves.h"
#include "rules.h"
#include "trace.h"
#include "wrong.h"

#define HEAL_GRACE MS(3)    /* in the granularity of clocks */
#define MOVE_GRACE MS(5000) /* at least: for connections, and for the calls before it */

struct user_lease *movers_lease_of(redlock_lease *handle)
{
    const struct move *move = move_of(handle);
    if (!move)
        return handle->data;
    return move->lease && !move->lease->freed ? move->data : NULL;
}

/* ---- calls and outcomes -------------------------------------------------------------------- */

static bool takes_calls(const struct shell *s)
{
    return s->client && !s->client->dying && !s->close_asked;
}

/* As the entries say it, which may name one server in two ways. */
static bool entries_may_meet(const struct list_kind *a, const struct list_kind *b)
{
    unsigned same = a->has & b->has & ~(unsigned)(a->renamed ^ b->renamed);
    unsigned all = a->masters + b->masters - (unsigned)__builtin_popcount(same);
    return a->quorum + b->quorum > all + (a->spare > b->spare ? a->spare : b->spare);
}

bool movers_may(const struct user_lease *lease, const struct shell *to)
{
    bool is_calm = !lease->moves_to && !lease->extends && !lease->changes && !lease->released;
    bool waits = lease->known == KNOWN_ASKED && lease_may_go_over(core_of(lease->handle));
    bool is_held = lease->known == KNOWN_HELD && user_lease_is_held(lease);
    return (is_held || waits) && is_calm && takes_calls(to) &&
           entries_may_meet(lease->shell->kind, to->kind) &&
           core_of(lease->handle)->terms.ttl <= MS(to->client->config.max_ttl_ms);
}

void movers_begun(struct user_lease *lease, struct shell *to)
{
    struct token *token = token_of(lease);
    lease->moves_to = to;
    lease->moves_since = to->world->now;
    lease->moves_waiting = lease->known == KNOWN_ASKED;
    to->world->moved.asked++;
    to->leases_made++;
    if (lease->moves_waiting)
        return; /* it has another token there */
    token->left_by &= (uint16_t) ~(1U << to->index);
    token->given_up_by &= (uint16_t) ~(1U << to->index);
    token->kind = lease->shell->kind;
}

static void leave_list(struct user_lease *lease)
{
    struct user_lease **at = &lease->shell->all;
    while (*at != lease)
        at = &(*at)->next_all;
    *at = lease->next_all;
}

static void enter_list(struct user_lease *lease, struct shell *s)
{
    lease->shell = s;
    lease->next_all = s->all;
    s->all = lease;
}

static unsigned kind_of(const struct shell *s)
{
    return (unsigned)(s->kind - s->world->kinds);
}

static void count(const struct shell *from, const struct shell *to, const struct user_lease *lease)
{
    struct move_counts *moved = &from->world->moved;
    moved->moved[kind_of(from)][kind_of(to)]++;
    moved->again += lease->has_moved;
}

void movers_moved(struct user_lease *lease)
{
    struct shell *from = lease->shell, *to = lease->moves_to;
    struct token *token = token_of(lease);
    if (!to)
        return; /* that is another rule's */
    if (lease->moves_waiting) {
        count(from, to, lease);
        from->world->moved.waited++;
        lease->went_over = true;
        leave_list(lease);
        enter_list(lease, to);
        return;
    }
    if (lease->end <= shell_now(from))
        world_violated(from->world, "resurrection",
                       "lease %u of client %u moves, and has ended %lld us ago", lease->number,
                       CLIENT(lease), (long long)(shell_now(from) - lease->end));
    count(from, to, lease);
    leave_list(lease);
    enter_list(lease, to);
    lease->has_moved = true;
    from->moved_away++;
    token->client = to->index;
    token->kind = to->kind;
    token->left_by |= (uint16_t)(1U << from->index);
}

/* Requests of the other client are under way until its round is over. */
static void ends(struct user_lease *lease, uint64_t *how)
{
    struct token *token = token_of(lease);
    if (!lease->moves_to)
        return;
    ++*how;
    struct shell *to = lease->moves_to;
    lease->moves_to = NULL;
    if (lease->moves_waiting)
        return;
    token->given_up_by |= (uint16_t)(1U << to->index);
    token->given_up_at = lease->shell->world->now;
}

static void stays(struct user_lease *lease)
{
    if (lease->moves_to && !lease->moves_waiting)
        token_of(lease)->left_by |= (uint16_t)(1U << lease->moves_to->index);
    ends(lease, &lease->shell->world->moved.not_moved);
}

/* Each master has a mark, which keeps the other client from healing. */
static void was_released_everywhere(const struct user_lease *lease)
{
    const struct shell *s = lease->shell;
    const struct token *token = token_of(lease);
    bool is_handed_on = token->holder != lease || tokens_owner(s->world, token);
    bool is_given_back = token->kind && !is_handed_on;
    for (unsigned i = 0; is_given_back && i < s->masters; i++) {
        unsigned server = s->servers[i];
        bool is_up = s->links[server].greeted && master_is_up(shell_master(s, server));
        if (is_up && !(token->released >> server & 1))
            world_violated(s->world, "token",
                           "lease %u of client %u was to move, and is not released on master %u",
                           lease->number, CLIENT(lease), server + 1);
    }
}

void movers_remember(struct user_lease *lease, const redlock_event *event)
{
    struct move_counts *moved = &lease->shell->world->moved;
    if (event->kind == REDLOCK_RELEASED && event->code == REDLOCK_OK)
        was_released_everywhere(lease);
    if (event->kind == REDLOCK_MOVED)
        lease->moves_to = NULL;
    if (event->kind == REDLOCK_NOT_MOVED)
        stays(lease);
    if (event->kind == REDLOCK_LOST || event->kind == REDLOCK_NOT_ACQUIRED)
        ends(lease, &moved->lost);
    if (event->kind == REDLOCK_RELEASED)
        ends(lease, &moved->released);
}

void movers_dropped(struct user_lease *lease)
{
    ends(lease, &lease->shell->world->moved.dropped);
}

static void drop_moves_to(struct shell *s, const struct shell *to)
{
    for (struct user_lease *lease = s ? s->all : NULL; lease; lease = lease->next_all)
        if (lease->moves_to == to)
            movers_dropped(lease);
}

void movers_client_goes(struct shell *s)
{
    drop_moves_to(s, s->mate);
    drop_moves_to(s->mate, s);
}

struct shell *movers_voters(const struct user_lease *lease, const redlock_event *event)
{
    bool is_other = event->kind == REDLOCK_NOT_MOVED && lease->moves_to;
    return is_other ? lease->moves_to : lease->shell;
}

/* From the last stop on; a quorum that hangs is waited for, and the lease is valid all that time.
 */
void movers_due(const struct user_lease *lease)
{
    const struct shell *s = lease->shell;
    struct world *w = s->world;
    if (!lease->moves_to || lease->let_go || shell_is_stopped(s))
        return;
    usec since = lease->moves_since > s->stopped_until ? lease->moves_since : s->stopped_until;
    usec grace = MOVE_GRACE + 2 * lease->terms.ttl;
    if (w->now > since + grace)
        world_violated(w, "waiting", "lease %u of client %u still moves", lease->number,
                       CLIENT(lease));
}

#define WAITS       4 /* turns; the loop runs both clients in any order */
#define WAITS_AWAKE MS(1)

/* When a process wakes, one client may have many turns before the other has its first.  The lease
 * may be over then, and nothing is waited for any more. */
bool movers_waits(struct shell *s)
{
    bool is_awake = s->world->now > s->stopped_until + WAITS_AWAKE;
    bool waits = s->mate && s->mate->client && (s->client->cancelled.first || !is_awake);
    bool is_long = waits && ++s->waits > WAITS;
    return waits && !(is_long && is_awake);
}

/* ---- what is asked of masters, and done --------------------------------------------------- */

void movers_sent(struct shell *s, uint32_t number, enum request_kind kind)
{
    struct world *w = s->world;
    const struct token *token = &w->tokens[number];
    if (!token->kind)
        return;
    if (kind == REQUEST_RELEASE && token->client != s->index)
        world_violated(w, "token", "client %u releases t%u, which client %u has", s->index + 1,
                       number, token->client + 1);
    usec since = token->given_up_at > s->stopped_until ? token->given_up_at : s->stopped_until;
    bool is_late = w->now > since + MOVE_GRACE + 2 * MS(w->max_ttl_ms);
    if (token->left_by >> s->index & 1 || (token->given_up_by >> s->index & 1 && is_late))
        world_violated(w, "token", "client %u asks for t%u, which it has not any more",
                       s->index + 1, number);
}

/* By what a client may misjudge the master's clock now. */
static usec vague(const struct shell *s, unsigned master)
{
    const struct shell_link *link = &s->links[master];
    return link->vague + (s->world->now - link->compared) / 100;
}

/* Both clients of the process may have asked for that. */
void movers_healed(struct world *w, unsigned master, uint32_t number)
{
    const struct token *token = &w->tokens[number];
    struct shell *s = w->shells[token->client];
    if (!token->farthest_end || token->excused || is_wrong(w, master) ||
        w->faults & 1U << FAULT_STEP_CLOCK)
        return;
    usec late = shell_now(s) - token->farthest_end;
    usec own = vague(s, master), others = s->mate ? vague(s->mate, master) : 0;
    if (late > HEAL_GRACE + (own > others ? own : others))
        world_violated(w, "healing", "master %u heals t%u %lld us after the end of its lease",
                       master + 1, number, (long long)late);
}
