#include "engine.h"

#include <stdio.h>

#include "ground/sanity.h"
#include "ground/shared.h"
#include "lease/further.h"
#include "lease/lease.h"
#include "lease/lists.h"
#include "lease/local_queue.h"
#include "masters/agreement.h"
#include "masters/master.h"
#include "masters/subscription.h"
#include "recipes/tasks.h"

#define CLOSE_AT_ONCE 256  /* leases that one step of closing releases */
#define CLOSE_UNHEARD 1024 /* leases whose releases may be unanswered while closing, */
#define CLOSE_FAR     4096 /* and where masters are far away */
#define CLOSE_NEAR    MS(10)
#define ADMIT_AT_ONCE 64 /* acquires that go on in one step */

/* ---- news of a master ---------------------------------------------------- */

static void check_ready(struct engine *e)
{
    if (e->ready_told)
        return;
    for (unsigned i = 0; i < e->config.masters && !e->misconfigured; i++)
        if (!e->masters[i].tried)
            return;
    e->ready_told = true;
    engine_emit(e, EFFECT_READY, 0, NULL);
}

static void pay_claims(struct engine *e, unsigned master)
{
    for (struct claim *claim = e->abandoned; claim; claim = claim->next)
        if (claim_pay(e, claim, master) && lease_of_claim(claim))
            lease_release_sent(e, lease_of_claim(claim), (uint16_t)(1U << master));
}

/* Leases that may wait for this master look again. */
static void after_up(struct engine *e, unsigned master)
{
    pay_claims(e, master);
    lists_each(e, &e->busy, lease_master_up, master);
    lists_each(e, &e->throttled, lease_look_at_masters, master);
    tasks_look(e);
    check_ready(e);
}

static void after_down(struct engine *e, unsigned master)
{
    lists_each(e, &e->busy, lease_master_down, master);
    lists_each(e, &e->throttled, lease_look_at_masters, master);
    tasks_master_down(e, master);
    check_ready(e);
}

/* The word of the former process on our places counts no more. */
static void after_replaced(struct engine *e, unsigned master)
{
    for (struct lease *lease = e->busy.first; lease; lease = lease->next)
        queue_forget_process(lease, master);
}

/* Our list of masters may not be used beside that of others. */
static void after_refused(struct engine *e)
{
    lists_each(e, &e->busy, lease_refuse, 0);
    lists_each(e, &e->throttled, lease_refuse, 0);
    tasks_look(e);
    check_ready(e);
}

/* It may again. */
static void after_allowed(struct engine *e)
{
    lists_each(e, &e->stranded, lease_restore, 0);
}

/* Acquires asked for nothing meanwhile. */
static void after_decided(struct engine *e)
{
    for (unsigned i = 0; i < e->config.masters; i++)
        lists_each(e, &e->busy, lease_master_up, i);
    lists_each(e, &e->busy, lease_weigh_again, 0);
}

/* Nobody heard of a handover that the master made before it had the subscription. */
static void after_subscribed(struct engine *e, unsigned master)
{
    lists_each(e, &e->busy, lease_look_again, master);
}

/* ---- closing ------------------------------------------------------------- */

static void hurry_claims(struct engine *e)
{
    for (struct claim *claim = e->abandoned, *next; claim; claim = next) {
        next = claim->next;
        if (claim->not_before > e->now)
            claim_abandon(e, claim, 0);
    }
}

/* The further away masters are, the more is under way at a time.  This is settled before the
 * releases go out, for then answers wait behind others, and all masters seem to be far away. */
static unsigned unheard_at_most(const struct engine *e)
{
    usec most = CLOSE_UNHEARD * master_quorum_trip(e) / CLOSE_NEAR;
    return most < CLOSE_UNHEARD ? CLOSE_UNHEARD : most > CLOSE_FAR ? CLOSE_FAR : (unsigned)most;
}

/* Closing goes in portions, and on as answers come: the releases of a million leases would fill
 * memory, and most would be answered too late. */
static void close_some(struct engine *e)
{
    for (unsigned i = 0; i < CLOSE_AT_ONCE && e->held.first && e->busy.count < e->close_most; i++)
        lease_close(e, e->held.first);
    if (e->held.first && e->busy.count < e->close_most)
        deadlines_set(&e->deadlines, &e->deadline, e->now);
}

static void close_one(struct engine *e, struct lease *lease, unsigned master)
{
    (void)master;
    lease_close(e, lease);
}

