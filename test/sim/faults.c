#include "faults.h"

#include <string.h>

#include "change.h"
#include "client_shell.h"
#include "invariants.h"
#include "lasting.h"
#include "rules.h"
#include "links.h"
#include "lists.h"
#include "liar.h"
#include "trace.h"
#include "user_lease.h"
#include "wrong.h"

#define BIT(kind) (1U << (kind))
#define NETWORK                                                                                    \
    (BIT(FAULT_UNEVEN) | BIT(FAULT_DELAYS) | BIT(FAULT_CUT) | BIT(FAULT_HALF_OUT) |                \
     BIT(FAULT_HALF_IN) | BIT(FAULT_RESET) | BIT(FAULT_REFUSE))
#define SLOW (BIT(FAULT_STOP_MASTER) | BIT(FAULT_SLOW_MASTER))
#define CRASHES                                                                                    \
    (BIT(FAULT_CRASH_KEEPING) | BIT(FAULT_CRASH_EMPTY) | BIT(FAULT_CRASH_OLD) | BIT(FAULT_LATE_FIN))
#define PAUSES  (BIT(FAULT_STOP_CLIENT) | BIT(FAULT_STUMBLE) | BIT(FAULT_KILL_CLIENT))
#define ANSWERS (BIT(FAULT_SCRIPT_FLUSH) | BIT(FAULT_ERRORS))
/* A key that is taken away from its holder is outside what is promised. */
#define EVERYTHING                                                                                 \
    ((BIT(FAULT_KINDS) - 1) & ~(BIT(FAULT_EVICT) | BIT(FAULT_LIAR) | BIT(FAULT_FORGET)))

