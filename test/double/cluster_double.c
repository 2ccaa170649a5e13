/*
 * cluster_double.c - test/live/cluster.h with masters inside the process, so that the cases of
 * test/live that need no server run over both.
 *
 * Of the commands of a plain client it has those few that ask for keys.  A case that needs another
 * one is skipped, and says which.
 */
#define _GNU_SOURCE /* environ */
#include "cluster.h"

#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "conns.h"
#include "masters.h"
#include "model_tasks.h"
#include "redlock/testing.h"
#include "user.h"

/* ---- life ---------------------------------------------------------------------------------- */

bool cluster_is_inside(void)
{
    return true;
}

const char *cluster_scheme(void)
{
    return "memory";
}

const char *cluster_tls_folder(void)
{
    return NULL;
}

const char *cluster_socket(int port)
{
    (void)port;
    return NULL;
}

void cluster_start(struct cluster *cluster, unsigned count, const char *flags)
{
    (void)flags;
    *cluster = (struct cluster){.count = count};
    snprintf(cluster->nodes, sizeof cluster->nodes, "memory://%u", count);
    assert_int_equal(redlock_testing_begin(REDLOCK_TESTING_REAL), REDLOCK_OK);
}

/* All clusters of a program are the same masters, which have no past for the next one. */
void cluster_stop(struct cluster *cluster)
{
    (void)cluster;
    redlock_testing_begin(REDLOCK_TESTING_REAL);
}

/* ---- "kill 1 3", "restart 2 --empty" --------------------------------------------------------- */

static void befall(const char *what, unsigned master, bool is_empty)
{
    if (strcmp(what, "kill") == 0)
        redlock_testing_kill(master);
    else if (strcmp(what, "restart") == 0)
        redlock_testing_restart(master, !is_empty);
    else if (strcmp(what, "pause") == 0 || strcmp(what, "resume") == 0)
        redlock_testing_hang(master, *what == 'p');
    else
        skip();
}

static void carry_out(char *command)
{
    bool is_empty = strstr(command, "--empty") != NULL;
    char *what = strtok(command, " "), *word;
    while ((word = strtok(NULL, " ")))
        if (*word != '-')
            befall(what, (unsigned)atoi(word) - 1, is_empty);
}

void cluster_do(struct cluster *cluster, const char *format, ...)
{
    char command[512];
    va_list arguments;
    (void)cluster;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    carry_out(command);
}

pid_t cluster_begin(const struct cluster *cluster, const char *command)
{
    char copy[512];
    char *arguments[] = {"true", NULL};
    pid_t child;
    (void)cluster;
    snprintf(copy, sizeof copy, "%s", command);
    carry_out(copy);
    assert_int_equal(posix_spawnp(&child, "true", NULL, NULL, arguments, environ), 0);
    return child;
}

/* ---- plain clients ------------------------------------------------------------------------------
 */

redisContext *cluster_connect(const struct cluster *cluster, unsigned master)
{
    (void)cluster, (void)master;
    skip();
    return NULL;
}

struct command {
    struct inside *master;
    int count;
    char *words[16];
    size_t lengths[16];
};

static bool is(const struct command *command, int at, const char *word)
{
    return at < command->count && strcmp(command->words[at], word) == 0;
}

static struct slice word_at(const struct command *command, int at)
{
    return (struct slice){command->words[at], command->lengths[at]};
}

static redisReply *reply_of(int type, long long integer, struct slice text)
{
    redisReply *reply = calloc(1, sizeof *reply);
    reply->type = type;
    reply->integer = integer;
    if (type == REDIS_REPLY_STRING || type == REDIS_REPLY_STATUS) {
        reply->str = malloc(text.length + 1);
        memcpy(reply->str, text.bytes, text.length);
        reply->str[text.length] = '\0';
        reply->len = text.length;
    }
    return reply;
}

static redisReply *integer_reply(long long integer)
{
    return reply_of(REDIS_REPLY_INTEGER, integer, (struct slice){"", 0});
}

static redisReply *nil_reply(void)
{
    return reply_of(REDIS_REPLY_NIL, 0, (struct slice){"", 0});
}

