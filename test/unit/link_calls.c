#define _GNU_SOURCE
#include "link_calls.h"

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

int __real_getaddrinfo(const char *, const char *, const struct addrinfo *, struct addrinfo **);
int __wrap_getaddrinfo(const char *, const char *, const struct addrinfo *, struct addrinfo **);
void __real_freeaddrinfo(struct addrinfo *);
void __wrap_freeaddrinfo(struct addrinfo *);
int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __wrap_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __real_eventfd_write(int, eventfd_t);
int __wrap_eventfd_write(int, eventfd_t);
void *__wrap_realloc(void *, size_t);
void *__real_malloc(size_t);
void *__wrap_malloc(size_t);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
/* Under the mutex. */
unsigned lookups_waiting, lookups_freed, lookups_handed;
static unsigned let_through;
static bool held_back;
bool lookup_blocks_signals;

bool no_threads, no_memory;

static void wait_turn(void)
{
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    pthread_mutex_lock(&mutex);
    lookup_blocks_signals = sigismember(&blocked, SIGINT) && sigismember(&blocked, SIGCHLD);
    unsigned turn = lookups_waiting++;
    pthread_cond_broadcast(&changed);
    while (let_through <= turn)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}

/* Two addresses, of which the first has no server. */
static int two_addresses(const char *port, const struct addrinfo *hints, struct addrinfo **list)
{
    struct addrinfo *second;
    int error = __real_getaddrinfo("127.0.0.2", port, hints, list);
    if (!error)
        error = __real_getaddrinfo("127.0.0.1", port, hints, &second);
    if (!error)
        (*list)->ai_next = second;
    return error;
}

int __wrap_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                       struct addrinfo **list)
{
    bool name = !(hints->ai_flags & AI_NUMERICHOST);
    if (name && strcmp(host, "slow.test") == 0) {
        wait_turn();
        host = "127.0.0.1";
    }
    if (name && strcmp(host, "two.test") == 0)
        return two_addresses(port, hints, list);
    if (name && strcmp(host, "none.test") == 0)
        return EAI_NONAME;
    return __real_getaddrinfo(host, port, hints, list);
}

static void count(unsigned *what)
{
    pthread_mutex_lock(&mutex);
    (*what)++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

void __wrap_freeaddrinfo(struct addrinfo *list)
{
    __real_freeaddrinfo(list);
    count(&lookups_freed);
}

int __wrap_eventfd_write(int fd, eventfd_t value)
{
    int result = __real_eventfd_write(fd, value);
    count(&lookups_handed);
    pthread_mutex_lock(&mutex);
    while (held_back)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    return result;
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *argument)
{
    return no_threads ? EAGAIN : __real_pthread_create(thread, attributes, run, argument);
}

void *__wrap_realloc(void *block, size_t size)
{
    return no_memory ? NULL : __real_realloc(block, size);
}

void *__wrap_malloc(size_t size)
{
    return no_memory ? NULL : __real_malloc(size);
}

void hold_back_answers(bool hold)
{
    pthread_mutex_lock(&mutex);
    held_back = hold;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

void await_at_least(const unsigned *count, unsigned wanted)
{
    pthread_mutex_lock(&mutex);
    while (*count < wanted)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}

void let_a_lookup_through(void)
{
    count(&let_through);
}

unsigned read_count(const unsigned *count)
{
    pthread_mutex_lock(&mutex);
    unsigned value = *count;
    pthread_mutex_unlock(&mutex);
    return value;
}
