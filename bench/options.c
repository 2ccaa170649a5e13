#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario.h"

#define USAGE 64

static const char help[] =
    "usage: redlock-bench [options] SCENARIO\n"
    "\n"
    "Measures one scenario against the masters given, or against masters of its own.\n"
    "\n"
    "%s\n"
    "  --nodes LIST     masters, as in REDLOCK_NODES, which is the default; without\n"
    "                   either it starts its own with cluster-scripts/cluster\n"
    "  -n, --masters N  use the first N of the list, or start N (5)\n"
    "  -c N             closed loop: pairs (acquire, release) in flight (1)\n"
    "  --rate R         open loop: R pairs a second; latency counts from the moment\n"
    "                   at which each was to begin\n"
    "  --seconds S      how long to measure (3)\n"
    "  --warm S         how long to warm up before (0.5)\n"
    "  --pairs N        do exactly N pairs, without warm-up, instead of --seconds\n"
    "  --ttl MS         of each lease (10000); renew: see --leases\n"
    "  --spare F        votes: the quorum is (N + F + 2) / 2 (0)\n"
    "  --fleet NAME     the clients of it compare their masters (none)\n"
    "  --descriptor     our clients show a descriptor, which the loop watches; else they\n"
    "                   are a part of the loop, which is libev's\n"
    "  --request-timeout MS  for each master (the library's own choice)\n"
    "  --names K        names in each lease (1)\n"
    "  --name-size B    bytes of each name (32)\n"
    "  --fence          pairs, burst: each lease with a fencing token\n"
    "  --read           pairs: each lease has its names shared, as a reader\n"
    "  --shared N       pairs: of N names, the same for every process that is run so;\n"
    "                   each waits until it is its turn\n"
    "  --leases N       renew, closing, burst, names: leases held (1000);\n"
    "                   local-queue: waiters; observers and so on; storm, idle: clients\n"
    "  --workers N      handoff, turns, permits: processes that want it (8)\n"
    "  --permits K      permits, pairs: one of K permits of each name\n"
    "  --readers N      turns: processes that share it (all but one)\n"
    "  --hold MS        handoff, turns, burst: how long each holds it (10)\n"
    "  --rest MS        the same: how long each then does without, on the average (10)\n"
    "  --worker CMD     handoff: run this instead of our own client; it writes a\n"
    "                   line `ASKED ACQUIRED RELEASED [ENQUEUED]` (ns, CLOCK_MONOTONIC) for\n"
    "                   each time it held the lock, until it is sent SIGTERM;\n"
    "                   start: the command, of words without quotes\n"
    "  --count A,B      handoff, turns: server commands to count (eval,evalsha)\n"
    "  --slice S        wait for lines on standard input; for each, measure S\n"
    "                   seconds (or what the line says) and print one line of JSON\n"
    "  --json           print JSON\n"
    "  --no-syscalls    do not count system calls in runs of their own (strace)\n"
    "  -h, --help\n"
    "\n"
    "Exit status: 0 measured, 1 could not, 64 usage, 130 interrupted (what was\n"
    "measured so far is printed).\n";

enum {
    NODES = 256,
    RATE,
    SECONDS,
    WARM,
    PAIRS,
    TTL,
    NAMES,
    NAME_SIZE,
    FENCE,
    READ,
    SPARE,
    FLEET,
    DESCRIPTOR,
    SHARED,
    LEASES,
    WORKERS,
    READERS,
    PERMITS,
    HOLD,
    REST,
    REQUEST_TIMEOUT,
    WORKER,
    COUNT,
    SLICE,
    JSON,
    NO_SYSCALLS
};

static const struct option known[] = {{"nodes", required_argument, NULL, NODES},
                                      {"masters", required_argument, NULL, 'n'},
                                      {"rate", required_argument, NULL, RATE},
                                      {"seconds", required_argument, NULL, SECONDS},
                                      {"warm", required_argument, NULL, WARM},
                                      {"pairs", required_argument, NULL, PAIRS},
                                      {"ttl", required_argument, NULL, TTL},
                                      {"names", required_argument, NULL, NAMES},
                                      {"name-size", required_argument, NULL, NAME_SIZE},
                                      {"fence", no_argument, NULL, FENCE},
                                      {"read", no_argument, NULL, READ},
                                      {"spare", required_argument, NULL, SPARE},
                                      {"fleet", required_argument, NULL, FLEET},
                                      {"descriptor", no_argument, NULL, DESCRIPTOR},
                                      {"shared", required_argument, NULL, SHARED},
                                      {"leases", required_argument, NULL, LEASES},
                                      {"workers", required_argument, NULL, WORKERS},
                                      {"readers", required_argument, NULL, READERS},
                                      {"permits", required_argument, NULL, PERMITS},
                                      {"hold", required_argument, NULL, HOLD},
                                      {"request-timeout", required_argument, NULL, REQUEST_TIMEOUT},
                                      {"rest", required_argument, NULL, REST},
                                      {"worker", required_argument, NULL, WORKER},
                                      {"count", required_argument, NULL, COUNT},
                                      {"slice", required_argument, NULL, SLICE},
                                      {"json", no_argument, NULL, JSON},
                                      {"no-syscalls", no_argument, NULL, NO_SYSCALLS},
                                      {"help", no_argument, NULL, 'h'},
                                      {NULL, 0, NULL, 0}};

