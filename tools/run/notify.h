/*
 * notify.h - sends our state to a service manager (Type=notify of systemd), by datagrams to the
 * socket that $NOTIFY_SOCKET names: READY=1, STATUS=, STOPPING=1, as in sd_notify(3).
 *
 * No message blocks.  Each has the whole state, so the next one makes up for a lost one.  The last
 * one is sent again while the manager has no room for it.
 */
#ifndef REDLOCK_TOOLS_NOTIFY_H
#define REDLOCK_TOOLS_NOTIFY_H

#include <ev.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "text.h"

/* In this order: a service that was ready never starts again. */
enum notify_state { NOTIFY_STARTING, NOTIFY_READY, NOTIFY_STOPPING };

struct notify {
    struct ev_loop *loop;
    ev_timer again;
    struct sockaddr_un address;
    socklen_t length; /* of the address; 0: there is no manager */
    bool quiet;
    enum notify_state state;
    struct text message; /* the last one */
};

/* Nothing is sent yet.  Unless `quiet`, warns once if the manager cannot be reached. */
void notify_open(struct notify *notify, struct ev_loop *loop, bool quiet);
void notify_close(struct notify *notify);

static inline bool notify_is_wanted(const struct notify *notify)
{
    return notify->length > 0;
}

/* The state does not go back.  The status is a sentence for people. */
void notify_tell(struct notify *notify, enum notify_state state, const struct text *status);

#endif
