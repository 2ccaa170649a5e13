/*
 * forge.h - the lies of a master: replies of a real one, rewritten on their way.
 *
 * Only the lie is rewritten, so that all else is as a master would answer.
 */
#ifndef REDLOCK_TEST_FORGE_H
#define REDLOCK_TEST_FORGE_H

#include <stddef.h>
#include <stdint.h>

enum asked { ASKED_OTHER, ASKED_HELLO, ASKED_GRANT /* or raise */, ASKED_QUEUE };

#define ANSWER_MAX 1024 /* longer ones pass as they are */

struct answer {
    size_t length;
    char bytes[ANSWER_MAX];
};

/* Sees each answer of a master, in the thread of a proxy, and may change it. */
typedef void forge(void *data, enum asked asked, struct answer *answer);

/* An integer of an answer that is an array; INT64_MIN if there is none at that place. */
int64_t answer_number(const struct answer *answer, unsigned index);
/* Nothing is changed where there is none. */
void answer_set_number(struct answer *answer, unsigned index, int64_t number);
void answer_set(struct answer *answer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- For the proxy: one connection ---- */

struct forger;

struct forger *forger_new(forge *forge, void *data);
void forger_free(struct forger *forger);
/* Requests that pass. */
void forger_ask(struct forger *forger, const char *bytes, size_t length);
/* Replies that pass; gives those that are whole, rewritten, to `say`. */
void forger_answer(struct forger *forger, const char *bytes, size_t length,
                   void (*say)(void *to, const char *bytes, size_t length), void *to);

#endif