static void show_help(void)
{
    char list[2048];
    scenarios_list(list, sizeof list);
    printf(help, list);
}

static void refuse(const char *what, const char *which)
{
    fprintf(stderr, "redlock-bench: %s: %s; see --help\n", what, which);
    exit(USAGE);
}

static double number(const char *text, double least, double most)
{
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (errno || end == text || *end || !(value >= least && value <= most))
        refuse("not a number that can be used here", text);
    return value;
}

static void take(struct options *options, int option, const char *text)
{
    switch (option) {
    case NODES:
        options->nodes = text;
        break;
    case 'n':
        options->masters = (unsigned)number(text, 1, 15);
        break;
    case 'c':
        options->concurrency = (unsigned)number(text, 1, 1e6);
        break;
    case RATE:
        options->rate = number(text, 1e-3, 1e7);
        break;
    case SECONDS:
        options->seconds = number(text, 1e-3, 1e6);
        break;
    case WARM:
        options->warm = number(text, 0, 1e6);
        break;
    case PAIRS:
        options->pairs = (uint64_t)number(text, 1, 1e12);
        break;
    case TTL:
        options->ttl_ms = (int64_t)number(text, 1, 86400000);
        break;
    case NAMES:
        options->names = (unsigned)number(text, 1, 64);
        break;
    case NAME_SIZE:
        options->name_size = (unsigned)number(text, 20, 1024);
        break;
    case SPARE:
        options->spare = (unsigned)number(text, 0, 14);
        break;
    case FLEET:
        options->fleet = text;
        break;
    case DESCRIPTOR:
        options->descriptor = true;
        break;
    case FENCE:
        options->fence = true;
        break;
    case READ:
        options->reads = true;
        break;
    case SHARED:
        options->shared = (unsigned)number(text, 1, 1e6);
        break;
    case LEASES:
        options->leases = (unsigned)number(text, 1, 1e7);
        break;
    case WORKERS:
        options->workers = (unsigned)number(text, 2, 1000);
        break;
    case PERMITS:
        options->permits = (unsigned)number(text, 1, MOST_PERMITS);
        break;
    case READERS:
        options->readers = (unsigned)number(text, 1, 999);
        break;
    case HOLD:
        options->hold_ms = number(text, 0, 1e6);
        break;
    case REQUEST_TIMEOUT:
        options->request_timeout_ms = (int64_t)number(text, 1, 86400000);
        break;
    case REST:
        options->rest_ms = number(text, 0, 1e6);
        break;
    case WORKER:
        options->worker = text;
        break;
    case COUNT:
        options->count = text;
        break;
    case SLICE:
        options->slices = true;
        options->seconds = number(text, 1e-3, 1e6);
        break;
    case JSON:
        options->json = true;
        break;
    case NO_SYSCALLS:
        options->syscalls = false;
        break;
    case 'h':
        show_help();
        exit(0);
    default:
        exit(USAGE);
    }
}

void options_read(struct options *options, int argc, char **argv)
{
    *options = (struct options){.command = argv,
                                .concurrency = 1,
                                .seconds = 3,
                                .warm = 0.5,
                                .ttl_ms = 10000,
                                .names = 1,
                                .name_size = 32,
                                .leases = 1000,
                                .workers = 8,
                                .hold_ms = 10,
                                .rest_ms = 10,
                                .count = "eval,evalsha",
                                .syscalls = true};
    int option;
    while ((option = getopt_long(argc, argv, "n:c:h", known, NULL)) != -1)
        take(options, option, optarg);
    if (optind + 1 != argc)
        refuse("one scenario is wanted", optind < argc ? argv[optind + 1] : "there is none");
    options->scenario = argv[optind];
    if (options->shared && options->shared < options->names)
        refuse("fewer names to share than are in each lease", options->scenario);
    if (!options->readers)
        options->readers = options->workers - 1;
    if (options->readers >= options->workers)
        refuse("no worker is left to write", options->scenario);
    const char *from_environment = getenv("REDLOCK_NODES");
    if (!options->nodes && from_environment && *from_environment)
        options->nodes = from_environment;
    options->max_ttl_ms = options->ttl_ms > 30000 ? options->ttl_ms : 0;
    if (options->pairs)
        options->warm = 0;
}
