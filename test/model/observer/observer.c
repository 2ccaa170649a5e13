/*
 * The observer hears what a quorum of masters says, nothing that is before what it heard last. That
 * nothing is said, or that it is not known, is concluded from questions alone that were asked after
 * it first seemed so.  A push counts for its saying, and for nothing else; an answer that it has
 * overtaken, and that says less, is not taken.
 */
#include "world.h"

static bool counts(const struct rules *rules, const struct world *world, int i)
{
    const struct master *master = &world->master[i];
    bool abstains = master->abstains && !master->view.is_former;
    return master->view.is_up && (!abstains || broken(rules, QUARANTINED_COUNTS));
}

static bool is_known(const struct rules *rules, const struct world *world, int i, bool fresh)
{
    const struct view *view = &world->master[i].view;
    return counts(rules, world, i) && view->heard != UNKNOWN && (!fresh || view->fresh);
}

static bool says(const struct rules *rules, const struct world *world, int i, uint8_t saying)
{
    return counts(rules, world, i) && world->master[i].view.heard == saying;
}

static bool may_be_told(const struct rules *rules, const struct world *world, uint8_t saying)
{
    return saying != NOTHING && saying != UNKNOWN &&
           (saying >= world->observer.latest || broken(rules, TERM_BACK));
}

/* ---- reports, and whether they are right --------- ------------------------------------ */

static enum wrong judge_said(const struct rules *rules, const struct world *world, uint8_t saying)
{
    int said = 0;
    for (int i = 0; i < rules->masters; i++)
        said += world->master[i].history >> saying & 1;
    return saying < world->observer.latest ? OLDER
           : saying < world->highest       ? REPLACED
           : said < quorum(rules)          ? NEVER_SAID
                                           : FINE;
}

/* One quorum of masters said so all along, since it first seemed that nobody does. */
static bool is_said(const struct rules *rules, const struct world *world)
{
    for (uint8_t saying = FIRST; saying < UNSAY; saying++) {
        int count = 0;
        for (int i = 0; i < rules->masters; i++)
            count += world->master[i].record == saying && world->master[i].steady;
        if (count >= quorum(rules) && saying >= world->observer.latest)
            return true;
    }
    return false;
}

static void conclude(const struct rules *rules, struct world *world, enum state state,
                     uint8_t saying)
{
    struct observer *observer = &world->observer;
    enum wrong wrong = FINE;
    if (state == SAID)
        wrong = judge_said(rules, world, saying);
    else if (state == NOBODY)
        wrong = is_said(rules, world) ? IS_SAID : FINE;
    else if (observer->well)
        wrong = IS_KNOWN;
    if (!world->wrong)
        world->wrong = wrong;
    observer->state = state;
    observer->verifying = false;
    if (state == SAID && wrong != OLDER)
        observer->latest = saying;
}

/* ---- what follows from what is known ----------------------------------------------------- */

static uint8_t find_said(const struct rules *rules, const struct world *world)
{
    for (uint8_t saying = FIRST; saying < UNSAY; saying++) {
        int count = broken(rules, OBSERVE_MINORITY);
        for (int i = 0; i < rules->masters; i++)
            count += says(rules, world, i, saying);
        if (count >= quorum(rules) && may_be_told(rules, world, saying))
            return saying;
    }
    return NOTHING;
}

static bool can_be_said(const struct rules *rules, const struct world *world, uint8_t saying,
                        bool fresh)
{
    int most = 0;
    for (int i = 0; i < rules->masters; i++)
        most += says(rules, world, i, saying) || !is_known(rules, world, i, fresh);
    return most >= quorum(rules);
}

static bool nothing_is_said(const struct rules *rules, const struct world *world, bool fresh)
{
    int known = 0;
    for (int i = 0; i < rules->masters; i++) {
        uint8_t saying = world->master[i].view.heard;
        known += is_known(rules, world, i, fresh);
        if (may_be_told(rules, world, saying) && can_be_said(rules, world, saying, fresh))
            return false;
    }
    return broken(rules, NOBODY_OF_FEW) ||
           (known >= quorum(rules) && rules->masters - known < quorum(rules));
}

/* No master will say more soon. */
static bool is_last(const struct rules *rules, const struct world *world)
{
    for (int i = 0; i < rules->masters; i++)
        if (counts(rules, world, i) && !world->master[i].view.answered &&
            !broken(rules, UNKNOWN_AT_ONCE))
            return false;
    return true;
}

static void verify(const struct rules *rules, struct world *world)
{
    struct observer *observer = &world->observer;
    observer->verifying = observer->well = true;
    for (int i = 0; i < rules->masters; i++) {
        struct master *master = &world->master[i];
        struct view *view = &master->view;
        view->fresh = view->answered = view->is_fresh = false;
        master->steady = true;
        observer->well &= view->is_up && !view->is_former && !master->abstains;
    }
}

