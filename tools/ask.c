/*
 * ask.c - asks the holder of a name to let go, and tells whether it hears that.
 */
#include <string.h>

#include "commands.h"
#include "crowds.h"
#include "failure.h"
#include "redlock/recipes.h"
#include "say.h"
#include "session.h"
#include "votes.h"

const char ask_help[] =
    "usage: redlock ask [--text WHY] NAME\n"
    "\n"
    "Asks the holder of NAME to let go, and prints who that is. Nothing is taken from\n"
    "it: it hears of the wish if it heeds wishes, as `redlock run` does with\n"
    "--on-wanted or --yield-when-wanted, and decides by itself.\n"
    "\n"
    "  --text WHY    told to the holder: one line of at most 200 bytes\n"
    "\n"
    "The holder also hears the --label, and how many wait. To take a lock away from a\n"
    "holder that does not let go: redlock break.\n"
    "\n"
    "Exit status: 0 the holder hears it, 64 usage, 69 no quorum of masters, 75 held,\n"
    "but the holder does not heed wishes, 76 nobody holds it, 78 the list of masters\n"
    "is wrong, 128+N ended by signal N. Readers, permits and other libraries do not\n"
    "heed.\n"
    "\n"
    "Example:\n"
    "  redlock ask --text \"I want to deploy a fix\" deploy\n";

struct asking {
    struct session session;
    redlock_asker *asker;
};

static int status_of(const redlock_asked *asked)
{
    if (asked->code == REDLOCK_OK)
        return asked->heard ? EXIT_DONE : EXIT_CONTENDED;
    return asked->code == REDLOCK_E_GONE ? EXIT_LOST : exit_for(asked->code);
}

static void put_words(struct text *out, const redlock_asked *asked)
{
    if (asked->code == REDLOCK_E_GONE)
        text_format(out, "nobody holds it");
    else if (asked->code)
        text_format(out, "%s", redlock_code_text(asked->code));
    else {
        text_format(out, "held by ");
        who_show(out, asked->holder);
        text_format(out, asked->heard ? ", which hears it" : ", which does not heed wishes");
        if (asked->waiting)
            text_format(out, "; %u waiting", asked->waiting);
    }
}

static void put_json(struct text *out, const struct asking *asking, const redlock_asked *asked,
                     const char *words)
{
    bool held = asked->code == REDLOCK_OK;
    struct json json = outcome_json(out, asked->code, words);
    json_string(&json, "name", asking->session.options->names[0].bytes);
    json_string(&json, "holder", held ? asked->holder : NULL);
    json_number(&json, "heard_by", asked->heard);
    json_number(&json, "waiting", asked->waiting);
    json_number(&json, "said_by", asked->told);
    json_number(&json, "masters", asked->masters);
    json_end(&json);
}

/* The masters say more, such as a right that this user lacks. */
static void tell_failure(const struct asking *asking, const redlock_asked *asked, const char *words)
{
    if (exit_for(asked->code) == EXIT_NODES)
        session_say_refused(&asking->session);
    else
        say("cannot ask: %s", words);
    if (asked->code == REDLOCK_E_UNAVAILABLE)
        session_say_masters(&asking->session);
}

static bool put(struct asking *asking, const redlock_asked *asked)
{
    const struct options *options = asking->session.options;
    struct text out = {0}, words = {0};
    put_words(&words, asked);
    if (options->json)
        put_json(&out, asking, asked, words.bytes);
    else if (asked->code && asked->code != REDLOCK_E_GONE)
        tell_failure(asking, asked, words.bytes);
    else if (!options->quiet)
        text_format(&out, "%s\n", words.bytes);
    text_free(&words);
    return out.length == 0 || session_put(&asking->session, &out);
}

static void on_begin(void *data);

/* The list is over: the holder has the one in its place. */
static bool asks_elsewhere(struct asking *asking, const redlock_asked *asked)
{
    if (!session_goes_on(&asking->session, asked->code))
        return false;
    redlock_asker_free(asking->asker);
    asking->asker = NULL;
    on_begin(asking);
    return true;
}

static void on_asked(redlock_asker *asker, const redlock_asked *asked, void *data)
{
    struct asking *asking = data;
    if (asks_elsewhere(asking, asked))
        return;
    bool done = put(asking, asked);
    redlock_asker_free(asker);
    asking->asker = NULL;
    session_end(&asking->session, done ? status_of(asked) : EXIT_OUTPUT, OWED_TIMEOUT_MS);
}

static void on_signal(void *data, int number)
{
    struct asking *asking = data;
    redlock_asker_free(asking->asker);
    asking->asker = NULL;
    session_end_by_signal(&asking->session, number, NULL);
}

static void on_begin(void *data)
{
    struct asking *asking = data;
    const struct options *options = asking->session.options;
    redlock_ask_options terms = {
        .size = sizeof terms, .text = options->wish, .timeout_ms = REDLOCK_ZERO};
    redlock_code code = redlock_ask(asking->session.client, &asking->asker, options->names[0].bytes,
                                    &terms, on_asked, asking);
    if (code != REDLOCK_OK)
        session_refused(&asking->session, "cannot ask", code);
}

int perform_ask(const struct options *options)
{
    struct asking asking = {.session = {.begin = on_begin, .signalled = on_signal, .hasty = true}};
    return session_perform(&asking.session, options, &asking);
}
