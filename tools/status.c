/*
 * status.c - who holds each name, on which masters, for how long.
 */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "duration.h"
#include "failure.h"
#include "json.h"
#include "permits.h"
#include "readers.h"
#include "say.h"
#include "session.h"
#include "votes.h"

const char status_help[] =
    "usage: redlock status [OPTION]... NAME...\n"
    "\n"
    "Asks every master for the holder and the waiters of each name.\n"
    "\n"
    "  held         one holder has it on a quorum\n"
    "  shared       readers have it on a quorum; `first` ends first\n"
    "  permits      nobody has the name itself, but permits of it are out, or waited\n"
    "               for; `first` has the lowest slot; of how many: the largest K that\n"
    "               a client asked for in the last hour\n"
    "  partly held  some masters have a holder, but no quorum has the same one: an\n"
    "               attempt under way, or the rest of one\n"
    "  free         it has no holder\n"
    "  unknown      no quorum of masters answered; a restarted master that abstains\n"
    "               may have forgotten a holder, so it answers only if it has one\n"
    "\n"
    "It writes nothing on the masters and does not tell them --max-ttl, but judges by\n"
    "it how long a restarted master abstains. `redlock --help` has all options.\n"
    "\n"
    "Exit status: 0 a quorum answered for each name, 64 usage, 69 for some name none\n"
    "did, 78 the list of masters is wrong.\n"
    "\n"
    "Example:\n"
    "  redlock status --json deploy | jq -r '.names[0].state'\n";

#define WAITERS_TOLD 16 /* the waiters whose labels the library gives */

/* One name that was asked about, and the answer, ready to be printed. */
struct question {
    struct status *status;
    redlock_name name;
    struct text answer;
};

struct status {
    struct session session;
    struct question *questions;
    size_t waiting; /* questions not yet answered */
    int exit;
};

/* ---- What it means ------------------------------------------------------ */

struct finding {
    const char *state;
    struct holding holdings[REDLOCK_MASTERS_MAX];
    unsigned count;    /* of holdings */
    unsigned answered; /* masters */
};

static unsigned count_answers(const redlock_event *event)
{
    unsigned answered = 0;
    for (unsigned i = 0; i < event->masters; i++) {
        redlock_vote_kind kind = event->votes[i].kind;
        answered += kind == REDLOCK_VOTE_HELD || kind == REDLOCK_VOTE_FREE;
    }
    return answered;
}

/* The marker alone may be of other software, or what is left where somebody deleted the readers. */
static bool is_shared(const redlock_event *event, const struct holding *holding)
{
    return is_marker(holding->holder) && votes_readers(event).count > 0;
}

static const char *held_state(const redlock_event *event, const struct holding *holding)
{
    if (is_of_permits(holding->holder) && votes_permits(event).count > 0)
        return "permits";
    return is_shared(event, holding) ? "shared" : "held";
}

static struct finding judge(const redlock_event *event)
{
    struct finding finding = {.answered = count_answers(event)};
    finding.count = votes_holdings(event, finding.holdings);
    if (event->code != REDLOCK_OK)
        finding.state = "unknown";
    else if (finding.count == 0)
        finding.state = "free";
    else if (finding.holdings[0].masters >= event->quorum && finding.holdings[0].holder)
        finding.state = held_state(event, &finding.holdings[0]);
    else
        finding.state = "partly held";
    return finding;
}

/* ---- How it is shown ---------------------------------------------------- */

/* ", first LABEL," */
static void show_first(struct text *out, const struct waiters *crowd)
{
    size_t first = strcspn(crowd->tokens, "\n");
    if (first > 0) {
        text_format(out, ", first ");
        who_show(out, crowd->tokens, first);
    }
    text_format(out, ",");
}

/* "3, first LABEL," behind "shared by" */
static void show_readers(struct text *out, const struct waiters *readers, bool is_shared)
{
    if (is_shared)
        text_format(out, "%u", readers->count);
    else
        readers_show(out, readers->count);
    show_first(out, readers);
}

/* "2 of 4 permits, first LABEL," */
static void show_permits(struct text *out, const struct permits *permits)
{
    permits_show(out, permits->holders.count, permits->count);
    show_first(out, &permits->holders);
}

