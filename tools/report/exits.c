#include "exits.h"

static int exit_for_misuse(redlock_code code)
{
    switch (code) {
    case REDLOCK_E_NODES:
    case REDLOCK_E_REPLICA:
    case REDLOCK_E_SAME_MASTER:
    case REDLOCK_E_NO_MASTER:
    case REDLOCK_E_DIFFERS:
        return EXIT_NODES;
    case REDLOCK_E_ARGUMENT:
    case REDLOCK_E_NAME:
    case REDLOCK_E_TTL:
        return EXIT_USAGE;
    default:
        return EXIT_INTERNAL;
    }
}

int exit_for(redlock_code code)
{
    switch (redlock_code_class(code)) {
    case REDLOCK_CLASS_OK:
        return EXIT_DONE;
    case REDLOCK_CLASS_MISUSE:
        return exit_for_misuse(code);
    case REDLOCK_CLASS_CONTENDED:
        return EXIT_CONTENDED;
    case REDLOCK_CLASS_UNAVAILABLE:
        return EXIT_UNAVAILABLE;
    case REDLOCK_CLASS_LOST:
        return EXIT_LOST;
    default:
        return EXIT_INTERNAL;
    }
}
