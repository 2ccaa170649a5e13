#include "engine.h"

#include <stdio.h>

#include "listening.h"
#include "mutant.h"

#define CLOSE_AT_ONCE 256  /* leases given back in one step of closing */
#define SPARE_ROUNDS  1024 /* kept for the next question; more are given back */

/* ---- for the machines ---------------------------------------------------- */

void engine_emit(struct engine *e, enum effect_kind kind, unsigned master, struct lease *lease)
{
    e->sink.emit(e->sink.shell, &(struct effect){.kind = kind, .master = master, .lease = lease});
}

void engine_send(struct engine *e, unsigned master, const struct request *request)
{
    master_sent(e, master);
    e->sink.emit(e->sink.shell,
                 &(struct effect){.kind = EFFECT_SEND, .master = master, .request = request});
}

usec engine_jitter(struct engine *e, usec low, usec high)
{
    /* xorshift64 */
    e->jitter ^= e->jitter << 13;
    e->jitter ^= e->jitter >> 7;
    e->jitter ^= e->jitter << 17;
    return low + (usec)(e->jitter % (uint64_t)(high - low + 1));
}

uint32_t engine_next_round(struct engine *e)
{
    if (++e->last_round == 0)
        e->last_round = 1;
    return e->last_round;
}

static size_t round_size(const struct engine *e)
{
    return sizeof(struct round) + e->config.masters * sizeof(struct ballot);
}

struct round *engine_take_round(struct engine *e)
{
    struct round *round = e->free_rounds;
    if (!round)
        return e->memory.take(e->memory.pool, round_size(e));
    e->free_rounds = round->next_free;
    e->spare_rounds--;
    return round;
}

void engine_give_round(struct engine *e, struct round *round)
{
    names_drop(&e->memory, round->names);
    round->names = NULL;
    if (e->spare_rounds == SPARE_ROUNDS) {
        e->memory.give(e->memory.pool, round, round_size(e));
        return;
    }
    round->next_free = e->free_rounds;
    e->free_rounds = round;
    e->spare_rounds++;
}

static struct lease_list *list_of(struct engine *e, const struct lease *lease)
{
    switch ((enum lease_place)lease->place) {
    case PLACE_IDLE:
        return &e->idle;
    case PLACE_BUSY:
        return &e->busy;
    case PLACE_HELD:
        return &e->held;
    case PLACE_NONE:
        break;
    }
    return NULL;
}

void engine_list(struct engine *e, struct lease_list *list, struct lease *lease)
{
    engine_unlist(e, lease);
    lease->prev = NULL;
    lease->next = list->first;
    if (list->first)
        list->first->prev = lease;
    list->first = lease;
    list->count++;
    lease->place = list->place;
}

void engine_unlist(struct engine *e, struct lease *lease)
{
    struct lease_list *list = list_of(e, lease);
    if (!list)
        return;
    if (lease->prev)
        lease->prev->next = lease->next;
    else
        list->first = lease->next;
    if (lease->next)
        lease->next->prev = lease->prev;
    list->count--;
    lease->place = PLACE_NONE;
}

void engine_master_up(struct engine *e, unsigned master)
{
    claims_pay(e, master);
    for (struct lease *lease = e->busy.first, *next; lease; lease = next) {
        next = lease->next;
        lease_master_up(e, lease, master);
    }
    engine_check_ready(e);
}

void engine_master_down(struct engine *e, unsigned master)
{
    for (struct lease *lease = e->busy.first, *next; lease; lease = next) {
        next = lease->next;
        lease_master_down(e, lease, master);
    }
    engine_check_ready(e);
}

void engine_master_replaced(struct engine *e, unsigned master)
{
    for (struct lease *lease = e->busy.first; lease; lease = lease->next)
        waiting_forget_process(lease, master);
}

