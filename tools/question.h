/*
 * question.h - a question to the user on the terminal, with yes or no.
 */
#ifndef REDLOCK_TOOLS_QUESTION_H
#define REDLOCK_TOOLS_QUESTION_H

#include <ev.h>
#include <stdbool.h>

#include "text.h"

struct question {
    void (*answered)(void *owner, bool yes); /* the caller's, as is `owner` */
    void *owner;
    ev_io input;
};

/* Prints the line behind "redlock: ", with "[y/N]", and frees it. */
void question_ask(struct question *question, struct ev_loop *loop, struct text *line);
/* The answer is not awaited any longer; nor need it have been asked. */
void question_drop(struct question *question, struct ev_loop *loop);

#endif
