/* Random bytes that are older than a connection may be part of a snapshot from which several
 * machines go on: each has to connect anew, and draws its own then. */
#define _GNU_SOURCE
#include <ev.h>
#include <redlock.h>
#include <stdio.h>
#include <time.h>

#include "fake_master.h"
#include "unit.h"

void __real_randombytes_buf(void *, size_t);
void __wrap_randombytes_buf(void *, size_t);
int __real_clock_gettime(clockid_t, struct timespec *);
int __wrap_clock_gettime(clockid_t, struct timespec *);

static unsigned drawn;

void __wrap_randombytes_buf(void *bytes, size_t size)
{
    drawn++;
    __real_randombytes_buf(bytes, size);
}

/* Wall clocks stand still: no bytes grow old. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
    if (clock != CLOCK_REALTIME)
        return __real_clock_gettime(clock, time);
    *time = (struct timespec){.tv_sec = 1000000000};
    return 0;
}

static void connect_once(struct fake_master *fake)
{
    fake->heard_length = 0;
    while (!fake->heard_length)
        ev_run(fake->loop, EVRUN_ONCE);
}

CASE(each_connection_draws_its_own)
{
    struct fake_master fake;
    redlock *client;
    char nodes[100];
    redlock_options options = {.size = sizeof(redlock_options)};
    fake_listen(&fake, ev_loop_new(0));
    snprintf(nodes, sizeof nodes, "redis://127.0.0.1:%d", fake.port);
    options.nodes = nodes;
    assert_int_equal(redlock_open(&client, fake.loop, &options, NULL, 0), REDLOCK_OK);
    /* The next draw after a connection was made is the pause after its end. */
    for (unsigned connections = 1; connections <= 3; connections++) {
        connect_once(&fake);
        assert_int_equal(drawn, connections);
        fake_hang_up(&fake);
    }
    redlock_free(client);
    struct ev_loop *loop = fake.loop;
    fake_free(&fake);
    ev_loop_destroy(loop);
}

PROGRAM_OF_CASES(NULL, NULL)
