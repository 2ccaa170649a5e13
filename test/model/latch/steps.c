/*
 * The steps of the world.  A client asks one master at a time.  The answer comes at once, but for
 * as many requests as `late` allows.  These are carried out whenever they like, or never, even by a
 * later process.  Or they are carried out, and the answer is lost with the connection.  A client
 * that hears an answer late is like one that does nothing for a while.  Masters restart, with any
 * part of what they had; time passes, by one tick.
 *
 * A step is honest unless it is the world's fault, or its malice.
 */
#include "world.h"

static struct step step_of(enum act act, int c, int i)
{
    return (struct step){.act = act, .client = c, .master = i, .honest = true};
}

static void take(const struct visit *v, struct step step, struct world *next)
{
    client_settle(v->rules, next);
    step.wrong = next->wrong;
    v->visit(v->visitor, &step, next);
}

/* ---- requests --------------------------------------------------------------------------- */

static void hear(const struct visit *v, struct step step, const struct world *from,
                 const struct answer *answer)
{
    struct world next = *from;
    known_hear(v->rules, &next, step.client, step.master, answer);
    next.master[step.master].link[step.client].message = (struct message){0};
    take(v, step, &next);
}

/* It says that it has none, or that anybody has arrived, or that it is open. */
static void hear_lies(const struct visit *v, struct step step, const struct world *from)
{
    step.honest = false;
    hear(v, step, from, &(struct answer){.stands = ABSENT});
    for (int stands = SHUT; stands <= OPEN; stands++)
        for (int arrived = 0; arrived < 1 << v->rules->arrivers; arrived++)
            hear(v, step, from, &(struct answer){stands, X, arrived, false});
}

static void cut(const struct rules *rules, struct world *world, int c, int i, enum stage stage)
{
    known_forget(rules, world, c, i);
    world->master[i].link[c].message.stage = stage;
}

static void ask_late(const struct visit *v, struct step step, const struct world *sent)
{
    struct world next = *sent;
    next.late--;
    step.honest = false;
    step.fate = LATE;
    take(v, step, &next);
    master_carry_out(v->rules, &next, step.client, step.master);
    known_forget(v->rules, &next, step.client, step.master);
    next.master[step.master].link[step.client].message = (struct message){0};
    step.fate = UNHEARD;
    take(v, step, &next);
}

/* Else it is no worse to ask later. */
static bool carries_something(const struct message *message)
{
    return message->kind == PUT || message->arrived || message->open;
}

static void ask(const struct visit *v, int c, int i)
{
    struct world next = *v->now;
    struct step step = step_of(ASK, c, i);
    if (!client_may_ask(v->rules, v->now, c, i))
        return;
    if (next.client[c].phase != ASKING) {
        client_begin(v->rules, &next, c);
        client_settle(v->rules, &next);
    }
    client_send(v->rules, &next, c, i);
    step.kind = next.master[i].link[c].message.kind;
    if (next.master[i].lies) {
        hear_lies(v, step, &next);
        return;
    }
    if (next.late && carries_something(&next.master[i].link[c].message))
        ask_late(v, step, &next);
    if (step.kind == DROP) { /* like the drops of makers, it is carried out whenever it likes */
        take(v, step, &next);
        return;
    }
    struct answer answer = master_carry_out(v->rules, &next, c, i);
    hear(v, step, &next, &answer);
}

static void carry_out(const struct visit *v, int c, int i)
{
    struct world next = *v->now;
    struct step step = step_of(CARRY_OUT, c, i);
    struct message *message = &next.master[i].link[c].message;
    struct answer answer = master_carry_out(v->rules, &next, c, i);
    step.kind = message->kind;
    if (message->stage == SENT && message->kind != DROP) {
        hear(v, step, &next, &answer);
        return;
    }
    *message = (struct message){0};
    take(v, step, &next);
}

/* The connection ends; the request may be carried out all the same. */
static void end_connection(const struct visit *v, int c, int i)
{
    struct world next = *v->now;
    struct step step = step_of(CUT, c, i);
    step.honest = false;
    cut(v->rules, &next, c, i, DEAD);
    take(v, step, &next);
}

static void lose(const struct visit *v, int c, int i)
{
    struct world next = *v->now;
    next.master[i].link[c].message = (struct message){0};
    take(v, step_of(LOSE, c, i), &next);
}

