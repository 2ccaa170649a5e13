/*
 * cluster_counts.c - what masters say, in numbers or command by command: servers, and those inside
 * the process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "cluster.h"

static long long count(struct cluster *cluster, unsigned master, const char *format,
                       va_list arguments)
{
    redisReply *reply = cluster_answer(cluster, master, format, arguments);
    assert_int_equal(reply->type, REDIS_REPLY_INTEGER);
    long long count = reply->integer;
    freeReplyObject(reply);
    return count;
}

long long cluster_count(struct cluster *cluster, unsigned master, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    long long answer = count(cluster, master, format, arguments);
    va_end(arguments);
    return answer;
}

unsigned cluster_answering(struct cluster *cluster, long long answer, const char *format, ...)
{
    unsigned masters = 0;
    for (unsigned i = 0; i < cluster->count; i++) {
        va_list arguments;
        va_start(arguments, format);
        masters += count(cluster, i, format, arguments) == answer;
        va_end(arguments);
    }
    return masters;
}

unsigned cluster_holders(struct cluster *cluster, const char *name, const char *value)
{
    unsigned holders = 0;
    for (unsigned i = 0; i < cluster->count; i++) {
        redisReply *reply = cluster_ask(cluster, i, "GET %s", name);
        holders += reply && reply->type == REDIS_REPLY_STRING &&
                   (!value || strcmp(reply->str, value) == 0);
        if (reply)
            freeReplyObject(reply);
    }
    return holders;
}

int64_t now_us(void)
{
    struct timespec time;
    clock_gettime(CLOCK_BOOTTIME, &time);
    return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

redisContext *cluster_monitor(const struct cluster *cluster, unsigned master)
{
    redisContext *monitor = cluster_connect(cluster, master);
    redisReply *reply = redisCommand(monitor, "MONITOR");
    assert_non_null(reply);
    freeReplyObject(reply);
    assert_int_equal(redisSetTimeout(monitor, (struct timeval){.tv_sec = 10}), REDIS_OK);
    return monitor;
}
