/*
 * double.h - masters inside this process, for tests: memory://N.
 *
 * libredlock has none of them: double_none.c.  In its place libredlock-testing has the folder
 * testing, with a clock that a test may have in its hands.
 */
#ifndef REDLOCK_IO_DOUBLE_H
#define REDLOCK_IO_DOUBLE_H

#include <stddef.h>
#include <sys/types.h>

#include "double_time.h"

struct io_loop;

/* How many there are; 0: none. */
unsigned double_masters(void);
/* A client of this process begins, or has ended. */
void double_note_client(bool begins);

/* ---- a connection, known by its descriptor, which a loop can watch as that of a socket.  Each of
 * these is false or does nothing for any other descriptor. ---- */

/* Begins to connect to a master, from 0: the descriptor, which is writable once that has ended; or
 * -1 and errno. */
int double_connect(unsigned master);
bool double_has(int fd);
/* How connecting has ended: 0, or an errno. */
int double_connected(int fd);
/* As recv() and send() of a socket that does not block. */
ssize_t double_read(int fd, char *bytes, size_t size);
ssize_t double_write(int fd, const char *bytes, size_t size);
void double_close(int fd);

/* ---- time: besides, see double_time.h ---- */

/* The place of a client on the test's loop, in virtual time, as libev_loop_new() has it. */
struct io_loop *double_loop_new(void (*turn)(void *owner), void *owner);

#endif
