/*
 * run.c - holds locks while a command runs.
 *
 *   ask for the lease ── ACQUIRED ──► start the command ── it ends ──► release ──► end
 *          │                                │
 *          │                 LOST, --max-hold: SIGTERM, SIGKILL before the lease ends
 *          └─ NOT_ACQUIRED ─────────────────────────────────────────────────────► end
 *
 * Should we be stopped or killed, the guardian ends the command (guardian.h).
 */
#include "run.h"

#include <errno.h>
#include <stdio.h>

#include "commands.h"
#include "duration.h"
#include "elect.h"
#include "misuse.h"
#include "run_notify.h"
#include "run_report.h"
#include "run_times.h"

const char run_help[] =
    "usage: redlock run [OPTION...] NAME... -- COMMAND [ARGUMENT...]\n"
    "\n"
    "Takes the locks, all or none, and runs the command. Renews them until all of the\n"
    "command has ended, then releases them. If they are lost it ends the command,\n"
    "SIGTERM then SIGKILL, before the lease ends.\n"
    "\n"
    "  --ttl D            how long the locks last if redlock crashes (10s)\n"
    "  --wait D           how long to wait while another holder has a lock: 0, 30s,\n"
    "                     forever (0)\n"
    "  -w, --timeout SECONDS   --wait, as flock has it\n"
    "  -n, --nonblock     --wait 0, likewise\n"
    "  --kill-after D     SIGKILL this long after SIGTERM (5s), maybe sooner on loss\n"
    "  --margin D         the locks count as lost this long before the lease ends\n"
    "                     (kill-after, but at most ttl/4, and a little more)\n"
    "  --max-hold D       end the command after this time, as on loss (no limit)\n"
    "  --leave-children   background processes and daemons run on without the lock\n"
    "  --at-least D       nobody else gets the locks within this time, also if the\n"
    "                     command ends sooner (0; at most max-ttl)\n"
    "  --fence            take a fencing token against late holders: man 7 redlock\n"
    "  --reentrant        in a command that runs under these locks, run under them\n"
    "  --shared[=NAME]    be a reader, beside others, of all names or of =NAME\n"
    "  --permits K        take one of K permits (1 to 1024) of the one name: at\n"
    "                     most K commands run at once. Use the same K everywhere\n"
    "  -E, --conflict-exit-code N\n"
    "                     exit with N (1 to 255), not 75, if others have the lock\n"
    "  --unavailable-exit-code N\n"
    "                     exit with N, not 69, if there is no quorum of masters\n"
    "  --on-lost COMMAND  on loss run `sh -c COMMAND` beside the SIGTERM\n"
    "  --ask TEXT         while it waits, ask the holder to let go: `redlock ask`\n"
    "  --on-wanted COMMAND   when somebody asks, run `sh -c COMMAND`\n"
    "  --yield-when-wanted   when somebody asks, end the command as on loss\n"
    "  --watchdog PATH    feed this watchdog device while the locks are valid\n"
    "  --watchdog-timeout D   its own timeout (as it is, or shorter to fit the ttl)\n"
    "  --metrics-file PATH   keep metrics in this file (NAME.prom): node_exporter\n"
    "\n"
    "The command has REDLOCK_NAME (the first name), REDLOCK_NAMES (one a line),\n"
    "REDLOCK_TOKEN, REDLOCK_FENCE and REDLOCK_SLOT (0 to K - 1). It also has\n"
    "REDLOCK_NODES_FILE or REDLOCK_NODES (unless that has a password or is a pipe),\n"
    "REDLOCK_SPARE and REDLOCK_MAX_TTL, for a `redlock` in it.\n"
    "\n"
    "SIGINT, SIGQUIT and SIGTERM end the command, which gets others as they are. More\n"
    "about signals, the guardian, systemd and a list that changes: man redlock-run\n"
    "\n"
    "Exit status: the command's own, 128+N if signal N ended it; 64 usage, 69 no\n"
    "quorum, 70 an error of this machine, or the guardian was killed, 75 others have\n"
    "the lock, 76 it was lost, held for max-hold or yielded while the command ran, 78\n"
    "the list of masters is wrong, 126 the command cannot be run, 127 not found.\n"
    "\n"
    "Example:\n"
    "  redlock run --permits 4 --wait forever pool -- ./worker.sh\n";

