#include "answer_writer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "exchange.h"

#define REFUSED_WHOLE 500 /* per mille of the errors to all of a batch */

/* ---- RESP ----------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void put(struct buffer *to, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    buffer_append(to, text, (size_t)length);
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

void answer_write_text(struct buffer *to, const char *text)
{
    put(to, "$%zu\r\n%s\r\n", strlen(text), text);
}

void answer_write_array(struct buffer *to, unsigned count)
{
    put(to, "*%u\r\n", count);
}

static void put_nil(struct buffer *to)
{
    put(to, "$-1\r\n");
}

static void put_error(struct buffer *to, const struct model_answer *answer)
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

#define RECORD_MAX (TOKEN_MAX + 128)

/* ---- what can be said ------------------------------------------------------------------- */

static bool is_error(enum answer answer)
{
    return answer == ANSWER_ERROR || answer == ANSWER_NOSCRIPT || answer == ANSWER_NO_CLOCK;
}

static bool tells_clock(const struct model_call *call, enum answer answer)
{
    return call->kind == REQUEST_RAISE || call->kind == REQUEST_QUEUE ||
           (call->kind == REQUEST_GRANT && answer == ANSWER_HELD);
}

static void settle_one(const struct model_call *call, struct model_answer *answer)
{
    if (is_error(answer->answer))
        return;
    if (tells_clock(call, answer->answer) && answer->clock <= 0)
        *answer = (struct model_answer){.answer = ANSWER_ERROR, .error = "ERR whatever"};
    if (answer->answer == ANSWER_QUEUED && answer->remaining_ms < -2)
        answer->remaining_ms = -2;
}

static bool all_answer(const struct message *message, enum answer answer)
{
    for (; message; message = message->shares)
        if (message->answer.answer != answer)
            return false;
    return true;
}

/* As a server that is loading refuses a command, before any script runs. */
static void refuse_whole(struct message *message)
{
    const char *error = message->answer.error;
    for (; message; message = message->shares)
        message->answer = (struct model_answer){.answer = ANSWER_NOSCRIPT, .error = error};
}

