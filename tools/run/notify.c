#include "notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "say.h"

#define STATUS_MOST 1000 /* systemd refuses messages of more than 4 KiB */
#define AGAIN_S     0.1

static void give_up(struct notify *notify, const char *why)
{
    if (!notify->quiet)
        say_at(REDLOCK_LOG_WARNING, "NOTIFY_SOCKET=%s: %s; the service manager gets no messages",
               getenv("NOTIFY_SOCKET"), why);
    notify->length = 0;
}

/* ---- Sending ------------------------------------------------------------ */

/* From a socket of its own: the manager's may be a new one since the last message. */
static int send_message(const struct notify *notify)
{
    int from = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (from < 0)
        return errno;
    ssize_t sent = sendto(from, notify->message.bytes, notify->message.length, MSG_NOSIGNAL,
                          (const struct sockaddr *)&notify->address, notify->length);
    int error = sent < 0 ? errno : 0;
    close(from);
    return error;
}

static void try_to_send(struct notify *notify)
{
    int error = send_message(notify);
    ev_timer_stop(notify->loop, &notify->again);
    if (error == EAGAIN)
        ev_timer_start(notify->loop, &notify->again);
    else if (error)
        give_up(notify, strerror(error));
}

static void on_again(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    try_to_send(timer->data);
}

/* ---- What is sent ------------------------------------------------------- */

/* It must be valid UTF-8 in one line, and is cut between two characters. */
static void add_status(struct text *message, const struct text *status)
{
    struct text line = {0};
    text_shown(&line, status->bytes, status->length);
    size_t length = utf8_cut(line.bytes, line.length, STATUS_MOST);
    text_format(message, "STATUS=%.*s", (int)length, line.bytes);
    text_free(&line);
}

static struct text make_message(enum notify_state state, const struct text *status)
{
    static const char *const lines[] = {"", "READY=1\n", "STOPPING=1\n"};
    struct text message = {0};
    text_format(&message, "%s", lines[state]);
    add_status(&message, status);
    return message;
}

void notify_tell(struct notify *notify, enum notify_state state, const struct text *status)
{
    if (!notify_is_wanted(notify))
        return;
    if (state > notify->state)
        notify->state = state;
    struct text message = make_message(notify->state, status);
    bool is_news = !notify->message.bytes || strcmp(message.bytes, notify->message.bytes) != 0;
    text_free(&notify->message);
    notify->message = message;
    if (is_news)
        try_to_send(notify);
}

/* ---- Whom it is sent to ------------------------------------------------- */

/* A path, or with an @ a name in the abstract namespace, which begins with a NUL there. */
static void take_address(struct notify *notify, const char *name)
{
    size_t length = strlen(name);
    bool is_abstract = name[0] == '@';
    if ((name[0] != '/' && !is_abstract) || length < 2 ||
        length >= sizeof(notify->address.sun_path)) {
        give_up(notify, "is neither the path of a socket nor an @ with a name");
        return;
    }
    notify->address.sun_family = AF_UNIX;
    memcpy(notify->address.sun_path, name, length + 1);
    if (is_abstract)
        notify->address.sun_path[0] = '\0';
    notify->length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + !is_abstract);
}

void notify_open(struct notify *notify, struct ev_loop *loop, bool quiet)
{
    const char *name = getenv("NOTIFY_SOCKET");
    *notify = (struct notify){.loop = loop, .quiet = quiet};
    ev_timer_init(&notify->again, on_again, AGAIN_S, 0);
    notify->again.data = notify;
    if (name && name[0])
        take_address(notify, name);
}

void notify_close(struct notify *notify)
{
    text_free(&notify->message);
}