/* ---- The longest hold --------------------------------------------------- */

/* A lease that has just ended needs nothing here: LOST follows at once.  The command is ended for
 * one reason, the first. */
static void end_command(struct run *run, const struct early_end *why, const char *state)
{
    int64_t valid = redlock_lease_valid_for(run->lease);
    if (!run->running || run->lost || run->overdue || valid == 0)
        return;
    int64_t grace = run_grace_ms(run->session.options, valid);
    run->overdue = true;
    run->lease_end = boot_ms() + valid;
    child_end(&run->child, boot_ms() + grace);
    report_early_end(run, why, valid, grace);
    run_notify_ending(run, state);
}

static void on_max_hold(void *data)
{
    struct run *run = data;
    char span[DURATION_SIZE], text[100];
    snprintf(text, sizeof text, "the lease was held for the longest time allowed, %s",
             duration_show(span, run->session.options->max_hold_ms));
    end_command(run, &(struct early_end){"max_hold", REDLOCK_E_MAX_HOLD, text},
                "held for the longest time allowed: ending the command");
}

static void on_yield(void *data, const char *who)
{
    struct run *run = data;
    char text[120];
    snprintf(text, sizeof text, "the lock goes to the next one, as %s asked for it", who);
    end_command(run, &(struct early_end){"yields", REDLOCK_E_CANCELLED, text},
                "somebody asked for the lock: ending the command");
}

/* 0 or an errno. */
static int start_max_hold(struct run *run)
{
    int64_t longest = run->session.options->max_hold_ms;
    if (longest == 0)
        return 0;
    int error = alarm_open(&run->max_hold, run->session.loop, on_max_hold, run);
    if (!error && !alarm_set(&run->max_hold, boot_ms() + longest)) {
        error = errno;
        alarm_close(&run->max_hold);
    }
    return error;
}

static void stop_max_hold(struct run *run)
{
    if (run->session.options->max_hold_ms > 0)
        alarm_close(&run->max_hold);
}

/* ---- The watchdog -------------------------------------------------------- */

/* As late as can be: a `run` that waits must not arm it. */
static bool arm_watchdog(struct run *run)
{
    struct text why = {0};
    bool is_armed = !run->session.options->watchdog ||
                    watchdog_open(&run->child.orders.watchdog, run->session.options, &why);
    if (!is_armed)
        report_no_watchdog(run, why.bytes);
    text_free(&why);
    return is_armed;
}

static void disarm_watchdog(struct run *run)
{
    if (watchdog_is_open(&run->child.orders.watchdog))
        run->child.stays_armed = !watchdog_disarm(&run->child.orders.watchdog);
}

/* The guardian has disarmed it, if it was there to do so. */
static void close_watchdog(struct run *run)
{
    if (run->child.unguarded)
        disarm_watchdog(run);
    else if (watchdog_is_open(&run->child.orders.watchdog))
        watchdog_close(&run->child.orders.watchdog);
}

/* ---- The command's end -------------------------------------------------- */

static int status_of(const struct run *run)
{
    if (run->lost || run->overdue || run->child.acted)
        return EXIT_LOST;
    return run->child.unguarded ? EXIT_INTERNAL : run->child.exit_status;
}

/* After LOST too, to clear what is left on the masters. */
static void release(struct run *run)
{
    follow_drops(&run->follow);
    if (redlock_lease_release(run->lease) != REDLOCK_OK)
        session_end(&run->session, run->status, OWED_TIMEOUT_MS);
}

/* Work that a signal cut off is not done, whatever the command says of it. */
static void record_or_release(struct run *run)
{
    bool is_done = once_is_asked_for(&run->session) && run->status == EXIT_DONE;
    if (is_done && !run->cut_off) {
        once_record(&run->once, run->lease);
        return;
    }
    if (is_done)
        run->status = once_leave_unrecorded(&run->once, run->lease);
    release(run);
}

