/*
 * requests.h - all that can be asked of a master: the table of request kinds.
 *
 * All that depends on the kind alone stands here.  A name is that of the kind in
 * traces and, in lib/wire, of its scripts, its writer and its reader; CONTRIBUTING.md says how a
 * kind is added.
 */
#ifndef REDLOCK_CORE_REQUESTS_H
#define REDLOCK_CORE_REQUESTS_H

#include <stdbool.h>

/* Requests about the connection: they belong to no claim and carry no names. */
#define CONNECTION_REQUESTS(X)                                                                     \
    X(HELLO, hello) /* run_id, age, quarantine; the first request on a connection */               \
    X(ADOPT, adopt) /* end the quarantine by hand; answered like HELLO */                          \
    X(KILL, kill)   /* end our former connection on this master */                                 \
    X(AGREE, agree) /* say which list of masters we count on; tell which are in use */

/* About the names of a claim.  1 is yes:
 *
 *   token   it carries the claim's token
 *   takes   it takes free names: only a master that may grant is asked
 *   sets    once it is sent, the master may set the token
 *   clock   the master's logical clock is one of its keys
 *   batch   several of the kind may go in one command, by the script NAME_each
 *   modes   if one of the names is shared it is another script: NAME_shared, NAME_shared_each
 *   slot    if the name is a slot, one of the permits of a name, it is another script: NAME_slot,
 *           which serves several in one command, too, if `batch` says so
 */
/* clang-format off */
#define CLAIM_REQUESTS(X)                                                                          \
    /* kind   name    token takes sets clock batch modes slot */                                   \
    X(ACQUIRE, acquire, 1,    1,    1,   0,    0,    0,    0) /* take all names, if all free; none shared */\
    X(GRANT,   grant,   1,    1,    1,   1,    1,    1,    1) /* like ACQUIRE; refused while one is queued */\
    X(RAISE,   raise,   1,    0,    0,   1,    0,    0,    0) /* store the fence, if the token is ours */\
    X(QUEUE,   queue,   1,    1,    1,   1,    0,    0,    1) /* enter the queue, or stay in it */       \
    X(RENEW,   renew,   1,    0,    1,   0,    1,    1,    1) /* prolong where the token is ours, or heal */\
    X(UPGRADE, upgrade, 1,    1,    1,   1,    0,    0,    0) /* make them ours alone, if no other reads */\
    X(RELEASE, release, 1,    0,    0,   0,    1,    0,    1) /* give back where the token is ours */    \
    X(PEEK,    peek,    0,    0,    0,   0,    0,    0,    0) /* tell the holder and the time left */
/* clang-format on */

/* About what is said of a name, its barriers and its latch: a task asks (recipes/task.h), and no
 * claim knows of it.  Their scripts do not come with a whole hello, for few clients need them. */
#define TASK_REQUESTS(X)                                                                           \
    X(ANNOUNCE, announce) /* say something, if the name holds the token */                         \
    X(UNSAY, unsay)       /* take back what the token has said in this term */                     \
    X(OBSERVE, observe)   /* tell what is said, and every change of it on our channel */           \
    X(ARRIVE, arrive)     /* be counted at a barrier; or tell it that it was passed */             \
    X(DEPART, depart)     /* be counted no more, unless it was opened */                           \
    X(TALLY, tally)       /* be counted at a latch, store that it is open; tell how it stands */   \
    X(MEND, mend)         /* put a latch where this process of the master has none */              \
    X(DROP, drop)         /* take a latch away again where nobody has arrived at it */             \
    X(SURVEY, survey)     /* tell which names are held or waited for, among some of the keys */    \
    X(ASK, ask)           /* say a wish to the holder of a name, of its wishes' name */

/* REQUEST_IF_##batch(...): its arguments, only for kinds that may go in one command */
#define REQUEST_IF_0(...)
#define REQUEST_IF_1(...) __VA_ARGS__

enum request_kind {
#define REQUEST_KIND(kind, ...) REQUEST_##kind,
    CONNECTION_REQUESTS(REQUEST_KIND) CLAIM_REQUESTS(REQUEST_KIND) TASK_REQUESTS(REQUEST_KIND)
#undef REQUEST_KIND
};