const struct profile profiles[] = {
    {"mix", "each run draws from all faults", EVERYTHING, false, HABIT_ANY},
    {"calm", "nothing goes wrong but contention", 0, false, HABIT_ANY},
    {"network", "slow, cut, half cut, broken and refused connections", NETWORK, false, HABIT_ANY},
    {"masters", "stopped and slow masters, on a bad network", SLOW | NETWORK, false, HABIT_ANY},
    {"crashes", "restarts with all, none or older data", CRASHES | BIT(FAULT_RESET), false,
     HABIT_ANY},
    {"handover", "masters restart, and get slow, while names are handed over",
     BIT(FAULT_CRASH_OLD) | BIT(FAULT_LATE_FIN) | BIT(FAULT_DELAYS) | BIT(FAULT_RESET) |
         BIT(FAULT_UNEVEN),
     false, HABIT_WAITING},
    {"lasting", "a minority of masters, or of links, stays broken for good",
     BIT(FAULT_LASTING) | BIT(FAULT_RESET) | BIT(FAULT_CRASH_KEEPING) | BIT(FAULT_STOP_CLIENT),
     false, HABIT_WAITING},
    {"crowd", "many waiters for one name, short holds, a hundred leases",
     BIT(FAULT_RESET) | BIT(FAULT_DELAYS) | BIT(FAULT_KILL_CLIENT), false, HABIT_CROWD},
    {"liars", "one master lies",
     BIT(FAULT_LIAR) | BIT(FAULT_RESET) | BIT(FAULT_DELAYS) | BIT(FAULT_CRASH_EMPTY), false,
     HABIT_ANY},
    {"wrong", "as many masters lie or forget as spare votes tolerate",
     BIT(FAULT_LIAR) | BIT(FAULT_FORGET) | BIT(FAULT_RESET) | BIT(FAULT_DELAYS) |
         BIT(FAULT_CRASH_EMPTY) | BIT(FAULT_CRASH_KEEPING) | BIT(FAULT_STOP_CLIENT),
     false, HABIT_ANY},
    {"agree", "clients with two lists of masters at once; restarts, cuts, sleepers, and a liar",
     BIT(FAULT_LIAR) | BIT(FAULT_RESET) | BIT(FAULT_DELAYS) | BIT(FAULT_CUT) | BIT(FAULT_HALF_OUT) |
         BIT(FAULT_HALF_IN) | BIT(FAULT_STOP_MASTER) | BIT(FAULT_CRASH_EMPTY) |
         BIT(FAULT_CRASH_KEEPING) | BIT(FAULT_LATE_FIN) | BIT(FAULT_STOP_CLIENT) |
         BIT(FAULT_KILL_CLIENT) | BIT(FAULT_SCRIPT_FLUSH),
     false, HABIT_LISTS},
    {"change", "clients move from one list of masters to another that may not meet it",
     BIT(FAULT_LIAR) | BIT(FAULT_RESET) | BIT(FAULT_DELAYS) | BIT(FAULT_CUT) | BIT(FAULT_HALF_OUT) |
         BIT(FAULT_HALF_IN) | BIT(FAULT_STOP_MASTER) | BIT(FAULT_CRASH_EMPTY) |
         BIT(FAULT_CRASH_KEEPING) | BIT(FAULT_CRASH_OLD) | BIT(FAULT_STEP_CLOCK) |
         BIT(FAULT_LATE_FIN) | BIT(FAULT_STOP_CLIENT) | BIT(FAULT_KILL_CLIENT) |
         BIT(FAULT_SCRIPT_FLUSH) | BIT(FAULT_ERRORS),
     false, HABIT_CHANGE},
    {"wishes", "some ask holders to let go, who heed; restarts, cuts, sleepers",
     BIT(FAULT_RESET) | BIT(FAULT_DELAYS) | BIT(FAULT_CUT) | BIT(FAULT_HALF_OUT) |
         BIT(FAULT_HALF_IN) | BIT(FAULT_CRASH_EMPTY) | BIT(FAULT_CRASH_KEEPING) |
         BIT(FAULT_STOP_CLIENT) | BIT(FAULT_KILL_CLIENT) | BIT(FAULT_SCRIPT_FLUSH),
     false, HABIT_WISHES},
    {"once", "work that is done once; masters restart, clients are killed",
     BIT(FAULT_RESET) | BIT(FAULT_DELAYS) | BIT(FAULT_CRASH_EMPTY) | BIT(FAULT_CRASH_KEEPING) |
         BIT(FAULT_LATE_FIN) | BIT(FAULT_STOP_CLIENT) | BIT(FAULT_STUMBLE) | BIT(FAULT_KILL_CLIENT),
     false, HABIT_WORKS},
    {"pauses", "clients stopped, suspended, killed", PAUSES, false, HABIT_ANY},
    {"clocks", "wall clocks set, clients stopped", BIT(FAULT_STEP_CLOCK) | PAUSES | CRASHES, false,
     HABIT_ANY},
    {"answers", "forgotten scripts, error replies", ANSWERS | BIT(FAULT_RESET), false, HABIT_ANY},
    {"foreign", "other libraries on the same names", BIT(FAULT_FOREIGNERS) | NETWORK | PAUSES,
     false, HABIT_ANY},
    {"memory", "allocations fail", BIT(FAULT_MEMORY) | NETWORK, false, HABIT_ANY},
    {"evict", "masters lose single keys: no promise of exclusion, but of all else",
     BIT(FAULT_EVICT) | NETWORK | PAUSES, false, HABIT_ANY},
    {"beyond", "clocks run apart by more than was promised: violations are expected",
     PAUSES | NETWORK, true, HABIT_ANY},
};
const unsigned profile_count = sizeof profiles / sizeof profiles[0];

const struct profile *profile_find(const char *name)
{
    for (unsigned i = 0; i < profile_count; i++)
        if (strcmp(profiles[i].name, name) == 0)
            return &profiles[i];
    return NULL;
}

const char *fault_name(enum fault_kind kind)
{
    static const char *const names[] = {
        "delays",      "cut",         "half-out",      "half-in",      "reset",     "refuse",
        "stop-master", "slow-master", "crash-keeping", "crash-empty",  "crash-old", "step-clock",
        "stop-client", "stumble",     "kill-client",   "script-flush", "errors",    "foreigners",
        "memory",      "mixed-ttl",   "evict",         "late-fin",     "uneven",    "lasting",
        "liar",        "forget",      "short-writes",  "split-reads",  "cut-short", "malformed"};
    return names[kind];
}

