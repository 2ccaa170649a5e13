/*
 * reply.c - any bytes of a master, through hiredis's reader and ours into what the core hears.
 *
 * The first byte says as what the bytes are read, the second of which kind, the third where they
 * are cut in two.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "reply.h"

#define CHANNEL "redlock:me"

static struct raw_reply raw;
static struct login_state login;
static volatile unsigned char seen; /* every byte of a report can be read */

static void see(const char *bytes, size_t length)
{
    for (size_t i = 0; bytes && i < length; i++)
        seen ^= (unsigned char)bytes[i];
}

static void see_text(const char *text)
{
    see(text, text ? strlen(text) + 1 : 0);
}

static void see_slice(struct slice slice)
{
    see(slice.bytes, slice.length + (slice.bytes != NULL));
}

static void see_hello(const struct hello *hello)
{
    see_text(hello->run_id);
    see_text(hello->version);
    see_text(hello->role);
    see_text(hello->eviction);
}

static void see_reply(const struct reply *reply)
{
    see_slice(reply->text);
    switch ((unsigned)reply->tag.kind) {
    case REQUEST_HELLO:
    case REQUEST_ADOPT:
        if (reply->answer == ANSWER_HELLO)
            see_hello(reply->hello);
        break;
    case REQUEST_PEEK:
        see_slice(reply->peek.value);
        see_slice(reply->peek.waiters);
        see_slice(reply->peek.readers);
        break;
    case REQUEST_ASK:
        if (reply->answer == ANSWER_HELD)
            see_slice(reply->heed.value);
        break;
    case REQUEST_OBSERVE:
        see_slice(reply->said.token);
        see_slice(reply->said.value);
        break;
    case REQUEST_ARRIVE:
    case REQUEST_DEPART:
        see_slice(reply->barrier.tokens);
        break;
    case REQUEST_TALLY:
    case REQUEST_MEND:
        see_slice(reply->latch.id);
        see_slice(reply->latch.arrived);
        break;
    case REQUEST_SURVEY:
        see_slice(reply->survey.cursor);
        see_slice(reply->survey.names);
        break;
    }
}

static void read_as_answer(unsigned kind)
{
    struct hello hello;
    struct reply reply;
    struct tag tag = {.kind = kind % REQUEST_KINDS};
    if (reply_read(&raw, &tag, &login, &hello, &reply))
        see_reply(&reply);
}

static void read_as_answers(unsigned count)
{
    struct reply reply;
    struct tag tag = {.kind = count & 32 ? REQUEST_RELEASE : REQUEST_GRANT};
    count = 2 + count % (BATCH_MAX - 1);
    for (unsigned i = 0; i < count; i++)
        if (reply_read_each(&raw, i, count, &tag, &reply))
            see_reply(&reply);
}

static void read_as_push(void)
{
    struct push push;
    (void)reply_is_alive(&raw);
    if (!reply_read_push(&raw, CHANNEL, &push))
        return;
    see_slice(push.name);
    see_slice(push.token);
    see_slice(push.said.token);
    see_slice(push.said.value);
}

static void read_as(unsigned what, unsigned kind)
{
    for (unsigned i = 0; i < raw.count; i++)
        see(raw.fields[i].text, raw.fields[i].length + (raw.fields[i].text != NULL));
    if (what % 4 == 0)
        read_as_answer(kind);
    else if (what % 4 == 1)
        read_as_answers(kind);
    else if (what % 4 == 2)
        read_as_push();
    else if (reply_take_step(&login, (enum step)(kind % STEP_FINAL), &raw))
        see_text(login.run_id), see_text(login.why);
}

static bool feed(redisReader *reader, const uint8_t *data, size_t size, const uint8_t *how)
{
    void *reply = NULL;
    if (size && redisReaderFeed(reader, (const char *)data, size) != REDIS_OK)
        return false;
    do {
        reply = NULL;
        if (redisReaderGetReply(reader, &reply) != REDIS_OK)
            return false;
        if (reply)
            read_as(how[0], how[1]);
    } while (reply);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    size_t length = size - 3, cut = length * data[2] / 255;
    redisReader *reader = redisReaderCreate();
    login = (struct login_state){0};
    reply_attach(reader, &raw);
    if (feed(reader, data + 3, cut, data))
        feed(reader, data + 3 + cut, length - cut, data);
    redisReaderFree(reader);
    reply_free(&raw);
    return 0;
}
