/*
 * run.c - holds locks while a command runs.
 *
 *   ask for the lease ── ACQUIRED ──► start the command ── it ends ──► release ──► end
 *          │                                │
 *          │                 LOST, --max-hold: SIGTERM, SIGKILL before the lease ends
 *          └─ NOT_ACQUIRED ─────────────────────────────────────────────────────► end
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"
#include "commands.h"
#include "duration.h"
#include "json.h"
#include "say.h"
#include "session.h"
#include "signals.h"
#include "votes.h"
#include "waiting.h"

const char run_help[] =
    "usage: redlock run [OPTION...] NAME... -- COMMAND [ARGUMENT...]\n"
    "\n"
    "Takes the locks, all or none, runs the command, renews while it runs and\n"
    "releases when it has ended. If the locks are lost, the command's process group\n"
    "gets SIGTERM and then SIGKILL, so that it is gone before the lease ends.\n"
    "\n"
    "  --ttl D          how long the locks outlive us if we crash (10s)\n"
    "  --wait D         how long to wait while somebody else has a lock: 0, 30s,\n"
    "                   forever (0); on a terminal, and with -v, tells who has it\n"
    "  --kill-after D   SIGKILL this long after SIGTERM (5s), on loss perhaps sooner\n"
    "  --margin D       loss is told so long before the lease ends (kill-after, but\n"
    "                   at most ttl/4, and a little more)\n"
    "  --max-hold D     end the command after this time, as on loss, though it is not\n"
    "                   lost (no limit)\n"
    "  --fence          with a fencing token, for the resource to refuse a late\n"
    "                   holder by: see doc/fencing.md\n"
    "\n"
    "The command has REDLOCK_NAME (the first name), REDLOCK_NAMES (all, one per\n"
    "line) and REDLOCK_TOKEN in its environment, with --fence REDLOCK_FENCE too. A\n"
    "`redlock` in it has the same masters: REDLOCK_NODES_FILE is the file with the\n"
    "list, or REDLOCK_NODES the list; where that has a login in it, or the file is a\n"
    "pipe, there is neither, and it must be given its masters, best by a file. It has\n"
    "the same spare and max-ttl: REDLOCK_SPARE, REDLOCK_MAX_TTL.\n"
    "\n"
    "Signals are passed on to it: SIGINT, SIGQUIT and SIGTERM ask for its end, and\n"
    "SIGKILL follows after kill-after; others, as SIGHUP and SIGUSR1, mean what the\n"
    "command makes of them. Ctrl-Z stops us too, so the lock is lost after its ttl.\n"
    "If we are killed (SIGKILL), so is the command, but not its own children. What\n"
    "the command leaves in the background runs on without the lock.\n"
    "\n"
    "With --json, messages are JSON, one document per line, on stderr.\n"
    "\n"
    "Exit status: the command's own, 128+N if signal N ended it; 64 usage, 69 no\n"
    "quorum of masters, 75 somebody else has the lock, 76 it was lost while the\n"
    "command ran, or held for max-hold, 78 the list of masters is wrong, 126 the\n"
    "command cannot be executed, 127 it was not found.\n"
    "\n"
    "Example:\n"
    "  redlock run --wait 1m nightly-report -- ./report.sh\n";

#define VARIABLES 7

struct run {
    struct session session;
    struct signals signals;
    struct waiting waiting;
    struct child child;
    struct alarm max_hold;
    redlock_lease *lease;
    bool running;   /* the command */
    int stopped_by; /* a signal that came while we waited */
    bool lost;
    bool overdue;      /* held for --max-hold */
    bool taken;        /* somebody took the lease from us, nobody knows when */
    int64_t lease_end; /* on boot_ms(), once lost or overdue */
    int status;
    char **environment;
    struct text variables[VARIABLES];
};

/* ---- Times -------------------------------------------------------------- */

/* Between SIGKILL and the end of the lease: for the kernel to do it, and for us to
 * be late. */
static int64_t slack_ms(const struct options *options)
{
    int64_t slack = options->ttl_ms / 20;
    if (slack > 250)
        slack = 250;
    if (options->margin_ms >= 0 && slack > options->margin_ms / 4)
        slack = options->margin_ms / 4;
    return slack;
}

