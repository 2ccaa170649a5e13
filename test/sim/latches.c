#include "recipe_users.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "invariants.h"
#include "model_tasks.h"
#include "redlock/recipes.h"
#include "step.h"
#include "tasks.h"
#include "trace.h"
#include "wrong.h"

#define AT_ONCE   3     /* calls of one client */
#define NEW_LATCH 120   /* per mille of what users do makes one */
#define RUSH_MOST MS(2) /* for this time others make one of the same name, too */

enum deed { DEED_CREATE, DEED_ARRIVE, DEED_AWAIT, DEED_COUNT };

struct user_latch {
    struct user_latch *next;
    struct shell *shell;
    redlock_latch *handle;
    enum deed deed;
    unsigned number;  /* of the world's latches; CREATE: the one that is made */
    uint32_t arrival; /* ARRIVE: its token */
    usec began;
    bool cancelled;
    uint32_t epochs[MASTERS_MAX]; /* when it began: the processes that had the latch; 0: not.
                                     CREATE: the processes that there were */
};

static bool chance(struct world *w, unsigned permille)
{
    return chance_permille(&w->latching, permille);
}

/* ---- the rules ---------------------------------------------------------------------------- */

/* A running master never regains what it lost of a latch, so a master that was wrong stays wrong.
 */
static void note_wrong(struct world *w)
{
    for (unsigned i = 0; i < w->masters; i++) {
        const struct server *server = &w->servers[i];
        if (is_wrong(w, i) || server->farthest || server->jumped)
            w->ever_wrong |= (uint16_t)(1U << i);
    }
}

static bool may_be_deceived(struct world *w)
{
    unsigned wrong = 0;
    note_wrong(w);
    for (unsigned i = 0; i < w->masters; i++)
        wrong += w->ever_wrong >> i & 1;
    return w->options.beyond || w->mixed || wrong > w->spare;
}

/* The arrivals that were reported as counted before. */
static unsigned counted_before(const struct latch_made *latch, usec when)
{
    unsigned count = 0;
    for (unsigned i = 0; i < latch->begun; i++)
        count += latch->counted_at[i] && latch->counted_at[i] < when;
    return count;
}

static void is_open_well(struct world *w, struct latch_made *latch)
{
    if (latch->begun < latch->of)
        world_violated(w, "latch", "latch %s is open with %u of %u arrivals", latch->id,
                       latch->begun, latch->of);
    if (!latch->opened_at)
        latch->opened_at = w->now;
}

static void is_shut_well(struct user_latch *it, const struct latch_made *latch,
                         const redlock_latch_result *tally)
{
    struct world *w = it->shell->world;
    unsigned counted = counted_before(latch, it->began);
    if (latch->opened_at && latch->opened_at < it->began)
        world_violated(w, "latch", "client %u hears that latch %s is not open after it was",
                       it->shell->index + 1, latch->id);
    if (counted >= latch->of || (!w->spare && tally->arrived < counted))
        world_violated(w, "latch",
                       "client %u hears of %u arrivals at latch %s, of which %u were "
                       "counted before",
                       it->shell->index + 1, tally->arrived, latch->id, counted);
}

/* 0: none, or the latch ends before `left_ms`. */
static uint32_t process_with(struct world *w, unsigned master, const struct latch_made *latch,
                             int64_t left_ms)
{
    struct server *server = &w->servers[master];
    usec wall = server_wall(w, master);
    struct model_latch *here = model_latch(&server->model, wall, latch->name);
    bool has = server->up && here && strcmp(w->tokens[here->id].text, latch->id) == 0 &&
               here->ends_ms - wall / 1000 > left_ms;
    return has ? server->epoch + 1 : 0;
}

/* A quorum of masters has had it all the time. */
static void is_gone_well(struct user_latch *it, const struct latch_made *latch)
{
    struct world *w = it->shell->world;
    unsigned have = 0;
    for (unsigned i = 0; i < w->masters; i++)
        have += it->epochs[i] && process_with(w, i, latch, 2 * w->skew_ms) == it->epochs[i];
    if (have >= it->shell->quorum)
        world_violated(w, "latch", "client %u hears that latch %s is gone, which %u masters have",
                       it->shell->index + 1, latch->id, have);
}

