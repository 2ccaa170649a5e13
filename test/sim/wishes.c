#include "wishes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "invariants.h"
#include "recipe_users.h"
#include "step.h"
#include "tasks.h"
#include "trace.h"

#define AT_ONCE    3 /* askers, and heeders, of one client */
#define LIES       5
#define LIES_APART MS(80)
#define LONG_GAPS  3000 /* ms between two calls: a wish is asked for before it is forgotten */

static bool chance(struct world *w, unsigned permille)
{
    return chance_permille(&w->asking, permille);
}

void wishes_draw(struct world *w)
{
    static const unsigned deaf[] = {0, 0, 30, 1000};
    if (!w->asks)
        return;
    w->deaf = deaf[chance_below(&w->asking, 4)];
    if (w->options.habit == HABIT_WISHES && chance(w, 600))
        w->longest_gap_ms = LONG_GAPS;
    if (w->options.habit == HABIT_WISHES && chance(w, 500))
        w->breaks = (unsigned)chance_range(&w->asking, 100, 800);
}

/* ---- heeding ------------------------------------------------------------------------------ */

static void end_heeder(struct user_heeder *it)
{
    struct user_heeder **at = &it->shell->heeders;
    while (*at != it)
        at = &(*at)->next;
    *at = it->next;
    shell_present = it->shell;
    redlock_heeder_free(it->handle);
    free(it);
}

static struct user_lease *lease_of(const struct user_heeder *it)
{
    for (struct user_lease *lease = it->shell->all; lease; lease = lease->next_all)
        if (lease->number == it->lease && !lease->let_go && lease->known == KNOWN_HELD)
            return lease;
    return NULL;
}

/* A holder does as it likes: it lets go, goes on, or does not want to hear any more. */
static void decide(struct user_heeder *it)
{
    struct world *w = it->shell->world;
    struct user_lease *lease = lease_of(it);
    if (lease && !lease->released && chance(w, 300))
        user_lease_release(lease);
    else if (chance(w, 100))
        end_heeder(it);
}

static void on_wish(redlock_heeder *handle, const redlock_wish *wish, void *data)
{
    struct user_heeder *it = data;
    struct shell *s = it->shell;
    struct world *w = s->world;
    uint32_t number = (uint32_t)strtoul(wish->text, NULL, 10);
    TRACE(w, "client %u hears of wish %s of %s for %c, %u wait", s->index + 1, wish->text,
          wish->who, 'a' + it->name, wish->waiting);
    world_mark(w, (uint64_t)w->now + number, wish->waiting);
    if (handle != it->handle || s->closed_told || strcmp(wish->who, "-") != 0)
        world_violated(w, "once", "client %u hears of a wish that it does not heed", s->index + 1);
    wishes_heard(it, number);
    if (!w->violation.rule && !w->peace)
        decide(it);
}

static void heed(struct user_lease *lease)
{
    struct shell *s = shell_present = lease->shell;
    struct world *w = s->world;
    struct user_heeder *it = calloc(1, sizeof *it);
    *it = (struct user_heeder){.shell = s,
                               .name = lease->names[0],
                               .lease = lease->number,
                               .token = lease->token,
                               .began = w->now};
    it->watches = lease->shared || chance(w, 300);
    bool held = user_lease_is_held(lease);
    redlock_code code = redlock_heed(lease->handle, &it->handle, it->watches ? NULL : on_wish, it);
    if (code && code != REDLOCK_E_MEMORY && (held || code != REDLOCK_E_STATE))
        world_violated(w, "options", "lease %u may not heed: %s", lease->number,
                       redlock_last_error(s->client));
    if (code) {
        free(it);
        return;
    }
    TRACE(w, "client %u %s with lease %u", s->index + 1,
          it->watches ? "watches for breaks" : "heeds wishes", lease->number);
    s->leases_made++; /* as many requests */
    it->next = s->heeders;
    s->heeders = it;
}

static unsigned count_heeders(const struct shell *s)
{
    unsigned count = 0;
    for (const struct user_heeder *it = s->heeders; it; it = it->next)
        count++;
    return count;
}

static bool may_heed(const struct user_lease *lease)
{
    return lease->known == KNOWN_HELD && !lease->is_probe && !lease->let_go && !lease->released &&
           !lease->terms.permits && lease->count == 1 && !lease->shell->close_asked &&
           count_heeders(lease->shell) < AT_ONCE;
}

/* Some end it late, or never. */
static void end_heeders_of(const struct user_lease *lease)
{
    for (struct user_heeder *it = lease->shell->heeders, *next; it; it = next) {
        next = it->next;
        if (it->lease == lease->number && chance(lease->shell->world, 500))
            end_heeder(it);
    }
}

void wishes_user_told(struct user_lease *lease, const redlock_event *event)
{
    struct world *w = lease->shell->world;
    if (!w->asks)
        return;
    if (event->kind == REDLOCK_LOST || event->kind == REDLOCK_RELEASED)
        end_heeders_of(lease);
    else if (!w->peace && may_heed(lease) &&
             chance(w, event->kind == REDLOCK_ACQUIRED ? w->asks : 50))
        heed(lease);
}

/* As redlock_relist() has it for another client.  Here it is made anew. */
static void go_over(struct user_heeder *it)
{
    struct client_task *task = (struct client_task *)(void *)it->handle;
    shell_present = it->shell;
    if (!task->go || !task->core || task->calls.queued || task->news.queued)
        return;
    client_look(task->client);
    if (!task->go(task, task->client))
        return;
    it->began = it->shell->world->now;
    it->broken = (struct break_seen){0};
}

/* ---- asking -------------------------------------------------------------------------------- */

