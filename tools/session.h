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

/* How long the end may take because of masters that do not answer: a leftover may be
 * in somebody's way. */
#define PATIENCE_OWED_MS 1500

struct session {
    struct ev_loop *loop;
    const struct options *options;
    redlock *client;
    int status;
    bool ending;

    /* Set before session_open(): called once, from the loop, when every master was
     * reached or tried; unless `patient`, at the latest a moment after a quorum was
     * reached, or after a quarter of the time to connect: masters that are silent
     * shall not hold up everybody. */
    void (*begin)(void *data);
    bool patient;
    bool hasty;    /* begins at once: what is asked waits for the masters by itself */
    bool looks;    /* asks for nothing: the masters are not told --max-ttl */
    bool any_list; /* begin also when the list of masters is known to be wrong */
    void *data;
    ev_timer begin_timer;
    bool quorum_up, begun;

    ev_timer release_timer;
    ev_prepare release_look;
    ev_idle release_idle;
    bool released;

    bool ready; /* every master was reached or tried, with this result: */
    redlock_code readiness;
    struct text ready_text;
};

/* False: session->status says why not, and so was the user. */
bool session_open(struct session *session, const struct options *options);
int session_run(struct session *session);
void session_end(struct session *session, int status, int64_t patience_ms);
/* After a quorum has released: what is still owed is waited for only where an answer is
 * on its way.  Other masters are a minority; their keys end with the ttl and harm nobody. */
void session_end_released(struct session *session, int status);

/* The same because of a signal, which is told as JSON if asked for; event: or NULL. */
void session_end_by_signal(struct session *session, int number, const redlock_event *event);

/* An outcome that is no success, for the user: on stdout as the JSON document,
 * else as a message with the reasons.  `what`: "cannot lock". */
void session_tell_failure(struct session *session, const char *what, const redlock_event *event);

/* A call that failed at once: tells redlock_last_error() and ends the session. */
void session_refused(struct session *session, const char *what, redlock_code code);

/* Writes a result to stdout; a failure becomes the status. */
bool session_put(struct session *session, const struct text *text);

#endif
