/*
 * descriptor_loop.c - with REDLOCK_TEST_LOOP=fd, the clients of a live test are not on its loop.
 * Each shows a descriptor, and the loop watches that, as an application's loop would.
 *
 * The linker's --wrap puts it between the tests and redlock_open(), redlock_free().
 */
#include <ev.h>
#include <fcntl.h>
#include <redlock.h>
#include <stdlib.h>
#include <string.h>

struct place {
    redlock *client; /* NULL: a free place */
    struct ev_loop *loop;
    ev_io ready;
    ev_prepare look; /* at whether the client is to keep the loop alive */
    bool holds, inside, freed;
    int fd;
};

/* Not from malloc(), which some tests let fail. */
static struct place places[64];

redlock_code __real_redlock_open(redlock **client, struct ev_loop *loop,
                                 const redlock_options *options, char *why, size_t why_size);
redlock_code __wrap_redlock_open(redlock **client, struct ev_loop *loop,
                                 const redlock_options *options, char *why, size_t why_size);
void __real_redlock_free(redlock *client);
void __wrap_redlock_free(redlock *client);

static void hold(struct place *place, bool holds)
{
    if (holds && !place->holds)
        ev_ref(place->loop);
    else if (!holds && place->holds)
        ev_unref(place->loop);
    place->holds = holds;
}

static void leave(struct place *place)
{
    hold(place, false);
    ev_ref(place->loop);
    ev_io_stop(place->loop, &place->ready);
    ev_ref(place->loop);
    ev_prepare_stop(place->loop, &place->look);
    place->client = NULL;
}

static struct place *place_of(const redlock *client)
{
    for (unsigned i = 0; i < sizeof places / sizeof *places; i++)
        if (places[i].client == client)
            return &places[i];
    return NULL;
}

/* A callback may run the loop, which then finds the descriptor still readable.  libev may not be
 * able to watch it just now. */
static void on_ready(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct place *place = watcher->data;
    if (events & EV_ERROR) {
        ev_ref(loop);
        ev_io_set(watcher, place->fd, EV_READ);
        ev_io_start(loop, watcher);
        ev_unref(loop);
    }
    if (place->inside)
        return;
    place->inside = true;
    redlock_code code = redlock_process(place->client);
    place->inside = false;
    if (code == REDLOCK_E_FORKED)
        return; /* this is a child, which inherited the loop */
    if (code)
        abort();
    if (place->freed)
        leave(place);
}

static void on_look(struct ev_loop *loop, ev_prepare *watcher, int events)
{
    struct place *place = watcher->data;
    (void)loop, (void)events;
    if (!place->freed)
        hold(place, redlock_is_busy(place->client));
}

static void take_place(redlock *client, struct ev_loop *loop)
{
    struct place *place = place_of(NULL);
    if (!place)
        abort();
    *place = (struct place){client, loop, .fd = redlock_fd(client)};
    ev_io_init(&place->ready, on_ready, place->fd, EV_READ);
    ev_prepare_init(&place->look, on_look);
    place->ready.data = place->look.data = place;
    ev_io_start(loop, &place->ready);
    ev_unref(loop);
    ev_prepare_start(loop, &place->look);
    ev_unref(loop);
    on_look(loop, &place->look, 0);
}

redlock_code __wrap_redlock_open(redlock **client, struct ev_loop *loop,
                                 const redlock_options *options, char *why, size_t why_size)
{
    const char *kind = getenv("REDLOCK_TEST_LOOP");
    bool shows_fd = client && loop && kind && strcmp(kind, "fd") == 0;
    redlock_code code = __real_redlock_open(client, shows_fd ? NULL : loop, options, why, why_size);
    if (shows_fd && !code)
        take_place(*client, loop);
    return code;
}

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

/* A client that is freed by one of its callbacks, or by on_log, needs one more turn. */
void __wrap_redlock_free(redlock *client)
{
    struct place *place = client ? place_of(client) : NULL;
    __real_redlock_free(client);
    if (!place)
        return;
    place->freed = true;
    hold(place, true);
    if (!place->inside && !is_open(place->fd))
        leave(place);
}
