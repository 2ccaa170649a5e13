/*
 * tls_calls.h - the functions of tls.h in a module, which the command loads for the first
 * rediss://: to load OpenSSL takes a quarter of a short `redlock run`.
 */
#ifndef REDLOCK_TOOLS_TLS_CALLS_H
#define REDLOCK_TOOLS_TLS_CALLS_H

#include "tls.h"

struct tls_calls {
    __typeof__(tls_new) *make;
    __typeof__(tls_handshake) *handshake;
    __typeof__(tls_begin_reading) *begin_reading;
    __typeof__(tls_read) *read;
    __typeof__(tls_write) *write;
    __typeof__(tls_waits_to_write) *waits_to_write;
    __typeof__(tls_why) *why;
    __typeof__(tls_facts) *facts;
    __typeof__(tls_free) *free;
};

#endif
