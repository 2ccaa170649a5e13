/*
 * answers.h - what replies of several kinds have in common.
 */
#ifndef REDLOCK_WIRE_ANSWERS_H
#define REDLOCK_WIRE_ANSWERS_H

#include "fields.h"

static inline bool answer(struct reply *reply, enum answer answer)
{
    reply->answer = answer;
    return true;
}

/* 1, 2, 0 or -1: how it went with a lease, or with what is said. */
static inline bool read_outcome(const struct field *field, struct reply *reply)
{
    if (field->kind != FIELD_INTEGER)
        return false;
    switch (field->integer) {
    case 1:
        return answer(reply, ANSWER_YES);
    case 2:
        return reply->tag.kind == REQUEST_RENEW && answer(reply, ANSWER_HEALED);
    case 0:
        return answer(reply, ANSWER_ABSENT);
    case -1:
        return answer(reply, ANSWER_HELD);
    default:
        return false;
    }
}

/* PTTL is -1 for a key that never expires, -2 for one that is gone.  Any client may have set the
 * key, to expire at any time. */
static inline bool get_remaining(const struct field *pttl, int64_t *remaining)
{
    if (pttl->kind != FIELD_INTEGER || pttl->integer < -2)
        return false;
    *remaining = pttl->integer == -1 ? -2 : pttl->integer == -2 ? -1 : pttl->integer;
    if (*remaining > LEFT_MOST)
        *remaining = LEFT_MOST;
    return true;
}

#endif
