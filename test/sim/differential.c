/*
 * differential - random commands, to the simulator's master and to a real one: they
 * must agree, reply for reply and key for key.
 *
 *     differential [--commands N] [--seed S] [--break KIND | --break-batch KIND | --flaw FLAW]
 *
 * The real one is a redis-server (REDLOCK_SERVER) of our own on a socket in a scratch directory,
 * restarted now and then with its data, or without.  Requests are written and replies
 * read by lib/wire.  The model's clock is the real TIME, asked just before and just after each
 * command.  Where a key's last millisecond falls between the two, either answer is right, and the
 * model follows the server's.  A script may even have seen both times (its keys expire as it
 * begins, what PTTL says goes on); if neither fits, both begin anew, with nothing.
 */
/* rule: B3, F1, F2, K3, P3, S1, S2, S3, S5, S6, S9, W2, W3, W9 */
#include <hiredis/hiredis.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../plain_memory.h"
#include "checks.h"
#include "command.h"
#include "model_master.h"
#include "ground/names.h"
#include "ground/slots.h"
#include "ground/told_list.h"
#include "random.h"
#include "reply.h"

#define VALUES        5
#define WAITERS       4
#define SLOT_WAITERS  6
#define OF_SLOTS      1 /* the only name that slots are asked of */
#define RESTART_EVERY 9000
#define LONGEST_MS    60

struct test {
    char directory[64], socket[96];
    pid_t server;
    redisContext *context;
    struct model_master model;
    struct chance chance, listing, hearing; /* of lists, of breaks */
    struct raw_reply raw;
    struct listener listener;
    int breaks;          /* request kind whose replies the model gets wrong; -1: none */
    bool in_batches;     /* only when several share a command */
    uint64_t loaded;     /* scripts that the real one has: see model_script() */
    const char *differs; /* in the last comparison that failed */
    char detail[160];    /* of the first one; empty: none */
    unsigned long compared, ambiguous, torn, restarts;
    int64_t edge_ms; /* until then the real one may still have what the model has dropped */
    char run[RUN_ID_MAX + 1]; /* of the real one's process; the model's is the number of restarts */
};

static const struct memory memory = PLAIN_MEMORY;

/* ---- the real one --------------------------------------------------------------- */

static void start_server(struct test *t)
{
    t->server = fork();
    if (t->server == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* however we end */
        const char *given = getenv("REDLOCK_SERVER");
        const char *server = given && *given ? given : "redis-server";
        execlp(server, server, "--port", "0", "--unixsocket", t->socket, "--dir", t->directory,
               "--save", "", "--loglevel", "warning", "--logfile", "log", NULL);
        _exit(127);
    }
    for (int tries = 0; tries < 500; tries++) {
        t->context = redisConnectUnix(t->socket);
        redisReply *pong = t->context && !t->context->err ? redisCommand(t->context, "PING") : NULL;
        bool up = pong && pong->type == REDIS_REPLY_STATUS;
        if (pong)
            freeReplyObject(pong);
        if (up && !listener_begins(&t->listener, t->socket))
            real_die("cannot subscribe");
        if (up)
            return;
        if (t->context)
            redisFree(t->context);
        usleep(10000);
    }
    real_die("redis-server does not start");
}

static void stop_server(struct test *t, bool keep)
{
    if (keep) {
        redisReply *saved = redisCommand(t->context, "SAVE");
        freeReplyObject(saved);
    } else {
        char path[128];
        snprintf(path, sizeof path, "%s/dump.rdb", t->directory);
        unlink(path);
    }
    redisFree(t->context);
    listener_ends(&t->listener);
    kill(t->server, SIGKILL);
    waitpid(t->server, NULL, 0);
    unlink(t->socket);
}

/* ---- one request, through lib/wire ------------------------------------------------- */

static void name_of(unsigned name, char text[KEY_TEXT])
{
    if (model_is_slot(name))
        snprintf(text, KEY_TEXT, SLOT_PREFIX "%u:name:%u", model_slot_number(name),
                 model_slot_name(name));
    else
        said_spell_name(name, text);
}

static void value_of(uint32_t value, char text[16])
{
    text[0] = '\0';
    if (value)
        snprintf(text, 16, "value-%u", value % 1000000);
}

static uint32_t number_of(const char *text, size_t length)
{
    if (length == sizeof READERS - 1 && memcmp(text, READERS, length) == 0)
        return MODEL_MARK;
    if (length == sizeof PERMITS - 1 && memcmp(text, PERMITS, length) == 0)
        return MODEL_SLOTS_OUT;
    return length > 6 ? (uint32_t)atoi(text + 6) : 0;
}

static struct names *slot_of(unsigned name)
{
    char text[KEY_TEXT];
    name_of(model_slot_name(name), text);
    return slot_new(&memory, (struct slice){text, strlen(text)}, model_slot_number(name));
}

/* A task's question. */
static void spell_task(const struct test *t, const struct model_call *call, struct request *request)
{
    if (is_about_barrier(call->kind))
        barrier_spell(call, request);
    else if (is_about_latch(call->kind))
        latch_spell(call, &t->model, t->run, request);
    else
        said_spell(call, request);
}

/* A claim's question, or a hello. */
static void spell_claim(const struct model_call *call, struct request *request)
{
    if (call->kind == REQUEST_HELLO || call->kind == REQUEST_ADOPT)
        request->terms = call->terms;
    else if (call->kind == REQUEST_GRANT || call->kind == REQUEST_UPGRADE)
        request->grant = (struct grant_request){call->proposal, call->permits};
    else if (call->kind == REQUEST_RAISE)
        request->fence = call->fence;
    else if (call->kind == REQUEST_QUEUE)
        request->queue = (struct queue_request){call->ticket, call->permits};
    else if (call->kind == REQUEST_RENEW)
        request->renew = (struct renew_request){call->heal, call->not_after};
}

static struct request make_request(const struct test *t, const struct model_call *call,
                                   char token[16])
{
    struct slice slices[MODEL_NAMES];
    char texts[MODEL_NAMES][KEY_TEXT];
    struct request request = {.tag.kind = call->kind,
                              .whole = call->whole,
                              .ttl_ms = call->ttl_ms,
                              .tag.converts = call->converts,
                              .token = token,
                              .channel = "redlock:no-subscriber"};
    value_of(call->value, token);
    request.token_length = strlen(token);
    if (request_is_of_task(call->kind))
        spell_task(t, call, &request);
    else
        spell_claim(call, &request);
    for (unsigned i = 0; i < call->count; i++) {
        name_of(call->names[i], texts[i]);
        slices[i] = (struct slice){texts[i], strlen(texts[i])};
    }
    struct names *names = NULL;
    if (call->count && model_is_slot(call->names[0]))
        names = slot_of(call->names[0]);
    else if (call->count)
        names = names_new(&memory, (struct slice){"", 0}, slices, call->count);
    for (unsigned i = 0; i < call->count; i++)
        if (call->modes >> i & 1)
            names_set_shared(names, i);
    request.names = names;
    return request;
}