static redisReply *text_reply(struct slice text)
{
    return reply_of(REDIS_REPLY_STRING, 0, text);
}

/* Of a key that names a lock; false: it is another key. */
static bool read_name(const struct command *command, int at, unsigned *name)
{
    struct slice key = word_at(command, at);
    if (key.length >= 8 && memcmp(key.bytes, "redlock:", 8) == 0)
        return false;
    *name = texts_number(&names, key);
    return *name != 0;
}

static uint32_t value_of(const struct command *command, unsigned name)
{
    return model_value(&command->master->model, master_wall(command->master), name);
}

static redisReply *get(const struct command *command)
{
    unsigned name;
    if (!read_name(command, 1, &name))
        return NULL;
    uint32_t value = value_of(command, name);
    return value == MODEL_MARK ? text_reply(slice_of(READERS))
           : value             ? text_reply(texts_spell(&tokens, value))
                               : nil_reply();
}

static redisReply *pttl(const struct command *command)
{
    unsigned name;
    if (!read_name(command, 1, &name))
        return NULL;
    if (!value_of(command, name))
        return integer_reply(-2);
    int64_t expires = command->master->model.data.keys[name].expires_ms;
    return integer_reply(expires ? expires - master_wall(command->master) / 1000 : -1);
}

static redisReply *set(const struct command *command)
{
    unsigned name;
    bool expires = is(command, 3, "PX") || is(command, 4, "PX");
    if (!read_name(command, 1, &name) || (command->count > 3 && !expires))
        return NULL;
    if (is(command, 3, "NX") && value_of(command, name))
        return nil_reply();
    const char *ms = command->words[command->count - 1];
    command->master->used = true;
    command->master->model.data.keys[name] =
        (struct model_key){texts_number(&tokens, word_at(command, 2)),
                           expires ? master_wall(command->master) / 1000 + atoll(ms) : 0};
    return reply_of(REDIS_REPLY_STATUS, 0, slice_of("OK"));
}

/* ---- keys of the library's own ---- */

/* "redlock:KIND:REST": the rest; NULL: it is of another kind. */
static const char *own(const char *key, const char *kind)
{
    size_t length = strlen(kind);
    bool is = strncmp(key, "redlock:", 8) == 0 && strncmp(key + 8, kind, length) == 0;
    return is && key[8 + length] == ':' ? key + 8 + length + 1 : NULL;
}

static unsigned name_of(const char *text)
{
    unsigned slot, length;
    if (sscanf(text, "redlock:permit:%u:%n", &slot, (int *)&length) == 1)
        return model_slot(texts_number(&names, slice_of(text + length)), slot);
    return texts_number(&names, slice_of(text));
}

static unsigned waiters_of(const struct command *command, unsigned name)
{
    unsigned count = 0;
    while (model_waiter(&command->master->model, master_wall(command->master), name, count))
        count++;
    return count;
}

static unsigned observers_of(const struct command *command, unsigned name)
{
    unsigned count = 0;
    int64_t now = master_wall(command->master) / 1000;
    for (unsigned i = 0; i < MODEL_OBSERVERS; i++) {
        const struct model_observer *it = &command->master->model.data.observers[i];
        count += it->channel && it->name == name && it->expires_ms > now;
    }
    return count;
}

static const struct model_barrier *barrier_of(const struct command *command, const char *rest)
{
    char *name;
    long long generation = strtoll(rest, &name, 10);
    return model_barrier(&command->master->model, master_wall(command->master), name_of(name + 1),
                         generation);
}

/* How many members it has; -1: not known here. */
static int size_of_own(const struct command *command, const char *key)
{
    struct model_master *model = &command->master->model;
    usec wall = master_wall(command->master);
    const char *rest;
    if ((rest = own(key, "queue")))
        return (int)waiters_of(command, name_of(rest));
    if ((rest = own(key, "holders")))
        return (int)model_readers(model, wall, name_of(rest));
    if ((rest = own(key, "observers")))
        return (int)observers_of(command, name_of(rest));
    if ((rest = own(key, "leader")))
        return model_said(model, wall, name_of(rest))->token != 0;
    if ((rest = own(key, "latch")))
        return model_latch(model, wall, name_of(rest)) != NULL;
    if ((rest = own(key, "barrier")))
        return barrier_of(command, rest) != NULL;
    return -1;
}

