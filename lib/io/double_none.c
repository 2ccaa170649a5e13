/*
 * double_none.c - no masters inside this process, and the system's time: all of libredlock.
 */
#include "double.h"

#include <errno.h>

unsigned double_masters(void)
{
    return 0;
}

void double_note_client(bool begins)
{
    (void)begins;
}

int double_connect(unsigned master)
{
    (void)master;
    errno = ECONNREFUSED;
    return -1;
}

bool double_has(int fd)
{
    (void)fd;
    return false;
}

int double_connected(int fd)
{
    (void)fd;
    return EBADF;
}

ssize_t double_read(int fd, char *bytes, size_t size)
{
    (void)fd, (void)bytes, (void)size;
    return 0;
}

ssize_t double_write(int fd, const char *bytes, size_t size)
{
    (void)fd, (void)bytes, (void)size;
    errno = EBADF;
    return -1;
}

void double_close(int fd)
{
    (void)fd;
}

int64_t double_now(int64_t real)
{
    return real;
}

bool double_is_virtual(void)
{
    return false;
}

struct io_loop *double_loop_new(void (*turn)(void *owner), void *owner)
{
    (void)turn, (void)owner;
    return NULL;
}

struct test_loop *double_follow(int64_t (*turn)(void *owner), void *owner)
{
    (void)turn, (void)owner;
    return NULL;
}

void double_stir(struct test_loop *place)
{
    (void)place;
}

bool double_is_here(void)
{
    return true;
}

bool double_runs(void)
{
    return false;
}

bool double_go_on(int64_t until)
{
    (void)until;
    return false;
}
