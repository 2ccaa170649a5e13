#include "texts.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS 1024

struct text {
    struct text *next; /* of the same bucket */
    uint32_t number;
    size_t length;
    char bytes[];
};

static uint32_t bucket_of(struct slice text)
{
    uint32_t hash = 2166136261U;
    for (size_t i = 0; i < text.length; i++)
        hash = (hash ^ (unsigned char)text.bytes[i]) * 16777619U;
    return (hash ^ hash >> 16) % BUCKETS;
}

uint32_t texts_find(const struct texts *texts, struct slice text)
{
    struct text *at = texts->buckets ? texts->buckets[bucket_of(text)] : NULL;
    while (at && !(at->length == text.length && memcmp(at->bytes, text.bytes, text.length) == 0))
        at = at->next;
    return at ? at->number : 0;
}

static bool make_room(struct texts *texts)
{
    if (!texts->buckets)
        texts->buckets = calloc(BUCKETS, sizeof *texts->buckets);
    if (!texts->next)
        texts->next = 1;
    while (texts->next < texts->room && texts->by_number[texts->next])
        texts->next++;
    if (texts->next < texts->room)
        return texts->buckets != NULL;
    uint32_t room = texts->room ? 2 * texts->room : 64;
    if (texts->most && room > texts->most + 1)
        room = texts->most + 1;
    if (room <= texts->next)
        return false;
    struct text **grown = realloc(texts->by_number, room * sizeof *grown);
    if (!grown)
        return false;
    memset(grown + texts->room, 0, (room - texts->room) * sizeof *grown);
    texts->by_number = grown;
    texts->room = room;
    return texts->buckets != NULL;
}

uint32_t texts_number(struct texts *texts, struct slice text)
{
    uint32_t number = texts_find(texts, text), bucket = bucket_of(text);
    if (number)
        return number;
    struct text *made = make_room(texts) ? malloc(sizeof *made + text.length + 1) : NULL;
    if (!made)
        return 0;
    *made = (struct text){texts->buckets[bucket], texts->next, text.length};
    memcpy(made->bytes, text.bytes, text.length);
    made->bytes[text.length] = '\0';
    texts->buckets[bucket] = texts->by_number[made->number] = made;
    texts->used++;
    return made->number;
}

struct slice texts_spell(const struct texts *texts, uint32_t number)
{
    const struct text *text = number < texts->room ? texts->by_number[number] : NULL;
    return text ? (struct slice){text->bytes, text->length} : (struct slice){"", 0};
}

void texts_drop(struct texts *texts, uint32_t number)
{
    struct text *text = number < texts->room ? texts->by_number[number] : NULL;
    if (!text)
        return;
    struct text **at = &texts->buckets[bucket_of((struct slice){text->bytes, text->length})];
    while (*at != text)
        at = &(*at)->next;
    *at = text->next;
    texts->by_number[number] = NULL;
    texts->used--;
    if (number < texts->next)
        texts->next = number;
    free(text);
}

void texts_clear(struct texts *texts)
{
    for (uint32_t number = 1; number < texts->room; number++)
        texts_drop(texts, number);
    free(texts->by_number);
    free(texts->buckets);
    *texts = (struct texts){.most = texts->most};
}
