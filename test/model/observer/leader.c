/*
 * The acts of leaders.  A leader says its value to one master after the other, again where it may
 * be forgotten, with one announcement at a time on its way to each.  When it resigns it takes back
 * its word, and gives the name back.  Or its validity ends, and it says nothing more.  The next one
 * leads when a quorum has the name for it; or it is handed the token in memory, with a later term.
 *
 * Messages on one connection stay in order.  A connection may end at any time: then what
 * it carried comes later, or never; and the next one, where `kills`, ends it on the master first.
 */
#include <string.h>

#include "world.h"

/* ---- messages ------------------------------------------------------------------------ */

static int count_of(const struct link *link)
{
    int count = 0;
    while (count < MESSAGES && link->message[count].what)
        count++;
    return count;
}

static void drop_message(struct link *link, int k)
{
    memmove(&link->message[k], &link->message[k + 1], (MESSAGES - k - 1) * sizeof *link->message);
    link->message[MESSAGES - 1] = (struct message){0};
    if (!link->message[0].what)
        link->connection = 0;
}

static void end_former(const struct rules *rules, struct link *link)
{
    for (int k = count_of(link); k-- > 0;)
        if (rules->kills && link->message[k].connection != link->connection)
            drop_message(link, k);
}

static bool is_under_way(const struct link *link, bool unsays_too)
{
    for (int k = 0; k < count_of(link); k++)
        if (link->message[k].connection == link->connection &&
            (unsays_too || link->message[k].what < UNSAY))
            return true;
    return false;
}

static bool send(const struct rules *rules, struct link *link, struct message message)
{
    end_former(rules, link);
    int count = count_of(link);
    message.connection = link->connection;
    if (count < MESSAGES)
        link->message[count] = message;
    return count < MESSAGES;
}

static bool is_first(const struct link *link, int k)
{
    for (int j = 0; j < k; j++)
        if (link->message[j].connection == link->message[k].connection)
            return false;
    return true;
}

static void carry_out(const struct visit *v, struct step step, const struct world *world,
                      struct message message)
{
    struct world next = *world;
    if (master_carry_out(v->rules, &next, step.master, &message))
        take_pushed(v, step, &next, step.master);
    else
        take(v, step, &next);
}

static void steps_of_messages(const struct visit *v, int term, int i)
{
    const struct link *link = link_of(v->rules, (struct world *)v->now, term, i);
    for (int k = 0; k < count_of(link); k++) {
        struct world next = *v->now;
        struct step step = step_of(CARRY_OUT, term, i);
        step.what = link->message[k].what;
        if (!is_first(link, k))
            continue;
        drop_message(link_of(v->rules, &next, term, i), k);
        carry_out(v, step, &next, link->message[k]);
    }
    if ((!v->rules->kills || v->rules->ttl) && is_under_way(link, true) &&
        link->connection < MESSAGES) {
        struct world next = *v->now;
        struct step step = step_of(BREAK, term, i);
        step.honest = false;
        link_of(v->rules, &next, term, i)->connection++;
        take(v, step, &next);
    }
}

/* ---- saying ------------------------------------------------------------------------------ */

static void set(const struct visit *v, int term)
{
    struct world next = *v->now;
    struct step step = step_of(SET, term, -1);
    step.honest = false;
    if (next.leader[term].number == v->rules->values)
        return;
    next.leader[term].number++;
    take(v, step, &next);
}

/* It would change something. */
static bool is_due(const struct visit *v, int term, int i, const struct message *message)
{
    const struct master *master = &v->now->master[i];
    return message->what >= FIRST + VALUES * term &&
           (master->record != message->what || master->record_left < message->left);
}

static void say(const struct visit *v, int term, int i)
{
    const struct leader *leader = &v->now->leader[term];
    struct world next = *v->now;
    struct link *link = link_of(v->rules, &next, term, i);
    struct step step = step_of(SAY, term, i);
    struct message message = {.what = saying_of(term, leader->number), .left = leader->ticks};
    if (leader->phase == LOST)
        message.left = FOR_EVER;
    if (!leader->number || is_under_way(link, false) || !is_due(v, term, i, &message))
        return;
    end_former(v->rules, link);
    if (!is_under_way(link, true))
        carry_out(v, step, &next, message);
    if (!next.late || !send(v->rules, link, message))
        return;
    next.late--;
    step.is_late = true;
    step.honest = false;
    take(v, step, &next);
}

