/*
 * latch.c - makes a latch, arrives at it, waits until it is open, counts who has arrived.
 */
#include <string.h>

#include "commands.h"
#include "redlock/recipes.h"
#include "say.h"
#include "session.h"
#include "votes.h"

#define WAITS_MS 10000 /* for masters, where nobody else is waited for */

const char latch_help[] =
    "usage: redlock latch create --arrivals N [OPTION...] NAME\n"
    "       redlock latch arrive [OPTION...] NAME\n"
    "       redlock latch wait [OPTION...] NAME\n"
    "       redlock latch count [OPTION...] NAME\n"
    "\n"
    "A latch is made once, and is open when N have arrived at it. A process that has\n"
    "arrived may end: its arrival stays.\n"
    "\n"
    "  create   makes the latch NAME, unless there is one, and prints its id\n"
    "  arrive   adds an arrival, and returns when the masters have stored it\n"
    "  wait     returns when the latch is open\n"
    "  count    prints how many have arrived, how many must, and `open` or `shut`\n"
    "\n"
    "  --arrivals N     create: the number of arrivals that open it (1 to 1000)\n"
    "  --life D         create: how long the latch lives, open or not: 1s to 720h\n"
    "                   (1h)\n"
    "  --id ID          arrive, wait, count: only the latch with this id, as `create`\n"
    "                   printed it; else the present one\n"
    "  --arrival TEXT   arrive: a name of the arrival, which counts once however\n"
    "                   often it is used: up to 64 letters without spaces; else a new\n"
    "                   arrival\n"
    "  --wait D         wait: for how long; create, arrive: how long to try while too\n"
    "                   few masters answer: 0, 30s, forever (forever; 10s)\n"
    "\n"
    "If too few masters answer, `arrive` may or may not count: it then prints the\n"
    "--arrival to try again with. With a name of your own, such as that of the job, a\n"
    "job that is repeated counts once.\n"
    "\n"
    "Exit status: 0 done (wait: it is open), 64 usage, 69 too few masters answered,\n"
    "75 create: there is a latch already; wait: too few have arrived in time, 76\n"
    "there is no latch: its life is over, masters have lost it, or it was never made,\n"
    "78 the list of masters is wrong, 128+N ended by signal N.\n"
    "\n"
    "Example:\n"
    "  redlock latch create --arrivals 100 --life 6h import\n"
    "  redlock latch arrive --arrival \"$part\" import        # in each of 100 jobs\n"
    "  redlock latch wait import && ./after-import\n";

typedef redlock_code latch_function(redlock *client, redlock_latch **call, const char *name,
                                    const redlock_latch_options *terms,
                                    redlock_latch_callback *callback, void *data);

struct latch {
    struct session session;
    redlock_latch *call;
    /* of the call, to make it anew by another list; "": not known, as the options say */
    char id[REDLOCK_LATCH_ID_SIZE], arrival[REDLOCK_LATCH_ID_SIZE];
};

/* The texts of codes speak of locks. */
static const char *text_of(redlock_code code)
{
    return code == REDLOCK_E_HELD ? "there is a latch already" : redlock_code_text(code);
}

static bool put_json(struct latch *latch, const redlock_latch_result *tally)
{
    const struct options *options = latch->session.options;
    struct text out = {0};
    struct json json = outcome_json(&out, tally->code, text_of(tally->code));
    json_string(&json, "name", options->names[0].bytes);
    json_string(&json, "action", options->action);
    json_string(&json, "id", tally->id);
    json_filled(&json, "arrival", tally->arrival);
    json_bool(&json, "open", tally->open);
    json_bool(&json, "undecided", tally->undecided);
    json_number(&json, "arrived", tally->arrived);
    json_number(&json, "arrivals", tally->arrivals);
    json_number(&json, "answered", tally->answered);
    json_number(&json, "masters", tally->masters);
    json_end(&json);
    return session_put(&latch->session, &out);
}

static bool put(struct latch *latch, const redlock_latch_result *tally)
{
    const char *action = latch->session.options->action;
    struct text out = {0};
    if (strcmp(action, "create") == 0)
        text_format(&out, "%s\n", tally->id);
    else if (strcmp(action, "count") == 0)
        text_format(&out, "%u %u %s\n", tally->arrived, tally->arrivals,
                    tally->open ? "open" : "shut");
    return !out.bytes || session_put(&latch->session, &out);
}