/* Masters on which nobody has a name that is held elsewhere tell of its permits. */
static struct permits permits_of(const struct finding *finding, const redlock_event *event)
{
    bool are_out = finding->count > 0 && is_of_permits(finding->holdings[0].holder);
    return are_out ? votes_permits(event) : (struct permits){.holders.tokens = ""};
}

static bool is_state(const struct finding *finding, const char *state)
{
    return strcmp(finding->state, state) == 0;
}

static void show_who(struct text *out, const redlock_event *event, const struct finding *finding)
{
    const char *holder = finding->holdings[0].holder;
    struct waiters readers = votes_readers(event);
    struct permits permits = permits_of(finding, event);
    if (is_of_permits(holder))
        show_permits(out, &permits);
    else if (is_marker(holder))
        show_readers(out, &readers, is_state(finding, "shared"));
    else
        holder_show(out, holder);
}

/* The state itself is said of permits with their numbers. */
static void show_state(struct text *out, const redlock_event *event, const struct finding *finding)
{
    if (!is_state(finding, "permits"))
        text_format(out, "%s", finding->state);
    if (finding->count > 0 && !is_state(finding, "permits"))
        text_format(out, event->code == REDLOCK_OK ? " by " : "; held by ");
}

static void show_holding(struct text *out, const redlock_event *event,
                         const struct finding *finding)
{
    char span[DURATION_SIZE];
    const struct holding *holding = &finding->holdings[0];
    show_who(out, event, finding);
    text_format(out, " on %u of %u masters", holding->masters, event->masters);
    if (holding->remaining_ms >= 0)
        text_format(out, ", %s left", duration_show(span, holding->remaining_ms));
    else if (holding->remaining_ms == -2)
        text_format(out, ", for ever (no ttl)");
    text_format(out, "%s", holding_doubt(event, holding));
}

/* Shows labels only: tokens of waiters are of no use to people. */
static void show_waiter(void *data, const char *token, size_t length)
{
    struct text *out = data;
    text_format(out, "%s", out->length > 0 ? ", " : "");
    who_show(out, token, length);
}

/* `one` and `many`: what they do. */
static void show_crowd(struct text *out, struct waiters crowd, const char *one, const char *many)
{
    struct text who = {0};
    if (crowd.count == 0)
        return;
    waiters_each(&crowd, show_waiter, &who);
    text_format(out, "  %u %s: %s%s\n", crowd.count, crowd.count == 1 ? one : many,
                who.length > 0 ? who.bytes : "?", crowd.count > WAITERS_TOLD ? ", ..." : "");
    text_free(&who);
}

static void waiter_json(void *data, const char *token, size_t length)
{
    struct json *json = data;
    struct text value = {0};
    text_add(&value, token, length);
    json_open(json, NULL, '{');
    json_bytes(json, "token", token, length);
    json_string(json, "label", holder_split(value.bytes).label);
    json_close(json, '}');
    text_free(&value);
}

static void crowd_json(struct json *json, struct waiters crowd, const char *count, const char *list)
{
    json_number(json, count, crowd.count);
    json_open(json, list, '[');
    waiters_each(&crowd, waiter_json, json);
    json_close(json, ']');
}

static bool any_abstains(const redlock_event *event)
{
    bool any = false;
    for (unsigned i = 0; i < event->masters; i++)
        any |= event->votes[i].kind == REDLOCK_VOTE_ABSTAINS;
    return any;
}

static void show_why_unknown(struct text *out, const redlock_event *event, unsigned answered)
{
    text_format(out, "; %u of %u masters answered, %u must", answered, event->masters,
                event->quorum);
    if (any_abstains(event))
        text_format(out, "; a master that abstains may have forgotten a holder");
}

static void show_answer(struct text *out, const redlock_name *name, const redlock_event *event)
{
    struct finding finding = judge(event);
    text_shown(out, name->bytes, name->length);
    text_format(out, ": ");
    show_state(out, event, &finding);
    if (finding.count > 0)
        show_holding(out, event, &finding);
    if (event->code != REDLOCK_OK)
        show_why_unknown(out, event, finding.answered);
    text_format(out, "\n");
    show_crowd(out, votes_readers(event), "reads", "read");
    show_crowd(out, permits_of(&finding, event).holders, "has a permit", "have permits");
    show_crowd(out, votes_waiters(event), "waits", "wait");
    votes_table(out, event);
}

