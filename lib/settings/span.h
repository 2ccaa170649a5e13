/*
 * span.h - reads a span of time that a person wrote: 250ms, 10s, 5m, 2h.
 */
#ifndef REDLOCK_SETTINGS_SPAN_H
#define REDLOCK_SETTINGS_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A unit is required, as a bare number is ambiguous; 0 needs none.  "forever" gives INT64_MAX.
 * False: the end of a sentence in `why` says what is wrong. */
bool span_parse(const char *text, int64_t *ms, char *why, size_t why_size);

#endif
