/*
 * links.h - what the simulator asks of the links, of whatever kind they are: modelled ones
 * (model_link.c), which carry messages, or the real ones, over bytes in memory (bytes/).
 */
#ifndef SIM_LINKS_H
#define SIM_LINKS_H

#include "client_shell.h"

/* A program is the simulator with one kind of links. */
struct links_kind {
    const char *program;
    const char *login, *database; /* of every other master, from the first on, in its URI */
    uint32_t faults;              /* that only these links can have: a bit for each */
    bool has_lists;               /* clients may have several lists of masters */
};
extern const struct links_kind links_kind;

/* Reads what has arrived on all links, as a loop does that finds them readable. */
void links_read(struct shell *shell);

#endif