static void notice(const struct visit *v, int c, int i)
{
    struct world next = *v->now;
    known_forget(v->rules, &next, c, i);
    take(v, step_of(NOTICE, c, i), &next);
}

static void steps_at(const struct visit *v, int c, int i)
{
    const struct link *link = &v->now->master[i].link[c];
    enum phase phase = v->now->client[c].phase;
    if (phase == NEW || phase == ASKING)
        ask(v, c, i);
    if (link->message.kind)
        carry_out(v, c, i);
    if (link->message.kind && link->message.stage == SENT)
        end_connection(v, c, i);
    if (link->message.kind && link->message.stage != SENT)
        lose(v, c, i);
    if (link->stale)
        notice(v, c, i);
}

/* ---- ends ----------------------------------------------------------------------------------- */

/* The last maker, for the others may give up. */
static void start_over(const struct visit *v, int c)
{
    const struct rules *rules = v->rules;
    struct world next = *v->now;
    bool may = clears(rules) && c == rules->creators - 1 &&
               (next.client[c].left || broken(rules, CLEARS_LATE));
    if (!may || !known_is_split(rules, v->now, c))
        return;
    client_start_over(rules, &next, c);
    take(v, step_of(START_OVER, c, 0), &next);
}

static void end(const struct visit *v, int c)
{
    struct world next = *v->now;
    struct step step = step_of(TELL, c, 0);
    step.end = client_end(v->rules, v->now, c);
    if (step.end) {
        client_tell(v->rules, &next, c, step.end);
        take(v, step, &next);
    }
    if (v->rules->question == FULL && is_arriver(v->rules, c))
        return;
    start_over(v, c);
    next = *v->now;
    step = step_of(GIVE_UP, c, 0);
    step.honest = is_creator(v->rules, c)   ? !next.client[c].left
                  : is_arriver(v->rules, c) ? !master_quorum_has(v->rules, v->now, X)
                                            : false;
    client_give_up(v->rules, &next, c);
    take(v, step, &next);
}

/* ---- masters, and time ---------------------------------------------------------------------- */

static void restart_with(const struct visit *v, int i, const struct record *record)
{
    struct world next = *v->now;
    struct step step = step_of(RESTART, 0, i);
    struct master *master = &next.master[i];
    step.honest = false;
    next.restarts--;
    if (clears(v->rules) && master->record.of_run)
        master->forgot |= 1 << master->record.id;
    master->record = *record;
    master->record.of_run = false;
    master->quarantine = v->rules->quarantine;
    for (int c = 0; c < clients(v->rules); c++) {
        struct link *link = &master->link[c];
        link->other = link->touched;
        if (link->stands && !link->stale) {
            link->stale = true;
            link->left = lasts(v->rules);
        }
        if (link->message.kind)
            link->message.stage = FORMER;
    }
    take(v, step, &next);
}

/* Any part of what there is; also nothing, and what was made and dropped again. */
static void restart(const struct visit *v, int i)
{
    const struct record *record = &v->now->master[i].record;
    restart_with(v, i, &(struct record){0});
    for (int c = 0; c < v->rules->creators; c++)
        if (v->now->client[c].phase != NEW)
            restart_with(v, i, &(struct record){.id = X + c});
    if (!record->id)
        return;
    for (int open = 0; open <= record->open; open++)
        for (uint8_t arrived = record->arrived;; arrived = (arrived - 1) & record->arrived) {
            restart_with(v, i, &(struct record){record->id, false, arrived, open, 0});
            if (!arrived)
                break;
        }
}

static void tick(const struct visit *v)
{
    struct world next = *v->now;
    for (int i = 0; i < v->rules->masters; i++) {
        pass(&next.master[i].quarantine);
        struct record *record = &next.master[i].record;
        record->age += record->id && record->age < old_age(v->rules);
        for (int c = 0; c < clients(v->rules) && !broken(v->rules, ACKS_FOR_EVER); c++)
            pass(&next.master[i].link[c].left);
    }
    for (int c = 0; c < v->rules->creators; c++)
        if (!broken(v->rules, MADE_FOR_EVER))
            pass(&next.client[c].left);
    take(v, step_of(TICK, 0, 0), &next);
}

