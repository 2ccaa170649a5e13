#include "answer_writer.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- RESP ----------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void put(struct buffer *to, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    buffer_append(to, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

void answer_write_status(struct buffer *to, const char *text)
{
    put(to, "+%s\r\n", text);
}

void answer_write_error(struct buffer *to, const char *text)
{
    put(to, "-%s\r\n", text);
}

void answer_write_integer(struct buffer *to, int64_t number)
{
    put(to, ":%lld\r\n", (long long)number);
}

void answer_write_slice(struct buffer *to, struct slice text)
{
    put(to, "$%zu\r\n", text.length);
    if (text.length)
        buffer_append(to, text.bytes, text.length);
    buffer_append(to, "\r\n", 2);
}

void answer_write_text(struct buffer *to, const char *text)
{
    answer_write_slice(to, slice_of(text));
}

void answer_write_array(struct buffer *to, unsigned count)
{
    put(to, "*%u\r\n", count);
}

static void put_nil(struct buffer *to)
{
    put(to, "$-1\r\n");
}

void answer_write_refusal(struct buffer *to, const struct model_answer *answer)
{
    static const char *const texts[] = {[ANSWER_NOSCRIPT] =
                                            "NOSCRIPT No matching script. Please use EVAL.",
                                        [ANSWER_NO_CLOCK] = "NOCLOCK redlock:clock is gone"};
    answer_write_error(to, answer->error ? answer->error : texts[answer->answer]);
}

/* As the scripts write times: the digits of a number that Lua has no integer for. */
static void put_time(struct buffer *to, usec time)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)time);
    answer_write_text(to, text);
}

bool answer_is_error(enum answer answer)
{
    return answer == ANSWER_ERROR || answer == ANSWER_NOSCRIPT || answer == ANSWER_NO_CLOCK;
}

bool answer_tells_clock(const struct model_call *call, enum answer answer)
{
    return call->kind == REQUEST_RAISE || call->kind == REQUEST_QUEUE ||
           (call->kind == REQUEST_GRANT && answer == ANSWER_HELD);
}

/* ---- each kind ---------------------------------------------------------------------------- */

/* The outcomes of a release, a renewal, an upgrade. */
static int outcome(enum answer answer)
{
    return answer == ANSWER_YES      ? 1
           : answer == ANSWER_HEALED ? 2
           : answer == ANSWER_READ   ? 2
           : answer == ANSWER_ABSENT ? 0
                                     : -1;
}

static void put_clocked(struct buffer *to, int state, usec clock)
{
    answer_write_array(to, 2);
    answer_write_integer(to, state);
    answer_write_integer(to, clock);
}

static void put_acquire(struct buffer *to, const struct model_call *call, enum answer answer)
{
    if (call->count > 1)
        answer_write_integer(to, answer == ANSWER_YES ? 1 : -1);
    else if (answer == ANSWER_YES)
        answer_write_status(to, "OK");
    else
        put_nil(to);
}

static bool tells_of_slots(const struct model_answer *answer)
{
    return answer->free_slot >= 0 || answer->next_slot >= 0;
}

static void put_grant(struct buffer *to, const struct model_answer *answer)
{
    if (answer->answer == ANSWER_YES && !answer->clock)
        answer_write_integer(to, 1);
    else
        put_clocked(to, outcome(answer->answer), answer->clock);
}

static void put_renew(struct buffer *to, const struct model_answer *answer)
{
    if (answer->answer != ANSWER_LATE) {
        answer_write_integer(to, outcome(answer->answer));
        return;
    }
    answer_write_array(to, 2);
    answer_write_text(to, "late");
    put_time(to, answer->time);
}

static void put_queue(struct buffer *to, const struct model_answer *answer, bool foreign)
{
    if (answer->answer != ANSWER_QUEUED) {
        put_clocked(to, answer->answer == ANSWER_YES ? 1 : 2, answer->clock);
        return;
    }
    answer_write_array(to, tells_of_slots(answer) ? 7 : 5);
    answer_write_integer(to, 0);
    answer_write_integer(to, answer->clock);
    answer_write_integer(to, answer->remaining_ms);
    answer_write_integer(to, answer->position);
    answer_write_integer(to, foreign);
    if (tells_of_slots(answer)) {
        answer_write_integer(to, answer->free_slot);
        answer_write_integer(to, answer->next_slot);
    }
}

