/*
 * lists_report.h - the lists of masters in use, and what that means.
 */
#ifndef REDLOCK_TOOLS_LISTS_REPORT_H
#define REDLOCK_TOOLS_LISTS_REPORT_H

#include "client/lists_in_use.h"
#include "text.h"

struct lists_report {
    struct lists_used used;
    redlock *client;
    unsigned masters, quorum;
    const char *state; /* a constant: "agree", "may meet", "may not meet", "unknown", "over" */
    redlock_code code;
    int status;
    struct text verdict;
};

/* `fleet "jobs"` */
void fleet_show(struct text *out, const char *fleet);

/* Notes the answers of the masters by now.  The texts are valid until the loop runs again. */
void lists_look(struct lists_report *report, redlock *client, unsigned quorum);
/* The last line, which has the verdict, begins with the time. */
void lists_show(struct text *out, const struct lists_report *report, const char *now);
void lists_json(struct text *out, const struct lists_report *report);
/* A text that is the same as long as nothing has changed but times. */
void lists_mark(struct text *out, const struct lists_report *report);
/* The list in place of the client's, by the most masters, and how many tell it.  It is empty if
 * there is none. */
struct client_text lists_successor(const struct lists_used *used, unsigned *tell);
void lists_free(struct lists_report *report);

#endif