static void close_all(struct engine *e)
{
    e->closing = true;
    e->close_most = unheard_at_most(e);
    lists_each(e, &e->busy, close_one, 0);
    lists_each(e, &e->throttled, close_one, 0);
    lists_each(e, &e->stranded, close_one, 0);
    tasks_close(e);
    subscription_end(e);
    hurry_claims(e);
    for (unsigned i = 0; i < e->config.masters; i++)
        master_hurry(e, i);
}

static void give_up_one(struct engine *e, struct lease *lease, unsigned master)
{
    (void)master;
    lease_give_up(e, lease);
}

/* All that is left goes to the masters at once, and nobody waits for answers. */
static void give_up_all(struct engine *e)
{
    while (e->held.first)
        lease_close(e, e->held.first);
    lists_each(e, &e->busy, give_up_one, 0);
    tasks_give_up(e);
}

static bool waits_for_releases(const struct engine *e)
{
    const struct claim *claim = e->abandoned;
    while (claim && claim_is_past_help(e, claim))
        claim = claim->next;
    return claim;
}

/* Nobody relies on what was given back, also where the release is owed to a dead master. */
static void end_list(struct engine *e)
{
    if (e->list_ended || e->busy.count || e->held.count || tasks_are_owed(e))
        return;
    e->list_ended = true;
    master_take_back(e);
}

static void check_closed(struct engine *e)
{
    end_list(e);
    if (e->closed_told || e->busy.count || e->held.count || waits_for_releases(e) ||
        tasks_are_owed(e))
        return;
    e->closed_told = true;
    engine_emit(e, EFFECT_CLOSED, 0, NULL);
}

/* ---- stepping ------------------------------------------------------------ */

static void wake_claim(struct engine *e, struct claim *claim)
{
    ASSERT(claim->abandoned);
    struct lease *lease = lease_of_claim(claim);
    uint16_t sent = claim_wake(e, claim);
    if (lease && sent)
        lease_release_sent(e, lease, sent);
}

static void wake_claims_without_deadline(struct engine *e)
{
    e->look_at = 0;
    for (struct claim *claim = e->abandoned, *next; claim; claim = next) {
        next = claim->next;
        if (!claim->timed)
            wake_claim(e, claim);
    }
}

/* All abandoned claims are gone through, so not whenever the engine is woken for something else. */
static void look_at_claims(struct engine *e)
{
    if (e->look_at && e->now >= e->look_at)
        wake_claims_without_deadline(e);
    else if (e->look_at)
        deadlines_at_latest(&e->deadlines, &e->deadline, e->look_at);
}

/* Tells leases and tasks what has become known of our list. */
static void after_judging(struct engine *e)
{
    bool is_refused = e->differs && !e->differed, is_allowed = !e->differs && e->differed,
         is_decided = e->was_open && !e->undecided;
    e->differed = e->differs;
    e->was_open = e->undecided;
    if (is_refused)
        after_refused(e);
    if (is_allowed)
        after_allowed(e);
    if (is_decided)
        after_decided(e);
}

/* The others have had their time. */
static void look_at_ends(struct engine *e)
{
    if (!agreement_awaits_ends(e))
        return;
    master_judge_list(e);
    after_judging(e);
}

static void wake_one(struct engine *e)
{
    struct deadline *due = deadlines_take(&e->deadlines, e->now);
    if (!due)
        return;
    switch ((enum deadline_owner)due->owner) {
    case OWNER_ENGINE:
        look_at_claims(e);
        look_at_ends(e);
        further_free_withdrawn(e);
        subscription_look(e);
        break;
    case OWNER_MASTER:
        master_wake(e, (unsigned)(OWNER_OF(struct master, deadline, due) - e->masters));
        break;
    case OWNER_LEASE:
        lease_wake(e, OWNER_OF(struct lease, deadline, due));
        break;
    case OWNER_CLAIM:
        wake_claim(e, OWNER_OF(struct claim, deadline, due));
        break;
    case OWNER_TASK:
        tasks_wake(e, OWNER_OF(struct task, deadline, due));
        break;
    }
}

static void hear_of_master(struct engine *e, unsigned master, const struct reply *reply)
{
    enum master_news news = master_hear(e, master, reply);
    ASSERT(news == MASTER_NO_NEWS || master_is_up(&e->masters[master]));
    if (news == MASTER_IS_ANOTHER)
        after_replaced(e, master);
    after_judging(e);
    if (news != MASTER_NO_NEWS)
        after_up(e, master);
}

