/*
 * checks.h - the parts of differential.c: what is the same on the simulator's master and on a real
 * one.  The very millisecond is always the real one's to say.
 */
#ifndef SIM_CHECKS_H
#define SIM_CHECKS_H

#include <hiredis/hiredis.h>

#include "model_master.h"
#include "random.h"
#include "reply.h"

/* ---- real.c: the real master ---- */

_Noreturn void real_die(const char *what);

/* A command, as hiredis formats it; there is a reply, or this does not return. */
redisReply *real_ask(redisContext *context, const char *format, ...);
int64_t real_integer(redisContext *context, const char *format, ...);
int64_t real_ms(redisContext *context);

/* Of "value-7", "name:7" and "redlock:ear-7", where no digit follows. */
uint32_t number_in(const char *text);
/* Numbers below 32, one a line, as a bit for each; false if they do not ascend. */
bool numbers_in(struct slice lines, uint32_t *numbers);

/* ---- said_check.c: what is said of a name, and its observers ---- */

#define EARS 3

/* A connection that is subscribed to all channels, and the messages that came on it. */
struct listener {
    redisContext *context;
    struct raw_reply raw;
    unsigned count;
    struct model_push heard[2 * EARS];
};

/* False if it cannot subscribe. */
bool listener_begins(struct listener *listener, const char *socket);
void listener_ends(struct listener *listener);
/* Takes in all that was published so far; false if some of it is no message. */
bool listener_hears(struct listener *listener);
/* It has heard what the model publishes, and nothing else. */
bool listener_heard(const struct listener *listener, const struct model_answer *answer);

#define KEY_TEXT 40 /* most bytes of a name */

/* The names behind the first MODEL_NAMES are those of their wishes, and of their breaks. */
void said_spell_name(unsigned name, char text[KEY_TEXT]);
/* Of the call, if it may be, a break is heard; or it hears of breaks. */
void said_hear_breaks(struct chance *chance, struct model_call *call);
/* Draws a call; often the token is that of the name. */
struct model_call said_draw(struct chance *chance, const struct model_master *model,
                            unsigned tokens, int64_t longest_ms);
/* The request has already set the fields that it shares. */
void said_spell(const struct model_call *call, struct request *request);
bool said_same_answer(const struct model_answer *model, const struct reply *real);
/* The record and the observers of a name. */
bool said_same_keys(redisContext *context, struct model_master *model, unsigned name);
/* Somebody else deletes the record of a name or its observers, or writes there what they are not.
 */
void said_spoil(redisContext *context, struct chance *chance, struct model_master *model);
/* Something of it ended, or ends, in these milliseconds. */
bool said_ends_between(const struct model_data *data, unsigned name, int64_t from_ms,
                       int64_t until_ms);

/* ---- barrier_check.c: barriers ---- */

static inline bool is_about_barrier(enum request_kind kind)
{
    return kind == REQUEST_ARRIVE || kind == REQUEST_DEPART;
}

struct model_call barrier_draw(struct chance *chance, unsigned tokens, int64_t longest_ms);
/* The request has already set the fields that it shares. */
void barrier_spell(const struct model_call *call, struct request *request);
bool barrier_same_answer(const struct model_answer *model, const struct reply *real);
/* The barriers of a name. */
bool barrier_same_keys(redisContext *context, struct model_master *model, unsigned name);
/* Somebody else deletes one. */
void barrier_spoil(redisContext *context, struct chance *chance, struct model_master *model);
/* Something of them ended, or ends, in these milliseconds. */
bool barrier_ends_between(const struct model_data *data, unsigned name, int64_t from_ms,
                          int64_t until_ms);

/* ---- lists_check.c: lists of masters ---- */

struct model_agree agree_draw(struct chance *chance, usec now, int64_t longest_ms);
/* The request points to what stays until the next call. */
void agree_spell(const struct model_agree *agree, struct request *request);
bool agree_same_answer(const struct model_agree *model, struct slice text);

/* ---- latch_check.c: latches ---- */

static inline bool is_about_latch(enum request_kind kind)
{
    return kind == REQUEST_TALLY || kind == REQUEST_MEND || kind == REQUEST_DROP;
}

struct model_call latch_draw(struct chance *chance, const struct model_master *model,
                             unsigned tokens, int64_t now_ms, int64_t longest_ms);
/* The request has already set the fields that it shares.  `run`: of the real one's process. */
void latch_spell(const struct model_call *call, const struct model_master *model, const char *run,
                 struct request *request);
bool latch_same_answer(const struct model_answer *model, const struct reply *real);
/* The latch of a name. */
bool latch_same_keys(redisContext *context, struct model_master *model, const char *run,
                     unsigned name);
/* Somebody else deletes one, or it is as a former process had it. */
void latch_spoil(redisContext *context, struct chance *chance, struct model_master *model,
                 const char *run);
/* One ended, or ends, in these milliseconds. */
bool latch_ends_between(const struct model_data *data, unsigned name, int64_t from_ms,
                        int64_t until_ms);

#endif
