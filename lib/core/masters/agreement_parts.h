/*
 * agreement_parts.h - what the files of agreement.h share.  Each file calls only files above it:
 *
 *   sides.c      whether two lists may be used together, by the facts that one word tells
 *   agreement.c  whether ours may be used, by the words of all masters
 *   in_use.c     all lists in use, for those who look
 */
#ifndef REDLOCK_CORE_AGREEMENT_PARTS_H
#define REDLOCK_CORE_AGREEMENT_PARTS_H

#include "masters/agreement.h"

#define DRIFT_PPM 10000 /* of any clock here against another one */

/* One side of the comparison: the list of one client or of many. */
struct side {
    unsigned masters, quorum, spare;
    struct server { /* the facts about the server of an entry; times are by our clock */
        struct slice address, run_id;
        bool is_heard;
        usec begun_by, lived_at; /* its process began no later; it lived no earlier */
    } servers[MASTERS_MAX];
};

/* The keys of one are those of the other, if both are addresses of one server. */
bool sides_share_database(struct slice address, struct slice other);
/* `foresees`: masters that are being connected to for the first time look unlike all others. */
struct side side_of_ours(const struct engine *engine, bool foresees);
/* Of a list that a word tells. */
struct side side_of_theirs(const struct told_list *list, const struct word *word);
/* Two quorums may miss each other, however many of the masters that look different are the same. */
bool sides_may_not_meet(const struct side *ours, const struct side *theirs);

/* The text of the word of the master, if it counts. */
struct slice agreement_text(const struct engine *engine, unsigned master);
/* We say our list, if the fleet has a name. */
bool agreement_may_say(const struct engine *engine);

#endif
