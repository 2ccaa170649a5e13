#include "resolve.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "forks.h"
#include "io_loop.h"
#include "system.h"

/* The work of the thread.  The lookup and the thread both own it: the one that leaves
 * last frees it. */
struct job {
    pthread_mutex_t mutex;
    struct resolve *resolve; /* NULL: cancelled */
    bool thread_left;
    int error;
    struct addrinfo *list;
    char port[8];
    char host[];
};

struct resolve {
    int wakeup; /* an eventfd: the thread has finished */
    struct io_watch finished;
    struct job *job;
    unsigned process; /* the thread is not there in a forked child */
    resolve_callback *callback;
    void *owner;
};

static int look_up(const char *host, const char *port, int flags, struct addrinfo **list)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV | flags};
    return getaddrinfo(host, port, &hints, list);
}

struct addrinfo *resolve_numeric(const char *host, int port)
{
    char digits[8];
    struct addrinfo *list;
    snprintf(digits, sizeof digits, "%d", port);
    return look_up(host, digits, AI_NUMERICHOST, &list) == 0 ? list : NULL;
}

static void job_free(struct job *job)
{
    if (job->list)
        freeaddrinfo(job->list);
    pthread_mutex_destroy(&job->mutex);
    free(job);
}

static struct job *job_new(const char *host, int port)
{
    size_t size = strlen(host) + 1;
    struct job *job = calloc(1, sizeof *job + size);
    if (!job)
        return NULL;
    pthread_mutex_init(&job->mutex, NULL);
    memcpy(job->host, host, size);
    snprintf(job->port, sizeof job->port, "%d", port);
    return job;
}

/* ---- The thread ---- */

static void *run_lookup(void *argument)
{
    struct job *job = argument;
    struct addrinfo *list = NULL;
    int error = look_up(job->host, job->port, 0, &list);

    /* The descriptor stays open at least until the lookup is cancelled, which takes the
     * mutex. */
    pthread_mutex_lock(&job->mutex);
    job->error = error;
    job->list = error ? NULL : list;
    job->thread_left = true;
    bool last = !job->resolve;
    if (!last)
        eventfd_write(job->resolve->wakeup, 1);
    pthread_mutex_unlock(&job->mutex);
    if (last)
        job_free(job);
    return NULL;
}

/* Signals are for the application's own threads. */
static int start_thread(struct job *job)
{
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    int error = pthread_create(&thread, &attributes, run_lookup, job);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

/* ---- The loop's side ---- */

static void leave_job(struct job *job)
{
    pthread_mutex_lock(&job->mutex);
    job->resolve = NULL;
    bool last = job->thread_left;
    pthread_mutex_unlock(&job->mutex);
    if (last)
        job_free(job);
}

static void watch_lookup(struct resolve *resolve, int events)
{
    io_watch(&resolve->finished, resolve->wakeup, events);
}

/* The finding of the thread; false if the thread is still at work. */
static bool take_finding(struct job *job, struct addrinfo **list, int *error)
{
    pthread_mutex_lock(&job->mutex);
    bool finished = job->thread_left;
    *list = job->list;
    *error = job->error;
    job->list = NULL;
    pthread_mutex_unlock(&job->mutex);
    return finished;
}

static void on_finished(void *owner_of_watch, int events)
{
    struct resolve *resolve = owner_of_watch;
    struct addrinfo *list = NULL;
    int error = 0;
    bool refused = events & IO_REFUSED;
    if (resolve->process != forks_process()) {
        watch_lookup(resolve, 0); /* the thread is the parent's, and so is its wake-up */
        return;
    }
    if (!refused && !take_finding(resolve->job, &list, &error))
        return;
    const char *why = refused ? SYSTEM_NOT_WATCHED : list ? NULL : gai_strerror(error);
    resolve_callback *callback = resolve->callback;
    void *owner = resolve->owner;
    resolve_cancel(resolve);
    callback(owner, list, why);
}

static void resolve_free(struct resolve *resolve)
{
    close(resolve->wakeup);
    free(resolve);
}

static struct resolve *resolve_new(struct io_loop *loop, resolve_callback *callback, void *owner)
{
    struct resolve *resolve = calloc(1, sizeof *resolve);
    if (!resolve)
        return NULL;
    resolve->wakeup = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (resolve->wakeup < 0) {
        free(resolve);
        return NULL;
    }
    resolve->process = forks_process();
    resolve->callback = callback;
    resolve->owner = owner;
    resolve->finished = (struct io_watch){.loop = loop, .ready = on_finished, .owner = resolve};
    return resolve;
}

struct resolve *resolve_start(struct io_loop *loop, const char *host, int port,
                              resolve_callback *callback, void *owner)
{
    struct resolve *resolve = resolve_new(loop, callback, owner);
    if (!resolve)
        return NULL;
    struct job *job = job_new(host, port);
    if (job) {
        resolve->job = job;
        job->resolve = resolve;
        errno = start_thread(job);
        if (!errno) {
            watch_lookup(resolve, IO_READ);
            return resolve;
        }
    }
    int error = errno;
    if (job)
        job_free(job);
    resolve_free(resolve);
    errno = error;
    return NULL;
}

void resolve_cancel(struct resolve *resolve)
{
    watch_lookup(resolve, 0);
    /* In a forked child the thread is gone, perhaps with the mutex held: the job is
     * left behind. */
    if (resolve->process == forks_process())
        leave_job(resolve->job);
    resolve_free(resolve);
}
