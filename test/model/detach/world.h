/*
 * A detach alone: a holder whose renewals are unwritten, on their way, or met a forgotten script.
 * It detaches, and hands the token to an heir, which gives it back.  The steps in the library:
 *
 *   holder.c  asks; its link writes          lease_ask(), link_send(); link_flush()
 *             hears NOSCRIPT, and repeats    ask_lease_again(), lease_ask()
 *             unless it has left
 *             detaches                       lease_leave(), then link_flush() of each link; bytes
 *                                            that a socket does not take are on their way
 *   heir.c    attaches, renews, hears        claim_new(), claim_ask(), hear_setting()
 *             gives back; again where it     come_due(), pay(), hear_release()
 *             was lost or met a forgotten
 *             script
 *   second.c  attaches when a quorum has     claim_new(), claim_ask(), hear_setting()
 *             carried the release out
 *   master.c  renews, releases, marks        renew.lua and its kin, release.lua, release_slot.lua,
 *                                            mark.lua
 *             carries out a late acquire, or   SET NX, grant.lua, queue.lua and their kin
 *             refresh of a place
 */
#ifndef DETACH_WORLD_H
#define DETACH_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "../questions.h"

enum { MASTERS = 3, RENEWALS = 2 };

/* How the heir gives it back: by the token alone, or by a lease that it took over.  AGAIN: a second
 * heir attaches behind the release by the token alone. */
#define QUESTION_TABLE(ASK) ASK(GIVEN) ASK(TAKEN) ASK(AGAIN)

/* Each rule that is broken, with the question that finds it.  HARMLESS: another rule keeps it from
 * doing harm. */
#define MUTANT_TABLE(BREAK, HARMLESS)                                                              \
    BREAK(LEFT_UNWRITTEN, GIVEN, "a detach does not write what waits in the links")                \
    BREAK(REPEATED_WHEN_LEFT, GIVEN,                                                               \
          "a renewal that met a forgotten script is repeated after the detach")                    \
    BREAK(UNMARKED, GIVEN, "a release leaves no mark")                                             \
    BREAK(HEALS_MARKED, GIVEN, "a renewal that heals does not look for the mark")                  \
    BREAK(MARKS_WHAT_IT_HAD, GIVEN, "a release leaves no mark where it finds nothing to delete")   \
    BREAK(MARK_OF_OWN_TTL, GIVEN, "the mark lasts for the ttl of the one that releases")           \
    BREAK(MARK_WITHOUT_SLACK, GIVEN, "the mark lasts for max_ttl, and no longer")                  \
    BREAK(LATE_HEALS, GIVEN, "a renewal heals however late it is")                                 \
    BREAK(RESTART_KEEPS_REQUESTS, GIVEN,                                                           \
          "a request reaches the process behind the one that it was sent to")                      \
    BREAK(WALL_SET_BACK, GIVEN,                                                                    \
          "a master's clock was set back, by a tick, since the holder connected")                  \
    BREAK(ABSENT_NOT_OWED, TAKEN,                                                                  \
          "a master that said it has nothing of the token is not asked to release")                \
    BREAK(ABSENT_PAID, TAKEN,                                                                      \
          "a master that says so while its release is under way is owed no other")                 \
    BREAK(RELEASE_NOT_REPEATED, GIVEN,                                                             \
          "a release that is lost, or met a forgotten script, is not repeated")                    \
    BREAK(PASSES_MARKED_ON, AGAIN, "the renewal of an attach does not look for the mark")          \
    BREAK(RELEASED_BY_FEW, AGAIN,                                                                  \
          "an heir attaches when one master less than a quorum has carried the release out")

MODEL_ENUMS(QUESTION_TABLE, MUTANT_TABLE);

struct rules {
    enum question question;
    enum mutant mutant;
    int masters;
    int renewals; /* of the holder that a master may still carry out at once */
    int ttl;      /* of the holder, in ticks; nobody's is longer */
};

enum owner { FREE, TOKEN, OTHERS };

/* UNHEARD: the answer NOSCRIPT is on its way back. */
enum stage { NO_REQUEST, UNWRITTEN, ON_ITS_WAY, UNHEARD };

enum answer { NOT_ASKED, ASKED, SAID_YES, SAID_ABSENT };

