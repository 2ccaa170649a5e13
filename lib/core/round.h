/*
 * round.h - one question put to all masters, and what each had to say.
 *
 * Rounds live only while a question is open, and are pooled: a lease that is
 * merely held has none.
 */
#ifndef REDLOCK_CORE_ROUND_H
#define REDLOCK_CORE_ROUND_H

#include "names.h"
#include "quorum.h"

enum ballot_state {
    BALLOT_CLOSED, /* it has said what it says */
    BALLOT_HOPED,  /* not asked yet: its connection is still being made */
    BALLOT_ASKED
};

struct ballot {
    uint8_t state; /* enum ballot_state */
    uint8_t said;  /* enum saying */
    bool again;    /* was asked a second time; a third would let a liar keep us busy */
    bool late;     /* its clock says that the lease is over */
    bool broken;   /* it had lost the lease while its promise stood */
    usec asked_at; /* ASKED */
    int64_t remaining_ms;
    usec clock;    /* GRANT, RAISE, QUEUE: its logical clock when it last told; 0: unknown */
    usec doubted;  /* GRANT, RAISE: the same, if no other master vouches for it yet; else 0 */
    usec stood_at; /* QUEUE: when the last refresh was sent to which it said that we stand in line;
                      0: it did not */
    usec pushed;   /* QUEUE: the clock of a push that came before the answer to any refresh */
    unsigned position; /* QUEUE: so many stand before us there */
    bool ahead;        /* QUEUE: gave us what somebody ahead of us waits for */
    char text[SAYING_MAX];
};

struct round {
    struct round *next_free;

    /* What its lease needs while it is acquired; beginning a round leaves it alone. */
    struct names *names;
    usec wait;
    usec max_hold;
    struct line *line; /* in which it waits; NULL: in none */
    struct lease *before, *behind;
    usec ticket;    /* its place in the order of all who wait; 0: none yet */
    usec drawn_at;  /* when the ticket was asked for */
    uint16_t aside; /* bits: the masters on which it does not stand in line at present, */
    usec aside_until;
    uint16_t outranked; /* likewise, as they alone say that somebody is ahead of it */
    usec outranked_until;
    uint16_t ahead_alone; /* bits: the masters that have said so */
    uint8_t yields;       /* of late */
    usec yielded_at;

    /* The question. */
    enum request_kind kind;
    uint32_t number; /* of this round alone: late answers to another do not count */
    bool begun;      /* something was sent */
    bool decided;    /* the verdict was acted on; the rest is only for the record */
    bool confirms;   /* a renewal, before it is told that it was acquired */
    bool incomplete; /* decided, or raised, before all masters were connected */
    usec give_up;    /* HOPED masters are waited for until then */
    usec proposal;   /* GRANT: see struct request */
    usec fence;      /* GRANT, RAISE: not shown before it is stored; 0: none yet */
    uint16_t basis;  /* bits: the masters whose grants are at or below the fence, as it was fixed,
                        and that have kept the lease since */
    usec asked_at;   /* its first request was sent */
    usec grace;      /* last grants may save a second round until then; NEVER: not begun, 0: over */
    usec life;       /* QUEUE: how long it stands in line unheard of */
    usec few_since;  /* QUEUE: when it was given more last, but no quorum; 0: it has none */
    struct ballot ballots[];
};

void round_begin(struct round *round, unsigned masters, enum request_kind kind, uint32_t number,
                 usec give_up);
/* The question and what was said to it, but not whose it is. */
void round_copy(struct round *to, const struct round *from, unsigned masters);
void round_ask(struct round *round, unsigned master, usec now);
void round_say(struct round *round, unsigned master, enum saying said);
void round_say_text(struct round *round, unsigned master, enum saying said, const char *text,
                    size_t length);
/* Closes what is overdue, ends the grace; true if anything was.  `overdue`: for each
 * master, when to wait no longer for its answer. */
bool round_expire(struct round *round, unsigned masters, usec now, const usec *overdue,
                  unsigned *timeouts);
/* Nobody waits for more answers. */
void round_close(struct round *round, unsigned masters);
/* Stops hoping for the masters that are not connected; incomplete if there were any. */
void round_stop_hoping(struct round *round, unsigned masters);
/* The next moment at which round_expire() has something to do; NEVER if none. */
usec round_deadline(const struct round *round, unsigned masters, const usec *overdue);

/* Said yes: granted, healed, released. */
unsigned round_yes(const struct round *round, unsigned masters);
/* Undecided, and not among those: a grant whose fence is being stored has said so. */
unsigned round_may_say_yes(const struct round *round, unsigned masters);
unsigned round_count(const struct round *round, unsigned masters, enum saying said);
unsigned round_late(const struct round *round, unsigned masters);
unsigned round_broken(const struct round *round, unsigned masters);
/* Asked, or hoped for. */
unsigned round_undecided(const struct round *round, unsigned masters);
enum verdict round_verdict(const struct round *round, unsigned masters);

#endif
