#include "floor_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "cluster.h"
#include "floor.h"

bool wire_open(struct wire *wire, const struct cluster *cluster, unsigned i, struct result *result)
{
    redisContext *context = wire->context = cluster_connect(cluster, i, NULL);
    if (!context || context->err) {
        result_note(result, "cannot connect to %s:%d", cluster->at[i].host, cluster->at[i].port);
        return false;
    }
    wire->fd = context->fd;
    return floor_load(context, result) && fcntl(wire->fd, F_SETFL, O_NONBLOCK) == 0;
}

void wire_close(struct wire *wire)
{
    redisFree(wire->context);
    free(wire->out);
}

void wire_add(struct wire *wire, const char *bytes, size_t length)
{
    if (wire->out_length + length > wire->out_room) {
        wire->out_room = 2 * (wire->out_length + length);
        wire->out = realloc(wire->out, wire->out_room);
    }
    memcpy(wire->out + wire->out_length, bytes, length);
    wire->out_length += length;
}

static bool is_for_later(ssize_t done)
{
    return done < 0 && (errno == EAGAIN || errno == EINTR);
}

bool wire_send(struct wire *wire)
{
    if (!wire->out_length)
        return true;
    ssize_t sent = send(wire->fd, wire->out, wire->out_length, MSG_NOSIGNAL);
    if (sent < 0)
        return is_for_later(sent);
    wire->out_length -= (size_t)sent;
    memmove(wire->out, wire->out + sent, wire->out_length);
    return true;
}

bool wire_receive(struct wire *wire)
{
    wire->in_length -= wire->in_at;
    memmove(wire->in, wire->in + wire->in_at, wire->in_length);
    wire->in_at = 0;
    ssize_t got = recv(wire->fd, wire->in + wire->in_length, WIRE_READ - wire->in_length, 0);
    if (got > 0)
        wire->in_length += (size_t)got;
    return got > 0 || is_for_later(got);
}

const char *wire_line(struct wire *wire)
{
    char *line = wire->in + wire->in_at;
    char *end = memchr(line, '\n', wire->in_length - wire->in_at);
    if (!end)
        return NULL;
    wire->in_at = (size_t)(end + 1 - wire->in);
    return line;
}
