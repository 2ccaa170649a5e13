#include "user.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void on_ready(redlock *client, redlock_code code, const char *text, void *data)
{
    struct user *user = data;
    (void)client;
    user->done = true;
    if (code)
        fprintf(stderr, "redlock-bench: %s\n", text);
    ev_break(user->loop, EVBREAK_ONE);
}

static void on_descriptor(struct ev_loop *loop, ev_io *ready, int events)
{
    struct user *user = ready->data;
    (void)loop, (void)events;
    if (redlock_process(user->client))
        abort();
}

static void watch(struct user *user)
{
    ev_init(&user->ready, on_descriptor);
    user->ready.data = user;
    if (redlock_fd(user->client) < 0)
        return;
    ev_io_set(&user->ready, redlock_fd(user->client), EV_READ);
    ev_io_start(user->loop, &user->ready);
}

bool user_open(struct user *user, const struct options *options, const struct cluster *cluster,
               struct ev_loop *loop, struct result *result)
{
    *user = (struct user){.loop = loop};
    redlock_options wanted = {.size = sizeof(redlock_options)};
    char why[200];
    wanted.nodes = cluster->nodes;
    wanted.max_ttl_ms = options->max_ttl_ms;
    wanted.request_timeout_ms = options->request_timeout_ms;
    wanted.spare = (int)options->spare;
    wanted.fleet = options->fleet ? options->fleet : "";
    wanted.on_ready = on_ready;
    wanted.data = user;
    struct ev_loop *of_client = options->descriptor ? NULL : loop;
    if (redlock_open(&user->client, of_client, &wanted, why, sizeof why)) {
        result_note(result, "%s", why);
        return false;
    }
    watch(user);
    while (!user->done)
        ev_run(loop, 0);
    return true;
}

static void on_turn(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)timer, (void)events;
    ev_break(loop, EVBREAK_ONE);
}

redlock_name user_name(char *bytes, const struct options *options, const char *kind,
                       unsigned number)
{
    size_t size = options->name_size;
    snprintf(bytes, size, "%s:%u", kind, number);
    size_t length = strlen(bytes);
    memset(bytes + length, '.', size - length);
    return (redlock_name){.size = sizeof(redlock_name), .bytes = bytes, .length = size};
}

void user_run_for(struct user *user, double seconds)
{
    ev_timer turn;
    ev_timer_init(&turn, on_turn, seconds, 0.);
    ev_now_update(user->loop);
    ev_timer_start(user->loop, &turn);
    ev_run(user->loop, 0);
    ev_timer_stop(user->loop, &turn);
}

static void on_closed(redlock *client, unsigned left, void *data)
{
    struct user *user = data;
    (void)client;
    if (left)
        fprintf(stderr, "redlock-bench: %u releases were not confirmed\n", left);
    user->done = true;
    ev_break(user->loop, EVBREAK_ONE);
}

void user_close_within(struct user *user, unsigned ms)
{
    user->done = false;
    redlock_close(user->client, ms, on_closed, user);
    while (!user->done)
        ev_run(user->loop, 0);
    ev_io_stop(user->loop, &user->ready);
}

void user_close(struct user *user)
{
    user_close_within(user, 5000);
    redlock_free(user->client);
    user->client = NULL;
}
