#include "blocking.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- A flag to wait for ---- */

struct flag {
    pthread_mutex_t lock;
    pthread_cond_t raised;
    bool up;
};

static void flag_init(struct flag *flag)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&flag->lock, NULL);
    pthread_cond_init(&flag->raised, &monotonic);
    pthread_condattr_destroy(&monotonic);
    flag->up = false;
}

static void flag_raise(struct flag *flag)
{
    pthread_mutex_lock(&flag->lock);
    flag->up = true;
    pthread_cond_signal(&flag->raised);
    pthread_mutex_unlock(&flag->lock);
}

static bool flag_wait(struct flag *flag, int64_t ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += ms % 1000 * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&flag->lock);
    while (!flag->up && !pthread_cond_timedwait(&flag->raised, &flag->lock, &until))
        continue;
    bool up = flag->up;
    pthread_mutex_unlock(&flag->lock);
    return up;
}

/* ---- Letters ---- */

struct inbox {
    atomic_uint users;
    pthread_mutex_t lock;
    pthread_cond_t news;
    struct letter *first, **end;
    bool closed;
};

struct inbox *inbox_new(void)
{
    struct inbox *box = calloc(1, sizeof *box);
    if (!box)
        return NULL;
    box->users = 1;
    box->end = &box->first;
    pthread_mutex_init(&box->lock, NULL);
    pthread_cond_init(&box->news, NULL);
    return box;
}

/* It takes no lock: in a forked child nobody would open that again. */
void inbox_drop(struct inbox *box)
{
    if (!box || --box->users)
        return;
    for (struct letter *next; box->first; box->first = next) {
        next = box->first->next;
        free(box->first);
    }
    free(box);
}

static void inbox_put(struct inbox *box, struct letter *letter)
{
    pthread_mutex_lock(&box->lock);
    *box->end = letter;
    box->end = &letter->next;
    pthread_cond_signal(&box->news);
    pthread_mutex_unlock(&box->lock);
}

struct letter *inbox_take(struct inbox *box)
{
    pthread_mutex_lock(&box->lock);
    while (!box->first && !box->closed)
        pthread_cond_wait(&box->news, &box->lock);
    struct letter *letter = box->first;
    if (letter && !(box->first = letter->next))
        box->end = &box->first;
    pthread_mutex_unlock(&box->lock);
    return letter;
}

void inbox_close(struct inbox *box)
{
    pthread_mutex_lock(&box->lock);
    box->closed = true;
    pthread_cond_signal(&box->news);
    pthread_mutex_unlock(&box->lock);
}

void letter_free(struct letter *letter)
{
    free(letter);
}

static struct letter *write_letter(uint64_t lease, const redlock_event *event)
{
    struct letter *letter = calloc(1, sizeof *letter);
    if (!letter)
        return NULL;
    letter->lease = lease;
    letter->event = *event;
    snprintf(letter->text, sizeof letter->text, "%s", event->text);
    letter->event.text = letter->text;
    letter->event.votes = NULL;
    return letter;
}

/* ---- Leases ---- */

struct holding {
    struct held held;
    redlock_sync *client;
    struct inbox *box;
    uint64_t number;
    pid_t process;
    atomic_int loss;
    const redlock_name *names;
    size_t count;
    redlock_lease_options options;
    struct flag done;
    pthread_t thread;
    bool threaded;
};

static struct holding *holding_of(const struct held *held)
{
    return (struct holding *)(uintptr_t)held;
}

struct held *held_new(redlock_sync *client, struct inbox *box, uint64_t number)
{
    struct holding *holding = calloc(1, sizeof *holding);
    if (!holding)
        return NULL;
    holding->held.result.size = sizeof holding->held.result;
    holding->client = client;
    holding->number = number;
    holding->process = getpid();
    flag_init(&holding->done);
    if (box) {
        box->users++;
        holding->box = box;
    }
    return &holding->held;
}

static void on_event(const redlock_event *event, void *data)
{
    struct holding *holding = data;
    if (event->kind == REDLOCK_LOST)
        holding->loss = (int)event->code;
    struct letter *letter = holding->box ? write_letter(holding->number, event) : NULL;
    if (letter)
        inbox_put(holding->box, letter);
}

redlock_code held_acquire(struct held *held, const redlock_name *names, size_t count,
                          const redlock_lease_options *options)
{
    struct holding *holding = holding_of(held);
    holding->options = *options;
    holding->options.on_event = on_event;
    holding->options.data = holding;
    return redlock_sync_acquire_names(holding->client, &held->lease, names, count,
                                      &holding->options, &held->result);
}

static void *acquire_beside(void *data)
{
    struct holding *holding = data;
    redlock_code code =
        held_acquire(&holding->held, holding->names, holding->count, &holding->options);
    holding->held.result.code = code;
    flag_raise(&holding->done);
    return NULL;
}

/* Signals are for the threads of Python. */
bool held_begin(struct held *held, const redlock_name *names, size_t count,
                const redlock_lease_options *options)
{
    struct holding *holding = holding_of(held);
    sigset_t all, former;
    holding->names = names;
    holding->count = count;
    holding->options = *options;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &former);
    holding->threaded = !pthread_create(&holding->thread, NULL, acquire_beside, holding);
    pthread_sigmask(SIG_SETMASK, &former, NULL);
    return holding->threaded;
}

