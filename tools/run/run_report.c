#include "run_report.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "duration.h"
#include "json.h"
#include "say.h"
#include "votes.h"

static void end_line(struct json *json)
{
    json_end(json);
    say_text(json->out);
    text_free(json->out);
}

static struct json begin_line(struct text *line, const char *event)
{
    struct json json = {.out = line};
    json_open(&json, NULL, '{');
    json_word(&json, "event", event);
    return json;
}

static bool is_connecting(redlock *client)
{
    for (unsigned i = 0; i < redlock_node_count(client); i++) {
        redlock_node node = {.size = sizeof(node)};
        if (redlock_node_get(client, i, &node) == REDLOCK_OK &&
            node.state == REDLOCK_NODE_CONNECTING)
            return true;
    }
    return false;
}

/* A lease that has begun on a quorum while we still connect to the rest is not called at risk. */
static const char *name_for_people(const struct run *run, const redlock_event *event)
{
    bool begins = event->kind == REDLOCK_AT_RISK && is_connecting(run->session.client);
    return begins ? "so far" : redlock_event_name(event->kind);
}

/* The event's text, without its name before it if it begins with that. */
static void say_event(const struct run *run, const redlock_event *event)
{
    const char *name = name_for_people(run, event);
    bool named = strncmp(event->text, name, strlen(name)) == 0;
    say_at(REDLOCK_LOG_INFO, "%s%s%s", named ? "" : name, named ? "" : ": ", event->text);
}

static void tell_event(const struct run *run, const redlock_event *event)
{
    struct text line = {0};
    if (run->session.options->json) {
        struct json json = begin_line(&line, redlock_event_name(event->kind));
        json_string(&json, "code", redlock_code_name(event->code));
        json_string(&json, "text", event->text);
        json_number(&json, "valid_ms", event->valid_ms);
        names_json(&json, run->session.options->names, run->session.options->names_count);
        json_string(&json, "token", redlock_lease_token(run->lease));
        fence_json(&json, event->fence);
        if (run->session.options->permits)
            json_number(&json, "slot", redlock_lease_slot(run->lease));
        votes_json(&json, event);
        end_line(&json);
    } else {
        say_event(run, event);
    }
}

void report_if_verbose(const struct run *run, const redlock_event *event)
{
    if (run->session.options->json || run->session.options->verbose)
        tell_event(run, event);
}

static bool explains_itself(const redlock_vote *vote)
{
    return vote->kind == REDLOCK_VOTE_REFUSED || vote->kind == REDLOCK_VOTE_TIMEOUT ||
           vote->kind == REDLOCK_VOTE_UNREACHABLE || vote->kind == REDLOCK_VOTE_ABSTAINS;
}

static void explain_node(struct text *out, const redlock_node *node, const redlock_vote *vote)
{
    if (node->state != REDLOCK_NODE_UP)
        node_explain(out, node);
    else if (node->in_flight > 0 && vote->kind == REDLOCK_VOTE_NONE)
        text_format(out, "  %s: has not answered yet\n", node->node);
}

/* At a loss the last round may have few votes or none.  The state of the masters then tells why. */
static void explain_loss(struct text *out, const struct run *run, const redlock_event *event)
{
    votes_explain(out, event);
    for (unsigned i = 0; i < event->masters; i++) {
        redlock_node node = {.size = sizeof(node)};
        if (!explains_itself(event->votes[i]) &&
            redlock_node_get(run->session.client, i, &node) == REDLOCK_OK)
            explain_node(out, &node, event->votes[i]);
    }
}

/* Adds how the command is ended. */
static void tell_ending(struct text *out, const struct run *run, int64_t ends_ms, int64_t grace)
{
    if (run->taken) {
        text_format(out, "redlock: the lease is gone; ");
    } else {
        text_format(out, "redlock: the lease %s %" PRId64 " ms%s; ",
                    ends_ms < 0 ? "ended" : "ends in", ends_ms < 0 ? -ends_ms : ends_ms,
                    ends_ms < 0 ? " ago" : "");
    }
    if (run->child.acted)
        text_format(out, "the guardian %s the command\n",
                    run->child.ended ? "has ended" : "is ending");
    else if (grace > 0)
        text_format(out, "ending the command: SIGTERM now, SIGKILL in %" PRId64 " ms\n", grace);
    else
        text_format(out, "ending the command: SIGKILL now\n");
    if (run->session.options->watchdog)
        text_format(out, "redlock: if it cannot be ended, the watchdog resets this machine\n");
}

/* Said also when quiet: somebody's work was cut off. */
void report_lost(const struct run *run, const redlock_event *event, int64_t grace)
{
    struct text line = {0};
    if (run->session.options->json) {
        tell_event(run, event);
        return;
    }
    text_format(&line, "redlock: lost ");
    names_show(&line, run->session.options->names, run->session.options->names_count);
    text_format(&line, ": ");
    text_format(&line, "%s\n", redlock_code_text(event->code));
    explain_loss(&line, run, event);
    tell_ending(&line, run, event->ends_ms, grace);
    say_text(&line);
    text_free(&line);
}

