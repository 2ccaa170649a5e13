/*
 * Waiting and handing over alone: up to three masters, a holder and a few waiters.  The rules of a
 * master are in master.c, those of a waiter in client.c, every step in steps.c, and the questions
 * in rules.c.
 */
#ifndef WAITING_WORLD_H
#define WAITING_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "../questions.h"

enum { MASTERS = 3, WAITERS = 3, ANY_NUMBER = 7, HIGHEST_CLOCK = 15 };

/* The questions; each looks at a part of the world closely, and leaves out the rest. */
#define QUESTION_TABLE(ASK) ASK(BACKING) ASK(EXCLUSION) ASK(PROGRESS) ASK(ORDER) ASK(FENCES)

/* Each rule that is broken, with the question that finds it.  HARMLESS: another rule keeps it from
 * doing harm.
 *
 * - kept-though-queued: a master that says "queued" has lost the key that it gave, or another
 * process gave it.  The promise is over by then, or the master abstains for as long as it lasts.
 * - refresh-of-another-process: a former process's refresh dates no push once the main connection
 *   knows the new process, which abstains for at least a life.  The rule is needed only where the
 *   quarantine was lifted by hand, which the model lacks.
 */
#define MUTANT_TABLE(BREAK, HARMLESS)                                                              \
    BREAK(PUSH_OF_ANOTHER_PROCESS, EXCLUSION,                                                      \
          "a push counts, whichever process of the master it is from")                             \
    BREAK(PUSH_DATED_FROM_ARRIVAL, EXCLUSION, "what a push gives is dated from its arrival")       \
    BREAK(PUSH_DATED_FROM_REQUEST, EXCLUSION,                                                      \
          "what a push gives is dated from the last refresh, answered or not")                     \
    BREAK(OLD_PUSH_COUNTS, EXCLUSION, "a push counts though the master has said more since")       \
    BREAK(ANSWER_DATED_FROM_ARRIVAL, EXCLUSION,                                                    \
          "a promise is dated from the answer, not from its request")                              \
    BREAK(EXPIRED_COUNTS, EXCLUSION, "an expired grant counts until it is taken back")             \
    BREAK(QUARANTINE_IGNORED, EXCLUSION, "a grant of a master that abstains counts")               \
    BREAK(QUARANTINE_SHORT, EXCLUSION, "a master abstains for a tick less than a ttl")             \
    BREAK(YIELD_SAME_TOKEN, EXCLUSION, "a waiter that yields is enqueued with the same token")     \
    BREAK(MINORITY_COUNTS, EXCLUSION, "one master less than a quorum is enough")                   \
    BREAK(HANDED_OVER_SHORTER, EXCLUSION,                                                          \
          "a name that is handed over is kept for a tick less than the waiter lives")              \
    BREAK(HANDED_OVER_THOUGH_TAKEN, EXCLUSION,                                                     \
          "a release gives away a name that another token has")                                    \
    BREAK(NO_YIELD, PROGRESS, "a minority is kept though another waiter is ahead")                 \
    BREAK(MINORITY_KEPT_WHEN_CUT, PROGRESS,                                                        \
          "a waiter that reaches only a minority is enqueued there, and keeps it")                 \
    BREAK(ARRIVAL_ORDER, ORDER, "masters keep the order of arrival, not of tickets")               \
    BREAK(TICKET_OF_ONE, ORDER, "a ticket is the clock of one master")                             \
    BREAK(TICKET_MINIMUM, ORDER, "a ticket is the smallest clock of the answers")                  \
    BREAK(ENQUEUING_MOVES_NO_CLOCK, ORDER, "enqueuing does not advance the clock")                 \
    BREAK(BARGING, ORDER, "a free name goes to the first that asks, past all waiters")             \
    BREAK(FENCE_ON_LATER_GRANT, FENCES,                                                            \
          "any quorum of grants completes the lease, also later ones")                             \
    BREAK(FENCE_UNSTORED, FENCES, "the fence is reported before it is stored")                     \
    BREAK(FENCE_MINIMUM, FENCES, "the fence is the smallest grant")                                \
    HARMLESS(KEPT_THOUGH_QUEUED, BACKING,                                                          \
             "a promise stays though the master says that the name is not ours")                   \
    HARMLESS(REFRESH_OF_ANOTHER_PROCESS, BACKING,                                                  \
             "a push is dated from a refresh of the process before")

MODEL_ENUMS(QUESTION_TABLE, MUTANT_TABLE);

struct rules {
    enum question question;
    enum mutant mutant;
    int masters;
    int waiters;
    int life;     /* how long a place, and a grant to it, lasts */
    int ttl;      /* of the holder */
    int restarts; /* each master restarts once at most */
    int late;     /* how much is late, or lost; ANY_NUMBER: no matter how much */
    int cuts;     /* links of waiters to masters that are cut, for good */
    int down;     /* masters that no waiter reaches */
    int rounds;   /* all masters are asked in one step; else one after the other */
    int clocks;   /* no master's clock goes further than that */
};

enum owner { FREE, HOLDER, TOKEN /* + a waiter */, GIVEN_BACK = TOKEN + WAITERS /* + a waiter */ };

/* Messages between a waiter and a master on the main connection. */
enum way { NOTHING, ASKED, VOTE_QUEUED, VOTE_YOURS, VOTE_AHEAD, VOTE_REFUSED };

enum phase { NEW, WAITING, STORING, HOLDING, DONE };

enum wrong { FINE, TWO_HOLD, TWO_COUNT, OVERTAKEN, FENCE_BACKWARDS };

