/*
 * record.h - the events and actions of a worker, a fact per line, for the judge.
 *
 * A line is us of CLOCK_BOOTTIME, then the fact.  Each is one write(2) to the end of the file,
 * so a process that is killed can only leave the last one cut.
 */
#ifndef FAULT_WORKER_RECORD_H
#define FAULT_WORKER_RECORD_H

#include <stdbool.h>
#include <stdint.h>

struct record {
    int fd;
    unsigned lines;
};

int64_t now_us(void);

bool record_open(struct record *record, const char *path);
/* If the record cannot be written the process ends: half a record misleads. */
__attribute__((format(printf, 3, 4))) void record_put(struct record *record, int64_t at,
                                                      const char *fact, ...);
/* RSS and open descriptors of this process. */
void record_usage(struct record *record);

#endif
