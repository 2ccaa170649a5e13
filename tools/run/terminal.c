#include "terminal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* In `redlock run x -- produce | less` the reader of the pipe is in our group and
 * needs the terminal: there the command gets it only once it wants it. */
static bool feeds_a_pipe(void)
{
    struct stat facts;
    return fstat(STDOUT_FILENO, &facts) == 0 && S_ISFIFO(facts.st_mode);
}

void terminal_open(struct terminal *terminal)
{
    *terminal = (struct terminal){.fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)};
    if (terminal->fd >= 0) {
        terminal->eager = isatty(STDIN_FILENO) && !feeds_a_pipe() && terminal_is_ours(terminal);
        terminal->has_modes = tcgetattr(terminal->fd, &terminal->modes) == 0;
    }
}

bool terminal_is_ours(const struct terminal *terminal)
{
    return terminal->fd >= 0 && tcgetpgrp(terminal->fd) == getpgrp();
}

void terminal_give(struct terminal *terminal, pid_t group)
{
    if (tcsetpgrp(terminal->fd, group) == 0)
        terminal->given = true;
}

void terminal_take_back(struct terminal *terminal, bool restore)
{
    /* We are in the background now; SIGTTOU is ignored, see signals.h. */
    if (!terminal->given)
        return;
    terminal->given = false;
    tcsetpgrp(terminal->fd, getpgrp());
    if (restore && terminal->has_modes)
        tcsetattr(terminal->fd, TCSADRAIN, &terminal->modes);
}
