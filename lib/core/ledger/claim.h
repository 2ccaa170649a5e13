/*
 * claim.h - one token's whole life on the masters.
 *
 * Every acquire round makes a claim with a token of its own.  The claim is the ledger of what each
 * master promised.  Once abandoned, it has what each is still owed: a release wherever the token is
 * or may be.  The release is repeated until it is answered or the last ttl must have run out (rule
 * U3).  A claim outlives its lease until nothing is owed and every request about it is answered.
 */
#ifndef REDLOCK_CORE_CLAIM_H
#define REDLOCK_CORE_CLAIM_H

#include "ground/deadlines.h"
#include "ground/names.h"

struct engine;

enum presence {
    ABSENT, /* the token is not there, and no request on its way can put it there */
    PRESENT,
    UNSURE /* a request is not answered: the token may be there */
};

enum paying { NOT_PAYING, PAYING, PAYING_WHOLE };

/* The most requests in flight that are counted.  Beyond that the count stops, and the token is
 * never taken to be absent. */
#define SETTING_MANY 127

/* One word, for there is an entry for each master of each lease.  The 50 bits of a time last for 17
 * years of the clock. */
struct ledger_entry {
    int64_t promise : 50;  /* the master keeps the names for the token until then; 0: no promise */
    uint64_t withdrew : 1; /* it voted, and had the token no more before its promise was over */
    uint64_t doubtful : 1; /* a request that converts was lost on its way there, or its answer */
    uint64_t setting : 7;  /* requests in flight that may put the token there */
    uint64_t presence : 2; /* enum presence */
    uint64_t paying : 2;   /* enum paying: the release owed is in flight */
    uint64_t owed : 1;     /* the master is owed a release */
};
_Static_assert(sizeof(struct ledger_entry) == 8, "one word");
_Static_assert(UNSURE < 4 && PAYING_WHOLE < 4 && SETTING_MANY < 128, "bits of struct ledger_entry");
_Static_assert(TOKEN_MAX < 128, "bits of a token's length");
_Static_assert(MASTERS_MAX <= 16, "a bit for each master in 16");

/* The claim itself sends releases and repeats them.  Their answers count in the round in which its
 * lease waits for them, if there is one. */
#define ROUND_OF_RELEASES 0

/* A question to one master about a claim. */
struct question {
    enum request_kind kind;
    uint32_t round;   /* the round in which the answer counts */
    usec ttl;         /* ACQUIRE, GRANT, RENEW, UPGRADE; QUEUE: the life of the place; RELEASE: for
                         how long no renewal heals, or 0 */
    bool heal;        /* RENEW */
    uint16_t permits; /* GRANT, QUEUE of a slot */
    uint16_t tokens_told; /* PEEK: see struct request */
    usec not_after;       /* RENEW: our clock; 0: no limit */
    usec proposal;        /* GRANT, UPGRADE: see struct request */
    usec fence;           /* RAISE */
    usec ticket;          /* QUEUE */
    bool whole;           /* send the script's text, not its hash */
};

#define HANDED_COUNT_MAX 127

struct claim {
    struct claim *prev, *next; /* of the abandoned claims; of its bucket while it is enqueued */
    struct claim **home; /* the pointer by which its lease has it, cleared when it is freed; NULL:
                            no lease wants its answers.  See lease_of_claim() */
    struct names *names;
    union {
        usec taken_at;   /* held: when this client got the names from the masters; since an upgrade,
                            when that was asked for */
        usec not_before; /* abandoned: until then no release is owed; 0: now */
    };
    int64_t last_end : 52;     /* when the token's last ttl must have run out */
    uint64_t token_length : 7; /* of the bytes behind at[]: without our label */
    uint64_t abandoned : 1;
    uint64_t foreign : 1;    /* the token was given: the ttl that it was taken with is not known */
    uint64_t enqueued : 1;   /* it is or was enqueued on the masters: it is found by its token */
    uint64_t timed : 1;      /* abandoned: it has a place among the deadlines */
    uint64_t moves : 1;      /* another client of this process was asked to take it over */
    uint32_t in_flight : 19; /* requests not yet answered */
    uint32_t not_held : 1;   /* the token was given, and its lease has not acquired it */
    uint32_t withdrawn : 1;  /* more masters withdrew their promise than may be wrong */
    uint32_t
        forgotten : 1;     /* abandoned, and owed to no master: its token may be another's by now */
    uint32_t handed : 7;   /* how often it was handed over within this client */
    uint32_t mode : 2;     /* enum lease_mode: in which its lease has the names */
    uint32_t converts : 1; /* its renewals convert: a master may have the names for the token
                              alone, while the lease has them shared */
    struct deadline deadline;
    struct ledger_entry at[];
};

/* Makes a claim on `names` for a lease that has it as *home; with a token that was acquired
 * elsewhere, or, if `token` is NULL, with none yet.  False, and *home is NULL, when memory is
 * out. */
bool claim_new(struct engine *engine, struct claim **home, struct names *names, const char *token,
               size_t token_length);
/* The claim goes from its lease to another one, which has none. */
void claim_pass(struct claim **from, struct claim **to);

