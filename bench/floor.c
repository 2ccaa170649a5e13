#include "floor.h"

#include <stdlib.h>
#include <string.h>

/* Compare and delete, as the Redis documentation has it. */
#define RELEASE                                                                                    \
    "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) else return 0 " \
    "end"
#define TOKEN "0123456789abcdefghijkl:floor"

static char sha[41]; /* as SCRIPT LOAD answers it */

bool floor_load(redisContext *context, struct result *result)
{
    redisReply *reply = redisCommand(context, "SCRIPT LOAD %s", RELEASE);
    bool loaded = reply && reply->type == REDIS_REPLY_STRING && reply->len == 40;
    if (loaded)
        memcpy(sha, reply->str, 40);
    else
        result_note(result, "cannot load the script: %s", reply ? reply->str : context->errstr);
    if (reply)
        freeReplyObject(reply);
    return loaded;
}

bool floor_prepare(struct floor_commands *commands, const struct options *options)
{
    size_t size = options->name_size;
    char *name = malloc(size);
    memset(name, '.', size);
    memcpy(name, "fl:", 3);
    memset(name + 3, '#', 16);
    int set = redisFormatCommand(&commands->set, "SET %b " TOKEN " NX PX %lld", name, size,
                                 (long long)options->ttl_ms);
    int release = redisFormatCommand(&commands->release, "EVALSHA %s 1 %b " TOKEN, sha, name, size);
    free(name);
    if (set < 0 || release < 0)
        return false;
    commands->set_length = (size_t)set;
    commands->release_length = (size_t)release;
    commands->set_name = strstr(commands->set, "fl:") + 3;
    commands->release_name = strstr(commands->release, "fl:") + 3;
    return true;
}

void floor_name(struct floor_commands *commands, uint64_t serial)
{
    for (unsigned digit = 0; digit < 16; digit++, serial >>= 4)
        commands->set_name[digit] = commands->release_name[digit] = "0123456789abcdef"[serial & 15];
}

void floor_discard(struct floor_commands *commands)
{
    free(commands->set);
    free(commands->release);
}
