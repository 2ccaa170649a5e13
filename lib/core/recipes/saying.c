#include "recipes/saying.h"

#include <string.h>

#include "ground/sanity.h"

static size_t saying_size(size_t token_length, size_t value_length)
{
    return sizeof(struct saying) + token_length + value_length;
}

struct saying *saying_new(const struct memory *memory, const struct said *said)
{
    struct saying *saying =
        memory->take(memory->pool, saying_size(said->token_length, said->value_length));
    if (!saying)
        return NULL;
    *saying = (struct saying){.references = 1,
                              .token_length = (uint32_t)said->token_length,
                              .value_length = (uint32_t)said->value_length,
                              .term = said->term,
                              .number = said->number};
    memcpy(saying->bytes, said->token, said->token_length);
    if (said->value_length)
        memcpy(saying->bytes + said->token_length, said->value, said->value_length);
    return saying;
}

struct saying *saying_share(struct saying *saying)
{
    saying->references++;
    return saying;
}

void saying_drop(const struct memory *memory, struct saying *saying)
{
    if (!saying || --saying->references)
        return;
    memory->give(memory->pool, saying, saying_size(saying->token_length, saying->value_length));
}

struct said saying_said(const struct saying *saying)
{
    return (struct said){.term = saying->term,
                         .number = saying->number,
                         .token = saying->bytes,
                         .token_length = saying->token_length,
                         .value = saying->bytes + saying->token_length,
                         .value_length = saying->value_length};
}

bool saying_is(const struct saying *saying, const struct said *said)
{
    return saying->term == said->term && saying->number == said->number &&
           saying->token_length == said->token_length &&
           saying->value_length == said->value_length &&
           memcmp(saying->bytes, said->token, said->token_length) == 0 &&
           (said->value_length == 0 ||
            memcmp(saying->bytes + saying->token_length, said->value, said->value_length) == 0);
}

int said_order(const struct said *a, const struct said *b)
{
    if (a->term != b->term)
        return a->term < b->term ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}
