/*
 * spell.h - the numbers of the model → the texts of clients.
 */
#ifndef TESTING_SPELL_H
#define TESTING_SPELL_H

#include "masters.h"

/* An answer with its texts, which live as long as this does. */
struct spelled {
    struct reply reply;
    struct hello hello;
    char *lines[2];
};

/* False: memory is out.  To be ended with spelled_end(). */
bool spell_answer(struct inside *master, const struct model_call *call,
                  const struct model_answer *answer, struct spelled *spelled);
void spelled_end(struct spelled *spelled);
void spell_push(const struct model_push *it, struct push *push);
#define RUN_ID_TEXT 41
void spell_run_id(char text[RUN_ID_TEXT], uint64_t run_id);

#endif
