/*
 * box.h - a folder in which processes leave tokens for each other: a file by the name of each.
 */
#ifndef FAULT_WORKER_BOX_H
#define FAULT_WORKER_BOX_H

#include <redlock.h>
#include <stdbool.h>

struct box {
    const char *folder;
};

/* If it cannot be written the process ends, as a record ends it. */
void box_put(const struct box *box, const char *token);
/* Takes any token out, which nobody else has then; false if the box is empty. */
bool box_take(const struct box *box, char token[static REDLOCK_TOKEN_SIZE]);

#endif
