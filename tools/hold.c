/*
 * hold.c - lock, extend, unlock: leases that outlive the process that took them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "json.h"
#include "crowds.h"
#include "failure.h"
#include "follow.h"
#include "say.h"
#include "session.h"
#include "votes.h"
#include "waiting.h"
#include "wishing.h"
#include "duration.h"

const char lock_help[] =
    "usage: redlock lock [OPTION...] NAME...\n"
    "\n"
    "Takes a lease on all names, or on none, and prints its token on stdout. Nothing\n"
    "renews the lease, so it ends after its ttl. Prefer `redlock run`, which renews\n"
    "the lease while a command runs, releases it, and ends the command on loss. By\n"
    "hand: `redlock extend` and `redlock unlock`.\n"
    "\n"
    "  --ttl D    how long the lease lasts unless it is extended (10s)\n"
    "  --wait D   how long to wait while another holder has it: 0, 30s, forever (0)\n"
    "  -w, --timeout SECONDS   --wait, as flock has it\n"
    "  -n, --nonblock     --wait 0, likewise\n"
    "  --ask TEXT while it waits, ask the holder to let go: `redlock ask`\n"
    "  --fence    print a fencing token behind the token, on the same line, by which\n"
    "             a resource can refuse late holders: man 7 redlock\n"
    "  --shared[=NAME]\n"
    "             read all names, beside other readers; with =NAME read that name and\n"
    "             write the others\n"
    "  -E, --conflict-exit-code N\n"
    "             exit with N (1 to 255), not 75, if somebody else has it\n"
    "  --unavailable-exit-code N\n"
    "             exit with N, not 69, if there is no quorum of masters\n"
    "\n"
    "Exit status: 0 locked, 64 usage, 69 no quorum of masters, 75 somebody else has\n"
    "it, 78 the list of masters is wrong, 128+N ended by signal N.\n"
    "\n"
    "Example:\n"
    "  redlock run deploy -- ./deploy.sh              # instead, where you can\n"
    "  token=$(redlock lock --ttl 30s maintenance)    # for 30 s, or until:\n"
    "  redlock unlock --token \"$token\" maintenance\n";

const char extend_help[] =
    "usage: redlock extend --token TOKEN [--ttl D] [--shared[=NAME]] NAME...\n"
    "\n"
    "Prolongs the lease of this token to the ttl, counted from now. It shortens none:\n"
    "a lease that lasts longer stays as it is.\n"
    "\n"
    "  --token TOKEN   the output of `redlock lock`, or the token without its label,\n"
    "                  as `redlock status` shows it\n"
    "  --ttl D         how long it lasts from now at least (10s). Masters do not know\n"
    "                  what `redlock lock` was given: give the same again\n"
    "  --shared[=NAME] it is a reader's lease: as for `redlock lock`\n"
    "\n"
    "Exit status: 0 extended, 64 usage, 69 no quorum of masters, 76 the lease is\n"
    "not that token's any more, 78 the list of masters is wrong.\n"
    "\n"
    "Example:\n"
    "  redlock extend --token \"$token\" --ttl 30s deploy\n";

const char unlock_help[] =
    "usage: redlock unlock --token TOKEN NAME...\n"
    "\n"
    "Releases the lease of this token.\n"
    "\n"
    "  --token TOKEN   the output of `redlock lock`, or the token without its label,\n"
    "                  as `redlock status` shows it\n"
    "\n"
    "Exit status: 0 released, 64 usage, 69 no quorum of masters, 76 the lease was\n"
    "not that token's any more, 78 the list of masters is wrong.\n"
    "\n"
    "Example:\n"
    "  redlock unlock --token \"$token\" deploy\n";

struct hold {
    struct session session;
    struct waiting waiting;
    struct wishing wishing;
    struct follow follow; /* lock: while it waits; unlock */
    redlock_lease *lease;
    int stopped_by;    /* 0: by no signal */
    bool was_released; /* unlock: by this list, or one before it */
    struct text token; /* extend, unlock: the value on the masters */
    struct text gone;  /* likewise: why it does not have the names */
    size_t asked;      /* names that were asked for the label behind a bare token */
};

/* ---- What is printed ---------------------------------------------------- */

/* `extend` is an attach for the library, and a `lock` that waited may be extended. */
static void add_words(struct text *out, const struct hold *hold, const redlock_event *event,
                      int64_t valid_ms)
{
    enum command_bit command = hold->session.options->command->bit;
    if (command == FOR_EXTEND)
        text_format(out, "extended, valid for at least %" PRId64 " ms", valid_ms);
    else if (command == FOR_LOCK)
        text_format(out, "acquired, valid for %" PRId64 " ms", valid_ms);
    if (command == FOR_LOCK && event->fence)
        text_format(out, ", fence %" PRId64, event->fence);
}

