#include "reply.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers.h"
#include "printable.h"
#include "said.h"
#include "task_reply.h"

/* Copies a string, printable and cut to fit.  Returns its whole length, or -1. */
static int get_text(const struct raw_reply *raw, unsigned index, char *text, size_t size)
{
    const struct field *field = &raw->fields[index];
    if (field->kind != FIELD_STRING)
        return -1;
    size_t length = field->length < size ? field->length : size - 1;
    memcpy(text, field->text, length);
    text[length] = '\0';
    make_printable(text, length);
    return (int)field->length;
}

static bool get_name(const struct raw_reply *raw, unsigned index, char *text, size_t size)
{
    int length = get_text(raw, index, text, size);
    return length > 0 && (size_t)length < size;
}

/* ---- The login ---- */

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static void keep_reason(struct login_state *login, const char *text)
{
    snprintf(login->why, sizeof login->why, "%s", text);
}

/* {"subscribe", channel, subscriptions of this connection} */
static bool confirms_subscription(const struct raw_reply *raw)
{
    return raw->is_array && raw->count == 3 && is_text(raw, 0, "subscribe") &&
           raw->fields[1].kind == FIELD_STRING && raw->fields[2].kind == FIELD_INTEGER &&
           raw->fields[2].integer == 1;
}

/* "run_id:" and so on, in a line of its own. */
static bool keep_run_id(struct login_state *login, const struct raw_reply *raw)
{
    static const char key[] = "\nrun_id:";
    const char *line = strstr(raw->fields[0].text, key);
    if (!line)
        return false;
    line += sizeof key - 1;
    size_t length = strcspn(line, "\r\n");
    if (length == 0 || length >= sizeof login->run_id)
        return false;
    memcpy(login->run_id, line, length);
    login->run_id[length] = '\0';
    make_printable(login->run_id, length);
    return true;
}

bool reply_take_step(struct login_state *login, enum step step, const struct raw_reply *raw)
{
    if (is_lone(raw, FIELD_ERROR)) {
        bool matters = step == STEP_AUTH || step == STEP_SELECT || step == STEP_SUBSCRIBE;
        if (!login->failed)
            keep_reason(login, raw->fields[0].text);
        login->failed |= matters;
        login->denied |= step == STEP_AUTH || starts_with(raw->fields[0].text, "NOAUTH");
        return true;
    }
    if (step == STEP_SUBSCRIBE)
        return confirms_subscription(raw);
    if (step == STEP_CLIENT_ID)
        return is_lone(raw, FIELD_INTEGER) && get_integer(raw, 0, &login->client_id);
    if (step == STEP_INFO)
        return is_lone(raw, FIELD_STRING) && keep_run_id(login, raw);
    return is_lone(raw, step == STEP_LOAD ? FIELD_STRING : FIELD_STATUS);
}

/* ---- Final replies ---- */

static bool read_hello(const struct raw_reply *raw, const struct login_state *login,
                       struct hello *hello, struct reply *reply)
{
    int64_t aof;
    *hello = (struct hello){.client_id = login->client_id};
    bool whole = raw->is_array && raw->count == 11 &&
                 get_name(raw, 0, hello->run_id, sizeof hello->run_id) &&
                 get_text(raw, 1, hello->version, sizeof hello->version) >= 0 &&
                 get_name(raw, 2, hello->role, sizeof hello->role) &&
                 get_integer(raw, 3, &hello->time) && get_integer(raw, 4, &hello->abstains) &&
                 get_integer(raw, 5, &hello->max_ttl_ms) && get_integer(raw, 6, &hello->uptime_s) &&
                 get_integer(raw, 7, &aof) &&
                 get_text(raw, 8, hello->eviction, sizeof hello->eviction) >= 0 &&
                 get_integer(raw, 9, &hello->clock) && get_integer(raw, 10, &hello->age);
    if (!whole)
        return false;
    hello->aof = aof != 0;
    reply->hello = hello;
    return answer(reply, ANSWER_HELLO);
}

/* A node of a cluster runs no script on a name that is another one's. */
static bool is_of_cluster(const struct raw_reply *raw)
{
    return is_lone(raw, FIELD_ERROR) && (starts_with(raw->fields[0].text, "MOVED ") ||
                                         starts_with(raw->fields[0].text, "CLUSTERDOWN"));
}

static bool read_cluster(struct hello *hello, struct reply *reply)
{
    *hello = (struct hello){.role = "cluster"};
    reply->hello = hello;
    return answer(reply, ANSWER_HELLO);
}

static bool read_agree(const struct raw_reply *raw, struct reply *reply)
{
    if (!is_lone(raw, FIELD_STRING))
        return false;
    reply->lists = (struct slice){raw->fields[0].text, raw->fields[0].length};
    return answer(reply, ANSWER_YES);
}

