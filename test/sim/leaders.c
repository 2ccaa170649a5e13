#include "recipe_users.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "invariants.h"
#include "lists.h"
#include "loop.h"
#include "model_tasks.h"
#include "redlock/recipes.h"
#include "step.h"
#include "task_calls.h"
#include "trace.h"

#define ANNOUNCES_AGAIN 300      /* per mille of the outcomes of a leader */
#define OBSERVERS_MOST  4        /* of one client */
#define GOES_OVER       400      /* per mille, where a client of its process has another list */
#define IN_FLIGHT       MS(2000) /* a push may be, when an observer begins */

struct user_observer {
    struct user_observer *next;
    struct shell *shell;
    redlock_observer *handle;
    uint8_t name;
    usec began; /* true time */
    bool told;
    redlock_code code;     /* as told last */
    int64_t term, highest; /* likewise; of all reports */
    uint32_t value, latest;
};

static bool chance(struct world *w, unsigned permille)
{
    return chance_permille(&w->leading, permille);
}

/* ---- announcing --------------------------------------------------------------------- */

/* Its value is its number. */
static struct saying_made *make_saying(const struct user_lease *lease, char *text, size_t size)
{
    struct world *w = lease->shell->world;
    if (w->sayings_made == SAYINGS - 1)
        return NULL;
    struct saying_made *it = &w->sayings[++w->sayings_made];
    *it = (struct saying_made){.name = lease->names[0],
                               .lease = lease->number,
                               .term = redlock_lease_fence(lease->handle)};
    snprintf(text, size, "%u", w->sayings_made);
    return it;
}

static void announce(struct user_lease *lease)
{
    struct shell *s = shell_present = lease->shell;
    struct world *w = s->world;
    char text[12];
    struct saying_made *it = make_saying(lease, text, sizeof text);
    if (!it)
        return;
    bool held = user_lease_is_held(lease);
    redlock_code code = redlock_lease_announce(lease->handle, text, strlen(text));
    if (code && held && code != REDLOCK_E_MEMORY && code != REDLOCK_E_STATE)
        world_violated(w, "options", "lease %u may not announce: %s", lease->number,
                       redlock_last_error(s->client));
    if (code)
        return;
    lease->announces = true;
    lease->saying = w->sayings_made;
    s->leases_made++; /* as many requests */
    TRACE(w, "client %u announces %s with lease %u, term %lld", s->index + 1, text, lease->number,
          (long long)it->term);
}

bool leaders_want(const struct shell *s)
{
    struct world *w = s->world;
    return w->leaders && chance(w, 500);
}

static bool may_announce(const struct user_lease *lease)
{
    return lease->known == KNOWN_HELD && !lease->is_probe && !lease->let_go && !lease->released &&
           lease->terms.fence && !lease->terms.permits && !lease->by_token && lease->count == 1 &&
           !lease->shared && !lease->shell->close_asked;
}

void leaders_user_told(struct user_lease *lease, const redlock_event *event)
{
    struct world *w = lease->shell->world;
    bool begins = event->kind == REDLOCK_ACQUIRED;
    if (w->leaders && !w->peace && may_announce(lease) &&
        chance(w, begins ? w->leaders : ANNOUNCES_AGAIN))
        announce(lease);
}

/* ANNOUNCED is reported. */
void leaders_announced(struct user_lease *lease)
{
    if (!lease->announces)
        world_violated(lease->shell->world, "once",
                       "lease %u hears ANNOUNCED, and had nothing to announce", lease->number);
    lease->announces = false;
}

/* ---- what is sent, and carried out ------------------------------------------------------ */

static struct saying_made *saying_of(struct world *w, uint32_t number)
{
    return number && number <= w->sayings_made ? &w->sayings[number] : NULL;
}

/* Nothing else takes back what a lease announces. */
static bool may_unsay(const struct shell *s, const struct user_lease *lease)
{
    bool is_changed = lease->changes || lease->shared;
    return lease->let_go || lease->released || lease->known != KNOWN_HELD || is_changed ||
           s->close_asked;
}

static void unsay_sent(struct shell *s, uint32_t token)
{
    const struct user_lease *holder = s->world->tokens[token].holder;
    if (holder && holder->saying && !may_unsay(s, holder))
        world_violated(s->world, "announced", "client %u takes back what lease %u announces",
                       s->index + 1, holder->number);
}

