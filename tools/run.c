/*
 * run.c - holds locks while a command runs.
 *
 *   ask for the lease ── ACQUIRED ──► start the command ── it ends ──► release ──► end
 *          │                                │
 *          │                              LOST: SIGTERM, SIGKILL before the lease ends
 *          └─ NOT_ACQUIRED ─────────────────────────────────────────────────────► end
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "commands.h"
#include "duration.h"
#include "json.h"
#include "say.h"
#include "session.h"
#include "signals.h"
#include "votes.h"

const char run_help[] =
    "usage: redlock run [OPTION...] NAME... -- COMMAND [ARGUMENT...]\n"
    "\n"
    "Takes the locks, all or none, runs the command, renews while it runs and\n"
    "releases when it has ended. If the locks are lost, the command's process group\n"
    "gets SIGTERM and then SIGKILL, so that it is gone before the lease ends.\n"
    "\n"
    "  --ttl D          how long the locks outlive us if we crash (10s)\n"
    "  --wait D         how long to wait while somebody else has a lock: 0, 30s,\n"
    "                   forever (0)\n"
    "  --kill-after D   SIGKILL this long after SIGTERM (5s), on loss perhaps sooner\n"
    "  --margin D       loss is told so long before the lease ends (kill-after, but at\n"
    "                   most ttl/4, and a little more)\n"
    "  --max-hold D     end the command after this time (no limit)\n"
    "  --fence          with a fencing token, for the resource to refuse a late holder\n"
    "                   by: see doc/fencing.md\n"
    "\n"
    "The command has REDLOCK_NAME (the first name), REDLOCK_NAMES (all, one per line)\n"
    "and REDLOCK_TOKEN in its environment, with --fence REDLOCK_FENCE too. SIGHUP, SIGINT, SIGQUIT "
    "and SIGTERM are\n"
    "passed on to it. Ctrl-Z stops us too, so the lock is lost after its ttl. If we are\n"
    "killed, so is the command, but not its own children. What the command leaves in\n"
    "the background runs on without the lock. With --json, messages are JSON, one\n"
    "document per line, on stderr.\n"
    "\n"
    "Exit status: the command's own, 128+N if signal N ended it; 64 usage, 69 no\n"
    "quorum of masters, 75 somebody else has the lock, 76 it was lost while the\n"
    "command ran, 78 the list of masters is wrong, 126 the command cannot be\n"
    "executed, 127 it was not found.\n"
    "\n"
    "Example:\n"
    "  redlock run --wait 1m nightly-report -- ./report.sh\n";

#define VARIABLES 4

struct run {
    struct session session;
    struct stops stops;
    struct child child;
    redlock_lease *lease;
    bool running;   /* the command */
    int stopped_by; /* a signal that came while we waited */
    bool lost;
    int64_t lease_end; /* on boot_ms(), once lost */
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
    if (slack > 250) {
        slack = 250;
    }
    if (options->margin_ms >= 0 && slack > options->margin_ms / 4) {
        slack = options->margin_ms / 4;
    }
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
    if (most < 0) {
        most = 0;
    }
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

/* An event of the lease: always as JSON, as text only if asked to be verbose. */
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
        if (event->fence > 0) {
            json_number(&json, "fence", event->fence);
        }
        votes_json(&json, event);
        json_close(&json, '}');
        put_line(&line);
    } else {
        say("%s: %s", redlock_event_name(event->kind), event->text);
    }
}

static void tell_if_verbose(const struct run *run, const redlock_event *event)
{
    if (run->session.options->verbose) {
        tell_event(run, event);
    }
}

/* Votes belong to a round; at a loss there may be none.  What is known of the
 * masters themselves then tells why. */
static void explain_nodes(struct text *out, const redlock *client)
{
    for (unsigned i = 0; i < redlock_nodes(client); i++) {
        redlock_node node;
        if (redlock_node_get(client, i, &node) == REDLOCK_OK && node.state != REDLOCK_NODE_UP) {
            text_format(out, "  %s: ", node.node);
            text_shown(out, node.text, strlen(node.text));
            text_format(out, "\n");
        }
    }
}

static void explain_loss(struct text *out, const struct run *run, const redlock_event *event)
{
    size_t before = out->length;
    votes_explain(out, event);
    if (out->length == before) {
        explain_nodes(out, run->session.client);
    }
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
    text_format(&line, "%s\n", votes_headline(event));
    explain_loss(&line, run, event);
    text_format(&line,
                "redlock: the lease ends in %" PRId64 " ms; ending the command: SIGTERM now, "
                "SIGKILL in %" PRId64 " ms\n",
                event->valid_ms, grace);
    say_text(&line);
    text_free(&line);
}

