/*
 * Shared and exclusive leases of one name, alone: up to three masters and three clients.  A
 * master's keys are in data.c, its requests in master.c, clients in client.c, events in steps.c and
 * request.c, and the questions in rules.c.
 */
#ifndef SHARED_WORLD_H
#define SHARED_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "../questions.h"

enum { MASTERS = 3, CLIENTS = 3, FLIGHTS = 2, ANY_NUMBER = 7, HIGHEST_CLOCK = 15 };

/* The questions.  The first two have time and no queue, the others a queue and
 * no time. */
#define QUESTION_TABLE(ASK) ASK(BACKING) ASK(CRASH) ASK(EXCLUSION) ASK(ORDER) ASK(PROGRESS)

/* Each rule that is broken, with the question that finds it.  HARMLESS: another rule keeps it from
 * doing harm. */
#define MUTANT_TABLE(BREAK, HARMLESS)                                                              \
    BREAK(EXPIRED_READER_COUNTS, CRASH, "R1: a reader is there though its score is over")          \
    BREAK(SET_NOT_DELETED, BACKING,                                                                \
          "R2: the maker of the marker keeps the readers of an earlier one")                       \
    BREAK(READERS_OWN_TTL, BACKING, "R3: the marker gets the ttl of the last who asked")           \
    BREAK(MARKER_DELETED, BACKING, "R3: a release deletes the marker beside other readers")        \
    BREAK(MARKER_LEFT, PROGRESS, "R3: the release of the last reader leaves the marker")           \
    BREAK(READER_ON_FEWER, EXCLUSION, "R4: a reader needs one master less than a quorum")          \
    BREAK(JOINS_WRITER, BACKING, "R5: a reader is let in where a writer is")                       \
    BREAK(TAKES_FROM_READERS, BACKING, "R5: a writer is let in where readers are")                 \
    BREAK(RENEWAL_CONVERTS, BACKING, "R6: each renewal of a reader converts")                      \
    BREAK(HEALS_OVER, BACKING, "R6: a renewal takes the name from somebody else")                  \
    BREAK(TAKEN_IN_QUARANTINE, CRASH, "R7: a master that abstains lets in")                        \
    BREAK(HEALED_IN_QUARANTINE, CRASH, "R7: a master that abstains heals")                         \
    BREAK(JOINED_IN_QUARANTINE, CRASH, "R7: a reader joins a marker on a master that abstains")    \
    BREAK(UPGRADED_IN_QUARANTINE, CRASH, "R7: a master that abstains upgrades its only reader")    \
    BREAK(TOKEN_UPGRADED_IN_QUARANTINE, CRASH,                                                     \
          "R7: a master that abstains says yes to an upgrade where the name has the token")        \
    BREAK(QUARANTINE_SHORT, CRASH, "R7: a master abstains for a tick less than a ttl")             \
    BREAK(RELEASED_BY_MODE, BACKING, "R8: a release takes away only what the mode stands for")     \
    BREAK(BARGING, ORDER,                                                                          \
          "R9: the first to ask takes what it can have, though others are enqueued")               \
    BREAK(WRITER_SKIPPED, ORDER, "handing over to readers passes over writers")                    \
    BREAK(DATED_FROM_ANSWER, BACKING, "a promise is dated from the answer, not from its request")  \
    BREAK(DOWNGRADE_LATE, BACKING,                                                                 \
          "the mode changes when a quorum has answered that it has converted")                     \
    BREAK(UPGRADED_BESIDE, BACKING, "an upgrade is let in beside other readers")                   \
    BREAK(UPGRADED_ON_FEWER, EXCLUSION, "one master less than a quorum upgrades")                  \
    HARMLESS(UPGRADE_WHILE_CONVERTING, BACKING,                                                    \
             "an upgrade asks where a converting request is unanswered, on the same connection")   \
    BREAK(UPGRADE_AFTER_LOST_CONVERT, BACKING,                                                     \
          "an upgrade asks where a converting request was lost")                                   \
    BREAK(RENEWAL_AFTER_LOST_CONVERT, BACKING,                                                     \
          "who was upgraded renews where a converting request was lost")                           \
    BREAK(RENEWAL_AFTER_ROLLBACK, CRASH,                                                           \
          "who was upgraded renews as a writer on a master that abstains")                         \
    BREAK(CONVERTS_WHILE_UPGRADING, BACKING,                                                       \
          "a converting request goes out while the upgrade is under way")                          \
    BREAK(ROUNDS_MIXED, BACKING, "an upgrade counts answers of an earlier round")                  \
    BREAK(SHARED_COUNTS_AS_ALONE, BACKING, "who was upgraded counts what it has as a reader")      \
    BREAK(TICKET_OF_ONE, ORDER, "a ticket is what one master said")                                \
    BREAK(NO_YIELD, PROGRESS, "a minority is kept though somebody is ahead")