static bool read_acquire(const struct raw_reply *raw, struct reply *reply)
{
    const struct field *field = &raw->fields[0];
    if (is_lone(raw, FIELD_STATUS) && strcmp(field->text, "OK") == 0)
        return answer(reply, ANSWER_YES);
    if (is_lone(raw, FIELD_INTEGER) && field->integer == 1)
        return answer(reply, ANSWER_YES);
    if (is_lone(raw, FIELD_NIL) || (is_lone(raw, FIELD_INTEGER) && field->integer == -1))
        return answer(reply, ANSWER_HELD);
    return false;
}

/* {1, 0 or -1, logical clock} */
static bool read_clocked(const struct raw_reply *raw, bool may_be_absent, struct reply *reply)
{
    const struct field *state = &raw->fields[0];
    if (!raw->is_array || raw->count != 2 || state->kind != FIELD_INTEGER ||
        !get_integer(raw, 1, &reply->clock) || reply->clock == 0)
        return false;
    if (state->integer == 0 && may_be_absent)
        return answer(reply, ANSWER_ABSENT);
    if (state->integer == 1)
        return answer(reply, ANSWER_YES);
    return state->integer == -1 && answer(reply, ANSWER_HELD);
}

/* -1: none */
static bool get_slot(const struct raw_reply *raw, unsigned index, int16_t *slot)
{
    const struct field *field = &raw->fields[index];
    if (field->kind != FIELD_INTEGER || field->integer < -1 || field->integer >= PERMITS_MOST)
        return false;
    *slot = (int16_t)field->integer;
    return true;
}

static bool read_other_slots(const struct raw_reply *raw, unsigned at, struct slots_reply *slots)
{
    return get_slot(raw, at, &slots->free_slot) && get_slot(raw, at + 1, &slots->next_slot);
}

/* A grant without a fence tells no clock. */
static bool read_grant(const struct raw_reply *raw, struct reply *reply)
{
    if (is_lone(raw, FIELD_INTEGER) && raw->fields[0].integer == 1)
        return answer(reply, ANSWER_YES);
    return read_clocked(raw, false, reply);
}

static bool read_raise(const struct raw_reply *raw, struct reply *reply)
{
    return read_clocked(raw, true, reply);
}

/* 1 or {1, logical clock}, 2 others read a name, 0, -1 */
static bool read_upgrade(const struct raw_reply *raw, struct reply *reply)
{
    if (raw->is_array)
        return read_clocked(raw, false, reply) && reply->answer == ANSWER_YES;
    if (is_lone(raw, FIELD_INTEGER) && raw->fields[0].integer == 2)
        return answer(reply, ANSWER_READ);
    return read_outcome(&raw->fields[0], reply);
}

static bool read_release(const struct raw_reply *raw, struct reply *reply)
{
    return !raw->is_array && read_outcome(&raw->fields[0], reply);
}

static bool read_late(const struct raw_reply *raw, struct reply *reply)
{
    const struct field *word = &raw->fields[0];
    if (raw->count != 2 || word->kind != FIELD_STRING || strcmp(word->text, "late") != 0 ||
        !get_integer(raw, 1, &reply->master_time))
        return false;
    return answer(reply, ANSWER_LATE);
}

static bool read_renew(const struct raw_reply *raw, struct reply *reply)
{
    if (raw->is_array)
        return read_late(raw, reply);
    return read_outcome(&raw->fields[0], reply);
}

/* How many there are, and the tokens of the first ones. */
static bool read_crowd(const struct raw_reply *raw, unsigned at, unsigned *number,
                       struct slice *tokens)
{
    const struct field *count = &raw->fields[at], *text = &raw->fields[at + 1];
    if (count->kind != FIELD_INTEGER || count->integer < 0 || count->integer > INT32_MAX ||
        text->kind != FIELD_STRING)
        return false;
    *number = (unsigned)count->integer;
    *tokens = (struct slice){text->text, text->length};
    return true;
}

static bool read_waiters(const struct raw_reply *raw, struct peek_reply *peek)
{
    return read_crowd(raw, 2, &peek->waiting, &peek->waiters);
}

static bool read_readers(const struct raw_reply *raw, struct peek_reply *peek)
{
    return read_crowd(raw, 4, &peek->reading, &peek->readers);
}

static bool read_permits(const struct raw_reply *raw, struct peek_reply *peek)
{
    const struct field *count = &raw->fields[6];
    if (!is_text(raw, 0, PERMITS) || count->kind != FIELD_INTEGER || count->integer < 1 ||
        count->integer > PERMITS_MOST)
        return false;
    peek->permits = (uint16_t)count->integer;
    return true;
}

