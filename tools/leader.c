/*
 * leader.c - what a leader announces: once, or each change.
 */
#include <inttypes.h>
#include <string.h>

#include "commands.h"
#include "failure.h"
#include "redlock/recipes.h"
#include "say.h"
#include "session.h"
#include "votes.h"

const char leader_help[] =
    "usage: redlock leader [--watch] NAME\n"
    "\n"
    "Prints the announcement of the leader of NAME: one line, its term, a space and\n"
    "the value. It may not lead any more: send the term with each request, and the\n"
    "leader refuses other terms than its own.\n"
    "\n"
    "  --watch    go on, and print a line for each change, until a signal: a line\n"
    "             with the term 0 when nobody announces anything, and with -1 when\n"
    "             too few masters answer to know; then stderr has the reason\n"
    "\n"
    "Bytes of the value that cannot be shown are \\xNN. With --json the value is\n"
    "whole, except bytes that are not UTF-8.\n"
    "\n"
    "Exit status: 0 somebody announces, 1 nobody does, 64 usage, 69 too few masters\n"
    "answer to know, 78 the list of masters is wrong, 128+N ended by signal N.\n"
    "\n"
    "Example:\n"
    "  read -r term address < <(redlock leader scheduler)\n";

struct leader {
    struct session session;
    redlock_observer *observer;
    struct text line; /* printed last, with --watch */
    bool elsewhere;   /* an observer by another list begins with what may be known */
};

static const char *state_of(const redlock_leader *told)
{
    return told->code ? "unknown" : told->term ? "announced" : "nobody";
}

static const char *text_of(const redlock_leader *told)
{
    return told->text[0] ? told->text : redlock_code_text(told->code);
}

static void put_json(struct text *out, const struct leader *leader, const redlock_leader *told)
{
    struct json json = outcome_json(out, told->code, text_of(told));
    json_string(&json, "name", leader->session.options->names[0].bytes);
    json_string(&json, "state", state_of(told));
    json_number(&json, "term", told->term);
    if (told->term)
        json_bytes(&json, "value", told->value, told->length);
    else
        json_null(&json, "value");
    json_number(&json, "said_by", told->said);
    json_number(&json, "masters", told->masters);
    json_end(&json);
}

static void put_line(struct text *out, const redlock_leader *told)
{
    text_format(out, "%" PRId64, told->code ? -1 : told->term);
    if (told->term) {
        text_format(out, " ");
        text_shown(out, told->value, told->length);
    }
    text_format(out, "\n");
}

/* Else another list told the same as the one before. */
static bool is_news(struct leader *leader, const redlock_leader *told)
{
    struct text line = {0};
    put_line(&line, told);
    bool is_same =
        leader->elsewhere && leader->line.length > 0 && strcmp(line.bytes, leader->line.bytes) == 0;
    text_free(&leader->line);
    leader->line = line;
    leader->elsewhere = false;
    return !is_same;
}

static bool put(struct leader *leader, const redlock_leader *told)
{
    const struct options *options = leader->session.options;
    struct text out = {0};
    if (!is_news(leader, told))
        return true;
    if (options->json)
        put_json(&out, leader, told);
    else if (options->watch || told->term)
        put_line(&out, told);
    return out.length == 0 || session_put(&leader->session, &out);
}

static int status_of(const redlock_leader *told)
{
    return told->code ? exit_for(told->code) : told->term ? EXIT_DONE : EXIT_NOBODY;
}

/* Masters that are connected, and of which too few said something that counts: an error tells why.
 */
static void say_unknown(const struct leader *leader, const redlock_leader *told)
{
    struct text out = {0};
    text_format(&out, "redlock: the leader is not known: too few masters answer");
    if (told->text[0]) {
        text_format(&out, ": ");
        text_shown(&out, told->text, strlen(told->text));
    }
    text_format(&out, "\n");
    nodes_explain(&out, leader->session.client);
    say_text(&out);
    text_free(&out);
}

static void say_why(const struct leader *leader, const redlock_leader *told)
{
    const struct options *options = leader->session.options;
    if (options->json)
        return;
    if (exit_for(told->code) == EXIT_NODES)
        session_say_refused(&leader->session);
    else if (told->code)
        say_unknown(leader, told);
    else if (!told->term && !options->watch && !options->quiet)
        say("nobody announces anything");
}

static void on_begin(void *data);

/* The list is over, and the next one is observed. */
static bool observes_elsewhere(struct leader *leader, const redlock_leader *told)
{
    if (!session_goes_on(&leader->session, told->code))
        return false;
    redlock_observer_free(leader->observer);
    leader->observer = NULL;
    leader->elsewhere = true;
    on_begin(leader);
    return true;
}

static void on_leader(redlock_observer *observer, const redlock_leader *told, void *data)
{
    struct leader *leader = data;
    const struct options *options = leader->session.options;
    (void)observer;
    if (observes_elsewhere(leader, told))
        return;
    bool done = put(leader, told);
    if (done)
        say_why(leader, told);
    if (done && options->watch && status_of(told) != EXIT_NODES)
        return;
    redlock_observer_free(leader->observer);
    leader->observer = NULL;
    session_end(&leader->session, done ? status_of(told) : EXIT_OUTPUT, OWED_TIMEOUT_MS);
}

static void on_signal(void *data, int number)
{
    struct leader *leader = data;
    redlock_observer_free(leader->observer);
    leader->observer = NULL;
    session_end_by_signal(&leader->session, number, NULL);
}

static void on_begin(void *data)
{
    struct leader *leader = data;
    redlock_code code =
        redlock_observer_begin(leader->session.client, &leader->observer,
                               leader->session.options->names[0].bytes, on_leader, leader);
    if (code != REDLOCK_OK)
        session_refused(&leader->session, "cannot observe", code);
}

/* One look writes nothing on the masters.  A watcher registers there, to hear of changes. */
int perform_leader(const struct options *options)
{
    struct leader leader = {
        .session = {
            .begin = on_begin, .signalled = on_signal, .hasty = true, .looks = !options->watch}};
    int status = session_perform(&leader.session, options, &leader);
    text_free(&leader.line);
    return status;
}
