#include "say.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "json.h"

/* stderr, a pipe or a terminal, opened again so that O_NONBLOCK is ours alone.  That flag belongs
 * to the open description, which parent and command share.  -1: impossible or not needed. */
static int own_stderr = -1;

static bool as_json, with_times;

void say_start(void)
{
    struct stat facts;
    bool may_block =
        fstat(STDERR_FILENO, &facts) == 0 && (S_ISFIFO(facts.st_mode) || isatty(STDERR_FILENO));
    if (may_block)
        own_stderr = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
}

/* Writes as much as goes without waiting; -1 with EAGAIN if nothing does. */
static ssize_t write_some(const char *bytes, size_t length)
{
    struct pollfd ready = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (own_stderr >= 0)
        return write(own_stderr, bytes, length);
    ssize_t sent = send(STDERR_FILENO, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0 || errno != ENOTSOCK)
        return sent;
    if (poll(&ready, 1, 0) != 1 || !(ready.revents & POLLOUT)) {
        errno = EAGAIN;
        return -1;
    }
    /* A pipe that is ready takes this much at once. */
    return write(STDERR_FILENO, bytes, length < PIPE_BUF ? length : PIPE_BUF);
}

static void write_out(const struct text *text)
{
    size_t done = 0;
    while (done < text->length) {
        ssize_t sent = write_some(text->bytes + done, text->length - done);
        if (sent > 0)
            done += (size_t)sent;
        else if (sent == 0 || errno != EINTR)
            return;
    }
}

/* ---- The line that is rewritten ----------------------------------------- */

static size_t line_width; /* of the line on the terminal; 0: there is none */

static size_t terminal_width(void)
{
    struct winsize size;
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : 80;
}

/* The first characters of the line; returns how many. */
static size_t add_cut(struct text *out, const struct text *line, size_t most)
{
    const unsigned char *from = (const unsigned char *)line->bytes;
    size_t left = line->length;
    size_t count = 0;
    while (left > 0 && count < most) {
        size_t step = utf8_length(from, left);
        step = step > 0 ? step : 1;
        text_add(out, from, step);
        from += step;
        left -= step;
        count++;
    }
    return count;
}

/* Spaces cover the rest of the old line: every terminal can do that. */
static void replace_line(const struct text *line)
{
    struct text out = {0};
    size_t before = line_width;
    text_format(&out, "\r");
    line_width = add_cut(&out, line, terminal_width() - 1);
    for (size_t at = line_width; at < before; at++)
        text_format(&out, " ");
    if (line_width == 0)
        text_format(&out, "\r");
    write_out(&out);
    text_free(&out);
}

void say_line(const struct text *line)
{
    if (tcgetpgrp(STDERR_FILENO) == getpgrp())
        replace_line(line);
}

void say_line_end(void)
{
    struct text nothing = {.bytes = ""};
    if (line_width > 0)
        replace_line(&nothing);
}

/* ---- Messages ----------------------------------------------------------- */

void say_text(const struct text *text)
{
    say_line_end();
    write_out(text);
}

void say_as_json(void)
{
    as_json = true;
}

void say_with_times(void)
{
    with_times = true;
}

/* Of the wall clock, as in other logs of the machine. */
static void put_time(struct text *line)
{
    struct timespec now;
    struct tm parts;
    char clock[16];
    clock_gettime(CLOCK_REALTIME, &now);
    if (localtime_r(&now.tv_sec, &parts) && strftime(clock, sizeof clock, "%H:%M:%S", &parts))
        text_format(line, "%s.%03ld ", clock, now.tv_nsec / 1000000);
}

static void write_document(struct text *line, redlock_level level, const struct text *message)
{
    static const char *const names[] = {"error", "warning", "info", "debug"};
    struct json json = {.out = line};
    json_open(&json, NULL, '{');
    json_string(&json, "event", "log");
    json_string(&json, "level", names[(int)level - REDLOCK_LOG_ERROR]);
    json_bytes(&json, "text", message->bytes, message->length);
    json_close(&json, '}');
}

static void say_message(redlock_level level, const char *format, va_list values)
{
    struct text message = {0}, line = {0};
    text_vformat(&message, format, values);
    if (as_json) {
        write_document(&line, level, &message);
    } else {
        text_format(&line, "redlock: ");
        if (with_times)
            put_time(&line);
        text_shown(&line, message.bytes, message.length);
    }
    text_format(&line, "\n");
    say_text(&line);
    text_free(&line);
    text_free(&message);
}

void say(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    say_message(REDLOCK_LOG_ERROR, format, values);
    va_end(values);
}

void say_at(redlock_level level, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    say_message(level, format, values);
    va_end(values);
}

static bool output_failed(void)
{
    /* A reader that closed the pipe wants no message. */
    if (errno != EPIPE)
        say("cannot write to stdout: %s", strerror(errno));
    return false;
}

/* A process that shares stdout may have made it non-blocking. */
static bool wait_for_room(void)
{
    struct pollfd ready = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&ready, 1, -1) >= 0 || errno == EINTR;
}

bool output_is_read(void)
{
    struct pollfd reader = {.fd = STDOUT_FILENO};
    return poll(&reader, 1, 0) <= 0 || !(reader.revents & (POLLERR | POLLHUP));
}

bool put_text(const struct text *text)
{
    size_t done = 0;
    while (done < text->length) {
        ssize_t put = write(STDOUT_FILENO, text->bytes + done, text->length - done);
        if (put >= 0) {
            done += (size_t)put;
        } else if (errno == EAGAIN) {
            if (!wait_for_room())
                return output_failed();
        } else if (errno != EINTR) {
            return output_failed();
        }
    }
    return true;
}
