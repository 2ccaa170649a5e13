/*
 * texts.h - texts that have numbers: the model of a master knows names, tokens and values by
 * theirs.
 */
#ifndef TESTING_TEXTS_H
#define TESTING_TEXTS_H

#include "ground/event.h"

struct texts {
    struct text **by_number; /* 0 is none */
    struct text **buckets;
    uint32_t room, most; /* of by_number; the largest number, 0: any */
    uint32_t used, next; /* how many there are; none below `next` is free */
};

/* Its number, which it gets if it has none; 0: there is no room, or no memory. */
uint32_t texts_number(struct texts *texts, struct slice text);
/* 0: it has none. */
uint32_t texts_find(const struct texts *texts, struct slice text);
/* Until it is dropped; it ends with a NUL. */
struct slice texts_spell(const struct texts *texts, uint32_t number);
void texts_drop(struct texts *texts, uint32_t number);
void texts_clear(struct texts *texts);

#endif