#define REQUEST_ONE(...) +1
enum {
    REQUEST_KINDS =
        0 CONNECTION_REQUESTS(REQUEST_ONE) CLAIM_REQUESTS(REQUEST_ONE) TASK_REQUESTS(REQUEST_ONE)
};
_Static_assert(REQUEST_KINDS <= 32, "a bit for each kind in an unsigned");

/* A column of the table: a constant with a bit for each kind. */
#define REQUEST_ABOUT_NAMES(kind, ...) | 1U << REQUEST_##kind
#define REQUEST_TOKEN(kind, name, token, takes, sets, clock, batch, modes, slot)                   \
    | (token##U) << REQUEST_##kind
#define REQUEST_TAKES(kind, name, token, takes, sets, clock, batch, modes, slot)                   \
    | (takes##U) << REQUEST_##kind
#define REQUEST_SETS(kind, name, token, takes, sets, clock, batch, modes, slot)                    \
    | (sets##U) << REQUEST_##kind
#define REQUEST_CLOCK(kind, name, token, takes, sets, clock, batch, modes, slot)                   \
    | (clock##U) << REQUEST_##kind
#define REQUEST_BATCH(kind, name, token, takes, sets, clock, batch, modes, slot)                   \
    | (batch##U) << REQUEST_##kind
#define REQUEST_MODES(kind, name, token, takes, sets, clock, batch, modes, slot)                   \
    | (modes##U) << REQUEST_##kind
#define REQUEST_SLOT(kind, name, token, takes, sets, clock, batch, modes, slot)                    \
    | (slot##U) << REQUEST_##kind
#define REQUEST_IS(kind, column) ((0U CLAIM_REQUESTS(column)) >> (kind)&1)

static inline bool request_is_about_names(enum request_kind kind)
{
    return REQUEST_IS(kind, REQUEST_ABOUT_NAMES);
}

#define REQUEST_OF_TASK(kind, name) | 1U << REQUEST_##kind

static inline bool request_is_of_task(enum request_kind kind)
{
    return (0U TASK_REQUESTS(REQUEST_OF_TASK)) >> kind & 1;
}

/* The master may have forgotten the script. */
static inline bool request_has_script(enum request_kind kind)
{
    return kind == REQUEST_HELLO || kind == REQUEST_AGREE || request_is_about_names(kind) ||
           request_is_of_task(kind);
}

/* The master may send messages on our channel for it. */
static inline bool request_brings_pushes(enum request_kind kind)
{
    return (1U << REQUEST_QUEUE | 1U << REQUEST_OBSERVE | 1U << REQUEST_ARRIVE |
            1U << REQUEST_TALLY) >>
               kind &
           1;
}

static inline bool request_carries_token(enum request_kind kind)
{
    return REQUEST_IS(kind, REQUEST_TOKEN);
}

static inline bool request_takes(enum request_kind kind)
{
    return REQUEST_IS(kind, REQUEST_TAKES);
}

static inline bool request_sets_token(enum request_kind kind)
{
    return REQUEST_IS(kind, REQUEST_SETS);
}

static inline bool request_has_clock(enum request_kind kind)
{
    return REQUEST_IS(kind, REQUEST_CLOCK);
}

static inline bool request_may_batch(enum request_kind kind)
{
    return REQUEST_IS(kind, REQUEST_BATCH);
}

static inline bool request_has_modes(enum request_kind kind)
{
    return REQUEST_IS(kind, REQUEST_MODES);
}

static inline bool request_has_slot(enum request_kind kind)
{
    return REQUEST_IS(kind, REQUEST_SLOT);
}

/* As it stands in the table. */
static inline const char *request_name(enum request_kind kind)
{
#define REQUEST_NAME(kind, name, ...) #name,
    static const char *const names[] = {
        CONNECTION_REQUESTS(REQUEST_NAME) CLAIM_REQUESTS(REQUEST_NAME) TASK_REQUESTS(REQUEST_NAME)};
#undef REQUEST_NAME
    return names[kind];
}

#endif
