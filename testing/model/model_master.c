#include "model_master.h"
#include "model_tasks.h"

#include <limits.h>
#include <string.h>

struct model_flaws model_flaws;

/* Of the name, the readers that end by then, in ms. */
static void forget_readers(struct model_master *master, unsigned name, int64_t until)
{
    for (unsigned i = 0; i < master->data.readers_used; i++)
        if (master->data.readers[i].name == name && master->data.readers[i].expires_ms <= until)
            master->data.readers[i].value = 0;
}

/* Redis: a key is gone when the clock, in whole ms, is past its expiry. */
static struct model_key *look_up(struct model_master *master, usec wall, unsigned name)
{
    struct model_key *key = &master->data.keys[name];
    if (key->value && key->expires_ms && wall / 1000 > key->expires_ms) {
        if (key->value == MODEL_MARK)
            forget_readers(master, name, INT64_MAX); /* their key is gone as well */
        *key = (struct model_key){0};
    }
    return key;
}

uint32_t model_value(struct model_master *master, usec wall, unsigned name)
{
    return look_up(master, wall, name)->value;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- readers ------------------------------------------------------------------- */

static struct model_reader *find_reader(struct model_master *master, unsigned name, uint32_t value)
{
    for (unsigned i = 0; i < master->data.readers_used; i++) {
        struct model_reader *reader = &master->data.readers[i];
        if (reader->value == value && reader->name == name)
            return reader;
    }
    return NULL;
}

static bool reads(const struct model_reader *reader, usec wall)
{
    return reader->value && (reader->expires_ms > wall / 1000 || model_flaws.dead_readers_have);
}

/* Of a name that has the marker. */
static bool is_reader(struct model_master *master, usec wall, unsigned name, uint32_t value)
{
    const struct model_reader *reader = find_reader(master, name, value);
    return reader && reads(reader, wall);
}

unsigned model_readers(struct model_master *master, usec wall, unsigned name)
{
    unsigned count = 0;
    if (look_up(master, wall, name)->value != MODEL_MARK)
        return 0;
    for (unsigned i = 0; i < master->data.readers_used; i++)
        count += master->data.readers[i].name == name && reads(&master->data.readers[i], wall);
    return count;
}

bool model_has(struct model_master *master, usec wall, unsigned name, uint32_t value)
{
    uint32_t there = look_up(master, wall, name)->value;
    return there == value || (there == MODEL_MARK && is_reader(master, wall, name, value));
}

int64_t model_expires_ms(struct model_master *master, unsigned name, uint32_t value)
{
    const struct model_key *key = &master->data.keys[name];
    const struct model_reader *reader =
        key->value == MODEL_MARK ? find_reader(master, name, value) : NULL;
    return reader ? reader->expires_ms : key->expires_ms;
}

/* A slot that is empty, or that of one who is dead. */
static struct model_reader *make_reader(struct model_master *master, usec wall)
{
    struct model_data *data = &master->data;
    struct model_reader *dead = NULL;
    for (unsigned i = 0; i < MODEL_READERS; i++) {
        struct model_reader *reader = &data->readers[i];
        if (!reader->value) {
            if (i >= data->readers_used)
                data->readers_used = i + 1;
            return reader;
        }
        if (reader->expires_ms < wall / 1000)
            dead = reader;
    }
    data->is_full |= !dead;
    return dead;
}

static void share(struct model_master *master, usec wall, unsigned name, uint32_t value,
                  int64_t expires_ms)
{
    struct model_key *key = look_up(master, wall, name);
    bool is_new = key->value != MODEL_MARK;
    if (is_new && !model_flaws.keeps_readers)
        forget_readers(master, name, INT64_MAX);
    struct model_reader *reader = find_reader(master, name, value);
    if (!reader && (reader = make_reader(master, wall)))
        *reader = (struct model_reader){value, (model_name)name, 0};
    if (reader)
        reader->expires_ms = larger(reader->expires_ms, expires_ms);
    if (is_new || model_flaws.marker_of_last)
        *key = (struct model_key){MODEL_MARK, expires_ms};
    else if (key->expires_ms)
        key->expires_ms = larger(key->expires_ms, expires_ms);
    else
        key->expires_ms = expires_ms;
}

/* When the last reader ends, dead or alive; 0: there is none. */
static int64_t last_reader(const struct model_master *master, unsigned name)
{
    int64_t last = 0;
    for (unsigned i = 0; i < master->data.readers_used; i++) {
        const struct model_reader *reader = &master->data.readers[i];
        if (reader->value && reader->name == name)
            last = larger(last, reader->expires_ms);
    }
    return last;
}

/* A reader leaves a name that has the marker.  True if it was one.  The readers' key is gone when
 * the last one has ended, which may be before the marker where somebody had deleted that key. */
static bool take_back(struct model_master *master, usec wall, unsigned name, uint32_t value)
{
    struct model_key *key = look_up(master, wall, name);
    struct model_reader *reader = find_reader(master, name, value);
    if (!reader || last_reader(master, name) < wall / 1000)
        return false;
    bool was_ours = reads(reader, wall);
    int64_t its = reader->expires_ms;
    reader->value = 0;
    int64_t last = last_reader(master, name);
    if (last <= wall / 1000 || model_flaws.frees_for_readers) {
        *key = (struct model_key){0};
        if (!model_flaws.keeps_readers)
            forget_readers(master, name, INT64_MAX);
    } else if (last < its) {
        key->expires_ms = last;
    }
    return was_ours;
}

/* ---- taking and renewing --------------------------------------------------------- */

static bool is_open(struct model_master *master, usec wall, unsigned name, bool shared)
{
    uint32_t value = look_up(master, wall, name)->value;
    return !value || (shared && value == MODEL_MARK);
}

static void give(struct model_master *master, usec wall, unsigned name, bool shared, uint32_t value,
                 int64_t expires_ms)
{
    if (shared)
        share(master, wall, name, value, expires_ms);
    else
        master->data.keys[name] = (struct model_key){value, expires_ms};
}

static bool is_shared(const struct model_call *call, unsigned i)
{
    return call->modes >> i & 1;
}

static enum answer acquire(struct model_master *master, usec wall, const struct model_call *call)
{
    for (unsigned i = 0; i < call->count; i++)
        if (!is_open(master, wall, call->names[i], is_shared(call, i)))
            return ANSWER_HELD;
    for (unsigned i = 0; i < call->count; i++)
        give(master, wall, call->names[i], is_shared(call, i), call->value,
             wall / 1000 + call->ttl_ms);
    return ANSWER_YES;
}

/* In the mode that is asked for; a shared name may be had exclusively, too. */
static bool has(struct model_master *master, usec wall, const struct model_call *call, unsigned i)
{
    uint32_t value = look_up(master, wall, call->names[i])->value;
    return value == call->value || (value == MODEL_MARK && is_shared(call, i) &&
                                    is_reader(master, wall, call->names[i], call->value));
}

static int64_t time_to_live(const struct model_key *key, usec wall)
{
    return key->expires_ms ? key->expires_ms - wall / 1000 : -1;
}

static void prolong(struct model_key *key, usec wall, const struct model_call *call)
{
    if (time_to_live(key, wall) < call->ttl_ms)
        key->expires_ms = wall / 1000 + call->ttl_ms;
}

bool model_is_marked(const struct model_master *master, usec wall, uint32_t value)
{
    for (unsigned i = 0; i < MODEL_MARKS; i++)
        if (master->data.marks[i].value == value)
            return wall / 1000 <= master->data.marks[i].expires_ms;
    return false;
}

static void mark(struct model_master *master, usec wall, uint32_t value, int64_t ms)
{
    struct model_mark *place = NULL;
    for (unsigned i = 0; i < MODEL_MARKS; i++) {
        struct model_mark *it = &master->data.marks[i];
        if (it->value == value || (!place && (!it->value || wall / 1000 > it->expires_ms)))
            place = it;
    }
    master->data.is_full |= !place;
    if (place)
        *place = (struct model_mark){value, wall / 1000 + ms};
}

static bool converts(const struct model_call *call, unsigned i)
{
    return is_shared(call, i) && (call->converts || model_flaws.always_converts);
}

/* A shared name may hold the token itself. */
static void renew_one(struct model_master *master, usec wall, const struct model_call *call,
                      unsigned i)
{
    unsigned name = call->names[i];
    struct model_key *key = look_up(master, wall, name);
    bool is_ours = key->value == call->value;
    if (is_ours && converts(call, i)) {
        int64_t left = time_to_live(key, wall);
        share(master, wall, name, call->value, wall / 1000 + larger(left, call->ttl_ms));
        return;
    }
    if (is_ours) {
        prolong(key, wall, call);
        return;
    }
    if (is_shared(call, i))
        forget_readers(master, name, wall / 1000);
    give(master, wall, name, is_shared(call, i), call->value, wall / 1000 + call->ttl_ms);
}

/* ---- the queue ---------------------------------------------------------------- */

static bool is_alive(const struct model_waiter *waiter, usec wall)
{
    return waiter->value && (model_flaws.keeps_dead || waiter->expires_ms - wall / 1000 > 0);
}

static bool waits_for(const struct model_waiter *waiter, unsigned name)
{
    for (unsigned i = 0; i < waiter->count; i++)
        if (waiter->names[i] == name)
            return true;
    return false;
}

static bool is_before(const struct model_waiter *a, const struct model_waiter *b)
{
    if (model_flaws.orders_by_arrival)
        return a->arrival < b->arrival;
    return a->ticket != b->ticket ? a->ticket < b->ticket : a->value < b->value;
}

bool model_waits(const struct model_master *master, const struct model_waiter *waiter, usec wall,
                 unsigned name)
{
    (void)master;
    return is_alive(waiter, wall) && waits_for(waiter, name);
}

/* The first behind `last`; NULL: before all. */
static const struct model_waiter *next_waiter(const struct model_master *master, usec wall,
                                              unsigned name, const struct model_waiter *last)
{
    const struct model_waiter *next = NULL;
    for (unsigned i = 0; i < master->data.waiters_used; i++) {
        const struct model_waiter *waiter = &master->data.waiters[i];
        if (model_waits(master, waiter, wall, name) && (!last || is_before(last, waiter)) &&
            (!next || is_before(waiter, next)))
            next = waiter;
    }
    return next;
}

const struct model_waiter *model_waiter(const struct model_master *master, usec wall, unsigned name,
                                        unsigned rank)
{
    const struct model_waiter *waiter = next_waiter(master, wall, name, NULL);
    for (; waiter && rank; rank--)
        waiter = next_waiter(master, wall, name, waiter);
    return waiter;
}

static struct model_waiter *find_waiter(struct model_master *master, uint32_t value)
{
    for (unsigned i = 0; i < master->data.waiters_used; i++)
        if (master->data.waiters[i].value == value)
            return &master->data.waiters[i];
    return NULL;
}

static bool is_first_and_open(struct model_master *master, usec wall,
                              const struct model_waiter *waiter)
{
    for (unsigned i = 0; i < waiter->count; i++)
        if (!is_open(master, wall, waiter->names[i], waiter->modes >> i & 1) ||
            model_waiter(master, wall, waiter->names[i], 0) != waiter)
            return false;
    return true;
}

static bool waits_to_share(const struct model_waiter *waiter, unsigned name)
{
    for (unsigned i = 0; i < waiter->count; i++)
        if (waiter->names[i] == name)
            return waiter->modes >> i & 1;
    return false;
}

/* True if the next one may have the name as well. */
static bool give_to_first(struct model_master *master, usec wall, unsigned name,
                          struct model_answer *answer)
{
    struct model_waiter *first =
        (struct model_waiter *)(uintptr_t)model_waiter(master, wall, name, 0);
    if (!first || !master->data.clock.h || !is_first_and_open(master, wall, first))
        return false;
    struct model_push *push = &answer->pushes[answer->push_count++];
    *push = (struct model_push){.channel = first->channel,
                                .value = first->value,
                                .clock = ++master->data.clock.h,
                                .count = first->count,
                                .free_slot = -1};
    for (unsigned i = 0; i < first->count; i++) {
        push->names[i] = first->names[i];
        give(master, wall, first->names[i], first->modes >> i & 1, first->value, first->expires_ms);
    }
    first->value = 0;
    return waits_to_share(first, name);
}

/* ---- slots -------------------------------------------------------------------------- */

/* The slot `steps` on from this one, on the ring of all. */
static unsigned slot_at(unsigned slot, unsigned permits, unsigned steps)
{
    return (model_slot_number(slot) + steps) % permits;
}

static const struct model_waiter *first_of(const struct model_master *master, usec wall,
                                           unsigned like, unsigned slot)
{
    return model_waiter(master, wall, model_slot(model_slot_name(like), slot), 0);
}

/* The first of all who wait for any slot of the name that has this one. */
static const struct model_waiter *first_for_any(const struct model_master *master, usec wall,
                                                unsigned like)
{
    const struct model_waiter *first = NULL;
    for (unsigned slot = 0; slot < MODEL_PERMITS; slot++) {
        const struct model_waiter *its = first_of(master, wall, like, slot);
        if (its && (!first || is_before(its, first)))
            first = its;
    }
    return first;
}

/* The next one behind this that is free, with nobody in its line. */
static int16_t free_slot(struct model_master *master, usec wall, const struct model_call *call)
{
    unsigned name = call->names[0];
    for (unsigned i = 1; i < call->permits; i++) {
        unsigned slot = slot_at(name, call->permits, i);
        if (!look_up(master, wall, model_slot(model_slot_name(name), slot))->value &&
            !first_of(master, wall, name, slot))
            return (int16_t)slot;
    }
    return -1;
}

/* Of all slots, from this one on, that whose first waiter came last, and after `ticket`. */
static int16_t youngest_slot(const struct model_master *master, usec wall,
                             const struct model_call *call, usec ticket)
{
    int16_t youngest = -1;
    for (unsigned i = 0; i < call->permits; i++) {
        unsigned slot = slot_at(call->names[0], call->permits, i);
        const struct model_waiter *first = first_of(master, wall, call->names[0], slot);
        if (!first || first->ticket <= ticket)
            continue;
        ticket = first->ticket;
        youngest = (int16_t)slot;
    }
    return youngest;
}

static unsigned known_permits(const struct model_master *master, usec wall, unsigned name)
{
    const struct model_number *number = &master->data.permits[name];
    return wall / 1000 > number->expires_ms ? 0 : number->permits;
}

/* A slot from `permits` on is held or waited for. */
static bool more_are_in_use(struct model_master *master, usec wall, unsigned like, unsigned permits)
{
    unsigned known = known_permits(master, wall, model_slot_name(like));
    for (unsigned slot = permits; slot < known; slot++)
        if (look_up(master, wall, model_slot(model_slot_name(like), slot))->value ||
            first_of(master, wall, like, slot))
            return true;
    return false;
}

/* A slot may be held for `lasts` ms; as in most_slots.lua. */
static void learn_permits(struct model_master *master, usec wall, unsigned like, unsigned permits,
                          int64_t lasts)
{
    struct model_number *number = &master->data.permits[model_slot_name(like)];
    unsigned known = known_permits(master, wall, model_slot_name(like));
    int64_t left = known ? number->expires_ms - wall / 1000 : -2;
    bool is_short = 2 * left < 3 * lasts;
    if (known >= permits && !is_short)
        return;
    if (!more_are_in_use(master, wall, like, permits))
        number->permits = permits;
    number->expires_ms = wall / 1000 + larger(2 * lasts, left);
}

/* As in renew_slot.lua: of a slot that is held. */
static void keep_permits(struct model_master *master, usec wall, unsigned slot, int64_t ttl_ms)
{
    struct model_number *number = &master->data.permits[model_slot_name(slot)];
    unsigned known = known_permits(master, wall, model_slot_name(slot));
    int64_t left = known ? number->expires_ms - wall / 1000 : -2;
    if (known <= model_slot_number(slot)) {
        number->permits = model_slot_number(slot) + 1;
        left = larger(2 * time_to_live(look_up(master, wall, slot), wall), left);
    } else if (2 * left < 3 * ttl_ms)
        left = 2 * ttl_ms;
    number->expires_ms = wall / 1000 + left;
}

static unsigned length_of_queue(const struct model_master *master, usec wall, unsigned name)
{
    unsigned length = 0;
    while (model_waiter(master, wall, name, length))
        length++;
    return length;
}

/* That with the shortest queue, from this one on. */
static int16_t line_to_stand_in(const struct model_master *master, usec wall,
                                const struct model_call *call)
{
    unsigned line = 0, least = UINT_MAX, name = model_slot_name(call->names[0]);
    for (unsigned i = 0; i < call->permits; i++) {
        unsigned slot = slot_at(call->names[0], call->permits, i);
        unsigned length = length_of_queue(master, wall, model_slot(name, slot));
        if (length < least) {
            line = slot;
            least = length;
        }
    }
    return (int16_t)line;
}

static unsigned free_slots(struct model_master *master, usec wall, unsigned like, unsigned permits)
{
    unsigned count = 0;
    for (unsigned slot = 0; slot < permits; slot++)
        count += !look_up(master, wall, model_slot(model_slot_name(like), slot))->value;
    return count;
}

/* Of all who wait for any slot of the name, the first one behind `last`; NULL: before all. */
static const struct model_waiter *next_place(const struct model_master *master, usec wall,
                                             unsigned like, const struct model_waiter *last)
{
    const struct model_waiter *next = NULL;
    for (unsigned slot = 0; slot < MODEL_PERMITS; slot++) {
        const struct model_waiter *it =
            next_waiter(master, wall, model_slot(model_slot_name(like), slot), last);
        if (it && (!next || is_before(it, next)))
            next = it;
    }
    return next;
}

/* It stands in several queues, and this is not the first of its places. */
static bool was_met(const struct model_master *master, usec wall, unsigned like,
                    const struct model_waiter *waiter)
{
    const struct model_waiter *it = next_place(master, wall, like, NULL);
    while (it != waiter && (it->ticket != waiter->ticket || it->channel != waiter->channel))
        it = next_place(master, wall, like, it);
    return it != waiter;
}

static const struct model_waiter *next_for_any(const struct model_master *master, usec wall,
                                               unsigned like, const struct model_waiter *last)
{
    const struct model_waiter *next = next_place(master, wall, like, last);
    while (next && was_met(master, wall, like, next))
        next = next_place(master, wall, like, next);
    return next;
}

/* A slot is free, and nobody stands in its line.  An earlier waiter has hints of other free ones.
 */
static void give_hint(struct model_master *master, usec wall, unsigned slot,
                      struct model_answer *answer)
{
    unsigned known = known_permits(master, wall, model_slot_name(slot));
    const struct model_waiter *first = first_for_any(master, wall, slot), *next = first;
    if (look_up(master, wall, slot)->value || !first || model_flaws.gives_no_hints)
        return;
    for (unsigned left = free_slots(master, wall, slot, known ? known : 1); left > 1; left--)
        if ((next = next_for_any(master, wall, slot, first)))
            first = next;
    answer->pushes[answer->push_count++] =
        (struct model_push){.channel = first->channel,
                            .value = first->value,
                            .free_slot = (int)model_slot_number(slot)};
}

/* A script stops after the 64th reader: fewer always wait here. */
static void hand_over(struct model_master *master, usec wall, unsigned name,
                      struct model_answer *answer)
{
    while (give_to_first(master, wall, name, answer))
        ;
}

/* Another process has given the token back. */
static bool is_over(const struct model_master *master, usec wall, const struct model_call *call,
                    bool absent)
{
    bool takes_over = !call->not_after && !model_is_slot(call->names[0]);
    bool looks = absent ? !model_flaws.heals_marked : takes_over && !model_flaws.passes_marked_on;
    return looks && model_is_marked(master, wall, call->value);
}

static enum answer renew(struct model_master *master, usec wall, const struct model_call *call,
                         struct model_answer *answer)
{
    bool were_converted[MODEL_NAMES] = {false};
    if (call->not_after && wall > call->not_after)
        return ANSWER_LATE;
    unsigned absent = 0;
    for (unsigned i = 0; i < call->count; i++) {
        if (has(master, wall, call, i))
            continue;
        if (!is_open(master, wall, call->names[i], is_shared(call, i)))
            return ANSWER_HELD;
        absent++;
    }
    if ((absent && !call->heal) || is_over(master, wall, call, absent))
        return ANSWER_ABSENT;
    for (unsigned i = 0; i < call->count; i++) {
        were_converted[i] =
            converts(call, i) && look_up(master, wall, call->names[i])->value == call->value;
        renew_one(master, wall, call, i);
    }
    for (unsigned i = 0; i < call->count; i++)
        if (were_converted[i])
            hand_over(master, wall, call->names[i], answer);
    if (model_is_slot(call->names[0]) && !model_flaws.renewals_hide_slots)
        keep_permits(master, wall, call->names[0], call->ttl_ms);
    return absent ? ANSWER_HEALED : ANSWER_YES;
}

static enum answer release(struct model_master *master, usec wall, const struct model_call *call,
                           struct model_answer *answer)
{
    unsigned ours = 0, absent = 0;
    struct model_waiter *waiter = find_waiter(master, call->value);
    for (unsigned i = 0; i < call->count; i++) {
        struct model_key *key = look_up(master, wall, call->names[i]);
        absent += key->value == 0;
        if (key->value == MODEL_MARK)
            ours += take_back(master, wall, call->names[i], call->value);
        if (key->value != call->value)
            continue;
        *key = (struct model_key){0};
        ours++;
    }
    if (waiter)
        waiter->value = 0;
    if (call->ttl_ms)
        mark(master, wall, call->value, call->ttl_ms);
    if (call->ttl_ms && ours && call->count == 1)
        model_tell_taken(master, wall, call, answer);
    for (unsigned i = 0; i < call->count && !call->plain; i++)
        hand_over(master, wall, call->names[i], answer);
    if (model_is_slot(call->names[0]) && !call->plain)
        give_hint(master, wall, call->names[0], answer);
    if (ours == call->count)
        return ANSWER_YES;
    return ours + absent == call->count ? ANSWER_ABSENT : ANSWER_HELD;
}

static bool owns_all(struct model_master *master, usec wall, const struct model_call *call)
{
    for (unsigned i = 0; i < call->count; i++)
        if (!has(master, wall, call, i))
            return false;
    return true;
}

static void enqueue(struct model_master *master, usec wall, const struct model_call *call)
{
    struct model_waiter *waiter = find_waiter(master, call->value);
    uint32_t arrival = waiter ? waiter->arrival : ++master->data.arrivals;
    for (unsigned i = 0; i < MODEL_WAITERS && !waiter; i++)
        if (!is_alive(&master->data.waiters[i], wall))
            waiter = &master->data.waiters[i];
    if (!waiter) {
        master->data.is_full = true;
        return;
    }
    unsigned end = (unsigned)(waiter - master->data.waiters) + 1;
    if (end > master->data.waiters_used)
        master->data.waiters_used = end;
    *waiter = (struct model_waiter){.value = call->value,
                                    .channel = call->channel,
                                    .arrival = arrival,
                                    .ticket = call->ticket,
                                    .expires_ms = wall / 1000 + call->ttl_ms,
                                    .count = call->count,
                                    .modes = call->modes};
    for (unsigned i = 0; i < call->count; i++)
        waiter->names[i] = call->names[i];
}

static enum answer still_ours(struct model_master *master, usec wall, const struct model_call *call)
{
    bool ahead = false;
    struct model_waiter ours = {.ticket = call->ticket, .value = call->value};
    for (unsigned i = 0; i < call->count; i++) {
        struct model_key *key = &master->data.keys[call->names[i]];
        const struct model_waiter *first = model_waiter(master, wall, call->names[i], 0);
        if (key->value == MODEL_MARK)
            share(master, wall, call->names[i], call->value, wall / 1000 + call->ttl_ms);
        else
            prolong(key, wall, call);
        ahead |= first && is_before(first, &ours);
    }
    return ahead ? ANSWER_AHEAD : ANSWER_YES;
}

static unsigned ahead_of(struct model_master *master, usec wall, unsigned name, uint32_t value)
{
    const struct model_waiter *us = find_waiter(master, value);
    unsigned ahead = 0;
    for (unsigned i = 0; i < master->data.waiters_used; i++) {
        const struct model_waiter *other = &master->data.waiters[i];
        ahead += model_waits(master, other, wall, name) && is_before(other, us);
    }
    return ahead;
}

static void describe_wait(struct model_master *master, usec wall, const struct model_call *call,
                          struct model_answer *answer)
{
    answer->remaining_ms = -2;
    for (unsigned i = 0; i < call->count; i++) {
        const struct model_key *key = look_up(master, wall, call->names[i]);
        if (!key->value || has(master, wall, call, i))
            continue;
        if (!answer->holder_count)
            answer->remaining_ms = time_to_live(key, wall);
        answer->holders[answer->holder_count++] = key->value;
    }
    for (unsigned i = 0; i < call->count; i++) {
        unsigned ahead = ahead_of(master, wall, call->names[i], call->value);
        answer->position = ahead > answer->position ? ahead : answer->position;
    }
}

/* A new place of a slot is given nothing while as many older ones wait for others as are free. */
static bool may_be_given(struct model_master *master, usec wall, const struct model_call *call,
                         bool was_there)
{
    if (!model_is_slot(call->names[0]) || was_there || model_flaws.new_places_pass)
        return true;
    unsigned older = 0, free = free_slots(master, wall, call->names[0], call->permits);
    const struct model_waiter *it = first_for_any(master, wall, call->names[0]);
    for (; it && it->ticket < call->ticket; it = next_for_any(master, wall, call->names[0], it))
        older++;
    return older < free;
}

static enum answer queue(struct model_master *master, usec wall, const struct model_call *call,
                         struct model_answer *answer)
{
    struct model_clock *clock = &master->data.clock;
    const struct model_waiter *before = find_waiter(master, call->value);
    bool was_there = before && model_waits(master, before, wall, call->names[0]);
    if (model_is_slot(call->names[0]))
        learn_permits(master, wall, call->names[0], call->permits, call->ttl_ms);
    if (!clock->h)
        return ANSWER_NO_CLOCK;
    answer->clock = clock->h;
    if (owns_all(master, wall, call))
        return still_ours(master, wall, call);
    if (!model_flaws.queue_keeps_clock)
        clock->h = larger(clock->h, call->ticket);
    enqueue(master, wall, call);
    bool may = may_be_given(master, wall, call, was_there);
    for (unsigned i = 0; may && i < call->count; i++)
        hand_over(master, wall, call->names[i], answer);
    answer->clock = clock->h;
    if (owns_all(master, wall, call))
        return ANSWER_YES;
    describe_wait(master, wall, call, answer);
    if (model_is_slot(call->names[0]) && answer->position == 0) {
        answer->free_slot = free_slot(master, wall, call);
        answer->next_slot = youngest_slot(master, wall, call, call->ticket);
    }
    return ANSWER_QUEUED;
}

static bool somebody_waits(const struct model_master *master, usec wall,
                           const struct model_call *call)
{
    bool barges = model_flaws.lets_barge || (call->modes && model_flaws.readers_barge);
    for (unsigned i = 0; i < call->count && !barges; i++)
        if (model_waiter(master, wall, call->names[i], 0))
            return true;
    return model_is_slot(call->names[0]) && !barges && !model_flaws.passes_registry &&
           first_for_any(master, wall, call->names[0]);
}

static enum answer grant(struct model_master *master, usec wall, const struct model_call *call,
                         struct model_answer *answer)
{
    struct model_clock *clock = &master->data.clock;
    bool fenced = call->proposal != 0, passed_over = somebody_waits(master, wall, call);
    bool is_slot = model_is_slot(call->names[0]);
    if (is_slot)
        learn_permits(master, wall, call->names[0], call->permits, call->ttl_ms);
    if (!fenced && !call->modes && call->count == 1 && !passed_over &&
        acquire(master, wall, call) == ANSWER_YES)
        return ANSWER_YES;
    if (!clock->h)
        return ANSWER_NO_CLOCK;
    for (unsigned i = 0; passed_over && i < call->count; i++)
        hand_over(master, wall, call->names[i], answer);
    passed_over = passed_over && somebody_waits(master, wall, call);
    enum answer taken = passed_over ? ANSWER_HELD : acquire(master, wall, call);
    usec most = wall + CLOCK_WINDOW;
    bool cut = call->proposal > most && !model_flaws.proposals_uncut;
    usec proposal = cut ? most : call->proposal;
    if (taken == ANSWER_YES && !fenced)
        return taken;
    if (taken == ANSWER_YES)
        clock->h = larger(clock->h + !model_flaws.grants_keep_clock, proposal);
    else
        clock->h++;
    if (taken == ANSWER_HELD && is_slot) {
        answer->free_slot = passed_over ? -1 : free_slot(master, wall, call);
        answer->next_slot = line_to_stand_in(master, wall, call);
    }
    answer->clock = clock->h;
    return taken;
}

/* The slots that the token has of all its names. */
static enum answer has_all_alone(struct model_master *master, usec wall,
                                 const struct model_call *call)
{
    bool absent = false, read = false;
    for (unsigned i = 0; i < call->count; i++) {
        unsigned name = call->names[i];
        uint32_t value = look_up(master, wall, name)->value;
        if (!value || (value == MODEL_MARK && !is_reader(master, wall, name, call->value)))
            absent = true;
        else if (value == MODEL_MARK)
            read |= model_readers(master, wall, name) != 1 && !model_flaws.upgrades_beside;
        else if (value != call->value)
            return ANSWER_HELD;
    }
    return absent ? ANSWER_ABSENT : read ? ANSWER_READ : ANSWER_YES;
}

static enum answer upgrade(struct model_master *master, usec wall, const struct model_call *call,
                           struct model_answer *answer)
{
    struct model_clock *clock = &master->data.clock;
    if (!clock->h)
        return ANSWER_NO_CLOCK;
    enum answer state = has_all_alone(master, wall, call);
    if (state != ANSWER_YES)
        return state;
    if (call->proposal) {
        bool cut = call->proposal > wall + CLOCK_WINDOW && !model_flaws.proposals_uncut;
        clock->h = larger(clock->h + !model_flaws.grants_keep_clock,
                          cut ? wall + CLOCK_WINDOW : call->proposal);
        answer->clock = clock->h;
    }
    for (unsigned i = 0; i < call->count; i++) {
        struct model_key *key = look_up(master, wall, call->names[i]);
        int64_t left = time_to_live(key, wall);
        if (key->value == MODEL_MARK)
            forget_readers(master, call->names[i], INT64_MAX);
        *key = (struct model_key){call->value, wall / 1000 + larger(left, call->ttl_ms)};
    }
    return ANSWER_YES;
}

static enum answer raise_clock(struct model_master *master, usec wall,
                               const struct model_call *call, struct model_answer *answer)
{
    struct model_clock *clock = &master->data.clock;
    enum answer state = ANSWER_YES;
    if (!clock->h)
        return ANSWER_NO_CLOCK;
    for (unsigned i = 0; i < call->count && !model_flaws.raises_for_anyone; i++) {
        if (model_has(master, wall, call->names[i], call->value))
            continue;
        if (look_up(master, wall, call->names[i])->value)
            state = ANSWER_HELD;
        else if (state == ANSWER_YES)
            state = ANSWER_ABSENT;
    }
    if (state == ANSWER_YES)
        clock->h = larger(clock->h, call->fence);
    answer->clock = clock->h;
    return state;
}

static bool tells_of_slots(struct model_master *master, usec wall, unsigned name,
                           struct model_answer *answer)
{
    unsigned permits = name < MODEL_OF_SLOTS ? known_permits(master, wall, name) : 0;
    int64_t left = -2;
    unsigned held = 0;
    for (unsigned slot = permits; slot-- > 0;) {
        const struct model_key *key = look_up(master, wall, model_slot(name, slot));
        held += key->value != 0;
        left = key->value ? time_to_live(key, wall) : left;
    }
    if (!held && !(permits && first_for_any(master, wall, model_slot(name, 0))))
        return false;
    answer->value = MODEL_SLOTS_OUT;
    answer->remaining_ms = left;
    answer->readers = held;
    answer->permits = permits;
    return true;
}

static enum answer peek(struct model_master *master, usec wall, const struct model_call *call,
                        struct model_answer *answer)
{
    for (unsigned i = 0; i < call->count; i++) {
        const struct model_key *key = look_up(master, wall, call->names[i]);
        if (!key->value)
            continue;
        answer->value = key->value;
        answer->remaining_ms = time_to_live(key, wall);
        answer->readers = model_readers(master, wall, call->names[i]);
        return ANSWER_HELD;
    }
    bool slots = call->count == 1 && tells_of_slots(master, wall, call->names[0], answer);
    return slots ? ANSWER_HELD : ANSWER_ABSENT;
}

/* hello.lua keeps the clock above all that it can ever have granted or stored. */
static void seed_clock(struct model_clock *clock, usec floor)
{
    if (!clock->h || !model_flaws.seeds_if_absent)
        clock->h = larger(clock->h, floor);
}

/* hello.lua, line by line. */
static enum answer hello(struct model_master *master, usec now, const struct model_call *call,
                         struct model_answer *answer)
{
    struct model_clock is = master->data.clock, *clock = &is;
    int64_t uptime = now / 1000000 - master->started_s;
    int64_t max_ttl = larger(clock->m, call->terms.max_ttl_ms);
    usec begun = now - larger(0, uptime - 1) * 1000000;
    bool is_new = clock->r != master->run_id && !(model_flaws.ignores_run_id && clock->r);
    if (is_new) {
        clock->s = begun;
        clock->a = 0;
        clock->w = 0;
    }
    /* max_ttl × 1000 × (1 + drift), rounded up as math.ceil does */
    int64_t drift = (max_ttl * call->terms.drift_ppm + 999) / 1000;
    int64_t skew = call->terms.skew_ms * 1000, lease = max_ttl * 1000 + drift;
    int64_t longest = skew + lease, beyond = larger(0, skew - lease);
    int64_t ahead = CLOCK_WINDOW + (model_flaws.forgets_skew ? 0 : beyond);
    if (is_new)
        seed_clock(clock, model_flaws.starts_low ? now : now + lease + ahead);
    usec known = model_flaws.silenced_again ? 0 : clock->w, ago = call->terms.other_ago;
    if (ago > 0 && now - ago > larger(begun, known)) {
        clock->q = larger(clock->q, now + longest);
        clock->w = now;
        clock->a = 0;
    }
    if (call->kind == REQUEST_ADOPT) {
        if (!model_flaws.starts_low)
            seed_clock(clock, larger(clock->q, now + longest) + ahead);
        clock->a = master->run_id;
        clock->w = now;
        clock->q = 0;
    } else if (clock->a != master->run_id) {
        clock->q = larger(clock->q, clock->s + longest);
    }
    if (!model_flaws.starts_low)
        seed_clock(clock, clock->q + ahead);
    clock->r = master->run_id;
    clock->m = max_ttl;
    if (call->terms.max_ttl_ms) /* of one that only looks nothing is kept */
        master->data.clock = is;
    answer->run_id = master->run_id;
    answer->time = now;
    answer->abstains = call->terms.trust ? 0 : larger(0, clock->q - now);
    answer->max_ttl_ms = max_ttl;
    answer->clock = clock->h;
    answer->uptime_s = uptime;
    answer->age = clock->a == master->run_id ? now : larger(0, now - clock->s);
    return ANSWER_HELLO;
}

/* One name is acquired with a plain SET, without a script. */
static bool needs_script(const struct model_call *call)
{
    return call->kind > REQUEST_ACQUIRE || call->kind == REQUEST_HELLO ||
           call->kind == REQUEST_AGREE || (call->kind == REQUEST_ACQUIRE && call->count > 1);
}

enum { CLAIM_KINDS = REQUEST_ANNOUNCE - REQUEST_ACQUIRE };

uint64_t model_script(const struct model_call *call)
{
    _Static_assert(5 * CLAIM_KINDS + REQUEST_KINDS <= 64, "a bit for each script");
    unsigned claims = 5 * CLAIM_KINDS;
    if (call->kind == REQUEST_ADOPT) /* it is that of hello */
        return UINT64_C(1) << (claims + REQUEST_HELLO);
    if (call->kind < REQUEST_ACQUIRE || request_is_of_task(call->kind))
        return UINT64_C(1) << (claims + call->kind);
    bool is_other = call->modes && request_has_modes(call->kind);
    bool is_slot = call->count && model_is_slot(call->names[0]) && request_has_slot(call->kind);
    unsigned variant = is_slot ? 4 : call->each + 2U * is_other;
    return UINT64_C(1) << (call->kind - REQUEST_ACQUIRE + CLAIM_KINDS * variant);
}

/* All scripts of claims and of the connection come with a whole hello. */
uint64_t model_scripts_with(const struct model_call *call)
{
    bool all = call->kind == REQUEST_HELLO;
    return all ? (UINT64_C(1) << (5 * CLAIM_KINDS + REQUEST_ACQUIRE)) - 1 : model_script(call);
}

void model_execute(struct model_master *master, usec wall, const struct model_call *call,
                   struct model_answer *answer)
{
    memset(answer, 0, sizeof *answer); /* it is large: a literal would stand on the stack */
    answer->remaining_ms = answer->free_slot = answer->next_slot = -1;
    answer->time = wall;
    if (needs_script(call) && !call->whole && !(master->scripts & model_script(call))) {
        answer->answer = ANSWER_NOSCRIPT;
        return;
    }
    if (call->whole)
        master->scripts |= model_scripts_with(call);
    switch (call->kind) {
    case REQUEST_ACQUIRE:
        answer->answer = acquire(master, wall, call);
        break;
    case REQUEST_GRANT:
        answer->answer = grant(master, wall, call, answer);
        break;
    case REQUEST_RAISE:
        answer->answer = raise_clock(master, wall, call, answer);
        break;
    case REQUEST_QUEUE:
        answer->answer = queue(master, wall, call, answer);
        break;
    case REQUEST_RENEW:
        answer->answer = renew(master, wall, call, answer);
        break;
    case REQUEST_UPGRADE:
        answer->answer = upgrade(master, wall, call, answer);
        break;
    case REQUEST_RELEASE:
        answer->answer = release(master, wall, call, answer);
        break;
    case REQUEST_PEEK:
        answer->answer = peek(master, wall, call, answer);
        break;
    case REQUEST_HELLO:
    case REQUEST_ADOPT:
        answer->answer = hello(master, wall, call, answer);
        break;
    case REQUEST_AGREE:
        if (call->agree)
            model_agree(master, wall, call->agree);
        answer->answer = ANSWER_YES;
        break;
    case REQUEST_KILL:
        answer->answer = ANSWER_YES;
        break;
    case REQUEST_ANNOUNCE:
        answer->answer = model_announce(master, wall, call, answer);
        break;
    case REQUEST_UNSAY:
        answer->answer = model_unsay(master, wall, call, answer);
        break;
    case REQUEST_OBSERVE:
        answer->answer = model_observe(master, wall, call, answer);
        break;
    case REQUEST_ARRIVE:
        answer->answer = model_arrive(master, wall, call, answer);
        break;
    case REQUEST_DEPART:
        answer->answer = model_depart(master, wall, call, answer);
        break;
    case REQUEST_TALLY:
        answer->answer = model_tally(master, wall, call, answer);
        break;
    case REQUEST_MEND:
        answer->answer = model_mend(master, wall, call, answer);
        break;
    case REQUEST_DROP:
        answer->answer = model_drop(master, wall, call);
        break;
    case REQUEST_ASK:
        answer->answer = model_ask(master, wall, call, answer);
        break;
    case REQUEST_SURVEY: /* nobody here asks: what it tells decides nothing */
        answer->answer = ANSWER_ERROR;
        break;
    }
}

void model_restart(struct model_master *master, usec wall, uint64_t run_id,
                   const struct model_data *data)
{
    memset(master, 0, sizeof *master);
    master->run_id = run_id;
    master->started_s = wall / 1000000;
    if (data)
        master->data = *data;
}