/* TIME, the request (or several in one), TIME: in one packet.  Returns how many scripts are loaded
 * before the request. */
static unsigned write_requests(struct test *t, const struct request *requests, unsigned count,
                               bool whole)
{
    unsigned replies = 1;
    static const char time[] = "*1\r\n$4\r\nTIME\r\n";
    struct buffer buffer = {0};
    enum step steps[STEPS_MAX];
    buffer_append(&buffer, time, sizeof time - 1);
    if (count == 1)
        replies = command_write(&buffer, requests, NULL, steps);
    else
        command_write_each(&buffer, requests, count, whole);
    buffer_append(&buffer, time, sizeof time - 1);
    redisAppendFormattedCommand(t->context, buffer.data, buffer.length);
    buffer_free(&buffer);
    return replies - 1;
}

static usec read_time(struct test *t)
{
    redisReply *reply;
    if (redisGetReply(t->context, (void **)&reply) != REDIS_OK || reply->elements != 2)
        real_die("no answer to TIME");
    usec time = strtoll(reply->element[0]->str, NULL, 10) * 1000000 +
                strtoll(reply->element[1]->str, NULL, 10);
    freeReplyObject(reply);
    return time;
}

static usec time_now(struct test *t)
{
    redisAppendCommand(t->context, "TIME");
    return read_time(t);
}

/* By lib/wire's own reader, for this one reply. */
static void read_reply(struct test *t)
{
    redisReader *reader = t->context->reader;
    redisReplyObjectFunctions *trees = reader->fn;
    void *reply = NULL;
    reply_attach(reader, &t->raw);
    while (redisGetReplyFromReader(t->context, &reply) == REDIS_OK && !reply)
        if (redisBufferRead(t->context) != REDIS_OK)
            break;
    reader->fn = trees;
    if (!reply)
        real_die("no answer");
}

static void die_of_reply(const struct request *request, const struct raw_reply *raw)
{
    static const char *const kinds[] = {"nil", "integer", "string", "status", "error"};
    fprintf(stderr, "a request of kind %d, ttl %lld, was answered:", (int)request->tag.kind,
            (long long)request->ttl_ms);
    for (unsigned i = 0; i < raw->count; i++)
        fprintf(stderr, " %s %lld '%s'", kinds[raw->fields[i].kind],
                (long long)raw->fields[i].integer, raw->fields[i].text ? raw->fields[i].text : "");
    fputc('\n', stderr);
    real_die("a reply that the request cannot have");
}

static void read_answer(struct test *t, const struct request *request, struct hello *hello,
                        struct reply *reply)
{
    struct login_state login = {0};
    read_reply(t);
    if (!reply_read(&t->raw, &request->tag, &login, hello, reply))
        die_of_reply(request, &t->raw);
}

/* ---- comparing ----------------------------------------------------------------------- */

/* A proposal is cut at the real one's TIME, which is a little after the model's. */
static bool same_clock(usec model, usec real, usec wall)
{
    bool cut = model == wall + CLOCK_WINDOW;
    return real == model || (cut && real > model && real <= model + MS(5));
}

/* The real queue keeps dead waiters until a script meets them. */
static bool same_wait(const struct model_answer *model, const struct queue_reply *told)
{
    int64_t left = model->remaining_ms == -1   ? -2
                   : model->remaining_ms == -2 ? -1
                                               : model->remaining_ms;
    return told->position >= model->position && told->slots.free_slot == model->free_slot &&
           told->slots.next_slot == model->next_slot && llabs(left - told->remaining_ms) <= 1;
}

static bool same_answer(usec wall, const struct model_answer *model, const struct reply *real,
                        const struct hello *hello)
{
    if (model->answer != real->answer)
        return false;
    if (is_about_barrier(real->tag.kind))
        return barrier_same_answer(model, real);
    if (is_about_latch(real->tag.kind))
        return latch_same_answer(model, real);
    if (request_is_of_task(real->tag.kind))
        return said_same_answer(model, real);
    if (real->clock && !same_clock(model->clock, real->clock, wall))
        return false;
    if (model->answer == ANSWER_HELLO)
        return model->max_ttl_ms == hello->max_ttl_ms && llabs(model->clock - hello->clock) <= 1 &&
               llabs(model->abstains - hello->abstains + hello->time - model->time) <= 1 &&
               llabs(model->age - hello->age) <= 1 && llabs(model->uptime_s - hello->uptime_s) <= 1;
    if (model->answer == ANSWER_QUEUED)
        return same_wait(model, &real->queue);
    if (model->answer == ANSWER_HELD && real->tag.kind == REQUEST_GRANT)
        return real->grant.free_slot == model->free_slot;
    if (model->answer != ANSWER_HELD || real->tag.kind != REQUEST_PEEK)
        return true;
    int64_t left = model->remaining_ms == -1 ? -2 : model->remaining_ms;
    return number_of(real->peek.value.bytes, real->peek.value.length) == model->value &&
           real->peek.reading == model->readers && real->peek.permits == model->permits &&
           llabs(left - real->peek.remaining_ms) <= 1;
}

static struct model_reader *find_reader(struct model_master *model, unsigned name, uint32_t value)
{
    for (unsigned i = 0; i < MODEL_READERS; i++)
        if (model->data.readers[i].value == value && model->data.readers[i].name == name)
            return &model->data.readers[i];
    return NULL;
}

/* Of a marked name, those who are not about to end; the very millisecond is the real one's to
 * say.  Their key lasts as long as the last of them. */
static bool same_readers(struct test *t, struct model_master *model, unsigned name)
{
    int64_t expires = real_integer(t->context, "PEXPIRETIME redlock:holders:name:%u", name);
    redisReply *set = real_ask(t->context, "ZRANGE redlock:holders:name:%u 0 -1 WITHSCORES", name);
    int64_t soon = time_now(t) / 1000 + 1;
    bool same = true;
    unsigned found = 0, wanted = 0;
    for (unsigned i = 0; i + 1 < set->elements; i += 2) {
        const redisReply *token = set->element[i];
        int64_t end = strtoll(set->element[i + 1]->str, NULL, 10);
        struct model_reader *reader = find_reader(model, name, number_of(token->str, token->len));
        if (reader && llabs(reader->expires_ms - end) <= 1)
            reader->expires_ms = end;
        else
            same &= end <= soon;
        same &= end <= expires;
        found += end > soon;
    }
    for (unsigned i = 0; i < MODEL_READERS; i++) {
        const struct model_reader *reader = &model->data.readers[i];
        wanted += reader->value && reader->name == name && reader->expires_ms > soon;
    }
    freeReplyObject(set);
    return same && found == wanted;
}

