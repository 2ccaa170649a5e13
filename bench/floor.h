/*
 * floor.h - the commands of one pair, ready-made: the least that any client sends.
 *
 * The floors have NO SAFETY: no validity, no deadlines, no drift, no renewal, no random token. They
 * have no answer to a failing, restarted or lying master, and release nothing after an unknown
 * outcome. They show how fast a quorum lock could be at best, and are no lock.
 */
#ifndef BENCH_FLOOR_H
#define BENCH_FLOOR_H

#include <hiredis/hiredis.h>
#include <stdint.h>

#include "options.h"
#include "scenario.h"

/* One SET and one EVALSHA; only the digits of the name change. */
struct floor_commands {
    char *set, *release;
    size_t set_length, release_length;
    char *set_name, *release_name; /* the offsets of the names in them */
};

bool floor_prepare(struct floor_commands *commands, const struct options *options);
void floor_name(struct floor_commands *commands, uint64_t serial);
void floor_discard(struct floor_commands *commands);
/* Loads the release script; false with a note if that fails. */
bool floor_load(redisContext *context, struct result *result);

#endif