void latches_put(struct world *w, uint32_t id, unsigned name)
{
    unsigned have = 0;
    for (unsigned i = 0; i < w->masters; i++) {
        struct model_latch *here = model_latch(&w->servers[i].model, server_wall(w, i), name);
        if (!w->servers[i].up || !here || here->id != id)
            continue;
        have++;
        w->tokens[id].latch_ends_ms = here->ends_ms;
    }
    if (have >= w->quorum)
        w->tokens[id].latch_had = w->now;
}

/* A quorum had it, and its life was over before the client, which was stopped, told its user. */
static bool has_ended(struct world *w, unsigned master, const struct latch_made *latch, usec began)
{
    const struct token *token = &w->tokens[world_token(w, latch->id, strlen(latch->id))];
    return token->latch_had >= began && token->latch_ends_ms <= server_wall(w, master) / 1000;
}

/* By a quorum, at a time.  Spare votes are for what a wrong master has forgotten since. */
static void is_made_well(struct user_latch *it, struct latch_made *latch)
{
    struct world *w = it->shell->world;
    unsigned have = 0;
    for (unsigned i = 0; i < w->masters; i++) {
        const struct server *server = &w->servers[i];
        latch->epochs[i] = process_with(w, i, latch, 0);
        have += latch->epochs[i] || !server->up || server->epoch + 1 != it->epochs[i] ||
                (w->ever_wrong >> i & 1) || has_ended(w, i, latch, it->began);
        if (latch->epochs[i])
            latch->ends_ms = server->model.data.latches[latch->name].ends_ms;
    }
    if (have < it->shell->quorum)
        world_violated(w, "latch", "client %u hears that it made latch %s, which %u masters have",
                       it->shell->index + 1, latch->id, have);
}

/* No restart has left it to fewer than a quorum, so nobody may take it for a leftover. */
static bool is_kept(struct world *w, const struct latch_made *latch)
{
    unsigned keepers = 0;
    for (unsigned i = 0; i < w->masters; i++)
        keepers += (latch->epochs[i] && w->servers[i].epoch + 1 == latch->epochs[i]) ||
                   process_with(w, i, latch, 0);
    return keepers >= w->quorum;
}

/* Nobody takes away a latch that was reported as made. */
static void are_there(struct world *w)
{
    for (unsigned n = 0; n < w->latch_count; n++) {
        struct latch_made *latch = &w->latches_made[n];
        if (!is_kept(w, latch))
            continue;
        for (unsigned i = 0; i < w->masters; i++) {
            const struct server *server = &w->servers[i];
            bool is_right = server->up && !(w->ever_wrong >> i & 1);
            bool is_same = is_right && latch->epochs[i] && server->epoch + 1 == latch->epochs[i];
            bool lives = latch->ends_ms - server_wall(w, i) / 1000 > 2 * w->skew_ms;
            if (is_same && lives && !process_with(w, i, latch, 0))
                world_violated(w, "latch", "latch %s, which was made, was taken from master %u",
                               latch->id, i + 1);
        }
    }
}

static void note_counted(struct world *w, struct latch_made *latch, uint32_t arrival)
{
    for (unsigned i = 0; i < latch->begun; i++)
        if (latch->arrivals[i] == arrival && !latch->counted_at[i])
            latch->counted_at[i] = w->now;
}

static void is_told_well(struct user_latch *it, struct latch_made *latch,
                         const redlock_latch_result *tally)
{
    struct world *w = it->shell->world;
    bool deceived = may_be_deceived(w), ok = tally->code == REDLOCK_OK;
    if (ok && it->deed == DEED_AWAIT && !tally->open)
        world_violated(w, "latch", "client %u waited, and it is not open", it->shell->index + 1);
    if (deceived)
        return;
    if (it->deed == DEED_CREATE) {
        if (ok)
            is_made_well(it, latch);
        return;
    }
    if (tally->open)
        is_open_well(w, latch);
    else if (tally->code == REDLOCK_E_NOT_OPEN || (ok && it->deed == DEED_COUNT))
        is_shut_well(it, latch, tally);
    if (tally->code == REDLOCK_E_GONE)
        is_gone_well(it, latch);
    if (ok && it->deed == DEED_ARRIVE)
        note_counted(w, latch, it->arrival);
}

