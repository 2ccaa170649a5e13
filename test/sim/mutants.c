#include "mutants.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The build puts a script beside each simulator that knows of what it is made. */
void mutants_hand_over(char **words)
{
    char path[PATH_MAX + sizeof ".mutants"];
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
    if (length < 0)
        return;
    snprintf(path + length, sizeof ".mutants", ".mutants");
    unsigned count = 0;
    while (words[count])
        count++;
    char **command = calloc(count + 2, sizeof *command);
    if (!command)
        return;
    command[0] = "bash", command[1] = path;
    for (unsigned i = 1; i < count; i++)
        command[i + 1] = words[i];
    execvp(command[0], command);
}
