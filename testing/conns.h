/*
 * conns.h - the connections of clients to the masters of this process: double.h is how lib/io uses
 * them.  A command is carried out while the client writes it, if nothing has befallen the master.
 *
 * A loop watches an eventfd in the place of a socket: it is readable while there is something to
 * read, and writable once the connection is there.
 */
#ifndef TESTING_CONNS_H
#define TESTING_CONNS_H

#include "masters.h"

/* Those of this process that are there. */
unsigned conns_clients(void);
/* Drops what clients that have left sent to masters that hang. */
void conns_forget(void);
/* Something has befallen the master, or is over. */
void conns_look(unsigned master);
/* The master's process has ended: its connections end. */
void conns_end(unsigned master);
/* Messages for those who wait or observe. */
void conns_publish(unsigned master, const struct model_answer *answer);

#endif
