/*
 * speak.h - what a master understands of commands, and what it says to them.
 */
#ifndef TESTING_SPEAK_H
#define TESTING_SPEAK_H

#include "buffer.h"
#include "command_reader.h"
#include "masters.h"

extern const struct dictionary speak_dictionary;

struct speech {
    unsigned master;
    struct buffer *to;
    void (*publish)(unsigned master, const struct model_answer *answer);
};

/* Carries the requests out. */
void speak_answers(struct speech *speech, const struct asked *asked);
/* The answer to one of the commands with which a connection begins. */
void speak_greeting(struct speech *speech, const struct asked *asked, int64_t id);
void speak_subscribed(struct buffer *to, struct slice channel);
void speak_pong(struct buffer *to, bool is_subscribed);
void speak_nonsense(struct buffer *to);
void speak_push(struct buffer *to, const struct model_push *push);

#endif
