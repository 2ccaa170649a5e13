#include "task_reply.h"

#include "answers.h"
#include "said.h"

static bool read_announce(const struct raw_reply *raw, struct reply *reply)
{
    return !raw->is_array && read_outcome(&raw->fields[0], reply);
}

static bool read_unsay(const struct raw_reply *raw, struct reply *reply)
{
    return read_announce(raw, reply) && reply->answer != ANSWER_HELD;
}

/* {record, PTTL}, or nil */
static bool read_observe(const struct raw_reply *raw, struct reply *reply)
{
    struct said *said = &reply->said;
    if (is_lone(raw, FIELD_NIL))
        return answer(reply, ANSWER_ABSENT);
    if (!raw->is_array || raw->count != 2 || !is_whole_string(&raw->fields[0]) ||
        !said_read(raw->fields[0].text, raw->fields[0].length, said) ||
        !get_remaining(&raw->fields[1], &said->remaining_ms) || said->remaining_ms < 1)
        return false;
    return answer(reply, ANSWER_YES);
}

/* In place of the tokens the latest generation that was passed. */
static bool read_over(const struct raw_reply *raw, struct reply *reply)
{
    int64_t latest;
    if (!get_integer(raw, 3, &latest) || latest < 0)
        return false;
    reply->barrier.latest = latest;
    return answer(reply, ANSWER_OVER);
}

/* {state, parties, how many are counted, their tokens} */
static bool read_stand(const struct raw_reply *raw, enum answer waits, struct reply *reply)
{
    static const enum answer open[] = {ANSWER_OPEN, ANSWER_YES};
    int64_t parties, counted;
    const struct field *state = &raw->fields[0], *tokens = &raw->fields[3];
    if (!raw->is_array || raw->count != 4 || state->kind != FIELD_INTEGER || state->integer < -1 ||
        state->integer > 3 || !get_integer(raw, 1, &parties) || parties < 1 ||
        parties > PARTIES_MOST || !get_integer(raw, 2, &counted) || counted > INT32_MAX)
        return false;
    reply->barrier.parties = (uint16_t)parties;
    reply->barrier.counted = (unsigned)counted;
    if (state->integer == 3)
        return read_over(raw, reply);
    if (tokens->kind != FIELD_STRING || !is_whole_string(tokens))
        return false;
    reply->barrier.tokens = (struct slice){tokens->text, tokens->length};
    if (state->integer < 0)
        return answer(reply, ANSWER_HELD);
    return answer(reply, state->integer ? open[state->integer - 1] : waits);
}

static bool read_arrive(const struct raw_reply *raw, struct reply *reply)
{
    return read_stand(raw, ANSWER_QUEUED, reply);
}

static bool read_depart(const struct raw_reply *raw, struct reply *reply)
{
    return read_stand(raw, ANSWER_ABSENT, reply);
}

/* As ids are checked where users give them: they are shown on terminals. */
static bool is_id(const struct field *field)
{
    if (field->kind != FIELD_STRING || field->length < 1 || field->length > LATCH_ID_MAX)
        return false;
    for (size_t i = 0; i < field->length; i++)
        if (field->text[i] <= ' ' || field->text[i] > '~')
            return false;
    return true;
}

/* {1 if it is open else 0, id, number that it waits for, end, ms until then, age in ms, names of
 * the arrivals}, or 0 */
static bool read_latch(const struct raw_reply *raw, struct reply *reply)
{
    const struct field *id = &raw->fields[1], *arrived = &raw->fields[6];
    struct latch_reply *latch = &reply->latch;
    int64_t open, arrivals, age_ms;
    if (is_lone(raw, FIELD_INTEGER) && raw->fields[0].integer == 0)
        return answer(reply, ANSWER_ABSENT);
    if (!raw->is_array || raw->count != 7 || !get_integer(raw, 0, &open) || open > 1 ||
        !is_id(id) || !get_integer(raw, 2, &arrivals) || arrivals < 1 || arrivals > LATCH_MOST ||
        !get_integer(raw, 3, &latch->ends_ms) || !get_integer(raw, 4, &latch->remaining_ms) ||
        !get_integer(raw, 5, &age_ms) || !is_whole_string(arrived))
        return false;
    latch->arrivals = (uint16_t)arrivals;
    latch->age = MS(age_ms < LEFT_MOST ? age_ms : LEFT_MOST);
    latch->id = (struct slice){id->text, id->length};
    latch->arrived = (struct slice){arrived->text, arrived->length};
    return answer(reply, open ? ANSWER_OPEN : ANSWER_YES);
}

static bool read_tally(const struct raw_reply *raw, struct reply *reply)
{
    return read_latch(raw, reply);
}

static bool read_mend(const struct raw_reply *raw, struct reply *reply)
{
    return read_latch(raw, reply);
}

static bool read_drop(const struct raw_reply *raw, struct reply *reply)
{
    return read_unsay(raw, reply);
}

static bool is_cursor(const struct field *field)
{
    return is_whole_string(field) && field->length > 0 && field->length <= CURSOR_MAX &&
           strspn(field->text, "0123456789") == field->length;
}

/* Of each name its length, a colon and its bytes. */
static bool are_names(const struct field *field)
{
    const char *at = field->text, *end = at + field->length;
    while (at < end) {
        const char *colon = memchr(at, ':', (size_t)(end - at));
        int64_t length;
        if (!colon || !get_digits(at, (size_t)(colon - at), &length) || length < 1 ||
            length > end - colon - 1)
            return false;
        at = colon + 1 + length;
    }
    return true;
}

/* {cursor, keys that there are, names left out, names} */
static bool read_survey(const struct raw_reply *raw, struct reply *reply)
{
    const struct field *names = &raw->fields[3];
    int64_t left_out;
    if (!raw->is_array || raw->count != 4 || !is_cursor(&raw->fields[0]) ||
        !get_integer(raw, 1, &reply->survey.keys) || !get_integer(raw, 2, &left_out) ||
        left_out > INT32_MAX || !is_whole_string(names) || !are_names(names))
        return false;
    reply->survey.cursor = (struct slice){raw->fields[0].text, raw->fields[0].length};
    reply->survey.left_out = (unsigned)left_out;
    reply->survey.names = (struct slice){names->text, names->length};
    return answer(reply, ANSWER_YES);
}

/* {value, PTTL, number of waiters, number of those who heed}, or nil */
static bool read_ask(const struct raw_reply *raw, struct reply *reply)
{
    const struct field *value = &raw->fields[0];
    struct heed_reply *heed = &reply->heed;
    int64_t waiting, heeding;
    if (is_lone(raw, FIELD_NIL))
        return answer(reply, ANSWER_ABSENT);
    if (!raw->is_array || raw->count != 4 || value->kind != FIELD_STRING ||
        !get_remaining(&raw->fields[1], &heed->remaining_ms) || !get_integer(raw, 2, &waiting) ||
        !get_integer(raw, 3, &heeding) || waiting > INT32_MAX || heeding > INT32_MAX)
        return false;
    heed->value = (struct slice){value->text, value->length};
    heed->waiting = (unsigned)waiting;
    heed->heeding = (unsigned)heeding;
    return answer(reply, ANSWER_HELD);
}

bool task_reply_read(const struct raw_reply *raw, struct reply *reply)
{
    switch ((unsigned)reply->tag.kind) {
#define READ_KIND(kind, name)                                                                      \
    case REQUEST_##kind:                                                                           \
        return read_##name(raw, reply);
        TASK_REQUESTS(READ_KIND)
#undef READ_KIND
    }
    return false;
}
