#include "say.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* stderr as pipe or terminal, opened anew so that O_NONBLOCK is ours alone: the
 * flag belongs to the open description, which we share with our parent and with
 * the command.  -1 where that is not possible or not needed. */
static int own_stderr = -1;

void say_start(void)
{
    struct stat facts;
    bool may_block =
        fstat(STDERR_FILENO, &facts) == 0 && (S_ISFIFO(facts.st_mode) || isatty(STDERR_FILENO));
    if (may_block) {
        own_stderr = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    }
}

/* As much as goes without waiting; -1 with EAGAIN if nothing does. */
static ssize_t write_some(const char *bytes, size_t length)
{
    struct pollfd ready = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (own_stderr >= 0) {
        return write(own_stderr, bytes, length);
    }
    ssize_t sent = send(STDERR_FILENO, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0 || errno != ENOTSOCK) {
        return sent;
    }
    if (poll(&ready, 1, 0) != 1 || !(ready.revents & POLLOUT)) {
        errno = EAGAIN;
        return -1;
    }
    /* A pipe that is ready takes this much at once. */
    return write(STDERR_FILENO, bytes, length < PIPE_BUF ? length : PIPE_BUF);
}

void say_text(const struct text *text)
{
    size_t done = 0;
    while (done < text->length) {
        ssize_t sent = write_some(text->bytes + done, text->length - done);
        if (sent > 0) {
            done += (size_t)sent;
        } else if (sent == 0 || errno != EINTR) {
            return;
        }
    }
}

void say(const char *format, ...)
{
    struct text line = {0};
    va_list values;
    va_start(values, format);
    text_format(&line, "redlock: ");
    text_vformat(&line, format, values);
    text_format(&line, "\n");
    va_end(values);
    say_text(&line);
    text_free(&line);
}

static bool output_failed(void)
{
    /* A reader that went away knows that it did. */
    if (errno != EPIPE) {
        say("cannot write to stdout: %s", strerror(errno));
    }
    return false;
}

/* stdout may have been made non-blocking by whoever shares it. */
static bool wait_for_room(void)
{
    struct pollfd ready = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&ready, 1, -1) >= 0 || errno == EINTR;
}

bool put_text(const struct text *text)
{
    size_t done = 0;
    while (done < text->length) {
        ssize_t put = write(STDOUT_FILENO, text->bytes + done, text->length - done);
        if (put >= 0) {
            done += (size_t)put;
        } else if (errno == EAGAIN) {
            if (!wait_for_room()) {
                return output_failed();
            }
        } else if (errno != EINTR) {
            return output_failed();
        }
    }
    return true;
}
