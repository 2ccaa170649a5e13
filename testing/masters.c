#include "masters.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clock.h"
#include "lists.h"
#include "recipes/view.h"
#include "redlock/testing.h"

#define DAY_S 86400
/* Texts before the first sweep, and between two of them. */
#define TOKENS_AT_LEAST 4096
#define NAMES_BEFORE    (MODEL_SLOTS_AT - 1 - MODEL_NAMES) /* then one more lease has room */
#define NAMES_MORE      16

struct inside masters[MASTERS_MAX];
struct texts names = {.most = MODEL_SLOTS_AT - 1}, tokens, channels;
static uint32_t sweep_at = TOKENS_AT_LEAST, names_sweep_at = NAMES_BEFORE;
static uint64_t processes;

/* ---- the lock --------------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

void masters_lock(void)
{
    pthread_mutex_lock(&lock);
}

void masters_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

static void begin_once(void)
{
    pthread_atfork(masters_lock, masters_unlock, masters_unlock);
    masters_lock();
    masters_begin();
    masters_unlock();
}

void masters_are_needed(void)
{
    pthread_once(&once, begin_once);
}

/* ---- a master's life ---------------------------------------------------------------------- */

usec master_wall(const struct inside *master)
{
    return clock_wall() + master->stepped;
}

/* Never twice, and never 0. */
static uint64_t next_run_id(void)
{
    uint64_t z = (uint64_t)clock_wall() + ++processes * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (z ^ z >> 31) | 1;
}

/* Whole pages go back to the system, which has zeros for those that are touched again. */
static void wipe(void *bytes, size_t size)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)bytes;
    uintptr_t from = (begin + page - 1) & ~(page - 1), to = (begin + size) & ~(page - 1);
    if (from >= to || madvise((char *)bytes + (from - begin), to - from, MADV_DONTNEED) != 0) {
        memset(bytes, 0, size);
        return;
    }
    memset(bytes, 0, from - begin);
    memset((char *)bytes + (to - begin), 0, begin + size - to);
}

void masters_begin(void)
{
    texts_clear(&names);
    texts_clear(&tokens);
    texts_clear(&channels);
    lists_begin();
    sweep_at = TOKENS_AT_LEAST;
    names_sweep_at = NAMES_BEFORE;
    for (unsigned i = 0; i < MASTERS_MAX; i++) {
        struct inside *master = &masters[i];
        if (master->used)
            wipe(&master->model, sizeof master->model);
        master->used = master->hangs = master->is_cut = master->lies = false;
        master->stepped = 0;
        master->up = true;
        master->model.run_id = next_run_id();
        master->model.started_s = master_wall(master) / 1000000 - DAY_S;
    }
}

void master_restart(struct inside *master, bool with_data)
{
    static struct model_data kept;
    kept = master->model.data;
    lists_forget((unsigned)(master - masters));
    master->used = true;
    master->up = true;
    master->hangs = false;
    model_restart(&master->model, master_wall(master), next_run_id(), with_data ? &kept : NULL);
}

void master_forget(struct inside *master)
{
    lists_forget((unsigned)(master - masters));
    memset(&master->model.data, 0, sizeof master->model.data);
}

/* ---- commands ------------------------------------------------------------------------------ */

static void take_away(struct inside *master, const struct model_call *call)
{
    for (unsigned i = 0; i < call->count; i++)
        if (!model_has(&master->model, master_wall(master), call->names[i], call->value))
            master->model.data.keys[call->names[i]] = (struct model_key){0};
}

/* Of a break hear those who observe names that follow from its own. */
static void find_heard(struct model_call *call)
{
    static const char *const before[] = {WISHES, TAKEN};
    struct slice name = texts_spell(&names, call->names[0]);
    char text[sizeof TAKEN + REDLOCK_NAME_MAX];
    for (unsigned i = 0; i < 2; i++) {
        size_t length = strlen(before[i]);
        memcpy(text, before[i], length);
        memcpy(text + length, name.bytes, name.length);
        call->heard[i] = (model_name)texts_find(&names, (struct slice){text, length + name.length});
    }
}

void master_execute(struct inside *master, const struct model_call *call,
                    struct model_answer *answer)
{
    struct model_call broken = *call;
    if (call->kind == REQUEST_RELEASE && call->ttl_ms && !model_is_slot(call->names[0])) {
        find_heard(&broken);
        call = &broken;
    }
    master->used = true;
    if (master->lies && request_takes(call->kind))
        take_away(master, call);
    model_execute(&master->model, master_wall(master), call, answer);
    if (!master->model.data.is_full)
        return;
    master->model.data.is_full = false;
    answer->answer = ANSWER_ERROR;
    answer->error = "ERR the test double has no room for one more waiter, reader or party";
}

/* ---- texts ---------------------------------------------------------------------------------- */

struct sweep {
    bool names[MODEL_SLOTS_AT];
    bool *tokens; /* texts.room of them */
};

static void keep_name(struct sweep *sweep, unsigned name)
{
    sweep->names[model_is_slot(name) ? model_slot_name(name) : name] = true;
}

