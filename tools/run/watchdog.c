#include "watchdog.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/watchdog.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "duration.h"
#include "exits.h"
#include "failure.h"
#include "misuse.h"
#include "say.h"
#include "watchdog_times.h"

/* ---- Before it is opened ------------------------------------------------ */

static int refuse_path(const struct options *options, const char *why)
{
    struct text sentence = {0};
    text_format(&sentence, "--watchdog: ");
    text_shown(&sentence, options->watchdog, strlen(options->watchdog));
    text_format(&sentence, ": %s", why);
    failure_tell(options, "cannot lock", REDLOCK_E_ARGUMENT, sentence.bytes, NULL);
    text_free(&sentence);
    return EXIT_INTERNAL;
}

/* To open it would arm it. */
int watchdog_look(const struct options *options)
{
    struct stat file;
    if (!options->watchdog)
        return GO_ON;
    if (stat(options->watchdog, &file) < 0 ||
        faccessat(AT_FDCWD, options->watchdog, W_OK, AT_EACCESS) < 0)
        return refuse_path(options, strerror(errno));
    if (!S_ISCHR(file.st_mode) && !S_ISFIFO(file.st_mode))
        return refuse_path(options, "is no device, and no pipe");
    if (S_ISFIFO(file.st_mode) && options->watchdog_timeout_ms == 0)
        return misuse(options, "--watchdog: a pipe cannot be asked for its timeout: add "
                               "--watchdog-timeout D");
    return GO_ON;
}

/* ---- Which timeout it has ----------------------------------------------- */

static bool fits(int seconds, int64_t ttl_ms)
{
    return seconds >= WATCHDOG_LEAST_S && seconds <= watchdog_longest_s(ttl_ms);
}

/* One that fits already is its owner's choice. */
static int wanted_timeout(const struct options *options, int present)
{
    if (options->watchdog_timeout_ms > 0)
        return (int)(options->watchdog_timeout_ms / 1000);
    return fits(present, options->ttl_ms) ? present : (int)watchdog_longest_s(options->ttl_ms);
}

static void refuse_timeout(struct text *why, const struct options *options, int seconds)
{
    char ttl[DURATION_SIZE];
    int64_t longest = watchdog_longest_s(options->ttl_ms);
    text_format(why,
                "has a timeout of %d s, which cannot be changed to fit: with --ttl %s it must be "
                "from %d s to %" PRId64 " s",
                seconds, duration_show(ttl, options->ttl_ms), WATCHDOG_LEAST_S, longest);
    if (seconds > longest)
        text_format(why, "; use --ttl %" PRId64 "ms (and --max-ttl), or another device",
                    watchdog_ttl_ms(seconds));
    else
        text_format(why, "; use another device");
}

/* The driver may round what it is asked for, so it is read back. */
static bool set_timeout(struct watchdog *watchdog, const struct options *options, struct text *why)
{
    int seconds = 0;
    if (ioctl(watchdog->fd, WDIOC_GETTIMEOUT, &seconds) < 0)
        seconds = 0;
    int wanted = wanted_timeout(options, seconds), asked = wanted;
    if (wanted != seconds) {
        (void)ioctl(watchdog->fd, WDIOC_SETTIMEOUT, &asked);
        if (ioctl(watchdog->fd, WDIOC_GETTIMEOUT, &seconds) < 0)
            seconds = 0;
    }
    if (seconds == 0)
        text_format(why, "does not tell its timeout (WDIOC_GETTIMEOUT): use another device");
    else if (!fits(seconds, options->ttl_ms))
        refuse_timeout(why, options, seconds);
    watchdog->timeout_ms = INT64_C(1000) * seconds;
    return why->length == 0;
}

static bool ask_device(struct watchdog *watchdog, const struct options *options, struct text *why)
{
    struct watchdog_info info = {0};
    if (ioctl(watchdog->fd, WDIOC_GETSUPPORT, &info) < 0) {
        text_format(why, "is no watchdog: it does not answer WDIOC_GETSUPPORT (%s)",
                    strerror(errno));
        watchdog_close(watchdog);
        return false;
    }
    if (!(info.options & WDIOF_MAGICCLOSE))
        say_at(REDLOCK_LOG_WARNING,
               "the driver of the watchdog has no magic close: if this process and the guardian "
               "are killed, it may not reset this machine");
    return set_timeout(watchdog, options, why);
}

/* ---- Its life ----------------------------------------------------------- */

static void explain_open(struct text *why, int error, const struct stat *file)
{
    if (error == EBUSY)
        text_format(why, "is in use: only one process can feed it, such as another `redlock run`, "
                         "watchdogd, or systemd with RuntimeWatchdogSec=");
    else if (error == ENXIO && S_ISFIFO(file->st_mode))
        text_format(why, "is a pipe that nobody reads");
    else
        text_format(why, "cannot be opened: %s", strerror(error));
}

/* A pipe that nobody reads would hold us up. */
static bool open_path(struct watchdog *watchdog, const char *path, struct text *why)
{
    struct stat file = {0};
    watchdog->fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    int error = watchdog->fd < 0 ? errno : 0;
    (void)(error ? stat(path, &file) : fstat(watchdog->fd, &file));
    watchdog->is_device = S_ISCHR(file.st_mode);
    if (error)
        explain_open(why, error, &file);
    return !error;
}

bool watchdog_open(struct watchdog *watchdog, const struct options *options, struct text *why)
{
    *watchdog = (struct watchdog){.fd = -1, .timeout_ms = options->watchdog_timeout_ms};
    if (!open_path(watchdog, options->watchdog, why))
        return false;
    if (watchdog->is_device && !ask_device(watchdog, options, why)) {
        if (watchdog_is_open(watchdog))
            watchdog_disarm(watchdog);
        return false;
    }
    watchdog_feed(watchdog);
    watchdog->fed_at = boot_ms();
    return true;
}

/* A failure is no matter: the next feed comes soon. */
void watchdog_feed(const struct watchdog *watchdog)
{
    ssize_t fed = write(watchdog->fd, ".", 1);
    (void)fed;
}

/* The ioctl stops it at once, even while the other process has it open; not every driver has it. */
bool watchdog_disarm(struct watchdog *watchdog)
{
    int off = WDIOS_DISABLECARD;
    bool is_stuck =
        watchdog->is_device && ioctl(watchdog->fd, WDIOC_SETOPTIONS, &off) < 0 && errno == EBUSY;
    ssize_t told = write(watchdog->fd, "V", 1);
    (void)told;
    watchdog_close(watchdog);
    return !is_stuck;
}

void watchdog_close(struct watchdog *watchdog)
{
    close(watchdog->fd);
    watchdog->fd = -1;
}
