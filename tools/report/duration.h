/*
 * duration.h - "250ms", "1.5s", "5m", "2h" to milliseconds and back, and the
 * clock that leases are measured on.
 */
#ifndef REDLOCK_TOOLS_DURATION_H
#define REDLOCK_TOOLS_DURATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A unit is required, as a bare number is ambiguous; 0 needs none. "forever" gives INT64_MAX.
 * False: `why` has what is wrong. */
bool duration_parse(const char *text, int64_t *ms, char *why, size_t why_size);

/* For people: "850 ms", "3.2 s", "4 min 10 s", "2 h 5 min". */
#define DURATION_SIZE 40
const char *duration_show(char buffer[DURATION_SIZE], int64_t ms);

/* CLOCK_BOOTTIME in milliseconds: never set, and goes on while suspended. */
int64_t boot_ms(void);

#endif
