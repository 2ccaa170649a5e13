/*
 * break_report.h - what `redlock break` says.
 */
#ifndef REDLOCK_TOOLS_BREAK_REPORT_H
#define REDLOCK_TOOLS_BREAK_REPORT_H

#include "options.h"
#include "shares.h"

/* The outcome on one master. */
enum broken_outcome {
    BROKEN_UNKNOWN, /* it was not reached, or did not answer; why */
    BROKEN_DELETED,
    BROKEN_ABSENT, /* it did not have it any more */
    BROKEN_BACK    /* it has it again: its holder renewed it at the same time */
};

struct broken {
    bool had; /* it was seen to have it */
    enum broken_outcome outcome;
    struct text why;
};

/* A lock, as it was seen before it was broken, and after. */
struct breakage {
    const struct options *options;
    const char *value;
    enum share_kind kind;
    bool watched;         /* it was looked at for long enough to see its holder renew it */
    bool alive;           /* that was seen */
    int64_t remaining_ms; /* as last seen: -1 unknown, -2 never expires */
    int64_t lasts_ms;     /* longest time that the lease may last after the break; likewise */
    int64_t looked_ms;
    unsigned masters, quorum;
    struct broken of[REDLOCK_MASTERS_MAX];
};

/* "'deploy' is held by TOKEN (web1:4711), 8.3 s left; ..." */
void break_show_found(struct text *out, const struct breakage *breakage);
/* `result` is what the masters said of the name afterwards. */
void break_show(struct text *out, const struct breakage *breakage,
                const redlock_look_result *result);
void break_json(struct text *out, const struct breakage *breakage,
                const redlock_look_result *result);

/* OK: a quorum of masters has it no more. */
redlock_code break_code(const struct breakage *breakage);

#endif