bool held_wait(struct held *held, int64_t ms)
{
    struct holding *holding = holding_of(held);
    if (!flag_wait(&holding->done, ms))
        return false;
    if (holding->threaded)
        pthread_join(holding->thread, NULL);
    holding->threaded = false;
    return true;
}

redlock_code held_loss(const struct held *held)
{
    return (redlock_code)holding_of(held)->loss;
}

/* A cancel may come before the acquire has begun. */
void held_free(struct held *held)
{
    struct holding *holding = holding_of(held);
    bool forked = holding->process != getpid();
    while (holding->threaded && !forked && !held_wait(held, 1))
        redlock_sync_cancel(holding->client, holding);
    redlock_sync_lease_free(held->lease);
    inbox_drop(holding->box);
    free(holding);
}

/* ---- Barriers, latches and wishes ---- */

struct errand {
    struct task task;
    redlock_sync *client;
    pid_t process;
    const char *name;
    const void *options;
    latch_call *call;
    redlock_barrier *party;
    redlock_latch *latch;
    redlock_asker *asker;
    struct flag done;
    redlock_code refused;
    bool begun;
};

static struct errand *errand_of(struct task *task)
{
    return (struct errand *)(void *)task;
}

struct task *task_new(redlock_sync *client)
{
    struct errand *errand = calloc(1, sizeof *errand);
    if (!errand)
        return NULL;
    errand->client = client;
    errand->process = getpid();
    flag_init(&errand->done);
    return &errand->task;
}

static void finish(struct errand *errand, redlock_code code)
{
    errand->task.code = code;
    flag_raise(&errand->done);
}

static void on_passage(redlock_barrier *party, const redlock_barrier_result *passage, void *data)
{
    struct errand *errand = data;
    errand->task.passage = *passage;
    snprintf(errand->task.text, sizeof errand->task.text, "%s", passage->text);
    errand->task.passage.text = errand->task.text;
    errand->party = NULL;
    redlock_barrier_free(party);
    finish(errand, errand->task.passage.code);
}

static void on_tally(redlock_latch *latch, const redlock_latch_result *tally, void *data)
{
    struct errand *errand = data;
    errand->task.tally = *tally;
    errand->latch = NULL;
    redlock_latch_free(latch);
    finish(errand, errand->task.tally.code);
}

static void on_asked(redlock_asker *asker, const redlock_asked *asked, void *data)
{
    struct errand *errand = data;
    errand->task.asked = *asked;
    errand->asker = NULL;
    redlock_asker_free(asker);
    finish(errand, errand->task.asked.code);
}

static void begin_barrier(redlock *client, void *data)
{
    struct errand *errand = data;
    errand->refused = redlock_barrier_arrive(client, &errand->party, errand->name, errand->options,
                                             on_passage, errand);
}

static void begin_latch(redlock *client, void *data)
{
    struct errand *errand = data;
    errand->refused =
        errand->call(client, &errand->latch, errand->name, errand->options, on_tally, errand);
}

static void begin_ask(redlock *client, void *data)
{
    struct errand *errand = data;
    errand->refused =
        redlock_ask(client, &errand->asker, errand->name, errand->options, on_asked, errand);
}

/* A wish has no call that ends it: its result is ours. */
static void end_asker(struct errand *errand)
{
    redlock_asker_free(errand->asker);
    errand->asker = NULL;
    finish(errand, REDLOCK_E_CANCELLED);
}

static void leave(redlock *client, void *data)
{
    struct errand *errand = data;
    (void)client;
    if (errand->asker)
        end_asker(errand);
    if (errand->party)
        redlock_barrier_leave(errand->party);
    if (errand->latch)
        redlock_latch_cancel(errand->latch);
}

static redlock_code begin(struct task *task, const char *name, const void *options,
                          void (*function)(redlock *client, void *data))
{
    struct errand *errand = errand_of(task);
    errand->name = name;
    errand->options = options;
    redlock_code code = redlock_sync_run(errand->client, function, errand);
    if (!code)
        code = errand->refused;
    errand->begun = !code;
    return code;
}

redlock_code task_arrive(struct task *task, const char *name,
                         const redlock_barrier_options *options)
{
    return begin(task, name, options, begin_barrier);
}

redlock_code task_latch(struct task *task, latch_call *call, const char *name,
                        const redlock_latch_options *options)
{
    errand_of(task)->call = call;
    return begin(task, name, options, begin_latch);
}

redlock_code task_ask(struct task *task, const char *name, const redlock_ask_options *options)
{
    return begin(task, name, options, begin_ask);
}

bool task_wait(struct task *task, int64_t ms)
{
    return flag_wait(&errand_of(task)->done, ms);
}

/* After a close no result comes any more: the library has sent it, or never will. */
void task_free(struct task *task)
{
    struct errand *errand = errand_of(task);
    bool mine = errand->begun && errand->process == getpid();
    if (mine && !task_wait(task, 0) && !redlock_sync_run(errand->client, leave, errand))
        while (!task_wait(task, 1000) && !redlock_sync_run(errand->client, leave, errand))
            continue;
    free(errand);
}

/* ---- Metrics ---- */

static void write_metrics(redlock *client, void *data)
{
    char **text = data;
    size_t room = redlock_stats_text(client, NULL, 0) + 1;
    *text = malloc(room);
    if (*text)
        redlock_stats_text(client, *text, room);
}

char *metrics_of(redlock_sync *client)
{
    char *text = NULL;
    return redlock_sync_run(client, write_metrics, &text) ? NULL : text;
}

void text_free(char *text)
{
    free(text);
}
