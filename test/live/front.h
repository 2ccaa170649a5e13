/*
 * front.h - where the tests run over TLS (REDLOCK_TEST_TLS=1): TLS before a program that speaks
 * plainly, a proxy or a liar.  It runs in a thread of its own.
 */
#ifndef REDLOCK_TEST_FRONT_H
#define REDLOCK_TEST_FRONT_H

struct front;

/* Leads to the port; with the certificate of the masters that were started last.  Without TLS there
 * is none: NULL. */
struct front *front_start(int port);
int front_port(const struct front *front);
/* NULL is allowed. */
void front_stop(struct front *front);

#endif
