/*
 * Agreement alone: two lists of masters, A and B, that may not be in use at once.  Clients tell the
 * masters that both lists have (the common ones) which list is theirs, and hear which came first.
 * The lists, and not the names, keep them apart here: no master grants or refuses a name.
 *
 *   order.c    what a common master keeps of the lists, and which it says came first
 *   client.c   says its list, hears a word, and decides whether it may take a lease
 *   entries.c  whether an entry of A and one of B are the same server: facts about processes
 *   lists.c    the numbers: which lists are certainly unsafe
 */
#ifndef AGREE_WORLD_H
#define AGREE_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "../questions.h"

enum { MASTERS = 5, CLIENTS = 3, SAYERS = 2, LONGEST_LIST = 9, MOST_SPARE = 3, LAST_TICK = 7 };

/* Two rollouts at the same moment; clients that stop, and records that age; clients that take back
 * what they said; a liar among the common masters.  A master restarts; lists of two fleets.  One
 * server under two names; two servers; the numbers. */
#define QUESTION_TABLE(ASK)                                                                        \
    ASK(TOGETHER)                                                                                  \
    ASK(SLEEPER)                                                                                   \
    ASK(LEAVING) ASK(LIARS) ASK(STAYS) ASK(APART) ASK(RENAMED) ASK(REPLACED) ASK(LISTS)

/* Each rule that is broken, with the question that finds it.  HARMLESS: another rule keeps it from
 * doing harm. */
#define MUTANT_TABLE(BREAK, HARMLESS)                                                              \
    BREAK(NOT_COMPARED, TOGETHER, "nobody compares the lists")                                     \
    BREAK(PLACE_BY_CLOCK, TOGETHER,                                                                \
          "a master orders the lists by its wall clock, which may be set back")                    \
    BREAK(HALF_IS_ENOUGH, TOGETHER, "as many words may be for the one list as for the other")      \
    BREAK(TAKES_UNHEARD, TOGETHER,                                                                 \
          "a client takes a lease before each connected master has answered what it said")         \
    BREAK(GRANT_WITHOUT_SAYING, SLEEPER, "a word counts for ever")                                 \
    BREAK(SOME_SAID_AGAIN, SLEEPER, "the word of one connected master may be old")                 \
    BREAK(DATED_WHEN_HEARD, SLEEPER, "a word counts from when it was heard")                       \
    BREAK(FORGOT_TOO_SOON, SLEEPER, "a master forgets a list a tick too soon")                     \
    BREAK(KEPT_FROM_FIRST, SLEEPER, "a list that is said again is not kept for longer")            \
    BREAK(FIRST_IS_SELF_TOLD, SLEEPER, "a client tells for how long its list has been in use")     \
    BREAK(TAKEN_BACK_WHILE_HELD, LEAVING, "a client takes its list back while its lease goes on")  \
    BREAK(TAKEN_BACK_FOR_ALL, LEAVING, "who takes a list back takes it back for all clients")      \
    BREAK(LIARS_UNCOUNTED, LIARS, "a majority is enough where a master may lie")                   \
    BREAK(THREE_IN_COMMON, LIARS, "with a liar, the lists have three masters in common")           \
    BREAK(ONE_WORD_REFUSES, STAYS, "a client is refused if one master says the other was first")   \
    BREAK(REFUSED_UNHEARD, STAYS, "a client is refused before the other masters have answered")    \
    BREAK(UNNAMED, STAYS, "the lists name the masters differently, and no word helps with that")   \
    BREAK(TWO_RESTART, STAYS, "two masters restart while the same words count")                    \
    BREAK(ONE_LIAR_REFUSES, APART, "the word of one is enough where a master may lie")             \
    BREAK(COMPARES_OTHER_FLEET, APART, "lists of two fleets are compared")                         \
    BREAK(YOUTH_UNALLOWED, RENAMED, "a process may be younger than what it is compared with")      \
    BREAK(DEAD_CONNECTION_COUNTS, RENAMED,                                                         \
          "a process counts though it has not answered since the other one was known to run")      \
    BREAK(UNPROVED_SAID, RENAMED,                                                                  \
          "a client says a process that has not answered since the master's last answer")          \
    BREAK(PROVED_BEFORE, RENAMED, "an answer counts that came before the master's last answer")    \
    BREAK(DATED_ON_ARRIVAL, RENAMED,                                                               \
          "a process counts as alive at the moment at which it is said")                           \
    BREAK(ASKED_WHEN_HEARD, RENAMED, "an answer proves life at the moment at which it is heard")   \
    BREAK(STARTED_WHEN_SENT, RENAMED, "the age of a process counts from when it was asked for")    \
    BREAK(UNTIL_WHEN_HEARD, RENAMED, "what a master tells counts from when it is heard")           \
    BREAK(SINCE_WHEN_SENT, RENAMED, "what a master tells counts from when it was asked for")       \
    BREAK(TWO_SERVERS, RENAMED, "the two names are of two servers, as the client must find out")   \
    HARMLESS(OLDER_RUN_REPLACES, RENAMED, "a late fact of a former process replaces a newer one")  \
    BREAK(UNHEARD_ERASES, REPLACED, "who has not heard an entry erases what others said of it")    \
    BREAK(SINCE_MOVES, REPLACED, "a process that is said again counts only from then on")          \
    BREAK(LIES_UNCOUNTED, LISTS, "a liar's run_id makes a list unsafe")                            \
    BREAK(SPARE_OF_ONE, LISTS, "the client's own spare votes are asked of both lists")

MODEL_ENUMS(QUESTION_TABLE, MUTANT_TABLE);

