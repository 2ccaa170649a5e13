/*
 * fake_master.h - a master that says only what a test tells it to say.  It lives on
 * the test's own loop and serves one connection at a time.
 */
#ifndef REDLOCK_TEST_FAKE_MASTER_H
#define REDLOCK_TEST_FAKE_MASTER_H

#include <stdbool.h>
#include <stddef.h>

#include <ev.h>

struct fake_master {
    struct ev_loop *loop;
    ev_io accepting, reading;
    int listener, connection; /* -1: none */
    int port;
    char path[108];
    unsigned accepted;
    bool reads_nothing;
    bool left_by; /* the other side has closed */
    char *heard;
    size_t heard_length, heard_capacity;
};

/* Listens on 127.0.0.1 and a free port, or on a socket of its own in the current directory. */
void fake_listen(struct fake_master *fake, struct ev_loop *loop);
void fake_listen_unix(struct fake_master *fake, struct ev_loop *loop);

void fake_say_bytes(struct fake_master *fake, const char *bytes, size_t length);
void fake_say(struct fake_master *fake, const char *text);

void fake_go_deaf(struct fake_master *fake);
void fake_hear_again(struct fake_master *fake);

void fake_hang_up(struct fake_master *fake);
void fake_reset(struct fake_master *fake);

/* Stops every watcher, so that the loop belongs to the link alone; the sockets stay open. */
void fake_let_go_of_loop(struct fake_master *fake);
void fake_free(struct fake_master *fake);

#endif
