#include "change.h"

#include <string.h>

#include "liar.h"
#include "lists.h"
#include "model_net.h"
#include "movers.h"
#include "trace.h"

#define LATEST       MS(500000) /* users wait for the change no longer */
#define WORD         MS(121000) /* how long a word may count, by any clock */
#define TOOL         1000       /* its number as a client */
#define FIRST(world) (&(world)->kinds[0])

static bool chance(struct world *w, unsigned permille)
{
    return chance_permille(&w->change.chance, permille);
}

static usec range(struct world *w, usec low, usec high)
{
    return chance_range(&w->change.chance, low, high);
}

bool change_is_over_on(const struct world *w, unsigned master)
{
    const struct model_data *data = &w->servers[master].model.data;
    for (unsigned i = 0; i < MODEL_ENDS; i++)
        if (data->ends[i].masters == FIRST(w)->masters &&
            memcmp(data->ends[i].addresses, FIRST(w)->servers, FIRST(w)->masters) == 0)
            return true;
    return false;
}

/* It is not any more. */
static void note_end(struct world *w, unsigned master)
{
    if (change_is_over_on(w, master))
        w->change.over_until[master] = w->now;
}

/* ---- what a master forgets ------------------------------------------------------------ */

static void forget_sayers(struct model_data *data)
{
    memset(data->lists, 0, sizeof data->lists);
    data->places = 0;
}

/* The append-only file does not have the clients that say a list. */
void change_crashed(struct world *w, enum fault_kind kind, unsigned master)
{
    struct change *change = &w->change;
    if (!is_change(w) || (kind == FAULT_CRASH_KEEPING && chance(w, 500)))
        return;
    if (kind == FAULT_CRASH_KEEPING) {
        TRACE(w, "master %u has lost who says a list", master + 1);
        forget_sayers(&w->servers[master].model.data);
        return;
    }
    change->lost_at[master] = w->now;
    note_end(w, master);
}

bool change_forgets(struct world *w, unsigned master)
{
    if (!is_change(w) || chance(w, 500))
        return false;
    TRACE(w, "FAULT the clock of master %u is set, and set right: it forgets who says a list",
          master + 1);
    w->change.forgot_at[master] = w->now;
    forget_sayers(&w->servers[master].model.data);
    return true;
}

/* Clients that said the list may rely on it all the same. */
static bool is_shaky(const struct world *w, unsigned master)
{
    usec forgot_at = w->change.forgot_at[master];
    return forgot_at && w->now <= forgot_at + WORD + MS(w->max_ttl_ms);
}

/* It has restarted, and may have promised what it does not know of. */
static bool abstains(const struct world *w, unsigned master)
{
    return w->now < w->servers[master].abstains_until;
}

/* ---- full masters ---------------------------------------------------------------------- */

static bool is_full(const struct world *w, unsigned master)
{
    return w->now < w->servers[master].errors_until;
}

static bool is_first(const struct world *w, const struct model_kind *kind)
{
    return kind->masters == FIRST(w)->masters &&
           memcmp(kind->addresses, FIRST(w)->servers, kind->masters) == 0;
}

static bool has_all(const struct world *w, unsigned master, const struct model_call *call)
{
    struct model_master model = w->servers[master].model;
    bool all = true;
    for (unsigned i = 0; i < call->count; i++)
        all &= model_has(&model, server_wall(w, master), call->names[i], call->value);
    return all;
}

/* A master tells that a list is over without writing. */
static bool writes(const struct world *w, unsigned master, const struct model_agree *agree)
{
    bool is_over = is_first(w, &agree->kind) && change_is_over_on(w, master);
    return agree->says == SAYS_OURS && !is_over;
}

bool change_has_no_room_for(const struct world *w, unsigned master, const struct model_call *call)
{
    const struct model_master *model = &w->servers[master].model;
    switch ((unsigned)call->kind) {
    case REQUEST_HELLO:
        return model->data.clock.r != model->run_id;
    case REQUEST_RENEW:
        return !has_all(w, master, call);
    case REQUEST_AGREE:
        return call->agree && writes(w, master, call->agree);
    case REQUEST_ACQUIRE:
    case REQUEST_GRANT:
    case REQUEST_RAISE:
    case REQUEST_QUEUE:
    case REQUEST_UPGRADE:
        return true;
    }
    return false;
}

