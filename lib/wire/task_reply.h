/*
 * task_reply.h - the answers to what tasks ask: about what is said of a name, barriers, latches.
 */
#ifndef REDLOCK_WIRE_TASK_REPLY_H
#define REDLOCK_WIRE_TASK_REPLY_H

#include "raw_reply.h"

/* `reply` has its tag, and else what a reply has that says nothing; it points into `raw`.  False if
 * this request cannot have such a reply. */
bool task_reply_read(const struct raw_reply *raw, struct reply *reply);

#endif
