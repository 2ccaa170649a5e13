#include "failure.h"

#include <string.h>

#include "commands.h"
#include "exits.h"
#include "json.h"
#include "say.h"
#include "votes.h"

static bool is_run(const struct options *options)
{
    return options->command && options->command->bit & (FOR_RUN | FOR_ELECT | FOR_ONCE);
}

static void document(struct text *out, const struct options *options, redlock_code code,
                     const char *sentence, const redlock_event *event)
{
    struct json json = {.out = out};
    json_open(&json, NULL, '{');
    if (is_run(options))
        json_word(&json, "event", event ? redlock_event_name(event->kind) : "refused");
    json_bool(&json, "ok", false);
    json_string(&json, "code", redlock_code_name(code));
    json_string(&json, "text", sentence);
    names_json(&json, options->names, options->names_count);
    json_null(&json, "token");
    json_null(&json, "valid_ms");
    effort_json(&json, event);
    votes_json(&json, event);
    json_end(&json);
}

/* Readers keep out no reader: a writer did that, which waits, or had the name a moment ago. */
static void explain_reader(struct text *out, const struct options *options,
                           const redlock_event *event)
{
    struct holding holdings[REDLOCK_MASTERS_MAX];
    bool reads_one = options->names_count == 1 && options->names[0].mode == REDLOCK_SHARED;
    if (event->code == REDLOCK_E_HELD && reads_one && votes_holdings(event, holdings) > 0 &&
        is_marker(holdings[0].holder))
        text_format(out, "  others wait before this reader: it does not pass them\n");
}

/* The number of the slot is of no use to people. */
static void explain_permits(struct text *out, const struct options *options,
                            const redlock_event *event)
{
    if (event->code == REDLOCK_E_HELD && options->permits)
        text_format(out, "  (of one slot) none of the %u permits is free, or others came first\n",
                    options->permits);
}

static void message(struct text *out, const struct options *options, const char *what,
                    const char *sentence, const redlock_event *event)
{
    text_format(out, "redlock: %s", what);
    if (options->names_count > 0) {
        text_format(out, " ");
        names_show(out, options->names, options->names_count);
    }
    text_format(out, ": ");
    text_shown(out, sentence, strlen(sentence));
    text_format(out, "\n");
    if (event) {
        votes_explain(out, event);
        explain_reader(out, options, event);
        explain_permits(out, options, event);
    }
}

bool failure_is_told(const struct options *options, redlock_code code)
{
    return !options->quiet || exit_for(code) != EXIT_CONTENDED;
}

void failure_tell(const struct options *options, const char *what, redlock_code code,
                  const char *sentence, const redlock_event *event)
{
    struct text out = {0};
    if (options->json)
        document(&out, options, code, sentence, event);
    else if (failure_is_told(options, code))
        message(&out, options, what, sentence, event);
    if (options->json && !is_run(options))
        put_text(&out);
    else
        say_text(&out);
    text_free(&out);
}

void failure_tell_signal(const struct options *options, int number, const redlock_event *event)
{
    struct text sentence = {0};
    if (options->json) {
        text_format(&sentence, "ended by signal %d", number);
        failure_tell(options, "", REDLOCK_E_CANCELLED, sentence.bytes, event);
        text_free(&sentence);
    }
}