/* ---- visits --------------------------------------------------------------------------- */

static void plan(struct world *w, usec after)
{
    world_plan(w, w->now + after, HAPPENS_TOOL, NULL, 0);
}

static struct model_agree words(const struct world *w, bool ends)
{
    struct model_agree agree = {.says = ends ? SAYS_OVER : SAYS_NOT_OVER,
                                .successor = 1,
                                .client = TOOL,
                                .kept = WORD + 2 * MS(w->max_ttl_ms) + MS(10000)};
    agree.kind.masters = (uint8_t)FIRST(w)->masters;
    memcpy(agree.kind.addresses, FIRST(w)->servers, FIRST(w)->masters);
    return agree;
}

/* A liar may want the second list to be used too soon. */
static void lie_to_tool(struct world *w, struct model_agree *agree)
{
    lists_lie(w, agree);
    if (!chance(w, 500))
        return;
    agree->successor = 1;
    agree->told_count = 0;
}

/* False: it is not reached. */
static bool tell(struct world *w, unsigned master, struct model_agree *agree)
{
    struct model_call call = {.kind = REQUEST_AGREE, .whole = true, .agree = agree};
    struct model_answer answer;
    if (agree->says == SAYS_NOT_OVER) {
        note_end(w, master);
        agree->changes = w->servers[master].model.data.changes;
    }
    if (chance(w, 100) || (agree->says != SAYS_NOTHING && is_full(w, master)) ||
        !net_execute(w, master, &call, &answer))
        return false;
    if (is_liar(w, master))
        lie_to_tool(w, agree);
    return true;
}

/* With whatever numbers. */
static bool is_said(const struct model_agree *agree)
{
    for (unsigned i = 0; i < agree->told_count; i++) {
        const struct model_kind *kind = &agree->told[i].kind;
        if (kind->masters == agree->kind.masters &&
            memcmp(kind->addresses, agree->kind.addresses, kind->masters) == 0)
            return true;
    }
    return false;
}

static void end_on(struct world *w, unsigned master)
{
    struct change *change = &w->change;
    struct model_agree agree = words(w, true);
    if (!tell(w, master, &agree))
        return;
    bool counts = agree.successor && !is_said(&agree) && !abstains(w, master);
    TRACE(w, "the tool ends list A on master %u%s", master + 1,
          counts ? ", where nobody says it" : "");
    if (!counts || change->opened_at)
        return;
    change->counted |= (uint16_t)(1U << master);
    change->counted_at[master] = w->now;
    if (is_shaky(w, master))
        change->shaky |= (uint16_t)(1U << master);
}

/* ---- rounds --------------------------------------------------------------------------- */

static void begin_round(struct world *w)
{
    struct change *change = &w->change;
    change->visited = 0;
    if (!change->opened_at)
        change->counted = change->shaky = 0;
}

static unsigned next_of_round(struct world *w)
{
    unsigned entry = chance_below(&w->change.chance, FIRST(w)->masters);
    while (w->change.visited >> FIRST(w)->servers[entry] & 1)
        entry = (entry + 1) % FIRST(w)->masters;
    unsigned master = FIRST(w)->servers[entry];
    w->change.visited |= (uint16_t)(1U << master);
    return master;
}

static void open_successor(struct world *w)
{
    struct change *change = &w->change;
    TRACE(w, "list B may be used");
    change->opened_at = w->now;
    if (!w->options.ops)
        w->ops_left = (unsigned)range(w, 8, 30) + 20 * w->moves;
    change_opened(w);
}

/* It may be interrupted at any moment.  Another one then goes on by what masters say. */
static usec pause_after_visit(struct world *w)
{
    bool is_over = w->change.visited == FIRST(w)->has;
    if (is_over || chance(w, 30))
        begin_round(w);
    if (is_over)
        return range(w, MS(1000), MS(w->change.opened_at ? 60000 : 20000));
    return range(w, MS(1), chance(w, 700) ? MS(500) : chance(w, 800) ? MS(10000) : MS(200000));
}