void engine_check_ready(struct engine *e)
{
    if (e->ready_told)
        return;
    for (unsigned i = 0; i < e->config.masters && !e->misconfigured; i++)
        if (!e->masters[i].tried)
            return;
    e->ready_told = true;
    engine_emit(e, EFFECT_READY, 0, NULL);
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

/* In portions, so that closing a million leases does not fill memory with releases. */
static void close_some(struct engine *e)
{
    for (unsigned i = 0; i < CLOSE_AT_ONCE && e->held.first; i++)
        lease_close(e, e->held.first);
    if (e->held.first)
        deadlines_set(&e->deadlines, &e->deadline, e->now);
}

static void close_all(struct engine *e)
{
    e->closing = true;
    for (struct lease *lease = e->busy.first, *next; lease; lease = next) {
        next = lease->next;
        lease_close(e, lease);
    }
    listening_end(e);
    hurry_claims(e);
    close_some(e);
}

static void give_up_all(struct engine *e)
{
    for (struct lease *lease = e->busy.first, *next; lease; lease = next) {
        next = lease->next;
        lease_give_up(e, lease);
    }
}

static void check_closed(struct engine *e)
{
    if (!e->closing || e->closed_told || e->busy.count || e->held.count ||
        (e->abandoned && !MUTANT(CLOSED_EARLY)))
        return;
    e->closed_told = true;
    engine_emit(e, EFFECT_CLOSED, 0, NULL);
}

/* ---- stepping ------------------------------------------------------------ */

#define OWNER_OF(type, deadline_) ((type *)(void *)((char *)(deadline_)-offsetof(type, deadline)))

static void wake_one(struct engine *e)
{
    struct deadline *due = deadlines_take(&e->deadlines, e->now);
    if (!due)
        return;
    switch ((enum deadline_owner)due->owner) {
    case OWNER_ENGINE:
        claims_look_again(e);
        listening_look(e);
        if (e->closing)
            close_some(e);
        break;
    case OWNER_MASTER:
        master_wake(e, (unsigned)(OWNER_OF(struct master, due) - e->masters));
        break;
    case OWNER_LEASE:
        lease_wake(e, OWNER_OF(struct lease, due));
        break;
    case OWNER_CLAIM:
        claim_wake(e, OWNER_OF(struct claim, due));
        break;
    }
}

static void hear(struct engine *e, unsigned master, const struct reply *reply)
{
    master_answered(e, master, reply);
    struct claim *claim = reply->tag.claim;
    if (!claim) {
        master_hear(e, master, reply);
    } else if (claim->lease) {
        lease_hear(e, claim->lease, master, reply);
    } else {
        claim_hear(e, claim, master, reply, false);
        claim_answered(e, claim);
    }
}

void engine_step(struct engine *e, usec now, struct randomness *random, const struct event *event)
{
    e->now = now;
    e->random = random;
    switch (event->kind) {
    case EVENT_TIMER:
        wake_one(e);
        break;
    case EVENT_CONNECTED:
        master_connected(e, event->master);
        break;
    case EVENT_CLOSED:
        master_closed(e, event->master, event->text);
        break;
    case EVENT_REPLY:
        hear(e, event->master, event->reply);
        break;
    case EVENT_LISTENING:
        listening_begun(e, event->master, event->text);
        break;
    case EVENT_ALIVE:
        listening_heard(e, event->master);
        break;
    case EVENT_DEAF:
        listening_ended(e, event->master);
        break;
    case EVENT_PUSH:
        listening_heard(e, event->master);
        waiting_push(e, event->master, event->push);
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
    case EVENT_INSPECT:
        lease_inspect(e, event->lease);
        break;
    case EVENT_ABANDON:
    case EVENT_DETACH:
        lease_abandon(e, event->lease, event->kind == EVENT_DETACH);
        break;
    case EVENT_ADOPT:
        master_adopt(e, event->master);
        break;
    case EVENT_CLOSE:
        close_all(e);
        break;
    case EVENT_GIVE_UP:
        give_up_all(e);
        break;
    }
    check_closed(e);
}

usec engine_next_deadline(const struct engine *e)
{
    return deadlines_next(&e->deadlines);
}

bool engine_tell(struct engine *e, usec now, struct randomness *random, struct lease *lease,
                 struct outcome *outcome)
{
    e->now = now;
    e->random = random;
    bool told = lease_tell(e, lease, outcome);
    check_closed(e);
    return told;
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

bool engine_is_busy(const struct engine *e)
{
    return e->busy.count || e->held.count || e->abandoned || !e->ready_told;
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

bool engine_init(struct engine *e, const struct engine_config *config, const struct memory *memory,
                 const struct sink *sink, uint64_t seed)
{
    *e = (struct engine){.config = *config,
                         .memory = *memory,
                         .sink = *sink,
                         .idle.place = PLACE_IDLE,
                         .busy.place = PLACE_BUSY,
                         .held.place = PLACE_HELD,
                         .jitter = seed ? seed : 1,
                         .renewal_phase = (usec)(seed >> 32),
                         .quorum = quorum_of(config->masters),
                         .max_ttl_ms = config->max_ttl_ms};
    if (config->label[0])
        e->label_length = (size_t)snprintf(e->label, sizeof e->label, ":%s", config->label);
    e->deadline.owner = OWNER_ENGINE;
    bool room = deadlines_enter(&e->deadlines, memory);
    for (unsigned i = 0; i < config->masters; i++) {
        e->masters[i].deadline.owner = OWNER_MASTER;
        room = room && deadlines_enter(&e->deadlines, memory);
    }
    return room;
}

void engine_start(struct engine *e, usec now)
{
    e->now = now;
    for (unsigned i = 0; i < e->config.masters; i++)
        master_start(e, i);
}

struct lease *engine_any_lease(const struct engine *e)
{
    return e->busy.first ? e->busy.first : e->held.first ? e->held.first : e->idle.first;
}

void engine_free(struct engine *e)
{
    while (e->abandoned)
        claim_drop(e, e->abandoned);
    while (e->free_rounds) {
        struct round *round = e->free_rounds;
        e->free_rounds = round->next_free;
        e->memory.give(e->memory.pool, round, round_size(e));
    }
    deadlines_free(&e->deadlines, &e->memory);
}