/* ---- the end of a term --------------------------------------------------------------------- */

static void end(const struct visit *v, enum act act, int term)
{
    struct world next = *v->now;
    struct step step = step_of(act, term, -1);
    bool was_leading = next.leader[term].phase == LEADS;
    step.honest = false;
    for (int i = 0; i < v->rules->masters; i++)
        if (!send(v->rules, link_of(v->rules, &next, term, i),
                  (struct message){.what = UNSAY + term}))
            return;
    next.leader[term] =
        (struct leader){.phase = GONE, .ticks = was_leading ? 0 : next.leader[term].ticks};
    if (act == HAND_ON)
        next.leader[term + 1] = (struct leader){.phase = LEADS, .ticks = v->rules->ttl};
    take(v, step, &next);
}

/* ---- the next term, and time ------------------------------------------------------------------
 */

static bool can_take(const struct visit *v, const struct world *world, int i)
{
    const struct master *master = &world->master[i];
    return !v->rules->handed && world->leader[0].phase > LEADS && world->leader[1].phase <= LEADS &&
           !master->abstains && master->name != HELD + 1 &&
           (!v->rules->ttl || master->name == FREE);
}

/* A quorum at once: no order among the masters matters before it leads. */
static void take_names(const struct visit *v, int masters)
{
    struct world next = *v->now;
    struct step step = step_of(TAKE, 1, -1);
    int count = 0;
    step.honest = false;
    for (int i = 0; i < v->rules->masters; i++) {
        if (!(masters & 1 << i))
            continue;
        if (!can_take(v, v->now, i))
            return;
        next.master[i].name = HELD + 1;
        next.master[i].name_left = v->rules->ttl;
        count++;
    }
    if (next.leader[1].phase == LEADS ? count != 1 : count < quorum(v->rules))
        return;
    if (next.leader[1].phase == NEW)
        next.leader[1] = (struct leader){.phase = LEADS, .ticks = v->rules->ttl};
    take(v, step, &next);
}

/* Of several masters: the others may have answered, and this one's answer may be lost. */
static void renew(const struct visit *v, int term)
{
    for (int heard = 0; heard < 2; heard++) {
        struct world next = *v->now;
        struct master *master = &next.master[0];
        struct step step = step_of(RENEW, term, 0);
        struct link *link = link_of(v->rules, &next, term, 0);
        uint8_t token = token_of(v->rules, term);
        if (is_under_way(link, true))
            return;
        end_former(v->rules, link);
        if (master->name == FREE || master->name == token) {
            master->name = token;
            master->name_left = v->rules->ttl;
        }
        if (broken(v->rules, RENEWAL_PROLONGS) && master->record && master->name == token &&
            token_of(v->rules, term_of(master->record)) == token)
            master->record_left = v->rules->ttl;
        if (heard)
            next.leader[term].ticks = v->rules->ttl;
        step.is_late = !heard;
        take(v, step, &next);
    }
}

static void steps_of_leader(const struct visit *v, int term)
{
    const struct leader *leader = &v->now->leader[term];
    bool says =
        leader->phase == LEADS || (leader->phase == LOST && broken(v->rules, ANNOUNCED_PAST));
    for (int i = 0; i < v->rules->masters && says; i++)
        say(v, term, i);
    if (leader->phase == LEADS)
        set(v, term);
    if (leader->phase == LEADS && v->rules->ttl)
        renew(v, term);
    if ((leader->phase == LEADS && term < v->rules->ends) || leader->phase == LOST)
        end(v, RESIGN, term);
    if (leader->phase == LEADS && v->rules->handed && term == 0)
        end(v, HAND_ON, term);
}

void steps_of_leaders(const struct visit *v)
{
    for (int term = 0; term < TERMS; term++)
        steps_of_leader(v, term);
    for (int masters = 1; masters < 1 << v->rules->masters; masters++)
        take_names(v, masters);
    for (int i = 0; i < v->rules->masters; i++)
        for (int term = 0; term < (v->rules->handed ? 1 : TERMS); term++)
            steps_of_messages(v, term, i);
}
