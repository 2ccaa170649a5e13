#include "recipe_users.h"

#include <stdlib.h>
#include <string.h>

#include "invariants.h"
#include "redlock/recipes.h"
#include "tasks.h"
#include "trace.h"

#define AT_ONCE     3   /* parties of one client */
#define NEW_MEETING 250 /* per mille of those who arrive begin a new generation */
#define LATE        MS(200)

struct user_party {
    struct user_party *next;
    struct shell *shell;
    redlock_barrier *handle;
    unsigned number; /* of the world's parties */
    bool comes_back; /* it was here before, and left undecided */
    bool leaves;
};

static bool chance(struct world *w, unsigned permille)
{
    return chance_permille(&w->meeting, permille);
}

/* ---- the rules ---------------------------------------------------------------------------- */

/* How long after it was last heard of a party may count for others: its ttl at a master, by a clock
 * that may run slower.  The words by which a party passes may be as old as half of max_ttl. */
static usec counts_for(const struct world *w, const struct party_made *party)
{
    usec longest = party->ttl > MS(w->max_ttl_ms) ? party->ttl : MS(w->max_ttl_ms);
    return 2 * longest + MS(w->skew_ms) + LATE;
}

void barriers_decided(struct world *w, int64_t generation)
{
    struct meeting *meeting = &w->meetings[generation];
    if (!meeting->passed_at)
        meeting->passed_at = w->now;
}

/* It may have been counted when the first one passed. */
static bool may_count(const struct world *w, const struct party_made *party, unsigned meeting)
{
    usec passed = w->meetings[meeting].passed_at;
    return party->meeting == meeting && party->began <= passed && !party->left &&
           (!party->gone_at || party->gone_at + counts_for(w, party) >= passed);
}

/* Without spare votes one word that it was passed is enough. */
static bool may_be_deceived(const struct world *w)
{
    return w->options.beyond || w->mixed || w->wrong > w->spare;
}

/* As many parties as the barrier is for had arrived when the first one passed, and none of them
 * hears that it did not pass. */
static void is_whole(struct world *w, unsigned meeting)
{
    unsigned arrived = 0;
    for (unsigned i = 0; i < w->parties_made; i++)
        arrived += may_count(w, &w->parties[i], meeting);
    if (arrived < w->meetings[meeting].parties && !may_be_deceived(w))
        world_violated(w, "barrier", "barrier %u was passed with %u of %u parties", meeting,
                       arrived, w->meetings[meeting].parties);
}

static void is_told_well(const struct user_party *it, const redlock_barrier_result *passage)
{
    struct world *w = it->shell->world;
    bool left = passage->code && !passage->undecided;
    if (left && it->comes_back)
        world_violated(w, "barrier", "a party that came back hears that it has left");
    bool is_wrong_list = passage->code == REDLOCK_E_SAME_MASTER ||
                         passage->code == REDLOCK_E_NO_MASTER || passage->code == REDLOCK_E_DIFFERS;
    bool is_unknown = is_wrong_list || passage->code == REDLOCK_E_UNAVAILABLE ||
                      passage->code == REDLOCK_E_UNDECIDED || passage->code == REDLOCK_E_OVER;
    if (passage->undecided ? !is_unknown : passage->code == REDLOCK_E_UNDECIDED)
        world_violated(w, "outcome", "client %u hears %s, undecided", it->shell->index + 1,
                       redlock_code_name(passage->code));
}

/* The generation that it hears of was passed by then, and it is not an earlier one. */
static void is_over(const struct user_party *it, const redlock_barrier_result *passage)
{
    struct world *w = it->shell->world;
    unsigned meeting = w->parties[it->number].meeting;
    bool is_later = passage->latest >= meeting && passage->latest < w->meetings_made;
    const struct meeting *latest = &w->meetings[is_later ? passage->latest : 0];
    if (!is_later || !latest->passed_at || latest->name != w->meetings[meeting].name)
        world_violated(w, "barrier", "barrier %u is reported over by %lld", meeting,
                       (long long)passage->latest);
}

static void forget(struct user_party *it)
{
    struct user_party **at = &it->shell->parties;
    while (*at != it)
        at = &(*at)->next;
    *at = it->next;
    free(it);
}

/* ---- arriving ------------------------------------------------------------------------------- */

static void arrive(struct shell *s, unsigned number, const char *token);

static void on_passage(redlock_barrier *handle, const redlock_barrier_result *passage, void *data)
{
    struct user_party *it = data;
    struct shell *s = it->shell;
    struct world *w = s->world;
    struct party_made *party = &w->parties[it->number];
    struct meeting *meeting = &w->meetings[party->meeting];
    TRACE(w, "client %u hears of barrier %u, party %u: %s%s", s->index + 1, party->meeting,
          it->number, redlock_code_name(passage->code), passage->undecided ? ", undecided" : "");
    world_mark(w, (uint64_t)w->now + it->number, (uint64_t)passage->code);
    if (handle != it->handle || s->closed_told)
        world_violated(w, "once", "client %u hears of a barrier that it is not at", s->index + 1);
    is_told_well(it, passage);
    if (passage->code == REDLOCK_OK && !meeting->passed_at)
        meeting->passed_at = w->now;
    if (passage->code == REDLOCK_E_OVER && !may_be_deceived(w))
        is_over(it, passage);
    party->left |= passage->code && !passage->undecided;
    if (meeting->passed_at)
        is_whole(w, party->meeting);
    char token[REDLOCK_TOKEN_SIZE];
    memcpy(token, passage->token, sizeof token);
    unsigned number = it->number;
    bool again = passage->undecided && passage->code != REDLOCK_E_OVER && !w->peace &&
                 !s->close_asked && chance(w, 700);
    redlock_barrier_free(handle);
    forget(it);
    if (again)
        arrive(s, number, token);
    else if (passage->undecided && !party->gone_at)
        party->gone_at = w->now;
}