static void go_on(struct world *w)
{
    struct change *change = &w->change;
    end_on(w, next_of_round(w));
    unsigned counted = (unsigned)__builtin_popcount(change->counted);
    if (!change->opened_at && counted >= change->least)
        open_successor(w);
    plan(w, pause_after_visit(w));
}

/* ---- taking the end back ---------------------------------------------------------------- */

static void begin_to_take_back(struct world *w)
{
    TRACE(w, "the tool takes the end of list A back");
    w->change.stage = CHANGE_TAKES_BACK;
    w->change.takes_back_at = 0;
    w->changes.taken_back++;
    begin_round(w);
}

static void finish_taking_back(struct world *w)
{
    TRACE(w, "list A is not over any more");
    begin_round(w);
    w->change.stage = w->change.ends_again ? CHANGE_ENDS : CHANGE_WAS_TAKEN_BACK;
    w->changes.ended_again += w->change.ends_again;
    if (w->change.ends_again)
        plan(w, range(w, MS(1), chance(w, 600) ? MS(8000) : MS(150000)));
}

static void take_back(struct world *w)
{
    struct model_agree agree = words(w, false);
    unsigned master = next_of_round(w);
    if (!tell(w, master, &agree))
        w->change.visited &= (uint16_t) ~(1U << master);
    else
        TRACE(w, "the tool takes the end back on master %u", master + 1);
    if (w->change.visited == FIRST(w)->has)
        finish_taking_back(w);
    else
        plan(w, range(w, MS(1), MS(2000)));
}

/* ---- the tool -------------------------------------------------------------------------- */

void change_begin(struct world *w)
{
    struct change *change = &w->change;
    const struct list_kind *first = FIRST(w);
    if (!is_change(w))
        return;
    change->least = first->masters - first->quorum + 1 + first->spare + chance(w, 800);
    if (change->least > first->masters)
        change->least = first->masters;
    usec begins = range(w, MS(1), chance(w, 300) ? MS(2000) : MS(90000));
    if (chance(w, 200))
        change->takes_back_at = begins + range(w, MS(1), MS(100000));
    change->ends_again = chance(w, 600);
    change->stage = CHANGE_ENDS;
    w->changes.runs = 1;
    plan(w, begins);
}

void change_acts(struct world *w)
{
    struct change *change = &w->change;
    if (w->peace)
        return;
    if (change->takes_back_at && w->now >= change->takes_back_at && !change->opened_at)
        begin_to_take_back(w);
    if (change->stage == CHANGE_TAKES_BACK)
        take_back(w);
    else if (change->stage == CHANGE_ENDS)
        go_on(w);
}

/* An older snapshot may have brought it back. */
void change_end(struct world *w)
{
    struct model_agree agree = words(w, false);
    struct model_call call = {.kind = REQUEST_AGREE, .whole = true, .agree = &agree};
    struct model_answer answer;
    if (!is_change(w) || w->change.stage == CHANGE_ENDS)
        return;
    for (unsigned i = 0; i < FIRST(w)->masters; i++) {
        note_end(w, i);
        agree.changes = w->servers[i].model.data.changes;
        model_execute(&w->servers[i].model, server_wall(w, i), &call, &answer);
    }
    w->change.stage = CHANGE_WAS_TAKEN_BACK;
}

bool change_is_under_way(const struct world *w)
{
    return is_change(w) && !w->change.opened_at && w->change.stage != CHANGE_WAS_TAKEN_BACK &&
           w->now < LATEST;
}

/* ---- clients and liars ------------------------------------------------------------------- */

const struct list_kind *change_choose(const struct shell *s)
{
    struct world *w = s->world;
    bool had_second = s->kind == &w->kinds[1];
    if (w->moves)
        return movers_choose(s);
    if (!w->change.opened_at)
        return FIRST(w);
    return &w->kinds[chance(w, had_second ? 900 : 600)];
}

void change_lie(struct world *w, struct model_agree *agree)
{
    if (is_change(w) && chance(w, 300))
        agree->successor = !agree->successor;
}
