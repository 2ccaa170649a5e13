/*
 * wish_watcher.c - hears, for a lease that heeds no wishes, that another process has taken its
 * token.
 *
 * Nothing is ever said of the name that it observes.  So it asks only those masters that can push.
 */
#include <string.h>

#include "lease/view.h"
#include "masters/master.h"
#include "masters/subscription.h"
#include "recipes/task.h"
#include "recipes/wish.h"

#define ASK_AGAIN MS(TASK_TOLD_FOR / 3)

struct watcher {
    struct task task;
    struct taken taken;
    char token[TOKEN_MAX + 1];
    usec due[]; /* each master is asked again then */
};

static struct watcher *watcher_of(struct task *task)
{
    return (struct watcher *)(void *)task;
}

static void watcher_ask(struct engine *e, struct task *task, unsigned master, int64_t told_for_ms)
{
    task_send(e, task, master,
              &(struct request){.tag = {.kind = REQUEST_OBSERVE},
                                .ttl_ms = told_for_ms,
                                .channel = e->config.channel});
}

static bool watcher_can_hear(const struct engine *e, unsigned master)
{
    return master_is_up(&e->masters[master]) && subscription_is_to_same_process(e, master);
}

/* Without a master that can push it looks after the subscriptions all the same. */
static usec watcher_ask_when_due(struct engine *e, struct watcher *watcher)
{
    usec next = e->now + ASK_AGAIN;
    for (unsigned i = 0; i < e->config.masters; i++) {
        if (!watcher_can_hear(e, i) || task_is_asking(&watcher->task, i))
            continue;
        if (e->now >= watcher->due[i])
            watcher_ask(e, &watcher->task, i, TASK_TOLD_FOR);
        else if (watcher->due[i] < next)
            next = watcher->due[i];
    }
    return next;
}

static void watcher_work(struct engine *e, struct task *task)
{
    struct watcher *watcher = watcher_of(task);
    usec next = watcher_ask_when_due(e, watcher);
    subscription_keep(e);
    usec renews_at = taken_renew_when_due(e, &watcher->taken, watcher->token);
    task_wake_at(e, task, renews_at < next ? renews_at : next);
}

static void watcher_hear(struct engine *e, struct task *task, unsigned master,
                         const struct reply *reply)
{
    (void)reply;
    watcher_of(task)->due[master] = task_needs_text(task, master) ? 0 : e->now + ASK_AGAIN;
}

static void watcher_forget(struct engine *e, struct task *task, unsigned master)
{
    (void)e;
    watcher_of(task)->due[master] = 0;
}

static void watcher_look(struct engine *e, struct task *task, unsigned master,
                         const struct said *said)
{
    struct watcher *watcher = watcher_of(task);
    (void)e;
    if (!said)
        watcher->due[master] = 0;
    else if (taken_is_told(said, watcher->token))
        taken_note(&watcher->taken, master);
}

static void watcher_drop(struct engine *e, struct task *task)
{
    for (unsigned i = 0; i < e->config.masters && !task_looks_at(e, task->names); i++)
        if (watcher_can_hear(e, i))
            watcher_ask(e, task, i, 0);
}

static void watcher_free(struct engine *e, struct task *task)
{
    (void)e, (void)task;
}

static bool watcher_inherit(struct engine *e, struct task *task, const struct task *former)
{
    (void)e;
    const struct watcher *was = (const struct watcher *)(const void *)former;
    memcpy(watcher_of(task)->token, was->token, sizeof was->token);
    return true;
}

static const struct task_kind WATCHER = {.size = sizeof(struct watcher),
                                         .each = sizeof(usec),
                                         .work = watcher_work,
                                         .hear = watcher_hear,
                                         .forget = watcher_forget,
                                         .look = watcher_look,
                                         .inherit = watcher_inherit,
                                         .drop = watcher_drop,
                                         .free = watcher_free};

struct task *watcher_new(struct engine *e, struct names *names, const struct lease *lease,
                         void *owner)
{
    struct task *task = task_new(e, &WATCHER, names, owner);
    if (task)
        lease_token(e, lease, watcher_of(task)->token);
    return task;
}
