#include "core_world.h"

struct fake fake;

int core_set_up(void **state)
{
    struct engine_config config = {.masters = MASTERS,
                                   .drift_ppm = 10000,
                                   .max_ttl_ms = 30000,
                                   .skew_ms = 1000,
                                   .connect_timeout = MS(1000)};
    (void)state;
    fake_init(&fake);
    fake.silent = true;
    return fake_start(&fake, &config) ? 0 : -1;
}

int core_set_up_greeted(void **state)
{
    if (core_set_up(state) != 0)
        return -1;
    for (unsigned i = 0; i < MASTERS; i++) {
        fake_connected(&fake, i);
        fake_answer_hello(&fake, i);
    }
    return 0;
}

int core_tear_down(void **state)
{
    (void)state;
    fake_finish(&fake);
    fake_drop(&fake);
    if (fake.broken[0])
        print_error("%s\n", fake.broken);
    return fake.broken[0] ? -1 : 0;
}

struct actor *core_make(const char *name, const char *names, const struct terms *terms)
{
    assert_true(fake_new(&fake, name, names, terms, NULL));
    return fake_actor(&fake, name);
}

struct actor *core_ask(const char *name, const char *names, const struct terms *terms,
                       enum event_kind kind)
{
    struct actor *actor = core_make(name, names, terms);
    fake_call(&fake, actor, kind, 0);
    return actor;
}

void answer_all(enum answer answer)
{
    for (unsigned i = 0; i < MASTERS; i++)
        while (fake.masters[i].count)
            fake_answer(&fake, i, &(struct reply){.answer = answer});
}
