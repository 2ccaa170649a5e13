/*
 * sync_report.c - an event of the loop, copied for a thread that waits.
 */
#include "sync_report.h"

#include <stdio.h>
#include <string.h>

#include "sized.h"

static void vote_details(const redlock_vote *vote, char *text, size_t size)
{
    const char *holder = vote->holder ? vote->holder : "another";
    long long left = (long long)vote->remaining_ms;
    text[0] = '\0';
    switch (vote->kind) {
    case REDLOCK_VOTE_HELD:
        if (left >= 0)
            snprintf(text, size, " by %s, %lld ms left", holder, left);
        else
            snprintf(text, size, " by %s%s", holder, left == -2 ? ", never expires" : "");
        break;
    case REDLOCK_VOTE_ABSTAINS:
        snprintf(text, size, " for %lld ms more", left);
        break;
    case REDLOCK_VOTE_REFUSED:
    case REDLOCK_VOTE_UNREACHABLE:
        if (vote->text && vote->text[0])
            snprintf(text, size, ": %s", vote->text);
        break;
    default:
        break;
    }
}

static void write_votes(char *text, size_t size, const redlock_event *event)
{
    size_t used = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < event->masters; i++) {
        char details[256], line[512];
        vote_details(event->votes[i], details, sizeof details);
        int length = snprintf(line, sizeof line, "%s %s%s\n", event->votes[i]->node,
                              redlock_vote_name(event->votes[i]->kind), details);
        if (length <= 0 || (size_t)length >= sizeof line || used + (size_t)length >= size)
            continue;
        memcpy(text + used, line, (size_t)length + 1);
        used += (size_t)length;
    }
}

redlock_code sync_report(redlock_sync_result *result, redlock_code code, const char *text)
{
    if (!result)
        return code;
    redlock_sync_result full = {.code = code};
    snprintf(full.text, sizeof full.text, "%s", text);
    sized_give(result, &full);
    return code;
}

redlock_code sync_report_size(redlock_sync_result *result, const struct sized *kind, size_t size)
{
    char why[160];
    snprintf(why, sizeof why, SIZED_COMPLAINT, kind->name, size, kind->sizes[0], kind->name);
    return sync_report(result, REDLOCK_E_ARGUMENT, why);
}

redlock_code sync_report_depth(redlock_sync_result *result, redlock_code code, int64_t valid_ms,
                               const char *text, unsigned depth)
{
    if (!result)
        return code;
    redlock_sync_result full = {.code = code, .valid_ms = valid_ms};
    snprintf(full.text, sizeof full.text, "%s, %u deep", text, depth);
    sized_give(result, &full);
    return code;
}

redlock_code sync_report_event(redlock_sync_result *result, redlock_code code,
                               const redlock_event *event)
{
    if (!result)
        return code;
    redlock_sync_result full = {.code = code,
                                .masters = event->masters,
                                .quorum = event->quorum,
                                .granted = event->granted,
                                .rounds = event->rounds,
                                .valid_ms = event->valid_ms,
                                .elapsed_ms = event->elapsed_ms};
    snprintf(full.text, sizeof full.text, "%s", event->text);
    write_votes(full.votes, sizeof full.votes, event);
    sized_give(result, &full);
    return code;
}

bool sync_report_is_usable(const redlock_sync_result *result)
{
    static const struct sized sized = SIZED(redlock_sync_result, votes);
    return !result || sized_is_known(&sized, result->size);
}