static void answer_json(struct text *out, const redlock_name *name, const redlock_event *event)
{
    struct finding finding = judge(event);
    struct json json = {.out = out};
    json_open(&json, NULL, '{');
    json_bytes(&json, "name", name->bytes, name->length);
    json_word(&json, "state", finding.state);
    json_string(&json, "code", redlock_code_name(event->code));
    json_string(&json, "text", event->text);
    holder_json(&json, finding.count > 0 ? finding.holdings[0].holder : NULL);
    json_number(&json, "on", finding.count > 0 ? finding.holdings[0].masters : 0);
    remaining_json(&json, finding.count > 0 ? finding.holdings[0].remaining_ms : -1);
    crowd_json(&json, votes_readers(event), "reading", "readers");
    json_number(&json, "permits", permits_of(&finding, event).count);
    crowd_json(&json, permits_of(&finding, event).holders, "out", "holders");
    crowd_json(&json, votes_waiters(event), "waiting", "waiters");
    json_number(&json, "answered", finding.answered);
    votes_json(&json, event);
    json_close(&json, '}');
}

static void put_answers(struct status *status)
{
    struct text out = {0};
    size_t count = status->session.options->names_count;
    bool as_json = status->session.options->json;
    if (as_json)
        text_format(&out, "{\"ok\":%s,\"names\":[", status->exit == EXIT_DONE ? "true" : "false");
    for (size_t i = 0; i < count; i++) {
        const struct text *answer = &status->questions[i].answer;
        text_format(&out, "%s", as_json && i > 0 ? "," : "");
        text_add(&out, answer->bytes, answer->length);
    }
    text_format(&out, "%s", as_json ? "]}\n" : "");
    if (!put_text(&out))
        status->exit = EXIT_OUTPUT;
    text_free(&out);
}

/* ---- Asking ------------------------------------------------------------- */

static void note_answer(struct question *question, const redlock_event *event)
{
    if (question->status->session.options->json)
        answer_json(&question->answer, &question->name, event);
    else
        show_answer(&question->answer, &question->name, event);
}

static void on_event(redlock_lease *lease, const redlock_event *event, void *data)
{
    struct question *question = data;
    struct status *status = question->status;
    (void)lease;
    if (status->session.ending)
        return;
    if (exit_for(event->code) == EXIT_NODES) {
        session_tell_failure(&status->session, "cannot ask about", event);
        session_end(&status->session, EXIT_NODES, 0);
        return;
    }
    note_answer(question, event);
    if (event->code != REDLOCK_OK)
        status->exit = exit_for(event->code);
    if (--status->waiting == 0) {
        put_answers(status);
        session_end(&status->session, status->exit, 0);
    }
}

static bool ask(struct status *status, struct question *question)
{
    redlock_lease *lease;
    redlock_code code =
        redlock_inspect(status->session.client, &lease, &question->name, 1, on_event, question);
    if (code != REDLOCK_OK)
        session_refused(&status->session, "cannot ask about", code);
    return code == REDLOCK_OK;
}

/* One question for each name: a question about several names tells only the first that is held. */
static void on_begin(void *data)
{
    struct status *status = data;
    const struct options *options = status->session.options;
    status->waiting = options->names_count;
    for (size_t i = 0; i < options->names_count; i++) {
        status->questions[i].status = status;
        status->questions[i].name = options->names[i];
        if (!ask(status, &status->questions[i]))
            return;
    }
}

static void free_questions(struct status *status)
{
    for (size_t i = 0; i < status->session.options->names_count; i++)
        text_free(&status->questions[i].answer);
    free(status->questions);
}

int perform_status(const struct options *options)
{
    struct status status = {.session = {.begin = on_begin, .hasty = true, .looks = true}};
    status.session.data = &status;
    status.questions = calloc(options->names_count, sizeof(*status.questions));
    if (!status.questions) {
        failure_tell(options, "cannot ask about", REDLOCK_E_MEMORY,
                     redlock_code_text(REDLOCK_E_MEMORY), NULL);
        return EXIT_INTERNAL;
    }
    if (!session_open(&status.session, options)) {
        free(status.questions);
        return status.session.status;
    }
    session_run(&status.session);
    free_questions(&status);
    return status.session.status;
}