void report_early_end(const struct run *run, const struct early_end *why, int64_t valid_ms,
                      int64_t grace)
{
    struct text line = {0};
    if (run->session.options->json) {
        struct json json = begin_line(&line, why->event);
        json_string(&json, "code", redlock_code_name(why->code));
        json_string(&json, "text", why->text);
        json_number(&json, "valid_ms", valid_ms);
        end_line(&json);
        return;
    }
    text_format(&line, "redlock: %s\n", why->text);
    tell_ending(&line, run, valid_ms, grace);
    say_text(&line);
    text_free(&line);
}

static void say_end(const struct run *run, int64_t left)
{
    if (left >= 0 && !run->taken) {
        say("the command was ended %" PRId64 " ms before the lease's end", left);
    } else {
        say("the command was ended %" PRId64 " ms AFTER the lease %s: somebody else may have "
            "had the lock meanwhile",
            -left, run->taken ? "was found gone" : "had ended");
    }
}

/* Said also when quiet: somebody's work was cut off. */
static void say_killed(const struct run *run, const char *what)
{
    char span[DURATION_SIZE];
    say_at(REDLOCK_LOG_WARNING,
           "%s had not ended %s after it was asked to (--kill-after), and got SIGKILL", what,
           duration_show(span, run->session.options->kill_after_ms));
}

/* Of a command that was not cut off.  If we killed it before the guardian did, that found it ended,
 * and killed the rest in the same moment. */
static void say_rest(const struct run *run)
{
    const struct child *child = &run->child;
    if (child->killed)
        say_killed(run, "the command");
    else if (child->killed_rest)
        say_killed(run, "what the command left behind");
    if (child->asked_rest && !child->killed_rest && !run->ending && !run->session.options->quiet)
        say_at(REDLOCK_LOG_WARNING, "what the command left behind was ended: --leave-children lets "
                                    "it run on");
}

static void say_on_lost_end(int status)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) > 0)
        say("the command of --on-lost ended with status %d", WEXITSTATUS(status));
    else if (WIFSIGNALED(status))
        say("the command of --on-lost was ended by signal %d%s", WTERMSIG(status),
            WTERMSIG(status) == SIGKILL ? ": it has no more time than the command" : "");
}

static void say_on_lost(const struct child *child)
{
    if (child->on_lost == 0)
        say("the command of --on-lost was not run, as there was no time for it");
    else if (child->on_lost < 0)
        say("the command of --on-lost could not be run: %s", strerror(-child->on_lost));
    else if (child->on_lost_ended)
        say_on_lost_end(child->on_lost_status);
}

/* If no process of another user was met, /proc showed none at all. */
static void say_left(const struct child *child)
{
    if (child->one_left > 0)
        say("processes of the command run on, as they belong to another user and cannot be ended: "
            "%u, one of them %d",
            child->left, (int)child->one_left);
    else
        say("processes of the command run on, as /proc does not show them and they cannot be "
            "ended");
}

static void say_why(const struct run *run, bool cut_off)
{
    const struct child *child = &run->child;
    if (child->unguarded)
        say("the guardian of the command was killed, so the command was ended");
    else if (child->acted)
        say("this process did not run in time to renew the lease (was it stopped?): the guardian "
            "ended the command");
    else if (!cut_off)
        say_rest(run);
    if (cut_off && run->session.options->on_lost && !child->unguarded)
        say_on_lost(child);
    if (child->left > 0)
        say_left(child);
    if (child->stays_armed)
        say("the watchdog %s cannot be stopped (nowayout): this machine is reset within %" PRId64
            " s, unless another program feeds it",
            run->session.options->watchdog, child->orders.watchdog.timeout_ms / 1000);
}

void report_end(const struct run *run)
{
    bool cut_off = run->lost || run->overdue || run->child.acted;
    int64_t left = run->lease_end - run->child.gone_at;
    struct text line = {0};
    say_why(run, cut_off);
    if (!run->session.options->json) {
        if (cut_off)
            say_end(run, left);
        return;
    }
    struct json json = begin_line(&line, "ended");
    json_number(&json, "status", run->child.exit_status);
    json_known_number(&json, "margin_ms", cut_off, left);
    end_line(&json);
}

static void tell_error(const struct run *run, const char *event, const char *sentence)
{
    struct text line = {0};
    if (run->session.options->json) {
        struct json json = begin_line(&line, event);
        json_string(&json, "text", sentence);
        end_line(&json);
    } else {
        say("%s", sentence);
    }
}

static const char *why_not_executed(int error)
{
    return error == ETIME ? "the lease was about to end, as this process did not run in time (was "
                            "it stopped?)"
                          : strerror(error);
}

void report_not_executed(const struct run *run, const char *command, int error)
{
    struct text sentence = {0};
    text_format(&sentence, "cannot run ");
    text_shown(&sentence, command, strlen(command));
    text_format(&sentence, ": %s", why_not_executed(error));
    tell_error(run, "not_executed", sentence.bytes);
    text_free(&sentence);
}

void report_no_watchdog(const struct run *run, const char *why)
{
    const char *path = run->session.options->watchdog;
    struct text sentence = {0};
    text_format(&sentence, "cannot use the watchdog ");
    text_shown(&sentence, path, strlen(path));
    text_format(&sentence, ": it %s", why);
    tell_error(run, "not_executed", sentence.bytes);
    text_free(&sentence);
}