static void tell_lost_end(const struct run *run)
{
    int64_t left = run->lease_end - boot_ms();
    struct text line = {0};
    if (run->session.options->json) {
        struct json json = begin_line(&line, "ended");
        json_number(&json, "margin_ms", left);
        json_number(&json, "status", run->child.exit_status);
        json_close(&json, '}');
        put_line(&line);
    } else if (left >= 0) {
        say("the command was ended %" PRId64 " ms before the lease's end", left);
    } else {
        say("the command was ended %" PRId64 " ms AFTER the lease's end: somebody else may "
            "have had the lock meanwhile",
            -left);
    }
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
           strncmp(variable, "REDLOCK_FENCE=", 14) == 0;
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
    if (options->fence) {
        text_format(&run->variables[3], "REDLOCK_FENCE=%" PRId64, redlock_fence(run->lease));
    }
}

/* environ without those that a `redlock run` around us made, and with ours. */
static bool make_environment(struct run *run)
{
    size_t count = 0;
    while (environ[count]) {
        count++;
    }
    run->environment = calloc(count + VARIABLES + 1, sizeof(*run->environment));
    if (!run->environment) {
        return false;
    }
    char **next = run->environment;
    for (size_t i = 0; i < count; i++) {
        if (!is_ours(environ[i])) {
            *next++ = environ[i];
        }
    }
    fill_variables(run);
    for (int i = 0; i < VARIABLES && run->variables[i].bytes; i++) {
        *next++ = run->variables[i].bytes;
    }
    return true;
}

static void free_environment(struct run *run)
{
    for (int i = 0; i < VARIABLES; i++) {
        text_free(&run->variables[i]);
    }
    free(run->environment);
}

/* ---- The command's end -------------------------------------------------- */

static int status_of(const struct run *run)
{
    if (run->lost) {
        return EXIT_LOST;
    }
    return run->child.exit_status;
}

/* After LOST too: it clears away what is left on the masters. */
static void release(struct run *run)
{
    if (redlock_release(run->lease) != REDLOCK_OK) {
        session_end(&run->session, run->status, PATIENCE_OWED_MS);
    }
}

static void on_child_ended(struct child *child, void *data)
{
    struct run *run = data;
    run->running = false;
    if (child->exec_errno) {
        tell_not_executed(run, run->session.options->program[0], child->exec_errno);
    } else if (run->lost) {
        tell_lost_end(run);
    }
    run->status = status_of(run);
    release(run);
}

static bool may_go_on(void *data)
{
    const struct run *run = data;
    return !run->lost && redlock_valid_for(run->lease) > 0;
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
    int error = child_start(&run->child, run->session.loop, run->session.options->program,
                            run->environment);
    if (error) {
        could_not_start(run, error);
        return;
    }
    run->running = true;
}

static void on_not_acquired(struct run *run, const redlock_event *event)
{
    if (run->stopped_by) {
        session_end(&run->session, EXIT_SIGNAL + run->stopped_by, PATIENCE_OWED_MS);
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
    run->lease_end = now + event->valid_ms;
    if (run->running) {
        /* First of all: telling may take time. */
        child_end(&run->child, now + grace);
        tell_lost(run, event, grace);
    }
}

/* A lease that is found gone only now was lost while the command ran. */
static void on_released(struct run *run, const redlock_event *event)
{
    int64_t patience = event->code == REDLOCK_OK ? PATIENCE_RELEASED_MS : PATIENCE_OWED_MS;
    tell_if_verbose(run, event);
    if (run->stopped_by) {
        run->status = EXIT_SIGNAL + run->stopped_by;
    } else if (event->code == REDLOCK_E_GONE && !run->lost) {
        run->status = EXIT_LOST;
        session_tell_failure(&run->session, "lost", event);
    }
    session_end(&run->session, run->status, patience);
}

static void on_event(redlock_lease *lease, const redlock_event *event, void *data)
{
    struct run *run = data;
    (void)lease;
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

static void on_stop(void *data, int number)
{
    struct run *run = data;
    if (run->running) {
        child_signal(&run->child, number);
        child_kill_at(&run->child, boot_ms() + run->session.options->kill_after_ms);
    } else if (!run->lease) {
        session_end(&run->session, EXIT_SIGNAL + number, 0);
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
    if (code != REDLOCK_OK) {
        session_refused(&run->session, "cannot lock", code);
    }
}

int perform_run(const struct options *options)
{
    struct run run = {.session = {.begin = on_begin}};
    run.session.data = &run;
    if (!session_open(&run.session, options)) {
        return run.session.status;
    }
    stops_watch(&run.stops, run.session.loop, on_stop, &run);
    int status = session_run(&run.session);
    free_environment(&run);
    return status;
}
