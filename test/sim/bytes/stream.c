#include "stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CUTS_MOST 3
#define PAUSES    300 /* per mille of the pieces that come later than the one before, */
#define PAUSE     300 /* us at most */

void stream_begin(struct stream *stream, struct chance chance, bool splits)
{
    *stream = (struct stream){.chance = chance, .splits = splits};
}

static void add_piece(struct stream *stream, size_t end)
{
    if (stream->count == stream->room) {
        stream->room = stream->room ? 2 * stream->room : 16;
        stream->pieces = realloc(stream->pieces, stream->room * sizeof *stream->pieces);
    }
    stream->pieces[stream->count++] = (struct piece){end, stream->latest};
}

static void draw_pause(struct stream *stream)
{
    if (chance_permille(&stream->chance, PAUSES))
        stream->latest += chance_range(&stream->chance, 1, PAUSE);
}

/* A first pause as well: so what is said next may be read together with this. */
static void split(struct stream *stream, size_t length)
{
    size_t from = stream->said, end = from + length;
    draw_pause(stream);
    for (unsigned cuts = chance_below(&stream->chance, CUTS_MOST + 1); cuts && from < end; cuts--) {
        from += (size_t)chance_range(&stream->chance, 0, (int64_t)(end - from));
        add_piece(stream, from);
        draw_pause(stream);
    }
    add_piece(stream, end);
}

void stream_say(struct stream *stream, const char *bytes, size_t length, usec at)
{
    if (stream->ended)
        return;
    if (at > stream->latest)
        stream->latest = at;
    if (stream->splits)
        split(stream, length);
    else
        add_piece(stream, stream->said + length);
    stream->said += length;
    buffer_append(&stream->bytes, bytes, length);
}

void stream_end(struct stream *stream, int error)
{
    if (!stream->ended)
        stream->error = error;
    stream->ended = true;
}

static size_t arrived(const struct stream *stream, usec now)
{
    size_t end = stream->read;
    for (unsigned i = stream->first; i < stream->count && stream->pieces[i].at <= now; i++)
        end = stream->pieces[i].end;
    return end - stream->read;
}

static void forget_read_pieces(struct stream *stream)
{
    while (stream->first < stream->count && stream->pieces[stream->first].end <= stream->read)
        stream->first++;
    if (stream->first == stream->count)
        stream->first = stream->count = 0;
}

ssize_t stream_read(struct stream *stream, usec now, char *bytes, size_t size)
{
    size_t length = arrived(stream, now);
    length = length < size ? length : size;
    if (!length && stream->ended && stream->read == stream->said) {
        errno = stream->error;
        return errno ? -1 : 0;
    }
    if (!length) {
        errno = EAGAIN;
        return -1;
    }
    memcpy(bytes, stream->bytes.data, length);
    buffer_consume(&stream->bytes, length);
    stream->read += length;
    forget_read_pieces(stream);
    return (ssize_t)length;
}

bool stream_is_readable(const struct stream *stream, usec now)
{
    return arrived(stream, now) || (stream->ended && stream->read == stream->said);
}

usec stream_next(const struct stream *stream, usec now)
{
    for (unsigned i = stream->first; i < stream->count; i++)
        if (stream->pieces[i].at > now)
            return stream->pieces[i].at;
    return NEVER;
}

void stream_free(struct stream *stream)
{
    buffer_free(&stream->bytes);
    free(stream->pieces);
    *stream = (struct stream){0};
}
