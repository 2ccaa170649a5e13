/*
 * worker.h - one process of a chaos run. It contends for every name, as a reader or a writer, and
 * acts on the protected resource while it holds one. It records its events and actions, which
 * others judge.
 *
 * The facts, after the moment; UNTIL is when validity ends, as computed at that moment, or the
 * moment itself if none is left.
 *
 *     begin library PID                       the first
 *     attempt NAME NUMBER [shared] [tries] [unfenced] [permits=K]
 *                                             asks: as a reader, not a writer; without waiting;
 *                                             without a fence; for one of K permits
 *     acquired NAME NUMBER UNTIL TOKEN FENCE [SLOT]
 *                                             holds; FENCE 0: without one, SLOT: of a permit
 *     valid | at_risk | healthy | lost NAME NUMBER UNTIL
 *     moving | moved | unmoved NAME NUMBER UNTIL
 *                                             to the client of another list, which has it, or not
 *     act NAME NUMBER UNTIL                   looked at validity, and uses the resource: a reader
 *                                             reads, a writer writes
 *     acted NAME NUMBER CHECKED UNCHECKED     the register's answer
 *     refrained NAME NUMBER                   looked, and had no validity left
 *     releasing NAME NUMBER UNTIL             gives it back
 *     released | failed NAME NUMBER CODE      the last of an attempt
 *     usage RSS_KB DESCRIPTORS                every second
 *     end LINES ACQUIRED ROUNDS RAISES        the last, or the record is not whole
 */
#ifndef FAULT_WORKER_H
#define FAULT_WORKER_H

#include <ev.h>
#include <redlock.h>

#include "lists.h"
#include "record.h"
#include "resource.h"
#include "terms.h"

enum lane_state {
    LANE_RESTING, /* between one lease and asking for the next */
    LANE_ASKING,
    LANE_HOLDING,
    LANE_ACTING, /* the register is to answer */
    LANE_LEAVING
};

/* The wish of an attempt. */
struct wish {
    bool shared, tries, unfenced;
    unsigned permits; /* 0: the name itself */
};

/* One name, and our lease on it. */
struct lane {
    struct worker *worker;
    const char *name;
    redlock_lease *lease;
    redlock *client; /* of the lease */
    enum lane_state state;
    struct wish wish;
    bool is_long;      /* held beyond its ttl */
    unsigned number;   /* of the attempt */
    int64_t until;     /* the end of validity as last recorded */
    int64_t leaves_at; /* the end of the hold */
    ev_timer timer;
};

struct worker {
    struct terms terms;
    struct ev_loop *loop;
    struct lists lists;
    struct record record;
    struct resource resource;
    bool ending, closed;
    ev_timer end, usage;
    ev_signal stop;
    ev_prepare look;
    struct lane lanes[NAMES_MOST];
};

void lane_begin(struct lane *lane, struct worker *worker, const char *name);
/* Records it if validity has changed: a renewal has no event. */
void lane_look(struct lane *lane);
/* There is another list: it asks no more under the former one, and its lease moves.  True: it uses
 * the former client still. */
bool lane_leaves(struct lane *lane, const redlock *former, bool is_new);
/* Releases the leases, unless the register is still to answer. */
void lane_end(struct lane *lane);
void lane_answered(void *lane, unsigned number, const char *verdict);

/* Closes the client when worker->ending and no register is waited for. */
void worker_close_if_idle(struct worker *worker);

#endif
