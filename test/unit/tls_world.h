/*
 * tls_world.h - a link to a fake master that speaks TLS, with a CA of the test's own.
 */
#ifndef REDLOCK_TEST_TLS_WORLD_H
#define REDLOCK_TEST_TLS_WORLD_H

#include "certificate.h"
#include "fake_tls.h"
#include "link_calls.h"
#include "link_world.h"

#define NAMES  "DNS:redis.test,DNS:other.test,IP:127.0.0.1"
#define LATER  (30 * DAY_S)
#define BEFORE (-30 * DAY_S)

/* For all cases. */
extern struct certificate ca, master_cert;
extern char ca_path[], cert_path[], key_path[];

/* Of one case: what the master shows, and the other end of its connection. */
extern SSL_CTX *server;
extern struct fake_tls tls;

int tls_tests_begin(void **state);
int tls_tests_end(void **state);
int tls_set_up(void **state);
int tls_tear_down(void **state);
/* It has `struct world *world`. */
#define TLS_TEST(name) CASE_IN(struct world, world, name, tls_set_up, tls_tear_down)

/* The parameters of the link's address; NULL: none. */
void say_of_tls(struct world *world, enum tls_setting setting, const char *value);
/* The master shows this certificate from now on. */
void show(const struct certificate *certificate);

/* Both sides go on until the condition is true. */
#define RUN_UNTIL(world, condition)                                                                \
    while (!(condition)) {                                                                         \
        ev_run((world)->loop, EVRUN_ONCE);                                                         \
        look_after((world));                                                                       \
    }
void look_after(struct world *world);

/* How many more times OpenSSL gets memory, and then none; negative: always. */
extern int openssl_memory;

/* Connects, as often as is said, and goes on until the link tells something. */
void try_to_come_up(struct world *world);
void come_up_by_tls(struct world *world);
/* It does not come up, and says why. */
void assert_refused(struct world *world, const char *why);

#endif