static void put_peek(struct buffer *to, const struct model_answer *answer,
                     const struct peek_reply *spelled)
{
    if (answer->answer == ANSWER_ABSENT) {
        put_nil(to);
        return;
    }
    bool has_slots = answer->value == MODEL_SLOTS_OUT;
    bool is_shared = answer->value == MODEL_MARK || has_slots;
    answer_write_array(to, has_slots ? 7 : is_shared ? 6 : 4);
    answer_write_slice(to, spelled->value);
    answer_write_integer(to, answer->remaining_ms);
    answer_write_integer(to, spelled->waiting);
    answer_write_slice(to, spelled->waiters);
    if (is_shared) {
        answer_write_integer(to, answer->readers);
        answer_write_slice(to, spelled->readers);
    }
    if (has_slots)
        answer_write_integer(to, answer->permits);
}

static void put_heed(struct buffer *to, const struct model_answer *answer, struct slice value)
{
    if (answer->answer == ANSWER_ABSENT) {
        put_nil(to);
        return;
    }
    answer_write_array(to, 4);
    answer_write_slice(to, value);
    answer_write_integer(to, answer->remaining_ms);
    answer_write_integer(to, answer->position);
    answer_write_integer(to, answer->counted);
}

static void put_upgrade(struct buffer *to, const struct model_answer *answer)
{
    if (answer->answer == ANSWER_YES && answer->clock)
        put_clocked(to, 1, answer->clock);
    else
        answer_write_integer(to, outcome(answer->answer));
}

static void put_hello(struct buffer *to, const struct hello *hello)
{
    answer_write_array(to, 11);
    answer_write_text(to, hello->run_id);
    answer_write_text(to, hello->version);
    answer_write_text(to, hello->role);
    answer_write_integer(to, hello->time);
    answer_write_integer(to, hello->abstains);
    answer_write_integer(to, hello->max_ttl_ms);
    answer_write_integer(to, hello->uptime_s);
    answer_write_integer(to, hello->aof);
    answer_write_text(to, hello->eviction);
    answer_write_integer(to, hello->clock);
    answer_write_integer(to, hello->age);
}

/* "term number token value" */
static void put_record(struct buffer *to, const struct said *said)
{
    put(to, "%lld %lld ", (long long)said->term, (long long)said->number);
    buffer_append(to, said->token.bytes, said->token.length);
    buffer_append(to, " ", 1);
    buffer_append(to, said->value.bytes, said->value.length);
}

static void put_buffer(struct buffer *to, struct buffer *text)
{
    answer_write_slice(to, (struct slice){text->data ? text->data : "", text->length});
    to->failed |= text->failed;
    buffer_free(text);
}

static void put_said(struct buffer *to, const struct reply *reply)
{
    struct buffer record = {0};
    if (reply->answer == ANSWER_ABSENT) {
        put_nil(to);
        return;
    }
    put_record(&record, &reply->said);
    answer_write_array(to, 2);
    put_buffer(to, &record);
    answer_write_integer(to, reply->said.remaining_ms);
}

static void put_stand(struct buffer *to, const struct model_answer *answer, struct slice tokens)
{
    answer_write_array(to, 4);
    bool is_over = answer->answer == ANSWER_OVER;
    answer_write_integer(to, is_over                         ? 3
                             : answer->answer == ANSWER_YES  ? 2
                             : answer->answer == ANSWER_OPEN ? 1
                             : answer->answer == ANSWER_HELD ? -1
                                                             : 0);
    answer_write_integer(to, answer->parties);
    answer_write_integer(to, answer->counted);
    if (is_over)
        answer_write_integer(to, answer->latest);
    else
        answer_write_slice(to, tokens);
}

static void put_latch(struct buffer *to, const struct reply *reply)
{
    if (reply->answer == ANSWER_ABSENT) {
        answer_write_integer(to, 0);
        return;
    }
    answer_write_array(to, 7);
    answer_write_integer(to, reply->answer == ANSWER_OPEN);
    answer_write_slice(to, reply->latch.id);
    answer_write_integer(to, reply->latch.arrivals);
    answer_write_integer(to, reply->latch.ends_ms);
    answer_write_integer(to, reply->latch.remaining_ms);
    answer_write_integer(to, reply->latch.age / 1000);
    answer_write_slice(to, reply->latch.arrived);
}

