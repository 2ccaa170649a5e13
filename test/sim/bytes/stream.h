/*
 * stream.h - the bytes that come to a client on one connection: in pieces, each at its time, and
 * an end at any byte.
 */
#ifndef SIM_STREAM_H
#define SIM_STREAM_H

#include <sys/types.h>

#include "buffer.h"
#include "ground/event.h"
#include "random.h"

struct piece {
    size_t end; /* in all that was said */
    usec at;    /* then it can be read */
};

struct stream {
    struct chance chance;
    bool splits;
    struct buffer bytes; /* said, and not yet read */
    size_t said, read;   /* in all */
    struct piece *pieces;
    unsigned first, count, room;
    usec latest;
    bool ended;
    int error; /* of the end, as errno; 0: an orderly one */
};

/* A new one; `splits`: what is said at once may come in several pieces. */
void stream_begin(struct stream *stream, struct chance chance, bool splits);
void stream_say(struct stream *stream, const char *bytes, size_t length, usec at);
/* Nothing is said from now on. */
void stream_end(struct stream *stream, int error);
/* Like read() of a socket that does not block. */
ssize_t stream_read(struct stream *stream, usec now, char *bytes, size_t size);
bool stream_is_readable(const struct stream *stream, usec now);
/* When more can be read than now; NEVER: when more is said. */
usec stream_next(const struct stream *stream, usec now);
void stream_free(struct stream *stream);

#endif