static int64_t margin_ms(const struct options *options)
{
    int64_t quarter = options->ttl_ms / 4;
    int64_t grace = options->kill_after_ms < quarter ? options->kill_after_ms : quarter;
    return options->margin_ms >= 0 ? options->margin_ms : grace + slack_ms(options);
}

/* How long the command may live on after LOST. */
static int64_t grace_ms(const struct options *options, int64_t valid_ms)
{
    int64_t most = valid_ms - slack_ms(options);
    if (most < 0)
        most = 0;
    return options->kill_after_ms < most ? options->kill_after_ms : most;
}

/* ---- Messages ----------------------------------------------------------- */

static void put_line(struct text *line)
{
    text_format(line, "\n");
    say_text(line);
    text_free(line);
}

static struct json begin_line(struct text *line, const char *event)
{
    struct json json = {.out = line};
    json_open(&json, NULL, '{');
    json_word(&json, "event", event);
    return json;
}

static bool is_connecting(const redlock *client)
{
    for (unsigned i = 0; i < redlock_nodes(client); i++) {
        redlock_node node;
        if (redlock_node_get(client, i, &node) == REDLOCK_OK &&
            node.state == REDLOCK_NODE_CONNECTING)
            return true;
    }
    return false;
}

/* A quorum is enough to begin with: what is only beginning is not at risk. */
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
        json_string(&json, "token", redlock_token(run->lease));
        fence_json(&json, event->fence);
        votes_json(&json, event);
        json_close(&json, '}');
        put_line(&line);
    } else {
        say_event(run, event);
    }
}

/* Always as JSON, as text only if asked to be verbose. */
static void tell_if_verbose(const struct run *run, const redlock_event *event)
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
    if (node->state != REDLOCK_NODE_UP) {
        text_format(out, "  %s: ", node->node);
        text_shown(out, node->text, strlen(node->text));
        text_format(out, "\n");
    } else if (node->in_flight > 0 && vote->kind == REDLOCK_VOTE_NONE) {
        text_format(out, "  %s: has not answered yet\n", node->node);
    }
}

/* Votes belong to a round, and at a loss the last one may just have begun, or there may
 * be none.  What is known of the masters themselves then tells why. */
static void explain_loss(struct text *out, const struct run *run, const redlock_event *event)
{
    votes_explain(out, event);
    for (unsigned i = 0; i < event->masters; i++) {
        redlock_node node;
        if (!explains_itself(&event->votes[i]) &&
            redlock_node_get(run->session.client, i, &node) == REDLOCK_OK)
            explain_node(out, &node, &event->votes[i]);
    }
}

/* How the command is cut off. */
static void tell_ending(struct text *out, const struct run *run, int64_t ends_ms, int64_t grace)
{
    if (run->taken) {
        text_format(out, "redlock: the lease is gone; ending the command: ");
    } else {
        text_format(out, "redlock: the lease %s %" PRId64 " ms%s; ending the command: ",
                    ends_ms < 0 ? "ended" : "ends in", ends_ms < 0 ? -ends_ms : ends_ms,
                    ends_ms < 0 ? " ago" : "");
    }
    if (grace > 0)
        text_format(out, "SIGTERM now, SIGKILL in %" PRId64 " ms\n", grace);
    else
        text_format(out, "SIGKILL now\n");
}

/* Said also when quiet: somebody's work was cut off. */
static void tell_lost(const struct run *run, const redlock_event *event, int64_t grace)
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

