/*
 * Announcements and an observer, alone: two terms of one name, one after the other, a few masters,
 * and one observer.  The rules of a master are in master.c, those of the observer in observer.c.
 * Leaders are in leader.c, other events in steps.c, and the questions in rules.c.
 */
#ifndef OBSERVER_WORLD_H
#define OBSERVER_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "../questions.h"

enum { MASTERS = 3, TERMS = 2, VALUES = 2, MESSAGES = 3, PUSHES = 3 };

#define QUESTION_TABLE(ASK) ASK(TOLD) ASK(CRASH) ASK(PROGRESS) ASK(HANDED) ASK(TIME)

/* Each rule that is broken, with the question that finds it.  HARMLESS: another rule keeps it from
 * doing harm.
 *
 * - unsay-touches-earlier-term: an earlier announcement could come later only on a former
 * connection, which is ended.  Where it is not, the term's own end does the same
 * (former-not-ended).  The order is then lost for observers that begin later: only the name and the
 * numbers keep it (master-takes-older).  An observer that has the later value stays with it.
 * - push-from-other-process: the push is no fresh answer, and a new process abstains for as long as
 *   anything old may last.
 * - kept-over-end: likewise.  The observer asks the master as soon as it is up.
 * - older-push: the newer one comes behind it on that connection; or the connection is made anew,
 * and the observer asks the master.
 */
#define MUTANT_TABLE(BREAK, HARMLESS)                                                              \
    BREAK(ANNOUNCE_UNOWNED, TOLD,                                                                  \
          "a master says what a token announces that does not have the name")                      \
    BREAK(FORMER_NOT_ENDED, TOLD, "a new connection is used while the former one is not ended")    \
    BREAK(MASTER_TAKES_OLDER, TOLD, "an announcement replaces what is later")                      \
    BREAK(UNSAY_TOUCHES_LATER_TERM, HANDED, "a token takes back what it said in a later term")     \
    HARMLESS(UNSAY_TOUCHES_EARLIER_TERM, HANDED,                                                   \
             "a token takes back what it said in an earlier term")                                 \
    BREAK(RENEWAL_PROLONGS, TIME, "a renewal prolongs what the token has said")                    \
    BREAK(ANNOUNCED_PAST, TIME, "a lease announces after its validity has ended")                  \
    BREAK(OBSERVE_MINORITY, TOLD, "the word of one master less than a quorum is reported")         \
    BREAK(TERM_BACK, TOLD, "a value is reported that was said before the last one reported")       \
    BREAK(QUARANTINED_COUNTS, CRASH, "what a master says that abstains counts")                    \
    BREAK(NOBODY_FROM_STALE_ANSWERS, TOLD,                                                         \
          "that nothing is said is concluded from what was asked before")                          \
    BREAK(NOBODY_OF_FEW, TOLD, "that nothing is said is concluded from any number")                \
    BREAK(PUSH_IS_ANSWER, TOLD, "what a push says counts as a fresh answer")                       \
    BREAK(ANSWERED_BEFORE, TOLD,                                                                   \
          "a master that took something back is not waited for if it had answered")                \
    BREAK(UNKNOWN_AT_ONCE, TOLD, "not known is reported before all have answered")                 \
    HARMLESS(PUSH_FROM_OTHER_PROCESS, CRASH, "a push from any process counts")                     \
    HARMLESS(KEPT_OVER_END, CRASH,                                                                 \
             "what a master said is kept when its connection ends, until it is asked")             \
    BREAK(OVERTAKEN_ANSWER, PROGRESS, "an answer is taken that a push has overtaken")              \
    HARMLESS(OLDER_PUSH, PROGRESS, "a push counts though something later is known")                \
    BREAK(TAKEN_BACK_KEPT, PROGRESS, "a push that takes something back is not heard")              \
    BREAK(NOT_ASKED_AGAIN, PROGRESS, "a master that took something back is not asked")             \
    BREAK(UNHEARD_BEFORE, PROGRESS, "a master is not asked once it is subscribed")                 \
    BREAK(EXPIRED_KEPT, PROGRESS, "what a master said is known for ever")

MODEL_ENUMS(QUESTION_TABLE, MUTANT_TABLE);

struct rules {
    enum question question;
    enum mutant mutant;
    int masters;
    int values;     /* that a term announces, one after the other */
    int ends;       /* terms that end: 1 or 2 */
    int handed;     /* the second term is that of the first one's token, in the same client */
    int kills;      /* a former connection is ended before a new one is used */
    int subscribed; /* pushes are heard from the start */
    int late;       /* messages that are late, and what expires while its leader leads */
    int breaks;     /* connections of the observer that end */
    int looks;      /* at a master that it had no reason to ask */
    int restarts;   /* each master restarts once at most */
    int ttl;        /* ticks; 0: no time */
};

/* Sayings are in the order in which they may be reported. */
enum saying { NOTHING, FIRST /* + VALUES * term + number - 1 */, UNKNOWN = 7 };

/* A leader's message announces a saying, or takes a term's back. */
enum { UNSAY = FIRST + TERMS * VALUES /* + term */ };

enum name { FREE, HELD /* + term; where the token is handed on, the first one's for both */ };

