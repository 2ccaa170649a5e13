/*
 * connect.h - from an address to a connected socket: name lookup, then one address after the
 * other until one answers.  The owner watches the socket.
 */
#ifndef REDLOCK_IO_CONNECT_H
#define REDLOCK_IO_CONNECT_H

#include "address.h"

struct addrinfo;
struct io_loop;
struct resolve;

enum connect_state {
    CONNECT_LOOKS_UP, /* `found` is called when the lookup has ended */
    CONNECT_TRIES,    /* call connect_go_on() when `fd` is writable */
    CONNECT_DONE,     /* `fd` is connected */
    CONNECT_FAILED    /* `why` has the reason */
};

struct connecting {
    int fd;    /* -1: none */
    int error; /* errno of the address that was tried last */
    struct resolve *resolve;
    struct addrinfo *addresses, *untried;
    void (*found)(void *owner, enum connect_state state);
    void *owner;
    const struct address *address;
    char why[200];
};

void connect_init(struct connecting *connecting, const struct address *address,
                  void (*found)(void *owner, enum connect_state state), void *owner);

enum connect_state connect_start(struct connecting *connecting, struct io_loop *loop);

/* Must not be called while the socket is watched: it may close the socket and make another. */
enum connect_state connect_go_on(struct connecting *connecting);

/* Frees what is only needed until the socket is connected. */
void connect_settle(struct connecting *connecting);

/* Cancels the lookup and closes the socket.  Must not be called while the socket is watched. */
void connect_close(struct connecting *connecting);

#endif
