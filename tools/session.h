/*
 * session.h - one command's client on the default loop, from start to orderly end.
 *
 *   session_open()   starts it; nothing happens before session_run()
 *   session_run()    runs the loop until the end and returns the exit status;
 *                    calls session->begin when it is time to ask for something
 *   session_end()    from a callback: gives back what is owed, then ends
 */
#ifndef REDLOCK_TOOLS_SESSION_H
#define REDLOCK_TOOLS_SESSION_H

#include <ev.h>

#include "exits.h"
#include "options.h"
#include "redlock.h"
#include "text.h"

/* How long the end may take because of masters that do not answer.  After an
 * orderly release the masters in question are a minority; their keys end with
 * the ttl and harm nobody.  Otherwise a leftover may be in somebody's way. */
#define PATIENCE_RELEASED_MS 200
#define PATIENCE_OWED_MS     1500

struct session {
    struct ev_loop *loop;
    const struct options *options;
    redlock *client;
    int status;
    bool ending;

    /* Set before session_open(): called once, from the loop, when every master was
     * reached or tried; unless `patient`, after a quarter of the time to connect at
     * the latest: a lease should begin on all masters, not on the first three that
     * were connected, but one that hangs shall not hold up everybody. */
    void (*begin)(void *data);
    bool patient;
    bool any_list; /* begin also when the list of masters is known to be wrong */
    void *data;
    ev_timer begin_timer;
    bool begun;

    bool ready; /* every master was reached or tried, with this result: */
    redlock_code readiness;
    struct text ready_text;
};

/* False: session->status says why not, and so was the user. */
bool session_open(struct session *session, const struct options *options);
int session_run(struct session *session);
void session_end(struct session *session, int status, int64_t patience_ms);

/* An outcome that is no success, for the user: on stdout as the JSON document,
 * else as a message with the reasons.  `what`: "cannot lock". */
void session_tell_failure(struct session *session, const char *what, const redlock_event *event);

/* A call that failed at once: tells redlock_last_error() and ends the session. */
void session_refused(struct session *session, const char *what, redlock_code code);

/* Writes a result to stdout; a failure becomes the status. */
bool session_put(struct session *session, const struct text *text);

#endif
