#include "ground/slots.h"
#include "lease/further.h"
#include "lease/lease_parts.h"

#define TRIES_MOST  4  /* slots that are tried; then the lease waits for one, or is refused */
#define PLACES_MOST 16 /* further places, each of which is refreshed */

/* ---- the slot that is asked for ---------------------------------------------- */

static bool is_of_name(const struct given_back *given_back, struct slice name, unsigned permits)
{
    return given_back->slot >= 0 && (unsigned)given_back->slot < permits &&
           given_back->name == slice_hash(name);
}

/* The slot that this client gave back last is probably free still.  Only one lease tries it for
 * that. */
static unsigned first_slot(struct engine *e, struct slice name, unsigned permits)
{
    if (!is_of_name(&e->given_back, name, permits))
        return (unsigned)engine_jitter(e, 0, (usec)permits - 1);
    unsigned slot = (unsigned)e->given_back.slot;
    e->given_back.slot = -1;
    return slot;
}

void permits_note_given_back(struct engine *e, const struct claim *claim)
{
    e->given_back = (struct given_back){.name = slice_hash(slot_name(claim->names)),
                                        .slot = (int)slot_number(claim->names)};
}

bool permits_make(struct engine *e, struct lease *lease, struct names *name,
                  const struct terms *terms)
{
    struct slice bytes = names_at(name, 0);
    struct names *slot = slot_new(&e->memory, bytes, first_slot(e, bytes, terms->permits));
    if (!slot)
        return false;
    bool made = lease_make(e, lease, slot, terms, NULL, 0);
    names_drop(&e->memory, slot);
    if (!made || attempt_for_permit(e, lease->attempt, terms->permits))
        return made;
    lease_unmake(e, lease);
    return false;
}

bool permits_may_have(const struct lease *lease, const struct claim *claim)
{
    return slot_number(claim->names) < lease->attempt->permit->count;
}

/* Where memory is out, it goes on with the slot that it has. */
static void ask_for(struct engine *e, struct attempt *attempt, unsigned slot)
{
    struct names *names = slot_new(&e->memory, slot_name(attempt->names), slot);
    if (!names)
        return;
    names_drop(&e->memory, attempt->names);
    attempt->names = names;
}

/* ---- what masters tell of other slots ----------------------------------------- */

static void forget_what_was_told(struct permit *permit, uint32_t round)
{
    permit->round = round;
    for (unsigned i = 0; i < MASTERS_MAX; i++)
        permit->free_slot[i] = permit->next_slot[i] = -1;
}

static int16_t slot_told(const struct permit *permit, int slot)
{
    return (int16_t)(slot >= 0 && (unsigned)slot < permit->count ? slot : -1);
}

static unsigned how_many_say(const struct engine *e, const int16_t *told, int slot)
{
    unsigned count = 0;
    for (unsigned i = 0; i < lease_masters(e); i++)
        count += told[i] == slot;
    return count;
}

/* The slot that most masters tell; -1: none does. */
static int told_most(const struct engine *e, const int16_t *told)
{
    int slot = -1;
    for (unsigned i = 0; i < lease_masters(e); i++)
        if (told[i] >= 0 &&
            (slot < 0 || how_many_say(e, told, told[i]) > how_many_say(e, told, slot)))
            slot = told[i];
    return slot;
}

/* ---- another try, or a place --------------------------------------------------- */

/* No request is waited for longer than a quarter of the ttl, nor do tries go on for longer. */
static bool may_try(const struct engine *e, const struct lease *lease)
{
    bool is_late = e->now >= lease->asked_at + lease->terms.ttl / 4;
    return !is_late && lease->attempt->permit->tries < TRIES_MOST && !e->closing &&
           !e->misconfigured;
}

bool permits_choose(struct engine *e, struct lease *lease)
{
    struct attempt *attempt = lease->attempt;
    struct permit *permit = attempt->permit;
    if (!permit || permit->round != attempt->round->number || attempt->round->kind != REQUEST_GRANT)
        return false;
    int free_slot = told_most(e, permit->free_slot), next = told_most(e, permit->next_slot);
    permit->tries_next = free_slot >= 0 && may_try(e, lease);
    permit->tries += permit->tries_next;
    if (free_slot >= 0 || next >= 0)
        ask_for(e, attempt, (unsigned)(free_slot >= 0 ? free_slot : next));
    return permit->tries_next;
}

bool permits_take_try(struct lease *lease)
{
    bool tries = permits_tries_next(lease);
    if (tries)
        lease->attempt->permit->tries_next = false;
    return tries;
}

/* ---- further places ------------------------------------------------------------ */

