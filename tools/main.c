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
    "Locks that hold on a quorum of independent Redis masters. Commands:\n"
    "  run     hold locks while a command runs\n"
    "  once    run a command once per key, and record that it succeeded\n"
    "  lock    take a lease and print its token\n"
    "  extend  prolong a lease, by its token\n"
    "  unlock  give a lease back, by its token\n"
    "  status  show the holder of a name, on which masters, and for how long\n"
    "  list    show all holders and waiters\n"
    "  ask     ask the holder to let go\n"
    "  break   take a lock away from its holder\n"
    "  nodes   check each master, with advice\n"
    "  masters show which lists of masters are in use, or change the list\n"
    "  elect   run a command while leading, and announce a value\n"
    "  leader  print the announcement of the leader\n"
    "  barrier wait until all parties have arrived\n"
    "  latch   arrive without waiting; wait until enough have arrived\n"
    "  config  show each setting, and whence it came\n"
    "\n"
    "Options of every command:\n"
    "  --nodes URIS           HOST:PORT,..., rediss:// for TLS; else $REDLOCK_NODES\n"
    "  --nodes-file PATH      a file with that list; else $REDLOCK_NODES_FILE\n"
    "  --config FILE          file of settings: see `redlock config --help`\n"
    "  --max-ttl D            longest ttl of all; else $REDLOCK_MAX_TTL, else 30s\n"
    "  --spare F              masters that may lie or forget; else $REDLOCK_SPARE\n"
    "  --prefix TEXT          put before each name, as the key; else $REDLOCK_PREFIX\n"
    "  --fleet TEXT           clients with one list of masters; else $REDLOCK_FLEET\n"
    "  --label TEXT           shown as the holder; else $REDLOCK_LABEL, or HOST:PID\n"
    "  --request-timeout D    for one answer of one master\n"
    "  --connect-timeout D    for one connection\n"
    "  --tls-ca PATH          trusted CAs, a file or a folder; else $REDLOCK_TLS_CA\n"
    "  --tls-cert PATH        certificate of this client; else $REDLOCK_TLS_CERT\n"
    "  --tls-key PATH         its key, if not in that file; else $REDLOCK_TLS_KEY\n"
    "  --tls-name HOST        host of the certificates; else $REDLOCK_TLS_NAME\n"
    "  --tls-sni HOST         host to ask for; else $REDLOCK_TLS_SNI\n"
    "  --tls-verify WORD      none: accept any certificate; else $REDLOCK_TLS_VERIFY\n"
    "  --json                 results and messages as JSON: share/doc/redlock/json.md\n"
    "  -q, --quiet            results and errors alone, nothing that is normal\n"
    "  -v, --verbose          report each event\n"
    "  -h, --help             of the command, if one is named\n"
    "  -V, --version          the version of this redlock\n"
    "\n"
    "Durations D have a unit: 250ms, 10s, 5m, 2h. All clients of the same masters\n"
    "need the same list (see --fleet), --max-ttl and --spare: `man redlock`.\n"
    "Example: redlock --nodes a:6379,b:6379,c:6379 run nightly -- ./report.sh\n"
    "\n"
    "Exit status: 0 done, 1 the answer is no, 64 usage, 69 no quorum of masters, 70\n"
    "internal error, 74 no stdout, 75 somebody else has it, 76 it was lost, 78 wrong\n"
    "masters or settings, 79 not recorded, 128+N signal N; `run`: its command's.\n";

static const struct command commands[] = {
    {"run", FOR_RUN, perform_run, run_help},
    {"once", FOR_ONCE, perform_run, once_help},
    {"lock", FOR_LOCK, perform_lock, lock_help},
    {"extend", FOR_EXTEND, perform_extend, extend_help},
    {"unlock", FOR_UNLOCK, perform_unlock, unlock_help},
    {"status", FOR_STATUS, perform_status, status_help},
    {"list", FOR_LIST, perform_list, list_help},
    {"ask", FOR_ASK, perform_ask, ask_help},
    {"break", FOR_BREAK, perform_break, break_help},
    {"nodes", FOR_NODES, perform_nodes, nodes_help},
    {"masters", FOR_MASTERS, perform_masters, masters_help},
    {"elect", FOR_ELECT, perform_run, elect_help},
    {"leader", FOR_LEADER, perform_leader, leader_help},
    {"barrier", FOR_BARRIER, perform_barrier, barrier_help},
    {"latch", FOR_LATCH, perform_latch, latch_help},
    {"config", FOR_CONFIG, perform_config, config_help},
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
    if (options.verbose)
        say_with_times();
    if (status < 0)
        status = options.command->perform(&options);
    options_free(&options);
    return status;
}