static void on_all_ended(struct child *child, void *data)
{
    struct run *run = data;
    run->running = false;
    if (run->session.options->watchdog)
        stuck_stop(&run->stuck, run->session.loop);
    stop_max_hold(run);
    wanted_stop(&run->wanted);
    ev_prepare_stop(run->session.loop, &run->lease_watcher);
    if (child->acted && !run->lost && !run->overdue)
        run->lease_end = child->lease_end;
    close_watchdog(run);
    if (child->exec_errno)
        report_not_executed(run, run->session.options->program[0], child->exec_errno);
    else
        report_end(run);
    run_notify_ending(run, "the command has ended");
    run->status = status_of(run);
    record_or_release(run);
}

static bool may_go_on(void *data)
{
    const struct run *run = data;
    return !run->lost && !run->overdue && redlock_lease_valid_for(run->lease) > 0;
}

/* ---- The guardian's knowledge ------------------------------------------- */

/* Before each wait of the loop, for renewals come in by the loop.  The clock is read first, so that
 * the sum is never too large. */
static void on_turn(struct ev_loop *loop, ev_prepare *watcher, int events)
{
    struct run *run = watcher->data;
    (void)loop;
    (void)events;
    int64_t now = boot_ms();
    int64_t valid = redlock_lease_valid_for(run->lease);
    if (valid > 0 && !run->lost)
        child_lease_ends(&run->child, now + valid);
}

static void watch_lease(struct run *run)
{
    ev_prepare_init(&run->lease_watcher, on_turn);
    run->lease_watcher.data = run;
    ev_prepare_start(run->session.loop, &run->lease_watcher);
}

/* ---- The lease ---------------------------------------------------------- */

static void stand(struct run *run);

static void end_unstarted(struct run *run, int status)
{
    run->status = status;
    run_notify_ending(run, "the command could not be started");
    release(run);
}

static void could_not_start(struct run *run, int error)
{
    disarm_watchdog(run);
    report_not_executed(run, run->session.options->program[0], error);
    run->lost = error == ETIME;
    end_unstarted(run, run->lost ? EXIT_LOST : EXIT_INTERNAL);
}

/* False: it could not be started, and the lease is being released. */
static bool start_command(struct run *run)
{
    run->child.orders = run_orders(run->session.options);
    run->child.orders.release = &run->release;
    run->child.ended_all = on_all_ended;
    run->child.may_go_on = may_go_on;
    run->child.data = run;
    if (!environment_make(&run->environment, run->session.options, run->lease) ||
        !run_release_make(&run->release, run->session.options, run->lease, run->keep_until)) {
        could_not_start(run, ENOMEM);
        return false;
    }
    if (!arm_watchdog(run)) {
        end_unstarted(run, EXIT_INTERNAL);
        return false;
    }
    int error = start_max_hold(run);
    if (error) {
        could_not_start(run, error);
        return false;
    }
    int64_t now = boot_ms();
    error = child_start(&run->child, run->session.loop, run->session.options->program,
                        run->environment.list, now + redlock_lease_valid_for(run->lease));
    if (error) {
        stop_max_hold(run);
        could_not_start(run, error);
        return false;
    }
    run->running = true;
    if (run->session.options->watchdog)
        stuck_start(&run->stuck, run->session.loop, &run->child);
    watch_lease(run);
    if (run->session.options->command->bit == FOR_ELECT)
        elect_announce(run);
    return true;
}

static void on_once_told(void *data, int status)
{
    struct run *run = data;
    if (status == ONCE_TO_DO) {
        start_command(run);
        return;
    }
    run->status = status;
    release(run);
}

static bool begin_once(struct run *run)
{
    run->once = (struct once){.session = &run->session, .told = on_once_told, .data = run};
    once_look(&run->once, run->lease);
    return run->once.call;
}

static void on_acquired(struct run *run, const redlock_event *event)
{
    wishing_stop(&run->wishing);
    run->keep_until = boot_ms() + run->session.options->at_least_ms;
    report_if_verbose(run, event);
    if (!(once_is_asked_for(&run->session) ? begin_once(run) : start_command(run)))
        return;
    follow_takes(&run->follow, run->lease);
    run->wanted.environment = run->environment.list;
    run->wanted.not_before = run->keep_until;
    wanted_start(&run->wanted, run->lease);
    run_notify_holding(run, event);
}

