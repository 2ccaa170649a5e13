/*
 * redlock/look.h - looking: who has a name, who waits for it, and which names there are.
 *
 * redlock.h includes this file, and is where its contract stands.  All of this changes nothing on
 * the masters, so a client with options.looks_only may use it.
 *
 *   redlock_look_begin()    asks all masters about one name, or several
 *   redlock_survey_begin()  goes through the keys of all masters for the names
 */
#include "../redlock.h" /* before the guard, as in redlock/leases.h */

#ifndef REDLOCK_LOOK_H
#define REDLOCK_LOOK_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Who has a name, and who waits for it ------------------------------------ */

#define REDLOCK_TOKENS_TOLD_MAX 600 /* tokens that a master can tell in one list */

/* A look under way, until redlock_look_free(). */
typedef struct redlock_look redlock_look;

/* Options of one look.  Set `size` to sizeof(redlock_look_options), and every other byte to 0. */
typedef struct redlock_look_options {
    size_t size;

    /* The most tokens that a master tells in each list: 1 to REDLOCK_TOKENS_TOLD_MAX; 0: 16. */
    int tokens;

    /* The look waits for the answer of every master that is connected, for as long as a request
     * may take, and not for a quorum alone. */
    bool all_answers;
} redlock_look_options;

/* Some processes, all of which the master counts, and some of which it names. */
typedef struct redlock_crowd {
    unsigned count;            /* the number of all */
    size_t told;               /* the number of tokens; at most options.tokens */
    const char *const *tokens; /* the tokens of the first ones, each with its label */
} redlock_crowd;

/* What one master says.  The fields behind remaining_ms are empty unless `kind` is HELD. */
typedef struct redlock_view {
    const char *node;          /* the master, as "127.0.0.1:7101"; never with its password */
    redlock_vote_kind kind;    /* HELD, FREE, or why the master said neither: ABSTAINS, REFUSED,
                                * TIMEOUT, UNREACHABLE; NONE: the look did not wait for it */
    const char *text;          /* REFUSED, UNREACHABLE: why, never ""; else "" */
    const char *holder;        /* HELD: value of the key (token, label); NULL unknown; for readers,
                                * who share the name, REDLOCK_READERS; where permits are out or
                                * waited for and nobody holds the name itself, REDLOCK_PERMITS */
    int64_t remaining_ms;      /* HELD: left of the holder's ttl, -1 unknown, -2 never expires;
                                * ABSTAINS: left until the master votes again; else -1 */
    redlock_crowd waiters;     /* those in the queue, the next one first */
    redlock_crowd readers;     /* those who share the name; none: it is held exclusively */
    unsigned permits;          /* of one name: K, the largest that a client asked for in the last
                                * hour, or as many as are seen to be; 0: it is not about permits */
    redlock_crowd permits_out; /* those who have a permit, by slot */
} redlock_view;

typedef struct redlock_look_result {
    size_t size;        /* sizeof(redlock_look_result), as the library has it */
    redlock_code code;  /* OK: a quorum answered.  E_UNAVAILABLE: it did not; E_CLOSED; or, where
                         * the list leaves no quorum, E_REPLICA, E_SAME_MASTER, E_NO_MASTER */
    unsigned masters;   /* N */
    unsigned quorum;    /* (N + spare + 2) / 2 */
    unsigned spare;     /* options.spare of the client: how many masters may be wrong at once */
    unsigned agreed;    /* the most masters that name the same holder; 0: none names one */
    int64_t elapsed_ms; /* since the look was carried out */
    const redlock_view *const *views; /* one for each master, in the order of the list */
    const char *text;                 /* one line for people: who has the name, or why not known */
} redlock_look_result;

/* `result` and all that it points to live until the callback returns; `data` is yours. */
typedef void redlock_look_callback(redlock_look *look, const redlock_look_result *result,
                                   void *data);