void answer_settle(struct message *message, struct chance *chance)
{
    for (struct message *each = message; each; each = each->shares)
        settle_one(&each->call, &each->answer);
    if (message->shares && all_answer(message, ANSWER_ERROR) &&
        chance_permille(chance, REFUSED_WHOLE))
        refuse_whole(message);
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

static void put_peek(struct buffer *to, const struct model_answer *answer, const char *value)
{
    if (answer->answer == ANSWER_ABSENT) {
        put_nil(to);
        return;
    }
    bool has_slots = answer->value == MODEL_SLOTS_OUT;
    bool is_shared = answer->value == MODEL_MARK || has_slots;
    answer_write_array(to, has_slots ? 7 : is_shared ? 6 : 4);
    answer_write_text(to, value);
    answer_write_integer(to, answer->remaining_ms);
    answer_write_integer(to, 0);
    answer_write_text(to, "");
    if (is_shared) {
        answer_write_integer(to, answer->readers);
        answer_write_text(to, "");
    }
    if (has_slots)
        answer_write_integer(to, answer->permits);
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

static void spell_record(char *text, size_t size, const struct said *said)
{
    snprintf(text, size, "%lld %lld %.*s %.*s", (long long)said->term, (long long)said->number,
             (int)said->token.length, said->token.bytes, (int)said->value.length,
             said->value.bytes);
}

static void put_said(struct buffer *to, const struct reply *reply)
{
    char record[RECORD_MAX];
    if (reply->answer == ANSWER_ABSENT) {
        put_nil(to);
        return;
    }
    spell_record(record, sizeof record, &reply->said);
    answer_write_array(to, 2);
    answer_write_text(to, record);
    answer_write_integer(to, reply->said.remaining_ms);
}

static void put_stand(struct buffer *to, const struct world *w, const struct model_answer *answer)
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
        answer_write_text(to, exchange_spell_parties(w, answer));
}

static void put_latch(struct buffer *to, const struct reply *reply)
{
    char id[TOKEN_MAX + 1];
    if (reply->answer == ANSWER_ABSENT) {
        answer_write_integer(to, 0);
        return;
    }
    snprintf(id, sizeof id, "%.*s", (int)reply->latch.id.length, reply->latch.id.bytes);
    answer_write_array(to, 7);
    answer_write_integer(to, reply->answer == ANSWER_OPEN);
    answer_write_text(to, id);
    answer_write_integer(to, reply->latch.arrivals);
    answer_write_integer(to, reply->latch.ends_ms);
    answer_write_integer(to, reply->latch.remaining_ms);
    answer_write_integer(to, reply->latch.age / 1000);
    answer_write_text(to, reply->latch.arrived.bytes);
}

static void put_one(struct buffer *to, const struct world *w, const struct message *message)
{
    const struct model_answer *answer = &message->answer;
    struct hello hello;
    struct reply reply;
    exchange_read(w, message, &(struct tag){.kind = message->call.kind}, &hello, &reply);
    switch (message->call.kind) {
    case REQUEST_ACQUIRE:
        put_acquire(to, &message->call, answer->answer);
        break;
    case REQUEST_GRANT:
        put_grant(to, answer);
        break;
    case REQUEST_RAISE:
        put_clocked(to, outcome(answer->answer), answer->clock);
        break;
    case REQUEST_QUEUE:
        put_queue(to, answer, reply.tag.kind == REQUEST_QUEUE && reply.queue.foreign);
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
        put_peek(to, answer, reply.peek.value.bytes);
        break;
    case REQUEST_HELLO:
    case REQUEST_ADOPT:
        put_hello(to, &hello);
        break;
    case REQUEST_KILL:
        answer_write_integer(to, 1);
        break;
    case REQUEST_AGREE:
        answer_write_text(to, "");
        break;
    case REQUEST_ANNOUNCE:
    case REQUEST_UNSAY:
    case REQUEST_DROP:
        answer_write_integer(to, outcome(answer->answer));
        break;
    case REQUEST_OBSERVE:
        put_said(to, &reply);
        break;
    case REQUEST_ARRIVE:
    case REQUEST_DEPART:
        put_stand(to, w, answer);
        break;
    case REQUEST_TALLY:
    case REQUEST_MEND:
        put_latch(to, &reply);
        break;
    case REQUEST_SURVEY: /* nobody asks */
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

static void put_one_of_each(struct buffer *to, const struct message *message)
{
    const struct model_answer *answer = &message->answer;
    if (is_error(answer->answer))
        put_error(to, answer);
    else if (answer->answer == ANSWER_HELD && tells_of_slots(answer))
        put_refused_slot(to, answer);
    else if (message->call.kind == REQUEST_GRANT)
        answer_write_integer(to, answer->answer == ANSWER_HELD ? -answer->clock : answer->clock);
    else if (answer->answer == ANSWER_LATE)
        put_time(to, answer->time);
    else
        answer_write_integer(to, outcome(answer->answer));
}

void answer_write(struct buffer *to, const struct world *w, const struct message *message)
{
    unsigned count = 0;
    for (const struct message *each = message; each; each = each->shares)
        count++;
    bool is_error_alone = count == 1 && is_error(message->answer.answer);
    if (count == 1 && !message->call.each && !is_error_alone) {
        put_one(to, w, message);
    } else if (is_error_alone || all_answer(message, ANSWER_NOSCRIPT)) {
        put_error(to, &message->answer);
    } else {
        answer_write_array(to, count);
        for (const struct message *each = message; each; each = each->shares)
            put_one_of_each(to, each);
    }
}

/* ---- notification connections -------------------------------------------------------------- */

static void spell_said(char *text, size_t size, const struct push *push)
{
    char record[RECORD_MAX] = "";
    if (push->said.term)
        spell_record(record, sizeof record, &push->said);
    snprintf(text, size, "said %zu %.*s %lld %s", push->name.length, (int)push->name.length,
             push->name.bytes, (long long)push->said.remaining_ms, record);
}

void answer_write_push(struct buffer *to, const struct shell *s, const char *channel,
                       const struct heard *heard)
{
    char text[2 * RECORD_MAX];
    struct push push;
    const char *token = s->world->tokens[heard->token].text;
    if (heard->says) {
        exchange_spell_push(s, heard, &push);
        spell_said(text, sizeof text, &push);
    } else if (heard->free_slot >= 0)
        snprintf(text, sizeof text, "%s slot %d", token, heard->free_slot);
    else
        snprintf(text, sizeof text, "%s %lld", token, (long long)heard->clock);
    answer_write_array(to, 3);
    answer_write_text(to, "message");
    answer_write_text(to, channel);
    answer_write_text(to, text);
}

void answer_write_info(struct buffer *to, uint64_t run_id)
{
    char text[RUN_ID_TEXT], info[128];
    exchange_spell_run_id(text, run_id);
    snprintf(info, sizeof info,
             "# Server\r\nredis_version:7.0.15\r\nrun_id:%s\r\ntcp_port:6379\r\n", text);
    answer_write_text(to, info);
}
