/*
 * wishes.h - users who ask holders to let go, and holders that heed.
 *
 * - wish: a holder hears of a wish once, and only of one that another process said, about this
 * name, to its token, since it heeds.  More masters said so than may be wrong.  A push counts when
 * it comes.  A wish has one id, and changes no key of a lease.
 * - unheard: where nothing goes wrong, a holder hears of a wish that more masters have for it than
 *   may be wrong, within the time between two questions.  Some runs lose all pushes.
 * - asked: held, said of a quorum of masters that told so, or of one that heard, and let go.  Free,
 *   said of a quorum that knew nobody, and does not abstain.
 */
#ifndef SIM_WISHES_H
#define SIM_WISHES_H

#include "redlock/recipes.h"
#include "user_lease.h"

struct user_heeder {
    struct user_heeder *next;
    struct shell *shell;
    redlock_heeder *handle;
    uint8_t name;
    uint32_t lease, token;
    usec began; /* true time */
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

#endif
