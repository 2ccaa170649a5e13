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

/* Are we in the foreground?  In the background we leave the terminal alone. */
bool terminal_is_ours(const struct terminal *terminal);

void terminal_give(struct terminal *terminal, pid_t group);

/* restore: sets the modes that the terminal had at the start, as a command that died could not. */
void terminal_take_back(struct terminal *terminal, bool restore);

#endif