/* The list is over, and the wait goes on with the next one. */
static bool asks_elsewhere(struct run *run, const redlock_event *event)
{
    redlock_lease *lease = run->lease;
    follow_drops(&run->follow);
    if (event->code != REDLOCK_E_DIFFERS || run->stopped_by || !follow_to_successor(&run->follow))
        return false;
    run->lease = NULL;
    redlock_lease_free(lease);
    stand(run);
    return true;
}

static void on_not_acquired(struct run *run, const redlock_event *event)
{
    wishing_stop(&run->wishing);
    if (asks_elsewhere(run, event))
        return;
    run_notify_ending(run, event->text);
    if (run->stopped_by) {
        session_end_by_signal(&run->session, run->stopped_by, event);
        return;
    }
    session_tell_failure(&run->session, "cannot lock", event);
    session_end(&run->session, session_exit_for(&run->session, event->code), OWED_TIMEOUT_MS);
}

static void on_lost(struct run *run, const redlock_event *event)
{
    int64_t now = boot_ms();
    int64_t grace = run_grace_ms(run->session.options, event->valid_ms);
    run->lost = true;
    follow_drops(&run->follow);
    run->taken = event->code == REDLOCK_E_GONE;
    run->lease_end = now + event->ends_ms;
    if (run->running) {
        if (event->valid_ms == 0)
            child_lease_is_gone(&run->child);
        /* Before the message, as writing that may take time. */
        child_end(&run->child, now + grace);
        report_lost(run, event, grace);
        run_notify_ending(run, "lost: ending the command");
    } else if (once_stop_look(&run->once)) {
        session_tell_failure(&run->session, "lost", event);
        run->status = EXIT_LOST;
        release(run);
    }
}

/* The names may be free when the ttl of the last renewal ends, before at-least is over. */
static bool is_kept_by_too_few(const struct run *run, const redlock_event *event)
{
    return event->code == REDLOCK_E_UNAVAILABLE && boot_ms() < run->keep_until;
}

/* A lease that only the release finds gone was lost while the command ran. */
static void on_released(struct run *run, const redlock_event *event)
{
    report_if_verbose(run, event);
    if (is_kept_by_too_few(run, event))
        session_tell_failure(&run->session,
                             "--at-least is not kept, and others may come in sooner, for", event);
    if (run->stopped_by) {
        run->status = EXIT_SIGNAL + run->stopped_by;
    } else if (event->code == REDLOCK_E_GONE && !run->lost) {
        run->lost = true;
        run->status = EXIT_LOST;
        if (!run->session.options->json)
            session_tell_failure(&run->session, "lost", event);
    }
    if (elect_is_to_stand_again(run)) {
        elect_forget_term(run);
        stand(run);
    } else if (event->code == REDLOCK_OK)
        session_end_released(&run->session, run->status);
    else
        session_end(&run->session, run->status, OWED_TIMEOUT_MS);
}

static bool still_waits(const struct run *run)
{
    return !run->running && !run->lost && redlock_lease_valid_for(run->lease) == 0;
}

static void go_over(struct run *run)
{
    wishing_go_over(&run->wishing, &run->session);
    wanted_go_over(&run->wanted);
}

static void on_news(struct run *run, const redlock_event *event)
{
    follow_hears(&run->follow, event);
    if (event->kind == REDLOCK_MOVED)
        go_over(run);
    report_if_verbose(run, event);
    if (run->running && !run->lost)
        run_notify_holding(run, event);
    else if (still_waits(run))
        waiting_start(&run->waiting, &run->session, run->lease);
}

static void on_event(redlock_lease *lease, const redlock_event *event, void *data)
{
    struct run *run = data;
    (void)lease;
    waiting_stop(&run->waiting);
    switch (event->kind) {
    case REDLOCK_ACQUIRED:
        on_acquired(run, event);
        break;
    case REDLOCK_NOT_ACQUIRED:
        on_not_acquired(run, event);
        break;
    case REDLOCK_LOST:
        on_lost(run, event);
        break;
    case REDLOCK_RELEASED:
        on_released(run, event);
        break;
    default:
        on_news(run, event);
    }
    metrics_write(&run->metrics);
}

/* ---- Signals ------------------------------------------------------------ */

