/*
 * redlock/look.h - who has a name, who waits for it, and which names there are.  redlock.h includes
 * this file, and its contract holds here.  Nothing here changes anything on the masters.
 */
#include "../redlock.h" /* before the guard, as in redlock/leases.h */

#ifndef REDLOCK_LOOK_H
#define REDLOCK_LOOK_H

#define REDLOCK_TOKENS_TOLD_MAX 600 /* most tokens in one list of one master */

typedef struct redlock_look redlock_look; /* until redlock_look_free() */

typedef struct redlock_look_options {
    size_t size;
    int tokens;       /* most tokens in each list of a master, up to TOKENS_TOLD_MAX; 0: 16 */
    bool all_answers; /* wait for every master that is connected, and not for a quorum alone */
} redlock_look_options;

/* Processes: the master counts all, and names the first.  The struct never grows. */
typedef struct redlock_crowd {
    unsigned count;
    size_t told;               /* the number of tokens */
    const char *const *tokens; /* each with its label */
} redlock_crowd;

/* The answer of one master.  From `waiters` on all is empty unless `kind` is HELD. */
typedef struct redlock_view {
    const char *node;          /* the master, as "127.0.0.1:7101"; never with its password */
    redlock_vote_kind kind;    /* HELD, FREE, or why the master said neither: ABSTAINS, REFUSED,
                                * TIMEOUT, UNREACHABLE; NONE: the look did not wait for it */
    const char *text;          /* REFUSED, UNREACHABLE: why, never ""; else "" */
    const char *holder;        /* HELD: as in redlock_vote */
    int64_t remaining_ms;      /* HELD: as in redlock_vote; ABSTAINS: until it votes; else -1 */
    redlock_crowd waiters;     /* those in the queue, the next one first */
    redlock_crowd readers;     /* none: the name is held exclusively */
    unsigned permits;          /* of one name: K, the largest that a client asked for in the last
                                * hour, or as many as are out; 0: it is not about permits */
    redlock_crowd permits_out; /* the holders of permits, by slot */
} redlock_view;

typedef struct redlock_look_result {
    size_t size;
    redlock_code code;  /* OK: a quorum answered; E_UNAVAILABLE, E_CLOSED; or E_REPLICA,
                         * E_SAME_MASTER, E_NO_MASTER: the list leaves no quorum */
    unsigned masters;   /* N */
    unsigned quorum;    /* (N + spare + 2) / 2 */
    unsigned spare;     /* options.spare of the client */
    unsigned agreed;    /* the most masters that name the same holder; 0: none names one */
    int64_t elapsed_ms; /* since the look was carried out */
    const redlock_view *const *views; /* one for each master, in the order of the list */
    const char *text;                 /* one line for people: the holder, or why it is unknown */
} redlock_look_result;

typedef void redlock_look_callback(redlock_look *look, const redlock_look_result *result,
                                   void *data);

/* Asks every master for the holder of the names, and for their waiters, and calls back once.  Of
 * several names a master tells of the first that is held there, and of no permits; a name with
 * REDLOCK_SLOT is that slot.  The look ends once a quorum agrees, and the other masters have had
 * the same time again.  A master that abstains and has no holder counts as not answered: it may
 * have forgotten the holder.  Begin any number of looks: the client asks for some at a time.
 * Free the handle.  `options` may be NULL.  Returns as redlock_acquire_names(). */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_look_begin(
    redlock *client, redlock_look **look, const redlock_name *names, size_t count,
    const redlock_look_options *options, redlock_look_callback *callback, void *data);

/* No callback comes any more.  NULL is allowed; may be called in the callback. */
REDLOCK_API void redlock_look_free(redlock_look *look);

/* ---- Which names there are ---- */

typedef struct redlock_survey redlock_survey; /* until redlock_survey_free() */

typedef struct redlock_survey_options {
    size_t size;
    bool foreign; /* also names that may be locks of other software: strings of at most 256 bytes
                   * that expire.  Else a foreign value counts only where somebody waits */
} redlock_survey_options;

/* The next answer of one master.  It may tell a name more than once. */
typedef struct redlock_survey_page {
    size_t size;
    unsigned node;                    /* the index of the master */
    redlock_code code;                /* OK; E_UNAVAILABLE: it tells no more, text says why */
    bool last;                        /* it has told all, or tells no more */
    const char *text;                 /* E_UNAVAILABLE: why; else "" */
    const redlock_name *const *names; /* without the prefix of the client */
    size_t count;
    uint64_t looked_at; /* keys so far, about */
    uint64_t keys;      /* of its database */
    uint64_t left_out;  /* names so far that are too long for an answer, above 130,000 bytes */
} redlock_survey_page;

typedef void redlock_survey_callback(redlock_survey *survey, const redlock_survey_page *page,
                                     void *data);

/* Goes through the keys of every master for names with the client's prefix that are held, waited
 * for, or have permits out.  A page is true of one master at some time since this call.
 * The callback gets about 250 keys at a time, a millisecond of the master's time, until each master
 * has told `last`; a master that lies may never.  A master that went is not asked again.
 * The user needs the rights to scan, dbsize and getrange.  Free the handle.  `options` may be NULL.
 * Returns REDLOCK_OK, E_ARGUMENT, E_MEMORY, E_CLOSED, E_FORKED. */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_survey_begin(
    redlock *client, redlock_survey **survey, const redlock_survey_options *options,
    redlock_survey_callback *callback, void *data);

/* As redlock_look_free(). */
REDLOCK_API void redlock_survey_free(redlock_survey *survey);

#endif
