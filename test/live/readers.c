#include "readers.h"

enum answer renew_for(const char *list, const char *token, bool heal, int64_t ttl)
{
    struct request request = request_of(REQUEST_RENEW, NULL, token);
    request.renew.heal = heal;
    request.ttl_ms = ttl;
    return ask_about(list, request);
}

enum answer renew(const char *list, const char *token)
{
    return renew_for(list, token, false, LIFE);
}

enum answer heal(const char *list, const char *token)
{
    return renew_for(list, token, true, LIFE);
}

enum answer grant_for(const char *list, const char *token, int64_t ttl)
{
    struct request request = request_of(REQUEST_GRANT, NULL, token);
    request.ttl_ms = ttl;
    return ask_about(list, request);
}

enum answer raise_to(const char *list, const char *token, usec fence)
{
    struct request request = request_of(REQUEST_RAISE, NULL, token);
    request.fence = fence;
    return ask_about(list, request);
}

void assert_readers(const char *name, unsigned count)
{
    assert_int_equal(simply(REQUEST_PEEK, name, ""), count ? ANSWER_HELD : ANSWER_ABSENT);
    assert_int_equal(reply.peek.reading, count);
}

void assert_left(const char *key, long long least, long long most)
{
    long long left = ASK_COUNT("PTTL %s", key);
    assert_true(least <= left && left <= most);
}

void asks_each(enum request_kind kind, const char *const *tokens, const enum answer *answers,
               unsigned count, bool heals, usec proposal)
{
    struct names *names = split("~x");
    struct request requests[BATCH_MAX];
    for (unsigned i = 0; i < count; i++) {
        requests[i] = request_of(kind, names, tokens[i]);
        if (kind == REQUEST_RENEW)
            requests[i].renew.heal = heals;
        else if (kind == REQUEST_GRANT)
            requests[i].grant.proposal = proposal;
    }
    ask_each(requests, count);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(answer_of_each(requests, i, count), answers[i]);
    names_drop(&memory, names);
}
