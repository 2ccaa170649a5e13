#include "session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "duration.h"
#include "failure.h"
#include "list_text.h"
#include "lists_report.h"
#include "remedy.h"
#include "say.h"
#include "votes.h"

#define DEFAULT_CONNECT_TIMEOUT_MS 1000 /* the library's */
#define QUORUM_GRACE_S             0.001
#define RELEASE_TIMEOUT_S          0.2

static void on_log(redlock_level level, const char *text, void *data)
{
    (void)data;
    say_at(level, "%s", text);
}

/* ---- Failures ----------------------------------------------------------- */

/* Adds which masters make the list wrong. */
static void note_refused(struct text *out, redlock *client)
{
    for (unsigned i = 0; i < redlock_node_count(client); i++) {
        redlock_node node = {.size = sizeof(node)};
        if (redlock_node_get(client, i, &node) == REDLOCK_OK && node.state == REDLOCK_NODE_REFUSED)
            text_format(out, "%s%s %s", out->length > 0 ? "; " : "", node.node, node.text);
    }
}

/* Without the wrong masters there is no quorum: the message of the failure names all of them. */
static bool list_leaves_no_quorum(const struct session *session)
{
    unsigned masters = redlock_node_count(session->client), wrong = 0;
    redlock_node node = {.size = sizeof(node)};
    for (unsigned i = 0; i < masters; i++)
        wrong += redlock_node_get(session->client, i, &node) == REDLOCK_OK &&
                 node.state == REDLOCK_NODE_REFUSED;
    return wrong > masters - redlock_quorum(masters, (unsigned)session->options->spare);
}

/* Once, and again when it has voted in between. */
static void tell_of_refused(struct session *session, unsigned index)
{
    redlock_node node = {.size = sizeof(node)};
    if (redlock_node_get(session->client, index, &node) != REDLOCK_OK)
        return;
    unsigned bit = 1U << index;
    bool is_new = node.state == REDLOCK_NODE_REFUSED && !(session->refused & bit);
    session->refused |= node.state == REDLOCK_NODE_REFUSED ? bit : 0;
    session->refused &= ~(node.state == REDLOCK_NODE_UP ? bit : 0);
    bool is_logged = session->options->verbose || session->options->quiet || session->any_list;
    if (is_new && !is_logged && !session->ending && !list_leaves_no_quorum(session))
        say_at(REDLOCK_LOG_WARNING, "%s has no vote: it %s", node.node, node.text);
}

void session_say_refused(const struct session *session)
{
    struct text wrong = {0};
    note_refused(&wrong, session->client);
    if (wrong.length > 0)
        say("the list of masters is wrong: %s", wrong.bytes);
    else if (session->readiness == REDLOCK_E_DIFFERS)
        say("%s", session->ready_text.bytes);
    else
        say("%s: `redlock masters` shows their lists", redlock_code_text(REDLOCK_E_DIFFERS));
    text_free(&wrong);
}

void session_say_masters(const struct session *session)
{
    struct text out = {0};
    nodes_explain(&out, session->client);
    say_text(&out);
    text_free(&out);
}

static const char *best_sentence(struct session *session, const redlock_event *event)
{
    bool reasons_follow = !session->options->json;
    struct text *known = &session->ready_text;
    if (event->code == REDLOCK_E_DIFFERS)
        return event->text; /* no entry of the list is wrong */
    if (exit_for(event->code) == EXIT_NODES && known->length == 0)
        note_refused(known, session->client);
    if (exit_for(event->code) == EXIT_NODES && known->length > 0)
        return known->bytes;
    return reasons_follow ? votes_headline(event) : event->text;
}

int session_exit_for(const struct session *session, redlock_code code)
{
    const struct options *options = session->options;
    int status = exit_for(code);
    if (status == EXIT_CONTENDED && options->conflict_exit > 0)
        return (int)options->conflict_exit;
    if (status == EXIT_UNAVAILABLE && options->unavailable_exit > 0)
        return (int)options->unavailable_exit;
    return status;
}

void session_tell_failure(struct session *session, const char *what, const redlock_event *event)
{
    failure_tell(session->options, what, event->code, best_sentence(session, event), event);
}

void session_refused(struct session *session, const char *what, redlock_code code)
{
    failure_tell(session->options, what, code, redlock_last_error(session->client), NULL);
    session_end(session, session_exit_for(session, code), OWED_TIMEOUT_MS);
}

