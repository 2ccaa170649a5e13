/*
 * sync.c - redlock for threads that wait: a client, from open to free.
 */
#include "sync_client.h"
#include "sync_wait.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* ---- the client ---- */

static void start_run(redlock_sync *client, struct call *call)
{
    call->function(sync_present(client)->redlock, call->data);
    sync_finish(client, call, REDLOCK_OK);
}

redlock_code redlock_sync_run(redlock_sync *client, void (*function)(redlock *, void *), void *data)
{
    redlock_code code = function ? sync_check(client) : REDLOCK_E_ARGUMENT;
    struct call call = {.start = start_run, .function = function, .data = data};
    return code ? code : sync_carry_out(client, &call);
}

/* The state of the masters at this moment. */
struct state {
    redlock_sync *client;
    bool ready; /* false: these masters have not told yet */
    redlock_code code;
    char text[1024];
};

/* False: not in time. */
static bool await_ready(struct state *state, const struct deadline *until)
{
    redlock_sync *client = state->client;
    pthread_mutex_lock(&client->lock);
    while (!client->ready && !client->ended && sync_wait(&client->changed, &client->lock, until))
        continue;
    state->ready = client->ready;
    bool misuse = redlock_code_class(client->ready_code) == REDLOCK_CLASS_MISUSE;
    state->code = state->ready && misuse ? client->ready_code : REDLOCK_OK;
    if (state->code)
        snprintf(state->text, sizeof state->text, "%s", client->ready_text);
    pthread_mutex_unlock(&client->lock);
    return state->ready;
}

static int describe_node(const redlock_node *node, char *text, size_t size)
{
    static const char *const states[] = {"is down", "is being connected", "votes", "abstains",
                                         "never votes"};
    const char *trouble = node->state == REDLOCK_NODE_UP ? "" : node->text;
    if (node->state == REDLOCK_NODE_ABSTAINS)
        return snprintf(text, size, "%s abstains %lld ms more\n", node->node,
                        (long long)node->abstains_ms);
    return snprintf(text, size, "%s %s%s%s\n", node->node, states[node->state],
                    trouble[0] ? ": " : "", trouble);
}

static void look_at_loop(redlock *redlock, void *data)
{
    struct state *state = data;
    unsigned masters = redlock_node_count(redlock), up = 0;
    state->ready = state->client->ready;
    size_t used = 0;
    for (unsigned i = 0; i < masters; i++) {
        redlock_node node = {.size = sizeof node};
        if (redlock_node_get(redlock, i, &node))
            continue;
        up += node.state == REDLOCK_NODE_UP;
        int length = describe_node(&node, state->text + used, sizeof state->text - used);
        if (length > 0 && used + (size_t)length < sizeof state->text)
            used += (size_t)length;
    }
    state->text[used ? used - 1 : 0] = '\0'; /* no newline behind the last line */
    int spare = sync_present(state->client)->options.spare;
    unsigned quorum = redlock_quorum(masters, spare > 0 ? (unsigned)spare : 0);
    state->code = up >= quorum ? REDLOCK_OK : REDLOCK_E_UNAVAILABLE;
}

/* The client may have gone over to another list since the former one was ready. */
static redlock_code look_once_ready(struct state *state, int64_t timeout_ms)
{
    struct deadline until = sync_deadline(timeout_ms);
    redlock_code code = REDLOCK_OK;
    bool in_time;
    do {
        in_time = await_ready(state, &until);
        if (!state->code)
            code = redlock_sync_run(state->client, look_at_loop, state);
    } while (!code && in_time && !state->ready);
    return code ? code : state->code;
}

redlock_code redlock_sync_ready(redlock_sync *client, int64_t timeout_ms, char *why,
                                size_t why_size)
{
    struct state state = {.client = client};
    redlock_code code = timeout_ms < 0 ? REDLOCK_E_ARGUMENT : sync_check(client);
    if (!code)
        code = look_once_ready(&state, timeout_ms);
    if (why && why_size)
        snprintf(why, why_size, "%s", state.text[0] ? state.text : sync_why_not(client, code));
    return code;
}

/* ---- beginning and end ---- */

static void start_close(redlock_sync *client, struct call *call)
{
    sync_sides_close(client, call->ms);
    sync_finish(client, call, REDLOCK_OK);
}

/* True for the first thread to come; any other waits until the client is closed. */
static bool begin_close(redlock_sync *client)
{
    pthread_mutex_lock(&client->lock);
    bool first = !client->closing;
    client->closing = true;
    pthread_cond_broadcast(&client->changed);
    while (!first && !client->closed)
        pthread_cond_wait(&client->changed, &client->lock);
    pthread_mutex_unlock(&client->lock);
    return first;
}

unsigned redlock_sync_close(redlock_sync *client, int64_t patience_ms)
{
    if (sync_check(client))
        return 0;
    if (!begin_close(client))
        return client->left;
    struct call call = {.start = start_close, .ms = patience_ms};
    sync_carry_out(client, &call);
    sync_thread_join(client);
    pthread_mutex_lock(&client->lock);
    client->closed = true;
    pthread_cond_broadcast(&client->changed);
    pthread_mutex_unlock(&client->lock);
    return client->left;
}

void redlock_sync_free(redlock_sync *client)
{
    if (sync_check(client))
        return;
    redlock_sync_close(client, 0);
    sync_forget(client);
}

/* Blocks all signals but those of faults, which cannot wait. */
static void block_signals(sigset_t *old)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    sigset_t most;
    sigfillset(&most);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigdelset(&most, faults[i]);
    pthread_sigmask(SIG_SETMASK, &most, old);
}

/* Signals are blocked first, as every thread made here inherits the mask. */
static redlock_code begin_client(redlock_sync *client, const redlock_options *options, char *why,
                                 size_t why_size)
{
    struct side *side;
    sigset_t old;
    block_signals(&old);
    client->follow = sync_go_over_to_successor;
    redlock_code code = sync_thread_prepare(client);
    if (code && why && why_size)
        snprintf(why, why_size, "%s", code == REDLOCK_E_STATE ? SYNC_ELSEWHERE : strerror(errno));
    if (!code)
        code = sync_side_open(client, &side, options, why, why_size);
    if (!code)
        code = sync_side_enter(side, why, why_size);
    if (!code && !sync_thread_start(client)) {
        sync_sides_free(client);
        code = REDLOCK_E_SYSTEM;
    }
    if (code)
        sync_thread_drop(client);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return code;
}

redlock_code redlock_sync_open(redlock_sync **out, const redlock_options *options, char *why,
                               size_t why_size)
{
    if (!out)
        return REDLOCK_E_ARGUMENT;
    *out = NULL;
    if (why && why_size)
        why[0] = '\0';
    redlock_sync *client = sync_new();
    redlock_code code = client ? begin_client(client, options, why, why_size) : REDLOCK_E_MEMORY;
    if (code && why && why_size && !why[0])
        snprintf(why, why_size, "%s", redlock_code_text(code));
    if (!code)
        *out = client;
    else if (client)
        sync_forget(client);
    return code;
}
