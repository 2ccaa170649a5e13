/*
 * real.h - what the differential asks of the real master beside its requests.
 */
#ifndef SIM_REAL_H
#define SIM_REAL_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdint.h>

#include "ground/event.h"

_Noreturn void real_die(const char *what);

/* A command, as hiredis formats it; there is a reply, or this does not return. */
redisReply *real_ask(redisContext *context, const char *format, ...);
int64_t real_integer(redisContext *context, const char *format, ...);
int64_t real_ms(redisContext *context);

/* Of "value-7", "name:7" and "redlock:ear-7", where no digit follows. */
uint32_t number_in(const char *text);
/* Numbers below 32, one a line, as a bit for each; false if they do not ascend. */
bool numbers_in(struct slice lines, uint32_t *numbers);

#endif
