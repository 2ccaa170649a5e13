/*
 * change_checks.h - whether a change of the list of masters may begin.
 */
#ifndef REDLOCK_TOOLS_CHANGE_CHECKS_H
#define REDLOCK_TOOLS_CHANGE_CHECKS_H

#include "list_watch.h"
#include "plan.h"

/* The present list, and the one that is to come last; all of them have told, or had time to. */
struct checked {
    const struct list_watch *now;
    const struct list_seen *now_seen;
    const struct list_watch *last;
    const struct list_seen *last_seen;
};

/* Masters that come may be servers of the present list, by other addresses.  As below. */
redlock_code change_find_servers(struct text *why, struct plan *plan,
                                 const struct checked *checked);

/* Not OK: with a sentence that says what helps. */
redlock_code change_check(struct text *why, const struct plan *plan, const struct checked *checked);

/* The lists in use by now, each of which must be on the way.  As above. */
redlock_code change_check_used(struct text *why, const struct plan *plan,
                               const struct list_seen *seen);

/* "2 clients, the last one LABEL, count on a,b" */
void change_put_used(struct text *out, const struct list_used *list);

#endif