/* The first comparison was the nearest to the command. */
static bool note_difference(struct test *t, const char *what, unsigned name, int64_t is,
                            int64_t is_until, int64_t should, int64_t should_until)
{
    int64_t now = time_now(t) / 1000;
    if (!t->detail[0])
        snprintf(t->detail, sizeof t->detail,
                 "%s %u: the real one has %lld for %lld ms, the model %lld for %lld", what, name,
                 (long long)is, (long long)(is_until - now), (long long)should,
                 (long long)(should_until - now));
    return false;
}

static bool same_key(struct test *t, struct model_master *model, usec wall, unsigned name)
{
    char text[KEY_TEXT];
    name_of(name, text);
    int64_t expires = real_integer(t->context, "PEXPIRETIME %s", text);
    redisReply *value = real_ask(t->context, "GET %s", text);
    uint32_t real = value->str ? number_of(value->str, value->len) : 0;
    freeReplyObject(value);
    struct model_key *key = &model->data.keys[name];
    if (!real) { /* expired since, or all along */
        int64_t now = time_now(t) / 1000;
        if (model_value(model, wall, name) != 0 && key->expires_ms > now)
            return note_difference(t, "name", name, 0, expires, key->value, key->expires_ms);
        if (key->expires_ms == now)
            key->expires_ms--; /* swept: see below */
        return true;
    }
    if (real == MODEL_MARK && expires <= time_now(t) / 1000 + 1) {
        *key = (struct model_key){MODEL_MARK, expires}; /* whether it still is, is not seen here */
        return true;
    }
    if (real != key->value || llabs(key->expires_ms - expires) > 1)
        return note_difference(t, "name", name, real, expires, key->value, key->expires_ms);
    key->expires_ms = expires; /* the very millisecond is the real one's to say */
    return real != MODEL_MARK || same_readers(t, model, name);
}

/* A handover moves it on, and may have given what had expired before we looked. */
static bool same_logical_clock(struct test *t, const struct model_master *model)
{
    redisReply *h = redisCommand(t->context, "HGET redlock:clock h");
    usec real = h->str ? strtoll(h->str, NULL, 10) : 0;
    freeReplyObject(h);
    return real == model->data.clock.h ||
           note_difference(t, "logical clock", 0, real, 0, model->data.clock.h, 0);
}

/* So is the very millisecond at which a waiter dies. */
static bool same_waiter(struct test *t, struct model_master *model, uint32_t value)
{
    int64_t expires = real_integer(t->context, "PEXPIRETIME redlock:waiter:value-%u", value);
    for (unsigned i = 0; i < MODEL_WAITERS; i++) {
        struct model_waiter *waiter = &model->data.waiters[i];
        if (waiter->value != value || expires < 0)
            continue;
        if (llabs(waiter->expires_ms - expires) > 1)
            return false;
        waiter->expires_ms = expires;
    }
    return true;
}

/* A waiter has a record as long as it lives, and none when it was given what it waits for. */
static bool same_record(struct test *t, const struct model_master *model, uint32_t value)
{
    int64_t real = real_integer(t->context, "PEXPIRETIME redlock:waiter:value-%u", value),
            soon = time_now(t) / 1000 + 1, wanted = 0;
    for (unsigned i = 0; i < MODEL_WAITERS; i++)
        if (model->data.waiters[i].value == value)
            wanted = model->data.waiters[i].expires_ms;
    bool same = real > soon ? llabs(wanted - real) <= 1 : wanted <= soon;
    return same || note_difference(t, "record of waiter", value, 1, real, 1, wanted);
}

static bool is_in_queue(struct test *t, unsigned name, uint32_t value)
{
    redisReply *score =
        redisCommand(t->context, "ZSCORE redlock:queue:name:%u value-%u", name, value);
    bool is_in = score->type != REDIS_REPLY_NIL;
    freeReplyObject(score);
    return is_in;
}

/* A waiter that was given names has left their queues. */
static bool has_left_queues(struct test *t, const struct model_push *push)
{
    for (unsigned i = 0; i < push->count; i++)
        if (is_in_queue(t, push->names[i], push->value))
            return note_difference(t, "queue of name", push->names[i], push->value, 0, 0, 0);
    return true;
}

static bool same_waiters(struct test *t, const struct model_master *model,
                         const struct model_answer *answer)
{
    bool same = true;
    for (unsigned i = 0; i < WAITERS; i++)
        same &= same_record(t, model, VALUES + 1 + i);
    for (unsigned i = 0; i < answer->push_count; i++)
        same &= has_left_queues(t, &answer->pushes[i]);
    return same;
}

/* A look finds a key until its last millisecond is over.  But the sweep of Redis 8.0 takes keys
 * away when that begins. */
static struct model_master swept(const struct model_master *model, usec wall)
{
    struct model_master copy = *model;
    for (unsigned name = 0; name < MODEL_KEYS; name++)
        if (copy.data.keys[name].expires_ms == wall / 1000)
            copy.data.keys[name].expires_ms--;
    copy.data.permits[OF_SLOTS].expires_ms -= copy.data.permits[OF_SLOTS].expires_ms == wall / 1000;
    return copy;
}

static bool same_slots(struct test *t, struct model_master *model, usec wall)
{
    for (unsigned slot = 0; slot < MODEL_PERMITS; slot++)
        if (!same_key(t, model, wall, model_slot(OF_SLOTS, slot)))
            return false;
    return true;
}

static long long length_of_queue(struct test *t, int slot)
{
    return real_integer(t->context, "ZCARD redlock:queue:" SLOT_PREFIX "%d:name:%d", slot,
                        OF_SLOTS);
}

/* The real one keeps a larger number also for waiters that are dead. */
static bool may_keep(struct test *t, unsigned real, unsigned model)
{
    long long waiting = 0;
    for (unsigned slot = model; slot < real; slot++)
        waiting += length_of_queue(t, (int)slot);
    return waiting > 0;
}

/* How many slots the name is said to have, and for how long. */
static bool same_number(struct test *t, struct model_master *model)
{
    struct model_number *number = &model->data.permits[OF_SLOTS];
    int64_t expires = real_integer(t->context, "PEXPIRETIME redlock:permits:name:%d", OF_SLOTS);
    redisReply *value = real_ask(t->context, "GET redlock:permits:name:%d", OF_SLOTS);
    unsigned real = value->str ? (unsigned)strtoul(value->str, NULL, 10) : 0;
    freeReplyObject(value);
    /* It expired since, or all along. */
    bool same = !real && number->expires_ms <= time_now(t) / 1000;
    if (real)
        same = llabs(number->expires_ms - expires) <= 1 &&
               (real == number->permits || may_keep(t, real, number->permits));
    if (!same)
        return note_difference(t, "number of slots", 0, real, expires, number->permits,
                               number->expires_ms);
    if (real)
        *number = (struct model_number){real, expires};
    return true;
}

