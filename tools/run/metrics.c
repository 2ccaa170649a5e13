#include "metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "metrics_text.h"
#include "say.h"

#define FIRST_S 1.0 /* a wait has begun by then */
#define THEN_S  15.0

/* ---- the file ----------------------------------------------------------- */

static bool write_all(int fd, const struct text *text)
{
    for (size_t done = 0; done < text->length;) {
        ssize_t sent = write(fd, text->bytes + done, text->length - done);
        if (sent > 0)
            done += (size_t)sent;
        else if (sent == 0 || errno != EINTR)
            return false;
    }
    return true;
}

/* Everybody may read it, whatever the umask: the collector is another user. */
static bool fill(int fd, const struct text *text)
{
    bool done = fchmod(fd, 0644) == 0 && write_all(fd, text);
    return close(fd) == 0 && done;
}

/* Only a file is replaced: no device, and no link to a file elsewhere. */
static bool may_be_replaced(const char *path)
{
    struct stat facts;
    if (lstat(path, &facts) != 0)
        return errno == ENOENT;
    errno = EEXIST;
    return S_ISREG(facts.st_mode);
}

static bool replace(const char *path, const struct text *text)
{
    struct text beside = {0};
    text_format(&beside, "%s.XXXXXX", path); /* the collector reads what ends with .prom */
    int fd = may_be_replaced(path) ? mkostemp(beside.bytes, O_CLOEXEC) : -1;
    bool done = fd >= 0 && fill(fd, text) && rename(beside.bytes, path) == 0;
    int error = errno;
    if (fd >= 0 && !done)
        unlink(beside.bytes);
    text_free(&beside);
    errno = error;
    return done;
}

/* A limit on the size of files (ulimit -f) sends a signal, which would go on to the command. */
static bool replace_quietly(const char *path, const struct text *text)
{
    struct sigaction ignored = {.sa_handler = SIG_IGN}, before;
    sigaction(SIGXFSZ, &ignored, &before);
    bool done = replace(path, text);
    int error = errno;
    sigaction(SIGXFSZ, &before, NULL);
    errno = error;
    return done;
}

static void tell(struct metrics *metrics, const char *path)
{
    const char *why = errno == EEXIST ? "there is something else than a file" : strerror(errno);
    if (!metrics->told)
        say_at(REDLOCK_LOG_WARNING, "cannot write the metrics to %s: %s; all else goes on", path,
               why);
    metrics->told = true;
}

static void put(struct metrics *metrics, bool ended)
{
    struct text text = {0};
    const char *path = metrics->session->options->metrics_file;
    metrics_text(&text, metrics->session, ended);
    if (!replace_quietly(path, &text))
        tell(metrics, path);
    text_free(&text);
}

/* ---- when --------------------------------------------------------------- */

static void on_time(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    put(timer->data, false);
}

void metrics_start(struct metrics *metrics, const struct session *session)
{
    if (!session->options->metrics_file)
        return;
    metrics->session = session;
    ev_timer_init(&metrics->timer, on_time, FIRST_S, THEN_S);
    metrics->timer.data = metrics;
    ev_timer_start(session->loop, &metrics->timer);
    ev_unref(session->loop);
    put(metrics, false);
}

void metrics_write(struct metrics *metrics)
{
    if (metrics->session)
        put(metrics, false);
}

void metrics_end(struct metrics *metrics)
{
    if (metrics->session)
        put(metrics, true);
}