static void forget_observers(struct model_data *data, unsigned name)
{
    for (unsigned i = 0; i < MODEL_OBSERVERS; i++)
        if (data->observers[i].name == name)
            data->observers[i] = (struct model_observer){0};
}

static void forget_readers(struct model_data *data, unsigned name)
{
    for (unsigned i = 0; i < MODEL_READERS; i++)
        if (data->readers[i].name == name)
            data->readers[i].value = 0;
}

/* False: it is not known here. */
static bool delete_own(const struct command *command, const char *key)
{
    struct model_data *data = &command->master->model.data;
    const char *rest;
    if ((rest = own(key, "holders")))
        forget_readers(data, name_of(rest));
    else if ((rest = own(key, "permits")))
        data->permits[name_of(rest)] = (struct model_number){0};
    else if ((rest = own(key, "latch")))
        data->latches[name_of(rest)] = (struct model_latch){0};
    else if ((rest = own(key, "leader")))
        data->said[name_of(rest)] = (struct model_said){0};
    else if ((rest = own(key, "observers")))
        forget_observers(data, name_of(rest));
    return rest != NULL;
}

static redisReply *del(const struct command *command)
{
    unsigned name, gone = 0;
    for (int at = 1; at < command->count; at++) {
        if (read_name(command, at, &name)) {
            gone += value_of(command, name) != 0;
            command->master->model.data.keys[name] = (struct model_key){0};
        } else if (!delete_own(command, command->words[at])) {
            return NULL;
        }
    }
    return integer_reply(gone);
}

static redisReply *exists(const struct command *command)
{
    unsigned name, there = 0;
    for (int at = 1; at < command->count; at++) {
        int size = read_name(command, at, &name) ? value_of(command, name) != 0
                                                 : size_of_own(command, command->words[at]);
        if (size < 0)
            return NULL;
        there += size > 0;
    }
    return integer_reply(there);
}

static redisReply *zcard(const struct command *command)
{
    int size = size_of_own(command, command->words[1]);
    return size < 0 ? NULL : integer_reply(size);
}

/* The parties of a barrier; other members have the score +inf. */
static redisReply *zcount(const struct command *command)
{
    const char *rest = own(command->words[1], "barrier");
    const struct model_barrier *barrier = rest ? barrier_of(command, rest) : NULL;
    unsigned count = 0;
    if (!rest || !is(command, 2, "1") || !is(command, 3, "(+inf"))
        return NULL;
    for (unsigned i = 0; barrier && i < MODEL_PARTIES; i++)
        count += barrier->parties[i].value != 0;
    return integer_reply(count);
}

static redisReply *time_now(const struct command *command)
{
    char text[2][32];
    usec wall = master_wall(command->master);
    redisReply *reply = calloc(1, sizeof *reply);
    reply->type = REDIS_REPLY_ARRAY;
    reply->elements = 2;
    reply->element = calloc(2, sizeof *reply->element);
    snprintf(text[0], sizeof text[0], "%lld", (long long)(wall / 1000000));
    snprintf(text[1], sizeof text[1], "%lld", (long long)(wall % 1000000));
    for (unsigned i = 0; i < 2; i++)
        reply->element[i] = text_reply(slice_of(text[i]));
    return reply;
}

static redisReply *clock_field(const struct command *command)
{
    struct model_clock *clock = &command->master->model.data.clock;
    char text[32];
    if (!is(command, 1, "redlock:clock"))
        return NULL;
    if (is(command, 0, "HGET") && is(command, 2, "h")) {
        snprintf(text, sizeof text, "%lld", (long long)clock->h);
        return clock->h ? text_reply(slice_of(text)) : nil_reply();
    }
    if (!is(command, 0, "HSET"))
        return NULL;
    command->master->used = true;
    for (int at = 2; at + 1 < command->count; at += 2) {
        int64_t number = atoll(command->words[at + 1]);
        *(is(command, at, "s") ? &clock->s : is(command, at, "q") ? &clock->q : &clock->h) = number;
    }
    return integer_reply(0);
}

