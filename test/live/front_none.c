/*
 * front_none.c - for a build without TLS.
 */
#include "front.h"

#include <stddef.h>

struct front *front_start(int port)
{
    (void)port;
    return NULL;
}

int front_port(const struct front *front)
{
    (void)front;
    return 0;
}

void front_stop(struct front *front)
{
    (void)front;
}
