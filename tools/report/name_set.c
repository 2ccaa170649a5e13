#include "name_set.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

#define ROOM_FIRST 256

/* FNV-1a */
static size_t hash(const redlock_name *name)
{
    const unsigned char *bytes = name->bytes;
    uint64_t value = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < name->length; i++)
        value = (value ^ bytes[i]) * UINT64_C(1099511628211);
    return (size_t)(value ^ value >> 32);
}

static bool are_same(const redlock_name *a, const redlock_name *b)
{
    return a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0;
}

/* Where the name is, or has its place. */
static size_t *find(struct name_set *set, const redlock_name *name)
{
    size_t at = hash(name) & (set->room - 1);
    while (set->places[at] && !are_same(&set->names[set->places[at] - 1], name))
        at = (at + 1) & (set->room - 1);
    return &set->places[at];
}

static void grow(struct name_set *set)
{
    set->room = set->room ? 2 * set->room : ROOM_FIRST;
    free(set->places);
    set->places = memory_or_end(calloc(set->room, sizeof *set->places));
    set->names = memory_or_end(realloc(set->names, set->room / 2 * sizeof *set->names));
    for (size_t i = 0; i < set->count; i++)
        *find(set, &set->names[i]) = i + 1;
}

void name_set_add(struct name_set *set, const redlock_name *name)
{
    if (set->count == set->room / 2)
        grow(set);
    size_t *place = find(set, name);
    if (*place)
        return;
    void *bytes = memory_or_end(malloc(name->length + 1)); /* with a NUL, for people */
    memcpy(bytes, name->bytes, name->length);
    ((char *)bytes)[name->length] = '\0';
    set->names[set->count] =
        (redlock_name){.size = sizeof(redlock_name), .bytes = bytes, .length = name->length};
    *place = ++set->count;
}

void name_set_free(struct name_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        free((void *)set->names[i].bytes);
    free(set->names);
    free(set->places);
}
