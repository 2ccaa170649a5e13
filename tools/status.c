/*
 * status.c - who holds each name, on which masters, for how long: once, or each change.
 */
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "commands.h"
#include "crowds.h"
#include "duration.h"
#include "failure.h"
#include "say.h"
#include "session.h"

const char status_help[] =
    "usage: redlock status [--check | --watch] NAME...\n"
    "\n"
    "Asks every master for the holder and the waiters of each name. The ttl is the\n"
    "time left unless the holder renews it, as a live one does.\n"
    "\n"
    "  held         one holder has it on a quorum\n"
    "  shared       readers have it on a quorum; `first` ends first\n"
    "  permits      nobody has the name itself, but permits of it are out, or waited\n"
    "               for; `first` has the lowest slot; of how many: the largest K\n"
    "               in use\n"
    "  partly held  some masters have a holder, but no quorum has the same one: an\n"
    "               attempt under way, or the rest of one\n"
    "  free         it has no holder\n"
    "  unknown      no quorum of masters answered; a restarted master that abstains\n"
    "               may have forgotten a holder, so it answers only if it has one\n"
    "\n"
    "  --check      the exit status is 75 unless all names are free\n"
    "  --watch      go on, and print each change, with the time, until a signal, or\n"
    "               nobody reads the pipe: it asks each master about each name once a\n"
    "               second; with --json it prints a line for each change, with the\n"
    "               names that have changed\n"
    "\n"
    "It writes nothing on the masters. It does not send --max-ttl, but judges by it\n"
    "how long a restarted master abstains. `redlock --help` has all options.\n"
    "\n"
    "Exit status: 0 a quorum answered for each name (--check: and all are free), 64\n"
    "usage, 69 for some name none did, 75 (--check) some name is not free, 78 the\n"
    "list of masters is wrong, 128+N (--watch) ended by signal N.\n"
    "\n"
    "Example:\n"
    "  redlock status --check -q deploy || echo 'wait for the deployment'\n"
    "  redlock status --json deploy | jq -r '.names[0].state'\n";

#define WATCH_S 1.0

/* One name that was asked about, and the answer, ready to be printed. */
struct question {
    struct status *status;
    redlock_name name;
    redlock_code code;
    struct text answer;
    struct text mark, told; /* --watch: of the answer, and of that which was printed last */
};

struct status {
    struct session session;
    struct question *questions;
    size_t waiting; /* questions not yet answered */
    ev_timer again; /* --watch */
    int exit;
};

/* ---- What is printed ----------------------------------------------------- */

static bool watches(const struct status *status)
{
    return status->session.options->watch;
}

static bool is_news(const struct question *question)
{
    return !watches(question->status) || question->told.length != question->mark.length ||
           memcmp(question->told.bytes, question->mark.bytes, question->mark.length) != 0;
}

static void add_answers(struct text *out, struct status *status)
{
    bool as_json = status->session.options->json;
    bool any = false;
    char now[NOW_SIZE];
    for (size_t i = 0; i < status->session.options->names_count; i++) {
        struct question *question = &status->questions[i];
        if (!is_news(question))
            continue;
        text_format(out, "%s", as_json && any ? "," : "");
        if (watches(status) && !as_json)
            text_format(out, "%s", now_show(now));
        text_add(out, question->answer.bytes, question->answer.length);
        any = true;
    }
}

/* The next answer takes the place of this one. */
static void settle(struct question *question)
{
    text_free(&question->told);
    text_free(&question->answer);
    question->told = question->mark;
    question->mark = (struct text){0};
}

/* A quorum answered for each name. */
static bool is_known(const struct status *status)
{
    bool is = true;
    for (size_t i = 0; i < status->session.options->names_count; i++)
        is &= status->questions[i].code == REDLOCK_OK;
    return is;
}

static void put_answers(struct status *status)
{
    struct text answers = {0}, out = {0};
    add_answers(&answers, status);
    if (status->session.options->json)
        text_format(&out, "{\"ok\":%s,\"names\":[", is_known(status) ? "true" : "false");
    text_add(&out, answers.bytes, answers.length);
    if (status->session.options->json)
        text_format(&out, "]}\n");
    if (answers.length > 0 && !put_text(&out))
        status->exit = EXIT_OUTPUT;
    for (size_t i = 0; i < status->session.options->names_count; i++)
        settle(&status->questions[i]);
    text_free(&answers);
    text_free(&out);
}