static void keep_token(struct sweep *sweep, uint32_t token)
{
    if (token < tokens.room)
        sweep->tokens[token] = true;
}

/* A token that is past goes first, as its number may soon be that of another one. */
static void sweep_keys(struct sweep *sweep, struct model_data *data, int64_t now)
{
    for (unsigned i = 0; i < MODEL_KEYS; i++) {
        struct model_key *key = &data->keys[i];
        if (key->value && key->expires_ms && key->expires_ms < now)
            *key = (struct model_key){0};
        if (key->value) {
            keep_name(sweep, i);
            keep_token(sweep, key->value);
        }
    }
    for (unsigned i = 0; i < MODEL_READERS; i++) {
        struct model_reader *reader = &data->readers[i];
        if (reader->expires_ms < now)
            reader->value = 0;
        if (reader->value)
            keep_name(sweep, reader->name);
        keep_token(sweep, reader->value);
    }
    for (unsigned i = 0; i < MODEL_MARKS; i++) {
        if (data->marks[i].expires_ms < now)
            data->marks[i].value = 0;
        keep_token(sweep, data->marks[i].value);
    }
}

static void sweep_waiters(struct sweep *sweep, struct model_data *data, int64_t now)
{
    for (unsigned i = 0; i < MODEL_WAITERS; i++) {
        struct model_waiter *waiter = &data->waiters[i];
        if (waiter->expires_ms <= now)
            waiter->value = 0;
        for (unsigned j = 0; waiter->value && j < waiter->count; j++)
            keep_name(sweep, waiter->names[j]);
        keep_token(sweep, waiter->value);
    }
    for (unsigned i = 0; i < MODEL_OF_SLOTS; i++)
        if (data->permits[i].permits && data->permits[i].expires_ms >= now)
            keep_name(sweep, i);
        else
            data->permits[i].permits = 0;
}

static void sweep_announcements(struct sweep *sweep, struct model_data *data, int64_t now)
{
    for (unsigned i = 0; i < MODEL_SLOTS_AT; i++) {
        struct model_said *said = &data->said[i];
        if (said->expires_ms <= now)
            *said = (struct model_said){0};
        if (said->token)
            keep_name(sweep, i);
        keep_token(sweep, said->token);
        keep_token(sweep, said->value);
    }
    for (unsigned i = 0; i < MODEL_OBSERVERS; i++) {
        struct model_observer *observer = &data->observers[i];
        if (observer->expires_ms <= now)
            *observer = (struct model_observer){0};
        if (observer->channel)
            keep_name(sweep, observer->name);
    }
}

static void sweep_meetings(struct sweep *sweep, struct model_data *data, int64_t now)
{
    for (unsigned i = 0; i < MODEL_BARRIERS; i++) {
        struct model_barrier *barrier = &data->barriers[i];
        if (barrier->expires_ms <= now)
            *barrier = (struct model_barrier){0};
        if (barrier->of)
            keep_name(sweep, barrier->name);
        for (unsigned j = 0; j < MODEL_PARTIES; j++)
            keep_token(sweep, barrier->parties[j].value);
    }
    for (unsigned i = 0; i < MODEL_OF_SLOTS; i++) {
        struct model_latch *latch = &data->latches[i];
        if (latch->ends_ms <= now)
            *latch = (struct model_latch){0};
        if (latch->id || data->passed[i].expires_ms > now)
            keep_name(sweep, i);
        else
            data->passed[i] = (struct model_passed){0};
        keep_token(sweep, latch->id);
        for (unsigned j = 0; j < MODEL_ARRIVALS; j++)
            keep_token(sweep, latch->arrived[j]);
    }
}

static bool has_room(void)
{
    return names.used < names_sweep_at && tokens.used < sweep_at;
}

void masters_sweep(void)
{
    if (has_room())
        return;
    struct sweep *sweep = calloc(1, sizeof *sweep);
    if (sweep)
        sweep->tokens = calloc(tokens.room, sizeof *sweep->tokens);
    for (unsigned i = 0; sweep && sweep->tokens && i < MASTERS_MAX; i++) {
        if (!masters[i].used)
            continue;
        struct model_data *data = &masters[i].model.data;
        int64_t now = master_wall(&masters[i]) / 1000;
        sweep_keys(sweep, data, now);
        sweep_waiters(sweep, data, now);
        sweep_announcements(sweep, data, now);
        sweep_meetings(sweep, data, now);
    }
    for (unsigned i = 1; sweep && sweep->tokens && i < MODEL_SLOTS_AT; i++)
        if (!sweep->names[i])
            texts_drop(&names, i);
    for (uint32_t i = 1; sweep && sweep->tokens && i < tokens.room; i++)
        if (!sweep->tokens[i])
            texts_drop(&tokens, i);
    sweep_at = tokens.used + TOKENS_AT_LEAST;
    names_sweep_at =
        names.used + NAMES_MORE > NAMES_BEFORE ? names.used + NAMES_MORE : NAMES_BEFORE;
    if (names_sweep_at > names.most)
        names_sweep_at = names.most;
    if (sweep)
        free(sweep->tokens);
    free(sweep);
}