/* Only a lease that is valid announces. */
static void announce_sent(struct shell *s, const struct message *message,
                          const struct request *request)
{
    struct world *w = s->world;
    struct saying_made *it = saying_of(w, message->call.said);
    const struct user_lease *holder = w->tokens[message->call.value].holder;
    if (!it || it->term != message->call.fence) {
        world_violated(w, "announced", "client %u says what nobody announced", s->index + 1);
        return;
    }
    if (holder && holder->number == it->lease && !holder->let_go &&
        lease_valid_until(core_of(holder->handle)) <= request->tag.sent_at)
        world_violated(w, "announced", "lease %u announces, and is not held any more", it->lease);
    it->said_by = s->index + 1;
}

void leaders_sent(struct shell *s, const struct message *message, const struct request *request)
{
    if (request->tag.kind == REQUEST_ANNOUNCE)
        announce_sent(s, message, request);
    if (request->tag.kind == REQUEST_UNSAY)
        unsay_sent(s, message->call.value);
}

static bool any_is_up(const struct shell *s)
{
    bool any = false;
    for (unsigned i = 0; i < s->masters; i++)
        any |= master_is_up(shell_master(s, s->servers[i]));
    return any;
}

/* By now the other client has said the same. */
void leaders_moved(const struct user_lease *lease)
{
    const struct shell *s = lease->shell;
    const struct saying_made *it = saying_of(s->world, lease->saying);
    if (it && it->said_by != s->index + 1 && any_is_up(s))
        world_violated(s->world, "announced", "lease %u has moved, and client %u does not say %u",
                       lease->number, CLIENT(lease), lease->saying);
}

static void is_said_no_more(struct world *w, unsigned master, unsigned name)
{
    for (unsigned i = 1; i <= w->sayings_made; i++)
        if (w->sayings[i].name == name && w->sayings[i].said_until[master] == NEVER)
            w->sayings[i].said_until[master] = w->now;
}

void leaders_executed(struct world *w, unsigned master, const struct message *message)
{
    const struct model_call *call = &message->call;
    bool changes = call->kind == REQUEST_ANNOUNCE || call->kind == REQUEST_UNSAY;
    if (!changes || message->answer.answer != ANSWER_YES)
        return;
    is_said_no_more(w, master, call->names[0]);
    if (call->kind != REQUEST_ANNOUNCE || !saying_of(w, call->said))
        return;
    if (model_value(&w->servers[master].model, server_wall(w, master), call->names[0]) !=
        call->value)
        world_violated(w, "announced", "master %u says what is not of the token that has %c",
                       master + 1, 'a' + call->names[0]);
    w->sayings[call->said].said_until[master] = NEVER;
}

/* ---- observing -------------------------------------------------------------------------- */

/* Not told twice, and never backwards. */
static void in_order(struct user_observer *it, const redlock_leader *leader, uint32_t value)
{
    struct world *w = it->shell->world;
    if (it->told && leader->code == it->code && leader->term == it->term && value == it->value)
        world_violated(w, "once", "an observer of client %u hears the same again",
                       it->shell->index + 1);
    if (leader->term &&
        (leader->term < it->highest || (leader->term == it->highest && value < it->latest)))
        world_violated(w, "term", "an observer of client %u hears value %u after value %u",
                       it->shell->index + 1, value, it->latest);
}

static unsigned count_bits(unsigned bits)
{
    return (unsigned)__builtin_popcount(bits);
}

/* A quorum of masters said so since the observer began, but for those that are wrong. */
static void is_said_by_quorum(const struct user_observer *it, const struct saying_made *saying,
                              uint32_t value)
{
    struct world *w = it->shell->world;
    unsigned said = 0, wrong = count_bits(w->liars) > w->wrong ? count_bits(w->liars) : w->wrong;
    for (unsigned i = 0; i < w->masters; i++)
        said += saying->said_until[i] && saying->said_until[i] >= it->began - IN_FLIGHT;
    if (said + wrong < it->shell->quorum && !w->options.beyond)
        world_violated(w, "observed", "an observer of client %u hears value %u, of %u masters",
                       it->shell->index + 1, value, said);
}

static void is_announced(const struct user_observer *it, const redlock_leader *leader,
                         uint32_t value)
{
    struct world *w = it->shell->world;
    const struct saying_made *saying = saying_of(w, value);
    if (!saying || saying->name != it->name || saying->term != leader->term)
        world_violated(w, "observed", "an observer of client %u hears what nobody announced: %u",
                       it->shell->index + 1, value);
    else
        is_said_by_quorum(it, saying, value);
}

