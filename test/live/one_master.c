#include "one_master.h"

#include "../plain_memory.h"

redisContext *master, *ear;
struct raw_reply raw;
struct reply reply;

/* ---- Asking ---- */

const struct memory memory = PLAIN_MEMORY;

struct names *make_names(const struct slice *slices, unsigned count)
{
    return names_new(&memory, (struct slice){"", 0}, slices, count);
}

/* "a b ~c": three names, the last one shared */
struct names *split(const char *text)
{
    struct slice slices[64] = {{NULL, 0}};
    bool shared[64];
    unsigned count = 0;
    for (const char *at = text; *at; at += *at == ' ') {
        shared[count] = *at == '~';
        at += shared[count];
        at += (slices[count++] = (struct slice){at, strcspn(at, " ")}).length;
    }
    struct names *names = make_names(slices, count);
    for (unsigned i = 0; i < count; i++)
        if (shared[i])
            names_set_shared(names, i);
    return names;
}

struct request request_of(enum request_kind kind, const struct names *names, const char *token)
{
    return (struct request){.tag = {.kind = kind},
                            .whole = true,
                            .names = names,
                            .token = token,
                            .token_length = strlen(token),
                            .ttl_ms = kind == REQUEST_RELEASE ? 0 : LIFE,
                            .channel = CHANNEL};
}

void read_raw(struct buffer *written)
{
    void *read;
    assert_int_equal(redisAppendFormattedCommand(master, written->data, written->length), REDIS_OK);
    assert_int_equal(redisGetReply(master, &read), REDIS_OK);
    buffer_free(written);
}

enum answer ask(const struct request *request)
{
    struct buffer written = {0};
    enum step steps[STEPS_MAX];
    struct login_state login = {0};
    struct hello hello;
    command_write(&written, request, NULL, steps);
    read_raw(&written);
    assert_true(reply_read(&raw, &request->tag, &login, &hello, &reply));
    return reply.answer;
}

enum answer ask_about(const char *list, struct request request)
{
    struct names *names = split(list);
    request.names = names;
    enum answer answer = ask(&request);
    names_drop(&memory, names);
    return answer;
}

enum answer queue_for(const char *list, const char *token, usec ticket, int64_t life)
{
    struct request request = request_of(REQUEST_QUEUE, NULL, token);
    request.queue.ticket = ticket;
    request.ttl_ms = life;
    return ask_about(list, request);
}

enum answer queue(const char *list, const char *token, usec ticket)
{
    return queue_for(list, token, ticket, LIFE);
}

enum answer simply(enum request_kind kind, const char *list, const char *token)
{
    return ask_about(list, request_of(kind, NULL, token));
}

enum answer grant_proposing(const char *list, const char *token, usec proposal)
{
    struct request request = request_of(REQUEST_GRANT, NULL, token);
    request.grant.proposal = proposal;
    return ask_about(list, request);
}

/* Without a fence. */
enum answer grant(const char *list, const char *token)
{
    return grant_proposing(list, token, 0);
}

enum answer release(const char *list, const char *token)
{
    return simply(REQUEST_RELEASE, list, token);
}

/* ---- Looking ---- */

void assert_holder(const char *name, const char *token)
{
    redisReply *value = cluster_ask(&cluster, 0, "GET %s", name);
    assert_non_null(value);
    if (!token)
        assert_int_equal(value->type, REDIS_REPLY_NIL);
    else
        assert_string_equal(value->str, token);
    freeReplyObject(value);
}

usec read_clock(void)
{
    redisReply *value = cluster_ask(&cluster, 0, "HGET redlock:clock h");
    assert_non_null(value);
    usec clock = strtoll(value->str, NULL, 10);
    freeReplyObject(value);
    return clock;
}

/* ---- Hearing ---- */

void assert_heard(const char *payload)
{
    redisReply *message;
    assert_int_equal(redisGetReply(ear, (void **)&message), REDIS_OK);
    assert_int_equal(message->elements, 3);
    assert_string_equal(message->element[2]->str, payload);
    freeReplyObject(message);
}

void assert_told(const char *token)
{
    char payload[200];
    snprintf(payload, sizeof payload, "%s %lld", token, (long long)read_clock());
    assert_heard(payload);
}

void assert_nothing_more_was_told(void)
{
    TELL("PUBLISH " CHANNEL " mark");
    assert_heard("mark");
}

/* ---- A fresh master for each ---- */

redisContext *connect_to_master(void)
{
    redisContext *context = cluster_connect(&cluster, 0);
    assert_true(context && !context->err);
    return context;
}

int set_up(void **state)
{
    (void)state;
    TELL("CONFIG SET maxmemory 0");
    TELL("FLUSHALL");
    TELL("HSET redlock:clock h 1000");
    master = connect_to_master();
    reply_attach(master->reader, &raw);
    ear = connect_to_master();
    freeReplyObject(redisCommand(ear, "SUBSCRIBE " CHANNEL));
    return 0;
}

int tear_down(void **state)
{
    (void)state;
    assert_nothing_more_was_told();
    redisFree(ear);
    redisFree(master);
    return 0;
}

/* ---- Several in one command ---- */

void ask_each(const struct request *requests, unsigned count)
{
    struct buffer written = {0};
    command_write_each(&written, requests, count, true);
    read_raw(&written);
}

enum answer answer_of_each(const struct request *requests, unsigned index, unsigned count)
{
    assert_true(reply_read_each(&raw, index, count, &requests[index].tag, &reply));
    return reply.answer;
}

/* ---- A master that forbids something ---- */

void become(const char *rules)
{
    char command[200];
    void *answer;
    snprintf(command, sizeof command, "ACL SETUSER ann reset on >pw +@all %s", rules);
    TELL(command);
    assert_int_equal(redisAppendCommand(master, "AUTH ann pw"), REDIS_OK);
    assert_int_equal(redisGetReply(master, &answer), REDIS_OK);
    assert_int_equal(raw.fields[0].kind, FIELD_STATUS);
}

void become_anybody(void)
{
    TELL("ACL DELUSER ann");
    redisFree(master);
    master = connect_to_master();
    reply_attach(master->reader, &raw);
}
