#include "memory.h"

#include <unistd.h>

#include "exits.h"

void *memory_or_end(void *memory)
{
    static const char sorry[] = "redlock: out of memory\n";
    if (memory)
        return memory;
    ssize_t told = write(STDERR_FILENO, sorry, sizeof(sorry) - 1);
    (void)told;
    _exit(EXIT_INTERNAL);
}