MODEL_ENUMS(QUESTION_TABLE, MUTANT_TABLE);

struct rules {
    enum question question;
    enum mutant mutant;
    int masters;
    int clients;
    int ttl;
    int shorter;  /* by so much is the second client's ttl */
    int restarts; /* each master restarts once at most */
    int late;     /* how much is late, or lost; ANY_NUMBER: no matter how much */
    int changes;  /* downgrades and upgrades, of all clients */
    int clocks;   /* no master's clock goes further than that */
};

enum name { FREE, MARK, TOKEN /* + a client */, GIVEN_BACK = TOKEN + CLIENTS /* + a client */ };

enum kind { NOTHING, TAKE, RENEW, CONVERT, UPGRADE, QUEUE, RELEASE };

/* DEAD: it is still to be carried out, and its connection has ended. */
enum stage { SENT, DEAD, ANSWERED };

enum vote { REFUSED, YOURS, ALONE, ABSENT, QUEUED, AHEAD };

enum phase { NEW, TRYING, WAITING, HOLDING, UPGRADING, DONE };

enum wrong { FINE, TWO_COUNT, TWO_HOLD, RISEN, OVERTAKEN };

struct message {
    uint8_t kind;
    bool alone; /* it asks as a writer */
    uint8_t stage;
    uint8_t left;     /* of the ttl, counted from when it was sent */
    uint8_t vote;     /* what it was answered */
    bool is_of_round; /* it was sent since the last change of mode */
};

/* Times are ticks that are left.  0: it is over, or there is none. */
struct link {
    struct message flight[FLIGHTS]; /* in the order of sending */
    bool giving;                    /* a release is on its way */
    uint8_t promise;                /* the client has the name there, in whichever mode */
    uint8_t alone;                  /* it has it there as a writer */
    bool to_convert;                /* the next renewal is to convert */
    bool lost;                      /* a converting request was lost */
    bool stale;                     /* the connection is to the process before the restart */
    uint8_t told;                   /* the clock of the refusal */
    bool ahead;                     /* the master said that somebody else is ahead */
};

/* The data of a snapshot.  Sets are of clients, a bit for each. */
struct data {
    uint8_t name;
    uint8_t left;
    uint8_t members; /* set of readers */
    uint8_t ghosts;  /* set of readers: tokens that were given back */
    uint8_t score[CLIENTS];
};

struct world {
    struct master {
        struct data data, saved;
        bool has_saved, restarted;
        uint8_t quarantine;
        uint8_t clock;
        uint8_t queue;  /* set of waiters */
        uint8_t ghosts; /* set of waiters: tokens that were given back */
        struct link link[CLIENTS];
    } master[MASTERS];
    struct client {
        uint8_t phase;
        bool wants_alone; /* what it asks for to begin with */
        bool alone;       /* its mode */
        bool is_upgraded; /* it was a reader before */
        uint8_t ticket;
        uint8_t after; /* set of clients that were enqueued on a quorum before it asked first */
    } client[CLIENTS];
    uint8_t late, restarts, changes;
    uint8_t wrong; /* what the last step has broken; not packed */
};

enum act {
    ASK,
    CARRY_OUT,
    HEAR,
    RECONNECT,
    NOTICE,
    ACQUIRE,
    DOWNGRADE,
    BEGIN_UPGRADE,
    END_UPGRADE,
    FAIL_UPGRADE,
    TAKE_TICKET,
    YIELD,
    GIVE_UP,
    LEAVE,
    CARRY_OUT_RELEASE,
    LAST_OF_CLIENT = CARRY_OUT_RELEASE,
    SAVE,
    RESTART,
    TICK
};

