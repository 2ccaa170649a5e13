/*
 * told_list.h - the lists of masters in use, as the text in which a master tells of them.
 */
#ifndef REDLOCK_CORE_TOLD_LIST_H
#define REDLOCK_CORE_TOLD_LIST_H

#include "ground/event.h"

/* All slices are parts of the text.  Times are microseconds before the master told it. */
struct told_list {
    char place; /* '=' the asker's own; '<' before it, or the asker has said none; '>' behind it */
    usec first_ago, last_ago; /* when it was said */
    unsigned clients;         /* that say it */
    unsigned quorum, spare, masters;
    int64_t max_ttl_ms;
    struct slice label; /* of the client that said it last */
    struct told_process {
        usec since_ago, until_ago; /* two moments at which it lived */
        struct slice run_id;       /* "": not heard */
        struct slice address;
    } processes[MASTERS_MAX];
};

#define LISTS_IN_USE_MOST 16
#define SUCCESSOR_MAX     5000 /* bytes: 16 addresses */

/* One list, by the words of all masters. */
struct list_in_use {
    struct told_list list; /* by the master that heard it last; first_ago is the longest of all */
    uint16_t told;         /* by these masters */
    uint16_t unsafe;       /* these lists of the same table may not be used beside it */
};

/* Takes the line off the front that stands there once.  Returns the master's wall clock; 0: there
 * is none.  `changes`: of ends, to one that only looks; 0: it knows none.  `over`: the list in
 * place of the asker's, which is over; no bytes: it is not. */
usec told_time(struct slice *text, int64_t *changes, struct slice *over);

/* Takes the next list off the front.  False at the end, and of a text that no honest master tells:
 * then no more is believed of it. */
bool told_list_next(struct slice *text, struct told_list *list);

/* Both have the same numbers and masters. */
bool told_lists_are_same(const struct told_list *a, const struct told_list *b);

#endif
