#include "ground/shared.h"

#include "ground/sanity.h"

void engine_emit(struct engine *e, enum effect_kind kind, unsigned master, struct lease *lease)
{
    ASSERT(master < e->config.masters);
    ASSERT((kind == EFFECT_TELL) == (lease != NULL));
    e->sink.emit(e->sink.shell, &(struct effect){.kind = kind, .master = master, .lease = lease});
}

usec engine_jitter(struct engine *e, usec low, usec high)
{
    ASSERT(low <= high && e->jitter);
    /* xorshift64 */
    e->jitter ^= e->jitter << 13;
    e->jitter ^= e->jitter >> 7;
    e->jitter ^= e->jitter << 17;
    return low + (usec)(e->jitter % (uint64_t)(high - low + 1));
}

uint32_t engine_next_round(struct engine *e)
{
    if (++e->last_round == 0)
        e->last_round = 1;
    return e->last_round;
}