/* ---- calls ------------------------------------------------------------------------------------
 */

static void begin(struct shell *s, enum deed deed, unsigned number, uint32_t arrival);

static void forget(struct user_latch *it)
{
    struct user_latch **at = &it->shell->latches;
    while (*at != it)
        at = &(*at)->next;
    *at = it->next;
    free(it);
}

static void on_tally(redlock_latch *handle, const redlock_latch_result *tally, void *data)
{
    struct user_latch *it = data;
    struct shell *s = it->shell;
    struct world *w = s->world;
    struct latch_made *latch = &w->latches_made[it->number];
    TRACE(w, "client %u hears of latch %u %s: %s%s, %u of %u%s", s->index + 1, it->number,
          tally->id, redlock_code_name(tally->code), tally->undecided ? ", undecided" : "",
          tally->arrived, tally->arrivals, tally->open ? ", open" : "");
    world_mark(w, (uint64_t)w->now + it->number, (uint64_t)tally->code);
    if (handle != it->handle || s->closed_told)
        world_violated(w, "once", "client %u hears of a latch that it does not ask for",
                       s->index + 1);
    if (it->deed == DEED_CREATE && tally->code != REDLOCK_E_HELD)
        snprintf(latch->id, sizeof latch->id, "%.*s", TOKEN_TEXT, tally->id);
    is_told_well(it, latch, tally);
    bool again = it->deed == DEED_ARRIVE && tally->undecided && !w->peace && !s->close_asked &&
                 chance(w, 800);
    unsigned number = it->number;
    uint32_t arrival = it->arrival;
    redlock_latch_free(handle);
    forget(it);
    if (again)
        begin(s, DEED_ARRIVE, number, arrival);
}

static redlock_code call(struct user_latch *it, const char *name,
                         const redlock_latch_options *options)
{
    redlock *client = it->shell->client;
    switch (it->deed) {
    case DEED_CREATE:
        return redlock_latch_create(client, &it->handle, name, options, on_tally, it);
    case DEED_ARRIVE:
        return redlock_latch_arrive(client, &it->handle, name, options, on_tally, it);
    case DEED_AWAIT:
        return redlock_latch_await(client, &it->handle, name, options, on_tally, it);
    default:
        return redlock_latch_count(client, &it->handle, name, options, on_tally, it);
    }
}

static redlock_latch_options draw_options(struct user_latch *it, const struct latch_made *latch)
{
    struct world *w = it->shell->world;
    redlock_latch_options options = {.size = sizeof options};
    options.arrivals = latch->of;
    options.life_ms =
        chance(w, 300) ? chance_range(&w->latching, 1000, 4 * w->max_ttl_ms + 1000) : 3600000;
    options.timeout_ms = chance(w, 200)   ? REDLOCK_ZERO
                         : chance(w, 700) ? chance_range(&w->latching, 1, 3 * w->max_ttl_ms)
                                          : 0;
    if (it->deed != DEED_CREATE)
        options.id = latch->id;
    if (it->deed == DEED_ARRIVE)
        options.arrival = w->tokens[it->arrival].text;
    return options;
}

static void begin(struct shell *s, enum deed deed, unsigned number, uint32_t arrival)
{
    struct world *w = s->world;
    struct user_latch *it = calloc(1, sizeof *it);
    const struct latch_made *latch = &w->latches_made[number];
    char name[2] = {(char)('a' + latch->name)};
    *it = (struct user_latch){
        .shell = s, .deed = deed, .number = number, .arrival = arrival, .began = w->now};
    for (unsigned i = 0; i < w->masters; i++)
        it->epochs[i] = deed == DEED_CREATE ? w->servers[i].epoch + 1
                                            : process_with(w, i, latch, 2 * w->skew_ms);
    redlock_latch_options options = draw_options(it, latch);
    shell_present = s;
    redlock_code code = call(it, name, &options);
    if (code && code != REDLOCK_E_MEMORY)
        world_violated(w, "options", "client %u may not ask for a latch: %s", s->index + 1,
                       redlock_last_error(s->client));
    if (code) {
        free(it);
        return;
    }
    TRACE(w, "client %u begins deed %u about latch %u", s->index + 1, deed, number);
    s->leases_made++; /* as many requests */
    it->next = s->latches;
    s->latches = it;
}

