#include "once.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "commands.h"
#include "failure.h"
#include "json.h"
#include "say.h"

const char once_help[] =
    "usage: redlock once --key KEY --life D [OPTION...] NAME -- COMMAND\n"
    "\n"
    "Runs the command under the lock NAME, as `redlock run` does, unless a command\n"
    "has succeeded for KEY before. If this one succeeds (status 0), it records that\n"
    "on the masters, and then releases the lock. While the record lasts, others with\n"
    "this NAME and KEY hear who did it, and run nothing. A command that fails, is\n"
    "killed, or loses the lock leaves no record, so the next one tries.\n"
    "\n"
    "  --key KEY          what is done once, such as a day: up to 64 letters without\n"
    "                     spaces\n"
    "  --life D           how long the record lasts: 1s to 720h, longer than any host\n"
    "                     may come late\n"
    "  --ttl D            how long the lock lasts if redlock crashes (10s)\n"
    "  --wait D           how long to wait while another holder has the lock: 0, 30s,\n"
    "                     forever (0)\n"
    "  -w, --timeout SECONDS   --wait, as flock has it\n"
    "  -n, --nonblock     --wait 0, likewise\n"
    "  --kill-after D     SIGKILL this long after SIGTERM (5s), maybe sooner on loss\n"
    "  --margin D         the lock counts as lost this long before the lease ends\n"
    "                     (kill-after, but at most ttl/4, and a little more)\n"
    "  --max-hold D       end the command after this time, as on loss (no limit)\n"
    "  --leave-children   background processes and daemons run on without the lock\n"
    "  --fence            take a fencing token against late holders: man 7 redlock\n"
    "  -E, --conflict-exit-code N\n"
    "                     exit with N (1 to 255) if others have the lock, not 75, or\n"
    "                     if it was done, not 0\n"
    "  --unavailable-exit-code N\n"
    "                     exit with N, not 69, if there is no quorum of masters\n"
    "  --on-lost COMMAND  on loss run `sh -c COMMAND` beside the SIGTERM\n"
    "  --watchdog PATH    feed this watchdog device while the lock is valid\n"
    "  --watchdog-timeout D   its own timeout (as it is, or shorter to fit the ttl)\n"
    "  --metrics-file PATH\n"
    "                     keep metrics in this file (NAME.prom) for node_exporter\n"
    "\n"
    "With --wait a host takes over from one that failed. All else is as for\n"
    "`redlock run`. For the promises see man redlock-once\n"
    "\n"
    "Exit status: 0 done now or before, else the command's own; 79 the command\n"
    "succeeded, but the record was not written, so it may be run again; 64, 69, 70,\n"
    "75, 76, 78, 126, 127, 128+N are those of `redlock run`.\n"
    "\n"
    "Example, for ten hosts (in a crontab % is written \\%):\n"
    "  redlock once --key \"$(date +%F)\" --life 36h --wait 1h nightly -- ./report.sh\n";

#define WHEN      "%Y-%m-%dT%H:%M:%SZ"
#define WHEN_SIZE sizeof "2026-11-30T03:00:12Z"

bool once_is_asked_for(const struct session *session)
{
    return session->options->command->bit == FOR_ONCE;
}

static const char *name_of(const struct once *once)
{
    return once->session->options->names[0].bytes;
}

/* ---- the note: a label, an @, and the time -----------------------------------------------------
 */

static void make_note(struct once *once, redlock_lease *lease)
{
    const char *label = strchr(redlock_lease_token(lease), ':');
    time_t now = time(NULL);
    struct tm when;
    char text[WHEN_SIZE] = "";
    if (gmtime_r(&now, &when))
        strftime(text, sizeof text, WHEN, &when);
    snprintf(once->note, sizeof once->note, "%.*s@%s", (int)(sizeof once->note - 1 - WHEN_SIZE),
             label ? label + 1 : "", text);
}

/* With the day if that is not today. */
static void show_time(char *to, size_t size, time_t at)
{
    time_t now = time(NULL);
    struct tm when, today;
    if (!localtime_r(&at, &when) || !localtime_r(&now, &today))
        return;
    bool is_today = when.tm_year == today.tm_year && when.tm_yday == today.tm_yday;
    strftime(to, size, is_today ? "%H:%M:%S" : "%F %H:%M:%S", &when);
}

/* " by web-3 at 03:00:12"; another program's note as it is. */
static void show_note(struct text *out, const char *note)
{
    const char *at = strrchr(note, '@');
    struct tm when = {0};
    char time[40] = "";
    const char *end = at ? strptime(at + 1, WHEN, &when) : NULL;
    bool is_ours = end && !*end;
    size_t who = is_ours ? (size_t)(at - note) : strlen(note);
    if (is_ours)
        show_time(time, sizeof time, timegm(&when));
    if (who)
        text_format(out, " by %.*s", (int)who, note);
    if (time[0])
        text_format(out, " at %s", time);
}

/* ---- telling -------------------------------------------------------------------------- */

static void put_record(const struct once *once, const char *event, const char *note,
                       const char *why, bool undecided)
{
    struct text line = {0};
    struct json json = {.out = &line};
    json_open(&json, NULL, '{');
    json_word(&json, "event", event);
    json_string(&json, "name", name_of(once));
    json_string(&json, "key", once->session->options->key);
    json_filled(&json, "note", note);
    if (why) {
        json_string(&json, "code", why);
        json_bool(&json, "undecided", undecided);
    }
    json_end(&json);
    say_text(&line);
    text_free(&line);
}

