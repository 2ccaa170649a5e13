/*
 * terminal.h - the foreground of the terminal, handed to the command's process
 * group and back, as a shell would do.
 */
#ifndef REDLOCK_TOOLS_TERMINAL_H
#define REDLOCK_TOOLS_TERMINAL_H

#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

struct terminal {
    int fd;     /* -1: none, as under cron */
    bool eager; /* hand it over at the start; else when the command asks for it */
    bool given;
    bool has_modes;
    struct termios modes;
};

void terminal_open(struct terminal *terminal);

/* Are we the ones in the foreground?  In the background nobody takes it. */
bool terminal_is_ours(const struct terminal *terminal);

void terminal_give(struct terminal *terminal, pid_t group);

/* restore: with the modes it had at the start, for the command died and could not
 * restore them itself. */
void terminal_take_back(struct terminal *terminal, bool restore);

#endif
