#define _GNU_SOURCE
#include "faults.h"

#include <dlfcn.h>
#include <errno.h>
#include <ev.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../plain_memory.h"
#include "memory.h"

#ifdef REDLOCK_TLS
#include <openssl/crypto.h>
#endif

static bool armed;
static enum fault kind;
static unsigned left;  /* until it strikes; 0: it has */
static unsigned spell; /* how many more to strike */

enum means { MEMORY, TLS_MEMORY, CALLS };

static enum means means_of(enum fault fault)
{
    return fault <= FAULT_MEMORY_SPELL ? MEMORY : fault == FAULT_TLS_MEMORY ? TLS_MEMORY : CALLS;
}

static bool strikes(enum means means)
{
    if (!armed || means != means_of(kind))
        return false;
    if (left == 0)
        return spell > 0 && spell--;
    return --left == 0;
}

/* Shared libraries call the functions below, too. */
#pragma GCC visibility push(default)

/* ---- Memory ---- */

#ifdef SANITIZED
#define OURS(name) __wrap_##name
#define REAL(name) __real_##name
#else
#define OURS(name) name
#define REAL(name) __libc_##name
#endif

void *REAL(malloc)(size_t size);
void *REAL(calloc)(size_t count, size_t size);
void *REAL(realloc)(void *block, size_t size);
void *OURS(malloc)(size_t size);
void *OURS(calloc)(size_t count, size_t size);
void *OURS(realloc)(void *block, size_t size);

static bool no_memory(void)
{
    bool none = strikes(MEMORY);
    if (none)
        errno = ENOMEM;
    return none;
}

void *OURS(malloc)(size_t size)
{
    return no_memory() ? NULL : REAL(malloc)(size);
}

void *OURS(calloc)(size_t count, size_t size)
{
    return no_memory() ? NULL : REAL(calloc)(count, size);
}

void *OURS(realloc)(void *block, size_t size)
{
    return no_memory() ? NULL : REAL(realloc)(block, size);
}

struct memory client_memory(struct pool *pool)
{
    (void)pool;
    return (struct memory)PLAIN_MEMORY;
}

void pool_end(struct pool *pool)
{
    (void)pool;
}

#ifdef SANITIZED /* elsewhere they call malloc */
char *__real_strdup(const char *string);
char *__wrap_strdup(const char *string);
char *__wrap_strdup(const char *string)
{
    return no_memory() ? NULL : __real_strdup(string);
}
#endif

/* libev ends the process when it gets no memory; that is its right. */
static void *for_the_loop(void *block, long size)
{
    if (size)
        return REAL(realloc)(block, (size_t)size);
    free(block);
    return NULL;
}

#ifdef REDLOCK_TLS
static void *allocate_for_tls(void *block, size_t size)
{
    return strikes(TLS_MEMORY) ? NULL : REAL(realloc)(block, size);
}

static void *tls_malloc(size_t size, const char *file, int line)
{
    (void)file, (void)line;
    return allocate_for_tls(NULL, size);
}

static void *tls_realloc(void *block, size_t size, const char *file, int line)
{
    (void)file, (void)line;
    if (size)
        return allocate_for_tls(block, size);
    free(block);
    return NULL;
}

static void tls_free(void *block, const char *file, int line)
{
    (void)file, (void)line;
    free(block);
}
#endif

/* ---- Sockets ---- */

#define NEXT(name) (*(__typeof__(&(name)) *)(void *[]){dlsym(RTLD_NEXT, #name)})

int socket(int domain, int type, int protocol)
{
    if (kind == FAULT_CALL_FAILS && strikes(CALLS)) {
        errno = EMFILE;
        return -1;
    }
    return NEXT(socket)(domain, type, protocol);
}

int connect(int fd, const struct sockaddr *address, socklen_t size)
{
    if (kind == FAULT_CALL_FAILS && strikes(CALLS)) {
        errno = ENETUNREACH;
        return -1;
    }
    return NEXT(connect)(fd, address, size);
}

int getsockopt(int fd, int level, int option, void *value, socklen_t *size)
{
    int result = NEXT(getsockopt)(fd, level, option, value, size);
    if (option == SO_ERROR && kind == FAULT_CALL_FAILS && strikes(CALLS))
        *(int *)value = ECONNREFUSED;
    return result;
}

ssize_t send(int fd, const void *bytes, size_t length, int flags)
{
    if (kind < FAULT_CALL_END && strikes(CALLS)) {
        if (kind == FAULT_CALL_PARTLY && length > 1)
            return NEXT(send)(fd, bytes, 1, flags);
        errno = kind == FAULT_CALL_FAILS ? ECONNRESET : kind == FAULT_CALL_EINTR ? EINTR : EAGAIN;
        return -1;
    }
    return NEXT(send)(fd, bytes, length, flags);
}

static bool is_socket(int fd)
{
    int type;
    socklen_t size = sizeof type;
    return NEXT(getsockopt)(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0;
}

static bool read_fails(int fd, ssize_t *result)
{
    if (!armed || kind > FAULT_CALL_END || !is_socket(fd) || !strikes(CALLS))
        return false;
    *result = kind == FAULT_CALL_END ? 0 : -1;
    errno = kind == FAULT_CALL_FAILS ? ECONNRESET : kind == FAULT_CALL_EINTR ? EINTR : EAGAIN;
    return true;
}

ssize_t read(int fd, void *bytes, size_t length)
{
    ssize_t result;
    return read_fails(fd, &result) ? result : NEXT(read)(fd, bytes, length);
}

ssize_t recv(int fd, void *bytes, size_t length, int flags)
{
    ssize_t result;
    return read_fails(fd, &result) ? result : NEXT(recv)(fd, bytes, length, flags);
}

/* ---- Watching ---- */

int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
    if (kind > FAULT_CALL_END && operation != EPOLL_CTL_DEL && strikes(CALLS)) {
        errno = ENOSPC;
        return -1;
    }
    return NEXT(epoll_ctl)(epoll, operation, fd, event);
}

/* ---- */

void faults_begin(void)
{
    ev_set_allocator(for_the_loop);
#ifdef REDLOCK_TLS
    if (!CRYPTO_set_mem_functions(tls_malloc, tls_realloc, tls_free))
        abort();
#endif
}

void fault_arm(enum fault fault, unsigned n)
{
    kind = fault;
    left = n;
    spell = fault == FAULT_MEMORY_SPELL ? 9 : fault == FAULT_WATCH_ALL ? UINT_MAX : 0;
    armed = true;
}

bool fault_disarm(void)
{
    armed = false;
    return left == 0;
}