static void hear_of_end(struct engine *e, unsigned master, const char *why)
{
    master_closed(e, master, why);
    subscription_lost(e, master);
    after_down(e, master);
    after_judging(e);
}

static bool is_promise(const struct reply *reply)
{
    bool gives = reply->answer == ANSWER_YES || reply->answer == ANSWER_HEALED ||
                 reply->answer == ANSWER_AHEAD;
    return gives && request_sets_token(reply->tag.kind);
}

/* A promise counts only while the list that it rests on is said: else its outcome is unknown. */
static struct reply without_promise(const struct reply *reply)
{
    static const char why[] = "not counted: it is not known whether others count on other masters";
    return (struct reply){
        .tag = reply->tag, .answer = ANSWER_LOST, .uncounted = true, .text = slice_of(why)};
}

static void hear_reply(struct engine *e, unsigned master, const struct reply *reply)
{
    master_answered(e, master, reply);
    struct reply lost;
    if (!agreement_is_sure(e) && is_promise(reply)) {
        if (agreement_holds_on_looking(e, master)) {
            agreement_settle(e);
        } else {
            lost = without_promise(reply);
            reply = &lost;
        }
    }
    struct claim *claim = reply->tag.claim;
    ASSERT(request_is_about_names(reply->tag.kind) == (claim != NULL));
    if (!claim && request_is_of_task(reply->tag.kind)) {
        tasks_hear(e, master, reply);
    } else if (!claim) {
        hear_of_master(e, master, reply);
    } else if (claim->home) {
        lease_hear(e, lease_of_claim(claim), master, reply);
    } else {
        claim_hear(e, claim, master, reply, 0);
        claim_answered(e, claim);
    }
    if (reply == &lost) { /* any answer may show that two processes lived at one moment */
        master_judge_list(e);
        after_judging(e);
    }
}

bool event_may_draw(enum event_kind kind)
{
    return kind == EVENT_ACQUIRE || kind == EVENT_TIMER || kind == EVENT_TASK_BEGIN;
}

/* Effects never call the core, so a step is never entered twice. */
static void enter_step(struct engine *e, usec now, struct randomness *random)
{
    ASSERT(!e->stepping);
    ASSERT(now >= e->now); /* what is known would be older than it is */
    IF_ASSERTS(e->stepping = true;)
    e->now = now;
    e->random = random;
}

static bool may_admit(const struct engine *e)
{
    return e->throttled.last && !e->undecided && masters_have_room(e, e->config.backlog);
}

/* Masters answer in portions too: each makes room for as many as these. */
static void admit_some(struct engine *e)
{
    if (e->now < e->renewals_first) {
        deadlines_at_latest(&e->deadlines, &e->deadline, e->renewals_first);
        return;
    }
    for (unsigned i = 0; i < ADMIT_AT_ONCE && may_admit(e); i++)
        lease_admit(e, e->throttled.last);
}

static inline void leave_step(struct engine *e)
{
    if (e->throttled.last)
        admit_some(e);
    if (e->closing)
        check_closed(e);
    ASSERT(e->stepping);
    IF_ASSERTS(e->stepping = false;)
}

static void hear_subscribed(struct engine *e, unsigned master, const char *run_id)
{
    if (subscription_begun(e, master, run_id))
        after_subscribed(e, master);
    tasks_subscribed(e, master);
}

static void go_on_closing(struct engine *e)
{
    if (e->closing && e->held.first)
        close_some(e);
}

