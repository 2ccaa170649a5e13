/*
 * memory.h - without memory the process ends (EXIT_INTERNAL): no message could be made, and the
 * kernel ends the command of `redlock run` with us.
 */
#ifndef REDLOCK_TOOLS_MEMORY_H
#define REDLOCK_TOOLS_MEMORY_H

/* Returns what an allocator gave, if that is not NULL. */
void *memory_or_end(void *memory);

#endif
