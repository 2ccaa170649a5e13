/*
 * wish.h - a wish for a name: an asker says it (wish_asker.c), a heeder hears it (wish_heeder.c).
 * A heeder, and a watcher (wish_watcher.c), also hear that another process has taken the token of
 * their lease (wish_taken.c).
 *
 * Masters keep the wish as something that is said of a second name, WISHES and the name.  Its term
 * is the id of the wish, its number the number of waiters and one.  Its token is that of the holder
 * to whom it was said.  Its value has who asks, a space and the text.
 */
#ifndef REDLOCK_CORE_RECIPES_WISH_H
#define REDLOCK_CORE_RECIPES_WISH_H

#include "ground/event.h"
#include "ground/shared.h"

#define WISH_LIFE      15000 /* ms that masters keep one: a lost push is found before */
#define WISH_WORDS_MAX (64 + 1 + WISH_TEXT_MAX)

/* An id is the number of a client, which it drew, and one that it counts. */
#define WISH_COUNT_BITS  22
#define WISH_CLIENT_BITS 31

static inline bool wish_is_ours(const struct engine *e, usec id)
{
    uint32_t client = (uint32_t)(id >> WISH_COUNT_BITS);
    bool is_ours = client == e->wisher;
    for (unsigned i = 0; i < FORMER_WISHERS; i++)
        is_ours |= client == e->former_wishers[i];
    return is_ours && client;
}

/* The masters that told it of a token. */
struct taken {
    uint16_t masters; /* (bits) since the last renewal for this */
    usec renew_from;  /* no such renewal before */
};

/* Masters say that in place of a wish, and of this token. */
bool taken_is_told(const struct said *said, const char *token);
void taken_note(struct taken *taken, unsigned master);
/* Renews the lease if that is due.  Returns when to call it again; NEVER: when masters say more. */
usec taken_renew_when_due(struct engine *engine, struct taken *taken, const char *token);

#endif