void engine_step(struct engine *e, usec now, struct randomness *random, const struct event *event)
{
    ASSERT(event->master < e->config.masters);
    ASSERT(random || !event_may_draw(event->kind));
    enter_step(e, now, random);
    switch (event->kind) {
    case EVENT_TIMER:
        wake_one(e);
        break;
    case EVENT_CONNECTED:
        master_connected(e, event->master);
        break;
    case EVENT_CLOSED:
        hear_of_end(e, event->master, event->text);
        break;
    case EVENT_REPLY:
        hear_reply(e, event->master, event->reply);
        break;
    case EVENT_SUBSCRIBED:
        hear_subscribed(e, event->master, event->text);
        break;
    case EVENT_ALIVE:
        subscription_heard(e, event->master);
        break;
    case EVENT_UNSUBSCRIBED:
        subscription_ended(e, event->master);
        break;
    case EVENT_PUSH:
        subscription_heard(e, event->master);
        if (event->push->name.bytes)
            tasks_push(e, event->master, event->push);
        else if (agreement_holds(e, event->master))
            queue_push(e, event->master, event->push);
        break;
    case EVENT_ACQUIRE:
    case EVENT_ATTACH:
        lease_acquire(e, event->lease);
        break;
    case EVENT_RELEASE:
        lease_release(e, event->lease);
        break;
    case EVENT_EXTEND:
        lease_extend(e, event->lease, event->ttl);
        break;
    case EVENT_DOWNGRADE:
        lease_downgrade(e, event->lease);
        break;
    case EVENT_UPGRADE:
        lease_upgrade(e, event->lease);
        break;
    case EVENT_INSPECT:
        lease_inspect(e, event->lease);
        break;
    case EVENT_ABANDON:
    case EVENT_DETACH:
        e->left_behind |= event->kind == EVENT_DETACH;
        lease_abandon(e, event->lease, event->kind == EVENT_DETACH);
        break;
    case EVENT_ADOPT:
        master_adopt(e, event->master);
        break;
    case EVENT_TASK_BEGIN:
        tasks_begin(e, event->task);
        break;
    case EVENT_TASK_LEAVE:
        tasks_leave(e, event->task);
        break;
    case EVENT_TASK_END:
        tasks_end(e, event->task);
        break;
    case EVENT_CLOSE:
        close_all(e);
        break;
    case EVENT_GIVE_UP:
        give_up_all(e);
        break;
    }
    go_on_closing(e);
    leave_step(e);
}

usec engine_next_deadline(const struct engine *e)
{
    return deadlines_next(&e->deadlines);
}

bool engine_tell(struct engine *e, usec now, struct lease *lease, struct outcome *outcome)
{
    enter_step(e, now, NULL);
    bool told = lease_tell(e, lease, outcome);
    leave_step(e);
    return told;
}

static void enter_both(struct engine *from, struct engine *to, usec now)
{
    ASSERT(from != to);
    enter_step(from, now, NULL);
    enter_step(to, now, NULL);
}

static void leave_both(struct engine *from, struct engine *to)
{
    leave_step(from);
    leave_step(to);
}

void engine_move(struct engine *from, struct lease *lease, struct engine *to, struct lease *shadow,
                 usec now)
{
    enter_both(from, to, now);
    lease_move(from, lease, to, shadow);
    leave_both(from, to);
}

void engine_move_waiter(struct engine *from, struct lease *lease, struct engine *to,
                        struct lease *fresh, usec now)
{
    enter_both(from, to, now);
    lease_go_over(from, lease, to, fresh);
    leave_both(from, to);
}

void engine_move_announcement(struct engine *from, struct task *former, struct engine *to,
                              struct task *task, usec now)
{
    enter_both(from, to, now);
    tasks_go_over(from, former, to, task);
    leave_both(from, to);
}

/* ---- views ---------------------------------------------------------------- */

struct master_view engine_master(const struct engine *e, unsigned index)
{
    const struct master *master = &e->masters[index];
    return (struct master_view){.state = (enum master_state)master->state,
                                .tried = master->tried,
                                .refused = master->refused != CAUSE_NONE,
                                .met = master->met,
                                .abstains_until = master->abstains_until,
                                .round_trip = master->round_trip,
                                .offset = master->offset,
                                .in_flight = master->in_flight,
                                .was_asked = master->word.sent_at != 0,
                                .remembers = master->word.time && agreement_has_word(e, index),
                                .ended_ours = master->over,
                                .changes = master->word.changes,
                                .successor = {master->word.bytes, master->word.successor},
                                .trouble = master->trouble,
                                .facts = &master->facts};
}

struct counters_view engine_count(const struct engine *e)
{
    return (struct counters_view){&e->counters, e->held.count, e->waiters, e->at_risk};
}

size_t engine_token_length(const struct engine *e)
{
    return TOKEN_TEXT + e->label_length;
}

enum cause engine_readiness(const struct engine *e, usec now)
{
    if (e->misconfigured)
        return e->misconfigured;
    unsigned can = 0;
    for (unsigned i = 0; i < e->config.masters; i++)
        can += e->masters[i].state == MASTER_UP && now >= e->masters[i].abstains_until;
    return can < e->quorum ? CAUSE_UNAVAILABLE : CAUSE_NONE;
}

bool engine_other_list(const struct engine *e, struct told_list *list, unsigned *master)
{
    return agreement_other(e, list, master);
}

bool engine_successor(const struct engine *e, struct slice *successor)
{
    return agreement_successor(e, successor);
}

bool engine_unlike_list(const struct engine *e, struct told_list *list)
{
    return agreement_unlike(e, list);
}

