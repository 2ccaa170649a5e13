/*
 * claim.h - one token's whole life on the masters.
 *
 * Every acquire round makes a claim with a token of its own.  The claim is the
 * ledger of what each master promised and, once abandoned, of what each is still
 * owed: a release wherever the token is or may be, repeated until answered or
 * until the last ttl must have run out (DESIGN section 5).  It outlives its lease
 * until nothing is owed and every request about it was answered.
 */
#ifndef REDLOCK_CORE_CLAIM_H
#define REDLOCK_CORE_CLAIM_H

#include "deadlines.h"
#include "names.h"

struct engine;

enum presence {
    ABSENT, /* the token is not there, and nothing on its way can put it there */
    PRESENT,
    UNSURE /* asked, and not answered: it may be there */
};

enum paying { NOT_PAYING, PAYING, PAYING_WHOLE };

/* In flight at once; from then on they are not counted any more, and the token is
 * never said to be absent. */
#define SETTING_MANY 127

/* In one word, for there is one for each master of each lease.  The 52 bits of a time
 * last for 71 years of the clock. */
struct standing {
    int64_t promise : 52;  /* the master stands by us until then; 0: it does not */
    uint64_t setting : 7;  /* requests in flight that may put the token there */
    uint64_t presence : 2; /* enum presence */
    uint64_t paying : 2;   /* enum paying: the release owed is in flight */
    uint64_t owed : 1;     /* a release */
};
_Static_assert(sizeof(struct standing) == 8, "one word");

/* What to ask one master about a claim. */
struct question {
    enum request_kind kind;
    uint32_t round; /* 0: nobody counts the answer */
    usec ttl;       /* ACQUIRE, GRANT, RENEW; QUEUE: how long it stands unheard of */
    bool heal;      /* RENEW */
    usec not_after; /* RENEW: our clock; 0: no limit */
    usec proposal;  /* GRANT: see struct request */
    usec fence;     /* RAISE */
    usec ticket;    /* QUEUE */
    bool whole;     /* send the script itself */
};

struct claim {
    struct claim *prev, *next; /* of the engine's abandoned claims, or of its bucket if it stands */
    struct lease *lease;       /* that wants to hear of it; NULL: none */
    struct names *names;
    union {
        usec taken_at;   /* held: when this client got it from the masters */
        usec not_before; /* abandoned: nothing is owed before that; 0: now it is */
    };
    int64_t last_end : 52;     /* by then the token's last ttl must have run out */
    uint64_t token_length : 7; /* of what follows at[]: without the label, if it is ours */
    uint64_t abandoned : 1;
    uint64_t foreign : 1;    /* token given: the ttl that it was taken with is not known */
    uint64_t stands : 1;     /* in line, or did: is found by its token */
    uint64_t timed : 1;      /* abandoned: has a place among the deadlines */
    uint32_t in_flight : 24; /* requests not yet answered */
    uint32_t handed : 8;     /* times that it was handed over within this client */
    struct deadline deadline;
    struct standing at[];
};

/* A claim on `names` with the token given; NULL when memory is out. */
struct claim *claim_new(struct engine *engine, struct names *names, const char *token,
                        size_t token_length);

/* A fresh token of our own: random, in base64url, then the engine's label. */
void claim_fresh_token(struct engine *engine, struct claim *claim);

/* What a mutant does with an old token. */
void claim_copy_token(const struct engine *engine, struct claim *claim, const struct claim *from);

/* It stands in line from now on: a master may set its token whenever it gets there. */
void claim_stand(struct engine *engine, struct claim *claim);
/* The claim that stands, or stood, with this token; NULL if there is none. */
struct claim *claim_standing(const struct engine *engine, const char *token, size_t length);
/* The master has set the token by itself, after `from`, for `ttl`. */
void claim_promised(struct engine *engine, struct claim *claim, unsigned master, usec from,
                    usec ttl);

/* The token; "" if it is not drawn yet. */
void claim_token(const struct engine *engine, const struct claim *claim, char token[TOKEN_MAX + 1]);

void claim_ask(struct engine *engine, struct claim *claim, unsigned master,
               const struct question *question);

/* Takes in an answer, whether or not anybody still waits for it.  `counts`: its
 * promise may still be entered into the ledger.  The claim stays, whatever is done
 * with it, until claim_answered() follows. */
void claim_hear(struct engine *engine, struct claim *claim, unsigned master,
                const struct reply *reply, bool counts);

/* The request is done with.  Frees an abandoned claim of which nothing is left. */
void claim_answered(struct engine *engine, struct claim *claim);

/* Gives it up: from `not_before` on, each master where the token is or may be is
 * owed a release.  This call frees it if there is nothing to do; its lease then has
 * no claim. */
void claim_abandon(struct engine *engine, struct claim *claim, usec not_before);

/* Forgets it without releasing anything. */
void claim_forget(struct engine *engine, struct claim *claim);

/* Lease and claim have nothing to do with each other any more.  Only once it was
 * abandoned. */
void claim_let_go(struct lease *lease);

/* Frees it, whatever its state: the engine is ending. */
void claim_drop(struct engine *engine, struct claim *claim);

/* Its deadline has come. */
void claim_wake(struct engine *engine, struct claim *claim);

/* The same for those that have none, as memory was out. */
void claims_look_again(struct engine *engine);

/* Master came up: sends what it is owed. */
void claims_pay(struct engine *engine, unsigned master);

/* Until when a quorum of masters stands by it. */
usec claim_valid_until(const struct engine *engine, const struct claim *claim);
/* Masters that stand by it now, as far as known: one that is gone does not. */
unsigned claim_health(const struct engine *engine, const struct claim *claim);

#endif
