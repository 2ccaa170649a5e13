/*
 * proxy.h - a slow road to a real master: what the master says arrives late.
 *
 * In a thread of its own.  (In the field a proxy is outside of what the library
 * promises; here it stands for a slow network.)
 */
#ifndef REDLOCK_TEST_PROXY_H
#define REDLOCK_TEST_PROXY_H

struct proxy;

struct proxy *proxy_start(int port);
int proxy_port(const struct proxy *proxy);
/* Replies read from now on arrive this much later; less than zero: never. */
void proxy_delay(struct proxy *proxy, int ms);
void proxy_stop(struct proxy *proxy);

#endif