static void tell_overdue(const struct run *run, int64_t valid_ms, int64_t grace)
{
    struct text line = {0};
    char span[DURATION_SIZE];
    text_format(&line, "the lease was held for the longest time allowed, %s",
                duration_show(span, run->session.options->max_hold_ms));
    if (run->session.options->json) {
        struct text document = {0};
        struct json json = begin_line(&document, "max_hold");
        json_string(&json, "code", redlock_code_name(REDLOCK_E_MAX_HOLD));
        json_string(&json, "text", line.bytes);
        json_number(&json, "valid_ms", valid_ms);
        json_close(&json, '}');
        put_line(&document);
    } else {
        struct text told = {0};
        text_format(&told, "redlock: %s\n", line.bytes);
        tell_ending(&told, run, valid_ms, grace);
        say_text(&told);
        text_free(&told);
    }
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
static void say_killed(const struct run *run)
{
    char span[DURATION_SIZE];
    say_at(REDLOCK_LOG_WARNING,
           "the command had not ended %s after it was asked to (--kill-after), and got SIGKILL",
           duration_show(span, run->session.options->kill_after_ms));
}

static void tell_end(const struct run *run)
{
    bool cut_off = run->lost || run->overdue;
    if (run->child.killed && !cut_off)
        say_killed(run);
    int64_t left = run->lease_end - boot_ms();
    struct text line = {0};
    if (!run->session.options->json) {
        if (cut_off)
            say_end(run, left);
        return;
    }
    struct json json = begin_line(&line, "ended");
    json_number(&json, "status", run->child.exit_status);
    if (cut_off)
        json_number(&json, "margin_ms", left);
    else
        json_null(&json, "margin_ms");
    json_close(&json, '}');
    put_line(&line);
}

static void tell_error(const struct run *run, const char *event, const char *sentence)
{
    struct text line = {0};
    if (run->session.options->json) {
        struct json json = begin_line(&line, event);
        json_string(&json, "text", sentence);
        json_close(&json, '}');
        put_line(&line);
    } else {
        say("%s", sentence);
    }
}

static void tell_not_executed(const struct run *run, const char *command, int error)
{
    struct text sentence = {0};
    text_format(&sentence, "cannot run ");
    text_shown(&sentence, command, strlen(command));
    text_format(&sentence, ": %s", strerror(error));
    tell_error(run, "not_executed", sentence.bytes);
    text_free(&sentence);
}

/* ---- The command's environment ------------------------------------------ */

static bool is_ours(const char *variable)
{
    return strncmp(variable, "REDLOCK_NAME=", 13) == 0 ||
           strncmp(variable, "REDLOCK_NAMES=", 14) == 0 ||
           strncmp(variable, "REDLOCK_TOKEN=", 14) == 0 ||
           strncmp(variable, "REDLOCK_FENCE=", 14) == 0 ||
           strncmp(variable, "REDLOCK_NODES=", 14) == 0 ||
           strncmp(variable, "REDLOCK_NODES_FILE=", 19) == 0 ||
           strncmp(variable, "REDLOCK_SPARE=", 14) == 0 ||
           strncmp(variable, "REDLOCK_MAX_TTL=", 16) == 0;
}

/* From wherever the command goes. */
static void fill_nodes_file(struct text *out, const char *path)
{
    char *here = path[0] == '/' ? NULL : get_current_dir_name();
    text_format(out, "REDLOCK_NODES_FILE=%s%s%s", here ? here : "", here ? "/" : "", path);
    free(here);
}

/* A pipe is read once, by us. */
static bool can_be_read_again(const char *path)
{
    struct stat file;
    return stat(path, &file) == 0 && S_ISREG(file.st_mode);
}

/* Our masters or none: a `redlock` within must not ask others.  A list with a login is for us,
 * not for every command that we run. */
static void fill_nodes(struct text *out, const struct options *options)
{
    const char *path = options->nodes_file;
    if (path && can_be_read_again(path))
        fill_nodes_file(out, path);
    else if (!path && !strchr(options->nodes, '@'))
        text_format(out, "REDLOCK_NODES=%s", options->nodes);
}

/* Equal in all clients of the same masters: those within, too. */
static void fill_shared_settings(struct run *run)
{
    const struct options *options = run->session.options;
    text_format(&run->variables[5], "REDLOCK_SPARE=%d", options->spare);
    if (options->max_ttl_ms > 0)
        text_format(&run->variables[6], "REDLOCK_MAX_TTL=%" PRId64 "ms", options->max_ttl_ms);
}

static void fill_variables(struct run *run)
{
    const struct options *options = run->session.options;
    text_format(&run->variables[0], "REDLOCK_NAME=%s", (const char *)options->names[0].bytes);
    text_format(&run->variables[1], "REDLOCK_NAMES=");
    for (size_t i = 0; i < options->names_count; i++) {
        text_format(&run->variables[1], "%s%s", i > 0 ? "\n" : "",
                    (const char *)options->names[i].bytes);
    }
    text_format(&run->variables[2], "REDLOCK_TOKEN=%s", redlock_token(run->lease));
    fill_nodes(&run->variables[3], options);
    fill_shared_settings(run);
    if (options->fence)
        text_format(&run->variables[4], "REDLOCK_FENCE=%" PRId64, redlock_fence(run->lease));
}

/* environ without those that a `redlock run` around us made, without other masters and
 * passwords, and with ours. */
static bool make_environment(struct run *run)
{
    size_t count = 0;
    while (environ[count])
        count++;
    run->environment = calloc(count + VARIABLES + 1, sizeof(*run->environment));
    if (!run->environment)
        return false;
    char **next = run->environment;
    for (size_t i = 0; i < count; i++)
        if (!is_ours(environ[i]))
            *next++ = environ[i];
    fill_variables(run);
    for (int i = 0; i < VARIABLES; i++)
        if (run->variables[i].bytes)
            *next++ = run->variables[i].bytes;
    return true;
}

static void free_environment(struct run *run)
{
    for (int i = 0; i < VARIABLES; i++)
        text_free(&run->variables[i]);
    free(run->environment);
}

/* ---- The longest hold --------------------------------------------------- */

/* A lease that has just ended is told lost at once. */
static void on_max_hold(void *data)
{
    struct run *run = data;
    int64_t valid = redlock_valid_for(run->lease);
    if (run->lost || valid == 0)
        return;
    int64_t grace = grace_ms(run->session.options, valid);
    run->overdue = true;
    run->lease_end = boot_ms() + valid;
    child_end(&run->child, boot_ms() + grace);
    tell_overdue(run, valid, grace);
}

/* 0 or an errno. */
static int start_max_hold(struct run *run)
{
    int64_t longest = run->session.options->max_hold_ms;
    if (longest == 0)
        return 0;
    int error = alarm_open(&run->max_hold, run->session.loop, on_max_hold, run);
    if (!error && !alarm_set(&run->max_hold, boot_ms() + longest)) {
        error = errno;
        alarm_close(&run->max_hold);
    }
    return error;
}

static void stop_max_hold(struct run *run)
{
    if (run->session.options->max_hold_ms > 0)
        alarm_close(&run->max_hold);
}

/* ---- The command's end -------------------------------------------------- */

static int status_of(const struct run *run)
{
    return run->lost || run->overdue ? EXIT_LOST : run->child.exit_status;
}

/* After LOST too: it clears away what is left on the masters. */
static void release(struct run *run)
{
    if (redlock_release(run->lease) != REDLOCK_OK)
        session_end(&run->session, run->status, PATIENCE_OWED_MS);
}

static void on_child_ended(struct child *child, void *data)
{
    struct run *run = data;
    run->running = false;
    stop_max_hold(run);
    if (child->exec_errno)
        tell_not_executed(run, run->session.options->program[0], child->exec_errno);
    else
        tell_end(run);
    run->status = status_of(run);
    release(run);
}

static bool may_go_on(void *data)
{
    const struct run *run = data;
    return !run->lost && !run->overdue && redlock_valid_for(run->lease) > 0;
}

/* ---- The lease ---------------------------------------------------------- */

static void could_not_start(struct run *run, int error)
{
    tell_not_executed(run, run->session.options->program[0], error);
    run->status = EXIT_INTERNAL;
    release(run);
}

static void on_acquired(struct run *run, const redlock_event *event)
{
    tell_if_verbose(run, event);
    run->child.ended = on_child_ended;
    run->child.may_go_on = may_go_on;
    run->child.data = run;
    if (!make_environment(run)) {
        could_not_start(run, ENOMEM);
        return;
    }
    int error = start_max_hold(run);
    if (error) {
        could_not_start(run, error);
        return;
    }
    error = child_start(&run->child, run->session.loop, run->session.options->program,
                        run->environment);
    if (error) {
        stop_max_hold(run);
        could_not_start(run, error);
        return;
    }
    run->running = true;
}

static void on_not_acquired(struct run *run, const redlock_event *event)
{
    if (run->stopped_by) {
        session_end_by_signal(&run->session, run->stopped_by, event);
        return;
    }
    session_tell_failure(&run->session, "cannot lock", event);
    session_end(&run->session, exit_for(event->code), PATIENCE_OWED_MS);
}

static void on_lost(struct run *run, const redlock_event *event)
{
    int64_t now = boot_ms();
    int64_t grace = grace_ms(run->session.options, event->valid_ms);
    run->lost = true;
    run->taken = event->code == REDLOCK_E_GONE;
    run->lease_end = now + event->ends_ms;
    if (run->running) {
        /* First of all: telling may take time. */
        child_end(&run->child, now + grace);
        tell_lost(run, event, grace);
    }
}

/* A lease that is found gone only now was lost while the command ran. */
static void on_released(struct run *run, const redlock_event *event)
{
    tell_if_verbose(run, event);
    if (run->stopped_by) {
        run->status = EXIT_SIGNAL + run->stopped_by;
    } else if (event->code == REDLOCK_E_GONE && !run->lost) {
        run->status = EXIT_LOST;
        if (!run->session.options->json)
            session_tell_failure(&run->session, "lost", event);
    }
    if (event->code == REDLOCK_OK)
        session_end_released(&run->session, run->status);
    else
        session_end(&run->session, run->status, PATIENCE_OWED_MS);
}

static void on_event(redlock_lease *lease, const redlock_event *event, void *data)
{
    struct run *run = data;
    (void)lease;
    waiting_stop(&run->waiting);
    switch (event->kind) {
    case REDLOCK_ACQUIRED:
        on_acquired(run, event);
        break;
    case REDLOCK_NOT_ACQUIRED:
        on_not_acquired(run, event);
        break;
    case REDLOCK_LOST:
        on_lost(run, event);
        break;
    case REDLOCK_RELEASED:
        on_released(run, event);
        break;
    default:
        tell_if_verbose(run, event);
    }
}

/* ---- Signals ------------------------------------------------------------ */

static void on_signal(void *data, int number)
{
    struct run *run = data;
    if (run->running) {
        child_signal(&run->child, number);
        if (signal_asks_for_end(number))
            child_kill_at(&run->child, boot_ms() + run->session.options->kill_after_ms);
    } else if (signal_is_message(number)) {
        return;
    } else if (!run->lease) {
        session_end_by_signal(&run->session, number, NULL);
    } else if (run->stopped_by == 0 && redlock_release(run->lease) == REDLOCK_OK) {
        run->stopped_by = number;
    }
}

/* ---- The command itself ------------------------------------------------- */

static redlock_code ask(struct run *run)
{
    const struct options *options = run->session.options;
    redlock_lease_options terms = REDLOCK_LEASE_INIT;
    terms.ttl_ms = options->ttl_ms;
    terms.wait_ms = options->wait_ms;
    terms.margin_ms = margin_ms(options);
    terms.max_hold_ms = options->max_hold_ms;
    terms.fence = options->fence;
    return redlock_acquire_names(run->session.client, &run->lease, options->names,
                                 options->names_count, &terms, on_event, run);
}

static void on_begin(void *data)
{
    struct run *run = data;
    redlock_code code = ask(run);
    if (code != REDLOCK_OK)
        session_refused(&run->session, "cannot lock", code);
    else
        waiting_start(&run->waiting, &run->session, run->lease);
}

int perform_run(const struct options *options)
{
    struct run run = {.session = {.begin = on_begin}};
    run.session.data = &run;
    if (!session_open(&run.session, options))
        return run.session.status;
    signals_watch(&run.signals, run.session.loop, on_signal, &run);
    int status = session_run(&run.session);
    free_environment(&run);
    return status;
}