/* ---- Begin -------------------------------------------------------------- */

/* Wrong entries have no vote, and the others are no quorum. */
static bool list_is_wrong(const struct session *session)
{
    return session->ready && exit_for(session->readiness) == EXIT_NODES;
}

static bool goes_elsewhere(const struct session *session)
{
    return session->goes_elsewhere && session->goes_elsewhere(session->data);
}

static void begin(struct session *session)
{
    ev_timer_stop(session->loop, &session->begin_timer);
    if (session->begun || session->ending)
        return;
    session->begun = true;
    if (list_is_wrong(session) && !session->any_list && !goes_elsewhere(session)) {
        failure_tell(session->options, "cannot begin with", session->readiness,
                     session->ready_text.bytes, NULL);
        session_end(session, EXIT_NODES, 0);
    } else {
        session->begin(session->data);
    }
}

/* Joins the lines into one sentence. */
static void note_readiness(struct text *out, const char *text)
{
    for (; *text; text++)
        if (*text != '\n')
            text_add(out, text, 1);
        else if (text[1])
            text_add(out, "; ", 2);
}

/* A user who waits for ever for other holders does not see that masters are missing. */
static void tell_of_waiting(const struct session *session)
{
    const char *remedy = remedy_for(session->ready_text.bytes);
    say_at(REDLOCK_LOG_WARNING, "still waiting, for too few masters answer: %s",
           session->ready_text.bytes);
    if (remedy)
        say_at(REDLOCK_LOG_WARNING, "-> %s", remedy);
}

static void on_ready(redlock *client, redlock_code code, const char *text, void *data)
{
    struct session *session = data;
    if (client != session->client)
        return;
    session->ready = true;
    session->readiness = code;
    note_readiness(&session->ready_text, text && *text ? text : redlock_code_text(code));
    begin(session);
    bool tells = !session->ending && !session->options->quiet;
    bool waits_for_ever = session->options->wait_ms == REDLOCK_FOREVER;
    if (tells && waits_for_ever && code == REDLOCK_E_UNAVAILABLE)
        tell_of_waiting(session);
}

/* Fills `node`; false if that master cannot be asked now. */
static bool get_connected(redlock *client, unsigned index, redlock_node *node)
{
    return redlock_node_get(client, index, node) == REDLOCK_OK &&
           (node->state == REDLOCK_NODE_UP || node->state == REDLOCK_NODE_ABSTAINS);
}

static unsigned count_connected(redlock *client)
{
    unsigned connected = 0;
    redlock_node node = {.size = sizeof(node)};
    for (unsigned i = 0; i < redlock_node_count(client); i++)
        connected += get_connected(client, i, &node);
    return connected;
}

/* The other masters have a moment more, so that a wrong list is found, and a lease begins on all
 * masters that are well. */
void session_hears_node(struct session *session, redlock *client, unsigned index)
{
    unsigned quorum = redlock_quorum(redlock_node_count(client), (unsigned)session->options->spare);
    if (client != session->client)
        return;
    tell_of_refused(session, index);
    if (session->is_over && redlock_successor(client))
        session->is_over(session->data);
    if (!session->quorum_up && !session->patient && count_connected(client) >= quorum) {
        session->quorum_up = true;
        ev_timer_stop(session->loop, &session->begin_timer);
        ev_timer_set(&session->begin_timer, QUORUM_GRACE_S, 0);
        ev_timer_start(session->loop, &session->begin_timer);
    }
}

static void on_node(redlock *client, unsigned index, void *data)
{
    session_hears_node(data, client, index);
}

static void on_begin_time(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    begin(timer->data);
}

static void plan_begin(struct session *session)
{
    int64_t connect_ms = session->options->connect_timeout_ms;
    if (connect_ms == 0)
        connect_ms = DEFAULT_CONNECT_TIMEOUT_MS;
    double delay_s = session->hasty ? 0 : (double)connect_ms / 4000;
    ev_timer_init(&session->begin_timer, on_begin_time, delay_s, 0);
    session->begin_timer.data = session;
    if (!session->patient)
        ev_timer_start(session->loop, &session->begin_timer);
}

/* ---- What is still owed ------------------------------------------------- */

