/*
 * redlock - quorum locks over independent Redis masters, for shells and scripts.
 */
#include <fcntl.h>
#include <unistd.h>

#include "commands.h"
#include "exits.h"
#include "options.h"
#include "say.h"
#include "signals.h"

static const char global_help[] =
    "usage: redlock [OPTION...] COMMAND [OPTION...] [NAME...]\n"
    "\n"
    "Locks that hold on a quorum of independent Redis masters.\n"
    "\n"
    "  run     hold locks while a command runs\n"
    "  lock    take a lease and print its token\n"
    "  extend  prolong a lease, by its token\n"
    "  unlock  give a lease back, by its token\n"
    "  status  show the holder of a name, on which masters, and for how long\n"
    "  list    show who holds what, and who waits for what\n"
    "  break   take a lock away from its holder\n"
    "  nodes   check each master, with advice\n"
    "  elect   run a command while leading, and announce a value\n"
    "  leader  print what the leader announces\n"
    "  barrier wait until all parties have arrived\n"
    "  latch   arrive without waiting; wait until enough have arrived\n"
    "\n"
    "Options of every command:\n"
    "  --nodes URIS           the masters: redis://[[USER]:PASSWORD@]HOST[:PORT][/DB]\n"
    "                         or rediss:// for TLS or unix:///PATH, separated by\n"
    "                         commas\n"
    "  --nodes-file PATH      a file with that list: `ps` and the command that is run\n"
    "                         do not see it; else $REDLOCK_NODES, and without that\n"
    "                         the file $REDLOCK_NODES_FILE; # begins a comment in it\n"
    "  --max-ttl D            longest ttl that a client may ask for, equal for all\n"
    "                         clients of the same masters; else $REDLOCK_MAX_TTL,\n"
    "                         else 30s; `status`, `list` and `nodes` only judge by it\n"
    "  --spare F              number of masters that may lie or forget while there\n"
    "                         is still at most one holder; fewer may then be dead:\n"
    "                         `nodes` says how many; equal for all clients; else\n"
    "                         $REDLOCK_SPARE, else 0\n"
    "  --prefix TEXT          put before each name to make the key\n"
    "  --label TEXT           shown to others as the holder; default HOST:PID\n"
    "  --request-timeout D    for one answer of one master\n"
    "  --connect-timeout D    for one connection\n"
    "  --tls-ca PATH          for rediss://: the CAs that are trusted, a PEM file or\n"
    "                         a folder; else $REDLOCK_TLS_CA, else the system's\n"
    "  --tls-cert PATH        a certificate, for masters that want one of the client,\n"
    "                         else $REDLOCK_TLS_CERT\n"
    "  --tls-key PATH         its key, if not in that file; else $REDLOCK_TLS_KEY\n"
    "  --tls-name HOST        what the certificate of a master must be for; else\n"
    "                         $REDLOCK_TLS_NAME, else the host of its URI\n"
    "  --tls-sni HOST         the name to ask for; else $REDLOCK_TLS_SNI, else that\n"
    "                         name\n"
    "  --tls-verify WORD      none: any certificate will do, and nothing is secret;\n"
    "                         else $REDLOCK_TLS_VERIFY, else full\n"
    "  --json                 one JSON document on stdout, messages as JSON on\n"
    "                         stderr: see doc/json.md\n"
    "  -q, --quiet            no messages, only results and the exit status\n"
    "  -v, --verbose          tell each event\n"
    "  -h, --help             of the command, if one is named; this and the version\n"
    "                         are plain text, with --json too\n"
    "  -V, --version\n"
    "\n"
    "Durations D have a unit: 250ms, 10s, 5m, 2h.\n"
    "\n"
    "Exit status: 0 done, 1 nobody leads (`leader`), or you said no (`break`),\n"
    "64 usage, 69 no quorum of masters, 70 internal error, 74 stdout cannot be\n"
    "written, 75 somebody else has the lock (`barrier`: not passed, `latch`: not\n"
    "open), 76 the lock was lost, or the latch, 78 the list of masters is wrong,\n"
    "128+N ended by signal N; otherwise\n"
    "`run` exits as the command did.\n"
    "\n"
    "Example:\n"
    "  export REDLOCK_NODES=redis://a,redis://b,redis://c\n"
    "  redlock run nightly-report -- ./report.sh\n";

static const struct command commands[] = {
    {"run", FOR_RUN, perform_run, run_help},
    {"lock", FOR_LOCK, perform_lock, lock_help},
    {"extend", FOR_EXTEND, perform_extend, extend_help},
    {"unlock", FOR_UNLOCK, perform_unlock, unlock_help},
    {"status", FOR_STATUS, perform_status, status_help},
    {"list", FOR_LIST, perform_list, list_help},
    {"break", FOR_BREAK, perform_break, break_help},
    {"nodes", FOR_NODES, perform_nodes, nodes_help},
    {"elect", FOR_ELECT, perform_run, elect_help},
    {"leader", FOR_LEADER, perform_leader, leader_help},
    {"barrier", FOR_BARRIER, perform_barrier, barrier_help},
    {"latch", FOR_LATCH, perform_latch, latch_help},
    {NULL, FOR_ALL, NULL, global_help},
};

/* No socket may become descriptor 1 because our caller closed that.  Each is opened the wrong
 * way round, so that its use fails as on a closed one. */
static void fill_standard_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            _exit(EXIT_INTERNAL);
}

int main(int argc, char **argv)
{
    struct options options;
    fill_standard_descriptors();
    signals_start();
    say_start();
    int status = options_parse(&options, commands, argc, argv);
    if (status < 0)
        status = options.command->perform(&options);
    options_free(&options);
    return status;
}