static void on_signal(void *data, int number)
{
    struct run *run = data;
    run->ending |= signal_asks_for_end(number);
    if (run->running) {
        run->cut_off |= signal_asks_for_end(number) && !run->child.ended;
        child_signal(&run->child, number);
        if (signal_asks_for_end(number)) {
            child_kill_at(&run->child, boot_ms() + run->session.options->kill_after_ms);
            run_notify_ending(run, "a signal came: ending the command");
        }
    } else if (signal_is_message(number) || once_is_recording(&run->once)) {
        return;
    } else if (!run->lease) {
        session_end_by_signal(&run->session, number, NULL);
    } else if (run->stopped_by == 0 && redlock_lease_release(run->lease) == REDLOCK_OK) {
        run->stopped_by = number;
        once_stop_look(&run->once);
    }
}

/* ---- The command itself ------------------------------------------------- */

/* Another list may be asked for a part of the wait. */
static int64_t wait_left(struct run *run)
{
    int64_t wait = run->session.options->wait_ms, now = boot_ms();
    if (!run->asked_at)
        run->asked_at = now;
    if (wait == REDLOCK_FOREVER)
        return wait;
    return wait > now - run->asked_at ? wait - (now - run->asked_at) : 0;
}

static redlock_code ask(struct run *run)
{
    const struct options *options = run->session.options;
    redlock_lease_options terms = {.size = sizeof(redlock_lease_options)};
    terms.ttl_ms = options->ttl_ms;
    terms.wait_ms = wait_left(run);
    terms.margin_ms = run_margin_ms(options);
    terms.max_hold_ms = options->max_hold_ms;
    terms.at_least_ms = options->at_least_ms;
    terms.fence = options->fence;
    terms.permits = options->permits;
    return redlock_acquire_names(run->session.client, &run->lease, options->names,
                                 options->names_count, &terms, on_event, run);
}

static void stand(struct run *run)
{
    redlock_code code = ask(run);
    if (code != REDLOCK_OK)
        session_refused(&run->session, "cannot lock", code);
    else {
        run_notify_asking(run);
        waiting_start(&run->waiting, &run->session, run->lease);
        wishing_start(&run->wishing, &run->session);
        follow_takes(&run->follow, run->lease);
    }
}

static void stand_first(struct run *run)
{
    int status = watchdog_look(run->session.options);
    if (status == GO_ON)
        stand(run);
    else
        session_end(&run->session, status, 0);
}

/* A `run` in the command of another one would wait for itself. */
static void on_nested(void *data, bool is_held)
{
    struct run *run = data;
    run->joins = is_held && run->session.options->reentrant && run->nested.is_whole;
    if (!is_held) {
        stand_first(run);
        return;
    }
    if (!run->joins)
        nested_refuse(&run->nested);
    session_end(&run->session, session_exit_for(&run->session, REDLOCK_E_HELD), 0);
}

static void on_begin(void *data)
{
    struct run *run = data;
    if (!nested_ask(&run->nested, &run->session, on_nested, run))
        stand_first(run);
}

static bool on_wrong_list(void *data)
{
    struct run *run = data;
    return follow_to_successor(&run->follow);
}

static void on_over(void *data)
{
    struct run *run = data;
    follow_next(&run->follow);
}

static void on_ended(void *data)
{
    struct run *run = data;
    metrics_end(&run->metrics);
    follow_stop(&run->follow);
}

int perform_run(const struct options *options)
{
    struct run run = {.session = {.begin = on_begin,
                                  .goes_elsewhere = on_wrong_list,
                                  .is_over = on_over,
                                  .ended = on_ended,
                                  .signalled = on_signal,
                                  .hears_all = true}};
    if (!session_open(&run.session, options, &run))
        return run.session.status;
    notify_open(&run.notify, run.session.loop, options->quiet);
    if (notify_is_wanted(&run.notify))
        run.waiting.seen = run_notify_waiting;
    run.waiting.data = &run;
    run.wanted = (struct wanted){.session = &run.session, .yield = on_yield, .data = &run};
    metrics_start(&run.metrics, &run.session);
    follow_start(&run.follow, &run.session);
    int status = session_run(&run.session);
    wanted_end(&run.wanted);
    notify_close(&run.notify);
    environment_free(&run.environment);
    run_release_free(&run.release);
    return run.joins ? nested_join(options->program) : status;
}