static bool an_answer_is_on_its_way(const struct session *session)
{
    redlock_node node = {.size = sizeof(node)};
    for (unsigned i = 0; i < redlock_node_count(session->client); i++)
        if (get_connected(session->client, i, &node) && node.in_flight > 0)
            return true;
    return false;
}

static void leave_the_rest(struct session *session)
{
    if (session->options->verbose)
        say("not every master has confirmed the release; a key left there ends with its ttl");
    ev_break(session->loop, EVBREAK_ALL);
}

static void on_release_time(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    leave_the_rest(timer->data);
}

static void on_release_idle(struct ev_loop *loop, ev_idle *idle, int events)
{
    (void)loop;
    (void)events;
    leave_the_rest(idle->data);
}

/* Runs before each wait of the loop.  When no answer is on its way, the client has one more
 * turn, in which it may find that nothing is owed; then the wait is over. */
static void on_release_look(struct ev_loop *loop, ev_prepare *look, int events)
{
    struct session *session = look->data;
    (void)events;
    if (session->released && !an_answer_is_on_its_way(session))
        ev_idle_start(loop, &session->release_idle);
    else
        ev_idle_stop(loop, &session->release_idle);
}

/* Started here, as a watcher started in a callback of the client would run one wait too late. */
static void watch_releases(struct session *session)
{
    ev_idle_init(&session->release_idle, on_release_idle);
    session->release_idle.data = session;
    ev_prepare_init(&session->release_look, on_release_look);
    ev_set_priority(&session->release_look, EV_MINPRI);
    session->release_look.data = session;
    ev_prepare_start(session->loop, &session->release_look);
    ev_unref(session->loop);
}

/* ---- Another list ------------------------------------------------------- */

redlock_options session_settings(const struct session *session)
{
    redlock_options options = options_of_client(session->options);
    options.looks_only = session->looks;
    options.on_log = session->options->verbose ? on_log : NULL;
    return options;
}

static redlock_options client_options(struct session *session)
{
    redlock_options options = session_settings(session);
    options.on_ready = on_ready;
    options.on_node = on_node;
    options.data = session;
    return options;
}

static void on_former_closed(redlock *client, unsigned left, void *data)
{
    struct session *session = data;
    (void)left;
    session->former = NULL;
    redlock_free(client);
}

/* The words about masters were of the former list. */
void session_take_client(struct session *session, redlock *next)
{
    redlock_free(session->former);
    session->former = session->client;
    session->client = next;
    session->ready = false;
    session->readiness = REDLOCK_OK;
    session->refused = 0;
    text_free(&session->ready_text);
    for (unsigned i = 0; i < redlock_node_count(next); i++)
        tell_of_refused(session, i);
    redlock_close(session->former, OWED_TIMEOUT_MS, on_former_closed, session);
}

void session_say_led(const struct session *session)
{
    struct text list = {0};
    list_put_nodes(&list, session->client);
    say_at(REDLOCK_LOG_WARNING,
           "this list of masters is over: goes on with the one in its place, %s", list.bytes);
    text_free(&list);
}

bool session_goes_on(struct session *session, redlock_code code)
{
    char why[500] = "";
    redlock *next;
    bool may = code == REDLOCK_E_DIFFERS && !session->ending && !session->first_signal &&
               session->lists < LED_MOST;
    redlock_options settings = client_options(session);
    settings.nodes = may ? redlock_successor(session->client) : NULL;
    if (!settings.nodes)
        return false;
    if (redlock_open(&next, session->loop, &settings, why, sizeof why) != REDLOCK_OK) {
        say_at(REDLOCK_LOG_WARNING, "cannot use another list of masters: %s", why);
        return false;
    }
    session->lists++;
    session_take_client(session, next);
    if (!session->options->quiet)
        session_say_led(session);
    return true;
}

int64_t session_rest_of(struct session *session, int64_t wait_ms)
{
    int64_t now = boot_ms();
    session->asked_at = session->asked_at ? session->asked_at : now;
    if (wait_ms == REDLOCK_FOREVER)
        return wait_ms;
    return wait_ms > now - session->asked_at ? wait_ms - (now - session->asked_at) : 0;
}

int64_t session_timeout_of(struct session *session, int64_t wait_ms)
{
    int64_t rest_ms = session_rest_of(session, wait_ms);
    return rest_ms ? rest_ms : REDLOCK_ZERO;
}

