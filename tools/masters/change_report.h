/*
 * change_report.h - the lines of `redlock masters change`.
 */
#ifndef REDLOCK_TOOLS_CHANGE_REPORT_H
#define REDLOCK_TOOLS_CHANGE_REPORT_H

#include "list_watch.h"
#include "plan.h"

/* The list to give to all clients now. */
void change_show_step(struct text *out, const struct plan *plan, unsigned step);
/* How many clients say the list of the step, or what else its end waits for; and to how many
 * masters it is over. */
void change_show_sayers(struct text *out, const struct list_watch *watch,
                        const struct list_seen *seen, const struct list_watch *next);
void change_show_end(struct text *out, const struct list_watch *watch, const struct list_seen *seen,
                     bool done);
/* The time that each step took, and the masters that nobody needs. */
void change_show_all(struct text *out, const struct plan *plan, const int64_t *took_ms);

/* "a,b" */
void change_put_masters(struct text *out, const struct list_watch *watch, unsigned bits);

#endif
