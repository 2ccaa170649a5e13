/*
 * hold.c - lock, extend, unlock: leases that outlive the process that took them.
 */
#include <inttypes.h>

#include "commands.h"
#include "json.h"
#include "say.h"
#include "session.h"
#include "signals.h"
#include "votes.h"
#include "duration.h"

const char lock_help[] =
    "usage: redlock lock [--ttl D] [--wait D] [--fence] NAME...\n"
    "\n"
    "Takes a lease on all names, or on none, prints its token on stdout and leaves\n"
    "it to its ttl. Renew it with `redlock extend`, give it back with\n"
    "`redlock unlock`. Prefer `redlock run`, which does both and knows when it is lost.\n"
    "\n"
    "  --ttl D    how long the lease lasts unless it is extended (10s)\n"
    "  --wait D   how long to wait while somebody else has it: 0, 30s, forever (0)\n"
    "  --fence    print a fencing token behind the token, on the same line, for the\n"
    "             resource to refuse a late holder by: see doc/fencing.md\n"
    "\n"
    "Exit status: 0 locked, 64 usage, 69 no quorum of masters, 75 somebody else has\n"
    "it, 78 the list of masters is wrong.\n"
    "\n"
    "Example:\n"
    "  token=$(redlock lock --ttl 30s deploy) && ./deploy.sh\n"
    "  redlock unlock --token \"$token\" deploy\n";

const char extend_help[] =
    "usage: redlock extend --token TOKEN [--ttl D] NAME...\n"
    "\n"
    "Prolongs a lease to the ttl, counted from now, if it is still that token's.\n"
    "\n"
    "  --token TOKEN   what `redlock lock` printed\n"
    "  --ttl D         how long it lasts from now (10s)\n"
    "\n"
    "Exit status: 0 extended, 64 usage, 69 no quorum of masters, 76 the lease is\n"
    "not that token's any more, 78 the list of masters is wrong.\n"
    "\n"
    "Example:\n"
    "  redlock extend --token \"$token\" --ttl 30s deploy\n";

const char unlock_help[] =
    "usage: redlock unlock --token TOKEN NAME...\n"
    "\n"
    "Gives a lease back, if it is still that token's.\n"
    "\n"
    "  --token TOKEN   what `redlock lock` printed\n"
    "\n"
    "Exit status: 0 released, 64 usage, 69 no quorum of masters, 76 the lease was\n"
    "not that token's any more, 78 the list of masters is wrong.\n"
    "\n"
    "Example:\n"
    "  redlock unlock --token \"$token\" deploy\n";

struct hold {
    struct session session;
    struct stops stops;
    redlock_lease *lease;
    int stopped_by; /* 0: by no signal */
};

/* ---- What is printed ---------------------------------------------------- */

static void success_json(struct text *out, const struct hold *hold, const redlock_event *event,
                         const char *token, int64_t valid_ms)
{
    struct json json = {.out = out};
    json_open(&json, NULL, '{');
    json_bool(&json, "ok", true);
    json_string(&json, "code", redlock_code_name(event->code));
    names_json(&json, hold->session.options->names, hold->session.options->names_count);
    json_string(&json, "token", token);
    if (event->fence > 0) {
        json_number(&json, "fence", event->fence);
    }
    json_number(&json, "valid_ms", valid_ms);
    json_number(&json, "rounds", event->rounds);
    json_number(&json, "elapsed_ms", event->elapsed_ms);
    votes_json(&json, event);
    json_close(&json, '}');
    text_format(out, "\n");
}

static void success_text(struct text *out, const struct hold *hold, const redlock_event *event,
                         const char *token, int64_t valid_ms)
{
    const struct options *options = hold->session.options;
    char span[DURATION_SIZE];
    if (options->command->bit == FOR_LOCK && options->fence) {
        text_format(out, "%s %" PRId64 "\n", token, event->fence);
    } else if (options->command->bit == FOR_LOCK) {
        text_format(out, "%s\n", token);
    } else if (options->quiet) {
        return;
    } else if (options->command->bit == FOR_EXTEND) {
        text_format(out, "extended, valid for %s, on %u of %u masters\n",
                    duration_show(span, valid_ms), event->granted, event->masters);
    } else {
        text_format(out, "released\n");
    }
}

static bool put_success(struct hold *hold, const redlock_event *event, const char *token,
                        int64_t valid_ms)
{
    struct text out = {0};
    if (hold->session.options->json) {
        success_json(&out, hold, event, token, valid_ms);
    } else {
        success_text(&out, hold, event, token, valid_ms);
    }
    bool done = session_put(&hold->session, &out);
    text_free(&out);
    return done;
}

static void say_validity(const struct hold *hold, const redlock_event *event)
{
    char span[DURATION_SIZE];
    if (hold->session.options->verbose) {
        say("locked, valid for %s, on %u of %u masters so far",
            duration_show(span, event->valid_ms), event->granted, event->masters);
    }
}

