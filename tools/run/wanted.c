#include "wanted.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "duration.h"
#include "json.h"
#include "say.h"
#include "spawn.h"

#define OURS        3   /* variables that tell of the wish */
#define WATCH_AFTER 1.0 /* s; a command that ends before costs masters nothing for this */

static pid_t start_command(const char *command, char **environment)
{
    static const struct terminal none = {.fd = -1};
    static const struct cgroup nowhere = {.folder = -1};
    char *shell[] = {"/bin/sh", "-c", (char *)command, NULL};
    struct spawn how = {.command = shell,
                        .environment = environment,
                        .terminal = &none,
                        .cgroup = &nowhere,
                        .exec_pipe = -1,
                        .reads_nothing = true};
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    pid_t pid = spawn(&how);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return pid;
}

/* NULL: there is no memory. */
static char **environment_with(char **environment, struct text ours[OURS])
{
    size_t count = 0;
    while (environment[count])
        count++;
    char **list = calloc(count + OURS + 1, sizeof *list);
    for (size_t i = 0; list && i < count; i++)
        list[i] = environment[i];
    for (size_t i = 0; list && i < OURS; i++)
        list[count + i] = ours[i].bytes;
    return list;
}

/* A second wish may come while the command of the first one runs.  NULL: too many run. */
static ev_child *free_command(struct wanted *wanted)
{
    for (unsigned i = 0; i < WANTED_COMMANDS; i++)
        if (wanted->commands[i].pid == 0)
            return &wanted->commands[i];
    return NULL;
}

static void on_command(struct ev_loop *loop, ev_child *command, int events)
{
    (void)events;
    if (WIFSTOPPED(command->rstatus) || WIFCONTINUED(command->rstatus))
        return;
    ev_child_stop(loop, command);
    command->pid = 0;
}

static void watch_command(struct wanted *wanted, ev_child *command, pid_t pid)
{
    ev_child_init(command, on_command, pid, 0);
    ev_child_start(wanted->session->loop, command);
}

static void run_command(struct wanted *wanted, ev_child *command, const redlock_wish *wish)
{
    struct text ours[OURS] = {0};
    text_format(&ours[0], "REDLOCK_WANTED_BY=%s", wish->who);
    text_format(&ours[1], "REDLOCK_WANTED_TEXT=%s", wish->text);
    text_format(&ours[2], "REDLOCK_WANTED_WAITING=%u", wish->waiting);
    char **environment = environment_with(wanted->environment, ours);
    errno = ENOMEM;
    pid_t pid = environment ? start_command(wanted->session->options->on_wanted, environment) : -1;
    if (pid > 0)
        watch_command(wanted, command, pid);
    else
        say("the command of --on-wanted could not be run: %s", strerror(errno));
    free(environment);
    for (size_t i = 0; i < OURS; i++)
        text_free(&ours[i]);
}

static void run_if_few_run(struct wanted *wanted, const redlock_wish *wish)
{
    ev_child *command = free_command(wanted);
    if (command)
        run_command(wanted, command, wish);
    else
        say("%d commands of --on-wanted still run: this wish starts none", WANTED_COMMANDS);
}

static void tell_json(const redlock_wish *wish)
{
    struct text line = {0};
    struct json json = {.out = &line};
    json_open(&json, NULL, '{');
    json_word(&json, "event", "wanted");
    json_string(&json, "who", wish->who);
    json_string(&json, "text", wish->text);
    json_number(&json, "waiting", wish->waiting);
    json_end(&json);
    say_text(&line);
    text_free(&line);
}

static void tell(const struct wanted *wanted, const redlock_wish *wish)
{
    const struct options *options = wanted->session->options;
    if (options->json)
        tell_json(wish);
    else if (!options->quiet)
        say_at(REDLOCK_LOG_INFO, "%s asks for the lock (%u waiting)%s%s", wish->who, wish->waiting,
               wish->text[0] ? ": " : "", wish->text);
}

static void end_wait(struct wanted *wanted)
{
    if (wanted->waits)
        alarm_close(&wanted->later);
    wanted->waits = false;
}

static void on_later(void *data)
{
    struct wanted *wanted = data;
    end_wait(wanted);
    wanted->yield(wanted->data, wanted->who);
}

static bool wait_until(struct wanted *wanted, int64_t at, const char *who)
{
    if (wanted->waits)
        return true;
    if (alarm_open(&wanted->later, wanted->session->loop, on_later, wanted) != 0)
        return false;
    wanted->waits = true;
    snprintf(wanted->who, sizeof wanted->who, "%s", who);
    if (!alarm_set(&wanted->later, at))
        end_wait(wanted);
    return wanted->waits;
}

/* Before --at-least is over nobody would get the lock, whoever ended the command. */
static void yield(struct wanted *wanted, const char *who)
{
    if (boot_ms() >= wanted->not_before || !wait_until(wanted, wanted->not_before, who))
        wanted->yield(wanted->data, who);
}

static void on_wish(redlock_heeder *heeder, const redlock_wish *wish, void *data)
{
    struct wanted *wanted = data;
    (void)heeder;
    tell(wanted, wish);
    if (wanted->session->options->on_wanted)
        run_if_few_run(wanted, wish);
    if (wanted->session->options->yields)
        yield(wanted, wish->who);
}

/* ---- Without wishes it hears of a break all the same, of one name at least ---- */

static void on_watch(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct wanted *wanted = timer->data;
    (void)loop, (void)events;
    if (redlock_heed(wanted->lease, &wanted->heeder, NULL, NULL) != REDLOCK_OK)
        wanted->heeder = NULL; /* the next renewal finds out */
}

static void watch_later(struct wanted *wanted)
{
    const struct options *options = wanted->session->options;
    if (options->names_count != 1 || options->permits)
        return;
    ev_timer_init(&wanted->watch, on_watch, WATCH_AFTER, 0);
    wanted->watch.data = wanted;
    ev_timer_start(wanted->session->loop, &wanted->watch);
}

/* ---- */

void wanted_start(struct wanted *wanted, redlock_lease *lease)
{
    const struct options *options = wanted->session->options;
    wanted->lease = lease;
    if (!options->on_wanted && !options->yields) {
        watch_later(wanted);
        return;
    }
    redlock_code code = redlock_heed(lease, &wanted->heeder, on_wish, wanted);
    if (code != REDLOCK_OK)
        say("cannot heed wishes: %s", redlock_last_error(wanted->session->client));
}

void wanted_stop(struct wanted *wanted)
{
    ev_timer_stop(wanted->session->loop, &wanted->watch);
    end_wait(wanted);
    redlock_heeder_free(wanted->heeder);
    wanted->heeder = NULL;
}

void wanted_go_over(struct wanted *wanted)
{
    bool hears = wanted->heeder || ev_is_active(&wanted->watch);
    wanted_stop(wanted);
    if (hears)
        wanted_start(wanted, wanted->lease);
}

void wanted_end(struct wanted *wanted)
{
    for (unsigned i = 0; i < WANTED_COMMANDS; i++)
        if (wanted->commands[i].pid > 0)
            kill(-wanted->commands[i].pid, SIGKILL);
}