/* {value, PTTL, number of waiters, tokens of the first ones}.  If the name is shared, then the
 * number of readers and the tokens of the first ones.  If permits of it are out, these of their
 * holders, and the number of permits. */
static bool read_peek(const struct raw_reply *raw, struct reply *reply)
{
    if (is_lone(raw, FIELD_NIL))
        return answer(reply, ANSWER_ABSENT);
    const struct field *value = &raw->fields[0];
    struct peek_reply *peek = &reply->peek;
    if (!raw->is_array || raw->count < 4 || raw->count == 5 || raw->count > 7 ||
        value->kind != FIELD_STRING || !get_remaining(&raw->fields[1], &peek->remaining_ms) ||
        !read_waiters(raw, peek) || (raw->count >= 6 && !read_readers(raw, peek)) ||
        (raw->count == 7 && !read_permits(raw, peek)))
        return false;
    peek->value = (struct slice){value->text, value->length};
    return answer(reply, ANSWER_HELD);
}

/* {1 or 2, logical clock}: the names are ours.
 * {0, logical clock, PTTL, position, whether the holder is of another library}: not ours yet.
 * Of a slot, then a free slot, and the slot whose first waiter came later. */
static bool read_queue(const struct raw_reply *raw, struct reply *reply)
{
    int64_t state, position, foreign;
    if (!raw->is_array || raw->fields[0].kind != FIELD_INTEGER || !get_integer(raw, 0, &state) ||
        state > 2 || (state ? raw->count != 2 : raw->count != 5 && raw->count != 7) ||
        !get_integer(raw, 1, &reply->clock) || reply->clock == 0)
        return false;
    if (state)
        return answer(reply, state == 1 ? ANSWER_YES : ANSWER_AHEAD);
    if (!get_remaining(&raw->fields[2], &reply->queue.remaining_ms) ||
        !get_integer(raw, 3, &position) || position > UINT_MAX || !get_integer(raw, 4, &foreign) ||
        foreign > 1 || (raw->count == 7 && !read_other_slots(raw, 5, &reply->queue.slots)))
        return false;
    reply->queue.position = (unsigned)position;
    reply->queue.foreign = foreign != 0;
    return answer(reply, ANSWER_QUEUED);
}

static bool read_error(const char *text, struct reply *reply)
{
    reply->text = (struct slice){text, strlen(text)};
    if (request_has_script(reply->tag.kind) && starts_with(text, "NOSCRIPT"))
        return answer(reply, ANSWER_NOSCRIPT);
    if (request_is_about_names(reply->tag.kind) && starts_with(text, "NOCLOCK"))
        return answer(reply, ANSWER_NO_CLOCK);
    return answer(reply, ANSWER_ERROR);
}

bool reply_read(const struct raw_reply *raw, const struct tag *tag, const struct login_state *login,
                struct hello *hello, struct reply *reply)
{
    reply_begin(reply, tag);
    if (tag->kind == REQUEST_HELLO && login->failed)
        return read_error(login->why, reply);
    if (tag->kind == REQUEST_HELLO && is_of_cluster(raw))
        return read_cluster(hello, reply);
    if (is_lone(raw, FIELD_ERROR))
        return read_error(raw->fields[0].text, reply);
    if (raw->is_array && raw->count == 1 && request_may_batch(tag->kind))
        return reply_read_each(raw, 0, 1, tag, reply);
    switch (tag->kind) {
    case REQUEST_HELLO:
    case REQUEST_ADOPT:
        return read_hello(raw, login, hello, reply);
    case REQUEST_KILL:
        return is_lone(raw, FIELD_INTEGER) && answer(reply, ANSWER_YES);
    case REQUEST_AGREE:
        return read_agree(raw, reply);
#define READ_KIND(kind, name, ...)                                                                 \
    case REQUEST_##kind:                                                                           \
        return read_##name(raw, reply);
        CLAIM_REQUESTS(READ_KIND)
#undef READ_KIND
#define READ_TASK(kind, name) case REQUEST_##kind:
        TASK_REQUESTS(READ_TASK)
#undef READ_TASK
        return task_reply_read(raw, reply);
    }
    return false;
}

/* ---- One of several ---- */

/* 1 to 4 digits */
static bool get_slot_digits(const char *text, const char *end, int16_t *slot)
{
    size_t length = (size_t)(end - text);
    if (length == 0 || length > 4 || strspn(text, "0123456789") != length)
        return false;
    *slot = (int16_t)strtol(text, NULL, 10);
    return *slot < PERMITS_MOST;
}