unsigned engine_lists(const struct engine *e, struct list_in_use lists[LISTS_IN_USE_MOST])
{
    return agreement_lists(e, lists);
}

unsigned engine_count_lists(const struct engine *e)
{
    return agreement_count(e);
}

bool engine_is_busy(const struct engine *e)
{
    return e->busy.count || e->throttled.count || e->stranded.count || e->held.count ||
           e->abandoned || !e->ready_told || tasks_are_busy(e);
}

unsigned engine_owed(const struct engine *e)
{
    unsigned owed = 0;
    for (const struct claim *claim = e->abandoned; claim; claim = claim->next)
        for (unsigned i = 0; i < e->config.masters; i++)
            owed += claim->at[i].owed;
    return owed;
}

/* ---- beginning and end ----------------------------------------------------- */

size_t engine_size(void)
{
    return sizeof(struct engine);
}

bool engine_init(struct engine *e, const struct engine_config *config, const struct memory *memory,
                 const struct sink *sink, uint64_t seed)
{
    *e = (struct engine){.config = *config,
                         .memory = *memory,
                         .sink = *sink,
                         .idle.place = PLACE_IDLE,
                         .busy.place = PLACE_BUSY,
                         .throttled.place = PLACE_THROTTLED,
                         .stranded.place = PLACE_STRANDED,
                         .held.place = PLACE_HELD,
                         .given_back.slot = -1,
                         .renewals_first = -NEVER / 2,
                         .oldest_word = NEVER,
                         .say_again_at = NEVER,
                         .jitter = seed ? seed : 1,
                         .phase = (usec)(seed >> 32),
                         .quorum = quorum_of(config->masters, config->spare),
                         .max_ttl_ms = config->max_ttl_ms};
    if (!config->backlog)
        e->config.backlog = ~0U / 2;
    ASSERT(config->masters > 0 && config->masters <= MASTERS_MAX);
    ASSERT(e->quorum > 0 && e->quorum <= config->masters);
    if (config->label[0])
        e->label_length = (size_t)snprintf(e->label, sizeof e->label, ":%s", config->label);
    ASSERT(e->label_length < sizeof e->label && TOKEN_TEXT + e->label_length <= TOKEN_MAX);
    e->deadline.owner = OWNER_ENGINE;
    bool room = deadlines_enter(&e->deadlines, memory);
    for (unsigned i = 0; i < config->masters; i++) {
        e->masters[i].deadline.owner = OWNER_MASTER;
        room = room && deadlines_enter(&e->deadlines, memory);
    }
    return room;
}

void engine_end_list(struct engine *e, const char *successor, uint16_t masters)
{
    ASSERT(e->config.looks_only);
    e->config.successor = successor;
    e->config.ends_at = masters;
}

void engine_revive_list(struct engine *e, const int64_t *changes)
{
    ASSERT(e->config.looks_only);
    e->config.revives = true;
    memcpy(e->config.changes, changes, e->config.masters * sizeof *changes);
}

void engine_start(struct engine *e, usec now)
{
    e->now = now;
    for (unsigned i = 0; i < e->config.masters; i++)
        master_start(e, i);
}

struct lease *engine_any_lease(const struct engine *e)
{
    struct lease *lease = e->busy.first        ? e->busy.first
                          : e->throttled.first ? e->throttled.first
                          : e->stranded.first  ? e->stranded.first
                          : e->held.first      ? e->held.first
                                               : e->idle.first;
    return lease && lease->further ? further_owner(lease) : lease;
}

static void visit_list(const struct lease_list *list, void (*visit)(struct lease *, void *),
                       void *data)
{
    for (struct lease *lease = list->last, *next; lease; lease = next) {
        next = lease->prev;
        if (!lease->further)
            visit(lease, data);
    }
}

void engine_visit_leases(const struct engine *e, void (*visit)(struct lease *, void *), void *data)
{
    visit_list(&e->busy, visit, data);
    visit_list(&e->throttled, visit, data);
    visit_list(&e->stranded, visit, data);
    visit_list(&e->held, visit, data);
    visit_list(&e->idle, visit, data);
}

void engine_free(struct engine *e)
{
    ASSERT(!e->stepping);
    while (e->abandoned)
        claim_drop(e, e->abandoned);
    for (unsigned i = 0; i < e->config.masters; i++)
        agreement_forget(e, i);
    tasks_free(e);
    further_free_withdrawn(e);
    attempts_drop(e);
    deadlines_free(&e->deadlines, &e->memory);
    index_free(&e->local_queues, &e->memory);
}
