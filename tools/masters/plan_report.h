/*
 * plan_report.h - the lists that lead from the present one to another, for people and as JSON.
 */
#ifndef REDLOCK_TOOLS_PLAN_REPORT_H
#define REDLOCK_TOOLS_PLAN_REPORT_H

#include "plan.h"

/* A line for a list, and one with its masters; the first of them begins with `what`. */
void plan_show_list(struct text *out, const struct plan *plan, unsigned list, const char *what);
void plan_show(struct text *out, const struct plan *plan);
/* Prints all of it; returns the exit status. */
int plan_tell(const struct plan *plan);

#endif
