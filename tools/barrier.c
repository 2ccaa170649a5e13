/*
 * barrier.c - waits until all parties of a barrier have arrived.
 */
#include "commands.h"
#include "json.h"
#include "redlock/recipes.h"
#include "say.h"
#include "session.h"
#include "signals.h"

const char barrier_help[] =
    "usage: redlock barrier --parties N [OPTION...] NAME\n"
    "\n"
    "Waits until N parties have arrived at the barrier NAME, and ends when this one\n"
    "passes: all of them do, or none that is counted.\n"
    "\n"
    "  --parties N      how many must arrive, the same number for all (1 to 256)\n"
    "  --generation G   which use of the barrier this is, such as the number of the\n"
    "                   round that all parties are in: each is to be used once (0)\n"
    "  --wait D         how long to wait: 0, 30s, forever (forever)\n"
    "  --ttl D          how long a party counts that has died while it waits (10s)\n"
    "  --token TOKEN    come back after `undecided`, as the same party: the token\n"
    "                   that was told then\n"
    "\n"
    "A SIGINT, SIGQUIT or SIGTERM leaves the barrier. Whoever leaves is told whether\n"
    "it passed; where too few masters answer it is undecided, which says with what\n"
    "token to come back.\n"
    "\n"
    "Exit status: 0 it passed, 64 usage, 69 too few masters answered (undecided: the\n"
    "others may have passed), 75 not passed: the time was over, or others wait for\n"
    "another number of parties; 78 the list of masters is wrong, 128+N left because\n"
    "of signal N.\n"
    "\n"
    "Example:\n"
    "  redlock barrier --parties 5 --generation \"$round\" --wait 10m nightly && ./next\n";

struct barrier {
    struct session session;
    struct signals signals;
    redlock_party *party;
    int signal; /* that made it leave; 0: none did */
};

static bool put_json(struct barrier *barrier, const redlock_passage *passage)
{
    struct text out = {0};
    struct json json = {.out = &out};
    json_open(&json, NULL, '{');
    json_bool(&json, "ok", passage->code == REDLOCK_OK);
    json_string(&json, "code", redlock_code_name(passage->code));
    json_string(&json, "text", redlock_code_text(passage->code));
    json_string(&json, "name", barrier->session.options->names[0].bytes);
    json_number(&json, "generation", barrier->session.options->generation);
    json_bool(&json, "passed", passage->code == REDLOCK_OK);
    json_bool(&json, "undecided", passage->undecided);
    json_number(&json, "parties", passage->parties);
    json_number(&json, "arrived", passage->arrived);
    if (passage->others)
        json_number(&json, "others", passage->others);
    else
        json_null(&json, "others");
    json_string(&json, "token", passage->token);
    json_number(&json, "answered", passage->answered);
    json_number(&json, "masters", passage->masters);
    json_close(&json, '}');
    text_format(&out, "\n");
    bool done = session_put(&barrier->session, &out);
    text_free(&out);
    return done;
}

static void tell_undecided(const redlock_passage *passage)
{
    say("undecided: %u of %u masters answered, and others may have passed; come back with "
        "--token %s",
        passage->answered, passage->masters, passage->token);
}

static void tell(const struct barrier *barrier, const redlock_passage *passage)
{
    const char *name = barrier->session.options->names[0].bytes;
    if (passage->code == REDLOCK_OK)
        return;
    if (passage->undecided)
        tell_undecided(passage);
    else if (passage->code == REDLOCK_E_PARTIES)
        say("%s: others wait for %u parties, not for %u: give all the same --parties", name,
            passage->others, passage->parties);
    else if (passage->code == REDLOCK_E_UNAVAILABLE)
        say("%s: not passed: %u of %u masters answered", name, passage->answered, passage->masters);
    else
        say("%s: not passed: %u of %u parties arrived", name, passage->arrived, passage->parties);
}

static int status_of(const struct barrier *barrier, const redlock_passage *passage)
{
    bool left = barrier->signal && passage->code == REDLOCK_E_CANCELLED;
    return left ? EXIT_SIGNAL + barrier->signal : exit_for(passage->code);
}

static void on_passage(redlock_party *party, const redlock_passage *passage, void *data)
{
    struct barrier *barrier = data;
    bool done = true;
    if (barrier->session.options->json)
        done = put_json(barrier, passage);
    else
        tell(barrier, passage);
    redlock_party_free(party);
    barrier->party = NULL;
    session_end(&barrier->session, done ? status_of(barrier, passage) : EXIT_OUTPUT,
                OWED_TIMEOUT_MS);
}

static void on_signal(void *data, int number)
{
    struct barrier *barrier = data;
    if (signal_is_message(number))
        return;
    barrier->signal = number;
    if (!barrier->party)
        session_end_by_signal(&barrier->session, number, NULL);
    else
        redlock_depart(barrier->party);
}

static void begin(void *data)
{
    struct barrier *barrier = data;
    const struct options *options = barrier->session.options;
    redlock_barrier_options terms = REDLOCK_BARRIER_INIT;
    terms.parties = options->parties;
    terms.generation = options->generation;
    terms.ttl_ms = options->ttl_ms;
    terms.wait_ms = options->wait_ms;
    terms.token = options->token;
    redlock_code code = redlock_arrive(barrier->session.client, &barrier->party,
                                       options->names[0].bytes, &terms, on_passage, barrier);
    if (code != REDLOCK_OK)
        session_refused(&barrier->session, "cannot arrive", code);
}

/* Masters that are late are waited for by the call itself. */
int perform_barrier(const struct options *options)
{
    struct barrier barrier = {.session = {.begin = begin, .hasty = true}};
    barrier.session.data = &barrier;
    if (!session_open(&barrier.session, options))
        return barrier.session.status;
    signals_watch(&barrier.signals, barrier.session.loop, on_signal, &barrier);
    return session_run(&barrier.session);
}
