/*
 * plan.h - which lists of masters lead from the present one to another, one behind the other.
 */
#ifndef REDLOCK_TOOLS_PLAN_H
#define REDLOCK_TOOLS_PLAN_H

#include "list_chain.h"
#include "list_text.h"
#include "options.h"
#include "text.h"

#define NODE_SIZE 300

/* A master, as the library names it, and as its entry stands in the list, with its login. */
struct entry {
    char node[NODE_SIZE];
    struct client_text text;
};

struct entries {
    struct entry of[REDLOCK_MASTERS_MAX];
    unsigned count;
};

/* A step leads from its list to the next one; list 0 is the present one. */
struct plan {
    struct options options;             /* with the present list as a text */
    struct entries from, going, coming; /* going: those of `from` that the other list lacks */
    struct entries former, latter;      /* two addresses of each of these masters, which stay */
    struct list_chain chain;
    char *read; /* the file with the present list; NULL: there is none */
};

/* Returns the exit status; it is no EXIT_DONE after a message, and then nothing is left to free. */
int plan_make(struct plan *plan, const struct options *options);
/* The present list alone.  As above. */
int plan_begin(struct plan *plan, const struct options *options);
void plan_free(struct plan *plan);

/* They may be one server: the host is the same, and one of them is a port for TLS. */
bool plan_may_join(const struct plan *plan, const char *going, const char *coming);
/* They are: its address changes in the first step.  False: so no chain of lists leads there. */
bool plan_join(struct plan *plan, const char *going, const char *coming);

/* The n-th master of a list; NULL: no more.  Those that join are not in the list before it, and
 * those that leave are in that one alone. */
typedef const struct entry *plan_pick(const struct plan *plan, unsigned list, unsigned n);
plan_pick plan_member, plan_joining, plan_leaving;

unsigned plan_masters(const struct plan *plan, unsigned list);
unsigned plan_quorum(const struct plan *plan, unsigned list);
bool plan_has(const struct plan *plan, unsigned list, const char *node);

/* The masters with commas between them: as people may see them, as masters tell them to clients
 * (marked if they have TLS), and with their logins. */
void plan_put_told(struct text *out, const struct plan *plan, unsigned list);
void plan_put_nodes(struct text *out, const struct plan *plan, unsigned list, plan_pick *pick);
void plan_put_entries(struct text *out, const struct plan *plan, unsigned list);

#endif
