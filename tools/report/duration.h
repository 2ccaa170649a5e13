/*
 * duration.h - shows milliseconds to people, and reads the clock that leases are measured on.
 */
#ifndef REDLOCK_TOOLS_DURATION_H
#define REDLOCK_TOOLS_DURATION_H

#include <stdint.h>

/* For people: "850 ms", "3.2 s", "4 min 10 s", "2 h 5 min". */
#define DURATION_SIZE 40
const char *duration_show(char buffer[DURATION_SIZE], int64_t ms);

/* The time of day, and a space: "14:03:59 ". */
#define NOW_SIZE 16
const char *now_show(char buffer[NOW_SIZE]);

/* CLOCK_BOOTTIME in milliseconds: never set, and goes on while suspended. */
int64_t boot_ms(void);

#endif
