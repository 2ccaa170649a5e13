#include "elect.h"

#include <string.h>

#include "commands.h"
#include "redlock/recipes.h"
#include "say.h"

const char elect_help[] =
    "usage: redlock elect [OPTION...] NAME -- COMMAND [ARGUMENT...]\n"
    "\n"
    "Waits until it leads NAME, announces a value, and runs the command while it\n"
    "leads. At most one process leads at a time, and terms grow from each leader to\n"
    "the next. It is `redlock run --fence --wait forever` with an announcement, which\n"
    "`redlock leader` prints.\n"
    "\n"
    "  --value TEXT       what it announces, such as its address; '' announces only\n"
    "                     the term (its label: HOST:PID)\n"
    "  --again            after a loss, or if the command ends by itself meanwhile,\n"
    "                     wait to lead again and start the command again; else the\n"
    "                     exit status is 76\n"
    "  --ttl D            how long others wait if it crashes (10s)\n"
    "  --wait D           how long to wait for the term: 0, 30s, forever (forever)\n"
    "  --kill-after D     SIGKILL this long after SIGTERM (5s), maybe sooner on loss\n"
    "  --margin D         the term counts as lost this long before the lease ends\n"
    "                     (kill-after, but at most ttl/4, and a little more)\n"
    "  -E, --conflict-exit-code N\n"
    "                     exit with N (1 to 255), not 75, if another process leads\n"
    "  --unavailable-exit-code N\n"
    "                     exit with N, not 69, if there is no quorum of masters\n"
    "  --max-hold D       end the command after this time, as on loss (no limit):\n"
    "                     others may lead next, also with --again\n"
    "  --on-lost COMMAND  on loss run `sh -c COMMAND` beside the SIGTERM\n"
    "  --on-wanted COMMAND   when somebody asks for the term, run `sh -c COMMAND`\n"
    "  --yield-when-wanted   when somebody asks, end the command as on loss\n"
    "  --leave-children   background processes and daemons run on\n"
    "  --watchdog PATH    feed this watchdog device while the term is valid\n"
    "  --watchdog-timeout D   its own timeout (as it is, or shorter to fit the ttl)\n"
    "  --metrics-file PATH\n"
    "                     keep metrics in this file (NAME.prom) for node_exporter\n"
    "\n"
    "The command has REDLOCK_TERM and all variables of `redlock run --fence`; the\n"
    "term is REDLOCK_FENCE too. The resource that the command writes to should refuse\n"
    "smaller terms than it has seen: man 7 redlock.\n"
    "\n"
    "With NOTIFY_SOCKET (systemd: Type=notify) the service is ready when it leads or\n"
    "waits to lead. Signals, --json and the end of the command are as for\n"
    "`redlock run`; with --again a SIGINT, SIGQUIT or SIGTERM ends it too.\n"
    "\n"
    "Exit status: as of `redlock run`.\n"
    "\n"
    "Example:\n"
    "  redlock elect --again --value 10.0.0.7:8080 scheduler -- ./scheduler\n"
    "  redlock leader --watch scheduler\n";

static const char *value_of(struct run *run)
{
    const char *label = strchr(redlock_lease_token(run->lease), ':');
    if (run->session.options->value)
        return run->session.options->value;
    return label ? label + 1 : "";
}

/* A leader that cannot announce leads all the same. */
void elect_announce(struct run *run)
{
    const char *value = value_of(run);
    redlock_code code = redlock_lease_announce(run->lease, value, strlen(value));
    if (code != REDLOCK_OK)
        say("cannot announce: %s", redlock_last_error(run->session.client));
}

bool elect_is_to_stand_again(const struct run *run)
{
    bool was_lost = run->lost || run->overdue || run->child.acted;
    return run->session.options->again && was_lost && !run->stopped_by && !run->ending;
}

void elect_forget_term(struct run *run)
{
    redlock_lease_free(run->lease);
    environment_free(&run->environment);
    run_release_free(&run->release);
    run->lease = NULL;
    run->environment = (struct environment){0};
    run->child = (struct child){0};
    run->lost = run->taken = run->overdue = false;
    run->status = 0;
    run->asked_at = 0;
}