/* ---- Asking ------------------------------------------------------------- */

static void note_answer(struct question *question, const redlock_look_result *result)
{
    const struct options *options = question->status->session.options;
    answer_mark(&question->mark, &question->told, result);
    if (options->json)
        answer_json(&question->answer, &question->name, result);
    else if (options->watch)
        answer_show_short(&question->answer, &question->name, result);
    else
        answer_show(&question->answer, &question->name, result);
}

static void watch_on(struct status *status)
{
    ev_timer_set(&status->again, WATCH_S, 0);
    ev_timer_start(status->session.loop, &status->again);
}

/* Printed in the order of the names, when all were answered. */
static void all_answered(struct status *status)
{
    put_answers(status);
    if (!watches(status) || status->exit == EXIT_OUTPUT)
        session_end(&status->session, status->exit, 0);
    else
        watch_on(status);
}

static void list_is_wrong(struct status *status, const redlock_look_result *result)
{
    struct seen seen;
    look_as_event(result, &seen);
    session_tell_failure(&status->session, "cannot ask about", &seen.event);
    session_end(&status->session, EXIT_NODES, 0);
}

/* A name that is held counts more than one that is not known. */
static void note_status(struct status *status, const redlock_look_result *result)
{
    struct answer answer = answer_judge(result);
    bool is_held = result->code == REDLOCK_OK && !answer_is(&answer, "free");
    if (status->session.options->check && is_held)
        status->exit = EXIT_CONTENDED;
    else if (result->code != REDLOCK_OK && status->exit != EXIT_CONTENDED)
        status->exit = exit_for(result->code);
}

static void on_result(redlock_look *look, const redlock_look_result *result, void *data)
{
    struct question *question = data;
    struct status *status = question->status;
    redlock_look_free(look);
    if (status->session.ending)
        return;
    if (exit_for(result->code) == EXIT_NODES) {
        list_is_wrong(status, result);
        return;
    }
    question->code = result->code;
    note_answer(question, result);
    note_status(status, result);
    if (--status->waiting == 0)
        all_answered(status);
}

static bool ask(struct status *status, struct question *question)
{
    redlock_look *look;
    redlock_code code = redlock_look_begin(status->session.client, &look, &question->name, 1, NULL,
                                           on_result, question);
    if (code != REDLOCK_OK)
        session_refused(&status->session, "cannot ask about", code);
    return code == REDLOCK_OK;
}

/* One question for each name: a question about several names tells only the first that is held. */
static void on_begin(void *data)
{
    struct status *status = data;
    const struct options *options = status->session.options;
    status->exit = EXIT_DONE;
    status->waiting = options->names_count;
    for (size_t i = 0; i < options->names_count; i++) {
        status->questions[i].status = status;
        status->questions[i].name = options->names[i];
        if (!ask(status, &status->questions[i]))
            return;
    }
}

/* ---- Watching ----------------------------------------------------------- */

static void on_again(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct status *status = timer->data;
    (void)loop;
    (void)events;
    if (status->session.ending)
        return;
    if (output_is_read())
        on_begin(status);
    else
        session_end(&status->session, EXIT_OUTPUT, 0);
}

static void on_signal(void *data, int number)
{
    struct status *status = data;
    ev_timer_stop(status->session.loop, &status->again);
    session_end_by_signal(&status->session, number, NULL);
}

/* ---- The command -------------------------------------------------------- */

static void free_questions(struct status *status)
{
    for (size_t i = 0; i < status->session.options->names_count; i++) {
        text_free(&status->questions[i].answer);
        text_free(&status->questions[i].mark);
        text_free(&status->questions[i].told);
    }
    free(status->questions);
}

int perform_status(const struct options *options)
{
    struct status status = {.session = {.begin = on_begin,
                                        .signalled = options->watch ? on_signal : NULL,
                                        .hasty = !options->watch,
                                        .looks = true}};
    ev_init(&status.again, on_again);
    status.again.data = &status;
    status.questions = calloc(options->names_count, sizeof(*status.questions));
    if (!status.questions) {
        failure_tell(options, "cannot ask about", REDLOCK_E_MEMORY,
                     redlock_code_text(REDLOCK_E_MEMORY), NULL);
        return EXIT_INTERNAL;
    }
    session_perform(&status.session, options, &status);
    free_questions(&status);
    return status.session.status;
}
