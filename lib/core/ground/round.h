/*
 * round.h - one question put to all masters, and the vote of each.
 *
 * A round does not know its owner.  Today that is a lease, in its attempt.
 */
#ifndef REDLOCK_CORE_ROUND_H
#define REDLOCK_CORE_ROUND_H

#include "ground/names.h"
#include "ground/quorum.h"

enum ballot_state {
    BALLOT_CLOSED,     /* no answer is awaited */
    BALLOT_CONNECTING, /* not asked yet: the master's connection is still being made */
    BALLOT_ASKED
};

/* Whether the text that came with a vote was kept. */
enum text_state { TEXT_NONE, TEXT_KEPT, TEXT_LOST /* there was no memory for it */ };

struct ballot {
    uint8_t state; /* enum ballot_state */
    uint8_t vote;  /* enum vote */
    bool again;    /* asked a second time; a third would let a liar keep us busy */
    bool late;     /* by the master's clock the lease is over */
    bool broken;   /* the master had lost the lease while its promise stood */
    bool foreign;  /* QUEUE: the holder is of another library, and hands over to nobody */
    bool ahead;    /* QUEUE: the master gave us the names, but another waiter is ahead */
    uint8_t text;  /* enum text_state */
    usec asked_at; /* ASKED */
    int64_t remaining_ms;
    usec clock;   /* GRANT, RAISE, QUEUE: the master's logical clock as last told; 0: unknown */
    usec doubted; /* GRANT, RAISE: the same, while no other master vouches for it; else 0 */
    usec refreshed_at; /* QUEUE: when the last refresh was sent that the master answered with
                          "enqueued"; 0: none */
    usec pushed;       /* QUEUE: the clock of a push that came before the answer to any refresh */
    unsigned position; /* QUEUE: the number of waiters ahead of us there */
};

typedef char vote_text[VOTE_TEXT_MAX];

struct round {
    enum request_kind kind;
    uint32_t number; /* of this round alone: a late answer to another round does not count */
    bool begun;      /* a request was sent */
    bool incomplete; /* won, or raised, before all masters were connected */
    bool uncounted;  /* a promise did not count: see agreement_holds() */
    usec give_up;    /* until then, masters that are connecting are waited for */
    usec proposal;   /* GRANT: see struct request */
    usec asked_at;   /* when its first request was sent */
    usec grace;      /* until then, the last answers are waited for; NEVER: not begun, 0: over */
    union {
        vote_text *texts; /* of all masters; NULL: none has said any yet.  See round_hush() */
        struct round *next_free;
    };
    struct ballot ballots[];
};

void round_begin(struct round *round, unsigned masters, enum request_kind kind, uint32_t number,
                 usec give_up);
void round_copy(struct round *to, const struct round *from, const struct memory *memory,
                unsigned masters);
/* Gives the memory of the texts back; the votes stay. */
void round_hush(struct round *round, const struct memory *memory, unsigned masters);
void round_ask(struct round *round, unsigned master, usec now);
void round_vote(struct round *round, unsigned master, enum vote vote);
/* Where memory is out the vote counts, and its text is lost. */
void round_vote_text(struct round *round, const struct memory *memory, unsigned masters,
                     unsigned master, enum vote vote, struct slice text);
/* "": none, or it was lost. */
static inline const char *round_text(const struct round *round, unsigned master)
{
    return round->ballots[master].text == TEXT_KEPT ? round->texts[master] : "";
}
/* Closes the ballots that are overdue, and ends the grace; true if it did either.  `overdue`: for
 * each master, until when its answer is waited for. */
bool round_expire(struct round *round, unsigned masters, usec now, const usec *overdue,
                  unsigned *timeouts);
/* A quorum has answered, which `took` that long: the other masters have as long again, from the
 * first call on.  True when that is over. */
bool round_end_grace(struct round *round, usec took, usec now);
/* No more answers are awaited. */
void round_close(struct round *round, unsigned masters);
/* Masters that were asked and have not answered count as timed out. */
void round_time_out(struct round *round, unsigned masters);
/* Masters that are still connecting count as unreachable; the round is incomplete if there are
 * any. */
void round_give_up_connecting(struct round *round, unsigned masters);

/* The number of yes votes: granted, healed, released. */
unsigned round_yes(const struct round *round, unsigned masters);
/* The masters whose vote may still become a yes.  One that granted, and is storing the fence, has
 * said yes already. */
unsigned round_may_say_yes(const struct round *round, unsigned masters);
unsigned round_count(const struct round *round, unsigned masters, enum vote vote);
/* The most masters that name the same holder; one whose word was lost names none. */
unsigned round_agree_on_holder(const struct round *round, unsigned masters);
unsigned round_late(const struct round *round, unsigned masters);
unsigned round_broken(const struct round *round, unsigned masters);
/* The masters that are connecting, or asked. */
unsigned round_undecided(const struct round *round, unsigned masters);
/* Masters that were asked and have not answered. */
unsigned round_asked(const struct round *round, unsigned masters);
enum verdict round_verdict(const struct round *round, unsigned masters, unsigned quorum);

#endif
