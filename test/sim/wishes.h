/*
 * wishes.h - users who ask holders to let go, or break their leases, and holders that heed.
 *
 * - wish: a holder hears of a wish once, and only of one that another process said, about this
 * name, to its token, since it heeds.  More masters said so than may be wrong.  A push counts when
 * it comes.  A wish has one id, and changes no key of a lease.
 * - unheard: where nothing goes wrong, a holder hears of a wish that more masters have for it than
 *   may be wrong, within the time between two questions.  Some runs lose all pushes.
 * - asked: held, said of a quorum of masters that told so, or of one that heard, and let go.  Free,
 *   said of a quorum that knew nobody, and does not abstain.
 * - taken: where nothing goes wrong, a holder that heeds or watches hears LOST soon after a break
 *   that leaves no quorum.  Nobody hears LOST too early while a quorum has the token, whatever
 *   somebody says.  No word makes a lease renew more often than each second.
 */
#ifndef SIM_WISHES_H
#define SIM_WISHES_H

#include "redlock/recipes.h"
#include "user_lease.h"

/* Since a heeder began. */
struct break_seen {
    uint16_t on;     /* a bit for each master that has carried out a break of its lease, */
    usec at;         /* and when the others were no quorum any more; true time; 0: they are */
    uint32_t round;  /* the last renewal */
    usec renewed[2]; /* our clock: the last two, if nothing else called for them; 0: none */
};

struct user_heeder {
    struct user_heeder *next;
    struct shell *shell;
    redlock_heeder *handle;
    uint8_t name;
    uint32_t lease, token;
    bool watches; /* for breaks alone */
    usec began;   /* true time */
    struct break_seen broken;
    bool heard[WISHES_MOST];
};

struct user_asker {
    struct user_asker *next;
    struct shell *shell;
    redlock_asker *handle;
    uint32_t number; /* of its wish */
    bool again, told;
};

/* ---- wishes_rules.c ---- */

/* The heeder hears of a wish, and it is remembered that it did. */
void wishes_heard(struct user_heeder *heeder, uint32_t number);
/* The asker hears how it went. */
void wishes_told(struct user_asker *asker, const redlock_asked *asked);

/* ---- breaks_rules.c ---- */

/* Now and then: is LOST overdue? */
void breaks_due(struct user_heeder *heeder);

#endif
