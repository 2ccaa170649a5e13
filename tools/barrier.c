/*
 * barrier.c - waits until all parties of a barrier have arrived.
 */
#include <string.h>

#include "commands.h"
#include "failure.h"
#include "redlock/recipes.h"
#include "say.h"
#include "session.h"
#include "votes.h"

const char barrier_help[] =
    "usage: redlock barrier --parties N [OPTION...] NAME\n"
    "\n"
    "Returns when N parties have arrived at the barrier NAME: all pass, or none.\n"
    "\n"
    "  --parties N      the number of parties, the same for all (1 to 256)\n"
    "  --generation G   which use of the barrier this is, such as the number of the\n"
    "                   round (0). Use each once, and larger ones later. For twice\n"
    "                   --max-ttl after a generation was passed, a party that comes\n"
    "                   there passes at once; later, and at an earlier generation, a\n"
    "                   new party learns that it is over\n"
    "  --wait D         how long to wait: 0, 30s, forever (forever)\n"
    "  --ttl D          how long a party counts that has died while it waits (10s)\n"
    "  --token TOKEN    come back as the party with this token, after `undecided`. A\n"
    "                   worker with a token of its own from the start, such as its\n"
    "                   number, counts once even if it dies and is started again\n"
    "\n"
    "A SIGINT, SIGQUIT or SIGTERM leaves the barrier. A party that gives up prints\n"
    "`not passed` only when that is certain, else `undecided` with the token to come\n"
    "back with. If the others have passed, it then passes too, for a week.\n"
    "\n"
    "Exit status: 0 it passed, 64 usage, 69 undecided: the others may have passed; or\n"
    "too few masters answered, 75 not passed: the time was over, others wait for\n"
    "another number of parties, or the generation is over: a later one was passed, or\n"
    "this one before; 78 the list of masters is wrong, 128+N not passed, and left\n"
    "because of signal N.\n"
    "\n"
    "Example:\n"
    "  redlock barrier --parties 5 --generation \"$round\" --wait 10m nightly && ./next\n";

struct barrier {
    struct session session;
    redlock_barrier *party;
    /* to come back with, by another list; "": that of the options */
    char token[REDLOCK_TOKEN_SIZE];
};

static bool put_json(struct barrier *barrier, const redlock_barrier_result *passage)
{
    struct text out = {0};
    struct json json = outcome_json(&out, passage->code, passage->text);
    json_string(&json, "name", barrier->session.options->names[0].bytes);
    json_number(&json, "generation", barrier->session.options->generation);
    json_bool(&json, "passed", passage->code == REDLOCK_OK);
    json_bool(&json, "undecided", passage->undecided);
    json_number(&json, "parties", passage->parties);
    json_number(&json, "arrived", passage->arrived);
    json_known_number(&json, "others", passage->others > 0, passage->others);
    json_known_number(&json, "latest", passage->code == REDLOCK_E_OVER, passage->latest);
    json_string(&json, "token", passage->token);
    json_number(&json, "answered", passage->answered);
    json_number(&json, "masters", passage->masters);
    json_end(&json);
    return session_put(&barrier->session, &out);
}

static void tell_over(const char *name, const redlock_barrier_result *passage)
{
    bool is_last = passage->latest >= REDLOCK_GENERATION_MAX;
    say("%s: %s: use %s", name, passage->text,
        is_last ? "another name, for this is the last generation" : "a later generation");
}

static void tell(const struct barrier *barrier, const redlock_barrier_result *passage)
{
    const struct options *options = barrier->session.options;
    const char *name = options->names[0].bytes;
    if (passage->code == REDLOCK_E_OVER)
        tell_over(name, passage);
    else if (passage->undecided) /* also with --quiet: without it nobody can come back */
        say("%s: %s; %scome back with --token %s", name, passage->text,
            passage->others ? "use the same --parties everywhere, and " : "", passage->token);
    else if (passage->code == REDLOCK_E_PARTIES)
        say("%s: %s: use the same --parties everywhere, or an unused generation", name,
            passage->text);
    else if (exit_for(passage->code) == EXIT_NODES)
        session_say_refused(&barrier->session);
    else if (passage->code != REDLOCK_OK && failure_is_told(options, passage->code))
        say("%s: %s", name, passage->text);
}

/* The sentence has the reasons of the masters. */
static void say_remedies(const struct barrier *barrier)
{
    struct text out = {0};
    nodes_show_remedies(&out, barrier->session.client);
    if (out.length > 0)
        say_text(&out);
    text_free(&out);
}

static void begin(void *data);

/* The list is over: it arrives by the next one, with its token if others may have counted it. */
static bool arrives_elsewhere(struct barrier *barrier, const redlock_barrier_result *passage)
{
    if (!session_goes_on(&barrier->session, passage->code))
        return false;
    if (passage->undecided)
        memcpy(barrier->token, passage->token, sizeof barrier->token);
    redlock_barrier_free(barrier->party);
    barrier->party = NULL;
    begin(barrier);
    return true;
}

static void on_passage(redlock_barrier *party, const redlock_barrier_result *passage, void *data)
{
    struct barrier *barrier = data;
    bool done = true;
    if (arrives_elsewhere(barrier, passage))
        return;
    if (barrier->session.options->json)
        done = put_json(barrier, passage);
    else
        tell(barrier, passage);
    if (!barrier->session.options->json && exit_for(passage->code) == EXIT_UNAVAILABLE)
        say_remedies(barrier);
    redlock_barrier_free(party);
    barrier->party = NULL;
    int status = session_status_of_call(&barrier->session, passage->code);
    session_end(&barrier->session, done ? status : EXIT_OUTPUT, OWED_TIMEOUT_MS);
}

static void on_signal(void *data, int number)
{
    struct barrier *barrier = data;
    if (!barrier->party)
        session_end_by_signal(&barrier->session, number, NULL);
    else
        redlock_barrier_leave(barrier->party);
}

/* ---- Arriving ----------------------------------------------------------- */

static void begin(void *data)
{
    struct barrier *barrier = data;
    const struct options *options = barrier->session.options;
    redlock_barrier_options terms = {.size = sizeof terms};
    terms.parties = options->parties;
    terms.generation = options->generation;
    terms.ttl_ms = options->ttl_ms;
    terms.timeout_ms = session_timeout_of(&barrier->session, options->wait_ms);
    terms.token = barrier->token[0] ? barrier->token : options->token;
    redlock_code code =
        redlock_barrier_arrive(barrier->session.client, &barrier->party, options->names[0].bytes,
                               &terms, on_passage, barrier);
    if (code != REDLOCK_OK)
        session_refused(&barrier->session, "cannot arrive", code);
}

/* Masters that are late are waited for by the call itself. */
int perform_barrier(const struct options *options)
{
    struct barrier barrier = {.session = {.begin = begin, .signalled = on_signal, .hasty = true}};
    return session_perform(&barrier.session, options, &barrier);
}