/* Draws a fresh token of our own: random bytes in base64url, then the engine's label. */
void claim_fresh_token(struct engine *engine, struct claim *claim);

/* Another client of this process is asked to take it over. */
void claim_expect_other_askers(const struct engine *engine, struct claim *claim);

/* For a mutant that uses an old token again. */
void claim_copy_token(const struct engine *engine, struct claim *claim, const struct claim *from);

/* The claim is enqueued from now on: a master may set its token whenever its turn comes. */
void claim_enqueue(struct engine *engine, struct claim *claim);
/* The claim that is or was enqueued with this token; NULL if there is none. */
struct claim *claim_enqueued(const struct engine *engine, struct slice token);
/* The master has set the token by itself, after `from`, for `ttl`.  `wanted` is the ttl of the
 * lease that has the claim now: the promise is for no longer. */
void claim_note_promise(struct engine *engine, struct claim *claim, unsigned master, usec from,
                        usec ttl, usec wanted);
/* Its lease has acquired it: from now on nobody else gives it back, as far as is known. */
void claim_note_taken(const struct engine *engine, struct claim *claim);
/* Its lease asks for `ttl` only: from now on the claim is promised for no longer. */
void claim_shorten(struct engine *engine, struct claim *claim, usec ttl);

/* Writes the token; "" if none is drawn yet. */
void claim_token(const struct engine *engine, const struct claim *claim, char token[TOKEN_MAX + 1]);

void claim_ask(struct engine *engine, struct claim *claim, unsigned master,
               const struct question *question);

/* Takes an answer into the ledger, also if no lease waits for it.  `wanted`: the ttl of the lease
 * for which the promise counts; 0: the answer comes too late for that, or it does not count for a
 * writer.  True if the release was
 * sent once more.  The claim stays until claim_answered() follows. */
bool claim_hear(struct engine *engine, struct claim *claim, unsigned master,
                const struct reply *reply, usec wanted);

/* Ends the request.  Frees an abandoned claim of which nothing is left. */
void claim_answered(struct engine *engine, struct claim *claim);

/* Gives the claim up: from `not_before` on, each master where the token is or may be is owed a
 * release.  Returns the masters (bits) to which one was sent at once.  Frees the claim if nothing
 * is to be done; its lease then has none. */
uint16_t claim_abandon(struct engine *engine, struct claim *claim, usec not_before);

/* Gives the claim up without releasing anything. */
void claim_forget(struct engine *engine, struct claim *claim);

/* Parts a lease from its claim, which must have been abandoned. */
void claim_let_go(struct claim **home);

/* Frees the claim in any state: the engine is ending. */
void claim_drop(struct engine *engine, struct claim *claim);

/* Its deadline has come; or it has none, as memory was out.  Returns the masters (bits) to which a
 * release was sent. */
uint16_t claim_wake(struct engine *engine, struct claim *claim);

/* Sends the master the release that it is owed, if it is up.  True if it was sent. */
bool claim_pay(struct engine *engine, struct claim *claim, unsigned master);

/* All that is owed is owed to masters that were given up, and a quorum of others is free of it. */
bool claim_is_past_help(const struct engine *engine, const struct claim *claim);

/* Until when a quorum of masters has promised the names. */
usec claim_valid_until(const struct engine *engine, const struct claim *claim);
/* The number of masters whose promise stands, as far as is known; one that is not up does not
 * count. */
unsigned claim_health(const struct engine *engine, const struct claim *claim);

/* ---- modes.c: a claim whose lease has changed the mode of its names ------------ */

/* A downgrade or an upgrade was asked for, at any time.  One test for all the others, which are
 * many. */
static inline bool claim_was_changed(const struct claim *claim)
{
    return claim->mode != MODE_AS_NAMED || claim->converts;
}

/* Its lease has the names shared from now on: its renewals say so to each master. */
void claim_downgrade(struct claim *claim);
/* An upgrade was asked for in vain; masters may have made the names the token's alone. */
void claim_end_vain_upgrade(struct claim *claim);
/* These masters (bits) keep the names for the token alone, as they have just said; the promises of
 * the others were those of a reader, and are over. */
void claim_end_upgrade(const struct engine *engine, struct claim *claim, uint16_t masters,
                       usec asked_at);
/* A name is shared; all of them are. */
bool claim_is_shared(const struct claim *claim);
bool claim_is_all_shared(const struct claim *claim);

/* Others may have given the token back, and a master that has come up with older data may have it
 * again.  So the word of a master that abstains is no evidence. */
static inline bool claim_may_be_given_back(const struct claim *claim)
{
    return claim->not_held || claim->withdrawn;
}

/* A yes of this master counts for the mode in which its lease has the names now.  One test for most
 * claims, for which each yes counts. */
bool claim_weighs(const struct engine *engine, const struct claim *claim, unsigned master,
                  const struct reply *reply);
static inline bool claim_counts(const struct engine *engine, const struct claim *claim,
                                unsigned master, const struct reply *reply)
{
    bool any_counts = claim->mode != MODE_EXCLUSIVE && !claim_may_be_given_back(claim);
    return any_counts || claim_weighs(engine, claim, master, reply);
}

#endif