static bool stands_for_slot(const struct lease *owner, unsigned slot)
{
    if (slot_number(owner->attempt->names) == slot)
        return true;
    for (const struct further_place *place = owner->attempt->permit->places; place;
         place = place->next)
        if (slot_number(place->lease.attempt->names) == slot)
            return true;
    return false;
}

static void begin_place(struct engine *e, const struct lease *owner, struct lease *place)
{
    claim_forget(e, place->claim); /* it gets one with a fresh token when it is enqueued */
    claim_let_go(&place->claim);
    place->attempt->place.ticket = owner->attempt->place.ticket;
    place->attempt->place.drawn_at = owner->attempt->place.drawn_at;
    lease_become(place, LEASE_PAUSING);
    engine_list(e, &e->busy, place);
    place->wake_at = e->now;
    lease_schedule(e, place);
}

/* It keeps the places that it has: the oldest waiter is passed in no queue that it stands in. */
static void stand_for_slot(struct engine *e, struct lease *owner, unsigned slot)
{
    const struct attempt *attempt = owner->attempt;
    if (!lease_is_waiting(owner) || !attempt->place.ticket || stands_for_slot(owner, slot) ||
        attempt->permit->place_count == PLACES_MOST)
        return;
    struct names *names = slot_new(&e->memory, slot_name(attempt->names), slot);
    struct lease *place = names ? further_new(e, owner, names) : NULL;
    if (names)
        names_drop(&e->memory, names);
    if (place)
        begin_place(e, owner, place);
}

static struct lease *owner_of(struct lease *lease)
{
    return lease->further ? further_owner(lease) : lease;
}

/* Queues move on while a waiter is new.  A waiter that goes to the head of all of them takes all
 * their slots, and gives them back. */
static bool has_waited(const struct engine *e, const struct lease *owner)
{
    return e->now >= owner->attempt->permit->stood_since + queue_life(owner) / 4;
}

/* A slot that is free counts only if a quorum says so: on one master it may be about to be given.
 * The word of one is enough for a queue whose first waiter came later. */
static void look_at_slots(struct engine *e, struct lease *lease, unsigned master)
{
    struct lease *owner = owner_of(lease);
    const struct permit *permit = lease->attempt->permit;
    int free_slot = permit->free_slot[master], next = permit->next_slot[master];
    if (!owner->attempt->permit->stood_since)
        owner->attempt->permit->stood_since = e->now;
    if (next >= 0 && has_waited(e, owner))
        stand_for_slot(e, owner, (unsigned)next);
    if (free_slot >= 0 && how_many_say(e, permit->free_slot, free_slot) >= e->quorum)
        stand_for_slot(e, owner, (unsigned)free_slot);
}

void permits_note_told(struct engine *e, struct lease *lease, unsigned master,
                       const struct slots_reply *told)
{
    struct permit *permit = lease->attempt->permit;
    if (!permit)
        return;
    if (permit->round != lease->attempt->round->number)
        forget_what_was_told(permit, lease->attempt->round->number);
    permit->free_slot[master] = slot_told(permit, told->free_slot);
    permit->next_slot[master] = slot_told(permit, told->next_slot);
    if (lease->state == LEASE_QUEUED)
        look_at_slots(e, lease, master);
}

void permits_hint(struct engine *e, struct lease *lease, int slot)
{
    struct permit *permit = lease->attempt->permit;
    if (permit && slot_told(permit, slot) >= 0)
        stand_for_slot(e, owner_of(lease), (unsigned)slot);
}

/* ---- a further place has its slot ----------------------------------------------- */

/* The owner goes on with the question of the place, and with its own wait. */
static void swap_attempts(struct lease *owner, struct lease *place)
{
    struct attempt *its = place->attempt, *own = owner->attempt;
    struct permit *permit = its->permit;
    its->permit = own->permit;
    own->permit = permit;
    its->wait = own->wait;
    its->queue = own->queue;
    its->before = own->before;
    its->behind = own->behind;
    own->queue = NULL;
    own->before = own->behind = NULL;
    owner->attempt = its;
    place->attempt = own;
}

struct lease *permits_take_over(struct engine *e, struct lease *place)
{
    struct lease *owner = further_owner(place);
    if (owner->claim && !owner->claim->abandoned)
        claim_abandon(e, owner->claim, 0);
    claim_let_go(&owner->claim);
    round_close(owner->attempt->round, lease_masters(e));
    swap_attempts(owner, place);
    claim_pass(&place->claim, &owner->claim);
    owner->valid_until = place->valid_until;
    owner->rounds += place->rounds;
    further_end(e, place);
    if (owner->state == LEASE_FAILING)
        lease_become(owner, LEASE_PAUSING);
    return owner;
}
