/* Ten steps of work under a lock, on GLib's main loop.  The masters: REDLOCK_NODES. */
#include <err.h>
#include <glib-unix.h>
#include <redlock.h>
#include <stdio.h>

static int steps = 10;
static GMainLoop *loop;

/* One step takes less than 200 ms: none is begun with less validity than that. */
static gboolean work(gpointer lease)
{
    if (redlock_lease_valid_for(lease) > 200 && steps > 0) {
        printf("%d to go, valid for %lld ms\n", steps--, (long long)redlock_lease_valid_for(lease));
        return G_SOURCE_CONTINUE;
    }
    redlock_lease_release(lease); /* also when it was lost: RELEASED ends every lease */
    return G_SOURCE_REMOVE;
}

static void on_event(redlock_lease *lease, const redlock_event *event, void *data)
{
    (void)data;
    printf("%s: %s\n", redlock_event_name(event->kind), event->text);
    if (event->kind == REDLOCK_ACQUIRED) {
        g_timeout_add(100, work, lease);
    } else if (event->kind == REDLOCK_RELEASED || event->kind == REDLOCK_NOT_ACQUIRED) {
        redlock_lease_free(lease);
        g_main_loop_quit(loop);
    }
}

static gboolean on_ready(gint fd, GIOCondition condition, gpointer client)
{
    (void)fd, (void)condition;
    return redlock_process(client) == REDLOCK_OK;
}

int main(void)
{
    char why[256];
    redlock *client;
    redlock_lease *lease;
    if (redlock_open(&client, NULL, NULL, why, sizeof why) != REDLOCK_OK)
        errx(1, "%s", why);
    loop = g_main_loop_new(NULL, FALSE);
    guint source = g_unix_fd_add(redlock_fd(client), G_IO_IN, on_ready, client);
    if (redlock_acquire(client, &lease, "ten-steps", NULL, on_event, NULL) == REDLOCK_OK)
        g_main_loop_run(loop);
    g_source_remove(source);
    g_main_loop_unref(loop);
    redlock_free(client);
    return steps > 0;
}