void model_steps(const struct visit *v)
{
    for (int c = 0; c < clients(v->rules); c++) {
        for (int i = 0; i < v->rules->masters; i++)
            steps_at(v, c, i);
        if (v->now->client[c].phase == ASKING)
            end(v, c);
    }
    for (int i = 0; i < v->rules->masters; i++)
        if (v->now->restarts && !v->now->master[i].lies)
            restart(v, i);
    tick(v);
}

/* ---- to begin with, and in the end -------------------------------------------------------------
 */

/* Somebody who has read the latch, and has given up since, would mend a master. */
static void begin_with_mend(const struct rules *rules, struct world *world)
{
    int c = clients(rules) - 1;
    world->master[0].link[c].message = (struct message){.kind = PUT, .stage = DEAD, .id = X};
}

/* The maker has put it on all masters; one answer was lost, and it has asked again. */
static void begin_with_making(const struct rules *rules, struct world *world)
{
    client_begin(rules, world, 0);
    client_send(rules, world, 0, 0);
    for (int i = 1; i < rules->masters; i++)
        world->master[i].link[0] = (struct link){.stands = SHUT, .id = X, .touched = true};
}

/* The maker is no more.  An arrival was reported; or one may come, and the maker's rest must still
 * be taken away. */
static void begin_beside(const struct rules *rules, struct world *world, bool is_told)
{
    int arriver = rules->creators;
    uint8_t arrived = is_told ? arrival_of(rules, arriver) : 0;
    world->client[0].phase = FAILED;
    world->client[arriver].phase = is_told ? TOLD : NEW;
    world->told = is_told ? X : NOBODYS;
    world->told_counted = arrived;
    for (int i = 0; i < rules->masters; i++) {
        struct master *master = &world->master[i];
        master->record.arrived = master->record.id ? arrived : 0;
        if (master->record.id && !is_told)
            master->link[0].message = (struct message){.kind = DROP, .stage = DEAD, .id = X};
    }
}

static void begin_with(const struct visit *v, int has, bool is_told)
{
    const struct rules *rules = v->rules;
    struct world world = {.late = rules->late, .restarts = rules->restarts};
    world.master[rules->masters - 1].lies = rules->liars;
    for (int i = 0; i < has && !world.master[i].lies; i++)
        world.master[i].record = (struct record){.id = X, .of_run = true};
    if (rules->question == STRAY)
        (rules->creators ? begin_with_making : begin_with_mend)(rules, &world);
    if (rules->question == BESIDE)
        begin_beside(rules, &world, is_told);
    v->visit(v->visitor, NULL, &world);
}

/* The latch is not made yet, or all masters have it, or a quorum, with the liar.  Where masters
 * restart the arrival was reported: there are fewer worlds then. */
void model_begin(const struct visit *v)
{
    const struct rules *rules = v->rules;
    bool is_made = rules->question != CREATION && rules->question != CLEARING;
    bool is_beside = rules->question == BESIDE;
    for (int is_told = is_beside && rules->restarts; is_told <= is_beside; is_told++) {
        begin_with(v, is_made ? rules->masters : 0, is_told);
        if (is_made && rules->question != FULL)
            begin_with(v, quorum_of(rules) - rules->liars, is_told);
    }
}

static bool is_at_rest(const struct rules *rules, const struct world *world)
{
    for (int c = 0; c < clients(rules); c++) {
        if (world->client[c].phase == ASKING ||
            (world->client[c].phase == NEW && !is_reader(rules, c)))
            return false;
        for (int i = 0; i < rules->masters; i++)
            if (world->master[i].link[c].message.kind)
                return false;
    }
    return true;
}

/* Everybody has an answer, or is dead; and all masters have the latch, or no quorum has any. */
bool model_is_goal(const struct rules *rules, const struct world *world)
{
    int has[Z + 1] = {0};
    for (int i = 0; i < rules->masters; i++) {
        const struct master *master = &world->master[i];
        for (int id = X; id <= Z; id++)
            has[id] += master->lies || (master->record.of_run && master->record.id == id);
    }
    for (int id = X; id <= Z; id++)
        if (has[id] >= quorum_of(rules) && has[id] < rules->masters)
            return false;
    return is_at_rest(rules, world);
}