static bool is_heard_of(enum request_kind kind)
{
    return request_is_of_task(kind) || kind == REQUEST_RELEASE;
}

static bool same_said(struct test *t, struct model_master *copy, const struct model_call *call)
{
    unsigned name = call->names[0];
    t->differs = !said_same_keys(t->context, copy, name)            ? "what is said"
                 : name >= MODEL_NAMES                              ? NULL
                 : !barrier_same_keys(t->context, copy, name)       ? "a barrier"
                 : !latch_same_keys(t->context, copy, t->run, name) ? "the latch"
                                                                    : NULL;
    if (t->differs)
        return false;
    t->model = *copy;
    return true;
}

/* The real one counts the dead behind the first: the model's line may be too long for it. */
static bool same_line(struct test *t, struct model_master *model, usec wall,
                      const struct model_answer *answer, const struct reply *real)
{
    if (real->grant.next_slot == answer->next_slot)
        return true;
    if (real->grant.next_slot < 0 || answer->next_slot < 0)
        return false;
    long long length = length_of_queue(t, answer->next_slot);
    unsigned name = model_slot(OF_SLOTS, (unsigned)answer->next_slot);
    return length > 0 && !model_waiter(model, wall, name, (unsigned)length - 1) &&
           length_of_queue(t, real->grant.next_slot) <= length;
}

/* The model's answer at `wall`; taken over if it is the real one's. */
static bool agrees_from(struct test *t, struct model_master copy, usec wall,
                        const struct model_call *call, const struct reply *real,
                        const struct hello *hello)
{
    struct model_answer answer;
    model_execute(&copy, real->answer == ANSWER_HELLO ? hello->time : wall, call, &answer);
    if ((int)call->kind == t->breaks && !t->in_batches && answer.answer != ANSWER_NOSCRIPT)
        answer.answer = answer.answer == ANSWER_YES ? ANSWER_HELD : ANSWER_YES;
    t->differs = "the answer";
    if (!same_answer(wall, &answer, real, hello))
        return false;
    t->differs = "what observers heard";
    if (is_heard_of(call->kind) && !listener_heard(&t->listener, &answer))
        return false;
    t->differs = "a key";
    if (answer.answer == ANSWER_HELD && call->kind == REQUEST_GRANT &&
        !same_line(t, &copy, wall, &answer, real))
        return false;
    if (request_is_of_task(call->kind))
        return same_said(t, &copy, call);
    /* The very microsecond is the real one's to say. */
    if (real->clock || (real->answer == ANSWER_HELLO && call->terms.max_ttl_ms))
        copy.data.clock.h = real->clock ? real->clock : hello->clock;
    bool hands_over = call->kind == REQUEST_QUEUE || call->kind == REQUEST_RELEASE ||
                      call->kind == REQUEST_GRANT ||
                      (call->kind == REQUEST_RENEW && call->converts);
    if (hands_over && !same_logical_clock(t, &copy))
        return false;
    bool is_slot = call->count && model_is_slot(call->names[0]);
    if (is_slot && hands_over && !same_slots(t, &copy, wall))
        return false;
    if (is_slot && !same_number(t, &copy))
        return false;
    for (unsigned name = 0; hands_over && !is_slot && name < MODEL_NAMES; name++)
        if (!same_key(t, &copy, wall, name))
            return false;
    if (hands_over && !is_slot && !same_waiters(t, &copy, &answer))
        return false;
    for (unsigned i = 0; !hands_over && i < call->count; i++)
        if (!same_key(t, &copy, wall, call->names[i]))
            return false;
    if (real->answer == ANSWER_QUEUED && !same_waiter(t, &copy, call->value))
        return false;
    t->model = copy;
    return true;
}

static bool agrees(struct test *t, usec wall, const struct model_call *call,
                   const struct reply *real, const struct hello *hello)
{
    return agrees_from(t, t->model, wall, call, real, hello) ||
           agrees_from(t, swept(&t->model, wall), wall, call, real, hello);
}

static void explain(struct test *t, const struct model_call *call, const struct reply *real,
                    usec before, usec after)
{
    const struct model_master *model = &t->model;
    struct model_master copy = *model;
    struct model_answer answer;
    model_execute(&copy, before, call, &answer);
    printf("request %d, heal %d, value %u, ttl %lld ms:", call->kind, call->heal, call->value,
           (long long)call->ttl_ms);
    for (unsigned i = 0; i < call->count; i++)
        printf(" [%u%s: value %u, %lld ms left]", call->names[i],
               call->modes >> i & 1 ? " shared" : "", model->data.keys[call->names[i]].value,
               (long long)(model->data.keys[call->names[i]].expires_ms - before / 1000));
    printf("\nthe real master answers %d, the model %d; they differ in %s\n"
           "%s\nbegan within %lld us of %lld, compared until %lld us later\n",
           real->answer, answer.answer, t->differs, t->detail, (long long)(after - before),
           (long long)before, (long long)(time_now(t) - after));
}

/* ---- restarts ------------------------------------------------------------------------------ */

static void learn_start(struct test *t, const struct model_data *data)
{
    redisReply *info = redisCommand(t->context, "INFO server");
    const char *uptime = strstr(info->str, "uptime_in_seconds:");
    usec now = time_now(t);
    model_restart(&t->model, now, ++t->restarts, data);
    t->model.started_s = now / 1000000 - atoll(uptime + strlen("uptime_in_seconds:"));
    sscanf(strstr(info->str, "run_id:"), "run_id:%43s", t->run);
    freeReplyObject(info);
    t->loaded = 0;
}

static void restart(struct test *t, bool keep)
{
    struct model_data data = t->model.data;
    stop_server(t, keep);
    start_server(t);
    learn_start(t, keep ? &data : NULL);
}

static bool is_between(int64_t expires_ms, usec before, usec after)
{
    return expires_ms >= before / 1000 - 1 && expires_ms <= after / 1000 + 1;
}

/* Something of the name, or a waiter for it, ended just then.  The real server decides whether that
 * was before or after, with each of its looks at the clock anew. */
static bool ends_just_then(const struct model_data *data, unsigned name, usec before, usec after)
{
    bool any = data->keys[name].value && is_between(data->keys[name].expires_ms, before, after);
    for (unsigned i = 0; i < data->readers_used; i++)
        any |= data->readers[i].value && data->readers[i].name == name &&
               is_between(data->readers[i].expires_ms, before, after);
    for (unsigned i = 0; i < data->waiters_used; i++)
        any |= data->waiters[i].value && is_between(data->waiters[i].expires_ms, before, after);
    any |=
        !model_is_slot(name) && said_ends_between(data, name, before / 1000 - 1, after / 1000 + 1);
    return any || (name < MODEL_NAMES &&
                   (barrier_ends_between(data, name, before / 1000 - 1, after / 1000 + 1) ||
                    latch_ends_between(data, name, before / 1000 - 1, after / 1000 + 1)));
}

