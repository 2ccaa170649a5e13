#include "elect.h"

#include <string.h>

#include "commands.h"
#include "redlock/recipes.h"
#include "say.h"

const char elect_help[] =
    "usage: redlock elect [OPTION...] NAME -- COMMAND [ARGUMENT...]\n"
    "\n"
    "Stands for leader of NAME: waits until it leads, announces a value, and runs the\n"
    "command while it leads. At most one leads at a time, and terms grow from each\n"
    "leader to the next. It is `redlock run --fence --wait forever`, with an\n"
    "announcement, which `redlock leader` prints.\n"
    "\n"
    "  --value TEXT     what it announces, such as its address; '' announces nothing\n"
    "                   but the term (its label: HOST:PID)\n"
    "  --again          when it was lost, and the command has ended, also by itself\n"
    "                   meanwhile, stand again and start the command again; else it\n"
    "                   ends with status 76\n"
    "  --ttl D          how long others wait if it crashes (10s)\n"
    "  --wait D         how long to wait for the term: 0, 30s, forever (forever)\n"
    "  --kill-after D   SIGKILL this long after SIGTERM (5s), on loss perhaps sooner\n"
    "  --margin D       how long before its end the lease counts as lost\n"
    "                   (kill-after, but at most ttl/4, and a little more)\n"
    "  -E, --conflict-exit-code N\n"
    "                   end with N (1 to 255), not 75, if another one leads\n"
    "  --unavailable-exit-code N\n"
    "                   end with N, not 69, if there is no quorum of masters\n"
    "  --on-lost COMMAND\n"
    "                   run `sh -c COMMAND` when the term is lost, beside SIGTERM to\n"
    "                   the command, and for no longer than that has\n"
    "  --leave-children daemons that the command starts run on; else they are ended\n"
    "  --metrics-file PATH\n"
    "                   keep metrics in this file for node_exporter's textfile\n"
    "                   collector (NAME.prom): written at each change, and each 15 s\n"
    "\n"
    "The command has REDLOCK_TERM, the term, in its environment, and all that\n"
    "`redlock run --fence` gives to it: the term is REDLOCK_FENCE too. Whatever it\n"
    "writes to should refuse smaller terms than it has seen: see doc/fencing.md.\n"
    "\n"
    "Where NOTIFY_SOCKET is set (systemd: Type=notify) the service is ready when it\n"
    "leads or stands in line.\n"
    "\n"
    "Signals, --json and what ends the command are as for `redlock run`; with --again\n"
    "a SIGINT, SIGQUIT or SIGTERM ends it too.\n"
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
    bool was_lost = run->lost || run->child.acted;
    return run->session.options->again && was_lost && !run->stopped_by && !run->ending;
}

void elect_forget_term(struct run *run)
{
    redlock_lease_free(run->lease);
    environment_free(&run->environment);
    run->lease = NULL;
    run->environment = (struct environment){0};
    run->child = (struct child){0};
    run->lost = run->taken = false;
    run->status = 0;
}