struct rules {
    enum question question;
    enum mutant mutant;
    int masters; /* that both lists have */
    int firsts;  /* clients of list A, of which the first clients are */
    int seconds; /* of list B; of replaced and renamed: clients that say B */
    int liars;
    int word;  /* ticks for which a word counts; 0: no time */
    int lease; /* ticks */
    int restarts;
    int ticks; /* that pass in all, of replaced and renamed */
    int closes;
    int named; /* each list names the other's masters as that does */
};

/* A master's word on the other list. */
enum answer { NO_ANSWER, ALONE, OURS_FIRST, THEIRS_FIRST };

enum list { NO_LIST, LIST_A, LIST_B };

enum phase { IN_USE, CLOSED };

enum wrong { FINE, TWO_HOLD, IS_REFUSED, LOOKS_OTHER, LOOKS_SAME };

/* Of renamed and replaced.  A moment is a tick from 1 on. */
struct fact {
    uint8_t run;
    uint8_t since, until;
};

enum stage { IDLE, SENT, CARRIED_OUT };

struct entries {
    uint8_t now;
    struct server {
        uint8_t run; /* its process; the former ones have smaller numbers */
        uint8_t started;
    } server[2];        /* of A's entry, of B's; renamed: the first is both */
    struct fact fact;   /* of B's entry, as the common master has it */
    struct fact proved; /* as it would be if each fact counted; of the story alone */
    struct sayer {
        uint8_t run;    /* of the process that it is connected to */
        bool is_proved; /* that one has answered a question asked after `told` was heard */
        uint8_t told;   /* the TIME that the master told last; 0: none */
        bool says;      /* a hello is on its way */
        uint8_t said;   /* which process it says; 0: none */
        uint8_t echo;   /* the TIME that goes with it */
    } sayer[SAYERS];
    struct looker {           /* of list A; it compares */
        uint8_t run, started; /* of A's process, and no later than then, by its own clock */
        uint8_t answered;     /* the process has answered what was asked then; 0: nothing yet */
        struct question_sent {
            uint8_t stage, sent, at; /* enum stage; when it was sent, and carried out */
        } asks, looks;               /* the process; the master */
        uint8_t begun;               /* the start that the process tells */
        struct fact told;            /* as the master tells it, on its way */
        struct fact word;            /* heard, by its own clock */
    } looker;
};

/* Of lists: one case. */
struct numbers {
    uint8_t a, b, common, spare_a, spare_b;
    uint8_t lied; /* pairs that look different, as liars have it */
};

struct world {
    struct master {
        uint8_t first;          /* enum list */
        uint8_t keeps[CLIENTS]; /* ticks for which what each client said is kept; 0: it is not */
        struct link {
            uint8_t answer;      /* on its way */
            uint8_t answer_left; /* ticks for which it may yet count */
            uint8_t word;        /* heard last */
            uint8_t word_left;
        } link[CLIENTS];
    } master[MASTERS];
    struct client {
        uint8_t phase;
        uint8_t held; /* ticks for which it may rely on a lease */
    } client[CLIENTS];
    uint8_t elder; /* enum list: which was said first of all */
    uint8_t restarts;
    struct entries entries;
    struct numbers numbers;
    uint8_t wrong; /* what the last step has broken; not packed */
};

enum act {
    SAY,
    HEAR,
    TAKE,
    RELEASE,
    CLOSE,
    UNSAY,
    RESTART,
    CONNECT,
    PROVE,
    SEND,
    CARRY_OUT,
    LOOKER_CONNECTS,
    ASK_PROCESS,
    PROCESS_ANSWERS,
    HEAR_PROCESS,
    LOOK,
    MASTER_TELLS,
    HEAR_MASTER,
    SERVER_RESTARTS,
    JUDGE,
    TICK
};

struct step {
    enum act act;
    int client, master;
    enum wrong wrong;
};

static inline int clients(const struct rules *rules)
{
    return rules->firsts + rules->seconds;
}

static inline enum list list_of(const struct rules *rules, int c)
{
    return c < rules->firsts ? LIST_A : LIST_B;
}

static inline bool is_about_entries(const struct rules *rules)
{
    return rules->question == RENAMED || rules->question == REPLACED;
}

/* The common masters that do not lie. */
static inline int honest(const struct rules *rules)
{
    return rules->masters - rules->liars;
}

static inline int least(int a, int b)
{
    return a < b ? a : b;
}

static inline int most(int a, int b)
{
    return a > b ? a : b;
}

/* Of as many masters, so that two of them share more than `spare`. */
static inline int quorum_of(int masters, int spare)
{
    return (masters + spare + 2) / 2;
}

/* ---- order.c: what a master keeps --------------------------------------------------- */

enum answer master_say(const struct rules *rules, struct world *world, int c, int i);
void master_unsay(const struct rules *rules, struct world *world, int c, int i);
void master_tick(const struct rules *rules, struct world *world, int i);
/* As if a wall had been set back meanwhile: the list that came is first. */
bool master_may_misplace(const struct rules *rules, const struct world *world, int c, int i);

/* ---- client.c ------------------------------------------------------------------------ */

void client_hear(struct world *world, int c, int i);
/* If liars support it, and tell it of nobody. */
bool client_may_take(const struct rules *rules, const struct world *world, int c);
/* If liars tell it of another list, which was first. */
bool client_is_refused(const struct rules *rules, const struct world *world, int c);
bool client_may_close(const struct rules *rules, const struct world *world, int c);

/* ---- entries.c ----------------------------------------------------------------------- */

void entries_begin(const struct visit *v);
void entries_steps(const struct visit *v);

/* ---- lists.c ------------------------------------------------------------------------- */

void lists_begin(const struct visit *v);
void lists_steps(const struct visit *v);

#endif