static void draw_link_faults(struct world *w)
{
    static const uint32_t harmless = BIT(FAULT_SHORT_WRITES) | BIT(FAULT_SPLIT_READS);
    struct chance chance = {mix(w->options.seed ^ 0xb17e5)};
    for (unsigned kind = FAULT_KINDS; kind < FAULTS_END; kind++)
        if (chance_permille(&chance, 700))
            w->link_faults |= links_kind.faults & BIT(kind);
    if (!w->faults)
        w->link_faults &= harmless;
    w->link_faults &= ~w->options.without;
}

void faults_draw(struct world *w)
{
    const struct options *options = &w->options;
    bool waiting = options->habit == HABIT_WAITING;
    unsigned share = (unsigned)chance_range(&w->chance, waiting ? 400 : 100, waiting ? 1000 : 700);
    w->faults = 0;
    for (unsigned kind = 0; kind < FAULT_KINDS; kind++)
        if (chance_permille(&w->chance, share))
            w->faults |= options->faults & BIT(kind);
    if (options->habit == HABIT_CROWD && chance_permille(&w->chance, 800))
        w->faults = 0;
    if (options->habit == HABIT_WISHES && chance_permille(&w->asking, 400))
        w->faults = 0;
    if (waiting) /* that is what it is about */
        w->faults |= options->faults & BIT(FAULT_LASTING);
    if (w->patient) /* likewise */
        w->faults = (w->faults & (BIT(FAULT_RESET) | BIT(FAULT_DELAYS))) |
                    (options->faults & BIT(FAULT_UNEVEN));
    /* It hides the others' effects: seldom, unless the profile is about it. */
    if (!chance_permille(&w->chance, 150) && options->faults == EVERYTHING)
        w->faults &= ~BIT(FAULT_MEMORY);
    w->faults |= options->faults & (BIT(FAULT_LIAR) | BIT(FAULT_FORGET));
    w->faults &= ~options->without;
    w->fault_pace = (unsigned)chance_range(&w->chance, 60, 800);
    if (w->faults & BIT(FAULT_CRASH_OLD) && (waiting || chance_permille(&w->chance, 500)))
        w->fresh = (unsigned)chance_range(&w->chance, 1, 100);
    draw_link_faults(w);
}

/* ---- how long -------------------------------------------------------------------- */

static usec a_while(struct world *w)
{
    if (habit_has_lists(w->options.habit))
        return lists_a_while(w);
    usec ttls = w->max_ttl_ms > 6000 && !chance_permille(&w->chance, 100) ? MS(12000)
                                                                          : MS(w->max_ttl_ms) * 2;
    usec longest = chance_permille(&w->chance, w->patient ? 600 : 300) ? ttls : MS(400);
    return chance_range(&w->chance, MS(1), longest);
}

static void until(struct world *w, usec *moment)
{
    usec end = w->now + a_while(w);
    if (end > *moment)
        *moment = end;
}

/* ---- each fault ------------------------------------------------------------------- */

static void strike_path(struct world *w, enum fault_kind kind, struct path *path)
{
    if (kind == FAULT_DELAYS) {
        until(w, &path->slow_until);
        unsigned ways = chance_below(&w->chance, w->patient ? 3 : 6);
        usec most = chance_permille(&w->chance, 800) ? MS(300) : MS(3000);
        path->slow_out = ways != 0;
        path->slow_in = ways != 1;
        path->slowness = w->patient ? chance_range(&w->chance, MS(500), MS(4000))
                                    : chance_range(&w->chance, MS(1), most);
        path->least_slowness = w->patient ? path->slowness / 2 : 0;
    }
    if (kind == FAULT_CUT || kind == FAULT_HALF_OUT)
        until(w, &path->out_blocked);
    if (kind == FAULT_CUT && path->in_blocked < path->out_blocked)
        path->in_blocked = path->out_blocked; /* never sooner than was said before */
    if (kind == FAULT_HALF_IN)
        until(w, &path->in_blocked);
}

