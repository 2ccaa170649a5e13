/*
 * exits.h - the exit statuses of the command, those of sysexits.h where it has one.
 */
#ifndef REDLOCK_TOOLS_EXITS_H
#define REDLOCK_TOOLS_EXITS_H

#include "redlock.h"

enum exit_status {
    EXIT_DONE = 0,
    EXIT_NOBODY = 1,       /* nobody announces anything */
    EXIT_DIFFERS = 1,      /* clients count on lists that differ, and may meet */
    EXIT_SOME = 1,         /* some masters do not vote, but a quorum does */
    EXIT_USAGE = 64,       /* the command line cannot be used */
    EXIT_UNAVAILABLE = 69, /* no quorum of masters */
    EXIT_INTERNAL = 70,    /* this machine could not do it, or a bug */
    EXIT_OUTPUT = 74,      /* stdout cannot be written */
    EXIT_CONTENDED = 75,   /* somebody else has the lock: try again later */
    EXIT_LOST = 76,        /* we had the lock, and lost it */
    EXIT_NODES = 78,       /* the list of masters is wrong */
    EXIT_UNRECORDED = 79,  /* the command succeeded, and its record was not written */
    EXIT_NOT_EXECUTABLE = 126,
    EXIT_NOT_FOUND = 127,
    EXIT_SIGNAL = 128, /* plus the number of the signal */
    EXIT_MOST = 255
};

/* The exit status for a code of the library. */
int exit_for(redlock_code code);

#endif
