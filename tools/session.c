#include "session.h"

#include <string.h>

#include "commands.h"
#include "json.h"
#include "say.h"
#include "votes.h"

#define DEFAULT_CONNECT_TIMEOUT_MS 1000 /* the library's */

/* In the messages of `run --json` this, too, must be a document. */
static void on_log(redlock_level level, const char *text, void *data)
{
    const struct session *session = data;
    struct text line = {0};
    struct json json = {.out = &line};
    (void)level;
    if (!session->options->json || session->options->command->bit != FOR_RUN) {
        say("%s", text);
        return;
    }
    json_open(&json, NULL, '{');
    json_string(&json, "event", "log");
    json_string(&json, "text", text);
    json_close(&json, '}');
    text_format(&line, "\n");
    say_text(&line);
    text_free(&line);
}

/* ---- Failures ----------------------------------------------------------- */

static void failure_json(struct text *out, const struct options *options, redlock_code code,
                         const char *sentence, const redlock_event *event)
{
    struct json json = {.out = out};
    json_open(&json, NULL, '{');
    if (options->command->bit == FOR_RUN) {
        json_word(&json, "event", event ? redlock_event_name(event->kind) : "refused");
    }
    json_bool(&json, "ok", false);
    json_string(&json, "code", redlock_code_name(code));
    json_string(&json, "text", sentence);
    names_json(&json, options->names, options->names_count);
    if (event) {
        json_number(&json, "rounds", event->rounds);
        json_number(&json, "elapsed_ms", event->elapsed_ms);
        votes_json(&json, event);
    }
    json_close(&json, '}');
    text_format(out, "\n");
}

static void failure_text(struct text *out, const struct options *options, const char *what,
                         const char *sentence, const redlock_event *event)
{
    text_format(out, "redlock: %s", what);
    if (options->names_count > 0) {
        text_format(out, " ");
        names_show(out, options->names, options->names_count);
    }
    text_format(out, ": ");
    text_shown(out, sentence, strlen(sentence));
    text_format(out, "\n");
    if (event) {
        votes_explain(out, event);
    }
}

/* The document of `run` goes to stderr: stdout belongs to the command it runs. */
static void tell(const struct options *options, const char *what, redlock_code code,
                 const char *sentence, const redlock_event *event)
{
    struct text out = {0};
    if (options->json) {
        failure_json(&out, options, code, sentence, event);
        if (options->command->bit == FOR_RUN) {
            say_text(&out);
        } else {
            put_text(&out);
        }
    } else if (!options->quiet) {
        failure_text(&out, options, what, sentence, event);
        say_text(&out);
    }
    text_free(&out);
}

/* Which master makes the list wrong. */
static void note_refused(struct text *out, const redlock *client)
{
    for (unsigned i = 0; i < redlock_nodes(client); i++) {
        redlock_node node;
        if (redlock_node_get(client, i, &node) == REDLOCK_OK &&
            node.state == REDLOCK_NODE_REFUSED) {
            text_format(out, "%s%s %s", out->length > 0 ? "; " : "", node.node, node.text);
        }
    }
}

static const char *best_sentence(struct session *session, const redlock_event *event)
{
    bool reasons_follow = !session->options->json;
    struct text *known = &session->ready_text;
    if (exit_for(event->code) == EXIT_NODES && known->length == 0) {
        note_refused(known, session->client);
    }
    if (exit_for(event->code) == EXIT_NODES && known->length > 0) {
        return known->bytes;
    }
    return reasons_follow ? votes_headline(event) : event->text;
}

void session_tell_failure(struct session *session, const char *what, const redlock_event *event)
{
    tell(session->options, what, event->code, best_sentence(session, event), event);
}

void session_refused(struct session *session, const char *what, redlock_code code)
{
    tell(session->options, what, code, redlock_last_error(session->client), NULL);
    session_end(session, exit_for(code), PATIENCE_OWED_MS);
}

/* ---- Begin -------------------------------------------------------------- */

/* A replica would vote with its master's voice, a master listed twice twice: then
 * nothing that a quorum says is worth anything. */
static bool list_is_wrong(const struct session *session)
{
    return session->ready && exit_for(session->readiness) == EXIT_NODES;
}

static void begin(struct session *session)
{
    ev_timer_stop(session->loop, &session->begin_timer);
    if (session->begun || session->ending) {
        return;
    }
    session->begun = true;
    if (list_is_wrong(session) && !session->any_list) {
        tell(session->options, "cannot begin with", session->readiness, session->ready_text.bytes,
             NULL);
        session_end(session, EXIT_NODES, 0);
    } else {
        session->begin(session->data);
    }
}

/* Its lines as one sentence. */
static void note_readiness(struct text *out, const char *text)
{
    for (; *text; text++) {
        if (*text != '\n') {
            text_add(out, text, 1);
        } else if (text[1]) {
            text_add(out, "; ", 2);
        }
    }
}

static void on_ready(redlock *client, redlock_code code, const char *text, void *data)
{
    struct session *session = data;
    (void)client;
    session->ready = true;
    session->readiness = code;
    note_readiness(&session->ready_text, text && *text ? text : redlock_code_text(code));
    begin(session);
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
    if (connect_ms == 0) {
        connect_ms = DEFAULT_CONNECT_TIMEOUT_MS;
    }
    ev_timer_init(&session->begin_timer, on_begin_time, (double)connect_ms / 4000, 0);
    session->begin_timer.data = session;
    if (!session->patient) {
        ev_timer_start(session->loop, &session->begin_timer);
    }
}

/* ---- Start and end ------------------------------------------------------ */

static redlock_options client_options(struct session *session)
{
    const struct options *given = session->options;
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.nodes = given->nodes;
    options.label = given->label;
    options.prefix = given->prefix;
    options.max_ttl_ms = given->max_ttl_ms;
    options.request_timeout_ms = given->request_timeout_ms;
    options.connect_timeout_ms = given->connect_timeout_ms;
    options.on_ready = on_ready;
    options.on_log = given->verbose ? on_log : NULL;
    options.data = session;
    return options;
}

bool session_open(struct session *session, const struct options *options)
{
    char why[500] = "";
    session->options = options;
    session->loop = ev_default_loop(0);
    if (!session->loop) {
        say("cannot start the event loop");
        session->status = EXIT_INTERNAL;
        return false;
    }
    redlock_options settings = client_options(session);
    redlock_code code = redlock_open(&session->client, session->loop, &settings, why, sizeof(why));
    if (code != REDLOCK_OK) {
        tell(options, "cannot start", code, why[0] ? why : redlock_code_text(code), NULL);
        session->status = exit_for(code);
        return false;
    }
    plan_begin(session);
    return true;
}

int session_run(struct session *session)
{
    ev_run(session->loop, 0);
    if (!session->ending) {
        say("internal error: nothing is left to wait for, and there is no outcome");
        session->status = EXIT_INTERNAL;
    }
    redlock_free(session->client);
    text_free(&session->ready_text);
    return session->status;
}

static void on_closed(redlock *client, unsigned left, void *data)
{
    struct session *session = data;
    (void)client;
    if (left > 0 && session->options->verbose) {
        say("%u releases could not be delivered; those keys end with their ttl", left);
    }
    ev_break(session->loop, EVBREAK_ALL);
}

void session_end(struct session *session, int status, int64_t patience_ms)
{
    if (!session->ending) {
        session->ending = true;
        session->status = status;
        redlock_close(session->client, patience_ms, on_closed, session);
    }
}

bool session_put(struct session *session, const struct text *text)
{
    if (put_text(text)) {
        return true;
    }
    session->status = EXIT_OUTPUT;
    return false;
}
