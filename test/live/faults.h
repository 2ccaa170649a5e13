/*
 * faults.h - makes the n-th allocation, or the n-th call on a socket or an epoll, of this program
 * fail.
 *
 * It replaces functions of the C library for the whole process, hiredis included. A sanitizer must
 * keep its allocator: there the build wraps only the program's own objects. OpenSSL has a count of
 * its own, since it makes thousands of allocations for each connection.
 */
#ifndef REDLOCK_TEST_FAULTS_H
#define REDLOCK_TEST_FAULTS_H

#include <stdbool.h>

enum fault {
    FAULT_MEMORY,       /* an allocation: none */
    FAULT_MEMORY_SPELL, /* and the nine after it */
    FAULT_CALL_FAILS,   /* socket, connect, send, read, getsockopt: an error that stays */
    FAULT_CALL_PARTLY,  /* send: one byte; read: not now */
    FAULT_CALL_EINTR,   /* interrupted */
    FAULT_CALL_END,     /* read: the other side has closed */
    FAULT_WATCH,        /* epoll_ctl: no space left */
    FAULT_WATCH_ALL,    /* and all after it */
    FAULT_TLS_MEMORY,   /* an allocation of OpenSSL: none */
    FAULTS
};

/* To be called before all else. */
void faults_begin(void);

/* The n-th (from 1) fails, once. */
void fault_arm(enum fault fault, unsigned n);
/* Ends the fault; true if the n-th call came. */
bool fault_disarm(void);

#endif
