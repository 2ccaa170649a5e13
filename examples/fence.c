/* Ten writes under a lock, on an event loop, to a Redis server that refuses late writes: each
 * carries the lease's fence to examples/fenced/fenced_set.lua.  The masters: REDLOCK_NODES.  The
 * server is not one of them.
 *
 *     example_fence HOST PORT "$(redis-cli -h HOST -p PORT SCRIPT LOAD "$(cat fenced_set.lua)")" */
#include <err.h>
#include <ev.h>
#include <hiredis/adapters/libev.h>
#include <hiredis/async.h>
#include <redlock.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static redisAsyncContext *server; /* NULL when there is no connection */
static redlock_lease *lease;      /* NULL when it is over */
static const char *script;
static int writes = 10;

static void on_written(redisAsyncContext *context, void *answer, void *data);

static void write_next(void)
{
    if (writes > 0 && server && redlock_lease_valid_for(lease) > 0 &&
        redisAsyncCommand(server, on_written, NULL, "EVALSHA %s 1 ten-writes %lld to-go %d", script,
                          (long long)redlock_lease_fence(lease), writes - 1) == REDIS_OK)
        return;
    redlock_lease_release(lease); /* also when it was lost: RELEASED ends every lease */
}

static void on_written(redisAsyncContext *context, void *answer, void *data)
{
    (void)context, (void)data;
    const redisReply *reply = answer;
    if (reply && reply->type != REDIS_REPLY_ERROR) {
        printf("%d to go, valid for %lld ms\n", --writes,
               (long long)redlock_lease_valid_for(lease));
        write_next();
        return;
    }
    /* FENCED: a newer holder has written, so a retry is of no use. */
    fprintf(stderr, "not written: %s\n", reply ? reply->str : "no answer");
    if (lease)
        redlock_lease_release(lease);
}

static void on_event(redlock_lease *handle, const redlock_event *event, void *data)
{
    (void)data;
    printf("%s: %s\n", redlock_event_name(event->kind), event->text);
    if (event->kind == REDLOCK_ACQUIRED) {
        printf("fence %lld\n", (long long)event->fence);
        write_next();
    } else if (event->kind == REDLOCK_LOST) {
        /* A write may still be on its way: once the next holder has written, it is refused. */
        redlock_lease_release(handle);
    } else if (event->kind == REDLOCK_RELEASED || event->kind == REDLOCK_NOT_ACQUIRED) {
        redlock_lease_free(handle);
        lease = NULL;
        if (server)
            redisAsyncFree(server);
    }
}

/* Called when connected, when that failed, and at the end: without OK the connection is about to
 * be freed. */
static void on_connection(const redisAsyncContext *context, int status)
{
    if (status == REDIS_OK)
        return;
    fprintf(stderr, "no connection: %s\n", context->errstr);
    server = NULL;
}

static void open_server(const char *host, const char *port)
{
    server = redisAsyncConnect(host, atoi(port));
    if (!server || server->err)
        errx(1, "%s", server ? server->errstr : "out of memory");
    signal(SIGPIPE, SIG_IGN); /* hiredis may write to what the other side has closed */
    redisLibevAttach(EV_DEFAULT, server);
    redisAsyncSetConnectCallback(server, on_connection);
    redisAsyncSetDisconnectCallback(server, on_connection);
}

int main(int argc, char **argv)
{
    char why[256];
    redlock *client;
    redlock_lease_options options = {.size = sizeof options, .fence = true};
    if (argc != 4)
        return 64;
    script = argv[3];
    open_server(argv[1], argv[2]);
    if (redlock_open(&client, EV_DEFAULT, NULL, why, sizeof why) != REDLOCK_OK)
        errx(1, "%s", why);
    if (redlock_acquire(client, &lease, "ten-writes", &options, on_event, NULL) == REDLOCK_OK)
        ev_run(EV_DEFAULT, 0); /* returns when neither a lease nor the connection is left */
    redlock_free(client);
    return writes > 0;
}
