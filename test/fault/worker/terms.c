#include "terms.h"

#include <getopt.h>
#include <limits.h>
#include <redlock.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The field that an option sets, and its most. */
static const struct term {
    const char *name;
    enum { TEXT, REAL, MS, COUNT } is;
    size_t at;
    unsigned most;
} known[] = {{"record", TEXT, offsetof(struct terms, record), 0},
             {"label", TEXT, offsetof(struct terms, label), 0},
             {"seconds", REAL, offsetof(struct terms, seconds), 0},
             {"seed", COUNT, offsetof(struct terms, seed), UINT_MAX},
             {"ttl", MS, offsetof(struct terms, ttl_ms), 0},
             {"wait", MS, offsetof(struct terms, wait_ms), 0},
             {"rest", MS, offsetof(struct terms, rest_ms), 0},
             {"max-ttl", MS, offsetof(struct terms, max_ttl_ms), 0},
             {"skew", MS, offsetof(struct terms, skew_ms), 0},
             {"spare", COUNT, offsetof(struct terms, spare), INT_MAX},
             {"hold", REAL, offsetof(struct terms, hold_us), 0},
             {"long-every", COUNT, offsetof(struct terms, long_every), UINT_MAX},
             {"readers", COUNT, offsetof(struct terms, readers), 100},
             {"tries", COUNT, offsetof(struct terms, tries), 100},
             {"unfenced", COUNT, offsetof(struct terms, unfenced), 100},
             {"permits", COUNT, offsetof(struct terms, permits), REDLOCK_PERMITS_MAX},
             {"fewer", COUNT, offsetof(struct terms, fewer), 100},
             {"whole", COUNT, offsetof(struct terms, whole), 100}};
enum { KNOWN = sizeof known / sizeof *known };

static void misuse(void)
{
    fputs("usage: redlock-chaos-worker --record FILE --label NAME --seconds S\n"
          "           --seed N [--ttl MS] [--wait MS] [--max-ttl MS] [--skew MS] [--hold US]\n"
          "           [--rest MS] [--spare F] [--long-every N] [--readers PERCENT] [--tries "
          "PERCENT]\n"
          "           [--unfenced PERCENT] [--permits K] [--fewer PERCENT] [--whole PERCENT] "
          "NAME...\n"
          "REDLOCK_NODES or REDLOCK_NODES_FILE: the masters. REDLOCK_CHAOS_REGISTER: "
          "[:PASSWORD@]HOST:PORT.\n",
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
    terms->has_nodes = getenv("REDLOCK_NODES") || getenv("REDLOCK_NODES_FILE");
    return !at || take_register(terms, strdup(at));
}

static bool take(struct terms *terms, const struct term *term)
{
    void *at = (char *)terms + term->at;
    switch (term->is) {
    case TEXT:
        *(const char **)at = optarg;
        return true;
    case REAL:
        *(double *)at = atof(optarg);
        return true;
    case MS:
        *(int64_t *)at = atoll(optarg);
        return true;
    case COUNT:
        *(unsigned *)at = (unsigned)strtoul(optarg, NULL, 10);
        return *(unsigned *)at <= term->most;
    }
    return false;
}

static bool take_options(struct terms *terms, int argc, char **argv)
{
    struct option options[KNOWN + 1] = {0};
    int which = 0, option;
    for (int i = 0; i < KNOWN; i++)
        options[i] = (struct option){known[i].name, required_argument, NULL, 0};
    while ((option = getopt_long(argc, argv, "", options, &which)) != -1)
        if (option != 0 || !take(terms, &known[which]))
            return false;
    return true;
}

static bool is_whole(const struct terms *terms)
{
    return terms->has_nodes && terms->record && terms->label && terms->seconds > 0 &&
           terms->ttl_ms > 0 && terms->count > 0 && terms->count <= NAMES_MOST;
}

bool terms_parse(struct terms *terms, int argc, char **argv)
{
    *terms = (struct terms){.hold_us = 1000,
                            .rest_ms = 4,
                            .ttl_ms = 1000,
                            .wait_ms = 2000,
                            .max_ttl_ms = 1000,
                            .skew_ms = 50};
    bool good = take_options(terms, argc, argv);
    terms->names = argv + optind;
    terms->count = (unsigned)(argc - optind);
    good = good && take_environment(terms) && is_whole(terms);
    if (!good)
        misuse();
    return good;
}