enum release { NOT_SENT, SENT, SAID_DONE, SAID_NOSCRIPT };

enum presence { UNSURE, PRESENT, ABSENT };

enum phase { WITHOUT_TOKEN, WITH_TOKEN, ATTACHING, HOLDING, GAVE_BACK };

enum wrong { FINE, WRITTEN_LATE, HEALED, TAKEN_OVER };

struct world {
    struct master {
        uint8_t owner;
        uint8_t mark;  /* ticks that it still lasts */
        bool released; /* the heir's release was carried out */
        bool taking;   /* a request of the holder that takes a free name is on its way */
        struct renewal {
            uint8_t stage;
            uint8_t late_in; /* ticks; 0: a master refuses it as late */
        } renewal[RENEWALS];
        struct heir_link {
            uint8_t renewal; /* enum answer */
            bool heals;
            uint8_t release;  /* enum release */
            uint8_t presence; /* as the heir knows it */
            bool owed;
        } heir;
        uint8_t second; /* enum answer: to the second heir's renewal */
    } master[MASTERS];
    bool left;     /* redlock_lease_detach() has returned */
    uint8_t heir;  /* enum phase */
    uint8_t wrong; /* what the last step has broken; not packed */
};

enum act {
    ASK,
    WRITE,
    HEAR_FORGOTTEN,
    DETACH,
    HAND_ON,
    ATTACH,
    ATTACH_SECOND,
    RENEW,
    HEAR_RENEWAL,
    GIVE_BACK,
    HEAR_RELEASE,
    CUT,
    CARRY_OUT,
    FORGET,
    CARRY_OUT_HEIRS,
    CARRY_OUT_SECONDS,
    CARRY_OUT_RELEASE,
    FORGET_RELEASE,
    LOSE,
    OTHER_TAKES,
    OTHER_GIVES_BACK,
    TAKE,
    RESTART,
    TICK
};

struct step {
    enum act act;
    int master, renewal;
    enum wrong wrong;
};

/* Of a renewal that is asked now: it counts at its last tick, too. */
static inline uint8_t whole_time(const struct rules *rules)
{
    return rules->ttl + 1 + broken(rules, WALL_SET_BACK);
}

/* ---- master.c ------------------------------------------------------------------- */

void master_renew(const struct rules *rules, struct world *world, int i, int k);
void master_renew_heirs(const struct rules *rules, struct world *world, int i);
void master_renew_seconds(const struct rules *rules, struct world *world, int i);
void master_release(const struct rules *rules, struct world *world, int i);
bool master_may_take(const struct world *world, int i);
void master_take(struct world *world, int i);
void master_restart(const struct rules *rules, struct world *world, int i);
void master_tick(const struct rules *rules, struct world *world, int i);

/* ---- holder.c ------------------------------------------------------------------- */

bool holder_may_ask(const struct rules *rules, const struct world *world, int i, int k);
void holder_ask(const struct rules *rules, struct world *world, int i, int k);
bool holder_may_write(const struct world *world, int i);
void holder_write(struct world *world, int i);
void holder_hear_forgotten(const struct rules *rules, struct world *world, int i, int k);
void holder_detach(const struct rules *rules, struct world *world);

/* ---- heir.c --------------------------------------------------------------------- */

void heir_attach(const struct rules *rules, struct world *world);
bool heir_may_give_back(const struct rules *rules, const struct world *world);
void heir_give_back(const struct rules *rules, struct world *world);
bool heir_may_renew(const struct world *world, int i);
void heir_renew(struct world *world, int i);
void heir_hear_renewal(const struct rules *rules, struct world *world, int i);
bool heir_may_hear_release(const struct world *world, int i);
void heir_hear_release(const struct rules *rules, struct world *world, int i);
/* Its connection ends: what was unanswered is lost, and what is owed is sent on the next one. */
void heir_cut(const struct rules *rules, struct world *world, int i);
/* It has given it back, and no release is on its way to the master, or owed. */
bool heir_is_done(const struct world *world, int i);

/* ---- second.c ------------------------------------------------------------------- */

bool second_may_attach(const struct rules *rules, const struct world *world);
void second_attach(const struct rules *rules, struct world *world);
bool second_holds(const struct rules *rules, const struct world *world);

#endif
