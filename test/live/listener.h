/*
 * listener.h - where a program of the tests waits for clients: a free port of the loopback.
 */
#ifndef REDLOCK_TEST_LISTENER_H
#define REDLOCK_TEST_LISTENER_H

/* A socket that listens; its port is written to `port`. */
int listen_anywhere(int backlog, int *port);

#endif