/* Most others make one of the same name. */
static void begin_rush(struct world *w)
{
    usec lasts = chance(w, 500) ? 0 : chance_range(&w->latching, 0, RUSH_MOST);
    w->rush_name = (uint8_t)chance_below(&w->latching, w->names);
    w->rush_until = w->now + lasts;
    for (unsigned i = 0; i < w->clients && lasts; i++)
        if (w->shells[i] && chance(w, 800))
            world_plan(w, w->now + chance_range(&w->latching, 0, lasts), HAPPENS_USER, w->shells[i],
                       1);
}

static void make(struct shell *s)
{
    struct world *w = s->world;
    if (w->latch_count == LATCHES)
        return;
    if (w->now >= w->rush_until)
        begin_rush(w);
    w->latches_made[w->latch_count] =
        (struct latch_made){.name = w->rush_name, .of = 1 + chance_below(&w->latching, 4)};
    begin(s, DEED_CREATE, w->latch_count++, 0);
}

/* Mostly somebody new. */
static void arrive(struct shell *s, unsigned number)
{
    struct world *w = s->world;
    struct latch_made *latch = &w->latches_made[number];
    bool is_new = !latch->begun || chance(w, 700);
    if (is_new && latch->begun == ARRIVALS_AT)
        return;
    if (is_new) {
        char text[TOKEN_TEXT + 1];
        int length = snprintf(text, sizeof text, "arrival-%014u", w->arrivals_made++);
        latch->arrivals[latch->begun++] = world_token(w, text, (size_t)length);
    }
    unsigned which = is_new ? latch->begun - 1 : chance_below(&w->latching, latch->begun);
    begin(s, DEED_ARRIVE, number, latch->arrivals[which]);
}

/* Mostly about the last one. */
static void act(struct shell *s)
{
    struct world *w = s->world;
    unsigned back = chance(w, 700) ? 0 : chance_below(&w->latching, w->latch_count);
    unsigned number = w->latch_count - 1 - back;
    if (!w->latches_made[number].id[0])
        return;
    if (chance(w, 450))
        arrive(s, number);
    else
        begin(s, chance(w, 500) ? DEED_AWAIT : DEED_COUNT, number, 0);
}

static void cancel(struct user_latch *it)
{
    shell_present = it->shell;
    if (!it->cancelled && redlock_latch_cancel(it->handle))
        world_violated(it->shell->world, "options", "a call about a latch may not be cancelled");
    it->cancelled = true;
}

static void drop(struct user_latch *it)
{
    shell_present = it->shell;
    redlock_latch_free(it->handle);
    forget(it);
}

/* As redlock_relist() has it for another client.  Here it is made anew. */
static void go_over(struct user_latch *it)
{
    struct client_task *task = (struct client_task *)(void *)it->handle;
    shell_present = it->shell;
    if (!task->go || !task->core || task->calls.queued || task->news.queued)
        return;
    client_look(task->client);
    task->go(task, task->client);
}

void latches_user_acts(struct shell *s)
{
    struct world *w = s->world;
    unsigned count = 0;
    if (!w->latches || w->peace || s->close_asked || !chance(w, w->latches))
        return;
    if (!may_be_deceived(w))
        are_there(w);
    for (const struct user_latch *it = s->latches; it; it = it->next)
        count++;
    if (count && chance(w, 100))
        cancel(s->latches);
    else if (count && chance(w, 50))
        drop(s->latches);
    else if (count && chance(w, 100))
        go_over(s->latches);
    else if (count < AT_ONCE && (!w->latch_count || w->now < w->rush_until || chance(w, NEW_LATCH)))
        make(s);
    else if (count < AT_ONCE)
        act(s);
}

bool latches_wait(const struct shell *s)
{
    return s->latches != NULL;
}

void latches_tidy_up(struct shell *s)
{
    for (struct user_latch *it = s->latches; it; it = it->next)
        cancel(it);
}

void latches_drop(struct shell *s)
{
    while (s->latches) {
        struct user_latch *it = s->latches;
        s->latches = it->next;
        free(it);
    }
}