int session_status_of_call(const struct session *session, redlock_code code)
{
    bool is_stopped = session->first_signal && code == REDLOCK_E_CANCELLED;
    return is_stopped ? EXIT_SIGNAL + session->first_signal : exit_for(code);
}

/* ---- Start and end ------------------------------------------------------ */

/* Without this libev would abort. */
static void on_loop_failed(const char *what)
{
    say("cannot go on: %s: %s", what, strerror(errno));
    exit(EXIT_INTERNAL);
}

/* poll() is good enough for a dozen descriptors; epoll may refuse one
 * (fs.epoll.max_user_watches), and signals, or the end of the command, would go unnoticed. */
static struct ev_loop *make_loop(void)
{
    ev_set_syserr_cb(on_loop_failed);
    return ev_default_loop(EVBACKEND_POLL);
}

static void on_signal(void *data, int number)
{
    struct session *session = data;
    if (!session->hears_all && signal_is_message(number))
        return;
    session->first_signal = session->first_signal ? session->first_signal : number;
    session->signalled(session->data, number);
}

bool session_open(struct session *session, const struct options *options, void *data)
{
    char why[500] = "";
    session->options = options;
    session->data = data;
    session->loop = make_loop();
    if (!session->loop) {
        failure_tell(options, "cannot start", REDLOCK_E_SYSTEM, "there is no event loop", NULL);
        session->status = EXIT_INTERNAL;
        return false;
    }
    redlock_options settings = client_options(session);
    redlock_code code = redlock_open(&session->client, session->loop, &settings, why, sizeof(why));
    if (code != REDLOCK_OK) {
        failure_tell(options, "cannot start", code, why[0] ? why : redlock_code_text(code), NULL);
        session->status = exit_for(code);
        return false;
    }
    plan_begin(session);
    watch_releases(session);
    if (session->signalled)
        signals_watch(&session->signals, session->loop, on_signal, session);
    return true;
}

int session_run(struct session *session)
{
    ev_run(session->loop, 0);
    if (!session->ending) {
        failure_tell(session->options, "internal error with", REDLOCK_E_SYSTEM,
                     "nothing is left to wait for, and there is no outcome", NULL);
        session->status = EXIT_INTERNAL;
    }
    if (session->ended)
        session->ended(session->data);
    redlock_free(session->former);
    redlock_free(session->client);
    text_free(&session->ready_text);
    return session->status;
}

int session_perform(struct session *session, const struct options *options, void *data)
{
    return session_open(session, options, data) ? session_run(session) : session->status;
}

static void on_closed(redlock *client, unsigned left, void *data)
{
    struct session *session = data;
    (void)client;
    if (left > 0 && session->options->verbose) {
        say_at(REDLOCK_LOG_WARNING,
               "%u releases could not be delivered; those keys end with their ttl", left);
    }
    ev_break(session->loop, EVBREAK_ALL);
}

void session_end_by_signal(struct session *session, int number, const redlock_event *event)
{
    if (!session->ending)
        failure_tell_signal(session->options, number, event);
    session_end(session, EXIT_SIGNAL + number, OWED_TIMEOUT_MS);
}

/* Others may hold by the masters of the next list what these say is free. */
static void say_over(const struct session *session)
{
    struct lists_used used;
    struct text list = {0};
    if (session->options->quiet || !redlock_successor(session->client))
        return;
    redlock_lists_used(session->client, &used);
    unsigned tell;
    struct client_text next = lists_successor(&used, &tell);
    text_shown(&list, next.bytes, next.length);
    say_at(REDLOCK_LOG_WARNING,
           "this list of masters is over, and others may hold by the one in its place: %s",
           list.bytes);
    text_free(&list);
}

void session_end(struct session *session, int status, int64_t patience_ms)
{
    if (!session->ending) {
        if (session->looks && !session->any_list)
            say_over(session);
        session->ending = true;
        session->status = status;
        redlock_close(session->client, patience_ms, on_closed, session);
    }
}

void session_end_released(struct session *session, int status)
{
    session_end(session, status, OWED_TIMEOUT_MS);
    ev_timer_init(&session->release_timer, on_release_time, RELEASE_TIMEOUT_S, 0);
    session->release_timer.data = session;
    ev_timer_start(session->loop, &session->release_timer);
    session->released = true;
}

bool session_put(struct session *session, struct text *text)
{
    bool done = put_text(text);
    text_free(text);
    if (!done)
        session->status = EXIT_OUTPUT;
    return done;
}