static bool slot_ends_just_then(const struct test *t, usec before, usec after)
{
    bool any = is_between(t->model.data.permits[OF_SLOTS].expires_ms, before, after);
    for (unsigned slot = 0; slot < MODEL_PERMITS; slot++)
        any |= ends_just_then(&t->model.data, model_slot(OF_SLOTS, slot), before, after);
    return any;
}

/* Of a token that was released, which decides whether it heals. */
static bool mark_ends_just_then(const struct model_data *data, uint32_t value, usec before,
                                usec after)
{
    bool any = false;
    for (unsigned i = 0; i < MODEL_MARKS; i++)
        any |=
            data->marks[i].value == value && is_between(data->marks[i].expires_ms, before, after);
    return any;
}

static bool anything_ends_just_then(const struct test *t, const struct model_call *calls,
                                    unsigned count, usec before, usec after)
{
    bool any = slot_ends_just_then(t, before, after);
    for (unsigned i = 0; i < count; i++) {
        any |= calls[i].kind == REQUEST_RENEW &&
               mark_ends_just_then(&t->model.data, calls[i].value, before, after);
        for (unsigned k = 0; k < calls[i].count; k++)
            any |= ends_just_then(&t->model.data, calls[i].names[k], before, after);
        for (unsigned k = 0; k < 2 && calls[i].heard[k]; k++)
            any |= ends_just_then(&t->model.data, calls[i].heard[k], before, after);
    }
    return any;
}

/* The command before may have been, of the same millisecond. */
static bool is_on_edge(const struct test *t, const struct model_call *calls, unsigned count,
                       usec before, usec after)
{
    return before / 1000 != after / 1000 || before / 1000 <= t->edge_ms ||
           anything_ends_just_then(t, calls, count, before, after);
}

/* Of a command that both have answered alike. */
static bool note_edge(struct test *t, bool ends, usec after)
{
    if (ends)
        t->edge_ms = after / 1000 + 1;
    return true;
}

/* Rare: more of it than chance allows is a difference. */
static bool begin_anew_if_torn(struct test *t, const struct model_call *calls, unsigned count,
                               usec before, usec after)
{
    bool is_torn = is_on_edge(t, calls, count, before, after) && t->torn < 10 + t->compared / 1000;
    if (is_torn) {
        t->torn++;
        restart(t, false);
    }
    return is_torn;
}

/* ---- commands ---------------------------------------------------------------------------- */

/* Around the clock, near the wall, or out of all reason. */
static usec draw_clock(struct test *t)
{
    switch (chance_below(&t->chance, 4)) {
    case 0:
        return t->model.data.clock.h + chance_range(&t->chance, -3, 3);
    case 1:
        return time_now(t) + chance_range(&t->chance, -2 * CLOCK_WINDOW, 2 * CLOCK_WINDOW);
    case 2:
        return chance_range(&t->chance, 1, 1000);
    default:
        return t->model.data.clock.h + chance_range(&t->chance, 0, CLOCK_WINDOW);
    }
}

/* Waiters have tokens of their own, each for names of its own. */
static void be_a_waiter(struct test *t, struct model_call *call)
{
    unsigned which = chance_below(&t->chance, WAITERS);
    call->value = VALUES + 1 + which;
    call->count = (uint8_t)(1 + which % 2);
    for (unsigned i = 0; i < call->count; i++)
        call->names[i] = (uint8_t)((which / 2 + 2 * i) % MODEL_NAMES);
    call->ticket = draw_clock(t);
}

/* By who has the first name; somebody may wait for it. */
static void release_as_holder(const struct test *t, struct model_call *call)
{
    uint32_t value = t->model.data.keys[call->names[0]].value;
    if (value == 0 || value == MODEL_MARK)
        return;
    call->value = value;
    call->count = 1;
}

/* Each of the waiters has a slot of its own to wait for; some have one ticket. */
static struct model_call draw_slot_call(struct test *t)
{
    static const enum request_kind kinds[] = {REQUEST_GRANT, REQUEST_GRANT,   REQUEST_QUEUE,
                                              REQUEST_QUEUE, REQUEST_RELEASE, REQUEST_RELEASE,
                                              REQUEST_RENEW, REQUEST_PEEK,    REQUEST_ACQUIRE};
    unsigned permits = chance_permille(&t->chance, 800) ? 4 : 1 + chance_below(&t->chance, 8);
    struct model_call call = {.count = 1, .permits = permits};
    call.kind = kinds[chance_below(&t->chance, sizeof kinds / sizeof kinds[0])];
    call.whole = chance_permille(&t->chance, 700);
    call.value = 1 + chance_below(&t->chance, VALUES);
    call.ttl_ms = chance_range(&t->chance, 2, LONGEST_MS);
    call.heal = chance_permille(&t->chance, 500);
    if (call.kind == REQUEST_RELEASE && chance_permille(&t->chance, 700))
        call.ttl_ms = 0;
    unsigned slot = chance_below(&t->chance, permits);
    if (call.kind == REQUEST_QUEUE || chance_permille(&t->chance, 300)) {
        unsigned which = chance_below(&t->chance, SLOT_WAITERS);
        call.value = VALUES + WAITERS + 1 + which;
        slot = which % 4;
        call.permits = permits > slot ? permits : slot + 1;
        call.ticket = t->model.data.clock.h / 8 * 8 + 8 * (which / 2);
    }
    call.names[0] = (uint8_t)(call.kind == REQUEST_PEEK ? OF_SLOTS : model_slot(OF_SLOTS, slot));
    if (call.kind == REQUEST_GRANT && chance_permille(&t->chance, 500))
        call.proposal = draw_clock(t);
    if (call.kind == REQUEST_RENEW && t->model.data.keys[call.names[0]].value &&
        chance_permille(&t->chance, 800))
        call.value = t->model.data.keys[call.names[0]].value;
    return call;
}

/* Some clients only look.  Some walls are wrong by more than any lease may last. */
static struct quarantine_terms draw_terms(struct chance *chance)
{
    struct quarantine_terms terms = {.max_ttl_ms = chance_range(chance, 1, 40000)};
    if (chance_permille(chance, 200))
        terms.max_ttl_ms = 0;
    terms.drift_ppm = chance_range(chance, 0, 50000);
    int64_t skew_most = chance_permille(chance, 300) ? 120000 : 2000;
    terms.skew_ms = chance_range(chance, 0, skew_most);
    terms.trust = chance_permille(chance, 200);
    if (chance_permille(chance, 400)) /* about as old as the process, or the last word of this */
        terms.other_ago = chance_range(chance, 2, chance_permille(chance, 500) ? 6000000 : 300000);
    return terms;
}