/* Both connections of a client to a master mostly go by the same way; not always. */
static void strike_paths(struct world *w, enum fault_kind kind, unsigned client, unsigned master)
{
    unsigned dice = chance_below(&w->chance, 10);
    bool both = dice < (w->patient ? 2 : 5), main_only = !both && dice < (w->patient ? 9 : 7);
    TRACE(w, "FAULT %s between client %u and master %u%s", fault_name(kind), client + 1, master + 1,
          both        ? ""
          : main_only ? ", but for notifications"
                      : ", for notifications");
    if (both || main_only)
        strike_path(w, kind, &w->paths[client][master]);
    if (both || !main_only)
        strike_path(w, kind, &w->push_paths[client][master]);
}

static void reset(struct world *w, unsigned client, unsigned master)
{
    struct conn *conn = w->shells[client]->links[master].conn;
    TRACE(w, "FAULT the connection of client %u to master %u breaks", client + 1, master + 1);
    if (conn && chance_permille(&w->chance, 500))
        conn_break_silently(conn, chance_range(&w->chance, 0, 100));
    else if (conn)
        conn_break(conn);
    if (chance_permille(&w->chance, 500))
        subscription_break(w->shells[client], master);
}

#define UNEVEN MS(5000)
static void slow_out(struct world *w, struct path *path, usec least, usec most)
{
    path->slow_until = w->now + UNEVEN;
    path->slow_out = true;
    path->slow_in = false;
    path->least_slowness = least;
    path->slowness = most;
}

static bool waits_for_fence(const struct shell *s)
{
    for (const struct user_lease *lease = s->all; lease; lease = lease->next_all)
        if (lease->known == KNOWN_ASKED && lease->enqueued_since && lease->terms.fence)
            return true;
    return false;
}

/* A client's connection to one master is dead, which it does not know for a while; to
 * another one it is slow; and others are slow to the rest. */
static void strike_unevenly(struct world *w, unsigned client, unsigned dead)
{
    unsigned slow = (dead + 1) % w->masters;
    for (unsigned c = 0; c < w->clients && !waits_for_fence(w->shells[client]); c++)
        client = (client + 1) % w->clients;
    struct conn *conn = w->shells[client]->links[dead].conn;
    usec slowness = chance_range(&w->chance, MS(w->patient ? 1500 : 200), MS(3000));
    if (w->now < w->uneven_until)
        return;
    w->uneven_until = w->now + UNEVEN;
    TRACE(w, "FAULT uneven ways of client %u: dead to master %u, slow to master %u", client + 1,
          dead + 1, slow + 1);
    if (conn)
        conn_break_silently(conn, chance_range(&w->chance, 0, MS(3500)));
    slow_out(w, &w->paths[client][slow], slowness * 9 / 10, slowness);
    for (unsigned c = 0; c < w->clients; c++)
        for (unsigned i = 0; i < w->masters && c != client; i++)
            if (i != dead && i != slow)
                slow_out(w, &w->paths[c][i], 0, MS(1500));
}

void faults_fail_over(struct world *w, unsigned master, bool is_stale)
{
    static const struct model_data nothing;
    struct server *server = &w->servers[master];
    TRACE(w, "FAULT another process takes the place of master %u, %s", master + 1,
          is_stale ? "with older data" : "empty");
    server->up = false;
    server->fails_over = true;
    server->comes_back_with = is_stale ? &server->snapshot : &nothing;
    net_server_down(w, master);
    world_plan(w, w->now + chance_range(&w->chance, MS(1), MS(300)), HAPPENS_RESTART, NULL, master);
}

static void crash(struct world *w, enum fault_kind kind, unsigned master)
{
    static const struct model_data nothing;
    struct server *server = &w->servers[master];
    if (!server->up || is_liar(w, master))
        return;
    TRACE(w, "FAULT %s of master %u", fault_name(kind), master + 1);
    server->up = false;
    server->comes_back_with = kind == FAULT_CRASH_KEEPING ? &server->model.data
                              : kind == FAULT_CRASH_OLD   ? &server->snapshot
                                                          : &nothing;
    change_crashed(w, kind, master);
    net_server_down(w, master);
    usec longest = chance_permille(&w->chance, 300) ? MS(30) : MS(600);
    usec down = habit_has_lists(w->options.habit) ? lists_a_while(w)
                                                  : chance_range(&w->chance, MS(1), longest);
    world_plan(w, w->now + down, HAPPENS_RESTART, NULL, master);
}