void answer_write_one(struct buffer *to, const struct model_call *call,
                      const struct model_answer *answer, const struct reply *spelled)
{
    switch (call->kind) {
    case REQUEST_ACQUIRE:
        put_acquire(to, call, answer->answer);
        break;
    case REQUEST_GRANT:
        put_grant(to, answer);
        break;
    case REQUEST_RAISE:
        put_clocked(to, outcome(answer->answer), answer->clock);
        break;
    case REQUEST_QUEUE:
        put_queue(to, answer, spelled->queue.foreign);
        break;
    case REQUEST_RENEW:
        put_renew(to, answer);
        break;
    case REQUEST_UPGRADE:
        put_upgrade(to, answer);
        break;
    case REQUEST_RELEASE:
        answer_write_integer(to, outcome(answer->answer));
        break;
    case REQUEST_PEEK:
        put_peek(to, answer, &spelled->peek);
        break;
    case REQUEST_HELLO:
    case REQUEST_ADOPT:
        put_hello(to, spelled->hello);
        break;
    case REQUEST_KILL:
        answer_write_integer(to, 1);
        break;
    case REQUEST_AGREE: /* it remembers no lists here */
        answer_write_text(to, "");
        break;
    case REQUEST_ANNOUNCE:
    case REQUEST_UNSAY:
    case REQUEST_DROP:
        answer_write_integer(to, outcome(answer->answer));
        break;
    case REQUEST_OBSERVE:
        put_said(to, spelled);
        break;
    case REQUEST_ARRIVE:
    case REQUEST_DEPART:
        put_stand(to, answer, spelled->barrier.tokens);
        break;
    case REQUEST_TALLY:
    case REQUEST_MEND:
        put_latch(to, spelled);
        break;
    case REQUEST_ASK:
        put_heed(to, answer, spelled->heed.value);
        break;
    case REQUEST_SURVEY: /* the model has no words for it */
        break;
    }
}

static void put_refused_slot(struct buffer *to, const struct model_answer *answer)
{
    char text[64];
    int length =
        snprintf(text, sizeof text, "%lld %d", (long long)answer->clock, answer->next_slot);
    if (answer->free_slot >= 0)
        snprintf(text + length, sizeof text - (size_t)length, " %d", answer->free_slot);
    answer_write_text(to, text);
}

void answer_write_of_each(struct buffer *to, const struct model_call *call,
                          const struct model_answer *answer)
{
    if (answer_is_error(answer->answer))
        answer_write_refusal(to, answer);
    else if (answer->answer == ANSWER_HELD && tells_of_slots(answer))
        put_refused_slot(to, answer);
    else if (call->kind == REQUEST_GRANT)
        answer_write_integer(to, answer->answer == ANSWER_HELD ? -answer->clock : answer->clock);
    else if (answer->answer == ANSWER_LATE)
        put_time(to, answer->time);
    else
        answer_write_integer(to, outcome(answer->answer));
}

/* ---- notification connections -------------------------------------------------------------- */

static void put_announcement(struct buffer *to, const struct push *push)
{
    put(to, "said %zu ", push->name.length);
    buffer_append(to, push->name.bytes, push->name.length);
    put(to, " %lld ", (long long)push->said.remaining_ms);
    if (push->said.term)
        put_record(to, &push->said);
}

static void put_gift(struct buffer *to, const struct push *push)
{
    buffer_append(to, push->token.bytes, push->token.length);
    if (push->free_slot >= 0)
        put(to, " slot %d", push->free_slot);
    else
        put(to, " %lld", (long long)push->clock);
}

void answer_write_push(struct buffer *to, const char *channel, const struct push *push)
{
    struct buffer text = {0};
    if (push->name.bytes)
        put_announcement(&text, push);
    else
        put_gift(&text, push);
    answer_write_array(to, 3);
    answer_write_text(to, "message");
    answer_write_text(to, channel);
    put_buffer(to, &text);
}

void answer_write_info(struct buffer *to, const char *run_id)
{
    char info[128];
    snprintf(info, sizeof info,
             "# Server\r\nredis_version:7.0.15\r\nrun_id:%s\r\ntcp_port:6379\r\n", run_id);
    answer_write_text(to, info);
}
