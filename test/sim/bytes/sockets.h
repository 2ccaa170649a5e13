/*
 * sockets.h - what the simulator asks of the sockets that stand in for real ones.
 */
#ifndef SIM_SOCKETS_H
#define SIM_SOCKETS_H

#include "peer.h"

/* The peer of the link that connects now. */
extern struct peer *peer_connecting;

/* One look of the loop at one socket. */
void socket_serve(struct peer *peer);

#endif