static void judge(const struct rules *rules, struct world *world)
{
    struct observer *observer = &world->observer;
    uint8_t saying = find_said(rules, world);
    if (saying) {
        conclude(rules, world, SAID, saying);
        return;
    }
    enum state state = nothing_is_said(rules, world, false) ? NOBODY : NOT_KNOWN;
    if (state == observer->state) {
        observer->verifying = false;
        return;
    }
    if (!observer->verifying)
        verify(rules, world);
    if (nothing_is_said(rules, world, !broken(rules, NOBODY_FROM_STALE_ANSWERS)))
        conclude(rules, world, NOBODY, NOTHING);
    else if (is_last(rules, world))
        conclude(rules, world, NOT_KNOWN, NOTHING);
}

static void ask(const struct rules *rules, struct world *world)
{
    bool verifying = world->observer.verifying;
    for (int i = 0; i < rules->masters; i++) {
        struct view *view = &world->master[i].view;
        if (!view->is_up || view->asked || !(view->due || (verifying && !view->answered)))
            continue;
        view->asked = ASKED;
        view->is_fresh = verifying;
        view->overtaken = false;
    }
}

void observer_work(const struct rules *rules, struct world *world)
{
    if (!world->observer.begun)
        return;
    judge(rules, world);
    ask(rules, world);
}

/* ---- what happens -------------------------------------------------------------------------- */

static void forget(const struct rules *rules, struct view *view)
{
    view->heard = UNKNOWN;
    view->is_old = false;
    if (!broken(rules, ANSWERED_BEFORE))
        view->answered = false;
}

static void forget_and_ask(const struct rules *rules, struct view *view)
{
    forget(rules, view);
    view->due = !broken(rules, NOT_ASKED_AGAIN);
}

void observer_begin(const struct rules *rules, struct world *world)
{
    world->observer.begun = true;
    for (int i = 0; i < rules->masters; i++) {
        struct view *view = &world->master[i].view;
        *view = (struct view){
            .is_up = true, .heard = UNKNOWN, .due = true, .subscribed = rules->subscribed};
        world->master[i].listens = rules->subscribed;
    }
    observer_work(rules, world);
}

static bool is_later(const struct view *view, uint8_t said)
{
    return view->heard != UNKNOWN && view->heard > said;
}

void observer_hear(const struct rules *rules, struct world *world, int i)
{
    struct view *view = &world->master[i].view;
    view->asked = NOT_ASKED;
    view->due = false;
    if (!view->overtaken || !is_later(view, view->answer) || broken(rules, OVERTAKEN_ANSWER)) {
        view->heard = view->answer;
        view->is_old = view->is_answer_old;
        view->fresh = view->is_fresh;
    }
    if (view->overtaken && !broken(rules, OVERTAKEN_ANSWER))
        view->due = true;
    else
        view->answered = view->is_fresh;
    observer_work(rules, world);
}

/* A push says what was so at some time, maybe long ago: it is no answer. */
static void keep_pushed(const struct rules *rules, struct view *view, uint8_t said)
{
    bool is_answer = broken(rules, PUSH_IS_ANSWER), answered = view->answered;
    forget(rules, view);
    view->heard = said;
    view->fresh = is_answer;
    view->answered |= is_answer && answered;
}

void observer_push(const struct rules *rules, struct world *world, int i, uint8_t said)
{
    struct view *view = &world->master[i].view;
    if (view->is_former != view->is_sub_former && !broken(rules, PUSH_FROM_OTHER_PROCESS))
        return;
    if (said == NOTHING && !broken(rules, TAKEN_BACK_KEPT))
        forget_and_ask(rules, view);
    else if (said != NOTHING && (!is_later(view, said) || broken(rules, OLDER_PUSH)))
        keep_pushed(rules, view, said);
    view->overtaken = view->asked != NOT_ASKED;
    observer_work(rules, world);
}

void observer_subscribed(const struct rules *rules, struct world *world, int i)
{
    struct view *view = &world->master[i].view;
    view->overtaken = view->asked != NOT_ASKED;
    view->due |= !broken(rules, UNHEARD_BEFORE);
    observer_work(rules, world);
}

void observer_expire(const struct rules *rules, struct world *world, int i)
{
    forget(rules, &world->master[i].view);
    world->master[i].view.due = true;
    observer_work(rules, world);
}

/* Another process may answer next. */
void observer_down(const struct rules *rules, struct world *world, int i)
{
    struct view *view = &world->master[i].view;
    view->is_up = false;
    view->asked = NOT_ASKED;
    if (!broken(rules, KEPT_OVER_END))
        forget(rules, view);
    view->due = true;
    world->observer.well = false;
    observer_work(rules, world);
}
