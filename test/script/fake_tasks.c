#include "fake_tasks.h"

#include <stdio.h>
#include <string.h>

static void write_barrier(struct fake *fake, char *to, size_t size, const struct request *request)
{
    const char *whole = request->whole ? " whole" : "";
    const char *token = fake_token(fake, request->token, request->token_length);
    if (request->tag.kind == REQUEST_DEPART)
        snprintf(to, size, " %lld %s of %u%s", (long long)request->generation, token,
                 request->parties, whole);
    else
        snprintf(to, size, " %lld %s of %u for %s kept %s%s%s", (long long)request->generation,
                 token, request->parties, fake_time(MS(request->ttl_ms)),
                 fake_time(MS(request->kept_ms)), request->passed ? " passed" : "", whole);
}

void fake_tasks_write_request(struct fake *fake, char *to, size_t size,
                              const struct request *request)
{
    struct slice name = names_at(request->names, 0);
    const char *whole = request->whole ? " whole" : "";
    int used = snprintf(to, size, " %.*s", (int)name.length, name.bytes);
    to += used;
    size -= (size_t)used;
    if (request->tag.kind == REQUEST_ARRIVE || request->tag.kind == REQUEST_DEPART) {
        write_barrier(fake, to, size, request);
        return;
    }
    if (request->tag.kind == REQUEST_OBSERVE) {
        snprintf(to, size, " for %s%s%s", fake_time(MS(request->ttl_ms)),
                 request->channel ? "" : " unheard", whole);
        return;
    }
    used =
        snprintf(to, size, " %s term %s", fake_token(fake, request->token, request->token_length),
                 fake_time(request->fence - EPOCH));
    to += used;
    size -= (size_t)used;
    if (request->tag.kind == REQUEST_ANNOUNCE)
        snprintf(to, size, " number %lld value %.*s for %s%s", (long long)request->number,
                 (int)request->value_length, request->value, fake_time(MS(request->ttl_ms)), whole);
    else
        snprintf(to, size, "%s", whole);
}

/* ---- news ---------------------------------------------------------------------- */

void fake_tasks_note(struct fake *fake, struct task *core)
{
    (void)fake;
    ((struct fake_task *)task_owner(core))->untold = true;
}

static void note_said(struct fake *fake, struct fake_task *task, const struct task_news *news)
{
    const struct said *said = &news->said;
    if (said->term < task->told.term ||
        (said->term == task->told.term && said->number < task->told.number))
        fake_break(fake, "%s is told what was said before what it was told last", task->name);
    task->told = *said;
    fake_note(fake, "tell %s said %.*s: term %s number %lld on %u/%u", task->name,
              (int)said->value_length, said->value, fake_time(said->term - EPOCH),
              (long long)said->number, news->masters, fake->engine.config.masters);
}

static void note_passage(struct fake *fake, struct fake_task *task, const struct task_news *news)
{
    static const char *const names[] = {
        [PASSAGE_PASSED] = "passed", [PASSAGE_NOT] = "not passed", [PASSAGE_UNKNOWN] = "undecided"};
    if (task->ended || !news->passage)
        fake_break(fake, "%s is told twice how it went, or before it is over", task->name);
    task->ended = true;
    fake_note(fake, "tell %s %s%s%s: %u counted, %u answered", task->name, names[news->passage],
              news->cause ? ", " : "", news->cause ? fake_cause_name(news->cause) : "",
              news->arrived, news->masters);
}

static void tell(struct fake *fake, struct fake_task *task)
{
    struct task_news news;
    task->untold = false;
    if (!task_tell(&fake->engine, task->core, &news))
        return;
    fake->told++;
    if (task->is_party)
        note_passage(fake, task, &news);
    else if (task->lease)
        fake_note(fake, "tell %s announced %u/%u", task->name, news.masters,
                  fake->engine.config.masters);
    else if (news.observed == OBSERVED_SAID)
        note_said(fake, task, &news);
    else
        fake_note(fake, "tell %s %s", task->name,
                  news.observed == OBSERVED_NOTHING ? "nothing is said" : "not known");
}

void fake_tasks_tell_all(struct fake *fake)
{
    for (unsigned i = 0; i < FAKE_TASKS_MAX; i++)
        if (fake->tasks[i].core && fake->tasks[i].untold)
            tell(fake, &fake->tasks[i]);
}

