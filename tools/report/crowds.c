#include "crowds.h"

#include <string.h>

const redlock_look_options look_at_all = {
    .size = sizeof look_at_all, .tokens = REDLOCK_TOKENS_TOLD_MAX, .all_answers = true};

/* ---- As an event ---- */

void look_as_event(const redlock_look_result *result, struct seen *seen)
{
    seen->event = (redlock_event){.code = result->code,
                                  .masters = result->masters,
                                  .quorum = result->quorum,
                                  .spare = result->spare,
                                  .granted = result->agreed,
                                  .elapsed_ms = result->elapsed_ms,
                                  .votes = seen->each,
                                  .text = result->text};
    for (unsigned i = 0; i < result->masters; i++) {
        const redlock_view *view = result->views[i];
        seen->votes[i] = (redlock_vote){.node = view->node,
                                        .kind = view->kind,
                                        .holder = view->holder,
                                        .remaining_ms = view->remaining_ms,
                                        .text = view->text};
        seen->each[i] = &seen->votes[i];
    }
}

unsigned look_holdings(const redlock_look_result *result,
                       struct holding holdings[REDLOCK_MASTERS_MAX])
{
    struct seen seen;
    look_as_event(result, &seen);
    return votes_holdings(&seen.event, holdings);
}

/* ---- Those who read, or wait ---- */

/* The most that a master names: readers come and go on one master after the other. */
redlock_crowd look_readers(const redlock_look_result *result)
{
    redlock_crowd readers = {0};
    for (unsigned i = 0; i < result->masters; i++)
        if (result->views[i]->readers.count > readers.count)
            readers = result->views[i]->readers;
    return readers;
}

static bool are_same(const redlock_crowd *one, const redlock_crowd *other)
{
    if (one->told != other->told)
        return false;
    for (size_t i = 0; i < one->told; i++)
        if (strcmp(one->tokens[i], other->tokens[i]) != 0)
            return false;
    return true;
}

static unsigned count_same_line(const redlock_look_result *result, const redlock_crowd *waiters)
{
    unsigned same = 0;
    for (unsigned i = 0; i < result->masters; i++)
        same += result->views[i]->kind == REDLOCK_VOTE_HELD &&
                are_same(&result->views[i]->waiters, waiters);
    return same;
}

/* Waiters join a queue, and leave it, on one master after the other. */
redlock_crowd look_waiters(const redlock_look_result *result)
{
    redlock_crowd waiters = {0};
    unsigned best = 0;
    for (unsigned i = 0; i < result->masters; i++) {
        const redlock_view *view = result->views[i];
        unsigned same =
            view->kind == REDLOCK_VOTE_HELD ? count_same_line(result, &view->waiters) : 0;
        if (same > best) {
            best = same;
            waiters = view->waiters;
        }
    }
    return waiters;
}

/* ---- A token without its label ---- */

bool crowd_names(const redlock_crowd *crowd, const char *token)
{
    for (size_t i = 0; i < crowd->told; i++)
        if (strcmp(crowd->tokens[i], token) == 0)
            return true;
    return false;
}

static const char *find(const redlock_crowd *crowd, const char *token)
{
    size_t bare = strlen(token);
    for (size_t i = 0; i < crowd->told; i++) {
        const char *value = crowd->tokens[i];
        if (strncmp(value, token, bare) == 0 && (!value[bare] || value[bare] == ':'))
            return value;
    }
    return NULL;
}

const char *view_find_member(const redlock_view *view, const char *token)
{
    const char *reader = find(&view->readers, token);
    return reader ? reader : find(&view->permits_out, token);
}

const char *look_find_member(const redlock_look_result *result, const char *token)
{
    const char *value = NULL;
    for (unsigned i = 0; i < result->masters && !value; i++)
        value = view_find_member(result->views[i], token);
    return value;
}

const char *look_value_of(const redlock_look_result *result, const char *token)
{
    struct holding holdings[REDLOCK_MASTERS_MAX];
    unsigned count = look_holdings(result, holdings);
    for (unsigned i = 0; i < count; i++) {
        const char *value = holdings[i].holder;
        if (value && holder_split(value).token_length == strlen(token) &&
            strncmp(value, token, strlen(token)) == 0)
            return value;
    }
    return look_find_member(result, token);
}

void who_show(struct text *out, const char *token)
{
    const char *label = holder_split(token).label;
    const char *shown = label ? label : token;
    text_shown(out, shown, strlen(shown));
}
