/*
 * exchange.h - the requests of a client, as a modelled master understands them, and the answers of
 * that master, as the core understands them.  All kinds of links share it (links.h).
 */
#ifndef SIM_EXCHANGE_H
#define SIM_EXCHANGE_H

#include "client_shell.h"

#define SAID_AT_MOST 1000 /* pushes between two questions, as lib/client/effects.c has it */

/* The core hands a request to a link; its answer, or the news that it is lost, is expected. */
void exchange_expect(struct shell *shell, unsigned master, const struct tag *tag);
/* The tag of the request whose answer is next; it is expected no more. */
struct tag exchange_expected(struct shell *shell, unsigned master);

/* The message that a connected link sends for a request. */
/* Values are numbers here; those of wishes have this bit. */
#define SAID_AS_WISH 0x80000000U
uint32_t exchange_said_number(struct slice value);

struct message *exchange_ask(struct shell *shell, unsigned master, const struct request *request);

/* The message's answer, as the core has it.  `reply` points into `hello` and the message. */
void exchange_read(const struct world *world, const struct message *message, const struct tag *tag,
                   struct hello *hello, struct reply *reply);
/* The core is about to hear that answer. */
void exchange_hear(struct shell *shell, unsigned master, const struct message *message,
                   const struct reply *reply);

/* The key of a name; it stays until the next call. */
struct slice exchange_spell_name(const struct shell *shell, unsigned name);
/* The tokens of the parties that an open master counts, one a line; until the next call. */
const char *exchange_spell_parties(const struct world *world, const struct model_answer *answer);
/* The arrivals at a latch, one a line, sorted. */
const char *exchange_spell_arrived(const struct world *world, const struct model_latch *latch);
/* The arrivals of a call, from such lines; false if they are too many. */
bool exchange_read_arrived(struct world *world, struct model_call *call, const char *lines,
                           size_t length);
/* A master's word of a name; `said` points to a text that stays until the next call. */
void exchange_spell_said(const struct world *world, const struct model_said *it, int64_t left_ms,
                         struct said *said);

/* A push of what is said; likewise. */
void exchange_spell_push(const struct shell *shell, const struct heard *heard, struct push *push);

#define RUN_ID_TEXT 20
void exchange_spell_run_id(char text[RUN_ID_TEXT], uint64_t run_id);

#endif
