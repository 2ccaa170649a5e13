#include "ground/slots.h"

#include <stdio.h>
#include <string.h>

#include "ground/sanity.h"

#define PREFIX_LENGTH (sizeof SLOT_PREFIX - 1)

struct names *slot_new(const struct memory *memory, struct slice name, unsigned slot)
{
    char text[PREFIX_LENGTH + 12];
    ASSERT(slot < PERMITS_MOST);
    int length = snprintf(text, sizeof text, SLOT_PREFIX "%u:", slot);
    struct names *names = names_new(memory, (struct slice){text, (size_t)length}, &name, 1);
    if (names)
        names->slot = true;
    return names;
}

unsigned slot_number(const struct names *names)
{
    ASSERT(names->slot);
    unsigned slot = 0;
    for (const char *digit = names_at(names, 0).bytes + PREFIX_LENGTH; *digit != ':'; digit++)
        slot = 10 * slot + (unsigned)(*digit - '0');
    return slot;
}

struct slice slot_name(const struct names *names)
{
    ASSERT(names->slot);
    struct slice whole = names_at(names, 0);
    size_t before = PREFIX_LENGTH;
    while (whole.bytes[before++] != ':')
        ;
    return (struct slice){whole.bytes + before, whole.length - before};
}

bool slots_are_of_one_name(const struct names *a, const struct names *b)
{
    if (!a->slot || !b->slot)
        return false;
    return slices_are_same(slot_name(a), slot_name(b));
}
