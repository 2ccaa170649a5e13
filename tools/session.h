/*
 * session.h - one command's client on the default loop, from start to orderly end.
 *
 *   session_open()      starts it; nothing happens before session_run()
 *   session_run()       runs the loop until the end and returns the exit status;
 *                       calls session->begin when it is time to ask for something
 *   session_perform()   both; returns the exit status also where it cannot start
 *   session_end()       from a callback: sends the releases that are owed, then ends
 */
#ifndef REDLOCK_TOOLS_SESSION_H
#define REDLOCK_TOOLS_SESSION_H

#include <ev.h>

#include "exits.h"
#include "options.h"
#include "redlock.h"
#include "signals.h"
#include "text.h"

/* How long the end waits for masters that do not answer, as a key left behind may block others. */
#define OWED_TIMEOUT_MS 1500
#define LED_MOST        64 /* lists of others: a liar might lead us on for ever */

struct session {
    struct ev_loop *loop;
    const struct options *options;
    redlock *client;
    int status;
    bool ending;

    /* Set before session_open().  Called once, from the loop, when every master was reached or
     * tried.  Unless `patient`, silent masters hold it up only until a moment after a quorum was
     * reached, or for a quarter of the connect timeout. */
    void (*begin)(void *data);
    bool patient;
    bool hasty;    /* begins at once: the call itself waits for the masters */
    bool looks;    /* takes nothing, and does not send --max-ttl */
    bool any_list; /* begin also when the list of masters is known to be wrong */
    /* Or then the session has a client of another list, and begins: true.  May be NULL. */
    bool (*goes_elsewhere)(void *data);
    /* The list is over, and the masters tell the next one; later ones, too.  May be NULL. */
    void (*is_over)(void *data);
    /* Called for each signal that could end us, from the loop; NULL: signals do what they do.  A
     * signal that only means something to a running command is left out, unless `hears_all`. */
    void (*signalled)(void *data, int number);
    bool hears_all;
    struct signals signals;
    int first_signal; /* that came; 0: none did */

    void *data;
    ev_timer begin_timer;

    /* Called at the end, with the status known and the client still there; may be NULL. */
    void (*ended)(void *data);

    bool quorum_up, begun;
    unsigned refused; /* masters that were said to have no vote; bits */

    ev_timer release_timer;
    ev_prepare release_look;
    ev_idle release_idle;
    bool released;

    redlock *former;  /* it closes; NULL: none does */
    unsigned lists;   /* gone through, as told by masters */
    int64_t asked_at; /* boot_ms(), for the first time */

    bool ready; /* every master was reached or tried, with this result: */
    redlock_code readiness;
    struct text ready_text;
};

/* The exit status for a code of the library, as the user wants to have it. */
int session_exit_for(const struct session *session, redlock_code code);

/* False: after an error message; session->status is set.  `data` is for the callbacks. */
bool session_open(struct session *session, const struct options *options, void *data);
int session_run(struct session *session);
int session_perform(struct session *session, const struct options *options, void *data);
void session_end(struct session *session, int status, int64_t patience_ms);
/* For an end after a quorum has released: waits only for answers that are on their way.  The
 * other masters are a minority, and their keys end with the ttl. */
void session_end_released(struct session *session, int status);

/* As session_end(), because of a signal, which --json reports; `event` may be NULL. */
void session_end_by_signal(struct session *session, int number, const redlock_event *event);

/* Tells the user of a failure: as the JSON document on stdout, else as a message with the
 * reasons.  `what`: "cannot lock". */
void session_tell_failure(struct session *session, const char *what, const redlock_event *event);

/* The call that ended with this code may be made anew: its list is over, and the session has the
 * next one from now on.  False: it ended for another reason, or a signal has come. */
bool session_goes_on(struct session *session, redlock_code code);
/* Of a wait that began with the first call of this. */
int64_t session_rest_of(struct session *session, int64_t wait_ms);
/* That rest, as a call takes it: REDLOCK_ZERO if nothing is left. */
int64_t session_timeout_of(struct session *session, int64_t wait_ms);
/* The exit status for the call that has ended with this code. */
int session_status_of_call(const struct session *session, redlock_code code);

/* The options of its clients.  One that may become the session's has to tell it of its masters. */
redlock_options session_settings(const struct session *session);
void session_hears_node(struct session *session, redlock *client, unsigned index);
/* The session has this client from now on, and the former one closes. */
void session_take_client(struct session *session, redlock *next);

/* Tells what makes the list wrong. */
void session_say_refused(const struct session *session);
/* Why those masters that do not vote say nothing. */
void session_say_masters(const struct session *session);
/* Warns that it goes on with this list, for somebody should give it to this client. */
void session_say_led(const struct session *session);

/* For a call that failed at once: tells redlock_last_error() and ends the session. */
void session_refused(struct session *session, const char *what, redlock_code code);

/* Writes a result to stdout, and frees it; a failure becomes the status. */
bool session_put(struct session *session, struct text *text);

#endif
