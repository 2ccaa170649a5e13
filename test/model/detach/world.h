/*
 * A detach alone: a holder whose renewals are unwritten, on their way, or met a forgotten script;
 * it detaches, and hands the token to an heir, which gives it back.  holder.c has the rules of the
 * one, heir.c those of the other, master.c those of a master, steps.c what can happen, and rules.c
 * the questions.
 */
#ifndef DETACH_WORLD_H
#define DETACH_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "../questions.h"

enum { MASTERS = 3, RENEWALS = 2 };

enum mutant {
    NONE,
    LEFT_UNWRITTEN,
    REPEATED_WHEN_LEFT,
    UNMARKED,
    HEALS_MARKED,
    MARKS_WHAT_IT_HAD,
    MARK_OF_OWN_TTL,
    MARK_WITHOUT_SLACK,
    LATE_HEALS,
    RESTART_KEEPS_REQUESTS,
    WALL_SET_BACK,
    ABSENT_NOT_OWED,
    ABSENT_PAID,
    RELEASE_NOT_REPEATED,
    MUTANTS
};

/* How the heir gives it back: by the token alone, or by a lease that it took over. */
enum question { GIVEN, TAKEN, QUESTIONS };

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

enum wrong { FINE, WRITTEN_LATE, HEALED };

struct world {
    struct master {
        uint8_t owner;
        uint8_t mark;  /* ticks that it still lasts */
        bool released; /* the heir's release was carried out */
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
    } master[MASTERS];
    bool left;     /* redlock_detach() has returned */
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
    RENEW,
    HEAR_RENEWAL,
    GIVE_BACK,
    HEAR_RELEASE,
    CUT,
    CARRY_OUT,
    FORGET,
    CARRY_OUT_HEIRS,
    CARRY_OUT_RELEASE,
    FORGET_RELEASE,
    LOSE,
    OTHER_TAKES,
    OTHER_GIVES_BACK,
    RESTART,
    TICK
};

struct step {
    enum act act;
    int master, renewal;
    enum wrong wrong;
};

static inline bool broken(const struct rules *rules, enum mutant mutant)
{
    return rules->mutant == mutant;
}

static inline int quorum(const struct rules *rules)
{
    return rules->masters / 2 + 1;
}

/* Of a renewal that is asked now: it counts at its last tick, too. */
static inline uint8_t whole_time(const struct rules *rules)
{
    return rules->ttl + 1 + broken(rules, WALL_SET_BACK);
}

/* ---- master.c ------------------------------------------------------------------- */

void master_renew(const struct rules *rules, struct world *world, int i, int k);
void master_renew_heirs(const struct rules *rules, struct world *world, int i);
void master_release(const struct rules *rules, struct world *world, int i);
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

/* ---- what a model has to do: steps.c, pack.c ------------------------------------- */

void detach_begin(const void *rules, model_visit *visit, void *visitor);
void detach_steps(const void *rules, const void *world, model_visit *visit, void *visitor);
void detach_pack(const void *rules, const void *world, uint64_t *words);
void detach_unpack(const void *rules, const uint64_t *words, void *world);

/* ---- rules.c, story.c -------------------------------------------------------------- */

extern const struct mutant_text mutant_texts[MUTANTS];
extern const char *const question_names[QUESTIONS];
struct rules rules_for(enum question question, enum mutant mutant);
void story_print(const struct search *search);

#endif