static void success_json(struct text *out, const struct hold *hold, const redlock_event *event,
                         const char *token, int64_t valid_ms)
{
    struct json json = {.out = out};
    struct text words = {0};
    add_words(&words, hold, event, valid_ms);
    json_open(&json, NULL, '{');
    json_bool(&json, "ok", true);
    json_string(&json, "code", redlock_code_name(event->code));
    json_string(&json, "text", words.bytes ? words.bytes : event->text);
    names_json(&json, hold->session.options->names, hold->session.options->names_count);
    json_string(&json, "token", token);
    fence_json(&json, event->fence);
    json_number(&json, "valid_ms", valid_ms);
    effort_json(&json, event);
    votes_json(&json, event);
    json_end(&json);
    text_free(&words);
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
        text_format(out, "extended, valid for at least %s, on %u of %u masters\n",
                    duration_show(span, valid_ms), event->granted, event->masters);
    } else {
        text_format(out, "released\n");
    }
}

static bool put_success(struct hold *hold, const redlock_event *event, const char *token,
                        int64_t valid_ms)
{
    struct text out = {0};
    if (hold->session.options->json)
        success_json(&out, hold, event, token, valid_ms);
    else
        success_text(&out, hold, event, token, valid_ms);
    return session_put(&hold->session, &out);
}

static void say_validity(const struct hold *hold, const redlock_event *event)
{
    char span[DURATION_SIZE];
    if (hold->session.options->verbose) {
        say_at(REDLOCK_LOG_INFO, "locked, valid for %s, on %u of %u masters so far",
               duration_show(span, event->valid_ms), event->granted, event->masters);
    }
}

/* ---- Outcomes ----------------------------------------------------------- */

/* The token is printed before the lease is let go: a lease whose token was not printed would
 * only block others. */
static void held(struct hold *hold, const redlock_event *event)
{
    int64_t valid_ms = redlock_lease_valid_for(hold->lease);
    if (!put_success(hold, event, redlock_lease_token(hold->lease), valid_ms)) {
        redlock_lease_release(hold->lease);
        return;
    }
    if (hold->session.options->command->bit == FOR_LOCK)
        say_validity(hold, event);
    redlock_code code = redlock_lease_detach(hold->lease);
    if (code != REDLOCK_OK) {
        say("the lease ended while it was printed");
        session_end(&hold->session, EXIT_LOST, OWED_TIMEOUT_MS);
        return;
    }
    session_end_released(&hold->session, EXIT_DONE);
}

/* Masters hand a lock over for a short time, in which its holder shows that it lives. */
static bool is_short(const struct hold *hold, const redlock_event *event)
{
    const struct options *options = hold->session.options;
    return options->command->bit == FOR_LOCK && event->valid_ms < options->ttl_ms / 10 * 9;
}

/* Nothing renews it after this process: make it last for its ttl before its token is printed. */
static void acquired(struct hold *hold, const redlock_event *event)
{
    if (!is_short(hold, event) || redlock_lease_extend(hold->lease, 0) != REDLOCK_OK)
        held(hold, event);
}

