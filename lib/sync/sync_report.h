/*
 * sync_report.h - fills the result that a waiting caller may have handed in.
 */
#ifndef REDLOCK_SYNC_REPORT_H
#define REDLOCK_SYNC_REPORT_H

#include "redlock/sync.h"
#include "sized.h"

/* True if there is no result, or one of a size that is known. */
bool sync_report_is_usable(const redlock_sync_result *result);

/* All fill `result`, which may be NULL, and return `code`. */
redlock_code sync_report(redlock_sync_result *result, redlock_code code, const char *text);
redlock_code sync_report_depth(redlock_sync_result *result, redlock_code code, int64_t valid_ms,
                               const char *text, unsigned depth);
/* E_ARGUMENT: a struct of this kind has a size that is not known. */
redlock_code sync_report_size(redlock_sync_result *result, const struct sized *kind, size_t size);
redlock_code sync_report_event(redlock_sync_result *result, redlock_code code,
                               const redlock_event *event);

#endif