static void on_leader(redlock_observer *handle, const redlock_leader *leader, void *data)
{
    struct user_observer *it = data;
    struct world *w = it->shell->world;
    uint32_t value = 0;
    for (size_t i = 0; i < leader->length; i++)
        value = 10 * value + (uint32_t)(((const char *)leader->value)[i] - '0');
    TRACE(w, "client %u hears of %c: %s, term %lld, value %u", it->shell->index + 1, 'a' + it->name,
          redlock_code_name(leader->code), (long long)leader->term, value);
    world_mark(w, (uint64_t)w->now + value, (uint64_t)leader->code);
    if (handle != it->handle || it->shell->closed_told)
        world_violated(w, "once", "client %u hears of what it does not observe",
                       it->shell->index + 1);
    in_order(it, leader, value);
    if (leader->term) {
        is_announced(it, leader, value);
        it->highest = leader->term;
        it->latest = value;
    }
    it->told = true;
    it->code = leader->code;
    it->term = leader->term;
    it->value = value;
}

static void begin(struct shell *s)
{
    struct world *w = s->world;
    struct user_observer *it = calloc(1, sizeof *it);
    *it = (struct user_observer){
        .shell = s, .name = (uint8_t)chance_below(&w->leading, w->names), .began = w->now};
    char name[2] = {(char)('a' + it->name)};
    shell_present = s;
    redlock_code code = redlock_observer_begin(s->client, &it->handle, name, on_leader, it);
    if (code && code != REDLOCK_E_MEMORY)
        world_violated(w, "options", "client %u may not observe: %s", s->index + 1,
                       redlock_last_error(s->client));
    if (code) {
        free(it);
        return;
    }
    TRACE(w, "client %u observes %s", s->index + 1, name);
    s->leases_made++; /* as many requests */
    it->next = s->observers;
    s->observers = it;
}

static void end(struct shell *s, struct user_observer **at)
{
    struct user_observer *it = *at;
    shell_present = s;
    redlock_observer_free(it->handle);
    *at = it->next;
    free(it);
}

static unsigned count_observers(const struct shell *s)
{
    unsigned count = 0;
    for (const struct user_observer *it = s->observers; it; it = it->next)
        count++;
    return count;
}

/* As redlock_relist() has it: calls and news that are queued come first. */
static bool may_go_over(const struct shell *s, const struct client_task *task)
{
    const struct shell *to = s->mate;
    return to && to->client && !to->client->dying && count_observers(to) < OBSERVERS_MOST &&
           lists_may_meet(s->kind, to->kind) && client_takes(to->client) && task->core &&
           !task->calls.queued && !task->news.queued;
}

/* For its user nothing changes. */
static void go_over(struct shell *s)
{
    struct user_observer *it = s->observers;
    struct client_task *task = it ? (struct client_task *)(void *)it->handle : NULL;
    shell_present = s;
    if (!task || !may_go_over(s, task))
        return;
    client_look(s->client);
    if (!task_calls_go_over(task, s->mate->client))
        return;
    TRACE(s->world, "an observer of client %u goes over to client %u", s->index + 1,
          s->mate->index + 1);
    loop_hold(s->client);
    s->observers = it->next;
    it->shell = s->mate;
    it->next = s->mate->observers;
    s->mate->observers = it;
    s->mate->leases_made++;
}

void leaders_user_acts(struct shell *s)
{
    struct world *w = s->world;
    if (!w->leaders || w->peace || s->close_asked || !chance(w, w->leaders / 2))
        return;
    if (s->mate && chance(w, GOES_OVER))
        go_over(s);
    unsigned count = count_observers(s);
    if (count && chance(w, 300))
        end(s, &s->observers);
    else if (count < OBSERVERS_MOST)
        begin(s);
}

bool leaders_observe(const struct shell *s)
{
    return s->observers != NULL;
}

/* Nobody announces, or the list of the client is not to be used any more. */
static bool has_heard_the_end(const struct user_observer *it)
{
    bool is_nobody = it->code == REDLOCK_OK && !it->term;
    return it->told && (is_nobody || it->code == REDLOCK_E_DIFFERS);
}

void leaders_tidy_up(struct shell *s)
{
    for (struct user_observer **at = &s->observers; *at;)
        if (has_heard_the_end(*at))
            end(s, at);
        else
            at = &(*at)->next;
}

void leaders_drop(struct shell *s)
{
    while (s->observers) {
        struct user_observer *it = s->observers;
        s->observers = it->next;
        free(it);
    }
}