static void end_asker(struct user_asker *it)
{
    struct user_asker **at = &it->shell->askers;
    while (*at != it)
        at = &(*at)->next;
    *at = it->next;
    shell_present = it->shell;
    redlock_asker_free(it->handle);
    free(it);
}

static void on_asked(redlock_asker *handle, const redlock_asked *asked, void *data)
{
    struct user_asker *it = data;
    struct shell *s = it->shell;
    struct world *w = s->world;
    TRACE(w, "client %u hears of its wish %u: %s, %u of %u told, %u heed", s->index + 1, it->number,
          redlock_code_name(asked->code), asked->told, asked->masters, asked->heard);
    world_mark(w, (uint64_t)w->now + it->number, (uint64_t)asked->code);
    if (handle != it->handle || s->closed_told)
        world_violated(w, "once", "client %u hears of a wish that is not its own", s->index + 1);
    wishes_told(it, asked);
    if (!it->again || asked->code != REDLOCK_OK)
        end_asker(it);
}

static redlock_ask_options draw_options(struct world *w, const char *text)
{
    redlock_ask_options options = {.size = sizeof options, .text = text};
    options.again = chance(w, 300);
    if (!options.again)
        options.timeout_ms = chance(w, 200)   ? REDLOCK_ZERO
                             : chance(w, 500) ? chance_range(&w->asking, 1, 3000)
                                              : 0;
    return options;
}

static void ask(struct shell *s)
{
    struct world *w = s->world;
    struct user_asker *it = calloc(1, sizeof *it);
    uint8_t name = (uint8_t)chance_below(&w->asking, w->names);
    char text[12], spelled[2] = {(char)('a' + name)};
    uint32_t number = ++w->wish_count;
    w->wishes_made[number] = (struct wish_made){.name = name, .channel = s->channel};
    snprintf(text, sizeof text, "%u", number);
    redlock_ask_options options = draw_options(w, text);
    *it = (struct user_asker){.shell = s, .number = number, .again = options.again};
    shell_present = s;
    redlock_code code = redlock_ask(s->client, &it->handle, spelled, &options, on_asked, it);
    if (code && code != REDLOCK_E_MEMORY)
        world_violated(w, "options", "client %u may not ask: %s", s->index + 1,
                       redlock_last_error(s->client));
    if (code) {
        free(it);
        return;
    }
    TRACE(w, "client %u asks the holder of %s: wish %u%s", s->index + 1, spelled, number,
          options.again ? ", again and again" : "");
    s->leases_made++; /* as many requests */
    it->next = s->askers;
    s->askers = it;
}

static unsigned count_askers(const struct shell *s)
{
    unsigned count = 0;
    for (const struct user_asker *it = s->askers; it; it = it->next)
        count++;
    return count;
}

/* ---- breaking ------------------------------------------------------------------------------ */

/* On all masters, and again and again. */
static void say_taken(struct user_heeder *it)
{
    struct world *w = it->shell->world;
    unsigned name = it->watches ? takens_of(it->name) : wishes_of(it->name);
    struct heard heard = {.kind = EVENT_PUSH,
                          .free_slot = -1,
                          .says = true,
                          .name = (uint8_t)name,
                          .said = {it->token, MODEL_TAKEN, 1, 1, 0},
                          .left_ms = 1};
    TRACE(w, "somebody says that lease %u is taken", it->lease);
    w->tokens[it->token].lied_until = w->now + LIES * LIES_APART;
    for (unsigned n = 0; n < LIES; n++)
        for (unsigned i = 0; i < w->masters; i++)
            subscription_lies(it->shell, i, w->now + n * LIES_APART, &heard);
}

/* That of a holder that listens; or somebody lies. */
static void break_lease(struct shell *s)
{
    struct world *w = s->world;
    struct user_heeder *it = NULL;
    for (unsigned c = 0; c < w->clients && !it; c++)
        if (w->shells[c] != s)
            it = w->shells[c]->heeders;
    if (!it || !lease_of(it))
        return;
    if (chance(w, 500)) {
        say_taken(it);
        return;
    }
    struct parcel parcel = {.token = it->token, .names = {it->name}, .count = 1};
    w->tokens[it->token].excused = w->tokens[it->token].passed_on = true;
    w->tokens[it->token].detached = NULL; /* a new claim may have the place of the old one */
    TRACE(w, "client %u breaks lease %u", s->index + 1, it->lease);
    user_lease_release_token(s, &parcel);
}

void wishes_user_acts(struct shell *s)
{
    struct world *w = s->world;
    if (!w->asks || w->peace || s->close_asked)
        return;
    if (chance(w, w->breaks))
        break_lease(s);
    if (!chance(w, w->asks))
        return;
    unsigned askers = count_askers(s);
    if (s->heeders && chance(w, 50))
        end_heeder(s->heeders);
    else if (s->heeders && chance(w, 50))
        go_over(s->heeders);
    else if (askers && chance(w, 150))
        end_asker(s->askers);
    else if (askers < AT_ONCE && w->wish_count + 1 < WISHES_MOST)
        ask(s);
}

bool wishes_wait(const struct shell *s)
{
    return s->heeders || s->askers;
}

void wishes_tidy_up(struct shell *s)
{
    for (struct user_heeder *it = s->heeders, *next; it; it = next) {
        next = it->next;
        if (!lease_of(it))
            end_heeder(it);
    }
    for (struct user_asker *it = s->askers, *next; it; it = next) {
        next = it->next;
        if (it->again)
            end_asker(it);
    }
}

void wishes_drop(struct shell *s)
{
    while (s->heeders) {
        struct user_heeder *it = s->heeders;
        s->heeders = it->next;
        free(it);
    }
    while (s->askers) {
        struct user_asker *it = s->askers;
        s->askers = it->next;
        free(it);
    }
}
