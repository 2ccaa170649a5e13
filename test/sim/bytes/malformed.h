/*
 * malformed.h - bytes after which nothing that a master says may be believed.
 */
#ifndef SIM_MALFORMED_H
#define SIM_MALFORMED_H

#include "buffer.h"
#include "random.h"

/* No reply at all, or one that no request can have, nor any step of a login, nor a message. */
void malformed_write(struct buffer *to, struct chance *chance);

#endif