/* Times are ticks that are left.  0: it is over, or there is none. */
struct link {
    /* At the master. */
    uint8_t record; /* the waiter is enqueued */
    uint8_t ghost;  /* so does a token that it has given back */
    uint8_t place;  /* with ARRIVAL_ORDER only */
    /* On its way. */
    uint8_t way;
    uint8_t left;     /* of a life, counted from when the request was sent */
    uint8_t clock;    /* the clock that the answer tells */
    uint8_t push;     /* the clock that the push tells; 0: no push */
    bool push_is_old; /* it comes from the process before the restart */
    bool giving;      /* a release, for what was given back */
    bool raising;
    /* At the waiter. */
    uint8_t refreshed; /* of a life, counted from the sending of the last request that was answered
                      "queued" */
    uint8_t promise;   /* how long it has the name */
    uint8_t told;      /* the clock that the master told last */
    bool ahead;        /* the master said that another waiter is ahead */
    bool stale;        /* the main connection is to the process before the restart */
    bool cut;
    bool backs; /* its grant was no higher than the fence, and has been kept ever since */
};

struct world {
    struct master {
        uint8_t owner;
        uint8_t left;
        uint8_t clock;
        uint8_t quarantine;
        bool restarted;
        bool giving; /* the holder's release is on its way */
        struct link link[WAITERS];
    } master[MASTERS];
    struct waiter {
        uint8_t phase;
        uint8_t ticket;
        uint8_t after; /* set of waiters that were enqueued on a quorum before it first asked */
        uint8_t fence;
    } waiter[WAITERS];
    uint8_t holds; /* how long the holder counts */
    uint8_t late, restarts, cuts;
    uint8_t top;   /* the highest fence told */
    uint8_t wrong; /* what the last step has broken; not packed */
};

/* Steps of waiters, steps of masters, and the others. */
enum act {
    EXCHANGE,
    ASK_FIRST,
    SEND,
    CARRY_OUT,
    HEAR,
    HEAR_PUSH,
    YIELD,
    GIVE_UP,
    RELEASE,
    CARRY_OUT_RELEASE,
    NOTICE,
    CUT,
    TAKE_TICKET,
    FIX_FENCE,
    CARRY_OUT_RAISE,
    TELL_FENCE,
    LAST_OF_WAITER = TELL_FENCE,
    RESTART,
    HOLDER_RELEASES,
    CARRY_OUT_HOLDERS_RELEASE,
    HOLDERS_KEY_EXPIRES,
    TICK
};

enum snapshot { EMPTY, SAME, OLDER, SNAPSHOTS };

/* The fate of a request, at one master. */
struct fate {
    enum fates { NOT_SENT, LOST, REQUEST_LATE, ANSWER_LATE, PUSH_LATE, BOTH_LATE, PROMPT } fate;
    int pushed; /* 1 + the waiter that the master gives the name to; 0: none */
};

struct step {
    enum act act;
    int waiter;
    int master; /* -1: all of them */
    struct fate of[MASTERS];
    enum snapshot snapshot;
    int heard; /* TAKE_TICKET: a set of masters */
    enum wrong wrong;
    bool honest;
};

/* Whether a rule is broken. */
/* ---- master.c ------------------------------------------------------------------- */

/* Each returns 1 + the waiter that the master gives the name to, if any. */
int master_queue(const struct rules *rules, struct world *world, int w, int i);
int master_grant(const struct rules *rules, struct world *world, int w, int i);
int master_release(const struct rules *rules, struct world *world, int w, int i);
int master_holders_release(const struct rules *rules, struct world *world, int i);
bool master_raise(struct world *world, int w, int i);
void master_restart(const struct rules *rules, struct world *world, int i, enum snapshot);
void master_tick(struct master *master);

/* ---- client.c ------------------------------------------------------------------- */

bool client_may_ask(const struct rules *rules, const struct world *world, int w, int i);
bool client_reaches_quorum(const struct rules *rules, const struct world *world, int w);
void client_hear(const struct rules *rules, struct world *world, int w, int i);
/* The push is of no use, now or later. */
bool client_drops_push(const struct rules *rules, const struct world *world, int w, int i);
bool client_takes_push(const struct rules *rules, const struct world *world, int w, int i);
void client_hear_push(const struct rules *rules, struct world *world, int w, int i);
void client_give_back(const struct rules *rules, struct world *world, int w, enum phase then);
void client_cut(struct link *link);
void client_notice(const struct rules *rules, struct link *link);
bool client_has_to_yield(const struct rules *rules, const struct world *world, int w);
int client_promises(const struct rules *rules, const struct world *world, int w);
bool client_has_anything(const struct rules *rules, const struct world *world, int w);
void client_tick(const struct rules *rules, struct world *world);
void client_acquire(const struct rules *rules, struct world *world, int w);
int client_ticket(const struct rules *rules, const struct world *world, int w, int heard);

/* ---- request.c ------------------------------------------------------------------ */

/* Visits the world that a step leads to. */
void take(const struct visit *v, struct step step, const struct world *next);
/* Whether one more message may be late; then it is counted. */
bool be_late(struct world *next);
/* A refresh of the step's waiter, or the releases of a waiter or the holder, to the step's
 * master or to all, with all that may become of them. */
void request_each(const struct visit *v, struct step step, const struct world *world);

/* ---- fenced.c ------------------------------------------------------------------- */

void fenced_fix(const struct rules *rules, struct world *world, int w);
bool fenced_may_tell(const struct rules *rules, const struct world *world, int w);
void fenced_tell(const struct rules *rules, struct world *world, int w);

#endif