static void not_extended(struct hold *hold, const redlock_event *event)
{
    char span[DURATION_SIZE];
    if (!hold->session.options->quiet)
        say_at(REDLOCK_LOG_WARNING,
               "locked for %s only: too few masters renewed it to its ttl; extend it, or unlock it",
               duration_show(span, redlock_lease_valid_for(hold->lease)));
    held(hold, event);
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

static void on_holder(redlock_look *look, const redlock_look_result *result, void *data)
{
    struct hold *hold = data;
    struct seen seen;
    look_as_event(result, &seen);
    seen.event.granted = 0; /* to the token that was given */
    if (!hold->session.ending)
        failure_tell(hold->session.options, failure(hold), REDLOCK_E_GONE, hold->gone.bytes,
                     &seen.event);
    redlock_look_free(look);
    if (!hold->session.ending)
        session_end(&hold->session, session_exit_for(&hold->session, REDLOCK_E_GONE),
                    OWED_TIMEOUT_MS);
}

/* A master that refuses a token does not say whose the name is now. */
static bool asks_for_holder(struct hold *hold, const redlock_event *event)
{
    const struct options *options = hold->session.options;
    redlock_look *look;
    if (event->code != REDLOCK_E_GONE || options->command->bit == FOR_LOCK)
        return false;
    text_format(&hold->gone, "%s", options->json ? event->text : votes_headline(event));
    return redlock_look_begin(hold->session.client, &look, options->names, options->names_count,
                              NULL, on_holder, hold) == REDLOCK_OK;
}

static void begin(struct hold *hold);
static void begin_with_list(struct hold *hold);

static bool unlocks(const struct hold *hold)
{
    return hold->session.options->command->bit == FOR_UNLOCK;
}

/* A `lock` that waits goes along, but no other: a script would use its token with its own list. The
 * token of `unlock` may have gone along with the lock of `run`. */
static bool goes_on(struct hold *hold, redlock_code code)
{
    bool may = hold->session.options->wait_ms != 0 || unlocks(hold);
    return code == REDLOCK_E_DIFFERS && may && !hold->stopped_by &&
           follow_to_successor(&hold->follow);
}

static bool asks_elsewhere(struct hold *hold, const redlock_event *event)
{
    redlock_lease *lease = hold->lease;
    if (event->kind != REDLOCK_NOT_ACQUIRED || !goes_on(hold, event->code))
        return false;
    hold->lease = NULL;
    redlock_lease_free(lease);
    begin(hold);
    return true;
}

static void not_held(struct hold *hold, const redlock_event *event)
{
    if (asks_elsewhere(hold, event))
        return;
    if (hold->stopped_by) {
        session_end_by_signal(&hold->session, hold->stopped_by, event);
        return;
    }
    if (asks_for_holder(hold, event))
        return;
    session_tell_failure(&hold->session, failure(hold), event);
    session_end(&hold->session, session_exit_for(&hold->session, event->code), OWED_TIMEOUT_MS);
}

/* This list is over: the lease may be of the next one, too. */
static bool unlocks_elsewhere(struct hold *hold)
{
    redlock_lease *lease = hold->lease;
    if (!unlocks(hold) || !goes_on(hold, REDLOCK_E_DIFFERS))
        return false;
    hold->lease = NULL;
    redlock_lease_free(lease);
    begin_with_list(hold);
    return true;
}

/* Where the last list had it no more on a quorum, one of its masters may have it yet. */
static void tell_released(struct hold *hold, const redlock_event *event, bool by_quorum)
{
    bool done = put_success(hold, event, hold->token.bytes, 0);
    int status = done ? EXIT_DONE : EXIT_OUTPUT;
    if (by_quorum)
        session_end_released(&hold->session, status);
    else
        session_end(&hold->session, status, OWED_TIMEOUT_MS);
}

/* The end of `unlock`, or of a lease whose token could not be printed. */
static void released(struct hold *hold, const redlock_event *event)
{
    redlock_event told = *event;
    hold->was_released |= event->code == REDLOCK_OK;
    if (unlocks_elsewhere(hold))
        return;
    if (hold->was_released)
        told.code = REDLOCK_OK;
    if (hold->session.status == EXIT_OUTPUT)
        session_end(&hold->session, EXIT_OUTPUT, OWED_TIMEOUT_MS);
    else if (hold->stopped_by)
        session_end_by_signal(&hold->session, hold->stopped_by, event);
    else if (told.code != REDLOCK_OK)
        not_held(hold, event);
    else
        tell_released(hold, &told, event->code == REDLOCK_OK);
}

/* It waits on. */
static void on_moved(struct hold *hold, const redlock_event *event)
{
    follow_hears(&hold->follow, event);
    if (event->kind == REDLOCK_MOVED)
        wishing_go_over(&hold->wishing, &hold->session);
    waiting_start(&hold->waiting, &hold->session, hold->lease);
}

static void on_event(redlock_lease *lease, const redlock_event *event, void *data)
{
    struct hold *hold = data;
    (void)lease;
    waiting_stop(&hold->waiting);
    if (event->kind == REDLOCK_MOVED || event->kind == REDLOCK_NOT_MOVED) {
        on_moved(hold, event);
        return;
    }
    follow_drops(&hold->follow);
    wishing_stop(&hold->wishing);
    if (event->kind == REDLOCK_ACQUIRED)
        acquired(hold, event);
    else if (event->kind == REDLOCK_EXTENDED)
        held(hold, event);
    else if (event->kind == REDLOCK_NOT_EXTENDED)
        not_extended(hold, event);
    else if (event->kind == REDLOCK_NOT_ACQUIRED || event->kind == REDLOCK_LOST)
        not_held(hold, event);
    else if (event->kind == REDLOCK_RELEASED)
        released(hold, event);
}

/* An unlock under way goes on: the signal asks for the same end. */
static void on_signal(void *data, int number)
{
    struct hold *hold = data;
    if (!hold->lease) {
        session_end_by_signal(&hold->session, number, NULL);
    } else if (hold->stopped_by == 0 && hold->session.options->command->bit == FOR_LOCK) {
        hold->stopped_by = number;
        redlock_lease_release(hold->lease);
    }
}

/* ---- The commands ------------------------------------------------------- */

static redlock_code ask(struct hold *hold)
{
    const struct options *options = hold->session.options;
    redlock *client = hold->session.client;
    redlock_lease_options terms = {.size = sizeof(redlock_lease_options)};
    terms.ttl_ms = options->ttl_ms;
    terms.wait_ms = session_rest_of(&hold->session, options->wait_ms);
    terms.fence = options->fence;
    switch (options->command->bit) {
    case FOR_LOCK:
        return redlock_acquire_names(client, &hold->lease, options->names, options->names_count,
                                     &terms, on_event, hold);
    case FOR_EXTEND:
        return redlock_attach(client, &hold->lease, options->names, options->names_count,
                              hold->token.bytes, &terms, on_event, hold);
    default:
        return redlock_release_token(client, &hold->lease, options->names, options->names_count,
                                     hold->token.bytes, on_event, hold);
    }
}

static void begin(struct hold *hold)
{
    redlock_code code = ask(hold);
    if (code != REDLOCK_OK) {
        session_refused(&hold->session, failure(hold), code);
        return;
    }
    waiting_start(&hold->waiting, &hold->session, hold->lease);
    wishing_start(&hold->wishing, &hold->session);
    if (hold->session.options->wait_ms != 0)
        follow_takes(&hold->follow, hold->lease);
}

/* ---- The token ---------------------------------------------------------- */

/* The token, without the fence that `lock --fence` prints behind it. */
static void take_token(struct hold *hold)
{
    const char *given = hold->session.options->token;
    text_add(&hold->token, given, token_length(given));
}

static void look_for_label(struct hold *hold);

static void on_seen(redlock_look *look, const redlock_look_result *result, void *data)
{
    struct hold *hold = data;
    const char *value = look_value_of(result, hold->token.bytes);
    redlock_look_free(look);
    if (!hold->session.ending && value) {
        hold->token.length = 0;
        text_add(&hold->token, value, strlen(value));
        begin(hold);
    } else if (!hold->session.ending) {
        look_for_label(hold);
    }
}

/* The masters compare whole values.  For a token without its label they are asked for the value,
 * name by name, as some names may be gone already. */
static void look_for_label(struct hold *hold)
{
    const struct options *options = hold->session.options;
    redlock_look *question;
    if (hold->asked == options->names_count ||
        redlock_look_begin(hold->session.client, &question, &options->names[hold->asked], 1, NULL,
                           on_seen, hold) != REDLOCK_OK) {
        begin(hold); /* which tells what is wrong */
        return;
    }
    hold->asked++;
}

static void begin_with_list(struct hold *hold)
{
    hold->asked = 0;
    if (hold->token.length > 0 && token_is_bare(hold->token.bytes))
        look_for_label(hold);
    else
        begin(hold);
}

static void on_begin(void *data)
{
    struct hold *hold = data;
    if (hold->session.options->token)
        take_token(hold);
    begin_with_list(hold);
}

/* `unlock` asks its own list first, even if that is over.  A lease may be on a bare quorum of it,
 * which is none of the next list: that would tell that the lease was gone. */
static bool on_wrong_list(void *data)
{
    struct hold *hold = data;
    redlock_code code = hold->session.readiness;
    bool is_over = code == REDLOCK_E_DIFFERS && redlock_successor(hold->session.client);
    return unlocks(hold) ? is_over : goes_on(hold, code);
}

static void on_over(void *data)
{
    struct hold *hold = data;
    follow_next(&hold->follow);
}

static void on_ended(void *data)
{
    struct hold *hold = data;
    follow_stop(&hold->follow);
}

static int perform(const struct options *options)
{
    struct hold hold = {.session = {.begin = on_begin,
                                    .goes_elsewhere = on_wrong_list,
                                    .is_over = on_over,
                                    .ended = on_ended,
                                    .signalled = on_signal}};
    if (!session_open(&hold.session, options, &hold))
        return hold.session.status;
    follow_start(&hold.follow, &hold.session);
    int status = session_run(&hold.session);
    text_free(&hold.token);
    text_free(&hold.gone);
    return status;
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