static struct model_call draw_other_call(struct test *t)
{
    static const enum request_kind kinds[] = {
        REQUEST_ACQUIRE, REQUEST_ACQUIRE, REQUEST_ACQUIRE, REQUEST_RENEW, REQUEST_RENEW,
        REQUEST_RENEW,   REQUEST_RELEASE, REQUEST_RELEASE, REQUEST_PEEK,  REQUEST_PEEK,
        REQUEST_GRANT,   REQUEST_GRANT,   REQUEST_RAISE,   REQUEST_QUEUE, REQUEST_QUEUE,
        REQUEST_QUEUE,   REQUEST_UPGRADE, REQUEST_UPGRADE};
    struct model_call call = {.kind =
                                  kinds[chance_below(&t->chance, sizeof kinds / sizeof kinds[0])]};
    call.whole = chance_permille(&t->chance, 500);
    call.heal = chance_permille(&t->chance, 500);
    call.value = 1 + chance_below(&t->chance, VALUES);
    call.ttl_ms = chance_range(&t->chance, 1, LONGEST_MS);
    if (chance_permille(&t->chance, 20)) {
        call.kind = chance_permille(&t->chance, 200) ? REQUEST_ADOPT : REQUEST_HELLO;
        call.whole |= call.kind == REQUEST_ADOPT; /* always, and it loads nothing */
        call.terms = draw_terms(&t->chance);
        return call;
    }
    call.count =
        (uint8_t)(1 + (chance_permille(&t->chance, 400) ? chance_below(&t->chance, 3) : 0));
    unsigned first = chance_below(&t->chance, MODEL_NAMES);
    for (unsigned i = 0; i < call.count; i++)
        call.names[i] = (uint8_t)((first + i) % MODEL_NAMES);
    if (call.kind == REQUEST_QUEUE || chance_permille(&t->chance, 150))
        be_a_waiter(t, &call);
    if (call.kind == REQUEST_RELEASE && chance_permille(&t->chance, 500))
        release_as_holder(t, &call);
    if (call.kind == REQUEST_RELEASE && chance_permille(&t->chance, 700))
        call.ttl_ms = 0;
    call.ttl_ms += call.kind == REQUEST_QUEUE; /* with 1 ms it may die while it is served */
    if (call.kind == REQUEST_RENEW && chance_permille(&t->chance, 300))
        call.not_after = chance_permille(&t->chance, 500) ? 1000000 : INT64_C(1) << 52;
    if (call.kind == REQUEST_GRANT || call.kind == REQUEST_RAISE || call.kind == REQUEST_UPGRADE)
        call.proposal = call.fence = draw_clock(t);
    if ((call.kind == REQUEST_GRANT || call.kind == REQUEST_UPGRADE) &&
        chance_permille(&t->chance, 300))
        call.proposal = 0;
    if (call.kind != REQUEST_ACQUIRE && chance_permille(&t->chance, 600))
        call.modes = (uint8_t)chance_below(&t->chance, 1U << call.count);
    call.converts = call.kind == REQUEST_RENEW && call.modes && chance_permille(&t->chance, 500);
    return call;
}

static struct model_call draw_call(struct test *t)
{
    if (chance_permille(&t->chance, 300))
        return draw_slot_call(t);
    if (chance_permille(&t->chance, 250))
        return barrier_draw(&t->chance, VALUES, LONGEST_MS);
    if (chance_permille(&t->chance, 250))
        return latch_draw(&t->chance, &t->model, VALUES, time_now(t) / 1000, LONGEST_MS);
    if (chance_permille(&t->chance, 250))
        return said_draw(&t->chance, &t->model, VALUES, LONGEST_MS);
    return draw_other_call(t);
}

static bool compare_one(struct test *t)
{
    t->detail[0] = '\0';
    struct model_call call = draw_call(t);
    said_hear_breaks(&t->hearing, &call);
    char token[16];
    struct request request = make_request(t, &call, token);
    struct hello hello;
    struct reply real;
    unsigned loads = write_requests(t, &request, 1, false);
    usec before = read_time(t);
    for (unsigned i = 0; i < loads; i++)
        read_reply(t);
    read_answer(t, &request, &hello, &real);
    usec after = read_time(t);
    if (is_heard_of(call.kind) && !listener_hears(&t->listener))
        real_die("a message that no observer can be sent");
    if (request.names)
        names_drop(&memory, (struct names *)(uintptr_t)request.names);
    t->compared++;
    if (call.whole && real.answer != ANSWER_NOSCRIPT &&
        !(call.kind == REQUEST_ACQUIRE && call.count == 1))
        t->loaded |= model_scripts_with(&call);
    t->model.scripts = t->loaded;
    bool ends = anything_ends_just_then(t, &call, 1, before, after);
    if (agrees(t, before, &call, &real, &hello))
        return note_edge(t, ends, after);
    t->ambiguous++;
    for (usec wall = before - before % 1000 + 1000; wall <= after; wall += 1000)
        if (agrees(t, wall, &call, &real, &hello))
            return note_edge(t, ends, after);
    if (agrees(t, after, &call, &real, &hello))
        return note_edge(t, ends, after);
    /* A hello tells its time: there is no edge to be on. */
    if (real.answer != ANSWER_HELLO && begin_anew_if_torn(t, &call, 1, before, after))
        return true;
    explain(t, &call, &real, before, after);
    return false;
}

/* The answer tells the time: there is no edge to be on. */
static bool compare_lists(struct test *t)
{
    struct model_agree agree = agree_draw(&t->listing, time_now(t), LONGEST_MS);
    struct request request;
    struct hello hello;
    struct reply real;
    if (chance_permille(&t->listing, 700))
        agree.changes = t->model.data.changes;
    agree_spell(&agree, &request);
    write_requests(t, &request, 1, false);
    read_time(t);
    read_answer(t, &request, &hello, &real);
    read_time(t);
    struct slice text = real.lists, over;
    int64_t changes;
    usec wall = told_time(&text, &changes, &over);
    struct model_call call = {.kind = REQUEST_AGREE, .whole = true, .agree = &agree};
    struct model_answer answer;
    model_execute(&t->model, wall, &call, &answer);
    t->loaded |= model_scripts_with(&call);
    t->compared++;
    if (t->breaks == REQUEST_AGREE)
        agree.told[0].clients++;
    if (agree_same_answer(&agree, real.lists))
        return true;
    printf("lists differ: the model tells %u, the real master\n%.*s\n", agree.told_count,
           (int)real.lists.length, real.lists.bytes);
    return false;
}

/* ---- several in one command ------------------------------------------------------------- */

struct several {
    unsigned count;
    bool whole;
    struct model_call calls[BATCH_MAX];
    char tokens[BATCH_MAX][16];
    struct request requests[BATCH_MAX];
    struct reply real[BATCH_MAX];
};

