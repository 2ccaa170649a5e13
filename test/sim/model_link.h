/*
 * model_link.h - lib/io/link.h on modelled connections.  One link of a client to a master
 * carries requests, the other one notifications.
 */
#ifndef SIM_MODEL_LINK_H
#define SIM_MODEL_LINK_H

#include "client_shell.h"
#include "link.h"

/* Reads what has arrived on all links, as a loop does that finds them readable. */
void links_read(struct shell *shell);

#endif
