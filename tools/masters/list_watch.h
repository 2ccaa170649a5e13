/*
 * list_watch.h - a client that only looks at one list of masters: whether clients say it, and
 * whether it is over.  It may say to the masters that it is.
 */
#ifndef REDLOCK_TOOLS_LIST_WATCH_H
#define REDLOCK_TOOLS_LIST_WATCH_H

#include <ev.h>

#include "client/lists_in_use.h"
#include "options.h"
#include "text.h"

#define SLEPT_MS 2000 /* between two looks: the tool has slept, or was stopped */

struct list_watch {
    redlock *client;
    struct text entries, successor; /* the caller fills them; a successor may be missing */
    bool revives;                   /* or, of a list that was over: with what masters told then */
    int64_t changes[REDLOCK_MASTERS_MAX];
    unsigned masters, spare, quorum;
    int64_t until;                     /* it waits for its masters */
    int64_t told[REDLOCK_MASTERS_MAX]; /* their changes when they told our end last; 0: never */
};

/* The answers of the masters by now; bits of masters. */
struct list_seen {
    struct lists_used used;
    bool is_settled;       /* those that are connected have told, or had time to */
    unsigned told;         /* they tell which lists are in use */
    unsigned vote;         /* of these: they did not just restart */
    unsigned saying;       /* of these: to them a client says the list, or may do so */
    unsigned over, ours;   /* of these: the list is over to them; in favour of our successor */
    unsigned clients;      /* that say it */
    struct list_used last; /* by the client that said it last; no masters: nobody says it */
};

/* A client that was opened, which only looks. */
void list_watch_take(struct list_watch *watch, redlock *client, const struct options *options);
/* Opens one with the entries, in place of the former one; false after a message.  `says`: that the
 * list is over, with its successor; that it is not, if it revives. */
bool list_watch_open(struct list_watch *watch, struct ev_loop *loop, const struct options *options,
                     bool says);
void list_watch_free(struct list_watch *watch);

/* Says an end on, to masters that never told it, and to those that lost it: their changes have gone
 * back.  Returns those where another tool took it back, which hear it `again` or do not.  For each
 * look. */
unsigned list_watch_say_on(struct list_watch *watch, bool again);
/* The masters that have told it. */
unsigned list_watch_ended(const struct list_watch *watch);

/* The texts are valid until the loop runs again. */
void list_watch_look(const struct list_watch *watch, struct list_seen *seen);

/* The number of its masters that are connected. */
unsigned list_watch_up(const struct list_watch *watch);

/* Another list in place of this one than our successor, by the most masters; NULL: there is none.
 */
const struct client_text *list_watch_other(const struct list_seen *seen);
/* The number of masters that tell it as the one in place of this one. */
unsigned list_watch_tellers(const struct list_seen *seen, const struct client_text *list);

/* Notes the changes that masters have told by now.  When it revives the list, the watch says to
 * these masters that it is not over, if no end there has changed since then. */
void list_watch_note(struct list_watch *watch, const struct list_seen *seen);
bool list_watch_revive(struct list_watch *watch, struct ev_loop *loop,
                       const struct options *options, unsigned masters);

/* A list in use that is not safe beside the one of the watch; NULL: there is none. */
const struct list_used *list_watch_unsafe(const struct list_watch *watch,
                                          const struct list_seen *seen);

/* Of the watch, the masters that are masters of the other one, too, and there among the bits. */
unsigned list_watch_shared(const struct list_watch *watch, const struct list_watch *other,
                           unsigned bits);

/* The masters to which the list is over for another one than our successor; and those to which it
 * is not. */
unsigned list_seen_others(const struct list_seen *seen);
unsigned list_seen_free(const struct list_seen *seen);

/* Its masters at which a tool may take back an end of it, as the other list is not over there for a
 * third one.  One that did not tell, or may be an unknown one of the other list, is left out. */
unsigned list_watch_behind(const struct list_watch *watch, const struct list_watch *other,
                           const struct list_seen *others);

/* The number of masters of which each quorum has an honest one. */
unsigned list_watch_enough(const struct list_watch *watch);

/* No other command has an end of it on a quorum, whatever liars tell. */
bool list_watch_is_free(const struct list_watch *watch, const struct list_seen *seen);

unsigned masters_in(unsigned bits);

/* False after a message: clients without a fleet say nothing. */
bool fleet_is_named(const struct options *options, const redlock *client);

#endif
