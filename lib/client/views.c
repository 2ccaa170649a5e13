/*
 * views.c - the views of a name that the masters told to a look.  Those who wait, read or have
 * permits decide nothing, so the core does not keep them.
 */
#include "views.h"

#include <stdlib.h>
#include <string.h>

#include "events.h"

/* ---- what the masters told ------------------------------------------------------- */

static size_t count_lines(struct slice text)
{
    size_t count = text.length > 0 && text.bytes[text.length - 1] != '\n';
    for (size_t i = 0; i < text.length; i++)
        count += text.bytes[i] == '\n';
    return count;
}

/* A master that lies may tell more tokens than it was asked for, or than it counts. */
static size_t count_told(unsigned count, struct slice lines, size_t most)
{
    size_t told = count_lines(lines);
    if (told > count)
        told = count;
    return told < most ? told : most;
}

/* One block: the pointers, and behind them the text, cut into its lines. */
static redlock_crowd crowd_of(unsigned count, struct slice lines, size_t most)
{
    redlock_crowd crowd = {.count = count};
    size_t told = count_told(count, lines, most);
    char **tokens = told ? malloc(told * sizeof *tokens + lines.length + 1) : NULL;
    if (!tokens)
        return crowd;
    char *text = (char *)(tokens + told), *end = text + lines.length;
    memcpy(text, lines.bytes, lines.length);
    for (size_t i = 0; i < told; i++) {
        char *line_end = memchr(text, '\n', (size_t)(end - text));
        tokens[i] = text;
        text = line_end ? line_end : end;
        *text++ = '\0';
    }
    crowd.told = told;
    crowd.tokens = (const char *const *)tokens;
    return crowd;
}

static void forget_crowds(redlock_view *view)
{
    free((void *)view->waiters.tokens);
    free((void *)view->readers.tokens);
    free((void *)view->permits_out.tokens);
    *view = (redlock_view){0};
}

void views_note(redlock *client, const struct event *event)
{
    const struct peek_reply *peek = &event->reply->peek;
    struct lease *core = lease_inspecting(&event->reply->tag);
    redlock_lease *lease = core ? lease_of_core(core) : NULL;
    bool tells = peek->waiting || peek->reading || peek->permits;
    if (lease && tells && !views_of(lease))
        rare_of(lease)->views = calloc(client->masters, sizeof(redlock_view));
    if (!lease || !views_of(lease))
        return;
    redlock_view *view = &views_of(lease)[event->master];
    forget_crowds(view);
    size_t most = (size_t)lease->tokens;
    view->waiters = crowd_of(peek->waiting, peek->waiters, most);
    *(peek->permits ? &view->permits_out : &view->readers) =
        crowd_of(peek->reading, peek->readers, most);
    view->permits = peek->permits;
}

void views_forget(redlock_lease *lease)
{
    redlock_view *views = views_of(lease);
    for (unsigned i = 0; views && i < lease->client->masters; i++)
        forget_crowds(&views[i]);
    free(views);
}

/* ---- how many share the name ------------------------------------------------------ */

/* The most that a master names: readers come and go on one master after the other. */
static unsigned count_readers(const struct sight *sight)
{
    unsigned most = 0;
    for (unsigned i = 0; i < sight->result.masters; i++) {
        unsigned count = sight->views[i].readers.count;
        most = count > most ? count : most;
    }
    return most;
}

static unsigned count_permits(const struct sight *sight)
{
    usec told[REDLOCK_MASTERS_MAX];
    unsigned count = 0;
    for (unsigned i = 0; i < sight->result.masters; i++)
        if (sight->views[i].permits)
            told[count++] = sight->views[i].permits;
    return (unsigned)quorum_vouched(told, count, sight->result.spare);
}

/* The number that a quorum of masters may have.  Permits are taken and given back on one master
 * after the other, and a silent master may have as many as the others. */
static unsigned count_permits_out(const struct sight *sight)
{
    usec out[REDLOCK_MASTERS_MAX];
    unsigned count = 0, quorum = sight->result.quorum;
    for (unsigned i = 0; i < sight->result.masters; i++) {
        const redlock_view *view = &sight->views[i];
        if (view->kind == REDLOCK_VOTE_HELD || view->kind == REDLOCK_VOTE_FREE)
            out[count++] = view->permits_out.count;
    }
    unsigned silent = sight->result.masters - count;
    return (unsigned)quorum_ranked(out, count, silent < quorum ? quorum - silent : 1);
}

static struct sharers count_sharers(const struct sight *sight)
{
    unsigned permits = count_permits(sight);
    return (struct sharers){.readers = "held by " REDLOCK_READERS,
                            .reading = count_readers(sight),
                            .permits = permits,
                            .permits_out = permits ? count_permits_out(sight) : 0};
}

/* ---- the result -------------------------------------------------------------------- */

static redlock_view make_view(const redlock_vote *vote, const redlock_view *crowds)
{
    redlock_view view = {0};
    if (crowds && vote->kind == REDLOCK_VOTE_HELD)
        view = *crowds;
    view.node = vote->node;
    view.kind = vote->kind;
    view.text = vote->text;
    view.holder = vote->holder;
    view.remaining_ms = vote->remaining_ms;
    return view;
}

void views_fill(redlock *client, const redlock_lease *lease, const struct outcome *outcome,
                struct sight *sight)
{
    const redlock_view *crowds = views_of(lease);
    event_fill_votes(client, lease);
    sight->result = (redlock_look_result){
        .size = sizeof sight->result,
        .code = code_of(outcome->cause),
        .masters = client->masters,
        .quorum = quorum_of(client->masters, client->config.spare),
        .spare = client->config.spare,
        .elapsed_ms = outcome->elapsed / 1000,
        .views = sight->each,
    };
    for (unsigned i = 0; i < client->masters; i++) {
        sight->views[i] = make_view(&client->votes[i], crowds ? &crowds[i] : NULL);
        sight->each[i] = &sight->views[i];
    }
    struct sharers sharers = count_sharers(sight);
    event_tell_look(client, &sharers, &sight->result);
}