void faults_restart(struct world *w, unsigned master)
{
    struct server *server = &w->servers[master];
    if (server->up || server->gone)
        return;
    struct model_data data = *server->comes_back_with;
    model_restart(&server->model, server_wall(w, master), chance_next(&w->chance), &data);
    server->up = true;
    server->restarted_at = w->now;
    server->epoch++;
    server->stopped_until = 0;
    /* An old snapshot brings back released keys, and waiters that have left the queue and may be
     * given the name later: no client can know of that. */
    bool is_old = server->comes_back_with == &server->snapshot;
    if (is_old)
        orphans_excuse_holders(w, &data);
    for (unsigned i = 0; i < data.waiters_used && (is_old || server->fails_over); i++)
        w->tokens[data.waiters[i].value].excused = true;
    /* A ttl that began before now: any lease may still rely on it. */
    server->abstains_until = server->fails_over ? 0 : w->now + MS(w->max_ttl_ms);
    if (server->fails_over)
        server->model.started_s -= 100000;
    server->fails_over = false;
    TRACE(w, "master %u is back", master + 1);
}

static bool has_keys(struct world *w, unsigned master)
{
    for (unsigned name = 0; name < MODEL_KEYS; name++)
        if (model_value(&w->servers[master].model, server_wall(w, master), name))
            return true;
        else if (model_waiter(&w->servers[master].model, server_wall(w, master), name, 0))
            return true;
    return false;
}

/* Forward only while nothing on that master depends on its clock but its
 * quarantine, which allows for it; backwards keys just live longer. */
static void step_clock(struct world *w, unsigned master)
{
    struct server *server = &w->servers[master];
    usec most = MS(w->skew_ms) / 4; /* they differ by as much from the start, and drift */
    usec step = chance_range(&w->chance, -most, most);
    if (server->stepped + step > most || server->stepped + step < 0 ||
        (step > 0 && has_keys(w, master)))
        return;
    TRACE(w, "FAULT the clock of master %u is set by %.3f ms", master + 1, (double)step / 1000);
    server->stepped += step;
    server->clock.base += step;
}

static void kill_client(struct world *w, unsigned client)
{
    struct shell *both[] = {w->shells[client], w->shells[client]->mate};
    if (!both[0]->running) /* it is to begin later, and its user with it */
        return;
    TRACE(w, "FAULT client %u is killed", client + 1);
    if (both[1] && !both[1]->running)
        both[1] = NULL;
    for (unsigned i = 0; i < 2 && both[i]; i++) {
        both[i]->closed = false;
        check_ended(both[i]);
        shell_stop(both[i]);
    }
    for (unsigned i = 0; i < 2 && both[i]; i++)
        shell_start(both[i]);
}

/* All at once, where all have alike work. */
static void fill_up(struct world *w, unsigned master)
{
    bool all = chance_permille(&w->chance, 500);
    usec full_until = w->now + a_while(w);
    TRACE(w, "FAULT %s %u is full", all ? "each master, as is" : "master", master + 1);
    for (unsigned i = 0; i < w->masters; i++) {
        if (!all && i != master)
            continue;
        w->servers[i].errors_until = full_until;
        w->servers[i].error = "OOM command not allowed when used memory > 'maxmemory'.";
    }
}

static void errors(struct world *w, unsigned master)
{
    static const char *const texts[] = {"LOADING Redis is loading the dataset in memory",
                                        "OOM command not allowed when used memory > 'maxmemory'."};
    struct server *server = &w->servers[master];
    until(w, &server->errors_until);
    server->error = texts[chance_below(&w->chance, 2)];
    TRACE(w, "FAULT master %u answers %.7s", master + 1, server->error);
}

static void strike_master(struct world *w, enum fault_kind kind, unsigned master)
{
    struct server *server = &w->servers[master];
    TRACE(w, "FAULT %s on master %u", fault_name(kind), master + 1);
    if (kind == FAULT_STOP_MASTER)
        until(w, &server->stopped_until);
    if (kind == FAULT_REFUSE)
        until(w, &server->refuses_until);
    if (kind == FAULT_SCRIPT_FLUSH)
        server->model.scripts = 0;
    if (kind == FAULT_EVICT)
        server->model.data.keys[chance_below(&w->chance, w->names)] = (struct model_key){0};
    if (kind == FAULT_SLOW_MASTER) {
        until(w, &server->slow_until);
        server->slowness = chance_range(&w->chance, MS(1), MS(80));
    }
}

