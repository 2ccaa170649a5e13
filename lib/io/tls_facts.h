/*
 * tls_facts.h - what the handshake of TLS told of a master.
 */
#ifndef REDLOCK_IO_TLS_FACTS_H
#define REDLOCK_IO_TLS_FACTS_H

#include <stdbool.h>
#include <stdint.h>

struct tls_facts {
    char protocol[16];
    char peer[64];   /* what its certificate calls it */
    int64_t ends_at; /* of its certificate: seconds since 1970 */
    bool verified;
};

#endif