/* "<logical clock> <slot to stand in>", and " <free slot>" if there is one: a slot is refused. */
static bool read_refused_slot(const struct field *field, struct reply *reply)
{
    struct slots_reply *slots = &reply->grant;
    const char *end = field->text + field->length;
    const char *line = memchr(field->text, ' ', field->length);
    if (!line || !get_digits(field->text, (size_t)(line - field->text), &reply->clock))
        return false;
    const char *other = memchr(line + 1, ' ', (size_t)(end - line - 1));
    return get_slot_digits(line + 1, other ? other : end, &slots->next_slot) &&
           (!other || get_slot_digits(other + 1, end, &slots->free_slot)) &&
           answer(reply, ANSWER_HELD);
}

/* The logical clock, below zero if it was refused; 0: granted without a fence. */
static bool read_grant_of_each(const struct raw_reply *raw, unsigned index, struct reply *reply)
{
    const struct field *field = &raw->fields[index];
    if (field->kind == FIELD_STRING)
        return read_refused_slot(field, reply);
    if (field->kind != FIELD_INTEGER || field->integer < -INTEGER_MAX ||
        field->integer > INTEGER_MAX)
        return false;
    reply->clock = llabs(field->integer);
    return answer(reply, field->integer < 0 ? ANSWER_HELD : ANSWER_YES);
}

/* A string is the master's time: the renewal came too late. */
static bool read_renew_of_each(const struct raw_reply *raw, unsigned index, struct reply *reply)
{
    if (raw->fields[index].kind == FIELD_STRING)
        return get_integer(raw, index, &reply->master_time) && answer(reply, ANSWER_LATE);
    return read_outcome(&raw->fields[index], reply);
}

static bool read_release_of_each(const struct raw_reply *raw, unsigned index, struct reply *reply)
{
    return read_outcome(&raw->fields[index], reply);
}

static bool read_one(const struct raw_reply *raw, unsigned index, struct reply *reply)
{
    switch ((unsigned)reply->tag.kind) {
#define READ_ONE(kind, name, token, takes, sets, clock, batch, modes, slot)                        \
    REQUEST_IF_##batch(case REQUEST_##kind : return read_##name##_of_each(raw, index, reply);)
        CLAIM_REQUESTS(READ_ONE)
#undef READ_ONE
    }
    return false;
}

bool reply_read_each(const struct raw_reply *raw, unsigned index, unsigned count,
                     const struct tag *tag, struct reply *reply)
{
    reply_begin(reply, tag);
    if (is_lone(raw, FIELD_ERROR)) {
        read_error(raw->fields[0].text, reply);
        return answer(reply, ANSWER_NOSCRIPT);
    }
    if (!raw->is_array || raw->count != count)
        return false;
    const struct field *field = &raw->fields[index];
    if (field->kind == FIELD_ERROR)
        return read_error(field->text, reply);
    return read_one(raw, index, reply);
}

/* ---- What comes on a subscription ---- */

/* {"pong", ""}; an error, to a user who may not ask, is an answer as well */
bool reply_is_alive(const struct raw_reply *raw)
{
    if (is_lone(raw, FIELD_ERROR))
        return true;
    return raw->is_array && raw->count == 2 && is_text(raw, 0, "pong") && is_text(raw, 1, "");
}

/* "slot <j>" */
static bool read_hint(const char *text, size_t length, struct push *push)
{
    static const char word[] = "slot ";
    const size_t before = sizeof word - 1;
    int16_t slot;
    if (length <= before || memcmp(text, word, before) != 0 ||
        !get_slot_digits(text + before, text + length, &slot))
        return false;
    push->clock = 0;
    push->free_slot = slot;
    return true;
}

/* "<token> <logical clock>", "<token> slot <j>" */
static bool read_given(const char *text, const char *end, struct push *push)
{
    const char *space = memchr(text, ' ', (size_t)(end - text));
    if (!space || space == text || space - text > TOKEN_MAX)
        return false;
    push->token = (struct slice){text, (size_t)(space - text)};
    push->free_slot = -1;
    size_t left = (size_t)(end - space - 1);
    return get_digits(space + 1, left, &push->clock) || read_hint(space + 1, left, push);
}

bool reply_read_push(const struct raw_reply *raw, const char *channel, struct push *push)
{
    if (!raw->is_array || raw->count != 3 || !is_text(raw, 0, "message") ||
        !is_text(raw, 1, channel) || !is_whole_string(&raw->fields[2]))
        return false;
    const char *text = raw->fields[2].text, *end = text + raw->fields[2].length;
    *push = (struct push){.free_slot = -1};
    return read_given(text, end, push) || said_read_push(text, end, push);
}
