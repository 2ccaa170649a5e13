#include "terms.h"

#include <getopt.h>
#include <redlock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option known[] = {
    {"record", required_argument, NULL, 'r'},     {"label", required_argument, NULL, 'b'},
    {"seconds", required_argument, NULL, 's'},    {"seed", required_argument, NULL, 'd'},
    {"ttl", required_argument, NULL, 't'},        {"wait", required_argument, NULL, 'w'},
    {"max-ttl", required_argument, NULL, 'm'},    {"skew", required_argument, NULL, 'k'},
    {"spare", required_argument, NULL, 'p'},      {"hold", required_argument, NULL, 'h'},
    {"long-every", required_argument, NULL, 'l'}, {"readers", required_argument, NULL, 'R'},
    {"tries", required_argument, NULL, 'T'},      {"unfenced", required_argument, NULL, 'U'},
    {"permits", required_argument, NULL, 'P'},    {"fewer", required_argument, NULL, 'F'},
    {"whole", required_argument, NULL, 'W'},      {NULL, 0, NULL, 0}};

static void misuse(void)
{
    fputs("usage: redlock-chaos-worker --record FILE --label NAME --seconds S\n"
          "           --seed N [--ttl MS] [--wait MS] [--max-ttl MS] [--skew MS] [--hold US]\n"
          "           [--spare F] [--long-every N] [--readers PERCENT] [--tries PERCENT]\n"
          "           [--unfenced PERCENT] [--permits K] [--fewer PERCENT] [--whole PERCENT] "
          "NAME...\n"
          "REDLOCK_NODES: the masters. REDLOCK_CHAOS_REGISTER: [:PASSWORD@]HOST:PORT.\n",
          stderr);
}

/* [:PASSWORD@]HOST:PORT */
static bool take_register(struct terms *terms, char *address)
{
    char *at = strrchr(address, '@'), *colon = strrchr(address, ':');
    if (!colon || colon < at)
        return false;
    *colon = '\0';
    if (at) {
        *at = '\0';
        terms->register_password = address + (*address == ':');
    }
    terms->register_host = at ? at + 1 : address;
    terms->register_port = atoi(colon + 1);
    return terms->register_port > 0;
}

/* Not arguments, which every user sees: they have passwords in them. */
static bool take_environment(struct terms *terms)
{
    char *at = getenv("REDLOCK_CHAOS_REGISTER");
    terms->nodes = getenv("REDLOCK_NODES");
    return !at || take_register(terms, strdup(at));
}

static bool take_percent(unsigned *percent)
{
    *percent = (unsigned)strtoul(optarg, NULL, 10);
    return *percent <= 100;
}

static bool take_permits(unsigned *permits)
{
    *permits = (unsigned)strtoul(optarg, NULL, 10);
    return *permits <= REDLOCK_PERMITS_MAX;
}

static bool take(struct terms *terms, int option)
{
    switch (option) {
    case 'r':
        terms->record = optarg;
        return true;
    case 'b':
        terms->label = optarg;
        return true;
    case 's':
        terms->seconds = atof(optarg);
        return true;
    case 'd':
        terms->seed = (unsigned)strtoul(optarg, NULL, 10);
        return true;
    case 't':
        terms->ttl_ms = atoll(optarg);
        return true;
    case 'w':
        terms->wait_ms = atoll(optarg);
        return true;
    case 'm':
        terms->max_ttl_ms = atoll(optarg);
        return true;
    case 'k':
        terms->skew_ms = atoll(optarg);
        return true;
    case 'p':
        terms->spare = atoi(optarg);
        return true;
    case 'h':
        terms->hold_s = atof(optarg) / 1e6;
        return true;
    case 'l':
        terms->long_every = (unsigned)strtoul(optarg, NULL, 10);
        return true;
    case 'R':
        return take_percent(&terms->readers);
    case 'T':
        return take_percent(&terms->tries);
    case 'U':
        return take_percent(&terms->unfenced);
    case 'P':
        return take_permits(&terms->permits);
    case 'F':
        return take_percent(&terms->fewer);
    case 'W':
        return take_percent(&terms->whole);
    default:
        return false;
    }
}

static bool is_whole(const struct terms *terms)
{
    return terms->nodes && terms->record && terms->label && terms->seconds > 0 &&
           terms->ttl_ms > 0 && terms->count > 0 && terms->count <= NAMES_MOST;
}

bool terms_parse(struct terms *terms, int argc, char **argv)
{
    int option;
    bool good = true;
    *terms = (struct terms){
        .hold_s = 0.001, .ttl_ms = 1000, .wait_ms = 2000, .max_ttl_ms = 1000, .skew_ms = 50};
    while (good && (option = getopt_long(argc, argv, "", known, NULL)) != -1)
        good = take(terms, option);
    terms->names = argv + optind;
    terms->count = (unsigned)(argc - optind);
    good = good && take_environment(terms) && is_whole(terms);
    if (!good)
        misuse();
    return good;
}
