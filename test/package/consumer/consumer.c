/* A program that knows the installed library only: headers and library are there, fit
 * each other, and work. */
#include <redlock.h>
#include <redlock/sync.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    char why[256] = "";
    redlock_sync *client;
    redlock_options options = {.size = sizeof(redlock_options)};
    options.nodes = "redis://";
    redlock_code code = redlock_sync_open(&client, &options, why, sizeof why);
    printf("redlock %s: %s: %s\n", redlock_version(), redlock_code_name(code), why);
    return strcmp(redlock_version(), REDLOCK_VERSION) || code != REDLOCK_E_NODES || client ||
           !why[0];
}