/* About a name that is held, by its token, as most releases and renewals are; if any is held. */
static void be_a_holder(struct test *t, struct model_call *call)
{
    unsigned first = chance_below(&t->chance, MODEL_NAMES);
    for (unsigned i = 0; i < MODEL_NAMES; i++) {
        unsigned name = (first + i) % MODEL_NAMES;
        uint32_t value = t->model.data.keys[name].value;
        if (!value || value == MODEL_MARK)
            continue;
        call->names[0] = (uint8_t)name;
        call->value = value;
        return;
    }
}

/* By who has the name alone or reads it, if anybody does. */
static void be_one_of_its_holders(const struct test *t, struct model_call *call)
{
    unsigned name = call->names[0];
    uint32_t value = t->model.data.keys[name].value;
    for (unsigned i = 0; i < MODEL_READERS && value == MODEL_MARK; i++)
        if (t->model.data.readers[i].value && t->model.data.readers[i].name == name)
            value = t->model.data.readers[i].value;
    if (value && value != MODEL_MARK)
        call->value = value;
}

/* All of one kind, of slots whose numbers come again. */
static struct model_call draw_slot_of_each(struct test *t, enum request_kind kind)
{
    struct model_call call;
    do
        call = draw_slot_call(t);
    while (call.kind != kind);
    if (kind == REQUEST_RELEASE)
        call.ttl_ms = 0;
    if (kind == REQUEST_RELEASE && chance_permille(&t->chance, 700) &&
        t->model.data.keys[call.names[0]].value)
        call.value = t->model.data.keys[call.names[0]].value;
    call.each = true;
    call.whole = true;
    return call;
}

/* As grants of one turn do. */
static void follow(struct model_call *call, const struct model_call *before)
{
    call->ttl_ms = before->ttl_ms;
    call->proposal = before->proposal ? before->proposal + 1 : 0;
}

static void draw_several(struct test *t, struct several *s)
{
    static const enum request_kind kinds[] = {REQUEST_RELEASE, REQUEST_RENEW, REQUEST_GRANT};
    enum request_kind kind = kinds[chance_below(&t->chance, sizeof kinds / sizeof kinds[0])];
    bool slots = chance_permille(&t->chance, 400);
    s->count = (unsigned)chance_range(&t->chance, 2, slots ? BATCH_OF_SLOTS_MAX : BATCH_MAX);
    s->whole = chance_permille(&t->chance, 300);
    uint8_t modes = chance_permille(&t->chance, 500);
    bool by_holders = chance_permille(&t->chance, 500), alike = chance_permille(&t->chance, 500);
    bool once = !slots && chance_permille(&t->chance, 500); /* no name comes twice */
    if (once)
        s->count = (unsigned)chance_range(&t->chance, 2, MODEL_NAMES);
    for (unsigned i = 0; i < s->count; i++) {
        struct model_call *call = &s->calls[i];
        *call = (struct model_call){.kind = kind,
                                    .whole = true, /* its script is there, or none is asked */
                                    .each = true,
                                    .count = 1,
                                    .modes = modes};
        call->heal = chance_permille(&t->chance, 500);
        call->names[0] = (uint8_t)chance_below(&t->chance, MODEL_NAMES);
        call->value = 1 + chance_below(&t->chance, VALUES);
        call->ttl_ms = kind == REQUEST_RELEASE ? 0 : chance_range(&t->chance, 1, LONGEST_MS);
        if (slots)
            *call = draw_slot_of_each(t, kind);
        else if (once)
            call->names[0] = (uint8_t)((s->calls[0].names[0] + i) % MODEL_NAMES);
        if (once && by_holders)
            be_one_of_its_holders(t, call);
        else if (!slots && by_holders)
            be_a_holder(t, call);
        if (kind == REQUEST_RENEW && chance_permille(&t->chance, 300))
            call->not_after = chance_permille(&t->chance, 500) ? 1000000 : INT64_C(1) << 52;
        if (kind == REQUEST_GRANT && chance_permille(&t->chance, 700))
            call->proposal = draw_clock(t);
        if (kind == REQUEST_GRANT && alike && i > 0)
            follow(call, &s->calls[i - 1]);
        s->requests[i] = make_request(t, call, s->tokens[i]);
        s->requests[i].whole = false;
    }
}

static void exchange_several(struct test *t, struct several *s, usec *before, usec *after)
{
    write_requests(t, s->requests, s->count, s->whole);
    *before = read_time(t);
    read_reply(t);
    for (unsigned i = 0; i < s->count; i++)
        if (!reply_read_each(&t->raw, i, s->count, &s->requests[i].tag, &s->real[i]))
            real_die("a reply that several requests cannot have");
    *after = read_time(t);
    for (unsigned i = 0; i < s->count; i++)
        names_drop(&memory, (struct names *)(uintptr_t)s->requests[i].names);
}

/* One after the other at the same moment: a script has one time. */
static bool all_agree_from(struct test *t, struct model_master copy, usec wall,
                           const struct several *s)
{
    struct model_answer answer;
    for (unsigned i = 0; i < s->count; i++) {
        model_execute(&copy, wall, &s->calls[i], &answer);
        if ((int)s->calls[i].kind == t->breaks && t->in_batches && i == s->count / 2)
            answer.answer = answer.answer == ANSWER_YES ? ANSWER_HELD : ANSWER_YES;
        bool is_refused_slot = answer.answer == ANSWER_HELD && s->calls[i].kind == REQUEST_GRANT;
        if (!same_answer(wall, &answer, &s->real[i], NULL) ||
            (is_refused_slot && !same_line(t, &copy, wall, &answer, &s->real[i])) ||
            (s->real[i].answer == ANSWER_LATE && llabs(s->real[i].master_time - wall) > 1000000))
            return false;
        if (s->real[i].clock)
            copy.data.clock.h = s->real[i].clock;
    }
    for (unsigned name = 0; name < MODEL_NAMES; name++)
        if (!same_key(t, &copy, wall, name))
            return false;
    if (!same_logical_clock(t, &copy) || !same_slots(t, &copy, wall) || !same_number(t, &copy))
        return false;
    t->model = copy;
    return true;
}

static bool all_agree(struct test *t, usec wall, const struct several *s)
{
    return all_agree_from(t, t->model, wall, s) ||
           all_agree_from(t, swept(&t->model, wall), wall, s);
}

static bool is_refused(struct test *t, const struct several *s)
{
    uint64_t bit = model_script(&s->calls[0]);
    if (s->whole)
        t->loaded |= bit;
    return !(t->loaded & bit);
}

