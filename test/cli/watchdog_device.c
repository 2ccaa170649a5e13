/*
 * watchdog_device.c - a watchdog device for tests: loaded before the C library, it answers the
 * ioctls of linux/watchdog.h, whatever the descriptor is.  The feeds go where the descriptor leads.
 *
 *   WATCHDOG_SECONDS   its timeout
 *   WATCHDOG_MOST      the longest timeout that it can be set to; without it, it cannot be set
 *   WATCHDOG_OPTIONS   the bits of WDIOC_GETSUPPORT
 *   WATCHDOG_STUCK     it cannot be stopped
 *   WATCHDOG_BUSY      another process has it open
 *   WATCHDOG_ASKED     a file that gets the name of each ioctl that changes something
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/watchdog.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int seconds;

static int number(const char *variable)
{
    const char *text = getenv(variable);
    return text ? atoi(text) : 0;
}

static void note(const char *what, int value)
{
    char line[40];
    int length = snprintf(line, sizeof line, "%s %d\n", what, value);
    const char *path = getenv("WATCHDOG_ASKED");
    int file = path ? openat(AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT, 0666) : -1;
    if (file < 0 || write(file, line, (size_t)length) < 0)
        abort();
    close(file);
}

static int fail(int error)
{
    errno = error;
    return -1;
}

static int set_timeout(int *wanted)
{
    note("SETTIMEOUT", *wanted);
    if (*wanted > number("WATCHDOG_MOST"))
        return fail(EINVAL);
    seconds = *wanted;
    return 0;
}

static int answer(unsigned long request, void *argument)
{
    int *value = argument;
    struct watchdog_info *info = argument;
    if (seconds == 0)
        seconds = number("WATCHDOG_SECONDS");
    switch (request) {
    case WDIOC_GETSUPPORT:
        *info = (struct watchdog_info){.options = (unsigned)number("WATCHDOG_OPTIONS")};
        return 0;
    case WDIOC_GETTIMEOUT:
        *value = seconds;
        return 0;
    case WDIOC_SETTIMEOUT:
        return set_timeout(value);
    case WDIOC_SETOPTIONS:
        note("SETOPTIONS", *value);
        return getenv("WATCHDOG_STUCK") ? fail(EBUSY) : 0;
    default:
        return fail(ENOTTY);
    }
}

/* Of the paths that the command opens only its own terminal is below /dev/pts. */
int open64(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    if (getenv("WATCHDOG_BUSY") && strncmp(path, "/dev/pts/", 9) == 0)
        return fail(EBUSY);
    return openat(AT_FDCWD, path, flags, mode);
}

int ioctl(int fd, unsigned long request, ...)
{
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (_IOC_TYPE(request) == WATCHDOG_IOCTL_BASE)
        return answer(request, argument);
    int (*next)(int, unsigned long, ...) = NULL;
    *(void **)&next = dlsym(RTLD_NEXT, "ioctl");
    return next(fd, request, argument);
}
