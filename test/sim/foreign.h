/*
 * foreign.h - a client of another library: the published algorithm, with a plain
 * SET name token NX PX ttl on each master, one after the other.
 */
#ifndef SIM_FOREIGN_H
#define SIM_FOREIGN_H

#include "world.h"

struct foreigner {
    struct clock clock;
    uint32_t token;
    uint8_t name;
    unsigned next, granted; /* master to ask next; grants so far */
    usec ttl, began, end;   /* its clock; end 0: it holds nothing */
};

void foreigner_start(struct world *world, unsigned number);
void foreigner_acts(struct world *world, unsigned number);
bool foreigner_holds(const struct world *world, unsigned number);

#endif