/* ---- calls ------------------------------------------------------------------------ */

static void end(struct fake *fake, struct fake_task *task)
{
    struct task *core = task->core;
    task->core = NULL;
    fake_step(fake, &(struct event){.kind = EVENT_TASK_END, .task = core});
}

static struct fake_task *task_of(struct fake *fake, const struct actor *actor)
{
    for (unsigned i = 0; i < FAKE_TASKS_MAX; i++)
        if (fake->tasks[i].core && fake->tasks[i].lease == actor)
            return &fake->tasks[i];
    return NULL;
}

void fake_tasks_end_of(struct fake *fake, const struct actor *actor)
{
    struct fake_task *task = task_of(fake, actor);
    if (task)
        end(fake, task);
}

void fake_tasks_close(struct fake *fake)
{
    for (unsigned i = 0; i < FAKE_TASKS_MAX; i++)
        if (fake->tasks[i].core && !fake->tasks[i].is_party)
            end(fake, &fake->tasks[i]);
}

void fake_tasks_end_all(struct fake *fake)
{
    for (unsigned i = 0; i < FAKE_TASKS_MAX; i++)
        if (fake->tasks[i].core)
            end(fake, &fake->tasks[i]);
}

static struct fake_task *make(struct fake *fake, const char *name)
{
    for (unsigned i = 0; i < FAKE_TASKS_MAX; i++) {
        struct fake_task *task = &fake->tasks[i];
        if (task->core)
            continue;
        *task = (struct fake_task){0};
        snprintf(task->name, sizeof task->name, "%s", name);
        return task;
    }
    return NULL;
}

static void begin(struct fake *fake, struct fake_task *task)
{
    fake_step(fake, &(struct event){.kind = EVENT_TASK_BEGIN, .task = task->core});
}

bool fake_tasks_announce(struct fake *fake, const struct actor *actor, const char *value)
{
    struct fake_task *task = task_of(fake, actor);
    struct lease *lease = (struct lease *)&actor->core;
    if (!task) {
        task = make(fake, actor->name);
        if (!task)
            return false;
        task->lease = actor;
        task->core = announcer_new(&fake->engine, lease_names(lease), lease, task);
    }
    if (!task->core || !announcer_set(&fake->engine, task->core, value, strlen(value)))
        return false;
    begin(fake, task);
    return true;
}

bool fake_tasks_observe(struct fake *fake, const char *name, struct names *names)
{
    struct fake_task *task = make(fake, name);
    if (!task)
        return false;
    task->core = observer_new(&fake->engine, names, task);
    if (task->core)
        begin(fake, task);
    return task->core;
}

bool fake_tasks_arrive(struct fake *fake, const char *name, struct names *names,
                       const struct barrier_terms *terms, const char *token)
{
    struct fake_task *task = make(fake, name);
    if (!task)
        return false;
    task->is_party = true;
    task->core = party_new(&fake->engine, names, terms, token, task);
    if (task->core)
        begin(fake, task);
    return task->core;
}

bool fake_tasks_depart(struct fake *fake, const char *name, bool drop)
{
    for (unsigned i = 0; i < FAKE_TASKS_MAX; i++) {
        struct fake_task *task = &fake->tasks[i];
        if (!task->core || !task->is_party || strcmp(task->name, name) != 0)
            continue;
        if (drop)
            end(fake, task);
        else
            fake_step(fake, &(struct event){.kind = EVENT_TASK_LEAVE, .task = task->core});
        return true;
    }
    return false;
}

bool fake_tasks_unobserve(struct fake *fake, const char *name)
{
    for (unsigned i = 0; i < FAKE_TASKS_MAX; i++) {
        struct fake_task *task = &fake->tasks[i];
        if (task->core && !task->lease && !task->is_party && strcmp(task->name, name) == 0) {
            end(fake, task);
            return true;
        }
    }
    return false;
}

bool fake_tasks_push(struct fake *fake, unsigned master, const char *name, const struct said *said)
{
    enum subscription_state state = fake->masters[master].subscription;
    if (state != SUBSCRIPTION_UP && state != SUBSCRIPTION_CLOSING)
        return false;
    struct push push = {.name = name, .name_length = strlen(name), .said = *said, .free_slot = -1};
    fake_step(fake, &(struct event){.kind = EVENT_PUSH, .master = master, .push = &push});
    return true;
}
