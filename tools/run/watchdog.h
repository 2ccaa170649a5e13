/*
 * watchdog.h - the watchdog device of Linux, which resets a machine that is not fed in time.
 *
 *   open (it is armed) ── feed, feed, … ──► disarm
 *
 * To close it without the magic 'V' is a feed, too.  So `run` and the guardian both have it open
 * until it is disarmed: when one of them is killed, it is not closed.
 */
#ifndef REDLOCK_TOOLS_WATCHDOG_H
#define REDLOCK_TOOLS_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

#include "options.h"
#include "text.h"

struct watchdog {
    int fd; /* -1: there is none */
    bool is_device;
    int64_t timeout_ms;
    int64_t fed_at; /* boot_ms(), at the latest, as it was armed */
};

/* GO_ON, or the exit status after a message: it cannot be one. */
int watchdog_look(const struct options *options);

/* Arms it, with a timeout that fits the ttl.  `why` gets the reason if it cannot be used; then it
 * is disarmed again. */
bool watchdog_open(struct watchdog *watchdog, const struct options *options, struct text *why);

static inline bool watchdog_is_open(const struct watchdog *watchdog)
{
    return watchdog->fd >= 0;
}

/* Without memory, as for all that follows. */
void watchdog_feed(const struct watchdog *watchdog);

/* False: the kernel says that it cannot be stopped (nowayout). */
bool watchdog_disarm(struct watchdog *watchdog);

/* Another process has disarmed it. */
void watchdog_close(struct watchdog *watchdog);

#endif