static void tell_done(const struct once *once, const char *note)
{
    struct text by = {0};
    text_format(&by, "done");
    show_note(&by, note);
    if (once->session->options->json)
        put_record(once, "done", note, NULL, false);
    else if (!once->session->options->quiet)
        say_at(REDLOCK_LOG_INFO, "%s: %s: %s", name_of(once), once->session->options->key,
               by.bytes);
    text_free(&by);
}

static int tell_recorded(const struct once *once)
{
    const struct options *options = once->session->options;
    if (options->json)
        put_record(once, "recorded", once->note, NULL, false);
    else if (options->verbose) /* what a try before left keeps its own life */
        say_at(REDLOCK_LOG_INFO, "%s: %s: recorded as done", name_of(once), options->key);
    return EXIT_DONE;
}

static bool is_recorded_late(const redlock_latch_result *record)
{
    return record->code == REDLOCK_E_EXPIRED && record->open;
}

/* The stand of the record, for people. */
static const char *stand_of(const redlock_latch_result *record)
{
    if (is_recorded_late(record))
        return "is recorded, but the lock was lost before: somebody else may have begun";
    if (record->code == REDLOCK_E_CANCELLED)
        return "is not recorded, as a signal asked it to end: the next one runs it again";
    if (record->undecided)
        return "may be recorded or not: the next one may run it again";
    return "is not recorded: the next one runs it again";
}

static int tell_unrecorded(const struct once *once, const redlock_latch_result *record)
{
    const struct options *options = once->session->options;
    if (options->json) {
        put_record(once, is_recorded_late(record) ? "recorded_late" : "not_recorded", once->note,
                   redlock_code_name(record->code), record->undecided);
        return EXIT_UNRECORDED;
    }
    say("%s: %s: the command succeeded, and this %s (%s)", name_of(once), options->key,
        stand_of(record), redlock_code_text(record->code));
    if (record->code == REDLOCK_E_UNAVAILABLE)
        session_say_masters(once->session);
    return EXIT_UNRECORDED;
}

static int tell_no_try(const struct once *once, redlock_code code)
{
    redlock_latch_result none = {.size = sizeof none, .code = code};
    return tell_unrecorded(once, &none);
}

static int tell_not_known(const struct once *once, redlock_code code, const char *why)
{
    failure_tell(once->session->options, "cannot find out whether it was done", code, why, NULL);
    if (code == REDLOCK_E_UNAVAILABLE && !once->session->options->json)
        session_say_masters(once->session);
    return code == REDLOCK_E_HELD ? EXIT_USAGE : session_exit_for(once->session, code);
}

/* ---- looking -------------------------------------------------------------------------- */

static void end_call(struct once *once)
{
    redlock_once_free(once->call);
    once->call = NULL;
}

static int status_of_look(const struct once *once, const redlock_latch_result *record)
{
    const struct options *options = once->session->options;
    if (record->code == REDLOCK_E_HELD)
        return tell_not_known(once, record->code,
                              "a latch that `redlock latch` made has the name of the record");
    if (record->code)
        return tell_not_known(once, record->code, redlock_code_text(record->code));
    if (!record->open)
        return ONCE_TO_DO;
    tell_done(once, record->who);
    return options->conflict_exit ? (int)options->conflict_exit : EXIT_DONE;
}

static void on_looked(redlock_once *call, const redlock_latch_result *record, void *data)
{
    struct once *once = data;
    int status = status_of_look(once, record);
    (void)call;
    end_call(once);
    once->told(once->data, status);
}

void once_look(struct once *once, redlock_lease *lease)
{
    redlock_once_options options = {.size = sizeof options};
    options.key = once->session->options->key;
    once->records = false;
    redlock_code code = redlock_once_look(lease, &once->call, &options, on_looked, once);
    if (code)
        once->told(once->data,
                   tell_not_known(once, code, redlock_last_error(once->session->client)));
}

bool once_is_recording(const struct once *once)
{
    return once->call && once->records;
}

bool once_stop_look(struct once *once)
{
    if (!once->call || once->records)
        return false;
    end_call(once);
    return true;
}

/* ---- recording ------------------------------------------------------------------------ */

static void on_recorded(redlock_once *call, const redlock_latch_result *record, void *data)
{
    struct once *once = data;
    int status = record->code ? tell_unrecorded(once, record) : tell_recorded(once);
    (void)call;
    end_call(once);
    once->told(once->data, status);
}

void once_record(struct once *once, redlock_lease *lease)
{
    redlock_once_options options = {.size = sizeof options};
    make_note(once, lease);
    options.key = once->session->options->key;
    options.note = once->note;
    options.life_ms = once->session->options->life_ms;
    once->records = true;
    redlock_code code = redlock_once_record(lease, &once->call, &options, on_recorded, once);
    if (code)
        once->told(once->data, tell_no_try(once, code));
}

int once_leave_unrecorded(struct once *once, redlock_lease *lease)
{
    make_note(once, lease);
    return tell_no_try(once, REDLOCK_E_CANCELLED);
}