static unsigned keys_of(struct inside *master)
{
    unsigned keys = 0;
    usec wall = master_wall(master);
    for (unsigned i = 0; i < MODEL_KEYS; i++)
        keys += model_value(&master->model, wall, i) != 0;
    for (unsigned i = 0; i < MODEL_WAITERS; i++)
        keys += master->model.data.waiters[i].value &&
                master->model.data.waiters[i].expires_ms > wall / 1000;
    return keys;
}

static redisReply *dbsize(const struct command *command)
{
    return integer_reply(keys_of(command->master) + (command->master->model.data.clock.h != 0));
}

static redisReply *answer_to(const struct command *command)
{
    static const struct {
        const char *word;
        redisReply *(*answer)(const struct command *command);
    } known[] = {{"GET", get},          {"PTTL", pttl},        {"SET", set},
                 {"DEL", del},          {"EXISTS", exists},    {"ZCARD", zcard},
                 {"HGET", clock_field}, {"HSET", clock_field}, {"TIME", time_now},
                 {"DBSIZE", dbsize},    {"ZCOUNT", zcount}};
    for (unsigned i = 0; i < COUNT(known); i++)
        if (is(command, 0, known[i].word))
            return known[i].answer(command);
    return NULL;
}

/* hiredis spells the command, and its bytes are cut into words again. */
static void read_words(struct command *command, char *bytes)
{
    command->count = (int)strtol(bytes + 1, &bytes, 10);
    assert_in_range(command->count, 1, (int)COUNT(command->words));
    for (int i = 0; i < command->count; i++) {
        size_t length = (size_t)strtol(bytes + 3, &bytes, 10);
        command->words[i] = bytes + 2;
        command->lengths[i] = length;
        bytes += 2 + length;
    }
    for (int i = 0; i < command->count; i++)
        command->words[i][command->lengths[i]] = '\0';
}

static redisReply *ask(unsigned master, const char *format, va_list arguments)
{
    struct command command = {.master = &masters[master]};
    char *bytes;
    if (redisvFormatCommand(&bytes, format, arguments) < 0)
        fail_msg("not a command: %s", format);
    read_words(&command, bytes);
    masters_are_needed();
    masters_lock();
    bool is_there = command.master->up && !command.master->hangs;
    redisReply *reply = is_there ? answer_to(&command) : NULL;
    masters_unlock();
    free(bytes);
    if (is_there && !reply) {
        print_message("needs a server: %s\n", format);
        skip();
    }
    return reply;
}

redisReply *cluster_ask(struct cluster *cluster, unsigned master, const char *format, ...)
{
    va_list arguments;
    (void)cluster;
    va_start(arguments, format);
    redisReply *reply = ask(master, format, arguments);
    va_end(arguments);
    return reply;
}

static redisReply *must_answer(redisReply *reply, const char *format)
{
    if (!reply)
        fail_msg("no answer to %s", format);
    return reply;
}

void cluster_tell(struct cluster *cluster, unsigned master, const char *format, ...)
{
    va_list arguments;
    (void)cluster;
    va_start(arguments, format);
    freeReplyObject(must_answer(ask(master, format, arguments), format));
    va_end(arguments);
}

void cluster_tell_all(struct cluster *cluster, const char *format, ...)
{
    for (unsigned i = 0; i < cluster->count; i++) {
        va_list arguments;
        va_start(arguments, format);
        freeReplyObject(must_answer(ask(i, format, arguments), format));
        va_end(arguments);
    }
}

redisReply *cluster_answer(struct cluster *cluster, unsigned master, const char *format,
                           va_list arguments)
{
    (void)cluster;
    return must_answer(ask(master, format, arguments), format);
}

unsigned cluster_keys(struct cluster *cluster)
{
    unsigned keys = 0;
    masters_lock();
    for (unsigned i = 0; i < cluster->count; i++)
        keys += masters[i].up ? keys_of(&masters[i]) : 0;
    masters_unlock();
    return keys;
}

size_t resident_bytes(void)
{
    skip();
    return 0;
}
