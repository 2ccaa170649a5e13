/*
 * subscription.h - how handovers are heard: one subscription to each master, for all
 * waiters, made with the first waiter and ended after the last.
 *
 * A lease needs it for speed only: the next refresh finds what a lost push would have
 * told.  A push counts only from the process that the other connection speaks to.
 */
#ifndef REDLOCK_CORE_SUBSCRIPTION_H
#define REDLOCK_CORE_SUBSCRIPTION_H

#include "ground/event.h"

struct engine;

/* A lease waits: subscribes where there is no subscription, probes one that was quiet for long. */
void subscription_keep(struct engine *engine);
/* Ends subscriptions that do not answer, and those that no lease has needed for a while; sets the
 * deadline for the next look. */
void subscription_look(struct engine *engine);
void subscription_end(struct engine *engine);

/* The other connection to the master has ended.  The subscription, on which nothing is ever asked,
 * would not notice that for long, so it is ended too. */
void subscription_lost(struct engine *engine, unsigned master);

/* The subscription is made.  True if waiters must look again: nobody heard of a handover before
 * it. */
bool subscription_begun(struct engine *engine, unsigned master, const char *run_id);
void subscription_ended(struct engine *engine, unsigned master);
/* Notes a sign of life. */
void subscription_heard(struct engine *engine, unsigned master);

/* The subscription is to the process whose hello says whether the master may grant, and which
 * answers refreshes. */
bool subscription_is_to_same_process(const struct engine *engine, unsigned master);

#endif
