#include "readers.h"

#include <string.h>

/* The most that a master names: readers come and go on one master after the other. */
struct waiters votes_readers(const redlock_event *event)
{
    struct waiters readers = {.tokens = ""};
    for (unsigned i = 0; i < event->masters; i++) {
        const redlock_vote *vote = &event->votes[i];
        if (vote->kind == REDLOCK_VOTE_HELD && !vote->permits && vote->readers > readers.count)
            readers = (struct waiters){vote->readers, vote->reader_tokens};
    }
    return readers;
}

/* ---- A token without its label ---- */

struct search {
    const char *token;
    struct text *value;
};

static void compare(void *data, const char *token, size_t length)
{
    struct search *search = data;
    size_t bare = strlen(search->token);
    bool is_it = length >= bare && memcmp(token, search->token, bare) == 0 &&
                 (length == bare || token[bare] == ':');
    if (is_it && search->value->length == 0)
        text_add(search->value, token, length);
}

bool votes_find_reader(const redlock_event *event, const char *token, struct text *value)
{
    struct search search = {token, value};
    for (unsigned i = 0; i < event->masters && value->length == 0; i++) {
        const redlock_vote *vote = &event->votes[i];
        if (vote->kind == REDLOCK_VOTE_HELD)
            waiters_each(&(struct waiters){vote->readers, vote->reader_tokens}, compare, &search);
    }
    return value->length > 0;
}

void who_show(struct text *out, const char *token, size_t length)
{
    struct text value = {0};
    text_add(&value, token, length);
    const char *label = holder_split(value.bytes).label;
    text_shown(out, label ? label : value.bytes, strlen(label ? label : value.bytes));
    text_free(&value);
}