static bool compare_several(struct test *t)
{
    struct several s;
    usec before, after;
    t->detail[0] = '\0';
    draw_several(t, &s);
    exchange_several(t, &s, &before, &after);
    t->compared += s.count;
    if (is_refused(t, &s)) {
        for (unsigned i = 0; i < s.count; i++)
            if (s.real[i].answer != ANSWER_NOSCRIPT)
                return false;
        return true;
    }
    bool ends = anything_ends_just_then(t, s.calls, s.count, before, after);
    if (all_agree(t, before, &s))
        return note_edge(t, ends, after);
    t->ambiguous++;
    for (usec wall = before - before % 1000 + 1000; wall <= after; wall += 1000)
        if (all_agree(t, wall, &s))
            return note_edge(t, ends, after);
    if (all_agree(t, after, &s))
        return note_edge(t, ends, after);
    if (begin_anew_if_torn(t, s.calls, s.count, before, after))
        return true;
    printf("%u requests %d in one command\n%s\n", s.count, s.calls[0].kind, t->detail);
    return false;
}

static int option_kind(const char *word)
{
    for (int kind = 0; kind < REQUEST_KINDS; kind++)
        if (strcmp(request_name((enum request_kind)kind), word) == 0)
            return kind;
    real_die("--break: a kind of requests, as requests.h names it");
}

/* A rule of shared names, of slots, of what is said of a name, of wishes, of latches, or of the
 * clock, that the model then breaks. */
static void break_rule(const char *word)
{
    const struct {
        const char *word;
        bool *flaw;
    } flaws[] = {{"forgets_skew", &model_flaws.forgets_skew},
                 {"heals_marked", &model_flaws.heals_marked},
                 {"passes_marked_on", &model_flaws.passes_marked_on},
                 {"dead_readers_have", &model_flaws.dead_readers_have},
                 {"keeps_readers", &model_flaws.keeps_readers},
                 {"marker_of_last", &model_flaws.marker_of_last},
                 {"readers_barge", &model_flaws.readers_barge},
                 {"frees_for_readers", &model_flaws.frees_for_readers},
                 {"always_converts", &model_flaws.always_converts},
                 {"upgrades_beside", &model_flaws.upgrades_beside},
                 {"passes_registry", &model_flaws.passes_registry},
                 {"new_places_pass", &model_flaws.new_places_pass},
                 {"renewals_hide_slots", &model_flaws.renewals_hide_slots},
                 {"announces_for_anyone", &model_flaws.announces_for_anyone},
                 {"tells_by_id", &model_flaws.tells_by_id},
                 {"breaks_in_silence", &model_flaws.breaks_in_silence},
                 {"latch_of_any_process", &model_flaws.latch_of_any_process},
                 {"drops_young", &model_flaws.drops_young},
                 {"proposals_uncut", &model_flaws.proposals_uncut},
                 {"grants_keep_clock", &model_flaws.grants_keep_clock}};
    for (unsigned i = 0; i < sizeof flaws / sizeof flaws[0]; i++)
        if (strcmp(flaws[i].word, word) == 0) {
            *flaws[i].flaw = true;
            return;
        }
    real_die("--flaw: one of those that break_test.sh names");
}

/* One of the two keys of a name, by somebody else. */
static void delete_by_hand(struct test *t)
{
    unsigned name = chance_below(&t->chance, MODEL_NAMES);
    bool readers = chance_permille(&t->chance, 500);
    (void)real_integer(t->context, "DEL %sname:%u", readers ? "redlock:holders:" : "", name);
    if (!readers)
        t->model.data.keys[name] = (struct model_key){0};
    for (unsigned i = 0; readers && i < MODEL_READERS; i++)
        if (t->model.data.readers[i].name == name)
            t->model.data.readers[i].value = 0;
}

/* By somebody else. */
static void forget_permits(struct test *t)
{
    (void)real_integer(t->context, "DEL redlock:permits:name:1");
    t->model.data.permits[OF_SLOTS] = (struct model_number){0};
}

/* Hello puts the clock above all proposals: it has to be behind them for any to count. */
static void set_clock_back(struct test *t)
{
    usec h = time_now(t) - chance_range(&t->chance, 0, CLOCK_WINDOW);
    (void)real_integer(t->context, "HSET redlock:clock h %lld", (long long)h);
    t->model.data.clock.h = h;
}

static void die_of_usage(void)
{
    real_die("usage: differential [--commands N] [--seed S] [--break KIND | --break-batch KIND | "
             "--flaw FLAW]");
}

int main(int argc, char **argv)
{
    struct test t = {.chance.state = 1,
                     .listing.state = 1,
                     .hearing.state = 1,
                     .breaks = -1,
                     .directory = "/tmp/differential-XXXXXX"};
    unsigned long commands = 200000;
    for (int i = 1; i < argc; i += 2)
        if (i + 1 == argc)
            die_of_usage();
        else if (strcmp(argv[i], "--commands") == 0)
            commands = strtoul(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0)
            t.chance.state = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--break") == 0)
            t.breaks = option_kind(argv[i + 1]);
        else if (strcmp(argv[i], "--flaw") == 0)
            break_rule(argv[i + 1]);
        else if (strcmp(argv[i], "--break-batch") == 0)
            t.in_batches = true, t.breaks = option_kind(argv[i + 1]);
        else
            die_of_usage();
    if (!mkdtemp(t.directory))
        real_die("no scratch directory");
    snprintf(t.socket, sizeof t.socket, "%s/socket", t.directory);
    start_server(&t);
    learn_start(&t, NULL);
    bool same = true;
    for (unsigned long n = 1; same && n <= commands; n++) {
        same = chance_permille(&t.chance, 100) ? compare_several(&t) : compare_one(&t);
        if (same && chance_permille(&t.listing, 80))
            same = compare_lists(&t);
        if (chance_permille(&t.chance, 30))
            delete_by_hand(&t);
        if (chance_permille(&t.chance, 20))
            set_clock_back(&t);
        if (chance_permille(&t.chance, 100))
            forget_permits(&t);
        if (chance_permille(&t.chance, 20))
            said_spoil(t.context, &t.chance, &t.model);
        if (chance_permille(&t.chance, 20))
            barrier_spoil(t.context, &t.chance, &t.model);
        if (chance_permille(&t.chance, 10))
            latch_spoil(t.context, &t.chance, &t.model, t.run);
        if (n % RESTART_EVERY == 0)
            restart(&t, chance_permille(&t.chance, 500));
        if (chance_permille(&t.chance, 5))
            usleep((useconds_t)chance_range(&t.chance, 0, LONGEST_MS * 1000));
        else if (chance_permille(&t.chance, 100))
            usleep(300);
    }
    stop_server(&t, false);
    char log[128];
    snprintf(log, sizeof log, "%s/log", t.directory);
    unlink(log);
    rmdir(t.directory);
    reply_free(&t.raw);
    printf("%s: %lu commands, %lu restarts, %lu on the edge of a millisecond, %lu torn by it\n",
           same ? "the model and the real master agree" : "DIFFERENT", t.compared, t.restarts - 1,
           t.ambiguous, t.torn);
    return !same;
}
