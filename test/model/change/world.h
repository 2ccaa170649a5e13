/*
 * A change of masters alone: a chain of three lists, of which only neighbours may meet.  Two
 * clients take one name, and move what they hold from list to list.  A tool says of the first list
 * that it is over, and lets the third one be used when nothing rests on the first.
 *
 *   master.c  keeps a name, who says the first list, and whether that list is over
 *   client.c  says its list, asks for the name, holds it, moves it
 *   tool.c    ends the first list, waits, and opens the third
 */
#ifndef CHANGE_WORLD_H
#define CHANGE_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "../questions.h"

enum { MASTERS = 4, CLIENTS = 2, LISTS = 3, LEDGERS = 2 };

/* When the tool opens the third list: after a time; as soon as nobody says the first one.  In the
 * last ones the lists have 3, 4 and 3 masters, and one may restart without data. */
#define QUESTION_TABLE(ASK) ASK(WAITED) ASK(EMPTIED) ASK(WIDE) ASK(RESTARTED)

/* Each rule that is broken, with the question that finds it.  HARMLESS: another rule keeps it from
 * doing harm. */
#define MUTANT_TABLE(BREAK, HARMLESS)                                                              \
    BREAK(ENDED_ON_FEWER, WIDE, "one master less than a quorum says that the list is over")        \
    BREAK(OPENED_AT_ONCE, WAITED, "nothing is waited for")                                         \
    BREAK(WAITED_FOR_WORDS, WAITED, "the wait is as long as a word counts")                        \
    BREAK(WAITED_FOR_LEASES, WAITED, "the wait is as long as a lease")                             \
    BREAK(EMPTY_ON_ONE, WIDE, "one master that nobody says the list to is enough")                 \
    BREAK(EMPTY_WITHOUT_END, EMPTIED,                                                              \
          "masters that do not know that the list is over count as empty")                         \
    BREAK(SAID_THOUGH_OVER, EMPTIED, "a list that is over has words that count")                   \
    BREAK(PROMISED_WITHOUT_WORD, WAITED, "a promise counts without a word of its master")          \
    BREAK(TAKEN_BACK_WHILE_HELD, EMPTIED,                                                          \
          "a client takes its list back while a lease rests on it")                                \
    BREAK(TAKEN_BACK_IN_WORDS, EMPTIED, "after taking its list back a client counts on it still")  \
    BREAK(KEPT_FOR_WORDS, EMPTIED,                                                                 \
          "masters remember who says a list for as long as a word counts")                         \
    BREAK(MOVED_FEW, EMPTIED, "a lease is moved by one promise less than a quorum")                \
    BREAK(MOVED_LATE, WAITED, "a lease is moved after it was over by the former list")             \
    BREAK(RELEASED_ON_ALL, WAITED,                                                                 \
          "the moved lease is released on all masters of the former list")                         \
    BREAK(RESTART_UNCOUNTED, RESTARTED, "a quorum is enough, whatever restarts")                   \
    HARMLESS(RESTART_IS_EMPTY, RESTARTED, "a master that has restarted, and forgotten, is empty")  \
    BREAK(NO_QUARANTINE, WAITED, "a master that has restarted grants at once")

MODEL_ENUMS(QUESTION_TABLE, MUTANT_TABLE);

struct rules {
    enum question question;
    enum mutant mutant;
    int masters;  /* of the second list; the first lacks the last of them, the third the first */
    int ttl;      /* in ticks */
    int word;     /* for which a word counts, in ticks */
    int restarts; /* of masters, without data */
};

/* FREE or 1 + the client. */
enum { FREE };

/* The last two only if a rule is broken: its lease is over, and it moves it all the same; another
 * has held the name since. */
enum state { ASKS, HOLDS, IS_LATE, IS_TOO_LATE };

enum wrong { FINE, TWO_HOLD, HELD_BETWEEN };

struct world {
    struct master {
        uint8_t lists; /* that have it: a set */
        uint8_t owner, owned_for;
        uint8_t abstains_for;
        bool over; /* so the first list is */
        struct link {
            uint8_t said_for; /* the master remembers that the client says the first list */
            uint8_t word_for; /* its word for that counts */
            uint8_t promise[LEDGERS];
        } link[CLIENTS];
    } master[MASTERS];
    struct client {
        uint8_t state;
        uint8_t list; /* of its ledger; it may fill one of the next list, too */
    } client[CLIENTS];
    uint8_t wait; /* of the tool: 0: it has not begun, 1: it is over */
    bool open;    /* the third list may be used */
    uint8_t restarts;
    uint8_t wrong; /* what the last step has broken; not packed */
};

enum act { START, SAY, ASK, ATTACH, HOLD, MOVE, RELEASE, TAKE_BACK, END, OPEN, RESTART, TICK };

struct step {
    enum act act;
    int client, master; /* of a START the list */
    enum wrong wrong;
};

/* For which a master remembers what was said: no promise outlives it. */
static inline uint8_t kept_for(const struct rules *rules)
{
    return rules->word + rules->ttl;
}

static inline bool has_master(const struct world *world, int list, int i)
{
    return world->master[i].lists >> list & 1;
}

/* Of a list. */
unsigned quorum_of(const struct rules *rules, int list);

/* ---- master.c ------------------------------------------------------------------------------- */

void master_say(const struct rules *rules, struct world *world, int c, int i);
/* Asks it for the name, for a ledger of the client. */
void master_ask(const struct rules *rules, struct world *world, int c, int i, int ledger);
void master_give_back(struct world *world, int c, int i);
void master_restart(const struct rules *rules, struct world *world, int i);
void master_tick(struct world *world, int i);

/* ---- client.c ------------------------------------------------------------------------------- */

/* Another process in place of the former one, which has ended. */
void client_start(const struct rules *rules, struct world *world, int c, int list);
void client_hold(struct world *world, int c);
bool client_may_hold(const struct rules *rules, const struct world *world, int c);
bool client_may_attach(const struct world *world, int c);
bool client_may_move(const struct rules *rules, const struct world *world, int c);
void client_move(const struct rules *rules, struct world *world, int c);
void client_release(const struct rules *rules, struct world *world, int c);
bool client_may_take_back(const struct rules *rules, const struct world *world, int c);
void client_take_back(const struct rules *rules, struct world *world, int c, int i);
/* It notices that a lease is over. */
void client_tick(const struct rules *rules, struct world *world, int c);

/* ---- tool.c --------------------------------------------------------------------------------- */

void tool_end(const struct rules *rules, struct world *world, int i);
bool tool_may_open(const struct rules *rules, const struct world *world);
void tool_notice_restart(const struct rules *rules, struct world *world);

#endif