/* ---- Outcomes ----------------------------------------------------------- */

/* Printed first and let go then: a lease whose token nobody got to see would only
 * be in the way. */
static void held(struct hold *hold, const redlock_event *event)
{
    int64_t valid_ms = redlock_valid_for(hold->lease);
    if (!put_success(hold, event, redlock_token(hold->lease), valid_ms)) {
        redlock_release(hold->lease);
        return;
    }
    if (hold->session.options->command->bit == FOR_LOCK) {
        say_validity(hold, event);
    }
    redlock_code code = redlock_detach(hold->lease);
    if (code != REDLOCK_OK) {
        say("the lease ended while it was printed");
        session_end(&hold->session, EXIT_LOST, PATIENCE_OWED_MS);
        return;
    }
    session_end(&hold->session, EXIT_DONE, PATIENCE_RELEASED_MS);
}

static const char *failure(const struct hold *hold)
{
    switch (hold->session.options->command->bit) {
    case FOR_LOCK:
        return "cannot lock";
    case FOR_EXTEND:
        return "cannot extend";
    default:
        return "cannot unlock";
    }
}

static void not_held(struct hold *hold, const redlock_event *event)
{
    if (hold->stopped_by) {
        session_end(&hold->session, EXIT_SIGNAL + hold->stopped_by, PATIENCE_OWED_MS);
        return;
    }
    session_tell_failure(&hold->session, failure(hold), event);
    session_end(&hold->session, exit_for(event->code), PATIENCE_OWED_MS);
}

/* Of `unlock`; or of a lease whose token could not be printed. */
static void released(struct hold *hold, const redlock_event *event)
{
    if (hold->session.status == EXIT_OUTPUT) {
        session_end(&hold->session, EXIT_OUTPUT, PATIENCE_OWED_MS);
    } else if (hold->stopped_by) {
        session_end(&hold->session, EXIT_SIGNAL + hold->stopped_by, PATIENCE_OWED_MS);
    } else if (event->code != REDLOCK_OK) {
        not_held(hold, event);
    } else {
        bool done = put_success(hold, event, hold->session.options->token, 0);
        session_end(&hold->session, done ? EXIT_DONE : EXIT_OUTPUT, PATIENCE_RELEASED_MS);
    }
}

static void on_event(redlock_lease *lease, const redlock_event *event, void *data)
{
    struct hold *hold = data;
    (void)lease;
    if (event->kind == REDLOCK_ACQUIRED) {
        held(hold, event);
    } else if (event->kind == REDLOCK_NOT_ACQUIRED) {
        not_held(hold, event);
    } else if (event->kind == REDLOCK_RELEASED) {
        released(hold, event);
    }
}

/* An unlock under way goes on: it is what a stop would want, too. */
static void on_stop(void *data, int number)
{
    struct hold *hold = data;
    if (!hold->lease) {
        session_end(&hold->session, EXIT_SIGNAL + number, 0);
    } else if (hold->stopped_by == 0 && hold->session.options->command->bit == FOR_LOCK) {
        hold->stopped_by = number;
        redlock_release(hold->lease);
    }
}

/* ---- The commands ------------------------------------------------------- */

static redlock_code ask(struct hold *hold)
{
    const struct options *options = hold->session.options;
    redlock *client = hold->session.client;
    redlock_lease_options terms = REDLOCK_LEASE_INIT;
    terms.ttl_ms = options->ttl_ms;
    terms.wait_ms = options->wait_ms;
    terms.fence = options->fence;
    switch (options->command->bit) {
    case FOR_LOCK:
        return redlock_acquire_names(client, &hold->lease, options->names, options->names_count,
                                     &terms, on_event, hold);
    case FOR_EXTEND:
        return redlock_attach(client, &hold->lease, options->names, options->names_count,
                              options->token, &terms, on_event, hold);
    default:
        return redlock_release_token(client, &hold->lease, options->names, options->names_count,
                                     options->token, on_event, hold);
    }
}

static void on_begin(void *data)
{
    struct hold *hold = data;
    redlock_code code = ask(hold);
    if (code != REDLOCK_OK) {
        session_refused(&hold->session, failure(hold), code);
    }
}

static int perform(const struct options *options)
{
    struct hold hold = {.session = {.begin = on_begin}};
    hold.session.data = &hold;
    if (!session_open(&hold.session, options)) {
        return hold.session.status;
    }
    stops_watch(&hold.stops, hold.session.loop, on_stop, &hold);
    return session_run(&hold.session);
}

int perform_lock(const struct options *options)
{
    return perform(options);
}

int perform_extend(const struct options *options)
{
    return perform(options);
}

int perform_unlock(const struct options *options)
{
    return perform(options);
}
