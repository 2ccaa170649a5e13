/*
 * floor_wire.h - a connection to a master for the floor on raw sockets: bytes that wait to be sent,
 * and replies, each of one line, that have come.
 */
#ifndef BENCH_FLOOR_WIRE_H
#define BENCH_FLOOR_WIRE_H

#include <stdbool.h>
#include <stddef.h>

struct cluster;
struct redisContext;
struct result;

enum { WIRE_READ = 16384 };

struct wire {
    struct redisContext *context; /* logged in by hiredis, which then only keeps the socket */
    int fd;
    char *out;
    size_t out_length, out_room;
    size_t in_at, in_length;
    char in[WIRE_READ];
};

/* False, with a note, if the master cannot be reached or has no script then. */
bool wire_open(struct wire *wire, const struct cluster *cluster, unsigned i, struct result *result);
void wire_close(struct wire *wire);

void wire_add(struct wire *wire, const char *bytes, size_t length);
/* Sends what the socket takes.  False: the connection is lost. */
bool wire_send(struct wire *wire);
/* Reads what there is.  False: the connection is lost. */
bool wire_receive(struct wire *wire);
/* The next whole line that has come, or NULL; it is valid until more is read. */
const char *wire_line(struct wire *wire);

#endif
