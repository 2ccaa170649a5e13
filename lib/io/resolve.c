#include "resolve.h"

#include <ev.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system.h"

/* What the thread works on.  Two own it, the lookup and the thread: whoever leaves
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
    ev_async finished;
    struct ev_loop *loop;
    struct job *job;
    unsigned forks; /* the thread is not there in a forked child */
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

static void *run(void *argument)
{
    struct job *job = argument;
    struct addrinfo *list = NULL;
    int error = look_up(job->host, job->port, 0, &list);

    /* The loop and its watcher live at least until the lookup is cancelled, which
     * takes the mutex. */
    pthread_mutex_lock(&job->mutex);
    job->error = error;
    job->list = error ? NULL : list;
    job->thread_left = true;
    bool last = !job->resolve;
    if (!last)
        ev_async_send(job->resolve->loop, &job->resolve->finished);
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
    int error = pthread_create(&thread, &attributes, run, job);
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

static void stop_watching(struct resolve *resolve)
{
    ev_ref(resolve->loop);
    ev_async_stop(resolve->loop, &resolve->finished);
}

static void on_finished(struct ev_loop *loop, ev_async *watcher, int events)
{
    (void)loop, (void)events;
    struct resolve *resolve = watcher->data;
    struct job *job = resolve->job;
    if (resolve->forks != system_fork_count())
        return; /* the thread is the parent's */
    pthread_mutex_lock(&job->mutex);
    bool finished = job->thread_left;
    struct addrinfo *list = job->list;
    job->list = NULL;
    pthread_mutex_unlock(&job->mutex);
    if (!finished)
        return;
    const char *why = list ? NULL : gai_strerror(job->error);
    resolve_callback *callback = resolve->callback;
    void *owner = resolve->owner;
    resolve_cancel(resolve);
    callback(owner, list, why);
}

static struct resolve *resolve_new(struct ev_loop *loop, resolve_callback *callback, void *owner)
{
    struct resolve *resolve = calloc(1, sizeof *resolve);
    if (!resolve)
        return NULL;
    resolve->loop = loop;
    resolve->forks = system_fork_count();
    resolve->callback = callback;
    resolve->owner = owner;
    ev_async_init(&resolve->finished, on_finished);
    resolve->finished.data = resolve;
    return resolve;
}

struct resolve *resolve_start(struct ev_loop *loop, const char *host, int port,
                              resolve_callback *callback, void *owner)
{
    struct resolve *resolve = resolve_new(loop, callback, owner);
    struct job *job = job_new(host, port);
    if (!resolve || !job)
        goto failed;
    resolve->job = job;
    job->resolve = resolve;
    ev_async_start(loop, &resolve->finished);
    ev_unref(loop);
    if (start_thread(job) == 0)
        return resolve;
    stop_watching(resolve);
failed:
    free(resolve);
    if (job)
        job_free(job);
    return NULL;
}

void resolve_cancel(struct resolve *resolve)
{
    stop_watching(resolve);
    /* In a forked child the thread is gone, perhaps with the mutex held: leave the
     * job behind. */
    if (resolve->forks == system_fork_count())
        leave_job(resolve->job);
    free(resolve);
}