enum fate { NOT_SENT, REQUEST_LATE, ANSWER_LATE, PROMPT };

struct step {
    enum act act;
    enum kind kind; /* ASK */
    int client;
    int master;  /* -1: all of them */
    int message; /* CARRY_OUT, HEAR: which */
    enum fate of[MASTERS];
    bool is_empty; /* RESTART: without data */
    int heard;     /* TAKE_TICKET: a set of masters */
    enum wrong wrong;
    bool honest;
};

static inline bool has_queue(const struct rules *rules)
{
    return rules->question == ORDER || rules->question == PROGRESS;
}

/* One master of several: of the others nothing is known. */
static inline bool is_of_one(const struct rules *rules)
{
    return rules->question == BACKING || rules->question == CRASH;
}

static inline uint8_t ttl_of(const struct rules *rules, int c)
{
    return rules->ttl - (c == 1 ? rules->shorter : 0);
}

/* ---- data.c --------------------------------------------------------------------- */

/* An owner is TOKEN or GIVEN_BACK, plus a client. */
static inline uint8_t bit_of(int owner)
{
    return 1 << (owner - TOKEN) % CLIENTS;
}
bool data_is_reader(const struct rules *rules, const struct data *data, int owner);
bool data_is_only_reader(const struct data *data, int owner);
bool data_has(const struct rules *rules, const struct data *data, int owner);
bool data_can_have(const struct rules *rules, const struct data *data, bool alone);
void data_give(const struct rules *rules, struct data *data, int owner, bool alone);
/* Prolongs what the owner has. */
void data_prolong(const struct rules *rules, struct data *data, int owner);
void data_take_back(const struct rules *rules, struct data *data, int owner, bool alone);
void data_tick(const struct rules *rules, struct data *data);

/* ---- master.c ------------------------------------------------------------------- */

enum vote master_take(const struct rules *rules, struct world *world, int c, int i, bool alone);
enum vote master_renew(const struct rules *rules, struct world *world, int c, int i, bool alone,
                       bool converts);
enum vote master_upgrade(const struct rules *rules, struct world *world, int c, int i);
enum vote master_queue(const struct rules *rules, struct world *world, int c, int i);
void master_release(const struct rules *rules, struct world *world, int c, int i);
void master_restart(const struct rules *rules, struct world *world, int i, bool is_empty);
void master_tick(const struct rules *rules, struct master *master);

/* ---- client.c ------------------------------------------------------------------- */

/* NOTHING: the client does not ask this master such a thing now. */
enum kind client_asks(const struct rules *rules, const struct world *world, int c, int i,
                      enum kind kind);
void client_send(const struct rules *rules, struct world *world, int c, int i, enum kind kind);
void client_hear(const struct rules *rules, struct world *world, int c, int i,
                 const struct message *message);
void client_forget_message(struct link *link, int k);
void client_reconnect(struct link *link);
void client_notice(struct link *link);
void client_downgrade(const struct rules *rules, struct world *world, int c);
void client_begin_upgrade(const struct rules *rules, struct world *world, int c);
void client_end_upgrade(const struct rules *rules, struct world *world, int c, bool is_upgraded);
void client_give_back(const struct rules *rules, struct world *world, int c, enum phase then);
bool client_has_to_yield(const struct rules *rules, const struct world *world, int c);
int client_ticket(const struct rules *rules, const struct world *world, int c, int heard);
void client_tick(const struct rules *rules, struct world *world);
/* The promises' effect at once: acquired, upgraded, lost. */
void client_settle(const struct rules *rules, struct world *world);
/* Finds out what is wrong with the world. */
void client_judge(const struct rules *rules, struct world *world);

/* ---- request.c ------------------------------------------------------------------ */

/* Visits the world that a step leads to. */
void take(const struct visit *v, struct step step, const struct world *next);
/* The client's requests to all masters, or its releases, with all that may become of them. */
void request_round(const struct visit *v, struct step step, const struct world *world);
void request_carry_out(const struct visit *v, int c, int i);
void request_hear(const struct visit *v, int c, int i);

#endif
