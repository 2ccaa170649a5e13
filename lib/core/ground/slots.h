/*
 * slots.h - the permits of a name: K slots, each a name of its own that one holder has exclusively.
 *
 * Slot j of a name is the key "redlock:permit:<j>:<name>", which no user can ask for by name.
 */
#ifndef REDLOCK_CORE_SLOTS_H
#define REDLOCK_CORE_SLOTS_H

#include "ground/names.h"

#define SLOT_PREFIX "redlock:permit:"

/* Slot `slot` of `name`; NULL when memory is out. */
struct names *slot_new(const struct memory *memory, struct slice name, unsigned slot);
/* Of names that are a slot: its number, and the name that it belongs to. */
unsigned slot_number(const struct names *names);
struct slice slot_name(const struct names *names);
/* Both are slots, of one name. */
bool slots_are_of_one_name(const struct names *a, const struct names *b);

#endif