static redlock_barrier_options draw_options(struct world *w, const struct meeting *meeting,
                                            unsigned number, const char *token)
{
    redlock_barrier_options options = {.size = sizeof options};
    options.parties = meeting->parties;
    options.generation = (int64_t)(meeting - w->meetings);
    options.ttl_ms = chance_range(&w->meeting, w->max_ttl_ms / 8 + 3, w->max_ttl_ms);
    options.timeout_ms = chance(w, 100)   ? REDLOCK_ZERO
                         : chance(w, 300) ? chance_range(&w->meeting, 1, 300)
                         : chance(w, 600) ? chance_range(&w->meeting, 300, 3 * w->max_ttl_ms)
                                          : 0;
    options.token = token;
    w->parties[number].ttl = MS(options.ttl_ms);
    return options;
}

static void arrive(struct shell *s, unsigned number, const char *token)
{
    struct world *w = s->world;
    struct user_party *it = calloc(1, sizeof *it);
    struct meeting *meeting = &w->meetings[w->parties[number].meeting];
    char name[2] = {(char)('a' + meeting->name)};
    redlock_barrier_options options = draw_options(w, meeting, number, token);
    *it = (struct user_party){.shell = s, .number = number, .comes_back = token != NULL};
    shell_present = s;
    redlock_code code =
        redlock_barrier_arrive(s->client, &it->handle, name, &options, on_passage, it);
    if (code && code != REDLOCK_E_MEMORY && code != REDLOCK_E_TTL)
        world_violated(w, "options", "client %u may not arrive: %s", s->index + 1,
                       redlock_last_error(s->client));
    if (code) {
        free(it);
        return;
    }
    TRACE(w, "client %u arrives at barrier %u of %u parties: party %u%s", s->index + 1,
          w->parties[number].meeting, meeting->parties, number, token ? ", again" : "");
    s->leases_made++; /* as many requests */
    it->next = s->parties;
    s->parties = it;
}

/* Sometimes there is one party too many, or one is missing. */
static unsigned draw_meeting(struct world *w)
{
    struct meeting *last = w->meetings_made ? &w->meetings[w->meetings_made - 1] : NULL;
    bool is_full = !last || last->begun >= last->parties + (chance(w, 200) ? 1 : 0);
    if ((is_full || chance(w, NEW_MEETING / 2)) && w->meetings_made < MEETINGS) {
        struct meeting *made = &w->meetings[w->meetings_made++];
        *made = (struct meeting){.name = (uint8_t)chance_below(&w->meeting, w->names)};
        made->parties = 1 + chance_below(&w->meeting, w->clients + 1);
    }
    return w->meetings_made - 1;
}

static void begin(struct shell *s)
{
    struct world *w = s->world;
    if (w->parties_made == PARTIES)
        return;
    unsigned meeting = draw_meeting(w), number = w->parties_made;
    if (w->meetings[meeting].begun >= MODEL_PARTIES / 2)
        return;
    w->parties_made++;
    w->meetings[meeting].begun++;
    w->parties[number] = (struct party_made){.meeting = (uint16_t)meeting, .began = w->now};
    arrive(s, number, NULL);
}

static void leave(struct user_party *it)
{
    shell_present = it->shell;
    if (!it->leaves && redlock_barrier_leave(it->handle))
        world_violated(it->shell->world, "options", "a party may not leave");
    it->leaves = true;
}

static void drop(struct user_party *it)
{
    shell_present = it->shell;
    redlock_barrier_free(it->handle);
    it->shell->world->parties[it->number].gone_at = it->shell->world->now;
    forget(it);
}

/* As redlock_relist() has it for another client: it leaves, and arrives again.  Here it stays. */
static void go_over(struct user_party *it)
{
    struct client_task *task = (struct client_task *)(void *)it->handle;
    shell_present = it->shell;
    if (task->go && task->core && !task->calls.queued && !task->news.queued)
        task->go(task, task->client);
}

void barriers_user_acts(struct shell *s)
{
    struct world *w = s->world;
    unsigned count = 0;
    if (!w->barriers || w->peace || s->close_asked || !chance(w, w->barriers))
        return;
    for (const struct user_party *it = s->parties; it; it = it->next)
        count++;
    if (count && chance(w, 250))
        leave(s->parties);
    else if (count && chance(w, 60))
        drop(s->parties);
    else if (count && chance(w, 100))
        go_over(s->parties);
    else if (count < AT_ONCE)
        begin(s);
}

bool barriers_wait(const struct shell *s)
{
    return s->parties != NULL;
}

void barriers_tidy_up(struct shell *s)
{
    for (struct user_party *it = s->parties; it; it = it->next)
        leave(it);
}

void barriers_drop(struct shell *s)
{
    struct world *w = s->world;
    while (s->parties) {
        struct user_party *it = s->parties;
        if (!w->parties[it->number].gone_at)
            w->parties[it->number].gone_at = w->now;
        s->parties = it->next;
        free(it);
    }
}
