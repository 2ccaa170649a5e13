/*
 * tls_module.c - what the module shows of itself.
 */
#include "tls_calls.h"

extern const struct tls_calls redlock_tls_calls;

__attribute__((visibility("default"))) const struct tls_calls redlock_tls_calls = {
    tls_new, tls_handshake, tls_begin_reading, tls_read, tls_write, tls_waits_to_write,
    tls_why, tls_facts,     tls_free};
