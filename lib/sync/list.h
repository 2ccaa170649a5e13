/*
 * list.h - a list of structs, each of which carries its own place in the list.
 *
 * A list is a ring through its head; an empty list is the head alone.  (The C library of
 * some systems has no <sys/queue.h>.)
 */
#ifndef REDLOCK_LIST_H
#define REDLOCK_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
    struct list *next, *previous;
};

/* The struct of type `type` whose `member` is `place`. */
#define LIST_OWNER(place, type, member) ((type *)((char *)(place)-offsetof(type, member)))

static inline void list_init(struct list *list)
{
    list->next = list->previous = list;
}

static inline bool list_is_empty(const struct list *list)
{
    return list->next == list;
}

static inline void list_append(struct list *list, struct list *place)
{
    place->next = list;
    place->previous = list->previous;
    list->previous->next = place;
    list->previous = place;
}

static inline void list_remove(struct list *place)
{
    place->previous->next = place->next;
    place->next->previous = place->previous;
}

/* Moves all of `from` to the end of `list`; `from` is empty then. */
static inline void list_append_all(struct list *list, struct list *from)
{
    if (list_is_empty(from))
        return;
    from->next->previous = list->previous;
    list->previous->next = from->next;
    from->previous->next = list;
    list->previous = from->previous;
    list_init(from);
}

#endif