static void tell_undecided(const struct latch *latch, const redlock_latch_result *tally)
{
    const char *name = latch->session.options->names[0].bytes;
    if (tally->arrival[0])
        say("%s: undecided whether the arrival counts: %u of %u masters answered; try again with "
            "--arrival %s",
            name, tally->answered, tally->masters, tally->arrival);
    else
        say("%s: undecided whether the latch was made: %u of %u masters answered; try again: if "
            "there is a latch with the id %s, it was made",
            name, tally->answered, tally->masters, tally->id);
}

static void tell(const struct latch *latch, const redlock_latch_result *tally)
{
    const char *name = latch->session.options->names[0].bytes;
    if (tally->undecided)
        tell_undecided(latch, tally);
    else if (tally->code == REDLOCK_E_HELD)
        say("%s: there is a latch already: it waits for %u arrivals, its id is %s", name,
            tally->arrivals, tally->id);
    else if (tally->code == REDLOCK_E_NOT_OPEN)
        say("%s: not open: %u of %u have arrived", name, tally->arrived, tally->arrivals);
    else if (tally->code == REDLOCK_E_GONE)
        say("%s: there is no such latch: its life is over, too many masters lost it, or it was "
            "never made",
            name);
    else if (tally->code == REDLOCK_E_UNAVAILABLE)
        say("%s: not known: %u of %u masters answered, too few to decide", name, tally->answered,
            tally->masters);
    if (tally->undecided || tally->code == REDLOCK_E_UNAVAILABLE)
        session_say_masters(&latch->session);
    if (exit_for(tally->code) == EXIT_NODES)
        session_say_refused(&latch->session);
}

static void begin(void *data);

/* The list is over: the call is made anew by the next one, about the latch that it has found, and
 * with its arrival.  Another creation would find the latch of the first one. */
static bool calls_elsewhere(struct latch *latch, const redlock_latch_result *tally)
{
    bool creates = strcmp(latch->session.options->action, "create") == 0;
    if ((creates && tally->undecided) || !session_goes_on(&latch->session, tally->code))
        return false;
    if (tally->id[0] && !creates)
        memcpy(latch->id, tally->id, sizeof latch->id);
    if (tally->arrival[0])
        memcpy(latch->arrival, tally->arrival, sizeof latch->arrival);
    redlock_latch_free(latch->call);
    latch->call = NULL;
    begin(latch);
    return true;
}

static void on_tally(redlock_latch *call, const redlock_latch_result *tally, void *data)
{
    struct latch *latch = data;
    bool done = true;
    if (calls_elsewhere(latch, tally))
        return;
    if (latch->session.options->json)
        done = put_json(latch, tally);
    else if (tally->code == REDLOCK_OK)
        done = put(latch, tally);
    else
        tell(latch, tally);
    redlock_latch_free(call);
    latch->call = NULL;
    int status = session_status_of_call(&latch->session, tally->code);
    session_end(&latch->session, done ? status : EXIT_OUTPUT, OWED_TIMEOUT_MS);
}

static void on_signal(void *data, int number)
{
    struct latch *latch = data;
    if (!latch->call)
        session_end_by_signal(&latch->session, number, NULL);
    else
        redlock_latch_cancel(latch->call);
}

struct action {
    const char *word, *refused;
    latch_function *function;
};

static const struct action *action_of(const char *word)
{
    static const struct action actions[] = {
        {"create", "cannot make the latch", redlock_latch_create},
        {"arrive", "cannot arrive at the latch", redlock_latch_arrive},
        {"wait", "cannot wait for the latch", redlock_latch_await},
        {"count", "cannot count at the latch", redlock_latch_count}};
    const struct action *action = actions;
    while (strcmp(word, action->word) != 0)
        action++;
    return action;
}

static void begin(void *data)
{
    struct latch *latch = data;
    const struct options *options = latch->session.options;
    redlock_latch_options terms = {.size = sizeof terms};
    terms.arrivals = options->arrivals;
    terms.id = latch->id[0] ? latch->id : options->id;
    terms.arrival = latch->arrival[0] ? latch->arrival : options->arrival;
    if (options->life_ms)
        terms.life_ms = options->life_ms;
    int64_t wait_ms = options->wait_ms >= 0 ? options->wait_ms : WAITS_MS;
    terms.timeout_ms = session_timeout_of(&latch->session, wait_ms);
    const struct action *action = action_of(options->action);
    redlock_code code = action->function(latch->session.client, &latch->call,
                                         options->names[0].bytes, &terms, on_tally, latch);
    if (code != REDLOCK_OK)
        session_refused(&latch->session, action->refused, code);
}

/* Masters that are late are waited for by the call itself. */
int perform_latch(const struct options *options)
{
    struct latch latch = {.session = {.begin = begin, .signalled = on_signal, .hasty = true}};
    return session_perform(&latch.session, options, &latch);
}
