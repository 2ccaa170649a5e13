/*
 * list_report.h - what `redlock list` prints.
 */
#ifndef REDLOCK_TOOLS_LIST_REPORT_H
#define REDLOCK_TOOLS_LIST_REPORT_H

#include "shares.h"

/* How far the look at the keys of one master came. */
struct surveyed {
    bool ended;
    redlock_code code;
    struct text why; /* it did not come to its end */
    uint64_t looked_at, keys, left_out;
};

struct listing {
    redlock_code code;
    const char *text;
    struct shares shares; /* sorted */
    unsigned masters, quorum;
    redlock *client;
    const struct surveyed *surveyed; /* of each master */
};

void list_show(struct text *out, const struct listing *listing);
void list_json(struct text *out, const struct listing *listing);

#endif
