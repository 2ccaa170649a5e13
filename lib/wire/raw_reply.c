#include "raw_reply.h"

#include <stdlib.h>
#include <string.h>

#include "printable.h"
#include "server_error.h"

#if HIREDIS_MAJOR >= 1
typedef size_t array_length;
#else
typedef int array_length;
#endif

/* hiredis's reader calls this.  NULL makes it give up. */

static struct raw_reply *begin_reply(const redisReadTask *task, bool is_array, unsigned count)
{
    struct raw_reply *raw = task->privdata;
    raw->is_array = is_array;
    raw->count = count;
    raw->used = raw->long_used = 0;
    return raw;
}

static struct field *next_field(const redisReadTask *task, enum field_kind kind)
{
    struct raw_reply *raw = task->privdata;
    struct field *field = raw->fields;
    if (task->parent)
        field += task->idx;
    else
        begin_reply(task, false, 1);
    *field = (struct field){.kind = kind};
    return field;
}

/* Room for all such strings of one reply, each with a NUL behind it. */
#define LONG_ROOM (REPLY_LONG_MAX + REPLY_FIELDS_MAX)

static bool make_long_room(struct raw_reply *raw)
{
    if (!raw->long_text)
        raw->long_text = malloc(LONG_ROOM);
    return raw->long_text != NULL;
}

/* Holders and waiters of a name may have that length together.  Most connections never see such
 * strings, so the memory is taken when the first one comes. */
static bool __attribute__((cold, noinline))
keep_long_text(struct raw_reply *raw, struct field *field, const char *text, size_t length)
{
    bool may = field->kind == FIELD_STRING && length <= REPLY_LONG_MAX - raw->long_used;
    raw->failed = may && !make_long_room(raw);
    if (!may || raw->failed) {
        field->integer = (long long)length;
        return false;
    }
    char *to = raw->long_text + raw->long_used + (field - raw->fields);
    memcpy(to, text, length);
    to[length] = '\0';
    raw->long_used += length;
    field->text = to;
    field->length = length;
    return true;
}

static void keep_field_text(struct raw_reply *raw, struct field *field, const char *text,
                            size_t length)
{
    size_t room = sizeof raw->text - raw->used;
    char *to = raw->text + raw->used;
    if (length >= room) {
        if (keep_long_text(raw, field, text, length))
            return;
        to -= room == 0; /* which holds the last NUL, and is an empty text */
        length = room ? room - 1 : 0;
    }
    field->text = to;
    field->length = length;
    memcpy(to, text, length);
    to[length] = '\0';
    if (field->kind == FIELD_ERROR) {
        make_printable(to, field->length);
        field->length = server_error_tidy(to, field->length);
    }
    raw->used = (size_t)(to - raw->text) + field->length + 1;
}

static void *create_string(const redisReadTask *task, char *text, size_t length)
{
    enum field_kind kind;
    if (task->type == REDIS_REPLY_STRING)
        kind = FIELD_STRING;
    else if (task->type == REDIS_REPLY_STATUS)
        kind = FIELD_STATUS;
    else if (task->type == REDIS_REPLY_ERROR)
        kind = FIELD_ERROR;
    else
        return NULL;
    keep_field_text(task->privdata, next_field(task, kind), text, length);
    return task->privdata;
}

static void *create_array(const redisReadTask *task, array_length length)
{
    if (task->parent || task->type != REDIS_REPLY_ARRAY || length > REPLY_FIELDS_MAX)
        return NULL;
    return begin_reply(task, true, (unsigned)length);
}

static void *create_integer(const redisReadTask *task, long long integer)
{
    next_field(task, FIELD_INTEGER)->integer = integer;
    return task->privdata;
}

static void *create_nil(const redisReadTask *task)
{
    next_field(task, FIELD_NIL);
    return task->privdata;
}

#if HIREDIS_MAJOR >= 1
/* Replies of RESP3, which we never ask for. */
static void *create_double(const redisReadTask *task, double number, char *text, size_t length)
{
    (void)task, (void)number, (void)text, (void)length;
    return NULL;
}

static void *create_bool(const redisReadTask *task, int value)
{
    (void)task, (void)value;
    return NULL;
}
#endif

static redisReplyObjectFunctions builder = {.createString = create_string,
                                            .createArray = create_array,
                                            .createInteger = create_integer,
                                            .createNil = create_nil,
#if HIREDIS_MAJOR >= 1
                                            .createDouble = create_double,
                                            .createBool = create_bool,
#endif
                                            .freeObject = NULL};

void reply_free(struct raw_reply *raw)
{
    free(raw->long_text);
    raw->long_text = NULL;
}

void reply_attach(redisReader *reader, struct raw_reply *raw)
{
    reader->fn = &builder;
    reader->privdata = raw;
    reader->maxbuf = 0; /* keep the present buffer: no allocation for each reply */
}