static void strike(struct world *w, enum fault_kind kind)
{
    unsigned client = chance_below(&w->chance, w->clients);
    unsigned master = chance_below(&w->chance, w->masters);
    switch (kind) {
    case FAULT_UNEVEN:
        strike_unevenly(w, client, master);
        break;
    case FAULT_DELAYS:
    case FAULT_CUT:
    case FAULT_HALF_OUT:
    case FAULT_HALF_IN:
        strike_paths(w, kind, client, master);
        break;
    case FAULT_RESET:
        reset(w, client, master);
        break;
    case FAULT_CRASH_KEEPING:
    case FAULT_CRASH_EMPTY:
    case FAULT_CRASH_OLD:
        crash(w, kind, master);
        break;
    case FAULT_STEP_CLOCK:
        if (!change_forgets(w, master))
            step_clock(w, master);
        break;
    case FAULT_STOP_CLIENT:
        shell_pause(w->shells[client], a_while(w));
        break;
    case FAULT_KILL_CLIENT:
        if (chance_permille(&w->chance, 200))
            kill_client(w, client);
        break;
    case FAULT_ERRORS:
        if (is_change(w))
            fill_up(w, master);
        else
            errors(w, master);
        break;
    case FAULT_FORGET:
        wrong_forget(w, master);
        break;
    default:
        strike_master(w, kind, master);
    }
}

void faults_strike(struct world *w)
{
    static const uint32_t passive = BIT(FAULT_STUMBLE) | BIT(FAULT_FOREIGNERS) | BIT(FAULT_MEMORY) |
                                    BIT(FAULT_MIXED_TTL) | BIT(FAULT_LATE_FIN) |
                                    BIT(FAULT_LASTING) | BIT(FAULT_LIAR);
    if (w->peace)
        return;
    for (unsigned tries = 0; tries < 40; tries++) {
        enum fault_kind kind = (enum fault_kind)chance_below(&w->chance, FAULT_KINDS);
        if (w->faults & ~passive & BIT(kind)) {
            strike(w, kind);
            break;
        }
    }
    unsigned old = chance_below(&w->chance, w->masters);
    if (chance_permille(&w->chance, 300) && w->servers[old].up)
        w->servers[old].snapshot = w->servers[old].model.data;
    world_plan(w, w->now + chance_range(&w->chance, 1, 2 * MS(w->fault_pace)), HAPPENS_FAULT, NULL,
               0);
}

static void at_least(usec *moment, usec other)
{
    if (other > *moment)
        *moment = other;
}

/* Messages on a slow path are on their way for a while after. */
static void path_ends(struct world *w, const struct path *path)
{
    usec blocked = path_blocked(path);
    at_least(&w->peace_at, (blocked > path->slow_until ? blocked : path->slow_until) +
                               (path->slow_until ? path->slowness : 0));
}

/* The last of what was begun. */
void faults_end(struct world *w)
{
    wrong_end(w);
    w->peace_at = w->now + (w->faults & BIT(FAULT_LATE_FIN) ? LATE_FIN : 0);
    for (unsigned i = 0; i < w->masters; i++) {
        const struct server *server = &w->servers[i];
        faults_restart(w, i);
        at_least(&w->peace_at, server->stopped_until);
        at_least(&w->peace_at, server->slow_until);
        at_least(&w->peace_at, server->errors_until);
        at_least(&w->peace_at, server->refuses_until);
        for (unsigned c = 0; c < w->clients; c++) {
            path_ends(w, &w->paths[c][i]);
            path_ends(w, &w->push_paths[c][i]);
        }
    }
    for (unsigned c = 0; c < w->clients; c++) {
        at_least(&w->peace_at, w->shells[c]->stopped_until);
        w->shells[c]->account.fail_permille = 0;
    }
    lasting_begin(w);
}