enum phase { NEW, LEADS, LOST, GONE };

enum stage { NOT_ASKED, ASKED, ANSWERED };

enum state { NOT_YET, SAID, NOBODY, NOT_KNOWN };

enum wrong { FINE, OLDER, REPLACED, NEVER_SAID, IS_SAID, IS_KNOWN, TAKEN_BACK, STAYS };

enum { FOR_EVER = 7 };

struct message {
    uint8_t what;       /* 0: no message */
    uint8_t left;       /* ticks for which the master says it */
    uint8_t connection; /* earlier ones have ended */
};

/* From a client that leads to a master. */
struct link {
    struct message message[MESSAGES]; /* in the order of sending */
    uint8_t connection;
};

/* The observer's knowledge of a master. */
struct view {
    bool is_up;      /* the main connection */
    bool is_former;  /* it is, or was last, to the process before the restart */
    bool subscribed; /* the other one */
    bool is_sub_former;
    uint8_t heard; /* a saying */
    bool is_old;   /* a restarted master said so of a time before its restart */
    bool fresh;    /* it was asked for since the verification began */
    bool answered; /* a question was that was asked since then */
    bool due;
    uint8_t asked; /* enum stage */
    bool is_fresh; /* the question was asked since the verification began */
    bool overtaken;
    uint8_t answer;
    bool is_answer_old;
    uint8_t push[PUSHES]; /* on their way, in order */
    uint8_t pushes;
};

struct world {
    struct master {
        uint8_t name, name_left;
        uint8_t record, record_left; /* what is said */
        bool is_old;                 /* it was so before the restart */
        bool has_expired;            /* the last word: a client that knows it knows until when */
        bool abstains, restarted;
        bool listens;    /* it pushes changes to the observer */
        uint8_t history; /* set of sayings that its name's holder said here */
        bool steady;     /* the record is as it was when the verification began */
        struct link link[TERMS];
        struct view view;
    } master[MASTERS];
    struct leader {
        uint8_t phase;
        uint8_t number;
        uint8_t ticks; /* that it leads on; or since it does not */
    } leader[TERMS];
    struct observer {
        bool begun;
        uint8_t state;
        uint8_t latest; /* that it was reported */
        bool verifying; /* that nothing is said, or not known */
        bool well;      /* all masters are up and count since that began */
    } observer;
    uint8_t highest; /* saying that a quorum said before the observer began */
    uint8_t late, breaks, looks, restarts;
    uint8_t wrong; /* what the last step has broken; not packed */
};

enum act {
    SET,
    SAY,
    CARRY_OUT,
    BREAK,
    RESIGN,
    HAND_ON,
    TAKE,
    RENEW,
    LAST_OF_LEADER = RENEW,
    EXPIRE,
    RESTART,
    END_QUARANTINE,
    BEGIN,
    ANSWER,
    ANSWER_LATE,
    HEAR,
    HEAR_PUSH,
    FORGET,
    LOOK,
    DROP,
    COME_UP,
    SUBSCRIBE,
    UNSUBSCRIBE,
    TICK
};

struct step {
    enum act act;
    int term, master;
    int what;     /* a message, or what a restarted master has */
    bool is_late; /* the message, or the push that comes of it */
    enum wrong wrong;
    bool honest;
};

static inline uint8_t saying_of(int term, int number)
{
    return FIRST + VALUES * term + number - 1;
}

static inline int term_of(uint8_t saying)
{
    return (saying - FIRST) / VALUES;
}

static inline uint8_t token_of(const struct rules *rules, int term)
{
    return HELD + (rules->handed ? 0 : term);
}

static inline struct link *link_of(const struct rules *rules, struct world *world, int term, int i)
{
    return &world->master[i].link[rules->handed ? 0 : term];
}

/* ---- master.c ------------------------------------------------------------------- */

/* Whether the master's word has changed: observers hear of that. */
bool master_carry_out(const struct rules *rules, struct world *world, int i,
                      const struct message *message);
void master_change(struct world *world, int i, uint8_t record, uint8_t left);
void master_restart(struct world *world, int i, uint8_t record, uint8_t name);
void master_tick(struct master *master);

/* ---- observer.c ------------------------------------------------------------------ */

void observer_begin(const struct rules *rules, struct world *world);
void observer_hear(const struct rules *rules, struct world *world, int i);
void observer_push(const struct rules *rules, struct world *world, int i, uint8_t said);
void observer_subscribed(const struct rules *rules, struct world *world, int i);
void observer_expire(const struct rules *rules, struct world *world, int i);
void observer_down(const struct rules *rules, struct world *world, int i);
/* Conclusions: a report, or a question. */
void observer_work(const struct rules *rules, struct world *world);

/* ---- steps.c, leader.c ------------------------------------------------------------ */

struct step step_of(enum act act, int term, int i);
/* Visits the world that a step leads to. */
void take(const struct visit *v, struct step step, const struct world *next);
/* Like the above, once the master has changed: its push comes at once, or late. */
void take_pushed(const struct visit *v, struct step step, const struct world *next, int i);
void steps_of_leaders(const struct visit *v);

#endif
