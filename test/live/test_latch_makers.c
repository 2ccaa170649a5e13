/*
 * Many make a latch of one name at one moment, over roads that take 0 to 120 ms. One reports that
 * it made the latch, all others that there is another, and the latch stays.
 *
 * REDLOCK_LONG=1: 200 rounds, which take some minutes.
 * rule: L5
 */
#include <redlock/recipes.h>

#include "scene.h"

#define MASTERS 5
#define QUORUM  3
#define MAKERS  8
#define ROUNDS  200
#define SLOWEST 120 /* ms */

struct maker {
    struct user user;
    redlock_latch *latch;
    unsigned times;
    redlock_latch_result told;
};

static struct maker makers[MAKERS];
static char made[ROUNDS][REDLOCK_LATCH_ID_SIZE];

static void hear(redlock_latch *latch, const redlock_latch_result *tally, void *data)
{
    struct maker *maker = data;
    (void)latch;
    maker->times++;
    maker->told = *tally;
}

static void begin(struct maker *maker, const char *name)
{
    redlock_latch_options options = {.size = sizeof options};
    options.arrivals = 1;
    maker->times = 0;
    assert_code(
        redlock_latch_create(maker->user.client, &maker->latch, name, &options, hear, maker),
        REDLOCK_OK);
}

/* Returns 1 if it made the latch. */
static unsigned end(struct maker *maker, unsigned round)
{
    AWAIT_MS(&maker->user, maker->times, 20000);
    redlock_latch_free(maker->latch);
    if (maker->told.code == REDLOCK_E_HELD)
        return 0;
    assert_code(maker->told.code, REDLOCK_OK);
    strcpy(made[round], maker->told.id);
    return 1;
}

static bool is_on(unsigned master, unsigned round)
{
    redisReply *rank = cluster_ask(&scene.cluster, master, "ZRANK redlock:latch:latch-%u id:%s",
                                   round, made[round]);
    assert_non_null(rank);
    bool is = rank->type == REDIS_REPLY_INTEGER;
    freeReplyObject(rank);
    return is;
}

static unsigned count_with(unsigned round)
{
    unsigned with = 0;
    for (unsigned i = 0; i < MASTERS; i++)
        with += is_on(i, round);
    return with;
}

static unsigned seed_of_run(void)
{
    const char *text = getenv("REDLOCK_SEED");
    unsigned seed = text ? (unsigned)strtoul(text, NULL, 10) : (unsigned)now_us();
    print_message("    REDLOCK_SEED=%u\n", seed);
    return seed;
}

static void scatter(unsigned seed)
{
    for (unsigned i = 0; i < MASTERS; i++)
        proxy_scatter(scene.roads[i], SLOWEST, seed + i);
}

SCENE(test_one_is_told_that_it_was_made, .masters = MASTERS)
{
    unsigned rounds = getenv("REDLOCK_LONG") ? ROUNDS : ROUNDS / 10;
    char name[16];
    for (unsigned i = 0; i < MAKERS; i++)
        scene_enter(&scene, &makers[i].user, "maker", ALL);
    scatter(seed_of_run());
    for (unsigned round = 0; round < rounds; round++) {
        unsigned count = 0;
        snprintf(name, sizeof name, "latch-%u", round);
        for (unsigned i = 0; i < MAKERS; i++)
            begin(&makers[i], name);
        for (unsigned i = 0; i < MAKERS; i++)
            count += end(&makers[i], round);
        if (count != 1)
            fail_msg("round %u: %u made it", round, count);
    }
    for (unsigned i = 0; i < MAKERS; i++)
        scene_leave(&makers[i].user);
    for (unsigned round = 0; round < rounds; round++)
        if (count_with(round) < QUORUM)
            fail_msg("round %u: what was made is on %u masters", round, count_with(round));
}

PROGRAM(.masters = 0)