/*
 * Asks every master for the holder of the names, and for their waiters.  Of several names each
 * master tells of the first that is held there, and of no permits.  `callback` is called once.
 *
 * The look ends once a quorum agrees on the holder, or that all names are free, and the other
 * masters have had as long again; see also options.all_answers.  A master that abstains may have
 * forgotten a holder: if it has none, it counts as not answered, and its view is ABSTAINS.
 *
 * Any number of looks may be begun at once.  A client asks for 8 at a time, for fewer where the
 * masters take long.  A look that no quorum answered while others were under way, or right after
 * them, goes again before it is told.
 *
 *   look      receives the handle; free it with redlock_look_free()
 *   names     REDLOCK_SLOT: the look is at that slot of the one name; else no mode is used
 *   options   NULL for the defaults
 *   callback  required; `data` is handed to it
 * Returns REDLOCK_OK (the callback follows), or at once E_ARGUMENT, E_NAME, E_MEMORY, E_CLOSED,
 * E_FORKED; then *look is NULL and the callback is never called.
 */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_look_begin(
    redlock *client, redlock_look **look, const redlock_name *names, size_t count,
    const redlock_look_options *options, redlock_look_callback *callback, void *data);

/* Ends the look, in its own callback too; no callback is called any more.  NULL is allowed. */
REDLOCK_API void redlock_look_free(redlock_look *look);

/* ---- Which names there are -------------------------------------------------- */

/* A survey under way, until redlock_survey_free(). */
typedef struct redlock_survey redlock_survey;

/* Options of one survey.  Set `size` to its sizeof, and every other byte to 0. */
typedef struct redlock_survey_options {
    size_t size;

    /* The survey tells also each name that may be a lock of other software: a string of at most
     * 256 bytes that expires.  Else it tells a name with a foreign value only if somebody waits
     * for the name by this library. */
    bool foreign;
} redlock_survey_options;

/* What one master has told next.  It may tell a name more than once. */
typedef struct redlock_survey_page {
    size_t size;                      /* sizeof(redlock_survey_page), as the library has it */
    unsigned node;                    /* the index of the master */
    redlock_code code;                /* OK; E_UNAVAILABLE: it tells no more, text says why */
    bool last;                        /* it has told all, or tells no more */
    const char *text;                 /* E_UNAVAILABLE: why; else "" */
    const redlock_name *const *names; /* without the prefix of the client */
    size_t count;
    uint64_t looked_at; /* keys so far, about */
    uint64_t keys;      /* of its database */
    uint64_t left_out;  /* names so far that are too long for an answer: above 130,000 bytes
                         * together with those that the master keeps beside them */
} redlock_survey_page;

/* `page` and all that it points to live until the callback returns; `data` is yours. */
typedef void redlock_survey_callback(redlock_survey *survey, const redlock_survey_page *page,
                                     void *data);

/*
 * Goes through the keys of every master for the names that are held, waited for, or have permits
 * out, beginning with the prefix of the client.  What a page tells was so on one master at some
 * time since this call.  A name that is taken or given back meanwhile may be missing or free.
 *
 * `callback` gets what each master says, about 250 keys at a time (about a millisecond of the
 * master's time), until each has told `last`.  A master that went is not asked again.  A master
 * that lies may never tell `last`: a program that must go on frees the survey after some time.
 *
 * The user of the masters needs the right to scan, dbsize and getrange, and to the keys.
 * `options` may be NULL.  The handle is to be freed.  Returns REDLOCK_OK, E_ARGUMENT, E_MEMORY,
 * E_CLOSED, E_FORKED.
 */
REDLOCK_API REDLOCK_MUST_USE redlock_code redlock_survey_begin(
    redlock *client, redlock_survey **survey, const redlock_survey_options *options,
    redlock_survey_callback *callback, void *data);

/* Ends the survey, in its own callback too.  NULL is allowed. */
REDLOCK_API void redlock_survey_free(redlock_survey *survey);

#ifdef __cplusplus
}
#endif

#endif
