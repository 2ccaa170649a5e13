#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#include "crowd.h"

static uint64_t calls_of(const char *info, const char *command, size_t length)
{
    char line[80];
    snprintf(line, sizeof line, "cmdstat_%.*s:calls=", (int)length, command);
    const char *at = strstr(info, line);
    return at ? strtoull(at + strlen(line), NULL, 10) : 0;
}

static uint64_t count(const char *info, const char *which)
{
    uint64_t sum = 0;
    while (*which) {
        size_t length = strcspn(which, ",");
        sum += calls_of(info, which, length);
        which += length + (which[length] == ',');
    }
    return sum;
}

uint64_t commands_done(const struct cluster *cluster, const char *which)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < cluster->count; i++) {
        redisReply *reply = cluster_ask(cluster, i, "INFO commandstats");
        if (reply && reply->str)
            sum += count(reply->str, which);
        if (reply)
            freeReplyObject(reply);
    }
    return sum;
}
